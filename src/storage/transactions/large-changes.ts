/**
 * Changes of many records, from their first transaction to the response. A deletion was announced there: what follows
 * is the check on a snapshot, the beginning, and, for a caller who waits for the end, the batches. See
 * `delete/begin-deletion.ts` and decision 051.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BulkDelete, Outcome, Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { StorageFault } from '../storage.ts'
import type { Runner } from '../transaction.ts'
import {
  type Announced,
  announcedFor,
  beginAnnounced,
  type Inspection,
  inspectAnnounced,
  type Removed,
  renewAnnouncement,
} from './delete/begin-deletion.ts'
import { hasFunctionRules } from './delete/cascade.ts'
import { withdraw } from './delete/deletion-job.ts'
import { type DeletionState, isFew } from './delete/deletion-state.ts'
import { onceForKey } from './idempotency.ts'
import { type Background, plainPlan } from './long-work.ts'
import { stateOf } from './rows/job-rows.ts'
import { isChange, type Written } from './run.ts'

/** Where a large change runs. */
export interface Places {
  readonly context: SqlContext
  /** Runs short transactions. */
  readonly runner: Runner
  /** Runs the check and the batches. */
  readonly background: Pick<Background, 'run'>
}

/** Carries out what the transaction of a change has left to do. Only the caller of the change waits for it. */
export async function finishLarge(places: Places, plan: Write, written: Written): Promise<Outcome> {
  const { background, runner } = places
  if (written.kind === 'too-large') return background.run('write', plainPlan(plan))
  const outcome = written.kind === 'announced' ? await finishAnnounced(places, plan as Removed, written) : written
  if (outcome.kind === 'accepted' && plan.kind === 'delete-matching') {
    try {
      const state = await runner.read(() => stateOf<DeletionState>(plan.deletion))
      if (isFew(state)) await background.run('takeFew', { job: plan.deletion, now: plan.now })
    } catch {
      // The deletion is accepted: its job runs all the same.
    }
  }
  return outcome
}

async function finishAnnounced(places: Places, plan: Removed, announced: Announced): Promise<Outcome> {
  const { context, runner, background } = places
  const { deletion } = plan
  const started = performance.now()
  // The clock of the request: others compare the time with theirs.
  const now = () => plan.now + Math.round(performance.now() - started)
  const renewal = setInterval(() => {
    runner.write(() => renewAnnouncement(deletion, now())).catch(() => {})
  }, announcedFor / 5)
  try {
    const inspection = await inspected(places, plan, announced)
    const begin = () => onceForKey(context, keyOf(plan), beginAnnounced(context, plan, announced, inspection))
    const issues = [...announced.refused, ...inspection.issues]
    const isRefused = issues.length > 0
    const outcome = isRefused ? refusal(plan, issues) : await runner.write(begin, isChange)
    if (!isChange(outcome)) await runner.write(() => withdraw(deletion))
    const isDone = inspection.few !== undefined || outcome.kind === 'accepted'
    if (!isChange(outcome) || isDone) return outcome
    return await finished(places, plan, outcome, now)
  } catch (error) {
    const undone = await background.run('fail', { job: { id: deletion, task: 'deletion' }, error: {}, now: now() })
    if (undone || error instanceof StorageFault) throw error
    throw new StorageFault('uncertain', 'A deletion failed after it had begun. It continues as a job.', error)
  } finally {
    clearInterval(renewal)
  }
}

function keyOf(plan: Removed): Pick<BulkDelete, 'idempotency' | 'now'> {
  return plan.kind === 'bulk-delete' ? plan : { now: plan.now }
}

function refusal({ kind }: Removed, issues: Inspection['issues']): Outcome {
  return kind === 'bulk-delete' ? { kind: 'bulk-refused', issues } : { kind: 'conflict', issues }
}

function inspected({ context, runner, background }: Places, plan: Removed, announced: Announced): Promise<Inspection> {
  // Another thread does not have the functions of rules.
  if (hasFunctionRules(context.catalog, plan.resource)) {
    return runner.read(() => inspectAnnounced(context, plan, announced))
  }
  return background.run('inspect', { ...plainPlan(plan), announced })
}

/** Runs the batches of a deletion whose caller waits for its end. */
async function finished(
  { runner, background }: Places,
  plan: Removed,
  outcome: Outcome,
  now: () => number,
): Promise<Outcome> {
  const job = { id: plan.deletion, task: 'deletion' } as const
  let count = outcome.kind === 'deleted-matching' ? outcome.count : 0
  for (;;) {
    const before = performance.now()
    const step = await background.run('step', { job, now: now(), isRequest: true })
    if (step === 'finished') break
    if (step === 'elsewhere') throw new StorageFault('uncertain', 'Another server has continued a deletion.')
    count = (await runner.read(() => stateOf<DeletionState>(job.id)))?.taken ?? count
    // Other writers get their turn.
    await sleep(Math.min((performance.now() - before) / 2, 5))
  }
  return outcome.kind === 'deleted-matching' ? { ...outcome, count } : outcome
}
