/**
 * The job of a deletion of many records: its beginning, the count of its records, its batches, and how it is undone
 * (DEL-8). Each batch is a transaction that also keeps the progress: a job that was killed continues after its last
 * batch and does nothing twice (JOB-3). The phases:
 *
 * take:  deletes the records of a deletion by filter; other deletions have done that when they began
 * mark:  deletes the children of what is deleted, downwards; until then everything can be undone
 * clear: sets references with `clear` to what is deleted to null
 * erase: removes the rows of resources that are not kept after deletion
 * tidy:  removes the job's queue
 */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { timestamp } from '../../../model/time.ts'
import type { BulkDelete, Delete, DeleteMatching, Outcome } from '../../../plan/plan.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { JobStep } from '../../storage.ts'
import { firstRow, ignoringRows, type Row, type Transaction } from '../../transaction.ts'
import { countRemoved, type Moves, noteMove, tick, tickAll } from '../rows/clock.ts'
import { addJob, advanceJob, finishJob, type JobProgress, stateOf } from '../rows/job-rows.ts'
import { cascadeReach, cascadesOf, lockAllRulesBelow, resourceOf } from '../rows/other-records.ts'
import {
  type Closure,
  clearReferences,
  deletableAmong,
  liveRows,
  lockedIds,
  markDeleted,
  remainingSql,
  removeRows,
  sizeOf,
} from './cascade.ts'

/** The state that the job of a deletion keeps between its batches. */
interface DeletionState {
  /** The collection of the records that were asked for. */
  readonly collection: string
  readonly deletedAt: string
  /** The record that was asked for, if it was one; else none. */
  readonly ids: readonly string[]
  readonly phase: 'take' | 'mark' | 'clear' | 'erase' | 'tidy'
  /** The row after which the phase continues: of the queue, or of the table that the phase scans. */
  readonly at: number
  /** The index of the table that the phase scans. */
  readonly table?: number
  /** How many of the records that were asked for are deleted. */
  readonly taken: number
  /** How many of them were not deleted, because something blocked it by then. */
  readonly left?: number
  /** How many records are deleted, children included. */
  readonly done: number
  /** How many records will be deleted; `null`: not counted yet. */
  readonly total: number | null
  /**
   * How many records were asked for, if the caller may not read everything that is deleted with them: then the job
   * shows these records only (AUT-9).
   */
  readonly asked?: number
}

/** The state of a deletion's job, locked; `undefined`: the job is finished. */
export function lockedState({ engine }: SqlContext, job: string): Transaction<DeletionState | undefined> {
  return stateOf(job, engine.lock.update)
}

/** The progress of a deletion, as far as the caller who began it may see it. */
function shownProgress({ done, total, taken, asked }: DeletionState): JobProgress {
  return asked === undefined ? { done, total } : { done: taken, total: asked }
}

/** The resources whose records a deletion can delete: none if the declaration no longer has its collection. */
function reachedBy({ catalog }: SqlContext, { collection }: DeletionState): readonly Resource[] {
  const resource = catalog.resources.get(collection)
  return resource === undefined ? [] : cascadeReach(catalog, resource)
}

/** Begins the job: deletes the records that were asked for; their children follow. */
export function* beginDeletion(
  context: SqlContext,
  plan: Delete | BulkDelete,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const deletedAt = timestamp(now)
  const which = context.engine.isAnyOf(raw('id'), ids)
  const { length } = yield* markDeleted(resource.name, which, deletion, deletedAt)
  yield tick(context, resource.name, -length, length)
  yield* enqueue(context, deletion, resource, which)
  if (closure !== undefined) yield* claimRows(context, deletion, closure)
  return yield* addDeletion(context, plan, ids.length, {
    ...{ collection: resource.name, deletedAt, ids: plan.kind === 'delete' ? ids : [], phase: 'mark', at: 0 },
    ...{ taken: ids.length, done: ids.length, total: closure === undefined ? null : sizeOf(closure) },
  })
}

/** Begins the job of a deletion by filter. Its records are settled now, and deleted before the request is answered. */
export function* beginFilteredDeletion(
  context: SqlContext,
  plan: DeleteMatching,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  yield enqueueSql(deletion, resource, context.engine.isAnyOf(raw('id'), ids))
  return yield* addDeletion(context, plan, ids.length, {
    ...{ collection: resource.name, deletedAt: timestamp(now), ids: [], phase: 'take', at: 0 },
    ...{ taken: 0, left: 0, done: 0, total: closure === undefined ? null : sizeOf(closure) },
  })
}

