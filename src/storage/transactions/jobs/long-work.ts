/** The transactions of long work, by name: what is asked for on another thread. They take and give plain data. */
import type { Outcome, Write } from '../../../plan/plan.ts'
import { shownBy } from '../../../plan/stored.ts'
import type { SqlContext } from '../../sql/predicate.ts'
import type { JobError, JobStep, OpenJob } from '../../storage.ts'
import type { Transaction } from '../../transaction.ts'
import { resourceOf } from '../delete/closure.ts'
import { stepDeletion, undoDeletion } from '../delete/deletion-job.ts'
import type { DeletionState } from '../delete/deletion-state.ts'
import { countDeletion } from '../delete/measure.ts'
import { beginPurge, stepPurge } from '../delete/purge.ts'
import { writeTransaction } from '../run.ts'
import { claimExport, countExport, finishExport, keepExport, readExport } from './export-job.ts'
import { finishJob, keepTotal, stateOf } from './job-rows.ts'
import { dropPieces } from './pieces.ts'

interface Step {
  readonly job: OpenJob
  readonly now: number
}

/** A change as plain data: its resource by name. */
interface PlainWrite {
  readonly plan: Omit<Write, 'resource' | 'shown'>
  readonly collection: string
  /** The version that asked, where it is an older one. */
  readonly version: string | undefined
}

/** Changes: each is one transaction. */
const writing = {
  write: (context: SqlContext, { plan, collection, version }: PlainWrite) =>
    writeTransaction(context, {
      ...plan,
      resource: resourceOf(context.catalog, collection),
      shown: version === undefined ? undefined : shownBy(context.catalog, version, collection),
    } as Write) as Transaction<Outcome>,
  step: (context: SqlContext, { job, now }: Step): Transaction<JobStep> =>
    job.task === 'deletion' ? stepDeletion(context, job.id, now) : stepPurge(context, job.id, now),
  /** Deletes the next records of a filtered deletion that has begun. Gives `true` where all of them are deleted. */
  take: function* (
    context: SqlContext,
    { job, now }: { readonly job: string; readonly now: number },
  ): Transaction<boolean> {
    const state = (yield* stateOf(job, context.engine.lock.update)) as DeletionState | undefined
    if (state?.phase !== 'take') return true
    yield* stepDeletion(context, job, now)
    return false
  },
  giveUp: (context: SqlContext, { job, error, now }: Step & { readonly error: JobError }): Transaction<boolean> =>
    job.task === 'deletion' ? undoDeletion(context, job.id, error, now) : fail(context, job.id, error, now),
  beginPurge,
  claimExport,
  keepExport,
  finishExport,
  keepTotal: (context: SqlContext, { job, total, now }: Step & { readonly total: number }): Transaction<void> =>
    keepTotal(context, job.id, total, now),
}

/** Reads: on a snapshot, and nobody waits for them. */
const reading = {
  count: (context: SqlContext, { job }: { readonly job: OpenJob }): Transaction<number | undefined> =>
    job.task === 'deletion' ? countDeletion(context, job.id) : countExport(context, job.id),
  readExport: (context: SqlContext, { job }: { readonly job: string }) => readExport(context, job),
}

/** All of long work. */
export const longWork = { ...writing, ...reading }
export type LongWork = typeof longWork

/** What a piece of long work takes, and what it gives. */
export type Asked<Name extends keyof LongWork> = Parameters<LongWork[Name]>[1]
export type Given<Name extends keyof LongWork> = ReturnType<LongWork[Name]> extends Transaction<infer T> ? T : never

/** Whether a piece of long work changes anything. */
export function isWriting(name: keyof LongWork): boolean {
  return name in writing
}

// What it has done so far is done rightly.
function* fail(context: SqlContext, job: string, error: JobError, now: number): Transaction<boolean> {
  if ((yield* stateOf(job, context.engine.lock.update)) === undefined) return false
  if (context.keepsPieces) yield* dropPieces(job)
  yield* finishJob(context, job, { status: 'failed', error }, now)
  return true
}
