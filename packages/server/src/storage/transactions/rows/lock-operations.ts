/**
 * The locks that a transaction of several operations takes before its first change: the records that it addresses, and
 * those that its bodies refer to. All transactions lock in one order, so that two over the same records never deadlock.
 * Changes of many records refer in the same order.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import sql, { type Sql } from 'sql-template-tag'
import type { OperationPlan, TransactionPlan, WriteMany } from '../../../plan/plan.ts'
import { columnSql, subject, subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { shareLock } from '../../sql/share-lock.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { resourceOf } from './pending-deletions.ts'

/** Records of a collection, and whether the transaction changes some of them. */
interface Wanted {
  readonly ids: Set<string>
  isChanged: boolean
}

/** Locks records in the order of deletions: parents before children, then by id. */
export function* lockOperations(
  context: SqlContext,
  { operations }: Pick<TransactionPlan, 'operations'>,
  others: Iterable<[collection: string, id: string]> = [],
): Transaction<void> {
  const { catalog, dialect } = context
  const { hasOtherWriters, orderById, update } = dialect.lock
  if (!hasOtherWriters) return
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
  for (const [collection, { ids, isChanged }] of [...wanted]) {
    if (!isChanged) continue
    const changed = dialect.isAnyOf(columnSql(subject, 'id'), [...ids])
    for (const [holder, id] of yield* summing(resourceOf(catalog, collection), changed)) want(holder, id, true)
  }
  for (const [collection, id] of others) want(collection, id, true)
  for (const [collection, { ids, isChanged }] of inRank(catalog, wanted)) {
    const rows = sql`${subjectSql(collection)} where ${dialect.isAnyOf(sql`id`, [...ids])}`
    const lock = isChanged ? update : shareLock(dialect, resourceOf(catalog, collection))
    yield ignoringRows(sql`select 1 as one from ${rows}${orderById}${lock}`)
  }
}

/** A change of many records, whose own ids the bodies have if there is an `update`. */
type ManyChange = Pick<WriteMany, 'resource' | 'versionResource' | 'bodies' | 'update'>

/**
 * Locks what a change of many records refers to, before the records themselves: parents before children.
 *
 * @param which the records, where their ids are not in the bodies
 */
export function* lockReferred(context: SqlContext, change: ManyChange, which?: Sql): Transaction<void> {
  if (!context.dialect.lock.hasOtherWriters) return
  const plan = { ...change, kind: 'write-many' } as WriteMany
  const others = which === undefined ? [] : yield* summing(change.resource, which)
  const refers = others.length > 0 || change.resource.totals !== undefined || !referencesIn(plan).next().done
  if (refers) yield* lockOperations(context, { operations: [{ plan }] }, others)
}

/** The records that hold sums of some records of a resource (`sumOf`). */
function* summing({ name, totals = [] }: Resource, which: Sql): Transaction<[collection: string, id: string][]> {
  const found: [string, string][] = []
  for (const { collection, reference } of totals) {
    const rows =
      yield sql`select distinct ${columnSql(subject, reference)} as id from ${subjectSql(name)} where ${which}`
    for (const { id } of rows) if (id !== null) found.push([collection, String(id)])
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
