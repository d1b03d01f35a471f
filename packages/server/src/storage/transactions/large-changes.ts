/**
 * Changes of many records, from their first transaction to the response. A deletion or a restoration was announced
 * there: what follows is the check on a snapshot, the beginning, and, for a caller who waits for the end, the batches.
 * See `delete/announcement.ts` and `restore.ts`.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { type Issue, movedTo } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { Outcome } from '../../plan/outcome.ts'
import type { BulkDelete, Restore, Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import { plainPlan } from '../threads/plain-plan.ts'
import type { Row, Runner, Transaction } from '../transaction.ts'
import { type Announced, announcedFor, type Removed, renewAnnouncement } from './delete/announcement.ts'
import { beginAnnounced } from './delete/begin-deletion.ts'
import { blockingRules, decidersBelow } from './delete/deletion-blockers.ts'
import { withdraw } from './delete/deletion-job.ts'
import { type DeletionState, isFew } from './delete/deletion-state.ts'
import type { Inspection } from './delete/inspect-announced.ts'
import { objections, shownBlockers } from './delete/restoration-blockers.ts'
import { continueForKey } from './idempotency.ts'
import type { Background } from './long-work.ts'
import { beginRestoration, finishRestoration, restoreRecord } from './restore.ts'
import { stateOf } from './rows/job-rows.ts'
import { resourceOf } from './rows/pending-deletions.ts'
import { isChange, type Written } from './run.ts'

/** Where a large change runs. */
export interface Places {
  readonly context: SqlContext
  /** Runs short transactions. */
  readonly runner: Runner
  /** Runs the check and the batches. */
  readonly background: Pick<Background, 'run'>
}

/** An announced change, while its caller waits. */
interface Waiting extends Places {
  /** The id of the deletion or restoration. */
  readonly job: string
  /** The clock of the request: others compare the time with theirs. */
  readonly now: () => number
}

/** Carries out what the transaction of a change has left to do. Only the caller of the change waits for it. */
export async function finishLarge(places: Places, plan: Write, written: Written): Promise<Outcome> {
  const { background, runner } = places
  if (written.kind === 'announced') {
    return plan.kind === 'restore'
      ? restoreLarge(places, plan)
      : whileAnnounced(places, (plan as Removed).deletion, plan, (waiting) =>
          deleteAnnounced(waiting, plan as Removed, written),
        )
  }
  if (written.kind === 'accepted' && plan.kind === 'delete-matching') {
    try {
      const state = await runner.read(() => stateOf<DeletionState>(plan.deletion))
      if (isFew(state)) await background.run('takeFew', { job: plan.deletion, now: plan.now })
    } catch {
      // The deletion is accepted: its job runs all the same.
    }
  }
  return written
}

/** Does the rest of an announced change, and renews its announcement meanwhile. If it fails, it is undone. */
async function whileAnnounced<T>(
  places: Places,
  job: string,
  { now: began }: Pick<Write, 'now'>,
  work: (waiting: Waiting) => Promise<T>,
): Promise<T> {
  const started = performance.now()
  const now = () => began + Math.round(performance.now() - started)
  const waiting = { ...places, job, now }
  const renewal = setInterval(() => {
    places.runner.write(() => renewAnnouncement(job, now())).catch(() => {})
  }, announcedFor / 5)
  try {
    return await work(waiting)
  } catch (error) {
    if ((await undone(waiting)) || error instanceof StorageFault) throw error
    throw new StorageFault('uncertain', 'A large change failed after it had begun. It continues as a job.', error)
  } finally {
    clearInterval(renewal)
  }
}

/** Undoes what was done of an announced change. Returns whether nothing is left of it. */
async function undone(waiting: Waiting): Promise<boolean> {
  const { background, job, now } = waiting
  if (await background.run('fail', { job: { id: job, task: 'deletion' }, error: {}, now: now() })) return true
  const end = await runBatches(waiting, (state) => state.phase === 'release' && state.restoration !== undefined)
  return end === 'failed'
}

async function deleteAnnounced(waiting: Waiting, plan: Removed, announced: Announced): Promise<Outcome> {
  const { context, runner, background, job } = waiting
  await awaitEarlier(waiting)
  const deciders = decidersBelow(context.catalog, plan.resource, 'delete')
  const inspection = await background.run('inspect', { ...plainPlan(plan), announced, deciders })
  const issues = [...announced.refused, ...inspection.issues, ...(await decided(waiting, plan, inspection))]
  const begin = () => continueForKey(keyOf(plan), beginAnnounced(context, plan, announced, inspection))
  const outcome = issues.length > 0 ? refusal(plan, issues) : await runner.write(begin, isChange)
  if (!isChange(outcome)) await runner.write(() => withdraw(job))
  const isDone = inspection.few !== undefined || outcome.kind === 'accepted'
  if (!isChange(outcome) || isDone) return outcome
  let count = outcome.kind === 'deleted-matching' ? outcome.count : 0
  const end = await runBatches(waiting, ({ taken }) => {
    count = taken
    return false
  })
  if (end !== 'finished') throw new StorageFault('uncertain', 'Another server has continued a deletion.')
  return outcome.kind === 'deleted-matching' ? { ...outcome, count } : outcome
}

/** How long a deletion waits for transactions that have not seen its announcement, in milliseconds. */
const patience = 10_000

