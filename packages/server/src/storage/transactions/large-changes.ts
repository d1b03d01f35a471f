/**
 * Deletions and restorations of many records, from their first transaction to the response. That has put records on a
 * work list (`delete/work-list.ts`): what follows is to collect the others, the check on a snapshot, the beginning,
 * and, for a caller who waits for the end, all windows.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Issue, mostErrors, movedTo } from 'resourced-contract/spec/faults'
import type { Outcome } from '../../plan/outcome.ts'
import type { EraseHistory, Restore, UpdateMatching, Write } from '../../plan/plan.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { plainPlan } from '../threads/plain-plan.ts'
import type { Runner, Transaction } from '../transaction.ts'
import { beginDeletion, type Inspection } from './delete/begin.ts'
import { decidersBelow, objections, shownBlockers } from './delete/blockers.ts'
import { conflict, refusal } from './delete/delete.ts'
import { tooManyAffected } from './delete/matching.ts'
import { collectAgain, withdraw } from './delete/work.ts'
import {
  type Announced,
  announcedFor,
  type Large,
  type Removed,
  renewAnnouncement,
  type WorkState,
  workOf,
} from './delete/work-list.ts'
import { type Erasing, eraseHistory } from './history.ts'
import { continueForKey } from './idempotency.ts'
import type { Background } from './long-work.ts'
import { beginRestoration } from './restore.ts'
import { type Refused, refusalOf } from './rows/change-records.ts'
import { stateOf } from './rows/job-rows.ts'
import { pendingIssue, resourceOf } from './rows/other-records.ts'
import { attributed, attributionOf } from './rows/record-row.ts'
import { isChange } from './run.ts'
import { beginChange, checkNext } from './update-matching.ts'

/** Where a large change runs. */
export interface Places {
  readonly context: SqlContext
  /** Runs short transactions. */
  readonly runner: Runner
  /** Runs the check and the windows. */
  readonly background: Pick<Background, 'run'>
}

/** Work whose caller waits. */
interface Waiting extends Places {
  readonly plan: Large
  readonly job: string
  /** The clock of the request: others compare the time with theirs. */
  readonly now: () => number
}

/** Carries out what the transaction of a change has left to do. Only the caller of the change waits for it. */
export async function finishLarge(places: Places, write: Write, announced: Announced | Erasing): Promise<Outcome> {
  if (announced.kind === 'erasing') return await finishErasure(places, write as EraseHistory)
  const plan = write as Large
  const started = performance.now()
  const now = () => plan.now + Math.round(performance.now() - started)
  const waiting = { ...places, plan, job: workOf(plan), now }
  const renewal = setInterval(() => {
    places.runner.write(() => renewAnnouncement(waiting.job, now())).catch(() => {})
  }, announcedFor / 5)
  try {
    return await carryOut(waiting, announced)
  } catch (error) {
    if ((await undone(waiting)) || error instanceof StorageFault) throw error
    throw new StorageFault('uncertain', 'A large change failed after it had begun. It continues as a job.', error)
  } finally {
    clearInterval(renewal)
  }
}

/** Erases the rest of a history, a bounded part in each transaction. */
async function finishErasure({ context, runner }: Places, plan: EraseHistory): Promise<Outcome> {
  for (;;) {
    const outcome = await runner.write(() => eraseHistory(context, plan, true))
    if (outcome.kind !== 'erasing') return outcome
  }
}

/** Undoes what was done. Returns whether nothing is left of it. */
async function undone(waiting: Waiting): Promise<boolean> {
  const { background, job, now } = waiting
  if (await background.run('fail', { job: { id: job, task: 'deletion' }, error: {}, now: now() })) return true
  return (await runWindows(waiting, ({ phase }) => phase !== 'back' && phase !== 'free')) === 'failed'
}

async function carryOut(waiting: Waiting, announced: Announced): Promise<Outcome> {
  const { context, runner, plan, job } = waiting
  const checked = await collectAndCheck(waiting, announced)
  const begun = async (begin: Begin) =>
    runner.write(
      () => attributed(context, attributionOf(plan), (own) => continueForKey(own, plan, begin(own))),
      isChange,
    )
  const outcome = typeof checked === 'function' ? await begun(checked) : checked
  if (outcome.kind === 'accepted') return outcome
  if (!isChange(outcome)) await runner.write(() => withdraw(context, job))
  let count: number | undefined
  const end = await runWindows(waiting, ({ taken }) => {
    count = taken
    return false
  })
  if (isChange(outcome) && end === 'failed') throw lost()
  return outcome.kind === 'deleted-matching' ? { ...outcome, count: count ?? outcome.count } : outcome
}

/** The transaction that begins work, or why the work is refused. */
type Checked = Outcome | Begin
type Begin = (context: SqlContext) => Transaction<Outcome>

