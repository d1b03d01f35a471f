/**
 * The parameters of operations. Parameters that several operations have are components, each written once (DOC-6).
 * `x-parameters` has those after which a response no longer fits the schema of its operation. Ranges, which every GET
 * has, are in `x-ranges` of the document.
 */
import { filterOperators, type Operator } from 'resourced-contract/model/operators'
import { relationsOf } from 'resourced-contract/model/relations'
import {
  type Catalog,
  type Filterable,
  hasRelevance,
  isFitting,
  isHistory,
  type Resource,
  relevance,
  sortableNames,
} from 'resourced-contract/model/resource'
import { queryLimits } from 'resourced-contract/spec/limits'
import { type Components, idempotencyKeyPattern, type Json, queryParameter, refTo } from './components.ts'

/** References to parameters that every document has, by the end of their component names. */
export function sharedParameters(...names: readonly string[]): Json[] {
  return names.map((name) => refTo('parameters', `Api${name}`))
}

/** The key of a request whose response alone shows a secret. */
export function onceParameter(made: 'key' | 'webhook', secret: string): Json {
  const description =
    `A text of your own for this request, such as a UUID: sent again within a day, it makes no second ${made}. ` +
    `The ${secret} is not kept, so the repeat is answered with 409 \`KEY_SHOWN_ONCE\`.`
  const schema = { type: 'string', pattern: idempotencyKeyPattern }
  return { name: 'Idempotency-Key', in: 'header', description, schema }
}

/** The extension `x-ranges` of the document: the parameters of every GET for a part, and the response with it. */
export const ranges: Json = {
  parameters: sharedParameters('Range', 'IfRange'),
  responses: { 206: refTo('responses', 'ApiPart') },
}

/** The parameters of GET of a collection. */
export function listParameters(resource: Resource, components: Components): Json[] {
  const isByRelevance = hasRelevance(resource)
  const sorts = [...sortableNames(resource), ...(isByRelevance ? [relevance.name] : [])].join('|')
  const own = [
    ...(resource.order === 'by-position' && !isHistory(resource) ? [after] : []),
    queryParameter(
      'sort',
      `At most ${queryLimits.sortTerms} fields, separated by commas; \`-\` before one: descending.` +
        (isByRelevance ? ' `-relevance`, with `q`: best matches first.' : ''),
      { type: 'string', pattern: `^-?(${sorts})(,-?(${sorts}))*$` },
    ),
  ]
  return [
    ...filterParameters(resource, components),
    ...[...own, ...searchParameters(resource)].map((parameter) => writtenOnce(resource, parameter, components)),
    ...(resource.deletion.variant === 'soft' ? sharedParameters('IncludeDeleted') : []),
    ...sharedParameters('Where', 'Timezone'),
    ...pageParameters,
  ]
}

/** The parameters that ask for the state of a record at a time. */
export const datetimeParameters: readonly Json[] = [
  {
    ...{ name: 'Accept-Datetime', in: 'header', schema: { type: 'string', pattern: ' GMT$' } },
    description:
      'The state of the record at the end of this second (RFC 7089), for callers who may read its history. ' +
      'A time in the future is the present.',
  },
  queryParameter('include_deleted', 'With `Accept-Datetime`: also of a deleted record.', { type: 'boolean' }),
]

/** The parameters of GET of a summary (SUM-1). `x-collection` has the names that they take. */
export function summaryParameters(resource: Resource, components: Components): Json[] {
  return [
    ...filterParameters(resource, components),
    ...searchParameters(resource).map((parameter) => writtenOnce(resource, parameter, components)),
    ...sharedParameters('Group', 'Sum', 'Avg', 'Min', 'Max', 'SummarySort', 'Where', 'Timezone'),
    ...pageParameters,
  ]
}

const pageParameters = sharedParameters('Page', 'PerPage', 'Offset', 'Limit', 'Cursor', 'IfNoneMatch')

/** `q`, where fields are declared for it. */
function searchParameters(resource: Resource): Json[] {
  const searched = resource.fields.filter((field) => field.search).map((field) => field.name)
  if (searched.length === 0) return []
  const meaning =
    `Words to find in ${searched.join(', ')}: each must match, the last one as a prefix. ` +
    `At most ${queryLimits.words} different words.`
  return [queryParameter('q', meaning, { type: 'string', maxLength: queryLimits.characters })]
}

/**
 * The parameters after which a response does not fit the schema of its operation: `fields`, and `include` where the
 * resource has relations, which `x-collection` names.
 */
