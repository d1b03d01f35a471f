/** The batches of a deletion job, one function for each phase. Each batch changes a number of records that is given. */

import type { Resource } from 'resourced-contract/model/resource'
import sql, { raw, type Sql } from 'sql-template-tag'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql } from '../../sql/predicate.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { countRemoved, type Moves, noteMove, tick, tickAll } from '../rows/clock.ts'
import {
  cascadesOf,
  listedSql,
  listKey,
  resourceOf,
  type Selection,
  selectionRange,
} from '../rows/pending-deletions.ts'
import { type Closure, clearReferences, liveRows, lockedIds, markDeleted, remainingSql, removeRows } from './cascade.ts'
import { deletableAmong } from './deletion-blockers.ts'
import { type DeletionState, reachedBy } from './deletion-state.ts'

/** A batch: the job, its state, and how many records to change, because other writers wait meanwhile. */
export interface Batch {
  readonly job: string
  readonly state: DeletionState
  readonly size: number
}

/** The state after the batch; `ended`: the phase has nothing more to do. */
type After = Transaction<DeletionState | 'ended'>

/** A batch of the phase reads as many records for each one that it may delete. */
const rowsForEach = 20

/** Runs a batch. */
export function runBatch(context: SqlContext, batch: Batch): After {
  switch (batch.state.phase) {
    case 'match':
      return match(context, batch)
    case 'mark':
      return markUnder(context, batch)
    case 'clear':
      return clearAway(context, batch)
    case 'erase':
      return eraseMarked(context, batch)
    case 'tidy':
      return tidy(batch)
    default:
      throw new Error(`A deletion in the phase ${batch.state.phase} has no batches.`)
  }
}

/** Puts rows into the queue of a job, if other records can depend on them. */
export function* enqueue({ catalog }: SqlContext, job: string, resource: Resource, which: Sql): Transaction<void> {
  const { name, dependents } = resource
  if (cascadesOf(catalog, name).length === 0 && !dependents.some(({ onDelete }) => onDelete === 'clear')) return
  yield ignoringRows(enqueueSql(job, resource, which))
}

/** The insertion of rows of a collection into the queue, under the key of a job or of one of its lists. */
export function enqueueSql(key: string, { name }: Resource, which: Sql): Sql {
  const rows = sql`select ${key}, ${name}, id from ${tableSql(name)} where ${which}`
  return sql`insert into resourced_queue (job, collection, record) ${rows}`
}

/**
 * Claims live records that the job will delete and that others may refer to by `restrict`, in the transaction that has
 * found no blocker: the records carry the job's id before they are deleted (`unclaimed`).
 */
export function* claimRows({ catalog, dialect }: SqlContext, job: string, closure: Closure): Transaction<void> {
  // With a single writer every transaction sees the jobs that run.
  if (!dialect.lock.hasOtherWriters) return
  for (const [collection, ids] of closure) {
    if (!resourceOf(catalog, collection).dependents.some(({ onDelete }) => onDelete === 'restrict')) continue
    const which = dialect.isAnyOf(raw('id'), [...ids])
    yield sql`update ${tableSql(collection)} set _deletion = ${job} where ${which} and deleted_at is null`
  }
}

/** Deletes the next records that a deletion by filter asks for: those that are listed first, then those that match. */
function* match(context: SqlContext, { job, state, size }: Batch): After {
  const { collection, selection, most, taken } = state
  const isEnough = most !== undefined && taken >= most
  const resource = context.catalog.resources.get(collection)
  if (selection === undefined || resource === undefined || isEnough) return 'ended'
  const room = most === undefined ? size : Math.min(size, most - taken)
  const key = listKey(job, 'selected')
  const listed = yield sql`select _row, record from resourced_queue where job = ${key} order by _row limit ${room}`
  if (listed.length > 0) {
    const rows = listed.map((row) => Number(row['_row']))
    yield sql`delete from resourced_queue where ${context.dialect.isAnyOf(raw('_row'), rows)}`
    const ids = listed.map((row) => String(row['record']))
    return yield* takeRecords(context, job, state, yield* liveAmong(context, resource, ids))
  }
  if (selection.at >= selection.last) return 'ended'
  const { ids, at } = yield* nextMatches(context, resource, selection, room)
  const live = yield* liveAmong(context, resource, ids, selection)
  // Read after the rows are locked: a change that this batch waited for may have listed its record.
  const kept = new Set((yield listedSql(context, listKey(job, 'kept'), live)).map((row) => String(row['record'])))
  const found = live.filter((id) => !kept.has(id))
  return yield* takeRecords(context, job, { ...state, selection: { ...selection, at } }, found)
}

/** The next records that match, and the row up to which all rows were looked at. */
function* nextMatches(
  context: SqlContext,
  resource: Resource,
  selection: Selection,
  size: number,
): Transaction<{ readonly ids: readonly string[]; readonly at: number }> {
  const [row, table] = [columnSql(subject, '_row'), tableSql(resource.name)]
  const window = sql`select _row from ${table} where _row > ${selection.at} order by _row limit 1`
  const end = yield* firstRow(sql`${window} offset ${size * rowsForEach}`)
  const last = Math.min(Number(end?.['_row'] ?? selection.last), selection.last)
  // By the number of the row alone: an index of the filter would find all rows of the collection that match.
  const matches = context.dialect.unindexed(liveSql(context, resource, selection.filter))
  const range = selectionRange(context, { ...selection, last })
  const found = yield sql`select _row, id from ${subjectSql(resource.name)} where ${range} and ${matches}
    order by ${row} limit ${size}`
  const at = found.length < size ? last : Number(found.at(-1)?.['_row'])
  return { ids: found.map((each) => String(each['id'])), at }
}

