/**
 * The transactions of background jobs, by name, and the port's `JobStore` that calls them. On SQLite they run on
 * another thread: their arguments and results are plain data.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { resourceInVersion } from '../../model/resource.ts'
import type { DeleteMatching, Outcome, Write } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { JobError, JobStep, JobStore, OpenJob } from '../storage.ts'
import type { Runner, Transaction } from '../transaction.ts'
import { countDeletion, lockedState, stepDeletion, undoDeletion } from './delete/deletion-job.ts'
import { beginPurge, checkClock, hasExpired, stepPurge } from './delete/purge.ts'
import {
  claimExport,
  countExport,
  deleteChunks,
  deleteExpiredChunks,
  finishExport,
  keepExport,
  readExport,
} from './exports.ts'
import { deleteExpiredKeys } from './idempotency.ts'
import { deleteExpiredJobs } from './jobs.ts'
import { finishJob, keepTotal, openJobs, stateOf } from './rows/job-rows.ts'
import { resourceOf } from './rows/other-records.ts'
import { writeTransaction } from './run.ts'

interface Step {
  readonly job: OpenJob
  readonly now: number
}

/** A plan as plain data: its resource by name. */
interface PlainWrite {
  readonly plan: Omit<Write, 'resource' | 'versionResource'>
  readonly collection: string
  /** The version of the request, if it is an older one. */
  readonly version: string | undefined
}

/** Transactions that change something. */
const writing = {
  write: (context: SqlContext, { plan, collection, version }: PlainWrite) =>
    writeTransaction(context, {
      ...plan,
      resource: resourceOf(context.catalog, collection),
      versionResource: version === undefined ? undefined : resourceInVersion(context.catalog, version, collection),
    } as Write) as Transaction<Outcome>,
  step: (context: SqlContext, { job, now }: Step): Transaction<JobStep> =>
    job.task === 'deletion' ? stepDeletion(context, job.id, now) : stepPurge(context, job.id, now),
  /** Deletes the next records of a deletion by filter. Returns whether all of them are deleted. */
  take: function* (
    context: SqlContext,
    { job, now }: { readonly job: string; readonly now: number },
  ): Transaction<boolean> {
    if ((yield* lockedState(context, job))?.phase !== 'take') return true
    yield* stepDeletion(context, job, now)
    return false
  },
  fail: (context: SqlContext, { job, error, now }: Step & { readonly error: JobError }): Transaction<boolean> =>
    job.task === 'deletion' ? undoDeletion(context, job.id, error, now) : failJob(context, job.id, error, now),
  beginPurge,
  claimExport,
  keepExport,
  finishExport,
  keepTotal: (context: SqlContext, { job, total, now }: Step & { readonly total: number }): Transaction<void> =>
    keepTotal(context, job.id, total, now),
}

/** Transactions that read, on a snapshot. */
const reading = {
  count: (context: SqlContext, { job }: { readonly job: OpenJob }): Transaction<number | undefined> =>
    job.task === 'deletion' ? countDeletion(context, job.id) : countExport(context, job.id),
  readExport: (context: SqlContext, { job }: { readonly job: string }) => readExport(context, job),
}

/** The transactions of background jobs. */
export const longWork = { ...writing, ...reading }
export type LongWork = typeof longWork

/** The argument and the result of such a transaction. */
export type Asked<Name extends keyof LongWork> = Parameters<LongWork[Name]>[1]
export type Given<Name extends keyof LongWork> = ReturnType<LongWork[Name]> extends Transaction<infer T> ? T : never

/** Whether such a transaction changes anything. */
export function isWriting(name: keyof LongWork): boolean {
  return name in writing
}

// What the job has done so far is consistent: nothing is undone.
function* failJob(context: SqlContext, job: string, error: JobError, now: number): Transaction<boolean> {
  if ((yield* stateOf(job, context.engine.lock.update)) === undefined) return false
  if (context.engine.layout.storesExports) yield* deleteChunks(job)
  yield* finishJob(context, job, { status: 'failed', error }, now)
  return true
}

/** Runs the transactions of background jobs. */
export interface Background {
  /** @throws StorageFault if the database fails; nothing is changed then */
  run<Name extends keyof LongWork>(name: Name, asked: Asked<Name>): Promise<Given<Name>>
  /** Finishes the running transaction. */
  close(): Promise<void>
}

/** Runs the transactions of background jobs with a runner of this thread. */
export function backgroundOf(context: SqlContext, { read, write }: Runner): Background {
  return {
    run(name, asked) {
      const start = () => longWork[name](context, asked as never) as Transaction<unknown>
      return (isWriting(name) ? write(start) : read(start)) as never
    },
    async close() {},
  }
}

/** The jobs of a database. Short transactions run where requests are answered, the others in the background. */
export function jobStore(
  context: SqlContext,
  runner: Runner,
  background: Pick<Background, 'run'>,
  isClosing: () => boolean,
): JobStore {
  return {
    open: () => runner.read(openJobs),
    async countTotal(job, now) {
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
    fail: (job, error, now) => background.run('fail', { job, error, now }),
    checkClock: (now) =>
      runner.write(
        () => checkClock(context, now),
        (doubt) => doubt === undefined,
      ),
    async beginPurge(job, now) {
      const expired = await runner.read(() => hasExpired(context, now))
      return expired ? background.run('beginPurge', { ...job, now }) : false
    },
    async deleteExpired(now, goesOn = () => true) {
      const { storesExports } = context.engine.layout
      const batches = [
        () => deleteExpiredKeys(now),
        () => deleteExpiredJobs(context, now),
        ...(storesExports ? [() => deleteExpiredChunks(now)] : []),
      ]
      let total = 0
      for (const batch of batches) {
        for (let count = 1; count > 0; total += count) {
          const isOver = isClosing() || !goesOn()
          count = isOver ? 0 : await runner.write(batch, (deleted) => deleted > 0)
        }
      }
      return total
    },
  }
}

/** Deletes the records of a deletion by filter. Resolves when no matching record is left. */
export async function takeMatching(
  background: Pick<Background, 'run'>,
  { deletion: job, now }: DeleteMatching,
): Promise<void> {
  // Pauses as long as each batch took, so that other changes get their turn.
  for (let started = performance.now(); !(await background.run('take', { job, now })); started = performance.now()) {
    await sleep(performance.now() - started)
  }
}
