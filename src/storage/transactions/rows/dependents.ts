/**
 * The effects of a deletion beyond the requested records.
 *
 * Records depend on others by `cascade`: here is which collections do, and which records a running deletion job will
 * delete. The job deletes the records that were asked for when it begins, and their children later, batch by batch,
 * downwards. Until then a live record below a deleted one is pending deletion: it cannot be changed or referred to.
 *
 * Business rules depend on what is deleted: here is the lock between deletions and changes that depend on business
 * rules (decision 040). A business rule can ask for records that do not exist, which no row lock covers. So changes of
 * the collections that rules are about are serializable on an engine with many writers. A serializable transaction sees
 * a snapshot: after it has waited for a row, it must not rely on what it reads of transactions that are not
 * serializable.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Catalog, RecordValues, Resource } from '../../../model/resource.ts'
import type { Issue } from '../../../spec/faults.ts'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { storedSql } from '../../sql/records.ts'
import { ignoringRows, type Row, type Transaction } from '../../transaction.ts'

/** The references with `cascade` to a collection; none if the declaration no longer has the collection. */
export function cascadesOf({ resources }: Catalog, collection: string): Resource['dependents'] {
  const dependents = resources.get(collection)?.dependents ?? []
  return dependents.filter(({ onDelete }) => onDelete === 'cascade')
}

/** The resources whose records a deletion of one resource's records can delete, that resource first. */
export function cascadeReach(catalog: Catalog, resource: Resource): readonly Resource[] {
  const found = new Set([resource.name])
  // Iterating a set also visits what is added meanwhile.
  for (const name of found) for (const { collection } of cascadesOf(catalog, name)) found.add(collection)
  return [...found].map((name) => resourceOf(catalog, name))
}

/** A resource that the catalog certainly has. */
export function resourceOf({ resources }: Catalog, collection: string): Resource {
  return resources.get(collection) as Resource
}

/** The conflict of a change of a record that is pending deletion. */
export const beingDeletedIssue: Issue = {
  code: 'BEING_DELETED',
  message: 'The record is being deleted together with another one, by a job that still runs.',
}

/** Whether a live record has a deleted ancestor by `cascade`. */
export function* isPendingDeletion(
  context: SqlContext,
  resource: Resource,
  record: RecordValues | Row,
): Transaction<boolean> {
  if (!hasCascadeParents(resource) || !(yield* isDeletionRunning())) return false
  const seen = new Set<string>()
  const above = parentsOf(resource, record)
  for (let next = above.pop(); next !== undefined; next = above.pop()) {
    const { collection, id } = next
    if (seen.has(`${collection} ${id}`)) continue
    seen.add(`${collection} ${id}`)
    const parent = resourceOf(context.catalog, collection)
    const columns = ['id', ...cascadeFields(parent)].map((name) => raw(`"${name}"`))
    const [row] =
      yield sql`select ${join(columns, ', ')} from ${tableSql(collection)} where id = ${id} and deleted_at is null`
    if (row === undefined) return true
    above.push(...parentsOf(parent, row))
  }
  return false
}

/** Whether a record may not be referred to: it is pending deletion, or a deletion that still runs has deleted it. */
export function* isBeingDeleted(context: SqlContext, collection: string, id: string): Transaction<boolean> {
  if (!(yield* isDeletionRunning())) return false
  const resource = resourceOf(context.catalog, collection)
  const [row] = yield sql`select ${storedSql(context, resource)} from ${tableSql(collection)} where id = ${id}`
  if (row === undefined) return false
  if (row['deleted_at'] === null) return yield* isPendingDeletion(context, resource, row)
  return yield* isJobRunning(String(row['_deletion']))
}

/** Whether a job is not finished. */
export function* isJobRunning(job: string): Transaction<boolean> {
  return (yield sql`select job from resourced_work where job = ${job}`).length > 0
}

/** A row if any deletion job runs. */
export const runningDeletionsSql: Sql = sql`select job from resourced_work where task = 'deletion' limit 1`

/** Whether any deletion job runs. */
export function* isDeletionRunning(): Transaction<boolean> {
  return (yield runningDeletionsSql).length > 0
}

/**
 * A condition on a record that a statement refers to or changes: no deletion job has claimed it (`claimRows`). A
 * statement that waited for the transaction which began the job has an older snapshot and does not see the job. It does
 * see the new version of the row that it waited for.
 */
export const unclaimed: Sql = sql`_deletion is null`

/** Whether records of a resource are deleted together with a record that they refer to. */
export function hasCascadeParents(resource: Resource): boolean {
  return cascadeFields(resource).length > 0
}

/** The reference fields with `cascade`. */
function cascadeFields({ fields }: Resource): string[] {
  return fields.filter(({ reference }) => reference?.onDelete === 'cascade').map(({ name }) => name)
}

function parentsOf(resource: Resource, record: RecordValues | Row): { collection: string; id: string }[] {
  return cascadeFields(resource).flatMap((name) => {
    const id = record[name]
    return typeof id === 'string' ? [{ collection: String(resource.field.get(name)?.reference?.collection), id }] : []
  })
}

/** How many of some collections business rules are about. */
type Ruled = 'none' | 'some' | 'all'

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
