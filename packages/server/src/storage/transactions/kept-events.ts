/**
 * How long events are kept (EVT-5), and where the kept ones begin and end: the floor and the horizon.
 */

import { eventMark } from 'resourced-contract/model/event'
import type { Scalar } from 'resourced-contract/model/predicate'
import sql, { raw } from 'sql-template-tag'
import type { ReadPage } from '../../plan/plan.ts'
import { subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { tick } from './rows/clock.ts'

/** The key of the floor in `resourced_meta`. */
const floorKey = 'events:floor'

/** The most events that one transaction examines. */
const mostExpiredEvents = 500

/**
 * The position up to which no event can appear any more; 0: there was none yet. It has to be read in the primary
 * database, before the snapshot in which events are read.
 */
export function* readHorizon({ dialect }: Pick<SqlContext, 'dialect'>): Transaction<number> {
  const row = yield* firstRow(dialect.horizon ?? sql`select coalesce(max(_row), 0) as horizon from "events"`)
  return Number(row?.['horizon'])
}

/** The greatest position whose event is no longer kept; 0: all are kept. */
export function* readFloor(): Transaction<number> {
  const row = yield* firstRow(sql`select value from resourced_meta where key = ${floorKey}`)
  return Number(row?.['value'] ?? 0)
}

/** The position of an event; `undefined`: it is not kept, or never was. */
export function* findEvent(id: string): Transaction<number | undefined> {
  const row = yield* firstRow(sql`select _row from "events" where id = ${id}`)
  return row === undefined ? undefined : Number(row['_row'])
}

/** The mark of a position (`EventPosition`). */
export function* readMark(position: number): Transaction<number> {
  const row = yield* firstRow(sql`select id from "events" where _row <= ${position} order by _row desc limit 1`)
  return eventMark(row?.['id'])
}

/** The events that a page begins after: of its cursor, and of its query. */
function eventsNamed({ filter, page }: ReadPage): readonly Scalar[] {
  const key = page.style === 'cursor' ? page.position?.keys.at(-1) : undefined
  const terms = filter.kind === 'and' ? filter.terms : [filter]
  const after = terms.flatMap((term) =>
    term.kind === 'compare' && term.field === 'id' && term.operator === 'gt' ? [term.value] : [],
  )
  return key == null ? after : [...after, key]
}

/** Whether the events that a page begins after are kept, so that it leaves none out (EVT-5). */
export function* beginsAtKept({ dialect }: SqlContext, plan: ReadPage): Transaction<boolean> {
  const ids = eventsNamed(plan)
  if (ids.length === 0) return true
  const which = dialect.isAnyOf(sql`id`, [...new Set(ids)])
  const rows = yield sql`select id from ${subjectSql(plan.resource.name)} where ${which}`
  return rows.length === new Set(ids).size
}

/**
 * Deletes the oldest events if they have been kept long enough, and returns their number. The newest event stays, so
 * that SQLite gives no position twice.
 */
export function* deleteExpiredEvents(context: SqlContext, now: number): Transaction<number> {
  const { catalog, dialect } = context
  if (!catalog.system.has('events')) return 0
  const horizon = yield* readHorizon(context)
  const newest = sql`select max(_row) from "events"`
  // A purge may be changing some of them.
  const oldest = yield sql`select _row, id from "events" where _row <= ${horizon} and _row < (${newest})
    order by _row limit ${mostExpiredEvents}${dialect.lock.skipLocked}`
  const first = firstIdSince(now - catalog.limits.events.retention)
  const expired = oldest.filter(({ id }) => String(id) < first).map((row) => Number(row['_row']))
  const last = expired.at(-1)
  if (last === undefined) return 0
  yield sql`delete from "events" where ${dialect.isAnyOf(raw('_row'), expired)}`
  const rises = raw('cast(excluded.value as bigint) > cast(resourced_meta.value as bigint)')
  yield sql`insert into resourced_meta (key, value) values (${floorKey}, ${String(last)})
    on conflict (key) do update set value = excluded.value where ${rises}`
  yield tick(context, 'events', 0, 0)
  return expired.length
}

/**
 * The beginning of the ids of events that were written at a time. `created_at` would not do: it is the time that the
 * change gave to the record, and a deletion that is undone gives back the former one.
 */
export function firstIdSince(milliseconds: number): string {
  const digits = Math.max(milliseconds, 0).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