function* addDeletion(
  context: SqlContext,
  { kind, resource, readable, deletion, statusUrl, caller, now }: Delete | BulkDelete | DeleteMatching,
  asked: number,
  found: DeletionState,
): Transaction<Outcome> {
  const mayReadAll = cascadeReach(context.catalog, resource).every(({ name }) => readable.get(name)?.kind === 'always')
  // A known total is not counted again.
  const state: DeletionState = mayReadAll ? found : { ...found, asked, total: asked }
  const progress = { done: state.done, total: state.total }
  const jobKind = jobKinds[kind]
  yield* addJob(context, {
    ...{ id: deletion, kind: jobKind, task: 'deletion', statusUrl, startedBy: caller.id, progress, state, now },
  })
  return { kind: 'accepted', job: deletion, statusUrl }
}

const jobKinds = { delete: 'deletion', 'bulk-delete': 'bulk-deletion', 'delete-matching': 'filtered-deletion' } as const

/** Puts rows into the queue of a job, if other records can depend on them. */
function* enqueue({ catalog }: SqlContext, job: string, resource: Resource, which: Sql): Transaction<void> {
  const { name, dependents } = resource
  if (cascadesOf(catalog, name).length === 0 && !dependents.some(({ onDelete }) => onDelete === 'clear')) return
  yield ignoringRows(enqueueSql(job, resource, which))
}

function enqueueSql(job: string, { name }: Resource, which: Sql): Sql {
  const rows = sql`select ${job}, ${name}, id from ${tableSql(name)} where ${which}`
  return sql`insert into resourced_queue (job, collection, record) ${rows}`
}

/**
 * Claims live records that the job will delete and that others may refer to by `restrict`, in the transaction that has
 * found no blocker: the records carry the job's id before they are deleted (`unclaimed`).
 */
function* claimRows({ catalog, engine }: SqlContext, job: string, closure: Closure): Transaction<void> {
  // With a single writer every transaction sees the jobs that run.
  if (!engine.lock.hasOtherWriters) return
  for (const [collection, ids] of closure) {
    if (!resourceOf(catalog, collection).dependents.some(({ onDelete }) => onDelete === 'restrict')) continue
    const which = engine.isAnyOf(raw('id'), [...ids])
    yield sql`update ${tableSql(collection)} set _deletion = ${job} where ${which} and deleted_at is null`
  }
}

/**
 * Undoes a job that cannot go on, in one transaction, if nothing was cleared or removed yet. Returns whether it was
 * undone.
 *
 * @throws Error of the engine if a unique value was taken meanwhile; nothing is undone then
 */
export function* undoDeletion(
  context: SqlContext,
  job: string,
  error: Readonly<Record<string, unknown>>,
  now: number,
): Transaction<boolean> {
  const state = yield* lockedState(context, job)
  if (state === undefined || (state.phase !== 'take' && state.phase !== 'mark')) return false
  yield* lockAllRulesBelow(context, state.collection)
  for (const { name } of reachedBy(context, state)) {
    const table = tableSql(name)
    if (context.engine.lock.hasOtherWriters) {
      yield sql`update ${table} set _deletion = null where _deletion = ${job} and deleted_at is null`
    }
    const live = sql`deleted_at = null, _deletion = null, _revision = _revision + 1`
    const back = yield sql`update ${table} set ${live} where _deletion = ${job} returning id`
    if (back.length > 0) yield tick(context, name, back.length, -back.length)
  }
  yield sql`delete from resourced_queue where job = ${job}`
  yield* finishJob(context, job, { status: 'failed', progress: { ...shownProgress(state), done: 0 }, error }, now)
  return true
}

/** The most ids that are held in memory while records are counted: beyond that the total stays unknown. */
const mostHeld = 500_000

/** The most records whose children one statement counts. */
const mostCountedParents = 500

/**
 * Counts the records that a deletion which has just begun will delete; `undefined`: the number is known, or too large
 * for memory.
 */
