/**
 * A deletion or restoration of many records, window by window (DEL-8). A window is one transaction, which also keeps
 * the state: work that was interrupted continues after its last window and does nothing twice (JOB-3).
 */

import { problemType } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import type { SqlContext } from '../../sql/context.ts'
import { type JobError, type JobStep, StorageFault } from '../../storage.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'
import { advanceJob, finishJob, keepState, stateOf } from '../rows/job-rows.ts'
import { lockAllRulesBelow } from '../rows/other-records.ts'
import { attributed } from '../rows/record-row.ts'
import { mostInspected } from './cascade.ts'
import { change, revert } from './change.ts'
import type { After, Window } from './windows.ts'
import { collectDeleted, collectLive, flip, free, settle } from './windows.ts'
import {
  isCollecting,
  type Kind,
  kindOf,
  lockedState,
  type Phase,
  shownProgress,
  undoing,
  type WorkState,
} from './work-list.ts'

type RunWindow = (context: SqlContext, window: Window) => After

/** The windows of each phase. `free` follows where a kind of work has no `settle`. */
const windows: Readonly<Record<Kind, Readonly<Partial<Record<Phase, RunWindow>>>>> = {
  deletion: { collect: collectLive, flip, settle, back: flip, free },
  restoration: { collect: collectDeleted, flip, back: flip, free },
  change: { collect: collectLive, flip: change, back: revert, free },
}

/** How a window runs. */
export interface Stepping {
  /** How many records the window changes, by the phase: other writers wait for it. */
  readonly size?: number | ((phase: Phase) => number) | undefined
  /** Whether the request that waits runs the window: meanwhile nobody else does. */
  readonly isRequest?: boolean | undefined
}

/** The number of records of a window whose duration nobody measures. */
const usualSize = 100

/** Runs the next window. */
export function* stepWork(
  context: SqlContext,
  job: string,
  now: number,
  { size = usualSize, isRequest = false }: Stepping = {},
): Transaction<JobStep> {
  const { update } = context.dialect.lock
  const isHeld = sql`case when until > ${now} then 1 else 0 end as held`
  const row = yield* firstRow(sql`select state, ${isHeld} from resourced_work where job = ${job}${update}`)
  if (row === undefined || (row['held'] === 1 && !isRequest)) return 'elsewhere'
  const state = currentState(JSON.parse(String(row['state'])))
  yield* lockAllRulesBelow(context, state.collection)
  let next: WorkState | 'ended'
  if (state.takenBy !== undefined && !state.isHidden) {
    yield* collectAgain(context, job)
    return 'more'
  }
  if (isUnanswered(state) && !isRequest) {
    // The server that answers the request has stopped. Nothing has changed yet.
    next = withdrawn(state)
  } else if (state.phase === 'check') next = state
  else {
    const { phase } = state
    const flipped = typeof size === 'number' ? size : size(phase)
    // The request waits for the marks, and a mark changes one index.
    const window = { job, state, size: phase === 'collect' ? mostInspected : flipped }
    const run = windows[kindOf(state)][phase] as RunWindow
    next = yield* attributed(context, state.attribution, (own) => run(own, window))
  }
  if (next === 'ended' && state.phase === 'free' && !state.yields) {
    const ended = yield* finish(context, job, state, now)
    return ended === 'failed' && state.isHidden && !isRequest ? 'elsewhere' : ended
  }
  const kept = next === 'ended' ? { ...state, ...following(state) } : next
  yield* keep(context, job, kept, now)
  // A job looks again after a rest.
  return kept.takenBy === undefined || state.isHidden ? 'more' : 'elsewhere'
}

/** Whether the work has changed nothing yet, and its request waits. */
function isUnanswered(state: WorkState): boolean {
  return state.isHidden === true && isCollecting(state)
}

/** What follows a phase that has ended. */
function following(state: WorkState): Partial<WorkState> {
  const { phase, isHidden, yields, found } = state
  const begun = { at: 0, table: 0 }
  if (yields) return { ...begun, phase: 'collect', below: undefined, total: found, yields: false }
  if (phase === 'collect') return { ...begun, phase: isHidden ? 'check' : 'flip' }
  return { ...begun, phase: phase === 'flip' && kindOf(state) === 'deletion' ? 'settle' : 'free' }
}

function* keep(context: SqlContext, job: string, state: WorkState, now: number): Transaction<void> {
  if (state.isHidden) yield* keepState(job, state)
  else yield* advanceJob(context, job, { state, progress: shownProgress(state), now })
}

