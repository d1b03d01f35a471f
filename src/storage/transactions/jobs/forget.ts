/** What is kept for a time, and then forgotten: first answers to creations, and jobs that are finished. */
import sql from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import type { Resource } from '../../../model/resource.ts'
import { type SqlContext, tableSql } from '../../sql/predicate.ts'
import type { Transaction } from '../../transaction.ts'
import { tick } from '../clock.ts'

/** How long a finished job is kept (JOB-4), in milliseconds. */
const jobsKept = 30 * 86_400_000

/** The most jobs that one transaction forgets. */
export const mostForgotten = 100

/** Forgets jobs that were finished 30 days ago, the oldest first. Gives their number. */
export function* forgetJobs(context: SqlContext, now: number): Transaction<number> {
  const old = sql`select id from jobs where finished_at <= ${timestamp(now - jobsKept)} limit ${mostForgotten}`
  const gone = yield sql`delete from jobs where id in (${old}) returning id`
  if (gone.length > 0) yield tick(context, 'jobs', -gone.length, 0)
  return gone.length
}

/** Whether any of some resources has records whose grace period is over. */
export function* hasExpired(resources: Iterable<Resource>, now: number): Transaction<boolean> {
  for (const { name, deletion } of resources) {
    if (deletion.variant === 'hard') continue
    const expired = timestamp(now - deletion.gracePeriod)
    const rows =
      yield sql`select 1 as found from ${tableSql(name)} where _deletion is not null and deleted_at <= ${expired} limit 1`
    if (rows.length > 0) return true
  }
  return false
}
