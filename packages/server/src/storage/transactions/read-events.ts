/** Reading events in their order, a bounded number of rows at a time (EVT-2). */

import { type EventKind, eventMark } from 'resourced-contract/model/event'
import sql, { join, type Sql } from 'sql-template-tag'
import type { EventsOutcome, ReadEvent, ReadEvents } from '../../plan/plan-events.ts'
import { columnSql, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { predicateSql } from '../sql/predicate.ts'
import { representationSql } from '../sql/records.ts'
import { firstRow, prebuilt, type Row, type Transaction } from '../transaction.ts'
import { readFloor } from './kept-events.ts'

/** How many rows one read examines. */
const mostExamined = 1_000

/** Runs a ReadEvents. The horizon of the context, if there is one, was read before. */
export function* readEvents(context: SqlContext, plan: ReadEvents): Transaction<EventsOutcome> {
  const { resource, after, limit } = plan
  const { horizon } = context
  const row = columnSql(subject, '_row')
  const upTo = horizon === undefined ? sql`${row} > ${after}` : sql`${row} > ${after} and ${row} <= ${horizon}`
  const table = subjectSql(resource.name)
  const examined = sql`select ${row} from ${table} where ${upTo} order by ${row} limit ${mostExamined}`
  const counted = sql`select count(*) as count, max(_row) as last from (${examined}) examined`
  const newest = sql`(select id from "events" where _row = last) as newest`
  const before = sql`(select id from "events" where _row <= ${after} order by _row desc limit 1) as before`
  const bounds = yield* firstRow(sql`select count, last, ${newest}, ${before} from (${counted}) counted`)
  const isLost = yield* isOfLostChanges(plan, bounds?.['before'])
  const count = Number(bounds?.['count'] ?? 0)
  // What is not kept between `after` and the horizon is passed over.
  const last =
    count === mostExamined ? Number(bounds?.['last']) : Math.max(after, horizon ?? Number(bounds?.['last'] ?? 0))
  const mark = eventMark(count === 0 ? bounds?.['before'] : bounds?.['newest'])
  const examinedAll = { events: [], position: last, mark, isLost, more: count === mostExamined }
  if (count === 0 || isLost || plan.permitted.kind === 'never') return examinedAll
  const rows = yield statementOf(context, plan, last)
  const events = rows.map(eventOf)
  if (events.length < limit) return { ...examinedAll, events }
  const { position, id } = events.at(-1) as ReadEvent
  return { events, position, mark: eventMark(id), isLost, more: true }
}

/**
 * Whether the newest event up to the beginning of a read is another one than before. If there is none, the events
 * before were removed because of their age.
 */
function* isOfLostChanges({ mark }: ReadEvents, before: Row[string] | undefined): Transaction<boolean> {
  if (mark === undefined || mark === eventMark(before)) return false
  return typeof before === 'string' || (yield* readFloor()) === 0
}

function statementOf(context: SqlContext, plan: ReadEvents, last: number) {
  const { resource, versionResource = resource, fields, readableFields, after, limit, permitted, filter } = plan
  const column = (name: string) => columnSql(subject, name)
  const conditions: Sql[] = [sql`${column('_row')} > ${after} and ${column('_row')} <= ${last}`]
  for (const predicate of [filter, permitted]) {
    if (predicate.kind !== 'always') conditions.push(predicateSql(context, resource, predicate))
  }
  const columns = ['_row', 'id', 'collection', 'record', 'kind', 'created_at'].map(column)
  const json = representationSql(context, { resource: versionResource, fields, readableFields })
  return prebuilt(
    sql`select ${join(columns, ', ')}, ${json} as json from ${subjectSql(resource.name)}
      where ${join(conditions, ' and ')} order by ${column('_row')} ${context.dialect.limit(limit)}`,
  )
}

function eventOf(row: Row): ReadEvent {
  return {
    position: Number(row['_row']),
    id: String(row['id']),
    collection: String(row['collection']),
    record: String(row['record']),
    kind: row['kind'] as EventKind,
    createdAt: String(row['created_at']),
    json: String(row['json']),
  }
}
