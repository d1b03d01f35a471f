/**
 * The query of a collection: filters, `field=value` or `field[operator]=value`, search, sort, fields and page (QRY,
 * PAG), and the filters of a deletion. Mistakes are added to `issues`, so that one response names them all.
 */

import { conditionFields } from 'resourced-contract/model/access-rules'
import { controlParameters } from 'resourced-contract/model/names'
import { exactText } from 'resourced-contract/model/plain-copy'
import type { Predicate, SortTerm } from 'resourced-contract/model/predicate'
import type { RelatedCatalog } from 'resourced-contract/model/related-conditions'
import { type Catalog, hasRelevance, isMapped, type Resource, relevance } from 'resourced-contract/model/resource'
import { words } from 'resourced-contract/model/text'
import { type Fault, fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import { translatePredicate, translateSort } from '../versions/translate-request.ts'
import type { AskedCondition, GivenCondition } from './condition.ts'
import { isUnstorable, readFilters, unstorable } from './filters.ts'
import { type IncludeCatalog, type IncludedPath, isOfInclude, readInclude } from './include.ts'
import {
  answeredFields,
  invalidQuery,
  isShortList,
  listed,
  type Parameter,
  readBoolean,
  readParameters,
  readSort,
} from './parameters.ts'

/** The records that a request selects: those that the filters and the condition hold for. */
export interface Selected {
  /** The filters in stored terms. */
  readonly filter: Predicate
  /** The filters in terms of the older version that the request uses; `undefined`: they are the same. */
  readonly versionFilter: Predicate | undefined
  /** The filters of related records, in terms of the request's version. */
  readonly related: Predicate
  /** The condition of the caller; `undefined`: there is none. */
  readonly where: AskedCondition | undefined
}

/** A query of a collection. */
export interface ListQuery extends Selected {
  /** In stored terms. */
  readonly sort: readonly SortTerm[]
  readonly search: readonly string[] | undefined
  readonly fields: readonly string[] | undefined
  /** `only`: deleted records and no others. */
  readonly includeDeleted: boolean | 'only'
  readonly page: PageRequest
  /** The related records that the response includes. */
  readonly include: readonly IncludedPath[]
  /** The text that a cursor is bound to: sort, filters and search in one spelling; empty in the other styles. */
  readonly binding: string
  /** Identifies the query, with its collection and version, in caches; `undefined`: it is not worth keeping. */
  readonly key?: string | undefined
}

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
type PageSize = Catalog['limits']['pageSize']

// Query strings come from callers, so only a limited number of short ones is kept, of all collections together.
const mostKept = 1_000
const longestKept = 500

/** The queries that an application has read: the same query string of the same collection is read once. */
export class KnownQueries {
  /** A version may have a resource unchanged, and other relations of it. */
  readonly #known = new Map<IncludeCatalog, Map<Resource, Map<string, ListQuery>>>()
  #kept = 0

  /**
   * Reads the query string of a collection.
   *
   * @param catalog of the client's version
   * @throws Fault MALFORMED_URL, INVALID_QUERY: refused queries are not kept
   */
  read(resource: Resource, text: string, catalog: IncludeCatalog): ListQuery {
    const known = this.#known.get(catalog)?.get(resource)?.get(text)
    if (known !== undefined) return known
    const query = readListQuery(resource, readParameters(text), catalog)
    if (text.length > longestKept) return query
    if (++this.#kept > mostKept) {
      this.#known.clear()
      this.#kept = 1
    }
    const ofVersion = this.#known.get(catalog) ?? new Map<Resource, Map<string, ListQuery>>()
    const queries = ofVersion.get(resource) ?? new Map<string, ListQuery>()
    this.#known.set(catalog, ofVersion.set(resource, queries))
    const kept = { ...query, key: `${resource.mapping?.version ?? ''}/${resource.name}?${text}` }
    queries.set(text, kept)
    return kept
  }
}

// If the query string carries versions, `version` was removed before, so a remaining one is unknown.
const controls: ReadonlySet<string> = new Set(controlParameters.filter((name) => name !== 'version'))

/** What a list takes besides filters and page parameters. */
const listParameters = ['where', 'q', 'sort', 'fields', 'include', 'include_deleted']

/**
 * Reads the parameters of a collection. One response names everything that is wrong (QRY-8).
 *
 * @param catalog of the client's version
 * @param issues the mistakes found before
 * @param beside the condition in the body of a QUERY, whether `timezone` is there for something else than days, and
 *   what a summary takes besides filters
 * @throws Fault INVALID_QUERY with one error for each mistake
 */
export function readListQuery(
  resource: Resource,
  parameters: readonly Parameter[],
  catalog: IncludeCatalog,
  issues: Issue[] = [],
  beside: {
    readonly member?: GivenCondition | undefined
    readonly isZoned?: boolean
    readonly others?: readonly string[]
  } = {},
): ListQuery {
  const single = new Map<string, string>()
  const included: Parameter[] = []
  const filters: Parameter[] = []
  for (const parameter of parameters) {
    const { name, value } = parameter
    if (isUnstorable(parameter)) issues.push(unstorable(name))
    else if (isOfInclude(name)) included.push(parameter)
    else if (!controls.has(name)) filters.push(parameter)
    else if (single.has(name)) issues.push(issue('repeatedParameter', { parameter: name }))
    else single.set(name, value)
  }
  const { member: condition = textOf(single.get('where')), isZoned = false, others: named = listParameters } = beside
  const isSearched = resource.fields.some((field) => field.search)
  const absent = [...(isSearched ? [] : ['q']), ...(resource.made === 'by-clients' ? [] : ['include'])]
  const known = [...named.filter((name) => !absent.includes(name)), 'page parameters']
  const given = { condition, isZoned, others: known }
  const { filter, related, where } = readFilters({ resource, catalog }, filters, given, issues)
  const includeDeleted = readIncludeDeleted(single.get('include_deleted'), issues)
  const order = single.get('sort')
  const isSorted = order !== undefined && isShortList('sort', order, issues)
  const others = [
    ...(includeDeleted === 'only' ? ['deleted_at'] : []),
    ...(hasRelevance(resource) ? [relevance.name] : []),
  ]
  const sort = isSorted ? readSort({ resource, catalog }, listed(order, { parameter: 'sort' }), issues, others) : []
  const fields = answeredFields(resource, single.get('fields'), issues)
  const q = single.get('q')?.trim()
  if (q && !isSearched) issues.push(issue('unsearchable', { parameter: 'q', resource: resource.name }))
  // Without any word to look for, punctuation alone finds nothing; blank text is no search.
  const search = q ? readWords(q, issues) : undefined
  if (!q && sort.some(({ field }) => field === relevance.field))
    issues.push(issue('relevanceAlone', { parameter: 'sort' }))
  const page = readPageRequest(single, catalog.limits.pageSize, issues)
  const include = readInclude(catalog, resource, included, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  const more = related.kind === 'always' && where === undefined ? [] : [related, where?.text ?? null]
  const bound = [filter, sort, q || null, includeDeleted, ...more]
  const binding = page.style === 'cursor' ? exactText(bound) : ''
  return {
    ...storedQuery(catalog, resource, filter),
    sort: translateSort(catalog, resource, sort),
    ...{ related, where, search, fields, includeDeleted, page, include, binding },
  }
}

/** Filters in stored terms. */
function storedQuery(
  catalog: RelatedCatalog,
  resource: Resource,
  filter: Predicate,
): Pick<Selected, 'filter' | 'versionFilter'> {
  if (!isMapped(resource)) return { filter, versionFilter: undefined }
  return { filter: translatePredicate(catalog, resource, filter), versionFilter: filter }
}

function textOf(text: string | undefined): GivenCondition | undefined {
  return text === undefined ? undefined : { text }
}

function readIncludeDeleted(text: string | undefined, issues: Issue[]): ListQuery['includeDeleted'] {
  return text === 'only' ? text : readBoolean('include_deleted', text, issues, ['true', 'false', 'only'])
}

/**
 * Reads which records of a collection are to be deleted or changed (DEL-10, BLK-3): filters and a condition alone, and
 * at least one comparison.
 *
 * @throws Fault INVALID_QUERY, FILTER_REQUIRED
 */
export function readMatchFilter(
  resource: Resource,
  parameters: readonly Parameter[],
  catalog: RelatedCatalog,
  done: 'deleted' | 'changed',
): Selected {
  const issues: Issue[] = []
  const filters: Parameter[] = []
  let given: GivenCondition | undefined
  for (const parameter of parameters) {
    const { name, value } = parameter
    if (isUnstorable(parameter)) issues.push(unstorable(name))
    else if (name === 'where' && given !== undefined) issues.push(issue('repeatedParameter', { parameter: name }))
    else if (name === 'where') given = { text: value }
    else if (controls.has(name)) issues.push(issue('onlyParameters', { parameter: name, only: 'filters' }))
    else filters.push(parameter)
  }
  const { filter, related, where } = readFilters({ resource, catalog }, filters, { condition: given }, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  // A condition that compares nothing holds for every record, or for none.
  const hasFilter = filters.length > 0 || (where !== undefined && conditionFields(where.condition).length > 0)
  if (!hasFilter) throw filterRequired(done)
  return { ...storedQuery(catalog, resource, filter), related, where }
}

/** The refusal of a request that would delete or change every record. */
export function filterRequired(done: 'deleted' | 'changed'): Fault {
  const detail = `Without a filter nothing is ${done}. Add a filter, such as ?status=done.`
  return fault('FILTER_REQUIRED', { detail })
}

/** The words to look for, each once; the last one is a prefix. */
function readWords(text: string, issues: Issue[]): readonly string[] {
  const { words: most, characters } = queryLimits
  if (text.length > characters) {
    issues.push(issue('maxLength', { parameter: 'q', limit: characters }))
    return []
  }
  const all = words(text)
  const different = new Set(all).size
  if (different > most) issues.push(issue('words', { parameter: 'q', most, given: different }))
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
    issues.push(issue('pageStyles', { parameter: name, others: named.filter((each) => each !== name) }))
  }
  const whole = (name: string, fallback: number, least: number, most: number): number => {
    const text = given.get(name)
    if (text === undefined) return fallback
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    issues.push(issue('pageNumber', { parameter: name, least, most }))
    return fallback
  }
  if (style === 'page') {
    const perPage = whole('per_page', size.default, 1, size.max)
    const page = whole('page', 1, 1, Number.MAX_SAFE_INTEGER)
    if (page > Number.MAX_SAFE_INTEGER / perPage) issues.push(issue('pageBeyond', { parameter: 'page' }))
    return { style, page, perPage }
  }
  const limit = whole('limit', size.default, 1, size.max)
  if (style === 'offset') return { style, offset: whole('offset', 0, 0, Number.MAX_SAFE_INTEGER), limit }
  return { style, limit, cursor: given.get('cursor'), position: undefined }
}