/** Locks records and returns those that are live, and that match a filter if there is one. */
function liveAmong(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  selection?: Selection,
): Transaction<string[]> {
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
  if (selection === undefined) return lockedIds(context, sql`${liveRows(resource.name)} and ${among}`)
  // By the ids alone: without statistics PostgreSQL would go through an index of the filter, once for each batch.
  const matches = context.dialect.unindexed(liveSql({ ...context, locksReferenced: true }, resource, selection.filter))
  return lockedIds(context, sql`${subjectSql(resource.name)} where ${among} and ${matches}`)
}

/** Deletes locked records that were asked for. Nothing blocked them when the job began; what is blocked now stays. */
function* takeRecords(
  context: SqlContext,
  job: string,
  state: DeletionState,
  ids: readonly string[],
): Transaction<DeletionState> {
  if (ids.length === 0) return state
  const { collection, deletedAt, taken, done, left = 0, caller } = state
  const resource = resourceOf(context.catalog, collection)
  const asked = caller && { caller, now: Date.parse(deletedAt) }
  const { deletable, closure } = yield* deletableAmong(context, resource, ids, asked)
  const stayed = { ...state, left: left + ids.length - deletable.length }
  if (deletable.length === 0) return stayed
  const which = context.dialect.isAnyOf(raw('id'), deletable)
  yield* markDeleted(collection, which, job, deletedAt)
  yield tick(context, collection, -deletable.length, deletable.length)
  yield* enqueue(context, job, resource, which)
  yield* claimRows(context, job, closure)
  return { ...stayed, taken: taken + deletable.length, done: done + deletable.length }
}

/** Deletes the next children of what is deleted. */
function* markUnder(context: SqlContext, { job, state, size }: Batch): After {
  const entries = yield sql`select _row, collection, record from ${queueSql(job, state, size)}`
  const [first] = entries
  if (first === undefined) return 'ended'
  const collection = String(first['collection'])
  const alike = runOf(entries, collection)
  const parents = alike.map((entry) => String(entry['record']))
  const { isAnyOf } = context.dialect
  const moves: Moves = new Map()
  let left = size
  for (const { collection: from, field } of cascadesOf(context.catalog, collection)) {
    const refers = isAnyOf(columnSql(subject, field), parents)
    const ids = yield* lockedIds(context, sql`${liveRows(from)} and ${refers}`, left)
    if (ids.length === 0) continue
    yield* markDeleted(from, isAnyOf(raw('id'), ids), job, state.deletedAt)
    noteMove(moves, from, { live: -ids.length, deleted: ids.length })
    yield* enqueue(context, job, resourceOf(context.catalog, from), isAnyOf(raw('id'), ids))
    left -= ids.length
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  // They may have more children. The next batch asks again and finds those that are still live.
  if (left === 0) return { ...state, done: state.done + size }
  return { ...state, at: Number(alike.at(-1)?.['_row']), done: state.done + size - left }
}

function queueSql(job: string, { at }: DeletionState, most: number): Sql {
  return sql`resourced_queue where job = ${job} and _row > ${at} order by _row limit ${most}`
}

/** The first rows of the queue that are of one collection. */
function runOf(entries: readonly Row[], collection: string): readonly Row[] {
  const end = entries.findIndex((entry) => entry['collection'] !== collection)
  return end === -1 ? entries : entries.slice(0, end)
}

function* clearAway(context: SqlContext, { job, state, size }: Batch): After {
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const targets = reachedBy(context, state).filter((resource) => clears(resource).length > 0)
  const { table = 0 } = state
  const target = targets[table]
  if (target === undefined) return 'ended'
  const rows = yield* markedRows(target, job, state.at, size)
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const ids = rows.map((row) => String(row['id']))
  const moves: Moves = new Map()
  let left = size
  for (const dependent of clears(target)) {
    const remaining = remainingSql(context, dependent, ids)
    const count = yield* clearReferences(context, dependent, remaining, { at: state.deletedAt, most: left })
    if (count > 0) noteMove(moves, dependent.collection, { live: 0, deleted: 0 })
    left -= count
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  if (left === 0) return state
  return { ...state, at: Number(last['_row']) }
}

function* eraseMarked(context: SqlContext, { job, state, size }: Batch): After {
  const hard = reachedBy(context, state).filter(({ deletion }) => deletion.variant === 'hard')
  const { table = 0 } = state
  const resource = hard[table]
  if (resource === undefined) return 'ended'
  const rows = yield* markedRows(resource, job, 0, size)
  if (rows.length === 0) return { ...state, table: table + 1 }
  yield* removeRows(
    context,
    resource,
    rows.map((row) => String(row['id'])),
  )
  yield countRemoved(context, resource.name, rows.length)
  return state
}

function* tidy({ job, state, size }: Batch): After {
  const keys = [job, listKey(job, 'selected'), listKey(job, 'kept')]
  for (const key of keys) {
    const first = sql`select _row from resourced_queue where job = ${key} order by _row limit ${size}`
    const gone = yield sql`delete from resourced_queue where _row in (${first}) returning _row`
    if (gone.length > 0) return state
  }
  return 'ended'
}

function* markedRows({ name }: Resource, job: string, at: number, size: number): Transaction<readonly Row[]> {
  const isMarked = sql`_deletion = ${job} and deleted_at is not null and _row > ${at}`
  return yield sql`select _row, id from ${tableSql(name)} where ${isMarked} order by _row limit ${size}`
}