export function shapingParameters(catalog: Catalog, resource: Resource): Json[] {
  return sharedParameters('Fields', ...(relationsOf(catalog, resource).size > 0 ? ['Include'] : []))
}

/** Continues a list of events. */
const after = queryParameter(
  'after',
  'The id of an event: only the events after it, whatever the order. If it is no longer kept, the response is 410.',
  { type: 'string', format: 'uuid' },
)

/** The operators that fit a filter of one of the collections. */
export function fittingOperators(all: ReadonlyMap<string, Operator>, resources: Iterable<Resource>): Operator[] {
  const filterables = [...resources].flatMap((resource) => resource.filterables)
  return [...all.values()].filter((row) => filterables.some((each) => isFitting(row, each)))
}

/** What filters of these collections mean: written once, because each collection has dozens of them. */
export function filterText(resources: Iterable<Resource>): string {
  const meanings = fittingOperators(filterOperators, resources).map(({ query, meaning }) => `\`${query}\` (${meaning})`)
  return (
    'A filter `field` finds records whose field has this value, or one of these values. `field[operator]` compares ' +
    `otherwise: ${meanings.join(', ')}. With a date-time, a day (2026-11-28) means that day in \`timezone\`, except ` +
    `for gt and lte. A query has at most ${queryLimits.filters} filters with ${queryLimits.values} values. ` +
    'Filters and `where` follow relations, at most two: `author.born[gte]=1920`.'
  )
}

/** The filters of a collection. */
export function filterParameters(resource: Resource, components: Components): Json[] {
  return resource.filterables.flatMap(filtersOf).map((parameter) => writtenOnce(resource, parameter, components))
}

function filtersOf(filterable: Filterable): Json[] {
  const { name, isArray } = filterable
  const value = valueSchema(filterable)
  const several = { type: 'array', items: value }
  const schemas = {
    value,
    values: several,
    list: isArray ? several : value,
    text: { type: 'string' },
    flag: { type: 'boolean' },
  }
  const fitting = [...filterOperators.values()].filter((row) => isFitting(row, filterable))
  const isOrdered = fitting.some(({ fits }) => fits === 'ordered')
  return [
    // An array has no value of its own.
    ...(isArray ? [] : [filter(name, several)]),
    ...fitting
      .filter((row) => isDescribed(row, filterable, isOrdered))
      .map(({ query, operand }) => filter(`${name}[${query}]`, schemas[operand])),
  ]
}

/**
 * Whether an operator has a parameter in each list of the collection. `x-collection` has the others too. Filters are a
 * third of a document, so it describes no second way to say the same (`in` is equality with one of
 * several values), no order of texts, and no exclusion of numbers and dates.
 */
function isDescribed({ operand, day }: Operator, { type, field, isArray }: Filterable, isOrdered: boolean): boolean {
  if (isArray) return true
  // Of times only the beginning and the end; only a field can have none.
  if (operand === 'flag') return field !== undefined
  if (field === undefined || field.format === 'date-time') return day === 'start'
  const isText = type === 'string' && field.format === undefined
  if (operand === 'values') return isText || !isOrdered
  return operand === (isText ? 'text' : 'value')
}

const filter = (name: string, schema: Json): Json => ({ name, in: 'query', schema })

/** The filters by these fields are the same for every collection. */
const everywhere = /^(?:id|created_at|updated_at)(?:\.|$)/

/** A parameter of one operation as it is; one of several operations as a reference to its component. */
function writtenOnce(resource: Resource, parameter: Json, { parameters }: Components): Json {
  const step = String(parameter['name']).replace('[', '.').replace(']', '')
  const isCommon = everywhere.test(step)
  // A collection of clients has a list and a summary.
  if (!isCommon && resource.made !== 'by-clients') return parameter
  const name = isCommon ? step : `${resource.name}.${step}`
  parameters[name] = parameter
  return refTo('parameters', name)
}

function valueSchema({ type, field }: Filterable): Json {
  if (type === 'decimal') return { type: 'string', format: 'decimal', pattern: '^-?(?:0|[1-9]\\d*)(?:\\.\\d+)?$' }
  if (type === 'id') return { type: 'string', format: 'uuid' }
  if (type === 'timestamp' || field?.format === 'date-time') return refTo('schemas', 'ApiTimeFilter')
  return {
    type,
    // Beyond these bounds a JSON number is not exact, and is refused.
    ...(type === 'integer' && { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    ...(field?.format !== undefined && { format: field.format }),
    ...(field?.enum !== undefined && { enum: field.enum }),
  }
}
