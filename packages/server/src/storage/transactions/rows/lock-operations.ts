/**
 * The locks that a transaction of several operations takes before its first change: the records that it addresses, and
 * those that its bodies refer to. All transactions lock in one order, so that two over the same records never deadlock.
 * Changes of many records refer in the same order.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import sql, { type Sql } from 'sql-template-tag'
import type { Delete, OperationPlan, TransactionPlan, Update, WriteMany } from '../../../plan/plan.ts'
import { addressKey } from '../../sql/batch.ts'
import { columnSql, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { shareLock } from '../../sql/totals.ts'
import { ignoringRows, Outdated, type Row, type Transaction } from '../../transaction.ts'
import { resourceOf } from './other-records.ts'
import { type Addressed, addressOf, lockingSql } from './record-row.ts'

/** Records of a collection, and whether the transaction changes some of them. */
interface Wanted {
  readonly ids: Set<string>
  isChanged: boolean
}

/** Records of a resource that the transaction is going to change. */
export interface Changed {
  readonly resource: Resource
  /** The condition on a row of the subject. */
  readonly which: Sql
}

/**
 * Locks records in the order of deletions: parents before children, then by id.
 *
 * @param others records that are changed, too, and are locked later
 * @returns the records that hold sums of what is changed
 */
export function* lockOperations(
  context: SqlContext,
  { operations }: Pick<TransactionPlan, 'operations'>,
  others: readonly Changed[] = [],
): Transaction<Holders> {
  const { catalog, dialect } = context
  const { hasOtherWriters, orderById, update } = dialect.lock
  if (!hasOtherWriters) return new Map()
  const wanted = new Map<string, Wanted>()
  const want = (collection: string, id: string, isChanged: boolean) => {
    const known = wanted.get(collection) ?? { ids: new Set(), isChanged: false }
    known.ids.add(id)
    known.isChanged ||= isChanged
    wanted.set(collection, known)
  }
  for (const { plan } of operations) {
    if (plan.kind === 'write-many') {
      for (const body of plan.update === undefined ? [] : plan.bodies) {
        if (isObject(body) && typeof body['id'] === 'string') want(plan.resource.name, body['id'], true)
      }
      const parent = plan.create?.parent
      if (parent !== undefined) want(parent.resource.name, parent.id, false)
    } else if (plan.kind === 'create') {
      if (plan.parent !== undefined) want(plan.parent.resource.name, plan.parent.id, false)
    } else want(plan.resource.name, plan.id, true)
    for (const [collection, id] of referencesIn(plan)) want(collection, id, false)
  }
  const changing = [...others]
  for (const [collection, { ids, isChanged }] of wanted) {
    const which = dialect.isAnyOf(columnSql(subject, 'id'), [...ids])
    if (isChanged) changing.push({ resource: resourceOf(catalog, collection), which })
  }
  const holders = yield* holdersOf(changing)
  for (const { collection, id } of holders.values()) want(collection, id, true)
  const holding = new Set(holders.values().map(({ collection }) => collection))
  let left = holding.size
  for (const [collection, { ids, isChanged }] of inRank(catalog, wanted)) {
    const rows = sql`${subjectSql(collection)} where ${dialect.isAnyOf(sql`id`, [...ids])}`
    const lock = isChanged ? update : shareLock(dialect, resourceOf(catalog, collection))
    yield ignoringRows(sql`select 1 as one from ${rows}${orderById}${lock}`)
    // Who moves a record to another holder locks both holders first. So those that are found now stay.
    if (holding.has(collection) && --left === 0) yield* expectHolders(context, changing, holders)
  }
  return holders
}

/** The rows that operations change or delete, by id: one statement for those with the same permissions. */
export function* lockRowsOf(
  context: SqlContext,
  plans: readonly (Update | Delete)[],
): Transaction<ReadonlyMap<string, Row>> {
  const found = new Map<string, Row>()
  const keyOf = ({ resource, permitted, mayRead }: Addressed) => JSON.stringify([resource.name, permitted, mayRead])
  for (const alike of Map.groupBy(plans.map(addressOf), keyOf).values()) {
    const first = alike[0] as Addressed
    const unread = alike.map((each) => each.unread ?? new Set<string>()).reduce((some, own) => some.intersection(own))
    const ids = alike.map(({ id }) => id)
    for (const row of yield lockingSql(context, { ...first, unread }, ids)) {
      found.set(addressKey(first.resource, String(row['id'])), row)
    }
  }
  return found
}

/** Records that hold sums of others (`sumOf`), by collection and id. */
export type Holders = ReadonlyMap<string, { readonly collection: string; readonly id: string }>

