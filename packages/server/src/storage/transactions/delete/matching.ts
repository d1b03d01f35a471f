/** The records that a deletion or a change by filter is about: all, or the next ones of many (DEL-10, BLK-3). */

import { comparisons } from 'resourced-contract/model/operators'
import { allOf, namesIds, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { empty, type Sql } from 'sql-template-tag'
import type { DeleteMatching, UpdateMatching } from '../../../plan/plan.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql, type PredicateContext } from '../../sql/predicate.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { clockOf, clockSql } from '../rows/clock.ts'
import { expectHolders, type Holders } from '../rows/lock-operations.ts'
import { ruledAmong } from '../rows/other-records.ts'
import { mostInspected } from './cascade.ts'
import type { Selection } from './work-list.ts'

/** The plan of a deletion or a change by filter. */
export type Matching = DeleteMatching | UpdateMatching

/** A collection of at most so many records is searched where requests are answered, whether or not an index helps. */
const mostSearched = 10_000

/** Whether few records match, if that takes a short time to find out. */
export function* matchesFew(context: SqlContext, plan: Matching): Transaction<boolean> {
  const { resource, filter, permitted } = plan
  if (!namesIds(filter) && !isIndexRange(allOf([filter, permitted]))) {
    const clock = yield* firstRow(clockSql(context, resource.name))
    if (clockOf(clock).live > mostSearched) return false
  }
  const some = sql`select 1 as one ${matchingSql(context, plan)} ${context.dialect.limit(mostInspected + 1)}`
  const row = yield* firstRow(sql`select count(*) as count from (${some}) matching`)
  return Number(row?.['count']) <= mostInspected
}

/** Whether a predicate is one comparison that an index answers. Every field that filters use has an index (QRY-7). */
function isIndexRange(predicate: Predicate): boolean {
  if (predicate.kind !== 'compare') return predicate.kind === 'in'
  return comparisons[predicate.operator].index !== undefined
}

/**
 * Begins a change by filter: others see what it has changed if they see what came after it. Where rules are about the
 * collection, changes of it are serializable, or exclude those, and need nothing more.
 */
export function* takeTurn(context: SqlContext, { name }: Resource): Transaction<void> {
  const { matching } = context.dialect.lock
  if (matching !== undefined && ruledAmong(context, [name]) !== 'all') yield ignoringRows(matching)
}

/**
 * Locks all records that match, and gives `columns` of each, in the order of their ids. A transaction that the locks
 * had to wait for may have changed one match and made another one, which only a later statement sees. So it is asked
 * again until there is none: what comes later then comes after this change as a whole.
 *
 * @param holders the locked records that hold sums of the matches
 */
export function* lockMatches(
  context: SqlContext,
  plan: Matching,
  columns: Sql,
  holders: Holders,
): Transaction<readonly Row[]> {
  const { resource } = plan
  const { hasOtherWriters, orderById, update } = context.dialect.lock
  const locked = sql`${matchingSql({ ...context, locksReferenced: true }, plan)}${orderById}${update}`
  let rows = yield sql`select ${columns} ${locked}`
  for (let before = -1; hasOtherWriters && rows.length !== before; ) {
    before = rows.length
    rows = yield sql`select ${columns} ${locked}`
  }
  yield* expectHolders(context, [{ resource, which: matchedSql(context, plan) }], holders)
  return rows
}

function matchingSql(context: PredicateContext, plan: Matching): Sql {
  return sql`from ${subjectSql(plan.resource.name)} where ${matchedSql(context, plan)}`
}

/** Whether a record matches. */
export function matchedSql(context: PredicateContext, { resource, filter, permitted }: Matching): Sql {
  return liveSql(context, resource, allOf([filter, permitted]))
}

/** The number of the records that match. */
export function* countMatching(context: SqlContext, plan: Matching): Transaction<number> {
  const row = yield* firstRow(sql`select count(*) as count ${matchingSql(context, plan)}`)
  return Number(row?.['count'])
}

/** The issue of a request whose records are more than the client allows. */
export function tooManyAffected({ kind, most }: Matching, count: number): Issue {
  const done = kind === 'delete-matching' ? 'deleted' : 'changed'
  return issue('affected', { header: 'Prefer', count, most: most ?? 0, done })
}

/** The records that match now. */
export function* selectMatching({ resource, filter, permitted, now }: Matching): Transaction<Selection> {
  const row = yield* firstRow(sql`select max(_row) as last from ${tableSql(resource.name)}`)
  const created = yield* firstRow(
    sql`select max(created_at) as newest from ${tableSql(resource.name)} where deleted_at is null`,
  )
  // A record may be newer than the clock, if the clock was set back.
  const newest = [String(created?.['newest'] ?? ''), timestamp(now)].sort().at(-1) as string
  return { filter: allOf([filter, permitted]), at: 0, last: Number(row?.['last'] ?? 0), newest }
}

/** How many rows of a table a window reads for each record that it may change. */
export const rowsForEach = 20

/** The next records that match, and the row up to which all rows were looked at. */
export function* nextMatches(
  { dialect, ...context }: SqlContext,
  resource: Resource,
  { filter, at, last, newest }: Selection,
  size: number,
): Transaction<{ readonly ids: readonly string[]; readonly at: number }> {
  const [row, table] = [columnSql(subject, '_row'), tableSql(resource.name)]
  const following = sql`select _row from ${table} where _row > ${at} order by _row limit 1`
  const end = yield* firstRow(sql`${following} offset ${size * rowsForEach}`)
  const until = Math.min(Number(end?.['_row'] ?? last), last)
  // By the number of the row alone: an index of the filter would find all rows of the collection that match.
  const matches = dialect.unindexed(liveSql({ dialect, ...context }, resource, filter))
  // SQLite gives the number of the last row anew once that row is removed.
  const isOld = dialect.lock.hasOtherWriters ? empty : sql` and ${columnSql(subject, 'created_at')} <= ${newest}`
  const range = sql`${row} > ${at} and ${row} <= ${until}${isOld}`
  const found = yield sql`select _row, id from ${subjectSql(resource.name)} where ${range} and ${matches}
    order by ${row} limit ${size}`
  return {
    ids: found.map(({ id }) => String(id)),
    at: found.length < size ? until : Number(found.at(-1)?.['_row']),
  }
}
