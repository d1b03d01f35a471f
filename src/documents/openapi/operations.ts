/**
 * The operations of one resource: its collection, its records, and its collections nested under others; with their
 * parameters: filters, order, pages, conditions and preferences.
 */
import {
  type Catalog,
  type Filterable,
  type FilterOperator,
  operatorsFor,
  type Resource,
  sortableNames,
} from '../../model/resource.ts'
import { queryLimits } from '../../spec/limits.ts'
import { type HeaderName, headers, type Json, object, queryParameter, refTo } from './components.ts'
import { codesOf, deletedWith, type OperationKind, type ProblemResponses } from './problems.ts'
import type { ResourceNames } from './schemas.ts'

export interface OperationParts {
  readonly catalog: Catalog
  readonly names: ResourceNames
  readonly problems: ProblemResponses
}

/** The parent of a nested collection. */
export interface NestedUnder {
  readonly resource: Resource
  readonly names: ResourceNames
}

const readHeaders: readonly HeaderName[] = ['ETag', 'Vary']
const wholeHeaders: readonly HeaderName[] = [...readHeaders, 'Accept-Ranges']
const recordHeaders: readonly HeaderName[] = [...readHeaders, 'Last-Modified']
const changedHeaders: readonly HeaderName[] = [...recordHeaders, 'Preference-Applied']

/** The Path Item of a collection, at the top level or nested. */
export function collectionPath(resource: Resource, parts: OperationParts, parent?: NestedUnder): Json {
  const { names } = parts
  const deletes = parent === undefined && resource.deletion.byFilter
  const of = parent === undefined ? '' : `Of${parent.names.one}`
  const under = parent === undefined ? '' : ` of one of the ${parent.resource.name}`
  const nested = parent !== undefined
  return {
    ...(nested && { parameters: [refTo('parameters', 'ParentId')] }),
    get: {
      operationId: `list${names.many}${of}`,
      tags: [resource.name],
      summary: `List ${resource.name}${under}`,
      parameters: listParameters(resource),
      responses: {
        200: answer(
          `A page of ${resource.name}.`,
          [...wholeHeaders, 'Link', 'X-Total-Count'],
          refTo('schemas', `${names.one}Page`),
        ),
        206: part([...readHeaders, 'Link', 'X-Total-Count']),
        304: answer('The page still has a tag in If-None-Match.', readHeaders),
        ...errors('list', resource, parts, nested),
      },
    },
    ...(resource.made === 'by-clients' && {
      post: {
        operationId: `create${names.one}${of}`,
        tags: [resource.name],
        summary: `Create one of the ${resource.name}${under}`,
        parameters: creationHeaders,
        requestBody: body(['application/json'], refTo('schemas', `${names.one}Create${nested ? 'Nested' : ''}`)),
        responses: {
          201: answer(
            'The created record; empty with `Prefer: return=minimal`.',
            [...changedHeaders, 'Location'],
            refTo('schemas', names.one),
          ),
          ...errors('create', resource, parts, nested),
        },
      },
    }),
    ...(deletes && matchingDeletion(resource, parts)),
  }
}

function matchingDeletion(resource: Resource, parts: OperationParts): Json {
  const count = { type: 'integer', minimum: 0, description: 'The number of deleted records.' }
  const { one, many } = parts.names
  return {
    delete: {
      // A name without a plural, such as news, has one name for the record and for the collection.
      operationId: many === one ? `deleteMatching${many}` : `delete${many}`,
      tags: [resource.name],
      summary: `Delete the ${resource.name} that match`,
      description:
        'At least one filter is required. With `Prefer: max-affected=n`, nothing is deleted if more records match; ' +
        'with n = 0 the error has the number of matches.',
      parameters: [...filterParameters(resource), ...writeHeaders],
      responses: {
        200: answer(
          'The number of deleted records.',
          ['Preference-Applied'],
          object({ deleted_count: count }, ['deleted_count']),
        ),
        ...accepted,
        204: answer('The records are deleted, and the caller prefers `return=minimal`.', ['Preference-Applied']),
        ...errors('delete-matching', resource, parts),
      },
    },
  }
}

/** The Path Item of a record that only the server creates. */
export function shownPath(resource: Resource, parts: OperationParts): Json {
  const { parameters, get } = recordPath(resource, parts)
  return { parameters, get }
}

