/**
 * The query of a collection: filters, search, sort, fields and page (QRY, PAG), and the queries that are variations of
 * it.
 */
import { controlParameters } from '../model/check/names.ts'
import { allOf, type Predicate, type SortTerm } from '../model/predicate.ts'
import { isMapped, type Resource, systemFields } from '../model/resource.ts'
import { isStorableText, words } from '../model/text.ts'
import { fault, type Issue } from '../spec/faults.ts'
import { queryLimits } from '../spec/limits.ts'
import { translateFilter, translateSort } from '../versions/translate-request.ts'
import { areFewFilters, readFilter } from './filter.ts'
import {
  invalidQuery,
  isShortList,
  listed,
  type Parameter,
  readFields,
  readParameters,
  readSort,
  tooMany,
  unknownParameter,
} from './parameters.ts'

/** A query of a collection. */
export interface ListQuery {
  /** In terms of what is stored, like `sort`. */
  readonly filter: Predicate
  /** The filter in terms of the older version that the request uses; `undefined`: they are the same. */
  readonly versionFilter: Predicate | undefined
  readonly sort: readonly SortTerm[]
  readonly search: readonly string[] | undefined
  readonly fields: readonly string[] | undefined
  readonly includeDeleted: boolean
  readonly page: PageRequest
  /** What a cursor is bound to: sort, filters and search in one spelling; empty in the other styles. */
  readonly binding: string
  /** Identifies the query, with its collection and version, in caches; `undefined`: it is not worth keeping. */
  readonly key?: string | undefined
}

/** The requested page. */
type PageRequest =
  | { readonly style: 'page'; readonly page: number; readonly perPage: number }
  | { readonly style: 'offset'; readonly offset: number; readonly limit: number }
  /** The first page, or the one that a sealed cursor leads to. */
  | {
      readonly style: 'cursor'
      readonly limit: number
      readonly cursor: string | undefined
      readonly position: undefined
    }

/** How many records a page has, and may have. */
interface PageSize {
  readonly default: number
  readonly max: number
}

// Query strings come from callers, so only a limited number of short ones is kept for each collection.
const mostKept = 500
const longestKept = 500

/** The queries that an application has read: the same query string of the same collection is read once. */
export class KnownQueries {
  readonly #known = new Map<Resource, Map<string, ListQuery>>()

  /**
   * Reads the query string of a collection.
   *
   * @throws Fault MALFORMED_URL, INVALID_QUERY: refused queries are not kept
   */
  read(resource: Resource, text: string, pageSize: PageSize): ListQuery {
    let queries = this.#known.get(resource)
    const known = queries?.get(text)
    if (known !== undefined) return known
    const query = readListQuery(resource, readParameters(text), pageSize)
    if (text.length > longestKept) return query
    if (queries === undefined || queries.size >= mostKept) {
      queries = new Map()
      this.#known.set(resource, queries)
    }
    const kept = { ...query, key: `${resource.mapping?.version ?? ''}/${resource.name}?${text}` }
    queries.set(text, kept)
    return kept
  }
}

// A `version` that is still here is none: where the query string carries versions, it was taken out before.
const controls: ReadonlySet<string> = new Set(controlParameters.filter((name) => name !== 'version'))

/**
 * Reads the parameters of a collection. One response names everything that is wrong (QRY-8).
 *
 * @param issues what was found wrong already
 * @throws Fault INVALID_QUERY with one error for each mistake
 */
