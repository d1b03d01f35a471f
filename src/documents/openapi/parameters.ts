/** The parameters of operations: filters, order, pages, conditions and preferences. */
import {
  type Catalog,
  type Filterable,
  type FilterOperator,
  operatorsFor,
  type Resource,
  sortableNames,
} from '../../model/resource.ts'
import { queryLimits } from '../../spec/limits.ts'
import { type Json, refTo } from './components.ts'

const query = (name: string, description: string, schema: Json, more: Json = {}): Json => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
})
const header = (name: string, description: string, pattern?: string): Json => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string', ...(pattern !== undefined && { pattern }) },
})
/** `*`, or entity tags with commas between (RFC 9110 section 8.8.3). */
const tags = '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$'
/** A text of visible characters, with or without double quotes (RFC 9651 section 3.3.3). */
export const idempotencyKeyPattern = '^("([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}"|[!#-+\\--:<-~]{1,255})$'
/** A date-time with at most milliseconds, like the timestamps of the server. */
const milliseconds = '^[^.]*(\\.[0-9]{1,3})?([Zz]|[+-][0-9:]+)$'
const list = { style: 'form', explode: false }

/** The parameters that operations share, by component name. */
export function parameterComponents({ limits }: Catalog): Json {
  const { max, default: usual } = limits.pageSize
  // No defaults: a generated client that sends them would mix the styles of pages, which is refused (PAG-2).
  const size = { type: 'integer', minimum: 1, maximum: max }
  const unsaid = `${usual} where left out`
  const name = { type: 'string' }
  return {
    Id: { name: 'id', in: 'path', required: true, description: 'The id of the record.', schema: name },
    ParentId: { name: 'id', in: 'path', required: true, description: 'The id of the parent.', schema: name },
    Page: query('page', 'The number of a page, from 1; goes with `per_page` alone.', { type: 'integer', minimum: 1 }),
    PerPage: query('per_page', `How many records a page has, ${unsaid}; goes with \`page\`.`, size),
    Offset: query('offset', 'How many records to skip; goes with `limit` alone.', { type: 'integer', minimum: 0 }),
    Limit: query(
      'limit',
      `How many records a page has, ${unsaid}; goes with \`offset\`, with \`cursor\`, or alone.`,
      size,
    ),
    Cursor: query('cursor', 'Where to go on: a cursor of an earlier page, with the same sort and filters.', name),
    IncludeDeleted: query('include_deleted', 'Adds deleted records that are still kept, for those who may read them.', {
      type: 'boolean',
    }),
    IfMatch: header('If-Match', 'Go on only if the record still has one of these entity tags.', tags),
    IfNoneMatch: header('If-None-Match', 'Answer 304 if it still has one of these entity tags.'),
    IfModifiedSince: header('If-Modified-Since', 'Answer 304 if it was not changed since.'),
    Prefer: header(
      'Prefer',
      'The answer wanted, `return=representation` or `return=minimal`; for a deletion also `respond-async` (RFC 7240).',
    ),
    Range: header('Range', 'The bytes wanted of the representation: `bytes=0-499` (RFC 9110 section 14).'),
    IfRange: header('If-Range', 'Goes with `Range`: only while this entity tag, or this date, is current.'),
    IdempotencyKey: header(
      'Idempotency-Key',
      'A text of your own for this request, such as a UUID: sent again within a day, it gets the first answer again.',
      idempotencyKeyPattern,
    ),
    IfUnmodifiedSince: header('If-Unmodified-Since', 'Go on only if the record was not changed since.'),
  }
}

const shared = (...names: readonly string[]): Json[] => names.map((name) => refTo('parameters', name))

/** The header fields of a write: conditions and preferences. */
export const writeHeaders = shared('IfMatch', 'IfUnmodifiedSince', 'Prefer')

/** The header field that makes a POST safe to repeat. */
export const keyHeader = shared('IdempotencyKey')

/** The header fields of a POST. */
export const creationHeaders = [...keyHeader, ...shared('Prefer')]

/** The header fields that ask for a part of a representation. */
export const rangeHeaders = shared('Range', 'IfRange')

/** The parameters of GET of a record. */
export function recordParameters(resource: Resource): Json[] {
  return [fieldsParameter(resource), ...shared('IfNoneMatch', 'IfModifiedSince'), ...rangeHeaders]
}

/** The parameters of GET of a collection. */
export function listParameters(resource: Resource): Json[] {
  const sorts = sortableNames(resource).join('|')
  const searched = resource.fields.filter((field) => field.search).map((field) => field.name)
  return [
    ...filterParameters(resource),
    query(
      'sort',
      `The order: ${sortableNames(resource).join(', ')}; with a minus before it descending; ` +
        `several, at most ${queryLimits.sortTerms}, with commas between.`,
      { type: 'string', pattern: `^-?(${sorts})(,-?(${sorts}))*$` },
    ),
    fieldsParameter(resource),
    ...(searched.length === 0
      ? []
      : [
          query(
            'q',
            `Words to find in ${searched.join(', ')}: each must match, the last may be only begun. ` +
              `At most ${queryLimits.words} different words.`,
            { type: 'string', maxLength: queryLimits.characters },
          ),
        ]),
    ...(resource.deletion.variant === 'soft' ? shared('IncludeDeleted') : []),
    ...shared('Page', 'PerPage', 'Offset', 'Limit', 'Cursor', 'IfNoneMatch'),
    ...rangeHeaders,
  ]
}

function fieldsParameter(resource: Resource): Json {
  const shown = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = ['id', ...shown, 'created_at', 'updated_at']
  return query(
    'fields',
    'The fields to answer with; `id` always comes along.',
    { type: 'array', items: { enum: names }, minItems: 1, maxItems: queryLimits.fields },
    list,
  )
}

const meanings: Readonly<Record<FilterOperator, string>> = {
  gt: 'is greater than this',
  gte: 'is this or greater',
  lt: 'is less than this',
  lte: 'is this or less',
  not: 'is none of these, or has no value',
  in: 'is one of these',
  contains: 'contains this text, whatever its case',
  starts_with: 'begins with this text, whatever its case',
  null: 'has no value (`true`), or has one (`false`)',
}

/** The filters of a collection. */
export function filterParameters(resource: Resource): Json[] {
  return resource.filterables.flatMap(filtersOf)
}

function filtersOf(filterable: Filterable): Json[] {
  const { name } = filterable
  const value = valueSchema(filterable)
  const several = { type: 'array', items: value, minItems: 1, maxItems: queryLimits.values }
  const schemas: Readonly<Partial<Record<FilterOperator, Json>>> = {
    not: several,
    in: several,
    contains: { type: 'string' },
    starts_with: { type: 'string' },
    null: { type: 'boolean' },
  }
  return [
    query(name, `Only records whose ${name} is this, or one of these.`, several, { style: 'form', explode: true }),
    ...operatorsFor(filterable).map((operator) =>
      query(
        `${name}[${operator}]`,
        `Only records whose ${name} ${meanings[operator]}.`,
        schemas[operator] ?? value,
        operator === 'in' ? list : {},
      ),
    ),
  ]
}

function valueSchema({ type, field }: Filterable): Json {
  if (type === 'decimal') return { type: 'string', format: 'decimal', pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$' }
  if (type === 'timestamp') return { type: 'string', format: 'date-time', pattern: milliseconds }
  return {
    type,
    // Beyond these bounds a JSON number is not exact, and is refused.
    ...(type === 'integer' && { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    ...(field?.format !== undefined && { format: field.format }),
    ...(field?.enum !== undefined && { enum: field.enum }),
  }
}
