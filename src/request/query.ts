/** The parameters of a collection: filters, sort, page, fields, search (QRY, PAG). Everything wrong is in one answer (QRY-8). */

import type { Predicate, SortTerm } from '../model/predicate.ts'
import { allOf } from '../model/predicate.ts'
import { isMapped, type Resource, systemFields } from '../model/resource.ts'
import { isStorableText } from '../model/text.ts'
import { type Fault, fault, type Issue } from '../spec/faults.ts'
import { translateFilter, translateSort } from '../versions/translate-request.ts'
import { readFields } from './fields.ts'
import { readFilter } from './filter.ts'
import { type PageRequest, readPageRequest } from './page.ts'
import type { Parameter } from './parameters.ts'
import { listed } from './placed.ts'
import { areFewFilters, isShortList, mostQueryIssues, readWords } from './query-bounds.ts'
import { readSort } from './sort.ts'

/** What a collection is asked for. */
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
}

const pageParameters = ['page', 'per_page', 'offset', 'limit', 'cursor'] as const
const controls: ReadonlySet<string> = new Set([...pageParameters, 'sort', 'fields', 'q', 'include_deleted'])

/**
 * Reads the parameters of a collection.
 *
 * @param pageSize the sizes allowed
 * @param issues what was found wrong already
 * @throws Fault INVALID_QUERY with one error for each thing wrong
 */
export function readListQuery(
  resource: Resource,
  parameters: readonly Parameter[],
  pageSize: { readonly default: number; readonly max: number },
  issues: Issue[] = [],
): ListQuery {
  const single = new Map<string, string>()
  const filters = new Map<string, string[]>()
  for (const { name, value } of parameters) {
    if (isUnstorable({ name, value })) {
      issues.push(unstorable(name))
    } else if (!controls.has(name)) {
      const values = filters.get(name)
      if (values === undefined) filters.set(name, [value])
      else values.push(value)
    } else if (single.has(name)) {
      issues.push({ code: 'DUPLICATE_PARAMETER', message: `${name} may be given once.`, parameter: name })
    } else {
      single.set(name, value)
    }
  }
  const predicates = areFewFilters(filters, issues)
    ? [...filters].map(([name, values]) => readFilter(resource, name, values, issues))
    : []
  const order = single.get('sort')
  const sort =
    order === undefined || !isShortList('sort', order, issues)
      ? []
      : readSort(resource, listed(order, { parameter: 'sort' }), issues)
  const fields = answeredFields(resource, single.get('fields'), issues)
  const includeDeleted = readBoolean('include_deleted', single.get('include_deleted'), issues)
  const q = single.get('q')?.trim()
  if (q && !resource.fields.some((field) => field.search)) {
    issues.push({
      code: 'UNKNOWN_PARAMETER',
      message: `${resource.name} has no field to search with q.`,
      parameter: 'q',
    })
  }
  // Without any word to look for, punctuation alone finds nothing; blank text is no search.
  const search = q ? readWords(q, issues) : undefined
  const page = readPageRequest(single, pageSize, issues)
  if (issues.length > 0) throw invalid(issues)
  // One spelling, in whichever order they came: of the cursor's binding, of the statement and of the kept total.
  if (predicates.length > 1) predicates.sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
  const filter = allOf(predicates)
  return {
    filter: translateFilter(resource, filter),
    versionFilter: isMapped(resource) ? filter : undefined,
    sort: translateSort(resource, sort),
    search,
    fields,
    includeDeleted,
    page,
    binding: page.style === 'cursor' ? JSON.stringify([filter, sort, q || null, includeDeleted]) : '',
  }
}

/**
 * Reads which records of a collection are to be deleted (DEL-10): filters alone, and at least one. The result is in terms of
 * what is stored.
 *
 * @throws Fault INVALID_QUERY, FILTER_REQUIRED
 */
export function readDeletionFilter(resource: Resource, parameters: readonly Parameter[]): Predicate {
  const issues: Issue[] = []
  const filters = new Map<string, string[]>()
  for (const { name, value } of parameters) {
    if (isUnstorable({ name, value })) issues.push(unstorable(name))
    else if (controls.has(name)) issues.push(unknown(name, 'A deletion takes filters alone.'))
    else if (filters.get(name)?.push(value) === undefined) filters.set(name, [value])
  }
  const predicates = areFewFilters(filters, issues)
    ? [...filters].map(([name, values]) => readFilter(resource, name, values, issues))
    : []
  if (issues.length > 0) throw invalid(issues)
  if (predicates.length > 0) return translateFilter(resource, allOf(predicates))
  const detail = 'Without a filter nothing is deleted. Say which records are meant, such as ?status=done.'
  throw fault('FILTER_REQUIRED', { detail })
}

/** Reads the parameters of a single resource: `fields`, and nothing else (QRY-4). */
export function readRecordQuery(resource: Resource, parameters: readonly Parameter[]): readonly string[] | undefined {
  const issues: Issue[] = []
  let fields: string | undefined
  for (const { name, value } of parameters) {
    if (name !== 'fields') issues.push(unknown(name, `A single resource takes only fields as a parameter.`))
    else if (fields !== undefined)
      issues.push({ code: 'DUPLICATE_PARAMETER', message: 'fields may be given once.', parameter: name })
    else fields = value
  }
  const wanted = answeredFields(resource, fields, issues)
  if (issues.length > 0) throw invalid(issues)
  return wanted
}

/** Refuses every parameter: this address takes none with this method. */
export function refuseParameters(parameters: readonly Parameter[]): void {
  if (parameters.length === 0) return
  const message = 'This address takes no parameters with this method.'
  throw invalid(parameters.slice(0, mostQueryIssues).map(({ name }) => unknown(name, message)))
}

/**
 * Reads the parameters of a revocation: `descendants=true` revokes the keys made with the key too (AUT-10).
 *
 * @throws Fault INVALID_QUERY
 */
export function readDescendants(parameters: readonly Parameter[]): boolean {
  const issues: Issue[] = []
  let descendants: string | undefined
  for (const { name, value } of parameters) {
    if (name !== 'descendants') issues.push(unknown(name, 'A revocation takes only descendants as a parameter.'))
    else if (descendants !== undefined)
      issues.push({ code: 'DUPLICATE_PARAMETER', message: 'descendants may be given once.', parameter: name })
    else descendants = value
  }
  const isTaken = readBoolean('descendants', descendants, issues)
  if (issues.length > 0) throw fault('INVALID_QUERY', { errors: issues })
  return isTaken
}

function answeredFields(resource: Resource, text: string | undefined, issues: Issue[]): readonly string[] | undefined {
  if (text === undefined || !isShortList('fields', text, issues)) return undefined
  return readFields(resource, listed(text, { parameter: 'fields' }), systemFields, issues)
}

function invalid(issues: readonly Issue[]): Fault {
  return fault('INVALID_QUERY', { errors: issues.slice(0, mostQueryIssues) })
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

function unknown(name: string, message: string): Issue {
  return { code: 'UNKNOWN_PARAMETER', message, parameter: name }
}
