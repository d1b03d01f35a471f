/**
 * A deletion that is a job, batch by batch, each a transaction that also keeps how far it is: killed anywhere, it goes on
 * from its last batch, and does nothing twice (DEL-8, JOB-3).
 *
 * take:  the records of a filtered deletion are deleted (other deletions have done that when they begin)
 * mark:  downwards from them, what hangs on what is deleted is deleted too; up to here all of it can be undone
 * clear: references to what is deleted become null, where so declared
 * erase: rows of resources that are deleted for good go
 * tidy:  the job's queue goes
 */
import sql, { raw } from 'sql-template-tag'
import type { Resource } from '../../../model/resource.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { JobStep } from '../../storage.ts'
import type { Row, Transaction } from '../../transaction.ts'
import { forgetDeleted, type Moves, noteMove, tick, tickAll } from '../rows/clock.ts'
import { cascadesOf, reachOf, resourceOf } from '../rows/dependents.ts'
import { advanceJob, finishJob, type JobProgress, stateOf } from '../rows/job-rows.ts'
import { holdAllRulesBelow } from '../rows/rules-lock.ts'
import { freeAmong, stayingSql } from './blockers.ts'
import { liveRows } from './cascade.ts'
import { clear, enqueue, erase, held, mark } from './delete-rows.ts'
import { announce, type DeletionState, takeBack } from './deletion-job.ts'

/** The most records that one transaction takes: whoever writes meanwhile waits for it. */
const batch = 100

/** The most records whose dependents one transaction looks for. */
const mostParents = 100

const phases = ['take', 'mark', 'clear', 'erase', 'tidy'] as const

/** Takes the next step of a job. */
export function* stepDeletion(context: SqlContext, job: string, now: number): Transaction<JobStep> {
  const state = (yield* stateOf(job, context.engine.lock.update)) as DeletionState | undefined
  if (state === undefined) return 'elsewhere'
  yield* holdAllRulesBelow(context, state.collection)
  const next = yield* walk(context, job, state)
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
  yield* advanceJob(context, job, kept, shownProgress(kept), now)
  return 'more'
}

/** How far a deletion is, as far as whoever began it may know. */
function shownProgress({ done, total, taken, asked }: DeletionState): JobProgress {
  return asked === undefined ? { done, total } : { done: taken, total: asked }
}

/** The state after one batch; `ended` where the phase has nothing more to do. */
function walk(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
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
  const entries =
    yield sql`select _row, record from resourced_queue where job = ${job} and _row > ${state.at} order by _row limit ${batch}`
  const last = entries.at(-1)
  if (last === undefined) return 'ended'
  const { collection, deletedAt, left = 0 } = state
  const ids = entries.map((entry) => String(entry['record']))
  const { isAnyOf } = context.engine
  const live = yield* held(context, sql`${liveRows(collection)} and ${isAnyOf(columnSql(subject, 'id'), ids)}`)
  // They were free to go when the job began; what has come to stand in the way of one of them since keeps it.
  const { free, closure } = yield* freeAmong(context, resourceOf(context.catalog, collection), live)
  const taken = new Set(yield* mark(collection, isAnyOf(raw('id'), free), job, deletedAt))
  if (taken.size > 0) yield tick(context, collection, -taken.size, taken.size)
  yield* announce(context, job, closure)
  const others = ids.filter((id) => !taken.has(id))
  if (others.length > 0) {
    yield sql`delete from resourced_queue where job = ${job} and ${isAnyOf(raw('record'), others)}`
  }
  return {
    ...state,
    at: Number(last['_row']),
    taken: state.taken + taken.size,
    left: left + live.length - free.length,
    done: state.done + taken.size,
  }
}

