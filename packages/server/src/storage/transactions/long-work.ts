/**
 * The transactions of background jobs, by name, and the port's `JobStore` that calls them. On SQLite they run on
 * another thread: their arguments and results are plain data.
 *
 * Other writers wait for a batch, so its size follows from how long the last batches of the same kind held the writer:
 * as many fewer records as a batch took too long, and slowly more after batches that took a short time.
 *
 * Former states (HIS-1): one is removed when its successor is old enough, so that the state of a record at the
 * beginning of the time that is kept stays, and the present one too. Each revision is looked at once: when it is old
 * enough, those before it are removed.
 */
import { historyCollection } from 'resourced-contract/model/names'
import type { Resource } from 'resourced-contract/model/resource'
import { periodBefore } from 'resourced-contract/model/time'
import sql, { raw } from 'sql-template-tag'
import type { Restore } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { JobError, JobStep, JobStore, OpenJob } from '../storage.ts'
import { type PlainPlan, planOf } from '../threads/plain-plan.ts'
import { firstRow, ignoringRows, inBatches, type Runner, type Transaction } from '../transaction.ts'
import { inspect } from './delete/begin.ts'
import { countMatching, type Matching } from './delete/matching.ts'
import { beginPurge, checkClock, countPurge, hasExpired, stepPurge } from './delete/purge.ts'
import { stepWork, undoWork } from './delete/work.ts'
import type { Removed } from './delete/work-list.ts'
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
import { deleteExpiredEvents, firstIdSince } from './kept-events.ts'
import { deleteEmptyFigures } from './kept-summary.ts'
import { tick } from './rows/clock.ts'
import { finishJob, keepTotal, openJobs, stateOf } from './rows/job-rows.ts'

interface Step {
  readonly job: OpenJob
  readonly now: number
}

/** A plan to check, the records that were asked for by their ids, and the collections whose rules are functions. */
type Inspecting = PlainPlan & { readonly ids: readonly string[]; readonly deciders: readonly string[] }

/** Transactions that change something. */
const writing = {
  /** The next batch of a job; `isRequest`: for a request that waits for the end of its deletion. */
  step: (
    context: SqlContext,
    { job, now, isRequest }: Step & { readonly isRequest?: boolean },
    sizeFor?: (phase: string) => number,
  ): Transaction<JobStep> =>
    job.task === 'deletion'
      ? stepWork(context, job.id, now, { size: sizeFor, isRequest })
      : stepPurge(context, job.id, now, sizeFor?.('')),
  fail: (context: SqlContext, { job, error, now }: Step & { readonly error: JobError }): Transaction<boolean> =>
    job.task === 'deletion' ? undoWork(context, job.id, error, now) : failJob(context, job.id, error, now),
  beginPurge,
  claimExport,
  keepExport,
  finishExport,
  keepTotal: (context: SqlContext, { job, total, now }: Step & { readonly total: number }): Transaction<void> =>
    keepTotal(context, job.id, total, now),
}

const counts = { purge: countPurge, export: countExport } as const

/** Transactions that read, on a snapshot. */
const reading = {
  count: (context: SqlContext, { job }: { readonly job: OpenJob & { readonly task: 'purge' | 'export' } }) =>
    counts[job.task](context, job.id),
  readExport: (context: SqlContext, { job }: { readonly job: string }) => readExport(context, job),
  countMatches: (context: SqlContext, plan: PlainPlan) =>
    countMatching(context, planOf<Matching>(context.catalog, plan)),
  inspect: (context: SqlContext, { ids, deciders, ...plan }: Inspecting) =>
    inspect(context, planOf<Removed | Restore>(context.catalog, plan), ids, deciders),
}

/** The transactions of background jobs. */
export const longWork = { ...writing, ...reading }
type LongWork = typeof longWork

/** The argument and the result of such a transaction. */
type Asked<Name extends keyof LongWork> = Parameters<LongWork[Name]>[1]
type Given<Name extends keyof LongWork> = ReturnType<LongWork[Name]> extends Transaction<infer T> ? T : never

/** Whether such a transaction changes anything. */
function isWriting(name: keyof LongWork): boolean {
  return name in writing
}

