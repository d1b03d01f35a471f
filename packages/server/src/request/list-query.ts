/**
 * The query of a collection: filters, `field=value` or `field[operator]=value`, search, sort, fields and page (QRY,
 * PAG), and the filters of a deletion. Mistakes are added to `issues`, so that one response names them all.
 */

import { decimalKeyOf } from 'resourced-contract/model/decimal'
import { controlParameters } from 'resourced-contract/model/names'
import { type Comparison, filterOperators, listOperators } from 'resourced-contract/model/operators'
import { exactText } from 'resourced-contract/model/plain-copy'
import {
  allOf,
  always,
  anyOf,
  not,
  type Predicate,
  type Scalar,
  type SortTerm,
} from 'resourced-contract/model/predicate'
import {
  type Filterable,
  hasRelevance,
  isFitting,
  isMapped,
  operatorsFor,
  type Resource,
  relevance,
} from 'resourced-contract/model/resource'
import { isRecordId, isStorableText, words } from 'resourced-contract/model/text'
import { instantKey, stampKey } from 'resourced-contract/model/time'
import type { TimeZone } from 'resourced-contract/model/time-zone'
import { fault, type Issue, issue } from 'resourced-contract/spec/faults'
import { queryLimits } from 'resourced-contract/spec/limits'
import type { ValueKind } from 'resourced-contract/spec/words'
import { translateQuery } from '../versions/translate-request.ts'
import { holdsInstants, readDays, zoneOfDays } from './days.ts'
import {
  answeredFields,
  countListed,
  invalidQuery,
  isShortList,
  listed,
  type Parameter,
  readBoolean,
  readParameters,
  readSort,
} from './parameters.ts'

/** A query of a collection. */
export interface ListQuery {
  /** In stored terms, like `sort`. */
  readonly filter: Predicate
  /** The filter in terms of the older version that the request uses; `undefined`: they are the same. */
  readonly versionFilter: Predicate | undefined
  readonly sort: readonly SortTerm[]
  readonly search: readonly string[] | undefined
  readonly fields: readonly string[] | undefined
  /** `only`: deleted records and no others. */
  readonly includeDeleted: boolean | 'only'
  readonly page: PageRequest
  /** The text that a cursor is bound to: sort, filters and search in one spelling; empty in the other styles. */
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

// Query strings come from callers, so only a limited number of short ones is kept, of all collections together.
const mostKept = 1_000
const longestKept = 500

/** The queries that an application has read: the same query string of the same collection is read once. */
export class KnownQueries {
  readonly #known = new Map<Resource, Map<string, ListQuery>>()
  #kept = 0

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
    if (++this.#kept > mostKept) {
      this.#known.clear()
      this.#kept = 1
      queries = undefined
    }
    if (queries === undefined) {
      queries = new Map()
      this.#known.set(resource, queries)
    }
    const kept = { ...query, key: `${resource.mapping?.version ?? ''}/${resource.name}?${text}` }
    queries.set(text, kept)
    return kept
  }
}

// If the query string carries versions, `version` was removed before, so a remaining one is unknown.
const controls: ReadonlySet<string> = new Set(controlParameters.filter((name) => name !== 'version'))

/**
 * Reads the parameters of a collection. One response names everything that is wrong (QRY-8).
 *
 * @param issues the mistakes found before
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
    else if (single.has(name)) issues.push(issue('DUPLICATE_PARAMETER', { parameter: name }))
    else single.set(name, value)
  }
  const predicates = readFilters(resource, filters, issues)
  const includeDeleted = readIncludeDeleted(single.get('include_deleted'), issues)
  const order = single.get('sort')
  const isSorted = order !== undefined && isShortList('sort', order, issues)
  const more = [
    ...(includeDeleted === 'only' ? ['deleted_at'] : []),
    ...(hasRelevance(resource) ? [relevance.name] : []),
  ]
  const sort = isSorted ? readSort(resource, listed(order, { parameter: 'sort' }), issues, more) : []
  const fields = answeredFields(resource, single.get('fields'), issues)
  const q = single.get('q')?.trim()
  if (q && !resource.fields.some((field) => field.search))
    issues.push(issue('unsearchable', { parameter: 'q', resource: resource.name }))
  // Without any word to look for, punctuation alone finds nothing; blank text is no search.
  const search = q ? readWords(q, issues) : undefined
  if (!q && sort.some(({ field }) => field === relevance.field))
    issues.push(issue('relevanceAlone', { parameter: 'sort' }))
  const page = readPageRequest(single, pageSize, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  // The order of filters makes no difference: cursors, statements and kept totals see one spelling.
  if (predicates.length > 1) predicates.sort((left, right) => (exactText(left) < exactText(right) ? -1 : 1))
  const filter = allOf(predicates)
  const binding = page.style === 'cursor' ? exactText([filter, sort, q || null, includeDeleted]) : ''
  const query = { filter, versionFilter: undefined, sort, search, fields, includeDeleted, page, binding }
  return isMapped(resource) ? { ...query, ...translateQuery(resource, query), versionFilter: filter } : query
}

function readIncludeDeleted(text: string | undefined, issues: Issue[]): ListQuery['includeDeleted'] {
  return text === 'only' ? text : readBoolean('include_deleted', text, issues, ['true', 'false', 'only'])
}

/**
 * Reads which records of a collection are to be deleted (DEL-10): filters alone, and at least one. The result is in
 * stored terms.
 *
 * @throws Fault INVALID_QUERY, FILTER_REQUIRED
 */
