/**
 * Cascades (DEL-5). What is deleted together is the closure: some records, and downwards the children that refer to
 * them by `cascade`. Rows of a closure are marked or removed, and references to them with `clear` are set to null. A
 * deletion at once does all of it in one transaction, a job in batches.
 */

import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import sql, { empty, join, type RawValue, raw, type Sql } from 'sql-template-tag'
import type { Removal } from '../../../plan/plan.ts'
import { type Moves, noteMove, roomOf } from '../../sql/batch.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import {
  type Bound,
  filled,
  ignoringRows,
  prebuilt,
  type Statement,
  slot,
  type Transaction,
} from '../../transaction.ts'
import { tickAll } from '../rows/clock.ts'
import { eraseStates, leavesStates } from '../rows/erase-states.ts'
import { lockHolders, lockValues } from '../rows/lock-operations.ts'
import { removeCounters } from '../rows/numbers.ts'
import { cascadeReach, cascadesOf, resourceOf } from '../rows/other-records.ts'

/** The ids that are deleted together, by collection. */
export type Closure = ReadonlyMap<string, ReadonlySet<string>>

/** The most records that are inspected where requests are answered. */
export const mostInspected = 1_000

/** A search for what is deleted together. */
export interface Reached {
  readonly closure: Closure
  /** Whether the search has come to its end. */
  readonly isComplete: boolean
}

/** Finds and locks all that is deleted with some records. */
export function* closureOf(context: SqlContext, resource: Resource, ids: readonly string[]): Transaction<Closure> {
  return (yield* reachWithin(context, resource, ids, Number.POSITIVE_INFINITY)).closure
}

/** The same up to a number of records. */
export function reachWithin(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most: number,
): Transaction<Reached> {
  // One more than the most shows that there are more.
  const { catalog, dialect } = context
  const limit = most === Number.POSITIVE_INFINITY ? raw('') : sql` ${dialect.limit(most + 1)}`
  // The index of a reference has the children of one parent in the order of their ids: of a million, a limit reads as
  // many as it wants, and nothing is sorted.
  const find: FindChildren = (from, field, parents) => {
    const refers = amongSql(dialect, columnSql(subject, field), parents)
    return sql`select id from ${liveRows(from)} and ${refers}${dialect.lock.orderById}${limit}${dialect.lock.update}`
  }
  return descend(catalog, [resource.name, ids], find, most)
}

/** The select of the ids of the records that refer to parents; `undefined`: they are not searched for. */
type FindChildren = (from: string, field: string, parents: readonly string[]) => Sql | undefined

/** Follows the references with `cascade` downwards from some records, each record once, up to a number of records. */
export function* descend(
  catalog: Catalog,
  roots: readonly [collection: string, ids: readonly string[]],
  find: FindChildren,
  most: number,
): Transaction<Reached> {
  const closure = new Map([[roots[0], new Set(roots[1])]])
  let count = roots[1].length
  const frontier = [roots]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, parents] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      if (count > most) return { closure, isComplete: false }
      const select = find(from, field, parents)
      if (select === undefined) continue
      const known = closure.get(from) ?? new Set()
      closure.set(from, known)
      const fresh = (yield select).map((row) => String(row['id'])).filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return { closure, isComplete: count <= most }
}

/** How many records a closure has. */
export function sizeOf(closure: Closure): number {
  return closure.values().reduce((sum, ids) => sum + ids.size, 0)
}

/** The live rows of a collection, under the alias `subject`; conditions follow by `and`. */
export function liveRows(collection: string): Sql {
  return sql`${subjectSql(collection)} where ${raw(subject)}.deleted_at is null`
}

/** Whether a column is one of some ids. An engine changes a single row with less effort than one of a list. */
export function amongSql({ isAnyOf }: SqlContext['dialect'], column: Sql, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`${column} = ${ids[0]}` : isAnyOf(column, ids)
}

/**
 * Locks rows and returns their ids. An update that chose its rows itself would select by the old state of a row that it
 * had to wait for, and would change the row in any new state.
 *
 * @param most of very many rows, lock and read this many, in no order
 */
export function* lockedIds({ dialect }: SqlContext, rows: Sql, most?: number): Transaction<string[]> {
  const { orderById, update } = dialect.lock
  const which = most === undefined ? orderById : sql` limit ${most}`
  return (yield sql`select id from ${rows}${which}${update}`).map((row) => String(row['id']))
}

