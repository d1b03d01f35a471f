/**
 * The windows of a deletion or restoration of many records. A window is one transaction, and changes a number of
 * records, because other writers wait meanwhile:
 *
 * - `collect` marks the records. A deletion looks for matches of its filter, then downwards below what it has marked.
 *   Nobody can refer to a marked record, so a record whose children were looked for gets no more of them.
 * - `flip` deletes the marked records or makes them live, or undoes that.
 * - `settle` follows a deletion: it clears references to the records, and removes rows.
 * - `free` removes the marks of live records.
 */

import type { CallerView } from 'resourced-contract/model/declared-functions'
import type { Resource } from 'resourced-contract/model/resource'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type Issue, problemType } from 'resourced-contract/spec/faults'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { retainedSince } from '../../../plan/check-record.ts'
import { type Moves, noteMove } from '../../sql/batch.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { liveSql } from '../../sql/predicate.ts'
import { firstRow, type Row, type Transaction } from '../../transaction.ts'
import { countRemoved, tickAll, tickOne } from '../rows/clock.ts'
import { eraseStates } from '../rows/erase-states.ts'
import { lockHolders } from '../rows/lock-operations.ts'
import { cascadesOf, isMarkOfChange } from '../rows/other-records.ts'
import { isLive, objections, stateBlockers } from './blockers.ts'
import {
  amongSql,
  clearReferences,
  liveRows,
  lockedIds,
  markDeleted,
  remainingSql,
  removeRows,
  revive,
  setOf,
} from './cascade.ts'
import { nextMatches, rowsForEach, takeTurn } from './matching.ts'
import {
  enqueue,
  lastQueued,
  mark,
  markOf,
  nextQueued,
  queuesOf,
  type Restoration,
  reachedBy,
  type Selection,
  setMark,
  undoing,
  type WorkState,
} from './work-list.ts'

/** A window: the work, its state, and how many records to change. */
export interface Window {
  readonly job: string
  readonly state: WorkState
  readonly size: number
}

/** The state after a window; `ended`: the phase has nothing more to do. */
export type After = Transaction<WorkState | 'ended'>

/**
 * Marks the next records that match. Those that another deletion has marked are none of this deletion. A change waits
 * for nobody, and nobody takes what a change has marked.
 */
