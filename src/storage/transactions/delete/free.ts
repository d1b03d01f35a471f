/** Which records of a filtered deletion are still free to go when its job comes to them: others may have come to refer to them (DEL-10). */
import type { Catalog, Resource } from '../../../model/resource.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import type { Transaction } from '../../transaction.ts'
import { reachOf } from '../rows/dependents.ts'
import { type Closure, closureOf } from './closure.ts'
import { blockersOf } from './objections.ts'

/** Whom nobody asks: what stands in the way is counted, and never named. */
const unnamed = { readable: new Map() }

/**
 * Those of some records that are held, against which nothing stands, neither against what goes with them; and with them what may be
 * referred to by `restrict`.
 */
export function* freeAmong(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
): Transaction<{ readonly free: readonly string[]; readonly closure: Closure }> {
  const contested = contestedBelow(context.catalog, resource)
  if (contested.size === 0) return { free: ids, closure: new Map() }
  // What stays may keep others that it was to take along.
  for (let free = ids; ; ) {
    const closure = yield* closureOf(context, resource, free, undefined, contested)
    if ((yield* blockersOf(context, unnamed, closure, closure)).length === 0) return { free, closure }
    const kept = new Set<string>()
    for (const id of free) {
      const own = yield* closureOf(context, resource, [id], undefined, contested)
      if ((yield* blockersOf(context, unnamed, own, closure)).length > 0) kept.add(id)
    }
    free = free.filter((id) => !kept.has(id))
  }
}

/**
 * The collections that have to be looked into: those that others may refer to by `restrict`, those that do, and what lies on the way to
 * them. None where nothing can stand in the way.
 */
function contestedBelow(catalog: Catalog, resource: Resource): ReadonlySet<string> {
  const reached = reachOf(catalog, resource)
  const ends = new Set<string>()
  for (const { name, dependents } of reached) {
    for (const { collection, onDelete } of dependents) if (onDelete === 'restrict') ends.add(name).add(collection)
  }
  const isOnTheWay = (each: Resource) => reachOf(catalog, each).some(({ name }) => ends.has(name))
  return new Set(reached.filter(isOnTheWay).map(({ name }) => name))
}
