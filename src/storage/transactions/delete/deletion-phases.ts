/**
 * The batches of a deletion's job. Each batch is a transaction that also keeps the progress: a job that was killed
 * continues after its last batch and does nothing twice (DEL-8, JOB-3).
 *
 * take:  deletes the records of a deletion by filter; other deletions have done that when they began
 * mark:  deletes the children of what is deleted, downwards; until then everything can be undone
 * clear: sets references with `clear` to what is deleted to null
 * erase: removes the rows of resources that are not kept after deletion
 * tidy:  removes the job's queue
 */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../../model/resource.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { JobStep } from '../../storage.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { countRemoved, type Moves, noteMove, tick, tickAll } from '../rows/clock.ts'
import { cascadesOf, lockAllRulesBelow, resourceOf } from '../rows/dependents.ts'
import { advanceJob, finishJob } from '../rows/job-rows.ts'
import {
  clearReferences,
  deletableAmong,
  liveRows,
  lockedIds,
  markDeleted,
  remainingSql,
  removeRows,
} from './cascade.ts'
import { claimRows, type DeletionState, enqueue, lockedState, reachedBy, shownProgress } from './deletion-job.ts'

/** The most records that one batch deletes: other writers wait for it. */
const batch = 100

/** The most records whose children one batch searches for. */
const mostParents = 100

const phases = ['take', 'mark', 'clear', 'erase', 'tidy'] as const

/** Runs the next batch of a job. */
export function* stepDeletion(context: SqlContext, job: string, now: number): Transaction<JobStep> {
  const state = yield* lockedState(context, job)
  if (state === undefined) return 'elsewhere'
  yield* lockAllRulesBelow(context, state.collection)
  const next = yield* runBatch(context, job, state)
  const ended = next === 'ended'
  if (ended && state.phase === 'tidy') {
    const { done, taken, left, ids, deletedAt } = state
    const what =
      ids.length === 0 ? { deleted_count: taken, ...(left !== undefined && { left_count: left }) } : { id: ids[0] }
    const affected = state.asked === undefined ? done : taken
    const result = { ...what, deleted_at: deletedAt, affected_count: affected }
    const progress = { done: affected, total: affected }
    yield* finishJob(context, job, { status: 'succeeded', progress, result }, now)
    return 'finished'
  }
  const kept = ended ? { ...state, phase: after(state.phase), at: 0, table: 0 } : next
  yield* advanceJob(context, job, { state: kept, progress: shownProgress(kept), now })
  return 'more'
}

/** The state after one batch; `ended`: the phase has nothing more to do. */
function runBatch(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  switch (state.phase) {
    case 'take':
      return take(context, job, state)
    case 'mark':
      return markUnder(context, job, state)
    case 'clear':
      return clearAway(context, job, state)
    case 'erase':
      return eraseMarked(context, job, state)
    case 'tidy':
      return tidy(job, state)
  }
}

function after(phase: DeletionState['phase']): DeletionState['phase'] {
  return phases[phases.indexOf(phase) + 1] ?? 'tidy'
}

function* take(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const entries = yield sql`select _row, record from ${queueSql(job, state, batch)}`
  const last = entries.at(-1)
  if (last === undefined) return 'ended'
  const { collection, deletedAt, left = 0 } = state
  const ids = entries.map((entry) => String(entry['record']))
  const { isAnyOf } = context.engine
  const live = yield* lockedIds(context, sql`${liveRows(collection)} and ${isAnyOf(columnSql(subject, 'id'), ids)}`)
  // Nothing blocked them when the job began. A record that something blocks by now stays.
  const { deletable, closure } = yield* deletableAmong(context, resourceOf(context.catalog, collection), live)
  const taken = new Set(yield* markDeleted(collection, isAnyOf(raw('id'), deletable), job, deletedAt))
  if (taken.size > 0) yield tick(context, collection, -taken.size, taken.size)
  yield* claimRows(context, job, closure)
  const others = ids.filter((id) => !taken.has(id))
  if (others.length > 0) {
    yield sql`delete from resourced_queue where job = ${job} and ${isAnyOf(raw('record'), others)}`
  }
  return {
    ...state,
    at: Number(last['_row']),
    taken: state.taken + taken.size,
    left: left + live.length - deletable.length,
    done: state.done + taken.size,
  }
}

