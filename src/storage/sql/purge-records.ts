/** Removing for good what was deleted longer ago than its grace period (DEL-7). */
import sql, { raw } from 'sql-template-tag'
import { timestamp } from '../../model/instant.ts'
import type { Resource } from '../../model/resource.ts'
import { type Compiler, tableSql } from './predicate.ts'
import type { Transaction } from './transaction.ts'

/** The most records that one transaction purges: whoever writes meanwhile waits for it. */
export const mostPurged = 50

/**
 * Purges records of a resource, the longest deleted first, at most `mostPurged`. Which they are is decided in the
 * transaction that removes them, so a record that is restored meanwhile is not among them. Gives their number.
 */
export function* purgeRecords(
  { expressions }: Pick<Compiler, 'expressions'>,
  { name, deletion, fields }: Resource,
  now: number,
): Transaction<number> {
  const rows =
    yield sql`select id from ${tableSql(name)} where _deletion is not null and deleted_at <= ${timestamp(now - deletion.gracePeriod)} order by deleted_at limit ${mostPurged}`
  if (rows.length === 0) return 0
  const ids = rows.map((row) => String(row['id']))
  if (fields.some((field) => field.search)) yield expressions.forgetWords(name, ids)
  yield sql`delete from ${tableSql(name)} where ${expressions.isAmong(raw('id'), ids)}`
  // Nobody could see them any more: the collection's revision stays.
  yield sql`update resourced_clocks set deleted = deleted - ${ids.length} where collection = ${name}`
  return ids.length
}
