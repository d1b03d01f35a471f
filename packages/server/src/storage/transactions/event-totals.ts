/**
 * Exact totals of lists of events for callers who may read every event of a collection (PAG-4). Events are added at the
 * end, so only those are counted that came after the last count, and those that the removal of a record has emptied
 * since. A poll costs what is new, however many events are kept.
 */

import { eventMark } from 'resourced-contract/model/event'
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { ReadPage } from '../../plan/plan.ts'
import { columnSql, isRemoval, subject, subjectSql, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { predicateSql } from '../sql/predicate.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import type { List } from './list.ts'

/** A total, and up to where it was counted. */
export interface EventTotal {
  readonly total: number
  /** The last position that was counted. */
  readonly last: number
  /** Another one when events are removed because of their age: then all are counted again. */
  readonly removals: number
  /** The mark of the last position: if it is another one, all are counted again too. */
  readonly mark: number
  /** Whether records that are there have empty events (HIS-4): once records are removed, all are counted again. */
  readonly areErased: boolean
}

/**
 * Counts the events of a list, onward from the last count on the same server, if there is one.
 *
 * @returns also the count from which the next one goes on; `undefined`: that begins anew
 */
export function* countEvents(
  list: List,
  before: EventTotal | undefined,
): Transaction<{ readonly total: number; readonly counted: EventTotal | undefined }> {
  const onward = before && (yield* count(list, before))
  const isSame = onward !== undefined && onward.removals === before?.removals && onward.markBefore === before.mark
  const goesOn = isSame && !(before?.areErased && onward.areRemoved)
  const found = goesOn ? onward : yield* count(list)
  const total = (found === onward ? (before?.total ?? 0) : 0) + found.added - found.emptied
  const areErased = found === onward ? before?.areErased === true : found.areErased
  const counted = { total, last: found.last, removals: found.removals, mark: found.mark, areErased }
  return { total, counted: found.isAhead ? undefined : counted }
}

function* count({ context, plan, where }: List, before?: EventTotal) {
  const { resource } = plan
  const table = subjectSql(resource.name)
  const column = (name: string) => columnSql(subject, name)
  const after = before === undefined ? empty : sql` and ${column('_row')} > ${before.last}`
  const added = sql`select count(*) from ${table} where ${where}${after}`
  const removal = raw(isRemoval)
  const later = sql`from ${tableSql(resource.name)} later where later._row`
  const { horizon } = context
  const emptied = before === undefined ? sql`select 0` : emptiedSql(context, plan, before.last)
  const positions = tableSql(resource.name)
  const last =
    horizon === undefined ? sql`coalesce((select max(_row) from ${positions}), 0)` : sql`cast(${horizon} as bigint)`
  // Events whose removal is beyond the horizon are empty already, and would be counted as emptied once more.
  const ahead = horizon === undefined ? sql`0` : sql`(select count(*) ${later} > ${horizon} and ${removal})`
  const clock = sql`select coalesce(sum(revision), 0) from resourced_clocks where collection = ${resource.name}`
  const removals = sql`(${clock}) + coalesce((select min(_row) from ${positions}), 0)`
  const areRemoved = before === undefined ? sql`1 = 0` : sql`exists (select 1 ${later} > ${before.last} and ${removal})`
  const areErased = before === undefined ? sql`exists (${erasedSql(context, plan)})` : sql`1 = 0`
  const flag = (holds: Sql) => sql`case when ${holds} then 1 else 0 end`
  const flags = sql`${flag(areRemoved)} as are_removed, ${flag(areErased)} as are_erased`
  const counts = sql`(${added}) as added, (${emptied}) as emptied, ${flags}`
  const newest = (up: Sql | number) => sql`(select id from ${positions} where _row <= ${up} order by _row desc limit 1)`
  const marks = sql`${newest(last)} as newest, ${newest(before?.last ?? 0)} as before`
  const row = yield* firstRow(
    sql`select ${counts}, ${last} as last, ${marks}, ${ahead} as ahead, ${removals} as removals`,
  )
  const [number, emptiedNumber] = [Number(row?.['added']), Number(row?.['emptied'])]
  return {
    ...{ added: number, emptied: emptiedNumber, last: Number(row?.['last']), removals: Number(row?.['removals']) },
    ...{ mark: eventMark(row?.['newest']), markBefore: eventMark(row?.['before']) },
    isAhead: Number(row?.['ahead']) > 0,
    ...{ areRemoved: row?.['are_removed'] === 1, areErased: row?.['are_erased'] === 1 },
  }
}

/** Selects events of the list that are empty although nothing has removed their record for good. */
function erasedSql(context: SqlContext, { resource, filter }: ReadPage): Sql {
  const column = (name: string) => columnSql(subject, name)
  const hard = [...context.catalog.resources.values()].filter(({ deletion }) => deletion.variant === 'hard')
  const names = hard.map(({ name }) => name)
  const isHard = context.dialect.isAnyOf(sql`later.collection`, names)
  const isGone = sql`exists (select 1 from ${tableSql(resource.name)} later
    where later.record = ${column('record')} and later._row > ${column('_row')}
      and (later.kind = 'purged' or (later.kind = 'deleted' and ${isHard})))`
  return sql`select 1 from ${subjectSql(resource.name)} where ${predicateSql(context, resource, filter)}
    and ${column('data')} is null and not ${raw(isRemoval)} and not ${isGone}`
}

/** Counts the events up to a position that a later removal of their record has emptied. */
function emptiedSql(context: SqlContext, { resource, filter }: ReadPage, last: number): Sql {
  const column = (name: string) => columnSql(subject, name)
  const removals = sql`from ${tableSql(resource.name)} later where later._row > ${last}
    and ${raw(isRemoval)}`
  const isRemoved = context.dialect.isInSubquery(column('record'), sql`select later.record ${removals}`)
  const count = sql`select count(*) from ${subjectSql(resource.name)} where ${column('_row')} <= ${last}
    and ${column('data')} is null and ${predicateSql(context, resource, filter)} and ${isRemoved}`
  // Without a removal, which is usual, nothing is looked for.
  return sql`select case when exists (select 1 ${removals}) then (${count}) else 0 end`
}
