/**
 * The windows that flip marked records: a deletion deletes them and a restoration makes them live, or back. After a
 * deletion, references are cleared and rows are erased. At the end of both, live records lose the mark.
 */

import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { Resource } from 'resourced-contract/model/resource'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type Issue, problemType } from 'resourced-contract/spec/faults'
import sql, { raw, type Sql } from 'sql-template-tag'
import { type Moves, noteMove } from '../../sql/batch.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { countRemoved, tickAll, tickOne } from '../rows/clock.ts'
import { clearReferences, lockedIds, markDeleted, remainingSql, removeRows, setOf } from './cascade.ts'
import { type After, belowSql, type Window } from './collect.ts'
import { blockingRules } from './deletion-blockers.ts'
import { objections, stateBlockers } from './restoration-blockers.ts'
import { markOf, nextMarked, nextQueued, queuesOf, reachedBy, undoing, type WorkState } from './work-list.ts'

const isLive = sql`${columnSql(subject, 'deleted_at')} is null`
const isDeleted = sql`${columnSql(subject, 'deleted_at')} is not null`

/** The index of a table that stands for the records that were asked for, which are deleted first. */
export const asked = -1

/** Flips the next records. */
export function flip(context: SqlContext, window: Window): After {
  const { state } = window
  if (state.restoration !== undefined) return restore(context, window, state.restoration)
  return state.table === asked ? deleteAsked(context, window) : deleteOthers(context, window)
}

/** Flips the next records back. */
export function flipBack(context: SqlContext, window: Window): After {
  return window.state.restoration === undefined
    ? eachMarked(context, window, { which: isDeleted }, (resource, ids) => setLive(context, window, resource, ids))
    : eachMarked(context, window, { which: isLive }, (resource, ids) => setDeleted(context, window, resource, ids))
}

/** Deletes the next records that were asked for, except those that a rule refuses by now. */
function* deleteAsked(context: SqlContext, window: Window): After {
  const { job, state, size } = window
  const { collection, caller, left = 0 } = state
  const resource = context.catalog.resources.get(collection)
  if (resource === undefined) return 'ended'
  const rows = yield* nextQueued(job, { at: state.at, size, last: state.roots })
  const last = Number(rows.at(-1)?.['_row'] ?? state.roots)
  const { isAnyOf, lock } = context.dialect
  const ids = rows.map(({ record }) => String(record))
  const marked = sql`${subjectSql(collection)} where ${isAnyOf(columnSql(subject, 'id'), ids)} and _deletion = ${job}`
  const found = yield sql`select id, deleted_at from ${marked}${lock.orderById}${lock.update}`
  const live = found.filter((row) => row['deleted_at'] === null).map(({ id }) => String(id))
  const refused: string[] = []
  for (const id of caller === undefined ? [] : live) {
    const record = setOf(context, new Map([[collection, new Set([id])]]))
    const plan = { caller: caller as CallerView, now: Date.parse(state.deletedAt) }
    if ((yield* blockingRules(context, plan, record, 'unless')).length > 0) refused.push(id)
  }
  if (refused.length > 0) {
    yield ignoringRows(sql`update ${tableSql(collection)} set _deletion = null where ${isAnyOf(raw('id'), refused)}`)
  }
  const flipped = yield* setDeleted(context, window, resource, [...new Set(live).difference(new Set(refused))])
  const taken = state.taken + found.length - refused.length
  const next = last < state.roots ? { at: last } : { at: 0, table: 0 }
  return { ...flipped, ...next, taken, ...(caller && { left: left + refused.length }) }
}

/** Deletes the next of the other records: all, or if a record that was asked for stays, those below deleted ones. */
function* deleteOthers(context: SqlContext, window: Window): After {
  const { job, state } = window
  const isGone = (parent: Sql) => sql`${parent}._deletion = ${job} and ${parent}.deleted_at is not null`
  const which = (resource: Resource) =>
    state.left ? sql`${isLive} and ${belowSql(context, resource, isGone)}` : isLive
  const next = yield* eachMarked(context, window, { which }, (resource, ids) =>
    setDeleted(context, window, resource, ids),
  )
  if (next !== 'ended') return { ...next, hasFound: state.hasFound === true || next.done > state.done }
  return state.left && state.hasFound ? { ...state, table: 0, at: 0, hasFound: false } : 'ended'
}