/**
 * Locks records that are to be deleted, and those of their own collection that are deleted or changed with them, all in
 * one order. Otherwise two deletions that meet would each lock their own records first, and deadlock.
 */
export function* lockRows(context: SqlContext, { name, dependents }: Resource, ids: readonly string[]) {
  const { isAnyOf, lock } = context.dialect
  const own = dependents.filter(({ collection, onDelete }) => collection === name && onDelete !== 'restrict')
  if (!lock.hasOtherWriters || own.length === 0) return
  const among = ['id', ...own.map(({ field }) => field)].map((field) => isAnyOf(columnSql(subject, field), ids))
  yield* lockedIds(context, sql`${liveRows(name)} and (${join(among, ' or ')})`)
}

/**
 * Locks the records that hold sums of some records, or of what is deleted with them (`sumOf`), before any of these.
 * Most often, what is below a record is added up in the record itself.
 */
export function* lockHoldersBelow(context: SqlContext, resource: Resource, ids: readonly string[]): Transaction<void> {
  const { catalog, dialect } = context
  if (!dialect.lock.hasOtherWriters || context.batch !== undefined) return
  const isElsewhere = ({ name, totals = [] }: Resource) =>
    totals.some(({ collection, reference }) =>
      cascadesOf(catalog, collection).every((each) => each.collection !== name || each.field !== reference),
    )
  const reached = cascadeReach(catalog, resource).slice(1)
  const find: FindChildren = (from, field, parents) => {
    const refers = amongSql(dialect, columnSql(subject, field), parents)
    return sql`select id from ${liveRows(from)} and ${refers} limit ${mostInspected + 1}`
  }
  const { closure } = reached.some(isElsewhere)
    ? yield* descend(catalog, [resource.name, ids], find, mostInspected)
    : { closure: new Map([[resource.name, new Set(ids)]]) }
  yield* lockHolders(
    context,
    [...closure].map(([name, own]) => ({
      resource: resourceOf(catalog, name),
      which: amongSql(dialect, columnSql(subject, 'id'), [...own]),
    })),
  )
}

/** A reference to a collection: the field by which records of another one refer to it. */
type Reference = Pick<Resource['dependents'][number], 'collection' | 'field'>

/** Deletes a closure in this transaction. */
export function* deleteClosure(
  context: SqlContext,
  { deletion, now }: Pick<Removal, 'deletion' | 'now'>,
  closure: Closure,
): Transaction<void> {
  const at = timestamp(now)
  const moves: Moves = new Map()
  const all = setOf(context, closure)
  // One more than a batch has room for is enough for its refusal.
  const most = context.batch && roomOf(context.batch) + 1
  for (const collection of closure.keys()) {
    for (const dependent of resourceOf(context.catalog, collection).dependents) {
      if (dependent.onDelete !== 'clear') continue
      const rows = remainingSql(dependent, collection, all, all)
      const count = yield* clearReferences(context, dependent, rows, { at, ...(most !== undefined && { most }) })
      if (count > 0) noteMove(moves, dependent.collection, { live: 0, deleted: 0, count })
    }
  }
  for (const [collection, ids] of closure) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    if (resource.deletion.variant === 'soft') {
      yield* markDeleted(context, collection, [...ids], { mark: deletion, at })
      noteMove(moves, collection, { live: -ids.size, deleted: ids.size, ids: [...ids] })
    } else {
      yield* removeRows(context, resource, [...ids])
      noteMove(moves, collection, { live: -ids.size, deleted: 0, ids: [...ids] })
    }
  }
  yield* tickAll(context, moves)
}

/** A set of records of several collections. */
export interface RecordSet {
  readonly collections: readonly string[]
  /** The condition that the record with an id is one of them. */
  readonly has: (collection: string, id: Sql) => Sql
}

/** The records of a closure as a set. */
export function setOf({ dialect }: Pick<SqlContext, 'dialect'>, closure: Closure): RecordSet {
  return {
    collections: [...closure.keys()],
    has: (collection, id) => amongSql(dialect, id, [...(closure.get(collection) ?? [])]),
  }
}

/** The records with the mark of a deletion or restoration, as a set. */
export function markedSet(mark: string, collections: readonly string[]): RecordSet {
  return {
    collections,
    has: (collection, id) => sql`${id} in (select x.id from ${tableSql(collection)} x where x._deletion = ${mark})`,
  }
}

