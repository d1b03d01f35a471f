/**
 * The rules of a list with deleted records (QRY-6): where a rule reads `through` a parent that was deleted together
 * with the record, the parent decides as it was deleted, for callers who may read it in the recycle bin.
 */
import { allOf, type Predicate } from '../model/predicate.ts'
import { permit } from '../policy/permit.ts'
import type { Planning } from './planning.ts'

/**
 * A predicate whose `through` conditions also have `deleted`. Storage follows it from deleted records alone, to the
 * parents of the same deletion.
 *
 * @param above the collections through whose deleted records the way has led. Rules for deleted records may lead back
 *   to a collection, which rules for one action may not: there the way ends, and such a parent permits nothing.
 */
export function withDeletedParents(planning: Planning, predicate: Predicate, above: readonly string[] = []): Predicate {
  const inner = (each: Predicate) => withDeletedParents(planning, each, above)
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return { ...predicate, terms: predicate.terms.map(inner) }
    case 'not':
      return { ...predicate, term: inner(predicate.term) }
    case 'masked':
      return { ...predicate, readable: inner(predicate.readable), term: inner(predicate.term) }
    case 'through': {
      const { catalog, caller } = planning
      const target = catalog.resources.get(predicate.collection)
      if (target === undefined || above.includes(target.name)) return predicate
      // `readDeleted` holds together with `read` (AUT-9). The rule itself is often one of the two.
      const needed = (['readDeleted', 'read'] as const).map((action) => permit(catalog, caller, action, target))
      const permitted = allOf([...new Set([predicate.predicate, ...needed])])
      if (permitted.kind === 'never') return predicate
      return { ...predicate, deleted: withDeletedParents(planning, permitted, [...above, target.name]) }
    }
    default:
      return predicate
  }
}