/** The Path Item of a record. */
export function recordPath(resource: Resource, parts: OperationParts): Json {
  const { one } = parts.names
  const job = resource.name === 'jobs' ? (['Retry-After'] as const) : []
  const whole = refTo('schemas', one)
  const changed = {
    200: answer('The changed record.', changedHeaders, whole),
    204: answer('The record was changed; the caller may not read it, or prefers `return=minimal`.', changedHeaders),
  }
  const conditional = resource.preconditions === 'required' ? ' A condition is required.' : ''
  return {
    parameters: [refTo('parameters', 'Id')],
    get: {
      operationId: `get${one}`,
      tags: [resource.name],
      summary: `Read one of the ${resource.name}`,
      parameters: recordParameters(resource),
      responses: {
        200: answer('The record, or the fields requested with `fields`.', [...recordHeaders, ...job, 'Accept-Ranges'], {
          anyOf: [whole, refTo('schemas', `${one}Selection`)],
        }),
        206: part([...recordHeaders, ...job]),
        304: answer('The record has not changed.', recordHeaders),
        ...errors('read', resource, parts),
      },
    },
    put: {
      operationId: `replace${one}`,
      tags: [resource.name],
      summary: `Replace one of the ${resource.name}`,
      description: `Omitted fields are cleared.${conditional}`,
      parameters: writeHeaders,
      requestBody: body(['application/json'], refTo('schemas', `${one}Replace`)),
      responses: { ...changed, ...errors('replace', resource, parts) },
    },
    patch: {
      operationId: `update${one}`,
      tags: [resource.name],
      summary: `Change fields of one of the ${resource.name}`,
      description: `Omitted fields stay unchanged.${conditional}`,
      parameters: writeHeaders,
      requestBody: {
        required: true,
        content: {
          ...contentOf(['application/json', 'application/merge-patch+json'], refTo('schemas', `${one}Patch`)),
          ...contentOf(['application/json-patch+json'], refTo('schemas', 'JsonPatch')),
        },
      },
      responses: { ...changed, ...errors('merge', resource, parts) },
    },
    delete: {
      operationId: `delete${one}`,
      tags: [resource.name],
      summary: `Delete one of the ${resource.name}`,
      description: `${deletionText(resource)}${conditional}`,
      parameters: writeHeaders,
      responses: { ...deletionAnswers(resource), ...errors('delete', resource, parts) },
    },
  }
}

/** The Path Item that deletes many records at once. */
export function bulkDeletePath(resource: Resource, max: number, parts: OperationParts): Json {
  const { many } = parts.names
  const ids = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: max, uniqueItems: true }
  const dryRun = { type: 'boolean', description: 'Deletes nothing, and answers with what would happen.' }
  const deleted = { type: 'array', items: refTo('schemas', 'Deletion') }
  return {
    post: {
      operationId: `bulkDelete${many}`,
      tags: [resource.name],
      summary: `Delete several of the ${resource.name}`,
      description:
        'Deletes all of the records, or none: then `errors` has the reason for each record that cannot be deleted.',
      parameters: creationHeaders,
      requestBody: body(['application/json'], object({ ids, dry_run: dryRun }, ['ids'])),
      responses: {
        200: answer(
          'The deleted records, in the order of the request; with `dry_run` what would happen.',
          ['Preference-Applied'],
          { anyOf: [object({ data: deleted }, ['data']), refTo('schemas', 'BulkDeletionPreview')] },
        ),
        ...accepted,
        204: answer('The records are deleted, and the caller prefers `return=minimal`.', ['Preference-Applied']),
        ...errors('bulk-delete', resource, parts),
      },
    },
  }
}

/** The Path Item that previews the deletion of a record. */
export function deletionPath(resource: Resource, parts: OperationParts): Json {
  return {
    parameters: [refTo('parameters', 'Id')],
    get: {
      operationId: `previewDeletionOf${parts.names.one}`,
      tags: [resource.name],
      summary: `Preview the deletion of one of the ${resource.name}`,
      description: 'What DELETE of the record would do now. You need the permissions to read and to delete it.',
      parameters: rangeHeaders,
      responses: {
        200: answer('What would happen.', ['Vary', 'Accept-Ranges'], refTo('schemas', 'DeletionPreview')),
        206: part(['Vary']),
        ...errors('preview-deletion', resource, parts),
      },
    },
  }
}

/** The Path Item that restores a record. */
export function restorePath(resource: Resource, parts: OperationParts): Json {
  const { one } = parts.names
  return {
    parameters: [refTo('parameters', 'Id')],
    post: {
      operationId: `restore${one}`,
      tags: [resource.name],
      summary: `Restore one of the ${resource.name}`,
      description: 'Restores a deleted record and exactly the records that were deleted with it; all of them or none.',
      parameters: [...keyHeader, ...writeHeaders],
      responses: {
        200: answer('The restored record.', changedHeaders, refTo('schemas', one)),
        204: answer('The record is restored; the caller may not read it, or prefers `return=minimal`.', changedHeaders),
        ...errors('restore', resource, parts),
      },
    },
  }
}