function* markUnder(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const entries =
    yield sql`select _row, collection, record from resourced_queue where job = ${job} and _row > ${state.at} order by _row limit ${mostParents}`
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
    const ids = yield* held(context, sql`${liveRows(from)} and ${refers}`, left)
    if (ids.length === 0) continue
    yield* mark(from, isAnyOf(raw('id'), ids), job, state.deletedAt)
    noteMove(moves, from, -ids.length, ids.length)
    yield* enqueue(context, job, resourceOf(context.catalog, from), isAnyOf(raw('id'), ids))
    left -= ids.length
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  // There may be more under them: the next batch asks again, and finds those that are still live.
  if (left === 0) return { ...state, done: state.done + batch }
  return { ...state, at: Number(alike.at(-1)?.['_row']), done: state.done + batch - left }
}

/** The first rows of the queue that are of one collection. */
function runOf(entries: readonly Row[], collection: string): readonly Row[] {
  const end = entries.findIndex((entry) => entry['collection'] !== collection)
  return end === -1 ? entries : entries.slice(0, end)
}

function* clearAway(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const targets = reached(context, state).filter((resource) => clears(resource).length > 0)
  const { table = 0 } = state
  const target = targets[table]
  if (target === undefined) return 'ended'
  const rows = yield* markedRows(target, job, state.at)
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const ids = rows.map((row) => String(row['id']))
  const moves: Moves = new Map()
  let left = batch
  for (const { collection: from, field } of clears(target)) {
    const staying = stayingSql(context, from, field, ids, new Map())
    const count = yield* clear(context, from, field, staying, state.deletedAt, left)
    if (count > 0) noteMove(moves, from, 0, 0)
    left -= count
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  if (left === 0) return state
  return { ...state, at: Number(last['_row']) }
}

function* eraseMarked(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const hard = reached(context, state).filter(({ deletion }) => deletion.variant === 'hard')
  const { table = 0 } = state
  const resource = hard[table]
  if (resource === undefined) return 'ended'
  const rows = yield* markedRows(resource, job, 0)
  if (rows.length === 0) return { ...state, table: table + 1 }
  yield* erase(
    context,
    resource,
    rows.map((row) => String(row['id'])),
  )
  yield forgetDeleted(context, resource.name, rows.length)
  return state
}

function* tidy(job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const first = sql`select _row from resourced_queue where job = ${job} order by _row limit ${batch}`
  const gone = yield sql`delete from resourced_queue where _row in (${first}) returning _row`
  return gone.length === 0 ? 'ended' : state
}

/**
 * Undoes a job that cannot go on, all at once: as long as nothing was cleared or erased. Gives whether it was undone.
 *
 * @throws Error of the engine where a unique value was taken meanwhile; nothing is undone then
 */
export function* undoDeletion(
  context: SqlContext,
  job: string,
  error: Readonly<Record<string, unknown>>,
  now: number,
): Transaction<boolean> {
  const state = (yield* stateOf(job, context.engine.lock.update)) as DeletionState | undefined
  if (state === undefined || (state.phase !== 'take' && state.phase !== 'mark')) return false
  yield* holdAllRulesBelow(context, state.collection)
  for (const { name } of reached(context, state)) {
    yield* takeBack(context, job, name)
    const back =
      yield sql`update ${tableSql(name)} set deleted_at = null, _deletion = null, _revision = _revision + 1 where _deletion = ${job} returning id`
    if (back.length > 0) yield tick(context, name, back.length, -back.length)
  }
  yield sql`delete from resourced_queue where job = ${job}`
  yield* finishJob(context, job, { status: 'failed', progress: { ...shownProgress(state), done: 0 }, error }, now)
  return true
}

// A collection that the declaration no longer has is gone with its records.
function reached({ catalog }: SqlContext, { collection }: DeletionState): readonly Resource[] {
  const resource = catalog.resources.get(collection)
  return resource === undefined ? [] : reachOf(catalog, resource)
}

function* markedRows({ name }: Resource, job: string, at: number): Transaction<readonly Row[]> {
  return yield sql`select _row, id from ${tableSql(name)} where _deletion = ${job} and deleted_at is not null and _row > ${at} order by _row limit ${batch}`
}
