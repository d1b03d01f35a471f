/** The records that a deletion or a change by filter is about, where they are few (DEL-10, BLK-3). */

import { comparisons } from 'resourced-contract/model/operators'
import { allOf, namesIds, type Predicate } from 'resourced-contract/model/predicate'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import sql, { type Sql } from 'sql-template-tag'
import type { DeleteMatching, UpdateMatching } from '../../../plan/plan.ts'
import { subjectSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql, type PredicateContext } from '../../sql/predicate.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import { clockOf, clockSql } from '../rows/clock.ts'
import { mostInspected } from './cascade.ts'

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

/** Locks all records that match, and gives `columns` of each, in the order of their ids. */
export function lockMatches(context: SqlContext, plan: Matching, columns: Sql): Transaction<readonly Row[]> {
  const { orderById, update } = context.dialect.lock
  const locked = sql`${matchingSql({ ...context, locksReferenced: true }, plan)}${orderById}${update}`
  return rowsOf(sql`select ${columns} ${locked}`)
}

function* rowsOf(statement: Sql): Transaction<readonly Row[]> {
  return yield statement
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
