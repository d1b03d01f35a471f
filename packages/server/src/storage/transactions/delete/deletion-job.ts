/**
 * The job of a deletion of many records: its batches, the count of its records, and how it is undone (DEL-8). A batch
 * is one transaction, which also keeps the progress: a job that was killed continues after its last batch and does
 * nothing twice (JOB-3).
 */

import { never } from 'resourced-contract/model/predicate'
import sql from 'sql-template-tag'
import { tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import type { JobStep } from '../../storage.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'
import { tick } from '../rows/clock.ts'
import { advanceJob, finishJob, keepState } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import { listKey, type Selection } from '../rows/pending-deletions.ts'
import { mostInspected } from './cascade.ts'
import { runBatch } from './deletion-batches.ts'
import {
  type DeletionState,
  lockedState,
  type Phase,
  reachedBy,
  shownProgress,
  type Undoing,
} from './deletion-state.ts'
import { isRevival, retracting, runRevival } from './revival.ts'

/** The phases after which a job can be undone. */
const undoable: ReadonlySet<Phase> = new Set(['take', 'match', 'mark'])

/**
 * Undoes a job that cannot go on, if nothing was cleared or removed yet. Returns whether it was undone: a job of many
 * records begins to be undone, and its next batches do it.
 *
 * @throws Error of the engine if a unique value was taken meanwhile; nothing is undone then
 */
export function* undoDeletion(
  context: SqlContext,
  job: string,
  error: Readonly<Record<string, unknown>>,
  now: number,
): Transaction<boolean> {
  const state = yield* lockedState(context, job)
  if (state?.phase === 'check') {
    yield* withdraw(job)
    return true
  }
  if (state?.restoration !== undefined) {
    if (state.phase !== 'release' && state.phase !== 'tidy') yield* keepState(job, retracting(state))
    return false
  }
  if (state === undefined || !undoable.has(state.phase)) return false
  if (state.done > mostInspected) {
    const { phase, at } = state
    yield* keepState(job, { ...state, phase: 'revive', at: 0, table: 0, undoing: { phase, at, error } })
    return false
  }
  yield* lockAllRulesBelow(context, state.collection)
  for (const { name } of reachedBy(context, state)) {
    const table = tableSql(name)
    if (context.dialect.lock.hasOtherWriters) {
      yield sql`update ${table} set _deletion = null where _deletion = ${job} and deleted_at is null`
    }
    const live = sql`deleted_at = null, _deletion = null, _revision = ${nextRevisionSql(newMark())}`
    const back = yield sql`update ${table} set ${live} where _deletion = ${job} returning id`
    if (back.length > 0) yield tick(context, name, back.length, -back.length)
  }
  yield* clearQueue(job)
  yield* finishUndone(context, job, state, { error, now })
  return true
}

function* finishUndone(
  context: SqlContext,
  job: string,
  state: DeletionState,
  { error, now }: Pick<Undoing, 'error'> & { readonly now: number },
): Transaction<void> {
  // A repetition of its request makes it anew.
  if (state.scope !== undefined) yield ignoringRows(sql`delete from resourced_idempotency where scope = ${state.scope}`)
  yield* finishJob(context, job, { status: 'failed', progress: { ...shownProgress(state), done: 0 }, error }, now)
}

/** The number of records of a batch whose duration nobody measures. */
const usualSize = 100

const phases = ['check', 'match', 'mark', 'clear', 'erase', 'tidy'] as const

/** How a batch runs. */
export interface Stepping {
  /** How many records the batch changes, by the phase of the job: other writers wait for it. */
  readonly size?: number | ((phase: Phase) => number) | undefined
  /** Whether the request that waits for the deletion runs the batch: meanwhile nobody else does. */
  readonly isRequest?: boolean | undefined
}

/** Runs the next batch of a job. */
export function* stepDeletion(
  context: SqlContext,
  job: string,
  now: number,
  { size: sizeFor = usualSize, isRequest = false }: Stepping = {},
): Transaction<JobStep> {
  const { update } = context.dialect.lock
  const isHeld = sql`case when until > ${now} then 1 else 0 end as held`
  const row = yield* firstRow(sql`select state, ${isHeld} from resourced_work where job = ${job}${update}`)
  if (row === undefined || (row['held'] === 1 && !isRequest)) return 'elsewhere'
  const state: DeletionState = yield* upToDate(job, JSON.parse(String(row['state'])))
  if (state.phase === 'check') {
    // The server that checked it has stopped, and its client has no answer. Nothing was deleted.
    yield* withdraw(job)
    return 'elsewhere'
  }
  const size = typeof sizeFor === 'number' ? sizeFor : sizeFor(state.phase)
  yield* lockAllRulesBelow(context, state.collection)
  if (isRevival(state.phase)) {
    // The repetition of a request with a key restores the records anew, and gets the answer that the first missed.
    const isRepeatable = state.restoration !== undefined && state.scope !== undefined && state.phase !== 'release'
    const revived = !isRequest && isRepeatable && state.phase !== 'retract' ? retracting(state) : state
    yield* keepState(job, yield* runRevival(context, { job, state: revived, size }))
    return 'more'
  }
  const next = yield* runBatch(context, { job, state, size })
  const ended = next === 'ended'
  if (ended && state.phase === 'tidy' && state.restoration !== undefined) {
    yield* withdraw(job)
    return 'finished'
  }
  if (ended && state.phase === 'tidy' && state.undoing !== undefined) {
    yield* finishUndone(context, job, state, { error: state.undoing.error, now })
    return 'failed'
  }
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
  const kept = ended ? { ...state, phase: after(state.phase), at: 0, table: 0, selection: undefined } : next
  yield* advanceJob(context, job, { state: kept, progress: shownProgress(kept), now })
  return 'more'
}

/** Ends a deletion that has deleted nothing. */
export function* withdraw(job: string): Transaction<void> {
  yield* clearQueue(job)
  yield ignoringRows(sql`delete from resourced_work where job = ${job}`)
}

function* clearQueue(job: string): Transaction<void> {
  for (const key of [job, listKey(job, 'selected'), listKey(job, 'kept')]) {
    yield ignoringRows(sql`delete from resourced_queue where job = ${key}`)
  }
}

/** The state as this version of the program keeps it. */
function* upToDate(job: string, state: DeletionState): Transaction<DeletionState> {
  if (state.phase !== 'take') return state
  const selected = sql`update resourced_queue set job = ${listKey(job, 'selected')}`
  yield ignoringRows(sql`${selected} where job = ${job} and _row > ${state.at}`)
  return { ...state, phase: 'match', at: 0, selection: onlyListed }
}

/** The selection of a deletion whose records are all listed. */
export const onlyListed: Selection = { filter: never, at: 0, last: 0, newest: '' }

function after(phase: Phase): Phase {
  return phases[phases.indexOf(phase as (typeof phases)[number]) + 1] ?? 'tidy'
}
