/**
 * How a list finds its rows: which conditions an index finds the rows of, which of them find few, and how many rows a
 * page visits.
 */
import { grantOf, predicatesOf } from 'resourced-contract/model/field-grants'
import { comparisons } from 'resourced-contract/model/operators'
import {
  collectionsOf,
  isOfAllRecords,
  linkOf,
  namesIds,
  type Predicate,
  type SortTerm,
} from 'resourced-contract/model/predicate'
import {
  type Catalog,
  isEqualityFilter,
  isFolded,
  isHistory,
  isIndexed,
  namedField,
  type Resource,
  relevance,
} from 'resourced-contract/model/resource'
import type { Include, Page, ReadPage } from '../../plan/plan.ts'
import { searchColumns } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'

/**
 * How a page finds its rows. One index often serves a list's filter and its order together. Where none does, an engine
 * can find what matches and sort it, or scan the whole order and drop what does not match. The number of matching rows
 * decides which of the two would cost as much as reading the table. That number is known: it is the list's exact total.
 *
 * `planner`: the engine's planner chooses. `sort`: find by the filter, then sort. `ordered scan`: follow the order,
 * check each row.
 */
export type AccessPath = 'planner' | 'sort' | 'ordered scan'

/** So many rows are sorted within some ten milliseconds; a scan soon meets one row of more than these. */
const sortedQuickly = 10_000

/** To find a row by its number and to sort it takes as long as to check so many rows of an order. */
const checkedMeanwhile = 2

export function accessPathOf(catalog: Catalog, plan: ReadPage, page: Page, { total, live }: Size): AccessPath {
  const isSearch = plan.search !== undefined && plan.deleted === undefined
  // A query names at most 1,000 ids. No index has the order by relevance.
  if (namesIds(plan.filter) || isByRelevance(plan)) return 'sort'
  // Only the index of words finds the few records that have several words, and that of deletions the deleted ones.
  if ((isSearch || plan.deleted?.only === true) && total <= sortedQuickly) return 'sort'
  if (isServed(catalog, plan) && !(isSearch && live !== undefined)) return 'planner'
  const isFound = isSearch || conditionsOf(plan).some((term) => isFoundByIndex(plan.resource, term))
  // No index has the order of related values.
  if (total <= sortedQuickly || plan.sort.some(isRelated)) return isFound ? 'sort' : 'planner'
  // If matches are spread evenly, the scan meets so many rows until the end of the page.
  const checked = (skippedRows(page, total) + rangeOf(page).limit) * ((live ?? 0) / total)
  return isFound && checked > total * checkedMeanwhile ? 'sort' : 'ordered scan'
}

/** How many rows are read, and how many are skipped before. */
export interface Range {
  readonly limit: number
  readonly offset: number
}

/** The rows that the statements of a page read: beside a cursor one more than it has. */
export function rangeOf(page: Page): Range {
  if (page.style === 'cursor') return { limit: page.limit + 1, offset: 0 }
  return page.style === 'page' ? { limit: page.perPage, offset: (page.page - 1) * page.perPage } : page
}

/** How many rows of a list of so many records are skipped to read a page: from its end, if that is nearer. */
export function skippedRows(page: Page, total: number): number {
  const { limit, offset } = rangeOf(page)
  return Math.min(offset, Math.max(0, total - offset - limit))
}

/** How many records a list and its collection have. */
export interface Size {
  readonly total: number
  /** The live records of the collection; `undefined`: unknown. */
  readonly live: number | undefined
}

/** What is known of a list before it is read. */
export interface KnownSize {
  /** The total as it was counted last; `undefined`: it never was. */
  readonly total: number | undefined
  /** Whether nothing has changed since: then it is not counted again. */
  readonly isCurrent: boolean
  /** The live and the deleted records of the collection. */
  readonly live: number
  readonly deleted: number
  /** The records of other collections that the caller's permission may ask for. */
  readonly others: number
}

/** So many rows are read within about a millisecond. */
export const fewRows = 1_000

/**
 * Whether a page visits few rows, those for its total included. An old total is off by one for each change since, so it
 * is good enough. A total that is not known may be any.
 */
export function visitsFew(plan: ReadPage, { total, isCurrent, live, deleted, others }: KnownSize): boolean {
  const { resource, search, page, sort } = plan
  // A query names at most 1,000 ids.
  if (live + deleted + others <= fewRows || namesIds(plan.filter)) return true
  const [term, ...more] = conditionsOf(plan)
  const isOne = (term === undefined ? 0 : 1) + more.length + (search?.length ?? 0) <= 1
  if (total === undefined || !isOne || plan.deleted !== undefined) return false
  // A search by texts that the caller may not read, and a condition without an index, visit rows that no total counts.
  if (term === undefined ? search !== undefined && searchedTexts(plan) !== undefined : !hasIndex(resource, term))
    return false
  // The indexes of ids and of words contain deleted records too, those of fields do not.
  const isOfField =
    term === undefined
      ? search === undefined && sort.length > 0
      : 'field' in term && term.field !== 'id' && term.kind !== 'has'
  const gone = isOfField ? 0 : deleted
  // An index of fields has all that is asked of a row that is skipped: ten take as long as one that is read.
  const skipped = skippedRows(page, total) / (isOfField ? 10 : 1)
  const read = isIndexRange(plan) ? skipped + rangeOf(page).limit : total
  // A score is made of the words of each text.
  return (isCurrent ? 0 : total + gone) + read * (isByRelevance(plan) ? 10 : 1) + gone <= fewRows
}

