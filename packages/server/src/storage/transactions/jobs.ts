/** Deleting jobs: one that has ended, for a caller, and those that ended long ago (JOB-4, LIM-8). */

import { timestamp } from 'resourced-contract/model/time'
import { issue } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import { checkRecord } from '../../plan/check-record.ts'
import type { Outcome } from '../../plan/outcome.ts'
import type { DeleteJob } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { deleteChunks } from './exports.ts'
import { tick } from './rows/clock.ts'
import { lockRecord } from './rows/record-row.ts'

/** Runs a DeleteJob. A file beside the database has to be removed by the caller of `run`, after the commit. */
export function* deleteJob(context: SqlContext, plan: DeleteJob): Transaction<Outcome> {
  const { found, record } = yield* lockRecord(context, plan)
  const isElsewhere = plan.mustExport && found?.permitted === true && record?.['kind'] !== 'export'
  const refusal = checkRecord(plan, isElsewhere ? undefined : found)
  if (refusal !== undefined || record === undefined) return refusal ?? { kind: 'missing' }
  if (record['status'] !== 'succeeded' && record['status'] !== 'failed') {
    return { kind: 'conflict', issues: [issue('unfinished', { status: String(record['status']) })] }
  }
  yield sql`delete from jobs where id = ${plan.id}`
  if (context.dialect.layout.storesExports) yield* deleteChunks(plan.id)
  yield tick(context, 'jobs', -1, 0)
  return { kind: 'deleted', id: plan.id, deletedAt: timestamp(plan.now) }
}

/** How long a finished job is kept (JOB-4), in milliseconds. */
const jobsKept = 30 * 86_400_000

/** The most jobs that one transaction deletes. */
const mostExpiredJobs = 100

/** Deletes jobs that were finished 30 days ago, and returns their number. */
export function* deleteExpiredJobs(context: SqlContext, now: number): Transaction<number> {
  const old = sql`select id from jobs where finished_at <= ${timestamp(now - jobsKept)} limit ${mostExpiredJobs}`
  const gone = yield sql`delete from jobs where id in (${old}) returning id`
  if (gone.length > 0) yield tick(context, 'jobs', -gone.length, 0)
  return gone.length
}
