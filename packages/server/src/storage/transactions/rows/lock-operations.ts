/**
 * The locks that a transaction of several operations takes before its first change: the records that it addresses, and
 * those that its bodies refer to. All transactions lock in one order, so that two over the same records never deadlock.
 * Changes of many records refer in the same order.
 */
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import sql from 'sql-template-tag'
import type { OperationPlan, TransactionPlan, WriteMany } from '../../../plan/plan.ts'
import { subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'

/** Records of a collection, and whether the transaction changes some of them. */
interface Wanted {
  readonly ids: Set<string>
  isChanged: boolean
}

/** Locks records in the order of deletions: parents before children, then by id. */
export function* lockOperations(
  context: SqlContext,
  { operations }: Pick<TransactionPlan, 'operations'>,
): Transaction<void> {
  const { catalog, dialect } = context
  const { hasOtherWriters, orderById, update, share } = dialect.lock
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
  for (const [collection, { ids, isChanged }] of inRank(catalog, wanted)) {
    const rows = sql`${subjectSql(collection)} where ${dialect.isAnyOf(sql`id`, [...ids])}`
    yield ignoringRows(sql`select 1 as one from ${rows}${orderById}${isChanged ? update : share}`)
  }
}

/** A change of many records, whose own ids the bodies have if there is an `update`. */
type ManyChange = Pick<WriteMany, 'resource' | 'versionResource' | 'bodies' | 'update'>

/** Locks what a change of many records refers to, before the records themselves: parents before children. */
export function* lockReferred(context: SqlContext, change: ManyChange): Transaction<void> {
  const plan = { ...change, kind: 'write-many' } as WriteMany
  const refers = context.dialect.lock.hasOtherWriters && !referencesIn(plan).next().done
  if (refers) yield* lockOperations(context, { operations: [{ plan }] })
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
