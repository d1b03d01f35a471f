/** Jobs (JOB-1 to JOB-3): a record that callers see, and a row with the internal state while a job is unfinished. */

import type { JobKind, JobStatus } from 'resourced-contract/model/catalog'
import type { RecordValues, Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import sql, { raw } from 'sql-template-tag'
import type { SqlContext } from '../../sql/context.ts'
import type { JobTask, OpenJob } from '../../storage.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { writeRecord } from './record-row.ts'

/** A job that begins. */
export interface NewJob {
  readonly id: string
  readonly kind: JobKind
  /** The task of the runner. */
  readonly task: JobTask
  readonly statusUrl: string
  /** The id of the caller; `null`: the server itself. */
  readonly startedBy: string | null
  readonly progress: JobProgress
  /** The state that the task keeps between batches: JSON. */
  readonly state: unknown
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The progress of a job; a total of `null` is not known yet. */
export interface JobProgress {
  readonly done: number
  readonly total: number | null
}

/** Changes of a job's record. */
interface JobChanges {
  readonly status?: JobStatus
  readonly progress?: JobProgress
  readonly started_at?: string
  readonly finished_at?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: Readonly<Record<string, unknown>>
}

/** Adds a job that has yet to run. */
export function* addJob(context: SqlContext, job: NewJob): Transaction<void> {
  yield* addJobRecord(context, job)
  yield* addWork(job)
}

/** Adds the record of a job, which callers see. */
export function* addJobRecord(
  context: SqlContext,
  { id, kind, statusUrl, startedBy, progress, now }: Omit<NewJob, 'task' | 'state'>,
): Transaction<void> {
  const at = timestamp(now)
  const shown: RecordValues = {
    ...{ id, job_id: id, status: 'pending', status_url: statusUrl, kind, progress, started_by: startedBy },
    ...{ created_at: at, updated_at: at },
  }
  yield* writeRecord(context, { resource: jobsOf(context), values: shown })
}

/**
 * Adds the work of a job.
 *
 * @param job `until`: nobody else does the work until then, in milliseconds since 1970
 */
export function* addWork({
  id,
  task,
  state,
  until,
}: Pick<NewJob, 'id' | 'task' | 'state'> & { readonly until?: number }): Transaction<void> {
  const values = sql`${id}, ${task}, ${JSON.stringify(state)}, ${until ?? null}`
  yield ignoringRows(sql`insert into resourced_work (job, task, state, until) values (${values})`)
}

/** Changes a job's record. */
function* changeJob(context: SqlContext, id: string, changes: JobChanges, now: number): Transaction<void> {
  const values = { ...changes, id, updated_at: timestamp(now) }
  yield* writeRecord(context, { resource: jobsOf(context), values, changed: Object.keys(changes) })
}

/** The state of an unfinished job; `undefined`: there is none. A transaction that changes it takes a lock. */
export function* stateOf<State>(job: string, lock = raw('')): Transaction<State | undefined> {
  const [row] = yield sql`select state from resourced_work where job = ${job}${lock}`
  return row === undefined ? undefined : (JSON.parse(String(row['state'])) as State)
}

/** Keeps the state and the progress of a job after a batch. The first batch starts the job. */
export function* advanceJob(
  context: SqlContext,
  id: string,
  { state, progress, now }: { readonly state: unknown; readonly progress: JobProgress; readonly now: number },
): Transaction<void> {
  yield* keepState(id, state)
  const { done, total } = progress
  // More may be done than was counted beforehand.
  const shown = { done, total: total === null ? null : Math.max(total, done) }
  yield* changeJob(context, id, { status: 'running', progress: shown, ...(yield* startOf(id, now)) }, now)
}

function* startOf(id: string, now: number): Transaction<Pick<JobChanges, 'started_at'>> {
  const [row] = yield sql`select started_at from jobs where id = ${id}`
  return row?.['started_at'] === null ? { started_at: timestamp(now) } : {}
}

/** Keeps the state of a job. */
export function* keepState(job: string, state: unknown): Transaction<void> {
  yield ignoringRows(sql`update resourced_work set state = ${JSON.stringify(state)} where job = ${job}`)
}

/** Keeps the total of a job, once it was counted. */
export function* keepTotal(context: SqlContext, job: string, total: number, now: number): Transaction<void> {
  const state = yield* stateOf<JobProgress & { readonly count?: number }>(job, context.dialect.lock.update)
  if (state === undefined) return
  const done = state.done ?? state.count ?? 0
  yield* keepState(job, { ...state, total })
  yield* changeJob(context, job, { progress: { done, total: Math.max(total, done) } }, now)
}

/** Ends a job. */
export function* finishJob(
  context: SqlContext,
  id: string,
  changes: JobChanges & { readonly status: 'succeeded' | 'failed' },
  now: number,
): Transaction<void> {
  yield ignoringRows(sql`delete from resourced_work where job = ${id}`)
  yield* changeJob(context, id, { ...(yield* startOf(id, now)), ...changes, finished_at: timestamp(now) }, now)
}

/** The jobs that are not finished, the oldest first. */
export function* openJobs(): Transaction<readonly OpenJob[]> {
  const rows = yield sql`select job, task from resourced_work order by job`
  return rows.map((row) => ({ id: String(row['job']), task: String(row['task']) as JobTask }))
}

function jobsOf({ catalog }: SqlContext): Resource {
  return catalog.system.get('jobs') as Resource
}
