/**
 * The first phase of a deletion or restoration of many records: windows that mark the records. A deletion looks for
 * matches of its filter, then downwards below what it has marked. Nobody can refer to a marked record, so a record
 * whose children were looked for gets no more of them.
 */

import { allOf } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { retainedSince } from '../../../plan/check-record.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql } from '../../sql/predicate.ts'
import { firstRow, ignoringRows, type Transaction } from '../../transaction.ts'
import { cascadesOf, isMarkOfChange } from '../rows/pending-deletions.ts'
import { amongSql, liveRows } from './cascade.ts'
import type { Matching } from './matching.ts'
import {
  enqueue,
  lastQueued,
  mark,
  markOf,
  nextMarked,
  nextQueued,
  reachedBy,
  type Selection,
  type WorkState,
} from './work-list.ts'

/** A window: the work, its state, and how many records to change, because other writers wait meanwhile. */
export interface Window {
  readonly job: string
  readonly state: WorkState
  readonly size: number
}

/** The state after a window; `ended`: the phase has nothing more to do. */
export type After = Transaction<WorkState | 'ended'>

/** Marks the next records. */
export function collect(context: SqlContext, window: Window): After {
  const { restoration, selection } = window.state
  if (restoration !== undefined) return collectDeleted(context, window, restoration)
  if (selection !== undefined) return collectMatching(context, window, selection)
  return collectBelow(context, window)
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

/**
 * Marks the next records that match. Those that another deletion has marked are none of this deletion. A change waits
 * for nobody, and nobody takes what a change has marked.
 */
function* collectMatching(context: SqlContext, { job, state, size }: Window, selection: Selection): After {
  const resource = context.catalog.resources.get(state.collection)
  if (resource === undefined) return 'ended'
  const { ids, at } = yield* nextMatches(context, resource, selection, size)
  // By the ids alone: without statistics PostgreSQL would go through an index of the filter, once for each window.
  const matches = context.dialect.unindexed(liveSql({ ...context, locksReferenced: true }, resource, selection.filter))
  const { isAnyOf, lock } = context.dialect
  const among = sql`${subjectSql(resource.name)} where ${isAnyOf(columnSql(subject, 'id'), ids)} and ${matches}`
  const rows = ids.length === 0 ? [] : yield sql`select id, _deletion from ${among}${lock.orderById}${lock.update}`
  const own = markOf(job, state)
  const marks = rows.flatMap(({ _deletion: mark }) => (mark === null || mark === own ? [] : [String(mark)]))
  const takenBy = marks.find((mark) => state.change !== undefined || isMarkOfChange(mark))
  if (takenBy !== undefined) return { ...state, takenBy }
  const live = rows.flatMap((row) => (row['_deletion'] === null ? [String(row['id'])] : []))
  yield* enqueue(context, job, resource.name, yield* mark(context, own, resource.name, live), { isRoot: true })
  const next = { ...state, found: state.found + live.length, total: state.total + live.length }
  if (at < selection.last) return { ...next, selection: { ...selection, at } }
  return { ...next, selection: undefined, roots: yield* lastQueued(job) }
}

/** The next records that match, and the row up to which all rows were looked at. */
function* nextMatches(
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

/** How many rows a window of a filter reads for each record that it may mark. */
const rowsForEach = 20

/**
 * Marks the next children of what is marked: of several parents, if all of their children fit into the window, else of
 * one parent in the order of their ids, which its index has.
 */
function* collectBelow(context: SqlContext, { job, state, size }: Window): After {
  const { at, below, change } = state
  if (change !== undefined) return 'ended'
  const parents = yield* nextQueued(job, { at, size: below === undefined ? size : 1 })
  const [first] = parents
  if (first === undefined) return 'ended'
  const { isDistinct, limit, lock } = context.dialect
  const among = parents.map(({ record }) => String(record))
  // In the order of the index, so that the next window can continue.
  const order = among.length === 1 ? raw(' order by id ') : sql`${lock.orderById} `
  let left = size
  for (const [index, { collection, field }] of cascadesOf(context.catalog, String(first['collection'])).entries()) {
    if (below !== undefined && index < below.reference) continue
    const after = below?.reference === index ? below.after : ''
    const refers = amongSql(context.dialect, columnSql(subject, field), among)
    const isNew = isDistinct(columnSql(subject, '_deletion'), job)
    const isAfter = after === '' ? empty : sql` and ${columnSql(subject, 'id')} > ${after}`
    const rows = sql`${liveRows(collection)} and ${refers} and ${isNew}${isAfter}`
    const found = yield sql`select id, _deletion from ${rows}${order}${limit(left)}${lock.update}`
    const taken = found.find((row) => row['_deletion'] !== null)
    if (taken !== undefined) return { ...state, total: state.total + size - left, takenBy: String(taken['_deletion']) }
    const ids = found.map(({ id }) => String(id))
    yield* enqueue(context, job, collection, yield* mark(context, job, collection, ids))
    left -= ids.length
    if (left > 0) continue
    const last = among.length === 1 ? (ids.at(-1) ?? after) : ''
    return { ...state, total: state.total + size, below: { reference: index, after: last } }
  }
  return { ...state, total: state.total + size - left, at: Number(parents.at(-1)?.['_row']), below: undefined }
}

/** Marks the next records that were deleted with the record that is restored, and are below it. */
function* collectDeleted(
  context: SqlContext,
  { job, state, size }: Window,
  { deletion, now }: NonNullable<WorkState['restoration']>,
): After {
  const { table, at, hasFound = false } = state
  const resource = reachedBy(context, state).filter(({ deletion }) => deletion.variant === 'soft')[table]
  if (resource === undefined) return hasFound ? { ...state, table: 0, at: 0, hasFound: false } : 'ended'
  const isBelow = belowSql(context, resource, (x) => sql`${x}._deletion = ${job}`)
  const isRetained = sql`${columnSql(subject, 'deleted_at')} > ${retainedSince(resource, now)}`
  const { ids, next } = yield* nextMarked(resource, deletion, sql`${isRetained} and ${isBelow}`, { at, size })
  if (ids.length > 0) {
    const which = context.dialect.isAnyOf(raw('id'), ids)
    yield ignoringRows(sql`update ${tableSql(resource.name)} set _deletion = ${job} where ${which}`)
  }
  const found = { ...state, total: state.total + ids.length, hasFound: hasFound || ids.length > 0 }
  return next === undefined ? { ...found, table: table + 1, at: 0 } : { ...found, at: next }
}

/** A condition on records: one that they depend on by `cascade` fulfils a condition. */
export function belowSql({ catalog }: SqlContext, { name }: Resource, which: (parent: Sql) => Sql): Sql {
  const x = raw('x')
  const above = [...catalog.resources.keys()].flatMap((parent) =>
    cascadesOf(catalog, parent).flatMap(({ collection, field }) =>
      collection === name
        ? [sql`exists (select 1 from ${tableSql(parent)} x where x.id = ${columnSql(subject, field)} and ${which(x)})`]
        : [],
    ),
  )
  return above.length === 0 ? sql`1 = 0` : sql`(${join(above, ' or ')})`
}