/** Makes the next records live: the one that was asked for comes last. */
function* restore(context: SqlContext, window: Window, { root }: NonNullable<WorkState['restoration']>): After {
  const { state } = window
  const which = sql`${isDeleted} and ${columnSql(subject, 'id')} <> ${root}`
  const next = yield* eachMarked(context, window, { which }, (resource, ids) => setLive(context, window, resource, ids))
  const resource = context.catalog.resources.get(state.collection)
  if (next !== 'ended' || resource === undefined || state.taken > 0) return next
  const restored = yield* setLive(context, window, resource, [root])
  return restored.phase === 'flip' ? { ...restored, taken: 1 } : restored
}

/** Deletes locked records. */
function* setDeleted(
  context: SqlContext,
  { job, state }: Window,
  { name }: Resource,
  ids: readonly string[],
): Transaction<WorkState> {
  if (ids.length === 0) return state
  yield* markDeleted(name, context.dialect.isAnyOf(raw('id'), ids), markOf(job, state), state.deletedAt)
  yield* tickOne(context, name, { live: -ids.length, deleted: ids.length, ids })
  return counted(state, ids)
}

/** Makes locked records live, unless something blocks it: then what was flipped is flipped back. */
function* setLive(
  context: SqlContext,
  { job, state }: Window,
  resource: Resource,
  ids: readonly string[],
): Transaction<WorkState> {
  const { restoration } = state
  const mark = markOf(job, state)
  const { name } = resource
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
  const returns = (collection: string, id: Sql) =>
    sql`exists (select 1 from ${tableSql(collection)} x where x.id = ${id} and x._deletion = ${mark})`
  const blockers = yield* stateBlockers(context, { resource, among, returns })
  if (restoration !== undefined) {
    const asked = { caller: restoration.caller, now: Date.parse(restoration.updatedAt) }
    // Functions decided by the record alone, which nobody has changed since.
    blockers.push(...(yield* objections(context, asked, { resource, among, kind: 'unless' })))
  }
  const [blocker] = blockers
  if (blocker !== undefined) return turned(state, blocker.issue)
  const updated = restoration === undefined ? raw('') : sql`, updated_at = ${restoration.updatedAt}`
  const live = sql`deleted_at = null, _revision = ${nextRevisionSql(newMark())}${updated}`
  yield ignoringRows(sql`update ${tableSql(name)} set ${live} where ${context.dialect.isAnyOf(raw('id'), ids)}`)
  yield* tickOne(context, name, { live: ids.length, deleted: -ids.length, ids })
  return counted(state, ids)
}

function counted(state: WorkState, { length }: readonly string[]): WorkState {
  return { ...state, done: state.done + (state.phase === 'back' ? -length : length) }
}

/**
 * The state of work that something blocks: a restoration is undone, and so is a deletion if nothing blocks that; else
 * it goes on.
 */
function turned(state: WorkState, { code }: Issue): WorkState {
  if (state.phase === 'back') return { ...state, phase: 'flip', at: 0, table: asked, taken: 0, error: undefined }
  const title = code in faults ? faults[code as keyof typeof faults].title : 'Conflict'
  const detail = 'Another request has made what blocks the restoration. It was undone: nothing has changed.'
  return undoing(state, { type: problemType(code), title, status: 409, detail, code })
}