/** Waits until every transaction has ended that may not have seen the announcement. Later ones do not wait for that. */
async function awaitEarlier({ context, runner }: Places): Promise<void> {
  const { earlier } = context.dialect.lock
  if (earlier === undefined) return
  const running = async () => {
    const rows = await runner.read(function* (): Transaction<Row[]> {
      return yield earlier
    })
    return new Set(rows.map((row) => String(row['id'])))
  }
  const started = performance.now()
  for (let waiting = await running(); waiting.size > 0; waiting = waiting.intersection(await running())) {
    if (performance.now() - started > patience) {
      throw new StorageFault('busy', 'A transaction has run for so long that a deletion cannot be checked beside it.')
    }
    await sleep(5)
  }
}

function keyOf(plan: Removed): Pick<BulkDelete, 'idempotency' | 'now'> {
  return plan.kind === 'bulk-delete' ? plan : { now: plan.now }
}

function refusal({ kind }: Removed, issues: Inspection['issues']): Outcome {
  return kind === 'bulk-delete' ? { kind: 'bulk-refused', issues } : { kind: 'conflict', issues }
}

/** How often a restoration is tried while other requests change what it depends on. */
const mostTries = 3

/**
 * Restores the records of an announced restoration. If a batch meets something that blocks it, everything is deleted
 * again, and the restoration is tried anew: its check names all that blocks it, or finds that nothing does any more.
 */
async function restoreLarge(places: Places, plan: Restore): Promise<Outcome> {
  const { context, runner } = places
  const started = performance.now()
  let trying = plan
  for (let tries = 1; ; tries++) {
    const { restoration } = trying
    const outcome = await whileAnnounced(places, restoration, trying, (waiting) => restoreAnnounced(waiting, trying))
    if (outcome !== 'retracted') return outcome
    if (tries === mostTries) break
    // The former id may be the mark of the deleted records now.
    trying = { ...plan, restoration: uuidv7(), now: plan.now + Math.round(performance.now() - started) }
    const written = await runner.write(() => restoreRecord(context, trying), isChange)
    if (written.kind !== 'announced') return written
  }
  throw new StorageFault('busy', 'Other requests change again and again what a restoration depends on.')
}

/** One try. Returns `retracted` if a batch met something that blocks it, and everything is deleted again. */
async function restoreAnnounced(waiting: Waiting, plan: Restore): Promise<Outcome | 'retracted'> {
  const { context, runner, background, job } = waiting
  const deciders = decidersBelow(context.catalog, plan.resource, 'restore')
  const inspect = () => background.run('inspectRestoration', { ...plainPlan(plan), deciders })
  const inspection = await inspect()
  const isBegun = (outcome: Outcome | undefined) => outcome === undefined || isChange(outcome)
  const objecting = inspection.isFew ? [] : await returning(waiting, plan, inspection.ids)
  const issues = [...inspection.issues, ...objecting]
  const outcome: Outcome | undefined =
    issues.length > 0
      ? { kind: 'conflict', issues }
      : await runner.write(() => beginRestoration(context, plan, inspection), isBegun)
  if (outcome !== undefined) {
    if (!isChange(outcome)) await runner.write(() => withdraw(job))
    return outcome
  }
  const phase = await runBatches(waiting, (state) => state.phase === 'last')
  if (phase === 'last') {
    const finished = await runner.write(() => finishRestoration(context, plan), isChange)
    if (!isChange(finished)) await undone(waiting)
    return finished
  }
  if (phase === 'elsewhere') throw new StorageFault('uncertain', 'Another server has continued a restoration.')
  return 'retracted'
}

/** How a loop of batches ends: with the last batch, or before a phase that needs no batch, or with another server. */
type End = 'finished' | 'failed' | 'elsewhere' | 'last'

/** Runs the batches of a change whose caller waits, until its end or until the state is one where the caller stops. */
async function runBatches(
  { runner, background, job: id, now }: Waiting,
  stopsAt: (state: DeletionState) => boolean,
): Promise<End> {
  for (;;) {
    const state = await runner.read(() => stateOf<DeletionState>(id))
    if (state !== undefined && stopsAt(state)) return 'last'
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

/** The objections of functions to a deletion. */
async function decided(waiting: Waiting, plan: Removed, { undecided = [] }: Inspection): Promise<Issue[]> {
  const { context } = waiting
  const issues: Issue[] = []
  for (const { collection, ids, pointer } of undecided) {
    const found = await inSlices(waiting, ids, (slice) =>
      blockingRules(context, plan, new Map([[collection, new Set(slice)]]), 'check'),
    )
    issues.push(...(pointer === undefined ? found : found.map((each) => movedTo({ pointer }, each))))
  }
  return issues
}

/** The objections of functions to a restoration. */
async function returning(
  waiting: Waiting,
  plan: Restore,
  all: readonly (readonly [collection: string, ids: readonly string[]])[],
): Promise<Issue[]> {
  const { context } = waiting
  const issues: Issue[] = []
  for (const [collection, ids] of all) {
    const resource = resourceOf(context.catalog, collection)
    const decide = function* (slice: readonly string[]): Transaction<Issue[]> {
      const found = yield* objections(context, plan, { resource, ids: slice, kind: 'check' })
      return yield* shownBlockers(context, plan, resource, found)
    }
    issues.push(...(await inSlices(waiting, ids, decide)))
  }
  // Records that the caller may not read have one issue together, in each slice.
  return [...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values()]
}
