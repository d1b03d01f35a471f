/**
 * How long former states are kept (HIS-1). A state is removed when its successor is old enough, so that the state of a
 * record at the beginning of the time that is kept stays, and the present one too. Each revision is looked at once:
 * when it is old enough, those before it are removed.
 */
import { historyCollection } from 'resourced-contract/model/names'
import type { Resource } from 'resourced-contract/model/resource'
import { periodBefore } from 'resourced-contract/model/time'
import sql, { raw } from 'sql-template-tag'
import type { SqlContext } from '../sql/context.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import { firstIdSince } from './kept-events.ts'
import { tick } from './rows/clock.ts'

/** How many revisions one transaction looks at. */
const mostExamined = 500

/** Removes states that are no longer kept, and returns how many revisions it has looked at. */
export function* deleteFormerStates(context: SqlContext, now: number): Transaction<number> {
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