/** Ends the work. */
function* finish(context: SqlContext, job: string, state: WorkState, now: number): Transaction<'finished' | 'failed'> {
  const { error, isHidden, scope, taken, left, done, ids, deletedAt, restoration } = state
  if (isHidden) {
    // A repetition of the request makes it anew.
    if (error && scope !== undefined) yield ignoringRows(sql`delete from resourced_idempotency where scope = ${scope}`)
    yield ignoringRows(sql`delete from resourced_work where job = ${job}`)
  } else if (error !== undefined) {
    const progress = { ...shownProgress(state), done: 0 }
    yield* finishJob(context, job, { status: 'failed', progress, error }, now)
  } else {
    const affected = state.asked === undefined ? done : taken
    const what =
      ids.length === 0 ? { deleted_count: taken, ...(left !== undefined && { left_count: left }) } : { id: ids[0] }
    const result =
      state.change === undefined
        ? { ...what, ...(restoration === undefined && { deleted_at: deletedAt }), affected_count: affected }
        : { updated_count: taken }
    const progress = { done: affected, total: affected }
    yield* finishJob(context, job, { status: 'succeeded', progress, result }, now)
  }
  return error === undefined ? 'finished' : 'failed'
}

/**
 * Lets a collection go on that has met a record of another deletion or restoration. If that collects too and began
 * earlier, it goes first: this one removes its marks and searches anew.
 */
export function* collectAgain(context: SqlContext, job: string): Transaction<void> {
  const state = yield* lockedState(context, job)
  if (state?.takenBy === undefined) return
  const other = state.takenBy < job ? yield* stateOf<WorkState>(state.takenBy) : undefined
  const yields = other !== undefined && isCollecting(other)
  const next = yields ? ({ phase: 'free', at: 0, table: 0, yields } as const) : {}
  yield* keepState(job, { ...state, takenBy: undefined, ...next })
}

/** The state of work that has changed nothing and ends. */
function withdrawn(state: WorkState): WorkState {
  return { ...state, phase: 'free', at: 0, table: 0, error: {} }
}

/** Ends work that has changed nothing: its next windows remove the marks. */
export function* withdraw(context: SqlContext, job: string): Transaction<void> {
  const state = yield* lockedState(context, job)
  if (state !== undefined) yield* keepState(job, withdrawn(state))
}

/**
 * Undoes work that cannot go on, if nothing was cleared or erased yet. Returns whether it is undone: of many records
 * the next windows do it.
 *
 * @throws StorageFault if something blocks undoing a deletion of few records; nothing is undone then
 */
export function* undoWork(context: SqlContext, job: string, error: JobError, now: number): Transaction<boolean> {
  const state = yield* lockedState(context, job)
  if (state === undefined) return false
  if (isUnanswered(state)) yield* withdraw(context, job)
  else if (state.phase !== 'flip' && state.phase !== 'collect') return false
  else yield* keepState(job, undoing(state, error))
  if (Math.max(state.done, state.total) > mostInspected) return false
  for (let step: JobStep = 'more'; step === 'more'; ) {
    step = yield* stepWork(context, job, now, { size: mostInspected, isRequest: true })
    if (step === 'finished') throw new StorageFault('failed', 'What a job has deleted cannot be restored by now.')
  }
  return true
}

/** Runs all windows of work of few records in this transaction. */
export function* finishAtOnce(context: SqlContext, job: string, now: number, size: number): Transaction<void> {
  while ((yield* stepWork(context, job, now, { size, isRequest: true })) === 'more');
}

/** A state that 0.1.0 may have kept, with phases of its own. */
type FormerState = Omit<WorkState, 'phase' | 'roots'> & {
  readonly phase: string
  /** Every state of this version has it. */
  readonly roots?: number
}

/** The state as this version keeps it. Work whose records have no marks cannot go on, and is undone. */
function currentState(state: FormerState): WorkState {
  if (state.roots !== undefined) return state as WorkState
  const { phase, total, restoration } = state
  const known = { ...state, roots: 0, found: 0, table: state.table ?? 0, total: total ?? 0, selection: undefined }
  switch (phase) {
    case 'clear':
    case 'erase':
      return { ...known, phase: 'settle', at: 0, table: 0 }
    // What was asked for is deleted, and the queue has it.
    case 'mark':
      return { ...known, phase: 'collect', total: state.done }
    case 'tidy':
    case 'release':
      return { ...known, phase: 'free', at: 0, table: 0, isHidden: restoration !== undefined }
    case 'check':
      return { ...known, phase: 'free', at: 0, table: 0, isHidden: true, error: {} }
    default:
      return undoing({ ...known, phase: 'back', isHidden: restoration !== undefined }, upgraded)
  }
}

const upgraded = {
  ...{ type: problemType('INTERNAL_ERROR'), title: 'The server was upgraded', status: 500, code: 'INTERNAL_ERROR' },
  detail: 'The server was upgraded while the job ran. It was undone: nothing has changed. Send the request again.',
}