function* markUnder(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const entries = yield sql`select _row, collection, record from ${queueSql(job, state, mostParents)}`
  const [first] = entries
  if (first === undefined) return 'ended'
  const collection = String(first['collection'])
  const alike = runOf(entries, collection)
  const parents = alike.map((entry) => String(entry['record']))
  const { isAnyOf } = context.engine
  const moves: Moves = new Map()
  let left = batch
  for (const { collection: from, field } of cascadesOf(context.catalog, collection)) {
    const refers = isAnyOf(columnSql(subject, field), parents)
    const ids = yield* lockedIds(context, sql`${liveRows(from)} and ${refers}`, left)
    if (ids.length === 0) continue
    yield* markDeleted(from, isAnyOf(raw('id'), ids), job, state.deletedAt)
    noteMove(moves, from, -ids.length, ids.length)
    yield* enqueue(context, job, resourceOf(context.catalog, from), isAnyOf(raw('id'), ids))
    left -= ids.length
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  // They may have more children. The next batch asks again and finds those that are still live.
  if (left === 0) return { ...state, done: state.done + batch }
  return { ...state, at: Number(alike.at(-1)?.['_row']), done: state.done + batch - left }
}

function queueSql(job: string, { at }: DeletionState, most: number): Sql {
  return sql`resourced_queue where job = ${job} and _row > ${at} order by _row limit ${most}`
}

/** The first rows of the queue that are of one collection. */
function runOf(entries: readonly Row[], collection: string): readonly Row[] {
  const end = entries.findIndex((entry) => entry['collection'] !== collection)
  return end === -1 ? entries : entries.slice(0, end)
}

function* clearAway(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const targets = reachedBy(context, state).filter((resource) => clears(resource).length > 0)
  const { table = 0 } = state
  const target = targets[table]
  if (target === undefined) return 'ended'
  const rows = yield* markedRows(target, job, state.at)
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const ids = rows.map((row) => String(row['id']))
  const moves: Moves = new Map()
  let left = batch
  for (const dependent of clears(target)) {
    const remaining = remainingSql(context, dependent, ids)
    const count = yield* clearReferences(context, dependent, remaining, { at: state.deletedAt, most: left })
    if (count > 0) noteMove(moves, dependent.collection, 0, 0)
    left -= count
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  if (left === 0) return state
  return { ...state, at: Number(last['_row']) }
}

function* eraseMarked(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const hard = reachedBy(context, state).filter(({ deletion }) => deletion.variant === 'hard')
  const { table = 0 } = state
  const resource = hard[table]
  if (resource === undefined) return 'ended'
  const rows = yield* markedRows(resource, job, 0)
  if (rows.length === 0) return { ...state, table: table + 1 }
  yield* removeRows(
    context,
    resource,
    rows.map((row) => String(row['id'])),
  )
  yield countRemoved(context, resource.name, rows.length)
  return state
}

function* tidy(job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const first = sql`select _row from resourced_queue where job = ${job} order by _row limit ${batch}`
  const gone = yield sql`delete from resourced_queue where _row in (${first}) returning _row`
  return gone.length === 0 ? 'ended' : state
}

function* markedRows({ name }: Resource, job: string, at: number): Transaction<readonly Row[]> {
  const isMarked = sql`_deletion = ${job} and deleted_at is not null and _row > ${at}`
  return yield sql`select _row, id from ${tableSql(name)} where ${isMarked} order by _row limit ${batch}`
}