export function readDeletionFilter(resource: Resource, parameters: readonly Parameter[]): Predicate {
  const issues: Issue[] = []
  const filters: Parameter[] = []
  for (const parameter of parameters) {
    const { name } = parameter
    if (isUnstorable(parameter)) issues.push(unstorable(name))
    else if (controls.has(name)) issues.push(issue('onlyParameters', { parameter: name, only: 'filters' }))
    else filters.push(parameter)
  }
  const predicates = readFilters(resource, filters, issues)
  if (issues.length > 0) throw invalidQuery(issues)
  if (predicates.length > 0) {
    const filter = allOf(predicates)
    return isMapped(resource) ? translateQuery(resource, { filter, sort: [] }).filter : filter
  }
  const detail = 'Without a filter nothing is deleted. Add a filter, such as ?status=done.'
  throw fault('FILTER_REQUIRED', { detail })
}

function readFilters(resource: Resource, parameters: readonly Parameter[], issues: Issue[]): Predicate[] {
  const asked = zoneOfDays(resource, parameters, issues)
  const filters = new Map<string, string[]>()
  for (const { name, value } of asked.filters) {
    const values = filters.get(name)
    if (values === undefined) filters.set(name, [value])
    else values.push(value)
  }
  if (!areFewFilters(filters, issues)) return []
  return [...filters].map(([name, values]) => readFilter(resource, { name, values, zone: asked.zone }, issues))
}

/**
 * Whether filters are within LIM-5: the cost of a query depends on its length, and one thread serves all callers.
 *
 * @param filters the values of each, by its name with its operator
 */
function areFewFilters(filters: ReadonlyMap<string, readonly string[]>, issues: Issue[]): boolean {
  const { filters: mostFilters, values: mostValues, characters: mostCharacters } = queryLimits
  const before = issues.length
  let count = 0
  let values = 0
  let characters = 0
  for (const [name, given] of filters) {
    if (++count > mostFilters) {
      issues.push(issue('filters', { parameter: name, most: mostFilters, given: filters.size }))
      break
    }
    const operand = filterOperators.get(/\[([^[\]]*)\]$/.exec(name)?.[1] ?? '')?.operand
    values += operand === 'list' ? given.reduce((sum, value) => sum + countListed(value), 0) : given.length
    if (values > mostValues) {
      issues.push(issue('filterValues', { parameter: name, most: mostValues }))
      break
    }
    if (operand === 'text') characters += given.reduce((sum, value) => sum + value.length, 0)
    if (characters > mostCharacters) {
      const names = listOperators('texts', 'query', 'and')
      issues.push(issue('filterTexts', { parameter: name, limit: mostCharacters, operators: names }))
      break
    }
  }
  return issues.length === before
}

/** One filter, by its parameter's name with the operator in brackets: a record matches if it has one of the values. */
interface GivenFilter {
  readonly name: string
  readonly values: readonly string[]
  /** Of days. */
  readonly zone: TimeZone
}

function readFilter(resource: Resource, { name, values, zone }: GivenFilter, issues: Issue[]): Predicate {
  if (name === 'after' && resource.order === 'by-position') return readAfter(values, issues)
  const parts = /^([^[\]]*)(?:\[([^[\]]*)\])?$/.exec(name)
  const subject = resource.filterables.find((each) => each.name === parts?.[1])
  if (subject === undefined) {
    const known = resource.filterables.map((each) => each.name)
    issues.push(issue('unknownFilter', { parameter: name, name, resource: resource.name, known }))
    return always
  }
  const operator = parts?.[2]
  const read = (given: readonly string[]) => readComparison(subject, { name, operator, values: given }, issues)
  if (!holdsInstants(subject)) return read(values)
  return readDays({ resource, field: subject.name, name, operator, values, zone }, read, issues)
}