function deletionText({ deletion }: Resource): string {
  const what =
    deletion.variant === 'soft'
      ? 'The record is no longer found, and its data is retained for a while.'
      : 'The record is permanently deleted.'
  const usual = deletion.answer === 'summary' ? 'names the deleted record' : 'is empty'
  return `${what} The response ${usual}, unless \`Prefer\` asks for another.`
}

function deletionAnswers({ deletion }: Resource): Json {
  const absent = deletion.repeated === 'no-content'
  return {
    200: answer(
      'The id of the deleted record, and the time of its deletion.',
      ['Preference-Applied'],
      refTo('schemas', 'Deletion'),
    ),
    ...accepted,
    204: answer(absent ? 'The record is deleted, or did not exist.' : 'The record is deleted.', ['Preference-Applied']),
  }
}

/** The 202 of operations that run as jobs (DEL-8, JOB-6). */
export const accepted: Json = {
  202: answer(
    'A job runs the request. The requested records of a deletion are deleted already; their dependents follow.',
    ['Location', 'Preference-Applied', 'Retry-After'],
    refTo('schemas', 'Accepted'),
  ),
}

function errors(kind: OperationKind, resource: Resource, { catalog, problems }: OperationParts, nested = false): Json {
  return problems.of(codesOf(kind, resource, nested, deletedWith(catalog, resource)))
}

/** A Response Object; without a schema it has no body. */
export function answer(description: string, names: readonly HeaderName[], schema?: Json): Json {
  const content = schema === undefined ? {} : { content: { 'application/json': { schema } } }
  return { description, headers: headers(...names), ...content }
}

/** The 206 of a range: bytes of the representation, which are not JSON by themselves. */
export function part(names: readonly HeaderName[]): Json {
  return {
    description: 'The bytes requested with `Range`.',
    headers: headers(...names, 'Accept-Ranges', 'Content-Range'),
    content: { '*/*': {} },
  }
}

/** A required body. */
export function body(types: readonly string[], schema: Json): Json {
  return { required: true, content: contentOf(types, schema) }
}

function contentOf(types: readonly string[], schema: Json): Json {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

/** A date-time with at most milliseconds, like the timestamps of the server. */
const milliseconds = '^[^.]*(\\.[0-9]{1,3})?([Zz]|[+-][0-9:]+)$'
const list = { style: 'form', explode: false }

const shared = (...names: readonly string[]): Json[] => names.map((name) => refTo('parameters', name))

/** The header fields of a write: conditions and preferences. */
const writeHeaders = shared('IfMatch', 'IfUnmodifiedSince', 'Prefer')

/** The header field that makes a POST safe to repeat. */
const keyHeader = shared('IdempotencyKey')

/** The header fields of a POST. */
export const creationHeaders = [...keyHeader, ...shared('Prefer')]

/** The header fields that ask for a part of a representation. */
export const rangeHeaders = shared('Range', 'IfRange')

/** The parameters of GET of a record. */
function recordParameters(resource: Resource): Json[] {
  return [fieldsParameter(resource), ...shared('IfNoneMatch', 'IfModifiedSince'), ...rangeHeaders]
}

/** The parameters of GET of a collection. */
function listParameters(resource: Resource): Json[] {
  const sorts = sortableNames(resource).join('|')
  const searched = resource.fields.filter((field) => field.search).map((field) => field.name)
  return [
    ...filterParameters(resource),
    queryParameter(
      'sort',
      `The order: ${sortableNames(resource).join(', ')}; a minus before a name sorts descending; ` +
        `several, at most ${queryLimits.sortTerms}, separated by commas.`,
      { type: 'string', pattern: `^-?(${sorts})(,-?(${sorts}))*$` },
    ),
    fieldsParameter(resource),
    ...(searched.length === 0
      ? []
      : [
          queryParameter(
            'q',
            `Words to find in ${searched.join(', ')}: each must match, the last one as a prefix. ` +
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
  return queryParameter(
    'fields',
    'The fields of the response; `id` is always included.',
    { type: 'array', items: { enum: names }, minItems: 1, maxItems: queryLimits.fields },
    list,
  )
}

const meanings: Readonly<Record<FilterOperator, string>> = {
  gt: 'is greater than this',
  gte: 'is this or greater',
  lt: 'is less than this',
  lte: 'is this or less',
  not: 'is not one of these, or has no value',
  in: 'is one of these',
  contains: 'contains this text, in upper or lower case',
  starts_with: 'begins with this text, in upper or lower case',
  null: 'has no value (`true`), or has one (`false`)',
}

/** The filters of a collection. */
function filterParameters(resource: Resource): Json[] {
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
    queryParameter(name, `Only records whose ${name} is this, or one of these.`, several, {
      style: 'form',
      explode: true,
    }),
    ...operatorsFor(filterable).map((operator) =>
      queryParameter(
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