export function* countDeletion(context: SqlContext, job: string): Transaction<number | undefined> {
  const state = yield* stateOf<DeletionState>(job)
  if (state === undefined || state.total !== null) return undefined
  const { catalog, engine } = context
  const held = new Map<string, Set<string>>()
  const roots = yield sql`select collection, record from resourced_queue where job = ${job} limit ${mostHeld}`
  const frontier: [string, string[]][] = [[state.collection, roots.map((row) => String(row['record']))]]
  let count = roots.length
  let room = mostHeld - count
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      const fresh: string[] = []
      for (let at = 0; at < ids.length; at += mostCountedParents) {
        const refers = engine.isAnyOf(columnSql(subject, field), ids.slice(at, at + mostCountedParents))
        if (isLeaf(catalog, state.collection, from)) {
          const row = yield* firstRow(sql`select count(*) as count from ${liveRows(from)} and ${refers}`)
          count += Number(row?.['count'])
          continue
        }
        const known = held.get(from) ?? new Set()
        held.set(from, known)
        const rows = yield sql`select id from ${liveRows(from)} and ${refers} limit ${room + 1}`
        for (const row of rows) {
          const id = String(row['id'])
          if (known.has(id)) continue
          known.add(id)
          fresh.push(id)
        }
        room = mostHeld - roots.length - sizeOf(held)
        if (room < 0) return undefined
      }
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count
}

/** Whether records of a collection have no children and a single kind of parent: then none of them is met twice. */
function isLeaf(catalog: Catalog, root: string, collection: string): boolean {
  if (cascadesOf(catalog, collection).length > 0) return false
  const reached = cascadeReach(catalog, resourceOf(catalog, root))
  const references = reached.flatMap(({ name }) => cascadesOf(catalog, name))
  return references.filter((each) => each.collection === collection).length === 1
}

/** The most records that one batch deletes: other writers wait for it. */
const batch = 100

/** The most records whose children one batch searches for. */
const mostParents = 100

const phases = ['take', 'mark', 'clear', 'erase', 'tidy'] as const

/** Runs the next batch of a job. */
export function* stepDeletion(context: SqlContext, job: string, now: number): Transaction<JobStep> {
  const state = yield* lockedState(context, job)
  if (state === undefined) return 'elsewhere'
  yield* lockAllRulesBelow(context, state.collection)
  const next = yield* runBatch(context, job, state)
  const ended = next === 'ended'
  if (ended && state.phase === 'tidy') {
    const { done, taken, left, ids, deletedAt } = state
    const what =
      ids.length === 0 ? { deleted_count: taken, ...(left !== undefined && { left_count: left }) } : { id: ids[0] }
    const affected = state.asked === undefined ? done : taken
    const result = { ...what, deleted_at: deletedAt, affected_count: affected }
    const progress = { done: affected, total: affected }
    yield* finishJob(context, job, { status: 'succeeded', progress, result }, now)
    return 'finished'
  }
  const kept = ended ? { ...state, phase: after(state.phase), at: 0, table: 0 } : next
  yield* advanceJob(context, job, { state: kept, progress: shownProgress(kept), now })
  return 'more'
}

/** The state after one batch; `ended`: the phase has nothing more to do. */
function runBatch(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  switch (state.phase) {
    case 'take':
      return take(context, job, state)
    case 'mark':
      return markUnder(context, job, state)
    case 'clear':
      return clearAway(context, job, state)
    case 'erase':
      return eraseMarked(context, job, state)
    case 'tidy':
      return tidy(job, state)
  }
}

function after(phase: DeletionState['phase']): DeletionState['phase'] {
  return phases[phases.indexOf(phase) + 1] ?? 'tidy'
}

function* take(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const entries = yield sql`select _row, record from ${queueSql(job, state, batch)}`
  const last = entries.at(-1)
  if (last === undefined) return 'ended'
  const { collection, deletedAt, left = 0 } = state
  const ids = entries.map((entry) => String(entry['record']))
  const { isAnyOf } = context.engine
  const live = yield* lockedIds(context, sql`${liveRows(collection)} and ${isAnyOf(columnSql(subject, 'id'), ids)}`)
  // Nothing blocked them when the job began. A record that something blocks by now stays.
  const { deletable, closure } = yield* deletableAmong(context, resourceOf(context.catalog, collection), live)
  const taken = new Set(yield* markDeleted(collection, isAnyOf(raw('id'), deletable), job, deletedAt))
  if (taken.size > 0) yield tick(context, collection, -taken.size, taken.size)
  yield* claimRows(context, job, closure)
  const others = ids.filter((id) => !taken.has(id))
  if (others.length > 0) {
    yield sql`delete from resourced_queue where job = ${job} and ${isAnyOf(raw('record'), others)}`
  }
  return {
    ...state,
    at: Number(last['_row']),
    taken: state.taken + taken.size,
    left: left + live.length - deletable.length,
    done: state.done + taken.size,
  }
}

