/** Which of the conditions on a list an index keeps together in the list's order: the rows are one stretch of it. */
import { isEqualityFilter, isIndexed } from '../../model/indexes.ts'
import type { SortTerm } from '../../model/predicate.ts'
import { allOf, always, type Predicate } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'

/** A predicate in two parts, of which both must hold. */
export interface Stretch {
  /** What an index finds: every row of the stretch, in order; `always`: the whole order. */
  readonly found: Predicate
  /** What each row is asked for. */
  readonly checked: Predicate
}

/** Takes the first condition out of a predicate whose index goes on in the order of `sort`. */
export function stretchOf(resource: Resource, predicate: Predicate, sort: readonly SortTerm[]): Stretch {
  const terms = predicate.kind === 'and' ? predicate.terms : [predicate]
  const found = terms.find((term) => isStretch(resource, term, sort[0]?.field))
  return { found: found ?? always, checked: allOf(terms.filter((term) => term !== found)) }
}

function isStretch(resource: Resource, term: Predicate, first: string | undefined): boolean {
  if (term.kind !== 'null' && (term.kind !== 'compare' || term.operator !== 'eq')) return false
  const field = resource.field.get(term.field)
  if (field === undefined) return false
  if (first === undefined) return isIndexed(resource, field)
  return term.field !== first && isEqualityFilter(field) && resource.field.get(first)?.sort === true
}