/**
 * @param locked the holders that are locked
 * @throws Outdated where others hold sums of some records by now: they would be locked in another order
 */
export function* expectHolders(
  { dialect }: SqlContext,
  changed: readonly Changed[],
  locked: Holders,
): Transaction<void> {
  if (!dialect.lock.hasOtherWriters) return
  const found = yield* holdersOf(changed)
  if (found.keys().some((key) => !locked.has(key))) throw new Outdated()
}

/**
 * Locks the records that hold sums of some records (`sumOf`), before these are locked: all changes do it in this order.
 */
export function* lockHolders(context: SqlContext, changed: readonly Changed[]): Transaction<Holders> {
  const summed = changed.filter(({ resource }) => resource.totals !== undefined)
  return summed.length > 0 ? yield* lockOperations(context, { operations: [] }, summed) : new Map()
}

/** A change of many records, whose own ids the bodies have if there is an `update`. */
type ManyChange = Pick<WriteMany, 'resource' | 'versionResource' | 'bodies' | 'update'>

/**
 * Locks what a change of many records refers to, before the records themselves: parents before children.
 *
 * @param which the records, where their ids are not in the bodies
 */
export function* lockReferred(context: SqlContext, change: ManyChange, which?: Sql): Transaction<Holders> {
  if (!context.dialect.lock.hasOtherWriters) return new Map()
  const plan = { ...change, kind: 'write-many' } as WriteMany
  const refers = change.resource.totals !== undefined || !referencesIn(plan).next().done
  const others = which === undefined ? [] : [{ resource: change.resource, which }]
  return refers ? yield* lockOperations(context, { operations: [{ plan }] }, others) : new Map()
}

/** The records that hold sums of some records. */
function* holdersOf(changed: readonly Changed[]): Transaction<Holders> {
  const found = new Map<string, { collection: string; id: string }>()
  for (const { resource, which } of changed) {
    for (const { collection, reference } of resource.totals ?? []) {
      const ids = sql`select distinct ${columnSql(subject, reference)} as id from ${subjectSql(resource.name)}`
      for (const { id } of yield sql`${ids} where ${which}`) {
        if (id !== null) found.set(`${collection} ${id}`, { collection, id: String(id) })
      }
    }
  }
  return found
}

/** The records that a body refers to by their ids. */
function* referencesIn(plan: OperationPlan): Generator<[collection: string, id: string]> {
  const { resource, versionResource } = plan
  const values = 'bodies' in plan ? plan.bodies.flatMap(valuesOf) : 'body' in plan ? valuesOf(plan.body) : []
  for (const [name, value] of values) {
    const field = versionResource === undefined ? name : versionResource.mapping.toStored.get(name)
    const reference = field === undefined ? undefined : resource.field.get(field)?.reference
    if (reference !== undefined && typeof value === 'string') yield [reference.collection, value]
  }
}

/** The values that a body sets, by the names of fields. */
function valuesOf(body: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(body)) return isObject(body) ? Object.entries(body) : []
  return body.map((operation) => [String(operation?.path).slice(1), operation?.value])
}

/** What is known of collections, in the order in which their records are locked. */
export function inRank<T>(catalog: Catalog, known: Iterable<[collection: string, T]>): [collection: string, T][] {
  const ranks = ranksOf(catalog)
  const rankOf = ([collection]: [string, T]) => ranks.get(collection) ?? 0
  return [...known].sort((one, other) => rankOf(one) - rankOf(other))
}

const knownRanks = new WeakMap<Catalog, ReadonlyMap<string, number>>()

/** The order of collections: those that others refer to come first, and circles are cut in the order of names. */
function ranksOf(catalog: Catalog): ReadonlyMap<string, number> {
  const known = knownRanks.get(catalog)
  if (known !== undefined) return known
  const ranks = new Map<string, number>()
  const visited = new Set<string>()
  const visit = (name: string) => {
    if (visited.has(name)) return
    visited.add(name)
    const targets = catalog.resources.get(name)?.fields.flatMap(({ reference }) => reference?.collection ?? []) ?? []
    for (const target of targets.sort()) visit(target)
    ranks.set(name, ranks.size)
  }
  for (const name of [...catalog.resources.keys()].sort()) visit(name)
  knownRanks.set(catalog, ranks)
  return ranks
}

/**
 * Waits until no other transaction writes unique values of many records of a collection. Two that write the same values
 * in different orders would deadlock.
 */
export function* lockValues({ dialect }: SqlContext, collection: string): Transaction<void> {
  const { advisoryLock } = dialect
  if (advisoryLock !== undefined) yield ignoringRows(sql`select ${advisoryLock(`keys of ${collection}`)}`)
}