/** The live records that refer to a target in one set, and are in no other one. */
export function remainingSql(
  { collection, field }: Reference,
  target: string,
  of: RecordSet,
  deleted?: RecordSet,
): Sql {
  const refers = sql`${liveRows(collection)} and ${of.has(target, columnSql(subject, field))}`
  if (deleted === undefined || !deleted.collections.includes(collection)) return refers
  return sql`${refers} and not (${deleted.has(collection, columnSql(subject, 'id'))})`
}

/** The time of a change: never before the last one. */
function changeTime(at: string): Sql {
  return sql`case when updated_at > ${at} then updated_at else ${at} end`
}

/** Sets references of rows to null and returns the number of rows. The caller moves the clock. */
export function* clearReferences(
  context: SqlContext,
  { collection, field }: Reference,
  rows: Sql,
  { at, most }: { readonly at: string; readonly most?: number },
): Transaction<number> {
  const ids = yield* lockedIds(context, rows, most)
  if (ids.length > 0) {
    const cleared = sql`${raw(`"${field}"`)} = null, updated_at = ${changeTime(at)}`
    yield sql`update ${tableSql(collection)} set ${cleared}, _revision = ${nextRevisionSql(newMark())}
      where ${context.dialect.isAnyOf(raw('id'), ids)}`
  }
  return ids.length
}

/** Marks locked live rows as deleted by a deletion. The caller moves the clock. */
export function* markDeleted(
  { dialect }: SqlContext,
  collection: string,
  ids: readonly string[],
  { mark, at }: { readonly mark: string; readonly at: string },
): Transaction<void> {
  yield ignoringRows(markSql(collection, amongSql(dialect, raw('id'), ids), mark, at))
}

/**
 * Makes locked deleted rows live. The caller moves the clock.
 *
 * @param given `updatedAt`: left out where a deletion is undone: the rows have their former times
 */
export function* revive(
  context: SqlContext,
  collection: string,
  ids: readonly string[],
  { mark, updatedAt }: { readonly mark: string | null; readonly updatedAt?: string | undefined },
): Transaction<void> {
  const { catalog, dialect, attribution } = context
  if (ids.length > 1 && resourceOf(catalog, collection).unique.length > 0) yield* lockValues(context, collection)
  const updated = updatedAt === undefined ? empty : sql`, updated_at = ${changeTime(updatedAt)}`
  // Sums of what returns with them are a part of the same change.
  const revision = nextRevisionSql(attribution?.mark ?? newMark())
  const live = sql`deleted_at = null, _deletion = ${mark}, _revision = ${revision}${updated}`
  yield ignoringRows(sql`update ${tableSql(collection)} set ${live} where ${dialect.isAnyOf(raw('id'), ids)}`)
}

/**
 * The statement that deletes one locked live record alone. The record belongs to no deletion, so that no index has to
 * find what was deleted with it. The text is built once. The caller moves the clock.
 */
export function markOne({ dialect, statements }: SqlContext, { name }: Resource, mark: Mark): Statement {
  const marking = statements.of(`mark ${name}`, () => {
    const [id, at] = (['id', 'at'] as const).map((key) => slot((about: Mark) => about[key]))
    return prebuilt(markSql(name, sql`id = ${id}`, null, at, { orFail: dialect.orFail, change: slot(newMark) }))
  })
  return ignoringRows(filled(marking, mark))
}

type Mark = Readonly<Record<'id' | 'at', string>>

function markSql(
  collection: string,
  which: Sql,
  deletion: RawValue,
  at: RawValue,
  { orFail = empty, change = newMark() as Bound } = {},
): Sql {
  const deleted = sql`deleted_at = ${at}, _deletion = ${deletion}, _revision = ${nextRevisionSql(change)}`
  return sql`update${orFail} ${tableSql(collection)} set ${deleted} where ${which}`
}

/** Removes rows from their table, and their words from search. The caller moves the clock. */
export function* removeRows(context: SqlContext, resource: Resource, ids: readonly string[]) {
  const { dialect } = context
  const { name, fields } = resource
  if (leavesStates(context, resource)) while (yield* eraseStates(context, resource, ids));
  yield* removeCounters(context, resource, ids)
  if (fields.some(({ search, items }) => search || items !== undefined)) yield* dialect.deleteWords(name, ids)
  yield ignoringRows(sql`delete from ${tableSql(name)} where ${amongSql(dialect, raw('id'), ids)}`)
}
