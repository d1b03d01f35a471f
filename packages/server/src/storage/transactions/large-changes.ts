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
import { setOf } from './delete/cascade.ts'
import { blockingRules, decidersBelow } from './delete/deletion-blockers.ts'
import { tooManyAffected } from './delete/matching.ts'
import { objections, shownBlockers } from './delete/restoration-blockers.ts'
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
import { attributed, attributionOf } from './rows/attribution.ts'
import { type Refused, refusalOf } from './rows/change-records.ts'
import { stateOf } from './rows/job-rows.ts'
import { pendingIssue, resourceOf } from './rows/pending-deletions.ts'
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
    runner.write(() => attributed(context, attributionOf(plan), (own) => continueForKey(plan, begin(own))), isChange)
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
  const { background, plan } = waiting
  if (plan.kind === 'update-matching' && plan.most !== undefined) {
    // Whoever only asks how many match keeps nobody from changing them.
    const count = await background.run('countMatches', plainPlan(plan))
    if (count > plan.most) return conflict(tooManyAffected(plan, count))
  }
  const takenBy = await collectAll(waiting)
  return takenBy === undefined ? check(waiting, announced) : conflict(pendingIssue(takenBy))
}

/** Checks work whose records are collected. */
async function check(waiting: Waiting, announced: Announced): Promise<Checked> {
  const { context, background, plan } = waiting
  if (plan.kind === 'update-matching') return checkChange(waiting, plan)
  const deciders = decidersBelow(context.catalog, plan.resource, plan.kind === 'restore' ? 'restore' : 'delete')
  const inspection = await background.run('inspect', { ...plainPlan(plan), ids: announced.ids, deciders })
  const issues = [...announced.refused, ...inspection.issues, ...(await decided(waiting, plan, inspection))]
  if (issues.length > 0) return { kind: plan.kind === 'bulk-delete' ? 'bulk-refused' : 'conflict', issues }
  return (own) => (plan.kind === 'restore' ? beginRestoration(own, plan) : beginDeletion(own, plan, announced))
}

/** How many records of a change are checked in one turn of the event loop, unless they take long. */
const mostChecked = 100

/** Checks each record of a change that will be a job. */
async function checkChange({ context, runner, job }: Waiting, plan: UpdateMatching): Promise<Checked> {
  const state = await runner.read(() => stateOf<WorkState>(job))
  if (state === undefined) throw lost()
  const { found, roots } = state
  if (plan.most !== undefined && found > plan.most) return conflict(tooManyAffected(plan, found))
  const refused: Refused[number][] = []
  const moved = new Set<string>()
  let began = performance.now()
  for (let at = 0; found > plan.above && at < roots && refused.length < mostErrors; ) {
    const from = { at, size: mostChecked, last: roots }
    const next = await runner.read(() => checkNext(context, plan, from))
    refused.push(...next.refused)
    for (const name of next.moved) moved.add(name)
    at = next.at
    if (performance.now() - began < turn) continue
    await nextTurn()
    began = performance.now()
  }
  return refused.length > 0 ? refusalOf(plan, refused) : (own) => beginChange(own, plan, [...moved])
}

function conflict(found: Issue): Outcome {
  return { kind: 'conflict', issues: [found] }
}

/** How long a deletion waits for another one that is at work on the same records, in milliseconds. */
const patience = 10_000

/**
 * Collects all records.
 *
 * @returns the mark of other work that has some of them, for too long if this is a deletion; `undefined`: none has
 */
async function collectAll(waiting: Waiting): Promise<string | undefined> {
  const { context, runner, plan, job } = waiting
  const until = performance.now() + (plan.kind === 'update-matching' ? 0 : patience)
  for (;;) {
    let taken: string | undefined
    const end = await runWindows(waiting, ({ phase, takenBy }) => {
      taken = takenBy
      return phase === 'check' || takenBy !== undefined
    })
    if (end !== 'stopped') throw lost()
    if (taken === undefined) return undefined
    if (performance.now() >= until) return taken
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

/** Reads records in slices, between which other requests are answered. Nobody changes the records meanwhile. */
async function inSlices(
  { runner }: Places,
  ids: readonly string[],
  decide: (slice: readonly string[]) => Transaction<Issue[]>,
): Promise<Issue[]> {
  const issues: Issue[] = []
  let began = performance.now()
  for (let at = 0; at < ids.length; at += mostDecided) {
    issues.push(...(await runner.read(() => decide(ids.slice(at, at + mostDecided)))))
    if (performance.now() - began < turn) continue
    await nextTurn()
    began = performance.now()
  }
  return issues
}

/** The objections of functions. */
async function decided(waiting: Waiting, plan: Removed | Restore, { undecided }: Inspection): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const { collection, ids, pointer } of undecided) {
    const found = await inSlices(waiting, ids, (slice) => objectionsTo(waiting, plan, collection, slice))
    issues.push(...(pointer === undefined ? found : found.map((each) => movedTo({ pointer }, each))))
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
  const set = setOf(context, new Map([[collection, new Set(ids)]]))
  if (plan.kind !== 'restore') return yield* blockingRules(context, plan, set, 'check')
  const resource = resourceOf(context.catalog, collection)
  const among = set.has(collection, columnSql(subject, 'id'))
  const found = yield* objections(context, plan, { resource, among, kind: 'check' })
  return yield* shownBlockers(context, plan, resource, found)
}