export function readListQuery(
  resource: Resource,
  parameters: readonly Parameter[],
  pageSize: PageSize,
  issues: Issue[] = [],
): ListQuery {
  const single = new Map<string, string>()
  const filters: Parameter[] = []
  for (const parameter of parameters) {
    const { name, value } = parameter
    if (isUnstorable(parameter)) issues.push(unstorable(name))
    else if (!controls.has(name)) filters.push(parameter)
    else if (single.has(name)) issues.push(duplicate(name))
    else single.set(name, value)
  }
  const predicates = readFilters(resource, filters, issues)
  const order = single.get('sort')
  const isSorted = order !== undefined && isShortList('sort', order, issues)
  const sort = isSorted ? readSort(resource, listed(order, { parameter: 'sort' }), issues) : []
  const fields = answeredFields(resource, single.get('fields'), issues)
  const includeDeleted = readBoolean('include_deleted', single.get('include_deleted'), issues)
  const q = single.get('q')?.trim()
  if (q && !resource.fields.some((field) => field.search))
    issues.push(unknownParameter('q', `${resource.name} has no field to search with q.`))
  // Without any word to look for, punctuation alone finds nothing; blank text is no search.
  const search = q ? readWords(q, issues) : undefined
  const page = readPageRequest(single, pageSize, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  // The order of filters makes no difference: cursors, statements and kept totals see one spelling.
  if (predicates.length > 1) predicates.sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
  const filter = allOf(predicates)
  const binding = page.style === 'cursor' ? JSON.stringify([filter, sort, q || null, includeDeleted]) : ''
  return {
    filter: translateFilter(resource, filter),
    versionFilter: isMapped(resource) ? filter : undefined,
    sort: translateSort(resource, sort),
    search,
    fields,
    includeDeleted,
    page,
    binding,
  }
}

/**
 * Reads which records of a collection are to be deleted (DEL-10): filters alone, and at least one. The result is in
 * terms of what is stored.
 *
 * @throws Fault INVALID_QUERY, FILTER_REQUIRED
 */
export function readDeletionFilter(resource: Resource, parameters: readonly Parameter[]): Predicate {
  const issues: Issue[] = []
  const filters: Parameter[] = []
  for (const parameter of parameters) {
    const { name } = parameter
    if (isUnstorable(parameter)) issues.push(unstorable(name))
    else if (controls.has(name)) issues.push(unknownParameter(name, 'A deletion takes filters alone.'))
    else filters.push(parameter)
  }
  const predicates = readFilters(resource, filters, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  if (predicates.length > 0) return translateFilter(resource, allOf(predicates))
  const detail = 'Without a filter nothing is deleted. Say which records are meant, such as ?status=done.'
  throw fault('FILTER_REQUIRED', { detail })
}

function readFilters(resource: Resource, parameters: readonly Parameter[], issues: Issue[]): Predicate[] {
  const filters = new Map<string, string[]>()
  for (const { name, value } of parameters) {
    const values = filters.get(name)
    if (values === undefined) filters.set(name, [value])
    else values.push(value)
  }
  if (!areFewFilters(filters, issues)) return []
  return [...filters].map(([name, values]) => readFilter(resource, name, values, issues))
}

/** Reads the parameters of a single resource: `fields`, and nothing else (QRY-4). */
export function readRecordQuery(resource: Resource, parameters: readonly Parameter[]): readonly string[] | undefined {
  const issues: Issue[] = []
  const text = readOnly('fields', 'A single resource takes only fields as a parameter.', parameters, issues)
  const fields = answeredFields(resource, text, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  return fields
}

/**
 * Reads the parameters of a revocation: `descendants=true` revokes the keys made with the key too (AUT-10).
 *
 * @throws Fault INVALID_QUERY
 */
export function readDescendants(parameters: readonly Parameter[]): boolean {
  const issues: Issue[] = []
  const text = readOnly('descendants', 'A revocation takes only descendants as a parameter.', parameters, issues)
  const descendants = readBoolean('descendants', text, issues)
  if (issues.length > 0) throw fault('INVALID_QUERY', { errors: issues })
  return descendants
}

/** Reads the one parameter that an address takes. */
function readOnly(
  name: string,
  message: string,
  parameters: readonly Parameter[],
  issues: Issue[],
): string | undefined {
  let text: string | undefined
  for (const parameter of parameters) {
    if (parameter.name !== name) issues.push(unknownParameter(parameter.name, message))
    else if (text !== undefined) issues.push(duplicate(name))
    else text = parameter.value
  }
  return text
}

function answeredFields(resource: Resource, text: string | undefined, issues: Issue[]): readonly string[] | undefined {
  if (text === undefined || !isShortList('fields', text, issues)) return undefined
  return readFields(resource, listed(text, { parameter: 'fields' }), systemFields, issues)
}

/** The words to look for, each once; the last one is a prefix. */
function readWords(text: string, issues: Issue[]): readonly string[] {
  const { words: most, characters } = queryLimits
  if (text.length > characters) {
    issues.push({ code: 'TOO_LONG', message: `q may have ${characters} characters.`, parameter: 'q' })
    return []
  }
  const all = words(text)
  const different = new Set(all).size
  if (different > most) issues.push(tooMany('q', `q may have ${most} different words, not ${different}.`))
  if (different === all.length || different > most) return all
  // A word that comes whole and, at the end, as a prefix stays both.
  return [...new Set(all.slice(0, -1)), all.at(-1) as string]
}

const styles = {
  page: ['page', 'per_page'],
  offset: ['offset', 'limit'],
  cursor: ['cursor', 'limit'],
} as const

/**
 * Reads the page parameters: three styles that never mix (PAG-1, PAG-2). With none, or `limit` alone, it is the first
 * page of the cursor style.
 *
 * @param given the parameters that may come once, by name
 */
function readPageRequest(given: ReadonlyMap<string, string>, size: PageSize, issues: Issue[]): PageRequest {
  const named = ['page', 'per_page', 'offset', 'limit', 'cursor'].filter((name) => given.has(name))
  const style = given.has('page') || given.has('per_page') ? 'page' : given.has('offset') ? 'offset' : 'cursor'
  const allowed: readonly string[] = styles[style]
  for (const name of named.filter((each) => !allowed.includes(each))) {
    const others = named.filter((each) => each !== name).join(' and ')
    const message = `${name} does not go with ${others}: use page and per_page, offset and limit, or cursor and limit.`
    issues.push({ code: 'INVALID_PAGE', message, parameter: name })
  }
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = given.get(name)
    if (text === undefined) return fallback
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
    issues.push({ code: 'INVALID_PAGE', message: `${name} takes a whole number ${bounds}.`, parameter: name })
    return fallback
  }
  if (style === 'page') {
    const perPage = whole('per_page', size.default, 1, size.max)
    const page = whole('page', 1, 1, Number.MAX_SAFE_INTEGER)
    if (page > Number.MAX_SAFE_INTEGER / perPage) {
      issues.push({ code: 'INVALID_PAGE', message: 'page is too large a number.', parameter: 'page' })
    }
    return { style, page, perPage }
  }
  const limit = whole('limit', size.default, 1, size.max)
  if (style === 'offset') return { style, offset: whole('offset', 0, 0, Number.MAX_SAFE_INTEGER), limit }
  return { style, limit, cursor: given.get('cursor'), position: undefined }
}

function readBoolean(name: string, text: string | undefined, issues: Issue[]): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false') {
    issues.push({ code: 'INVALID_VALUE', message: `${name} is true or false.`, parameter: name })
  }
  return text === 'true'
}

/** Whether a parameter holds text that no record can hold: PostgreSQL refuses U+0000 in any value. */
function isUnstorable({ name, value }: Parameter): boolean {
  return !isStorableText(value) || !isStorableText(name)
}

function unstorable(name: string): Issue {
  const parameter = name.replaceAll('\0', '')
  return { code: 'INVALID_TEXT', message: 'Parameters cannot hold U+0000.', parameter }
}

function duplicate(name: string): Issue {
  return { code: 'DUPLICATE_PARAMETER', message: `${name} may be given once.`, parameter: name }
}
