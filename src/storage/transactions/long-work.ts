/** The transactions of long work, by name: what is asked for on another thread. They take and give plain data. */
import { resourceInVersion } from '../../model/resource.ts'
import type { Outcome, Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { JobError, JobStep, JobStore, OpenJob } from '../storage.ts'
import type { Runner, Transaction } from '../transaction.ts'
import { countDeletion, type DeletionState } from './delete/deletion-job.ts'
import { stepDeletion, undoDeletion } from './delete/deletion-phases.ts'
import { admitRemoval, beginPurge, stepPurge } from './delete/purge.ts'
import {
  claimExport,
  countExport,
  dropPieces,
  finishExport,
  forgetPieces,
  keepExport,
  mostForgotten as mostPiecesForgotten,
  readExport,
} from './exports.ts'
import { forgetExpired, mostForgotten } from './idempotency.ts'
import { forgetJobs, hasExpired, mostForgotten as mostJobsForgotten } from './jobs.ts'
import { resourceOf } from './rows/dependents.ts'
import { finishJob, keepTotal, openJobs, stateOf } from './rows/job-rows.ts'
import { writeTransaction } from './run.ts'

interface Step {
  readonly job: OpenJob
  readonly now: number
}

/** A change as plain data: its resource by name. */
interface PlainWrite {
  readonly plan: Omit<Write, 'resource' | 'versionResource'>
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
      versionResource: version === undefined ? undefined : resourceInVersion(context.catalog, version, collection),
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
  if (context.engine.layout.storesExports) yield* dropPieces(job)
  yield* finishJob(context, job, { status: 'failed', error }, now)
  return true
}

/** Does long work. */
export interface Background {
  /** @throws StorageFault where the database fails; nothing is changed then */
  run<Name extends keyof LongWork>(name: Name, asked: Asked<Name>): Promise<Given<Name>>
  /** Finishes what is being done. */
  close(): Promise<void>
}

/** What it works with. */
export interface JobStoreParts {
  readonly context: SqlContext
  readonly runner: Runner
  readonly background: Pick<Background, 'run'>
  readonly isClosing: () => boolean
}

/** The long work of a database: what is short of it where requests are answered, the rest in the background. */
export function jobStore({ context, runner, background, isClosing }: JobStoreParts): JobStore {
  return {
    open: () => runner.read(openJobs),
    async measure(job, now) {
      const total = job.task === 'purge' ? undefined : await background.run('count', { job })
      if (total !== undefined) await background.run('keepTotal', { job, total, now })
    },
    step: (job, now) => background.run('step', { job, now }),
    claimExport: (job, server, now) => background.run('claimExport', { job, server, now }),
    readExport: (job) => background.run('readExport', { job }),
    keepExport: (job, server, progress, now, content) =>
      background.run('keepExport', { job, server, progress, now, content }),
    finishExport: (job, server, result, now, content) =>
      background.run('finishExport', { job, server, result, now, content }),
    giveUp: (job, error, now) => background.run('giveUp', { job, error, now }),
    admitRemoval: (now) =>
      runner.write(
        () => admitRemoval(context, now),
        (doubt) => doubt === undefined,
      ),
    async beginPurge(job, now) {
      const expired = await runner.read(() => hasExpired(context.catalog.resources.values(), now))
      return expired ? background.run('beginPurge', { ...job, now }) : false
    },
    async forget(now, goesOn = () => true) {
      const isChange = (count: number) => count > 0
      const untilNone = async (most: number, batch: () => Transaction<number>) => {
        for (let total = 0; ; ) {
          const count = isClosing() || !goesOn() ? 0 : await runner.write(batch, isChange)
          total += count
          if (count < most) return total
        }
      }
      const keys = await untilNone(mostForgotten, () => forgetExpired(now))
      const jobs = await untilNone(mostJobsForgotten, () => forgetJobs(context, now))
      const pieces = context.engine.layout.storesExports
        ? await untilNone(mostPiecesForgotten, () => forgetPieces(now))
        : 0
      return keys + jobs + pieces
    },
  }
}
