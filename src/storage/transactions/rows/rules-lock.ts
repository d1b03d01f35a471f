/**
 * The lock between deletions and changes that depend on business rules (decision 040). A business rule can ask for
 * records that do not exist, which no row lock covers. So changes of the collections that rules are about are
 * serializable on an engine with many writers. A serializable transaction sees a snapshot: after it has waited for a
 * row, it must not rely on what it reads of transactions that are not serializable.
 */
import type { Catalog, Resource } from '../../../model/resource.ts'
import type { SqlContext } from '../../sql/context.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { cascadeReach, resourceOf } from './dependents.ts'

/** How many of some collections business rules are about. */
export type Ruled = 'none' | 'some' | 'all'

const known = new WeakMap<Catalog, ReadonlySet<string>>()

/** How many of these collections have a business rule that asks for records, or are asked for by one. */
export function ruledAmong(catalog: Catalog, collections: Iterable<string>): Ruled {
  const ruled = known.get(catalog) ?? ruledOf(catalog)
  known.set(catalog, ruled)
  const found = new Set([...collections].map((name) => ruled.has(name)))
  if (!found.has(true)) return 'none'
  return found.has(false) ? 'some' : 'all'
}

function ruledOf({ resources }: Catalog): ReadonlySet<string> {
  const names = [...resources.values()].flatMap(({ name, rules }) =>
    rules.flatMap((rule) => ('unless' in rule ? [name, rule.unless.none, rule.unless.some] : [])),
  )
  return new Set(names.filter((name) => name !== undefined))
}

/**
 * How many of the collections that a deletion changes, or in which it searches for blockers, business rules are about.
 */
export function ruledBelow(catalog: Catalog, resource: Resource): Ruled {
  const reached = cascadeReach(catalog, resource)
  const dependents = reached.flatMap((each) => each.dependents.map(({ collection }) => collection))
  return ruledAmong(catalog, [...reached.map(({ name }) => name), ...dependents])
}

/**
 * Keeps serializable changes away until this transaction ends, which is not serializable itself. It is the first
 * statement of its transaction, or follows the one that says what the transaction is about.
 */
export function* lockRules({ engine: { lock } }: SqlContext): Transaction<void> {
  if (lock.excludeSerializable !== undefined) yield ignoringRows(lock.excludeSerializable)
}

/** The same for a deletion, which is not serializable if rules are about a part of its collections only. */
export function* lockRulesBelow(context: SqlContext, resource: Resource): Transaction<void> {
  if (ruledBelow(context.catalog, resource) === 'some') yield* lockRules(context)
}

/** The same for a transaction that is never serializable, if rules are about any of its collections. */
export function* lockAllRulesBelow(context: SqlContext, collection: string): Transaction<void> {
  if (!context.catalog.resources.has(collection)) return
  if (ruledBelow(context.catalog, resourceOf(context.catalog, collection)) !== 'none') yield* lockRules(context)
}