function readComparison(
  subject: Filterable,
  { name, operator, values }: Pick<GivenFilter, 'name' | 'values'> & { readonly operator: string | undefined },
  issues: Issue[],
): Predicate {
  if (operator === undefined && !subject.isArray) return equalsAny(subject, values, name, issues)
  const row = filterOperators.get(operator ?? '')
  if (row === undefined || !isFitting(row, subject)) {
    const known = operatorsFor(subject).map((each) => `[${each}]`)
    issues.push(
      issue(operator === undefined ? 'needsOperator' : 'operator', { parameter: name, name: subject.name, known }),
    )
    return always
  }
  if (row.fits === 'arrays') {
    const items = row.operand === 'list' ? values.flatMap((value) => value.split(',')) : values
    const all = row.name === 'hasAll'
    return { kind: 'has', field: subject.name, values: readValues(subject, items, name, issues), all }
  }
  if (row.operand === 'list') {
    const items = values.flatMap((value) => value.split(','))
    return equalsAny(subject, items, name, issues)
  }
  if (row.operand === 'values')
    return { kind: 'differs', field: subject.name, values: readValues(subject, values, name, issues) }
  if (values.length > mostAlternatives) {
    issues.push(issue('oftener', { parameter: name, most: mostAlternatives, given: values.length }))
    return always
  }
  if (row.operand === 'flag') return anyOf(values.map((value) => nullness(subject, value, name, issues)))
  return anyOf(
    values.map((text): Predicate => {
      const value = row.operand === 'text' ? text : readValue(subject, text, name, issues)
      return { kind: 'compare', field: subject.name, operator: row.name as Comparison, value }
    }),
  )
}

/** Reads the event after which a list begins (EVT-2). */
function readAfter([id = '', ...others]: readonly string[], issues: Issue[]): Predicate {
  if (others.length > 0) issues.push(issue('DUPLICATE_PARAMETER', { parameter: 'after' }))
  else if (!isRecordId(id)) invalid('after', 'event', issues)
  return { kind: 'compare', field: 'id', operator: 'gt', value: id }
}

function equalsAny(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Predicate {
  const values = readValues(subject, texts, parameter, issues)
  const [only] = values
  if (texts.length === 1) return { kind: 'compare', field: subject.name, operator: 'eq', value: only as Scalar }
  return { kind: 'in', field: subject.name, values }
}

/** The values, each once. */
function readValues(subject: Filterable, texts: readonly string[], parameter: string, issues: Issue[]): Scalar[] {
  return [...new Set(texts.map((text) => readValue(subject, text, parameter, issues)))]
}

function nullness(subject: Filterable, text: string, parameter: string, issues: Issue[]): Predicate {
  if (text !== 'true' && text !== 'false') invalid(parameter, 'boolean', issues)
  const unset: Predicate = { kind: 'null', field: subject.name }
  return text === 'false' ? not(unset) : unset
}

// Each is a term of its own in the condition, and databases limit those (SQLite: 1,000 deep). Equal values are one
// term.
const mostAlternatives = 100

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const integer = /^-?(?:0|[1-9]\d*)$/

/** A value as its field compares it (QRY-8). */
function readValue({ type, field }: Filterable, text: string, parameter: string, issues: Issue[]): Scalar {
  switch (type) {
    case 'id':
      if (!isRecordId(text)) invalid(parameter, 'id', issues)
      return text
    case 'boolean':
      if (text !== 'true' && text !== 'false') invalid(parameter, 'boolean', issues)
      return text === 'true'
    case 'integer':
      if (!integer.test(text) || !Number.isSafeInteger(Number(text))) invalid(parameter, 'integer', issues)
      return Number(text)
    case 'number':
      if (!number.test(text) || !Number.isFinite(Number(text))) invalid(parameter, 'number', issues)
      return Number(text)
    case 'decimal': {
      const key = decimalKeyOf(text)
      if (key === undefined) invalid(parameter, 'decimal', issues)
      return key ?? ''
    }
    case 'timestamp':
      return readTimestamp(text, parameter, issues)
    case 'string':
      if (field?.enum !== undefined && !field.enum.includes(text)) {
        issues.push(issue('enum', { code: 'INVALID_VALUE', parameter, allowed: field.enum }))
      }
      if (field?.reference !== undefined && !isRecordId(text)) {
        issues.push(issue('id', { code: 'INVALID_VALUE', parameter, target: field.reference.collection }))
      }
      if (field?.format === 'date-time') {
        const key = instantKey(text)
        if (key === undefined) invalid(parameter, 'date-time', issues)
        return key ?? ''
      }
      // A declared field keeps the case of its texts.
      if (field?.format === 'uuid' && field.reference === undefined && !isRecordId(text.toLowerCase())) {
        invalid(parameter, 'uuid', issues)
      }
      if (field?.format === 'date' && instantKey(`${text}T00:00:00Z`) === undefined) {
        invalid(parameter, 'date', issues)
      }
      return text
  }
}

function readTimestamp(text: string, parameter: string, issues: Issue[]): string {
  const key = stampKey(text)
  if (key === undefined) invalid(parameter, 'timestamp', issues)
  return key ?? ''
}

function invalid(parameter: string, wanted: ValueKind, issues: Issue[]): void {
  issues.push(issue('value', { parameter, wanted }))
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

/** Whether a parameter holds text that no record can hold: PostgreSQL refuses U+0000 in any value. */
function isUnstorable({ name, value }: Parameter): boolean {
  return !isStorableText(value) || !isStorableText(name)
}

function unstorable(name: string): Issue {
  return issue('INVALID_TEXT', { parameter: name.replaceAll('\0', '') })
}