/** Whether a list finds its rows without those that a reference may lead to. */
export function findsFew({ catalog }: SqlContext, plan: ReadPage): boolean {
  return isServed(catalog, plan) || isFoundByFilter(plan) || namesIds(plan.filter)
}

/** Whether a filter of events selects a part of them, of whatever records they are. */
function isFoundByFilter({ resource, filter }: ReadPage): boolean {
  return resource.order === 'by-position' && termsOf(filter).some((term) => isFoundByIndex(resource, term))
}

/** Whether one index has the rows of a list together and in order, or search or deletion decides how they are found. */
function isServed(catalog: Catalog, plan: ReadPage): boolean {
  if (plan.search !== undefined || plan.deleted !== undefined) return true
  if (isLed(catalog, plan.filter)) return false
  const terms = conditionsOf(plan)
  const first = firstField(plan)
  return terms.length === 0 || terms.some((term) => servesOrder(plan.resource, term, first))
}

/**
 * The field that is null in all rows of a list and with which the index of its order begins; `undefined` where there is
 * none, or another condition has an index that serves.
 */
export function leadingNullField(plan: ReadPage): string | undefined {
  const { resource, search, deleted } = plan
  if (search !== undefined || deleted !== undefined) return undefined
  const first = firstField(plan)
  const serving = conditionsOf(plan).filter((term) => servesOrder(resource, term, first))
  if (serving.some((term) => term.kind !== 'null')) return undefined
  for (const term of serving) {
    const field = term.kind === 'null' && term.field !== first ? namedField(resource, term.field) : undefined
    if (field !== undefined && isIndexed(resource, field)) return field.name
  }
  return undefined
}

/** Whether the rows of a list are one range of an index, in order, with no other live rows between them. */
export function isIndexRange(plan: ReadPage): boolean {
  // Rows that tie in the first field are sorted.
  if (plan.search !== undefined || plan.deleted !== undefined || plan.sort.length > 1) return false
  if (plan.sort.some(isRelated)) return false
  const [term, ...others] = conditionsOf(plan)
  if (term === undefined) return true
  return others.length === 0 && servesOrder(plan.resource, term, firstField(plan)) && hasIndex(plan.resource, term)
}

function conditionsOf({ permitted, filter, parent }: ReadPage): Predicate[] {
  const terms = [permitted, filter].flatMap(termsOf)
  if (parent === undefined) return terms
  return [...terms, { kind: 'compare', field: parent.field, operator: 'eq', value: parent.id }]
}

function isByRelevance({ sort }: ReadPage): boolean {
  return sort.some(({ field }) => field === relevance.field)
}

/**
 * The columns in which an older version or a caller searches, where they are fewer than those of the index (QRY-5,
 * AUT-9, AUT-13): the index finds records by any of its texts, so the words have to be looked for in these texts once
 * more. `undefined`: the index decides.
 */
export function searchedTexts({ resource, versionResource, readableFields }: ReadPage): string[] | undefined {
  const indexed = searchColumns(resource)
  const isMasked = indexed.some((name) => grantOf(readableFields, name) !== undefined)
  if (versionResource === undefined) return isMasked ? indexed : undefined
  const { fields, mapping } = versionResource
  const columns = fields.flatMap(({ name, search }) => (search ? (mapping.toStored.get(name) ?? []) : []))
  return !isMasked && indexed.every((name) => columns.includes(name)) ? undefined : columns
}

/** Whether each path leads from a record to one other, and no permission depends on further records. */
export function followsFew({ paths }: Include): boolean {
  return paths.every(({ to, permitted, referring, deleted, readableFields }) => {
    const predicates = [permitted, referring, ...predicatesOf(readableFields)]
    return to === 'one' && deleted === undefined && predicates.every((each) => collectionsOf(each).size === 0)
  })
}

/** Whether a term orders by the value of a related record. */
export function isRelated({ through }: SortTerm): boolean {
  return through !== undefined
}

/** The name of the first field of an order, with those of the references that lead to it, which no field has. */
export function firstField({ sort }: ReadPage): string | undefined {
  const [first] = sort
  return first && [...(first.through ?? []), first].map(({ field }) => field).join('.')
}

/** The conditions of which all must hold. */
export function termsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'always' || isOfAllRecords(predicate)) return []
  return predicate.kind === 'and' ? predicate.terms.flatMap(termsOf) : [predicate]
}