function* markUnder(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const entries = yield sql`select _row, collection, record from ${queueSql(job, state, mostParents)}`
  const [first] = entries
  if (first === undefined) return 'ended'
  const collection = String(first['collection'])
  const alike = runOf(entries, collection)
  const parents = alike.map((entry) => String(entry['record']))
  const { isAnyOf } = context.engine
  const moves: Moves = new Map()
  let left = batch
  for (const { collection: from, field } of cascadesOf(context.catalog, collection)) {
    const refers = isAnyOf(columnSql(subject, field), parents)
    const ids = yield* lockedIds(context, sql`${liveRows(from)} and ${refers}`, left)
    if (ids.length === 0) continue
    yield* markDeleted(from, isAnyOf(raw('id'), ids), job, state.deletedAt)
    noteMove(moves, from, -ids.length, ids.length)
    yield* enqueue(context, job, resourceOf(context.catalog, from), isAnyOf(raw('id'), ids))
    left -= ids.length
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  // They may have more children. The next batch asks again and finds those that are still live.
  if (left === 0) return { ...state, done: state.done + batch }
  return { ...state, at: Number(alike.at(-1)?.['_row']), done: state.done + batch - left }
}

function queueSql(job: string, { at }: DeletionState, most: number): Sql {
  return sql`resourced_queue where job = ${job} and _row > ${at} order by _row limit ${most}`
}

/** The first rows of the queue that are of one collection. */
function runOf(entries: readonly Row[], collection: string): readonly Row[] {
  const end = entries.findIndex((entry) => entry['collection'] !== collection)
  return end === -1 ? entries : entries.slice(0, end)
}

function* clearAway(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const clears = ({ dependents }: Resource) => dependents.filter(({ onDelete }) => onDelete === 'clear')
  const targets = reachedBy(context, state).filter((resource) => clears(resource).length > 0)
  const { table = 0 } = state
  const target = targets[table]
  if (target === undefined) return 'ended'
  const rows = yield* markedRows(target, job, state.at)
  const last = rows.at(-1)
  if (last === undefined) return { ...state, table: table + 1, at: 0 }
  const ids = rows.map((row) => String(row['id']))
  const moves: Moves = new Map()
  let left = batch
  for (const dependent of clears(target)) {
    const remaining = remainingSql(context, dependent, ids)
    const count = yield* clearReferences(context, dependent, remaining, { at: state.deletedAt, most: left })
    if (count > 0) noteMove(moves, dependent.collection, 0, 0)
    left -= count
    if (left === 0) break
  }
  yield* tickAll(context, moves)
  if (left === 0) return state
  return { ...state, at: Number(last['_row']) }
}

function* eraseMarked(context: SqlContext, job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const hard = reachedBy(context, state).filter(({ deletion }) => deletion.variant === 'hard')
  const { table = 0 } = state
  const resource = hard[table]
  if (resource === undefined) return 'ended'
  const rows = yield* markedRows(resource, job, 0)
  if (rows.length === 0) return { ...state, table: table + 1 }
  yield* removeRows(
    context,
    resource,
    rows.map((row) => String(row['id'])),
  )
  yield countRemoved(context, resource.name, rows.length)
  return state
}

function* tidy(job: string, state: DeletionState): Transaction<DeletionState | 'ended'> {
  const first = sql`select _row from resourced_queue where job = ${job} order by _row limit ${batch}`
  const gone = yield sql`delete from resourced_queue where _row in (${first}) returning _row`
  return gone.length === 0 ? 'ended' : state
}

function* markedRows({ name }: Resource, job: string, at: number): Transaction<readonly Row[]> {
  const isMarked = sql`_deletion = ${job} and deleted_at is not null and _row > ${at}`
  return yield sql`select _row, id from ${tableSql(name)} where ${isMarked} order by _row limit ${batch}`
}
