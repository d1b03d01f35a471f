/**
 * How a page comes to its rows. One index often serves a list's filter and its order together. Where none does, an
 * engine can find what matches and sort it, or scan the whole order and drop what does not match. Which of the two
 * costs as much as the table is large depends on how many rows match, and that number is known: the list's exact total.
 */
import { isEqualityFilter, isFolded, isIndexed } from '../../model/indexes.ts'
import { allOf, always, type Predicate, type SortTerm } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'
import type { ReadPage } from '../../plan/plan.ts'

/**
 * `planner`: the engine's planner chooses. `sort`: find by the filter, then sort. `ordered scan`: follow the order,
 * check each row.
 */
export type AccessPath = 'planner' | 'sort' | 'ordered scan'

/** So many rows are sorted within some ten milliseconds; a scan soon meets one row of more than these. */
const sortedQuickly = 10_000

/** The access path to the rows of a list of so many records. */
export function accessPathOf(plan: ReadPage, total: number): AccessPath {
  // Only the index of words tells how few records have several words.
  if (plan.search !== undefined && plan.deleted === undefined && total <= sortedQuickly) return 'sort'
  if (isServed(plan)) return 'planner'
  if (total > sortedQuickly) return 'ordered scan'
  return conditionsOf(plan).some((term) => isFoundByIndex(plan.resource, term)) ? 'sort' : 'planner'
}

/** Whether one index has the rows of a list together and in order, or search or deletion decides how they are found. */
export function isServed(plan: ReadPage): boolean {
  if (plan.search !== undefined || plan.deleted !== undefined) return true
  const terms = conditionsOf(plan)
  const first = plan.sort[0]?.field
  return terms.length === 0 || terms.some((term) => servesOrder(plan.resource, term, first))
}

/**
 * The field that is null in all rows of a list and with which the index of its order begins; `undefined` where there is
 * none, or another condition has an index that serves.
 */
export function leadingNullField(plan: ReadPage): string | undefined {
  const { resource, search, deleted, sort } = plan
  if (search !== undefined || deleted !== undefined) return undefined
  const first = sort[0]?.field
  const serving = conditionsOf(plan).filter((term) => servesOrder(resource, term, first))
  if (serving.some((term) => term.kind !== 'null')) return undefined
  for (const term of serving) {
    const field = term.kind === 'null' && term.field !== first ? resource.field.get(term.field) : undefined
    if (field !== undefined && isIndexed(resource, field)) return field.name
  }
  return undefined
}

/** Whether the rows of a list are one range of an index, in order, with no other rows between them. */
export function isIndexRange(plan: ReadPage): boolean {
  if (plan.search !== undefined || plan.deleted !== undefined) return false
  const [term, ...others] = conditionsOf(plan)
  return term === undefined || (others.length === 0 && servesOrder(plan.resource, term, plan.sort[0]?.field))
}

/**
 * Takes the first condition whose index goes on in the order of `sort` out of a predicate: `range` is what the index
 * finds (`always`: the whole order), `rest` is checked for each row of it.
 */
export function splitByIndex(
  resource: Resource,
  predicate: Predicate,
  sort: readonly SortTerm[],
): { readonly range: Predicate; readonly rest: Predicate } {
  const terms = predicate.kind === 'and' ? predicate.terms : [predicate]
  const range = terms.find((term) => isRange(resource, term, sort[0]?.field))
  return { range: range ?? always, rest: allOf(terms.filter((term) => term !== range)) }
}

function isRange(resource: Resource, term: Predicate, first: string | undefined): boolean {
  if (term.kind !== 'null' && (term.kind !== 'compare' || term.operator !== 'eq')) return false
  const field = resource.field.get(term.field)
  if (field === undefined) return false
  if (first === undefined) return isIndexed(resource, field)
  return term.field !== first && isEqualityFilter(field) && resource.field.get(first)?.sort === true
}

function conditionsOf({ permitted, filter, parent }: ReadPage): Predicate[] {
  const terms = [permitted, filter].flatMap(termsOf)
  if (parent === undefined) return terms
  return [...terms, { kind: 'compare', field: parent.field, operator: 'eq', value: parent.id }]
}

/** The conditions of which all must hold. */
function termsOf(predicate: Predicate): Predicate[] {
  if (predicate.kind === 'always') return []
  return predicate.kind === 'and' ? predicate.terms.flatMap(termsOf) : [predicate]
}

/** Whether an index that begins with a condition's field goes on in the order of the list. */
function servesOrder(resource: Resource, term: Predicate, first: string | undefined): boolean {
  if (term.kind !== 'compare' && term.kind !== 'null') return false
  if (term.field === first)
    return term.kind === 'null' || (term.operator !== 'contains' && term.operator !== 'startsWith')
  if (term.kind === 'compare' && term.operator !== 'eq') return false
  const field = resource.field.get(term.field)
  if (first === undefined) return true
  return field !== undefined && isEqualityFilter(field) && resource.field.get(first)?.sort === true
}

/** Whether the rows that a condition holds for are a range of an index, or a few ranges. */
function isFoundByIndex(resource: Resource, term: Predicate): boolean {
  if (term.kind === 'not') return term.term.kind === 'null'
  if (term.kind === 'or') return term.terms.every((each) => isFoundByIndex(resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isFoundByIndex(resource, each))
  if (term.kind !== 'compare') return term.kind === 'in' || term.kind === 'null' || term.kind === 'through'
  if (term.operator === 'contains') return false
  const field = resource.field.get(term.field)
  return term.operator !== 'startsWith' || (field !== undefined && isFolded(field))
}
