/**
 * The lock between deletions and the changes that business rules look at (decision 040). A business rule asks for records that may not be
 * there, so changes of the collections that it is about are serializable where the engine has many writers. A serializable transaction sees
 * the database as it was when it began: after it has waited for a row, it must not rely on what it reads of others who are not serializable.
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

/** How many of the collections that a deletion changes, or looks for dependents in, business rules are about. */
export function ruledBelow(catalog: Catalog, resource: Resource): Ruled {
  const reached = cascadeReach(catalog, resource)
  const dependents = reached.flatMap((each) => each.dependents.map(({ collection }) => collection))
  return ruledAmong(catalog, [...reached.map(({ name }) => name), ...dependents])
}

/**
 * Keeps serializable changes away until the transaction ends, which is not serializable itself. Its first statement, or the next one after
 * that which says what the transaction is about.
 */
export function* holdRules({ engine: { lock } }: SqlContext): Transaction<void> {
  if (lock.excludeSerializable !== undefined) yield ignoringRows(lock.excludeSerializable)
}

/** The same where some of what a deletion is about is ruled, and some is not: then the deletion is not serializable. */
export function* holdRulesBelow(context: SqlContext, resource: Resource): Transaction<void> {
  if (ruledBelow(context.catalog, resource) === 'some') yield* holdRules(context)
}

/** The same for what is never serializable: wherever anything of it is ruled. */
export function* holdAllRulesBelow(context: SqlContext, collection: string): Transaction<void> {
  if (!context.catalog.resources.has(collection)) return
  if (ruledBelow(context.catalog, resourceOf(context.catalog, collection)) !== 'none') yield* holdRules(context)
}