/** Whether an index that begins with a condition's field goes on in the order of the list. */
export function servesOrder(resource: Resource, term: Predicate, first: string | undefined): boolean {
  if (term.kind !== 'compare' && term.kind !== 'null') return false
  if (term.field === first) return term.kind === 'null' || comparisons[term.operator].index === 'field'
  const isInOrder = first === (isHistory(resource) ? 'created_at' : undefined)
  if (resource.order === 'by-position') return isInOrder && isFoundByIndex(resource, term)
  if (term.kind === 'compare' && term.operator !== 'eq') return false
  const field = namedField(resource, term.field)
  if (first === undefined) return true
  return field !== undefined && isEqualityFilter(field) && resource.field.get(first)?.sort === true
}

/** Whether the rows that a condition holds for are a range of an index, or a few ranges. */
export function isFoundByIndex(resource: Resource, term: Predicate): boolean {
  if (term.kind === 'not') return term.term.kind === 'null'
  if (term.kind === 'some') return isLinkIndexed(resource, term.predicate)
  if (term.kind === 'event') return term.grants.every(({ read }) => read.kind !== 'always')
  if (term.kind === 'or') return term.terms.every((each) => isFoundByIndex(resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isFoundByIndex(resource, each))
  if (resource.order === 'by-position' && 'field' in term) {
    return term.field === 'id' || resource.indexes.some(({ fields }) => fields[0] === term.field)
  }
  if (term.kind === 'has') return resource.field.get(term.field)?.items !== undefined
  if (term.kind === 'null') return namedField(resource, term.field)?.items === undefined
  if (term.kind !== 'compare') return term.kind === 'in' || term.kind === 'through'
  const { index } = comparisons[term.operator]
  const field = namedField(resource, term.field)
  return index === 'field' || (index === 'prefix' && field !== undefined && isFolded(field))
}

/** Whether an index finds the rows by the values that the records of a `some` have. */
function isLinkIndexed(resource: Resource, predicate: Predicate): boolean {
  const outer = linkOf(predicate)?.outer
  const field = resource.field.get(outer ?? '')
  return outer === 'id' || (field !== undefined && isIndexed(resource, field))
}

/** Whether an index of the collection itself finds the rows that a condition holds for. */
export function hasIndex(resource: Resource, term: Predicate): boolean {
  if (!('field' in term) || term.kind === 'through' || !isFoundByIndex(resource, term)) return false
  const field = namedField(resource, term.field)
  return term.field === 'id' || term.kind === 'has' || (field !== undefined && isIndexed(resource, field))
}

/** How many live records a collection has; `undefined`: unknown. */
export type LiveOf = (collection: string) => number | undefined

type Related = Pick<Catalog, 'resources' | 'system'>
type Lookup = Extract<Predicate, { readonly kind: 'through' | 'some' }>

/** Whether a term is a condition on records of another collection. */
export function isLookup(term: Predicate): term is Lookup {
  return term.kind === 'through' || term.kind === 'some'
}

/**
 * Whether the records of the other collections are found first, and then the rows by them. Otherwise each row is
 * checked: the record that its reference leads to is found by its id, while those that refer to a row may be many.
 */
export function findsBySet(catalog: Related, term: Predicate, collection: string, liveOf: LiveOf): boolean {
  if (term.kind === 'or' || term.kind === 'and') {
    return term.terms.every((each) => findsBySet(catalog, each, collection, liveOf))
  }
  if (term.kind !== 'through' || leadsToFew(catalog, term)) return true
  return (liveOf(term.collection) ?? 0) <= (liveOf(collection) ?? Number.POSITIVE_INFINITY)
}

/** Whether a filter has a lookup of few records: it finds the rows, and not an index of a field with few values. */
export function isLed(catalog: Related, filter: Predicate): boolean {
  return termsOf(filter).some((term) => isLookup(term) && leadsToFew(catalog, term))
}

/** Whether a comparison is with a value of which there are few, so that each has many rows. */
export function isOfFewValues(resource: Resource, term: Predicate): boolean {
  const field = 'field' in term ? namedField(resource, term.field) : undefined
  return field !== undefined && field.reference === undefined && isEqualityFilter(field)
}

/** Whether the records that a lookup looks for are few: one of their values is given, of which there are many. */
function leadsToFew(catalog: Related, { collection, predicate }: Lookup): boolean {
  const target = catalog.resources.get(collection) ?? catalog.system.get(collection)
  return target !== undefined && termsOf(predicate).some((term) => isNarrow(catalog, target, term))
}

function isNarrow(catalog: Related, resource: Resource, term: Predicate): boolean {
  if (isLookup(term)) return leadsToFew(catalog, term)
  if (term.kind === 'or') return term.terms.every((each) => isNarrow(catalog, resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isNarrow(catalog, resource, each))
  const isValue = term.kind === 'in' || (term.kind === 'compare' && term.operator === 'eq')
  const isPrefix = term.kind === 'compare' && comparisons[term.operator].index === 'prefix'
  return (isValue || isPrefix) && !isOfFewValues(resource, term) && hasIndex(resource, term)
}
