/**
 * How a page comes to its rows. One index often serves a list's filter and its order together. Where none does, an engine
 * can find what matches and sort it, or walk the whole order and drop what does not match; which of them costs the table's
 * size depends on how many rows match, and that is known: the list's exact total.
 */
import { isEqualityFilter, isFolded, isIndexed } from '../../model/indexes.ts'
import type { Predicate } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'
import type { ReadPage } from '../../plan/plan.ts'

/** `engine`: it chooses. `sort`: find by the filter, then sort. `walk`: follow the order, and check each row. */
export type Way = 'engine' | 'sort' | 'walk'

/** So many rows are sorted within some ten milliseconds; of more than these, a walk meets one soon. */
const sortedQuickly = 10_000

/** Whether one index has the rows of a list together and in order, or they are found in a way of their own. */
export function isServed(plan: ReadPage): boolean {
  // Words and deleted records have other ways.
  if (plan.search !== undefined || plan.deleted !== undefined) return true
  const terms = conditionsOf(plan)
  const first = plan.sort[0]?.field
  return terms.length === 0 || terms.some((term) => servesOrder(plan.resource, term, first))
}

/**
 * The field that is null in all rows of a list, where the index of its order begins with it; `undefined` where there is none,
 * or another condition has an index that will do.
 */
export function nullFieldOf(plan: ReadPage): string | undefined {
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

/** Whether the rows of a list are one stretch of an index, in order, with nothing between them that is not asked for. */
export function isOneStretch(plan: ReadPage): boolean {
  if (plan.search !== undefined || plan.deleted !== undefined) return false
  const [term, ...others] = conditionsOf(plan)
  return term === undefined || (others.length === 0 && servesOrder(plan.resource, term, plan.sort[0]?.field))
}

/** The way to the rows of a list of so many records. */
export function wayOf(plan: ReadPage, total: number): Way {
  // Of a few words only their index knows how few records have them.
  if (plan.search !== undefined && plan.deleted === undefined && total <= sortedQuickly) return 'sort'
  if (isServed(plan)) return 'engine'
  if (total > sortedQuickly) return 'walk'
  return conditionsOf(plan).some((term) => isFoundByIndex(plan.resource, term)) ? 'sort' : 'engine'
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

/** Whether the rows that a condition holds for are a stretch of an index, or a few. */
function isFoundByIndex(resource: Resource, term: Predicate): boolean {
  if (term.kind === 'not') return term.term.kind === 'null'
  if (term.kind === 'or') return term.terms.every((each) => isFoundByIndex(resource, each))
  if (term.kind === 'and') return term.terms.some((each) => isFoundByIndex(resource, each))
  if (term.kind !== 'compare') return term.kind === 'in' || term.kind === 'null' || term.kind === 'through'
  if (term.operator === 'contains') return false
  const field = resource.field.get(term.field)
  return term.operator !== 'startsWith' || (field !== undefined && isFolded(field))
}