function* collectMatching(context: SqlContext, { job, state, size }: Window, selection: Selection): After {
  const resource = context.catalog.resources.get(state.collection)
  if (resource === undefined) return 'ended'
  const { isAnyOf, lock } = context.dialect
  yield* takeTurn(context, resource)
  // By the ids alone: without statistics PostgreSQL would go through an index of the filter, once for each window.
  const matches = context.dialect.unindexed(liveSql({ ...context, locksReferenced: true }, resource, selection.filter))
  let { ids, at } = yield* nextMatches(context, resource, selection, size)
  let rows: readonly Row[] = []
  // As `lockMatches`: until all that match are locked.
  for (let locked = new Set<unknown>(); ids.some((id) => !locked.has(id)); ) {
    const among = sql`${subjectSql(resource.name)} where ${isAnyOf(columnSql(subject, 'id'), ids)} and ${matches}`
    rows = yield sql`select id, _deletion from ${among}${lock.orderById}${lock.update}`
    if (!lock.hasOtherWriters) break
    locked = new Set(rows.map(({ id }) => id))
    ;({ ids, at } = yield* nextMatches(context, resource, selection, size))
  }
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

/**
 * Marks the next records that match, then the next children of what is marked: of several parents, if all of their
 * children fit into the window, else of one parent in the order of their ids, which its index has.
 */
export function* collectLive(context: SqlContext, window: Window): After {
  const { job, state, size } = window
  const { at, below, change, selection } = state
  if (selection !== undefined) return yield* collectMatching(context, window, selection)
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
export function* collectDeleted(context: SqlContext, window: Window): After {
  const { job, state } = window
  const { deletion, now } = state.restoration as Restoration
  const which = (resource: Resource) => {
    const isRetained = sql`${columnSql(subject, 'deleted_at')} > ${retainedSince(resource, now)}`
    return sql`${isRetained} and ${belowSql(context, resource, (parent) => sql`${parent}._deletion = ${job}`)}`
  }
  const tables = reachedBy(context, state).filter((each) => each.deletion.variant === 'soft')
  const next = yield* eachMarked(context, window, { mark: deletion, which, tables }, function* ({ name }, ids) {
    yield* setMark(context, name, ids, job)
    return { ...state, total: state.total + ids.length }
  })
  return repeated(state, next)
}

const isDeleted = sql`${columnSql(subject, 'deleted_at')} is not null`

/** The index of a table that stands for the records that were asked for, which are deleted first. */
export const asked = -1

/**
 * Flips the next records, or flips them back. A deletion begins with the records that were asked for, and a restoration
 * ends with the one that was asked for.
 */
export function* flip(context: SqlContext, window: Window): After {
  const { job, state } = window
  const { restoration, left, phase } = state
  const isForward = phase === 'flip'
  if (isForward && state.table === asked) return yield* deleteAsked(context, window)
  const revives = (restoration !== undefined) === isForward
  const isOpen = revives ? isDeleted : isLive
  const isGone = (parent: Sql) => sql`${parent}._deletion = ${job} and ${parent}.deleted_at is not null`
  const which = (resource: Resource) => {
    if (!isForward) return isOpen
    if (restoration !== undefined) return sql`${isOpen} and ${columnSql(subject, 'id')} <> ${restoration.root}`
    // If a record that was asked for stays, so does what is below it alone.
    return left ? sql`${isOpen} and ${belowSql(context, resource, isGone)}` : isOpen
  }
  const change = (resource: Resource, ids: readonly string[]) =>
    revives ? setLive(context, window, resource, ids) : setDeleted(context, window, resource, ids)
  const next = yield* eachMarked(context, window, { which }, change)
  if (isForward && left) return repeated(state, next)
  if (next !== 'ended' || !isForward || restoration === undefined || state.taken > 0) return next
  const resource = context.catalog.resources.get(state.collection)
  if (resource === undefined) return next
  const restored = yield* setLive(context, window, resource, [restoration.root])
  return restored.phase === 'flip' ? { ...restored, taken: 1 } : restored
}

/** Deletes the next records that were asked for, except those that a rule refuses by now. */
function* deleteAsked(context: SqlContext, window: Window): After {
  const { job, state, size } = window
  const { collection, caller, left = 0 } = state
  const resource = context.catalog.resources.get(collection)
  if (resource === undefined) return 'ended'
  const rows = yield* nextQueued(job, { at: state.at, size, last: state.roots })
  const last = Number(rows.at(-1)?.['_row'] ?? state.roots)
  const { isAnyOf, lock, unindexed } = context.dialect
  const ids = rows.map(({ record }) => String(record))
  const among = isAnyOf(columnSql(subject, 'id'), ids)
  yield* lockHolders(context, [{ resource, which: among }])
  // By the ids alone: SQLite would go through all records with the mark, once for each window.
  const marked = sql`${subjectSql(collection)} where ${among} and ${unindexed(sql`_deletion = ${job}`)}`
  const found = yield sql`select id, deleted_at from ${marked}${lock.orderById}${lock.update}`
  const live = found.filter((row) => row['deleted_at'] === null).map(({ id }) => String(id))
  const plan = { caller: caller as CallerView, now: Date.parse(state.deletedAt) }
  const ruled = { resource, among: isAnyOf(columnSql(subject, 'id'), live), trigger: 'delete', kind: 'unless' } as const
  const blockers = caller === undefined ? [] : yield* objections(context, plan, ruled)
  const refused = [...new Set(blockers.map(({ id }) => id))]
  if (refused.length > 0) yield* setMark(context, collection, refused, null)
  const flipped = yield* setDeleted(context, window, resource, [...new Set(live).difference(new Set(refused))])
  const taken = state.taken + found.length - refused.length
  const next = last < state.roots ? { at: last } : { at: 0, table: 0 }
  return { ...flipped, ...next, taken, ...(caller && { left: left + refused.length }) }
}

/** Deletes locked records. */
function* setDeleted(
  context: SqlContext,
  { job, state }: Window,
  { name }: Resource,
  ids: readonly string[],
): Transaction<WorkState> {
  if (ids.length === 0) return state
  yield* markDeleted(context, name, ids, { mark: markOf(job, state), at: state.deletedAt })
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
    blockers.push(...(yield* objections(context, asked, { resource, among, trigger: 'restore', kind: 'unless' })))
  }
  const [blocker] = blockers
  if (blocker !== undefined) return turned(state, blocker.issue)
  yield* revive(context, name, ids, { mark, updatedAt: restoration?.updatedAt })
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

/**
 * Sets references with `clear` to the next deleted records to null, and removes the rows of resources that are not kept
 * after deletion.
 */
export function settle(context: SqlContext, window: Window): After {
  const { state, size } = window
  const isHard = ({ deletion }: Resource) => deletion.variant === 'hard'
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const tables = reachedBy(context, state).filter((each) => isHard(each) || clears(each).length > 0)
  return eachMarked(context, window, { which: () => isDeleted, tables }, function* (resource, ids) {
    const moves: Moves = new Map()
    const records = setOf(context, new Map([[resource.name, new Set(ids)]]))
    let left = size
    for (const dependent of clears(resource)) {
      const rows = remainingSql(dependent, resource.name, records)
      const count = yield* clearReferences(context, dependent, rows, { at: state.deletedAt, most: left })
      if (count > 0) noteMove(moves, dependent.collection, { live: 0, deleted: 0 })
      left -= count
      if (left === 0) break
    }
    yield* tickAll(context, moves)
    // They may have more references, or more former states.
    if (moves.size > 0) return 'again'
    if (!isHard(resource)) return state
    if (yield* eraseStates(context, resource, ids)) return 'again'
    yield* removeRows(context, resource, ids)
    yield countRemoved(context, resource.name, ids.length)
    return state
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
  const which = () => (restoration === undefined ? ofDeletion : sql`1 = 1`)
  // The declaration may have changed: then other collections have records that were below.
  const tables = [...context.catalog.resources.values()]
  const former =
    restoration === undefined ? sql`null` : sql`case when deleted_at is not null then ${restoration.deletion} end`
  const next = yield* eachMarked(context, window, { which, tables }, function* ({ name }, ids) {
    yield* setMark(context, name, ids, former)
    return state
  })
  if (next !== 'ended') return next
  const queued = context.dialect.isAnyOf(raw('job'), queuesOf(job))
  const rest = sql`${queued} and _row > ${yields ? state.roots : 0}`
  const first = sql`select _row from resourced_queue where ${rest} limit ${size}`
  return (yield sql`delete from resourced_queue where _row in (${first}) returning _row`).length > 0 ? state : 'ended'
}

/** Marked records. */
interface Marked {
  /** The mark; left out: that of the work. */
  readonly mark?: string
  /** The condition on a row of the subject. */
  readonly which: (resource: Resource) => Sql
  /** Left out: all that the work can be about. */
  readonly tables?: readonly Resource[]
}

/**
 * Changes the next marked records, table by table.
 *
 * @param change returns the state after it; `again`: the next window continues with the same records
 */
function* eachMarked(
  context: SqlContext,
  { job, state, size }: Window,
  { mark = markOf(job, state), which, tables = reachedBy(context, state) }: Marked,
  change: (resource: Resource, ids: readonly string[]) => Transaction<WorkState | 'again'>,
): After {
  let { table, at } = state
  for (let resource = tables[table]; resource !== undefined; resource = tables[++table], at = 0) {
    const condition = which(resource)
    const { ids, next } = yield* nextMarked(resource, mark, condition, { at, size })
    if (ids.length === 0 && next === undefined) continue
    // Another deletion may have come to them.
    const isMarked = sql`${columnSql(subject, '_deletion')} = ${mark} and ${condition}`
    const among = context.dialect.isAnyOf(columnSql(subject, 'id'), ids)
    yield* lockHolders(context, [{ resource, which: among }])
    const rows = sql`${subjectSql(resource.name)} where ${among}`
    const locked = context.dialect.lock.hasOtherWriters ? yield* lockedIds(context, sql`${rows} and ${isMarked}`) : ids
    const changed = locked.length === 0 ? state : yield* change(resource, locked)
    if (changed === 'again') return { ...state, table, at }
    if (changed.phase !== state.phase) return changed
    return next === undefined ? { ...changed, table: table + 1, at: 0 } : { ...changed, table, at: next }
  }
  return 'ended'
}

/** The next records of a table that have a mark, and where the following window begins; `undefined`: nowhere. */
function* nextMarked(
  { name }: Resource,
  mark: string,
  which: Sql,
  { at, size }: { readonly at: number; readonly size: number },
): Transaction<{ readonly ids: readonly string[]; readonly next: number | undefined }> {
  const [row, marked] = [columnSql(subject, '_row'), columnSql(subject, '_deletion')]
  const rows = sql`${subjectSql(name)} where ${marked} = ${mark} and ${row} > ${at}`
  const end = yield* firstRow(sql`select _row from ${rows} order by ${row} limit 1 offset ${size * rowsForEach}`)
  const last = end === undefined ? raw('') : sql` and ${row} <= ${Number(end['_row'])}`
  const found = yield sql`select _row, id from ${rows}${last} and ${which} order by ${row} limit ${size}`
  const next = found.length < size ? end?.['_row'] : found.at(-1)?.['_row']
  return { ids: found.map(({ id }) => String(id)), next: next === undefined ? undefined : Number(next) }
}

/**
 * Goes over the tables until a pass finds nothing: what a window finds may be above records that it has gone by.
 *
 * @param next what a window of a pass has done
 */
function repeated(state: WorkState, next: WorkState | 'ended'): WorkState | 'ended' {
  if (next === 'ended') return state.hasFound ? { ...state, table: 0, at: 0, hasFound: false } : 'ended'
  return { ...next, hasFound: state.hasFound === true || next.total > state.total || next.done > state.done }
}

/** A condition on records: one that they depend on by `cascade` fulfils a condition. */
function belowSql({ catalog }: SqlContext, { name }: Resource, which: (parent: Sql) => Sql): Sql {
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