async function collectAndCheck(waiting: Waiting, announced: Announced): Promise<Checked> {
  const { context, background, plan } = waiting
  if ('most' in plan && plan.most !== undefined) {
    // Whoever only asks how many match keeps nobody from changing them.
    const count = await background.run('countMatches', plainPlan(plan))
    if (count > plan.most) return conflict(tooManyAffected(plan, count))
  }
  const state = await collectAll(waiting)
  if (state.takenBy !== undefined) return conflict(pendingIssue(state.takenBy))
  if ('most' in plan && state.found > (plan.most ?? state.found)) return conflict(tooManyAffected(plan, state.found))
  if (plan.kind === 'update-matching') return await checkChange(waiting, plan, state)
  const deciders = decidersBelow(context.catalog, plan.resource, plan.kind === 'restore' ? 'restore' : 'delete')
  const inspection = await background.run('inspect', { ...plainPlan(plan), ids: announced.ids, deciders })
  const issues = [...announced.refused, ...inspection.issues, ...(await decided(waiting, plan, inspection))]
  if (issues.length > 0) return refusal(plan, issues)
  return (own) => (plan.kind === 'restore' ? beginRestoration(own, plan) : beginDeletion(own, plan, announced))
}

/** How many records of a change are checked in one turn of the event loop, unless they take long. */
const mostChecked = 100

/** Checks each record of a change that will be a job. */
async function checkChange(
  { context, runner }: Places,
  plan: UpdateMatching,
  { found, roots }: WorkState,
): Promise<Checked> {
  const refused: Refused[number][] = []
  const moved = new Set<string>()
  const rest = restsAfter(turn)
  for (let at = 0; found > plan.above && at < roots && refused.length < mostErrors; ) {
    const from = { at, size: mostChecked, last: roots }
    const next = await runner.read(() => checkNext(context, plan, from))
    refused.push(...next.refused)
    for (const name of next.moved) moved.add(name)
    at = next.at
    await rest()
  }
  return refused.length > 0 ? refusalOf(plan, refused) : (own) => beginChange(own, plan, [...moved])
}

/** How long a deletion waits for another one that is at work on the same records, in milliseconds. */
const patience = 10_000

/**
 * Collects all records.
 *
 * @returns the state after it, with the mark of other work that has some of them, for too long if this is a deletion
 */
async function collectAll(waiting: Waiting): Promise<WorkState> {
  const { context, runner, plan, job } = waiting
  const until = performance.now() + (plan.kind === 'update-matching' ? 0 : patience)
  for (;;) {
    let last: WorkState | undefined
    await runWindows(waiting, (state) => {
      if (state.phase === 'check' || state.takenBy !== undefined) last = state
      return last !== undefined
    })
    if (last === undefined) throw lost()
    if (last.takenBy === undefined || performance.now() >= until) return last
    await sleep(20)
    await runner.write(() => collectAgain(context, job))
  }
}

function lost(): StorageFault {
  return new StorageFault('uncertain', 'Another server has continued a deletion or restoration.')
}

/** Runs windows until the end of the work, or until the state is one where the caller stops. */
async function runWindows(
  { runner, background, job: id, now }: Waiting,
  stopsAt: (state: WorkState) => boolean,
): Promise<'stopped' | 'finished' | 'failed' | 'elsewhere'> {
  for (;;) {
    const state = await runner.read(() => stateOf<WorkState>(id))
    if (state !== undefined && stopsAt(state)) return 'stopped'
    const before = performance.now()
    const step = await background.run('step', { job: { id, task: 'deletion' }, now: now(), isRequest: true })
    if (step !== 'more') return step
    // Other writers get their turn.
    await sleep(Math.min((performance.now() - before) / 2, 5))
  }
}

/** How many records functions decide about in one turn of the event loop, unless they take long. */
const mostDecided = 20
/** For how long functions decide before other requests get their turn, in milliseconds. */
const turn = 5

/** Lets other requests have their turn, each time that the caller has worked for some milliseconds. */
function restsAfter(milliseconds: number): () => Promise<void> {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < milliseconds) return
    await nextTurn()
    began = performance.now()
  }
}

/** The objections of functions. Nobody changes the records meanwhile. */
async function decided(waiting: Waiting, plan: Removed | Restore, { undecided }: Inspection): Promise<Issue[]> {
  const issues: Issue[] = []
  const rest = restsAfter(turn)
  for (const { collection, ids, pointer } of undecided) {
    for (let at = 0; at < ids.length; at += mostDecided) {
      const slice = ids.slice(at, at + mostDecided)
      const found = await waiting.runner.read(() => objectionsTo(waiting, plan, collection, slice))
      issues.push(...(pointer === undefined ? found : found.map((each) => movedTo({ pointer }, each))))
      await rest()
    }
  }
  // Records that the caller may not read have one issue together, in each slice.
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()]
}

function* objectionsTo(
  { context }: Places,
  plan: Removed | Restore,
  collection: string,
  ids: readonly string[],
): Transaction<Issue[]> {
  const resource = resourceOf(context.catalog, collection)
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
  const trigger = plan.kind === 'restore' ? 'restore' : 'delete'
  const found = yield* objections(context, plan, { resource, among, trigger, kind: 'check' })
  return plan.kind === 'restore'
    ? yield* shownBlockers(context, plan, resource, found)
    : found.map(({ issue }) => issue)
}