// What the job has done so far is consistent: nothing is undone.
function* failJob(context: SqlContext, job: string, error: JobError, now: number): Transaction<boolean> {
  if ((yield* stateOf(job, context.dialect.lock.update)) === undefined) return false
  if (context.dialect.layout.storesExports) yield* deleteChunks(job)
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

/** Reads for background jobs by name, elsewhere than this thread. */
export type LongReads = Pick<Background, 'run' | 'close'>

/**
 * Runs the transactions of background jobs with a runner of this thread.
 *
 * @param elsewhere runs those that only read; left out: they run here too
 */
export function backgroundOf(context: SqlContext, { read, write }: Runner, elsewhere?: LongReads): Background {
  const pace = new Pace()
  return {
    async run(name, asked) {
      if (name !== 'step') {
        const start = () => longWork[name](context, asked as never) as Transaction<unknown>
        if (isWriting(name)) return (await write(start)) as never
        return (await (elsewhere?.run(name, asked) ?? read(() => asReader(context, start())))) as never
      }
      const { task } = (asked as Asked<'step'>).job
      let began = 0
      const { ran, note } = pace.measure(task, (sizeFor) =>
        write(() => {
          began = performance.now()
          return longWork.step(context, asked as Asked<'step'>, sizeFor)
        }),
      )
      const stepped = await ran
      // Where others write too, they wait for the rows of a batch alone, and much of its time is that of messages.
      note((performance.now() - began) / (context.dialect.lock.hasOtherWriters ? 2 : 1))
      return stepped as never
    },
    async close() {
      await elsewhere?.close()
    },
  }
}

function* asReader<T>({ dialect }: SqlContext, work: Transaction<T>): Transaction<T> {
  if (dialect.lock.asReader !== undefined) yield ignoringRows(dialect.lock.asReader)
  return yield* work
}

/** The jobs of a database. Short transactions run where requests are answered, the others in the background. */
export function jobStore(
  context: SqlContext,
  runner: Runner,
  background: Pick<Background, 'run'>,
  isClosing: () => boolean,
): JobStore {
  const deleteSomeExpired = async (now: number) => {
    const { storesExports } = context.dialect.layout
    const batches = [
      () => deleteExpiredKeys(context, now),
      () => deleteExpiredJobs(context, now),
      () => deleteExpiredEvents(context, now),
      () => deleteFormerStates(context, now),
      () => deleteEmptyFigures(context),
      ...(storesExports ? [() => deleteExpiredChunks(now)] : []),
    ]
    let total = 0
    for (const batch of batches) total += await runner.write(batch, (deleted) => deleted > 0)
    return total
  }
  return {
    open: () => runner.read(openJobs),
    async countTotal(job, now) {
      // The records of a deletion are counted when they are collected.
      if (job.task === 'deletion') return
      const total = await background.run('count', { job: { id: job.id, task: job.task } })
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
    deleteExpired: (now, goesOn = () => true) =>
      inBatches(
        () => deleteSomeExpired(now),
        () => !isClosing() && goesOn(),
      ),
    deleteSomeExpired,
  }
}

/** How many revisions one transaction looks at. */
const mostExamined = 500

/** Removes states that are no longer kept, and returns how many revisions it has looked at. */
function* deleteFormerStates(context: SqlContext, now: number): Transaction<number> {
  let examined = 0
  for (const resource of context.catalog.resources.values()) {
    if (resource.history?.keep !== undefined) {
      examined += yield* deleteFormerOf(context, resource, periodBefore(now, resource.history.keep))
    }
  }
  return examined
}

function* deleteFormerOf(context: SqlContext, { name }: Resource, before: number): Transaction<number> {
  const position = yield* readPosition(name)
  const rows = yield sql`select _row, id, collection, record_id, created_at from "revisions"
    where _row > ${position} order by _row limit ${mostExamined}`
  const end = firstIdSince(before)
  const young = rows.findIndex(({ id }) => String(id) >= end)
  const old = young === -1 ? rows : rows.slice(0, young)
  if (old.length === 0) return 0
  const own = old.filter((row) => row['collection'] === name)
  const newest = new Map(own.map((row) => [String(row['record_id']), row]))
  let count = 0
  for (const [id, { _row, created_at }] of newest) {
    // The index has the times of a record's states.
    const earlier = sql`record_id = ${id} and collection = ${name} and created_at <= ${String(created_at)}`
    count += (yield sql`delete from "revisions" where ${earlier} and _row < ${Number(_row)} returning id`).length
  }
  const key = keyOf(name)
  const last = String(old.at(-1)?.['_row'])
  yield sql`insert into resourced_meta (key, value) values (${key}, ${last})
    on conflict (key) do update set value = excluded.value`
  if (count > 0) yield tick(context, historyCollection, 0, 0)
  return old.length
}

function keyOf(collection: string): string {
  return `history:${collection}`
}

/** The last revision that was looked at. The database may have given later ones again, where none of them is left. */
function* readPosition(collection: string): Transaction<number> {
  const last = raw('(select coalesce(max(_row), 0) from "revisions")')
  const row = yield* firstRow(sql`select value, ${last} as last from resourced_meta where key = ${keyOf(collection)}`)
  return Math.min(Number(row?.['value'] ?? 0), Number(row?.['last'] ?? 0))
}

/** A batch that held the writer longer than this, in milliseconds, is followed by smaller ones. */
const long = 20

/** How long a batch then takes, if records cost as much as before. */
const aim = 12

/** A batch that held the writer for less than this, in milliseconds, is followed by larger ones. */
const short = 8

const smallest = 10
const largest = 1_000
const first = 50

/** The sizes of batches, by kind: a task, or a phase of one. */
export class Pace {
  readonly #sizes = new Map<string, number>()

  /** How many records the next batch of a kind changes. */
  sizeFor(kind: string): number {
    return this.#sizes.get(kind) ?? first
  }

  /** Notes how long a batch held the writer, in milliseconds. */
  note(kind: string, held: number): void {
    const size = this.sizeFor(kind)
    if (held > long) this.#sizes.set(kind, Math.max(smallest, Math.floor(size * Math.max(aim / held, 1 / 8))))
    else if (held < short) this.#sizes.set(kind, Math.min(largest, Math.ceil(size * 1.25)))
  }

  /** Runs a batch whose kind is known once it runs, and notes it. */
  measure<T>(task: string, run: (sizeFor: (phase: string) => number) => T) {
    let kind = task
    const ran = run((phase) => {
      kind = `${task} ${phase}`
      return this.sizeFor(kind)
    })
    return { ran, note: (held: number) => this.note(kind, held) }
  }
}