/** Sets the next references with `clear` to what is deleted to null. */
export function* clear(context: SqlContext, { job, state, size }: Window): After {
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const { table } = state
  const target = reachedBy(context, state).filter((resource) => clears(resource).length > 0)[table]
  if (target === undefined) return 'ended'
  const { ids, next } = yield* nextMarked(target, job, isDeleted, { at: state.at, size })
  const moves: Moves = new Map()
  let left = size
  for (const dependent of ids.length === 0 ? [] : clears(target)) {
    const rows = remainingSql(dependent, target.name, setOf(context, new Map([[target.name, new Set(ids)]])))
    const count = yield* clearReferences(context, dependent, rows, { at: state.deletedAt, most: left })
    if (count > 0) noteMove(moves, dependent.collection, { live: 0, deleted: 0 })
    left -= count
    // They may have more: the next window asks again.
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  if (left === 0) return state
  return next === undefined ? { ...state, table: table + 1, at: 0 } : { ...state, at: next }
}

/** Removes the next deleted rows of resources that are not kept after deletion. */
export function erase(context: SqlContext, window: Window): After {
  const tables = reachedBy(context, window.state).filter(({ deletion }) => deletion.variant === 'hard')
  return eachMarked(context, window, { which: isDeleted, tables }, function* (resource, ids) {
    yield* removeRows(context, resource, ids)
    yield countRemoved(context, resource.name, ids.length)
    return window.state
  })
}

/**
 * Removes the next marks of live records. Records that a restoration has not restored get their former mark. Work that
 * yields keeps the records that were asked for.
 */
export function* free(context: SqlContext, window: Window): After {
  const { job, state, size } = window
  const { restoration, yields } = state
  const roots = sql`select record from resourced_queue where job = ${job} and _row <= ${state.roots}`
  const ofDeletion = yields ? sql`${isLive} and not ${columnSql(subject, 'id')} in (${roots})` : isLive
  const which = restoration === undefined ? ofDeletion : sql`1 = 1`
  // The declaration may have changed: then other collections have records that were below.
  const tables = [...context.catalog.resources.values()]
  const former =
    restoration === undefined ? sql`null` : sql`case when deleted_at is not null then ${restoration.deletion} end`
  const next = yield* eachMarked(context, window, { which, tables }, function* ({ name }, ids) {
    const among = context.dialect.isAnyOf(raw('id'), ids)
    yield ignoringRows(sql`update ${tableSql(name)} set _deletion = ${former} where ${among}`)
    return state
  })
  if (next !== 'ended') return next
  const queued = context.dialect.isAnyOf(raw('job'), queuesOf(job))
  const rest = sql`${queued} and _row > ${yields ? state.roots : 0}`
  const first = sql`select _row from resourced_queue where ${rest} limit ${size}`
  return (yield sql`delete from resourced_queue where _row in (${first}) returning _row`).length > 0 ? state : 'ended'
}

/** Changes the next marked records, table by table. */
function* eachMarked(
  context: SqlContext,
  { job, state, size }: Window,
  { which, tables = reachedBy(context, state) }: Marked,
  change: (resource: Resource, ids: readonly string[]) => Transaction<WorkState>,
): After {
  const mark = markOf(job, state)
  let { table, at } = state
  for (let resource = tables[table]; resource !== undefined; resource = tables[++table], at = 0) {
    const condition = typeof which === 'function' ? which(resource) : which
    const { ids, next } = yield* nextMarked(resource, mark, condition, { at, size })
    if (ids.length === 0 && next === undefined) continue
    // Another deletion may have come to them.
    const isMarked = sql`${columnSql(subject, '_deletion')} = ${mark} and ${condition}`
    const rows = sql`${subjectSql(resource.name)} where ${context.dialect.isAnyOf(columnSql(subject, 'id'), ids)}`
    const locked = context.dialect.lock.hasOtherWriters ? yield* lockedIds(context, sql`${rows} and ${isMarked}`) : ids
    const changed = locked.length === 0 ? state : yield* change(resource, locked)
    if (changed.phase !== state.phase) return changed
    return next === undefined ? { ...changed, table: table + 1, at: 0 } : { ...changed, table, at: next }
  }
  return 'ended'
}

/** Marked records. */
interface Marked {
  readonly which: Sql | ((resource: Resource) => Sql)
  readonly tables?: readonly Resource[]
}
