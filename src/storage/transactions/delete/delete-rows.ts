/** Making a deletion that nothing stands against: at once, or as the beginning of a job (DEL-5, DEL-8). */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import type { Resource } from '../../../model/resource.ts'
import type { JobKind } from '../../../model/system-resources.ts'
import type { Outcome, Removal } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { type Moves, noteMove, tick, tickAll } from '../rows/clock.ts'
import { cascadesOf, isForElsewhere, type Large, large, lookedAtOnce, reachOf, resourceOf } from '../rows/dependents.ts'
import { addJob } from '../rows/job-rows.ts'
import { canBeBlocked, stayingSql } from './blockers.ts'
import { type Closure, closureOf, liveRows, sizeOf } from './cascade.ts'
import { announce, type DeletionState } from './deletion-job.ts'

/** Deletes a closure in this very transaction. */
export function* removeClosure(
  context: SqlContext,
  { deletion, now }: Pick<Removal, 'deletion' | 'now'>,
  closure: Closure,
): Transaction<void> {
  const at = timestamp(now)
  const moves: Moves = new Map()
  for (const [collection, ids] of closure) {
    for (const { collection: from, field, onDelete } of resourceOf(context.catalog, collection).dependents) {
      if (onDelete !== 'clear') continue
      const count = yield* clear(context, from, field, stayingSql(context, from, field, ids, closure), at)
      if (count > 0) noteMove(moves, from, 0, 0)
    }
  }
  for (const [collection, ids] of closure) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    if (resource.deletion.variant === 'soft') {
      yield* mark(collection, context.engine.isAnyOf(raw('id'), [...ids]), deletion, at)
      noteMove(moves, collection, -ids.size, ids.size)
    } else {
      yield* erase(context, resource, [...ids])
      noteMove(moves, collection, -ids.size, 0)
    }
  }
  yield* tickAll(context, moves)
}

/** Sets references of rows to null; gives their number. The clock is the caller's. */
export function* clear(
  context: SqlContext,
  from: string,
  field: string,
  rows: Sql,
  at: string,
  most?: number,
): Transaction<number> {
  const ids = yield* held(context, rows, most)
  if (ids.length > 0) {
    yield sql`update ${tableSql(from)} set ${raw(`"${field}"`)} = null, updated_at = ${at}, _revision = _revision + 1 where ${context.engine.isAnyOf(raw('id'), ids)}`
  }
  return ids.length
}

/**
 * The ids of rows, which nobody else changes from now on. A change that chose its rows itself would find a row that it had to
 * wait for as it was before, and change it whatever it is now.
 *
 * @param most as many as there are or come free, in no order: of very many, none but these are looked at
 */
export function* held({ engine }: SqlContext, rows: Sql, most?: number): Transaction<string[]> {
  const { orderById, update } = engine.lock
  const which = most === undefined ? orderById : sql` limit ${most}`
  return (yield sql`select id from ${rows}${which}${update}`).map((row) => String(row['id']))
}

/**
 * Holds live records that are to go, and those of their own collection that refer to them and go or change with them, all in
 * one order: two deletions that meet in both do not wait for each other. Otherwise each would hold what it was asked for first.
 */
export function* holdTogether(context: SqlContext, { name, dependents }: Resource, ids: readonly string[]) {
  const { isAnyOf, lock } = context.engine
  const own = dependents.filter(({ collection, onDelete }) => collection === name && onDelete !== 'restrict')
  if (!lock.hasOtherWriters || own.length === 0) return
  const among = ['id', ...own.map(({ field }) => field)].map((field) => isAnyOf(columnSql(subject, field), ids))
  yield* held(context, sql`${liveRows(name)} and (${join(among, ' or ')})`)
}

/** Makes live rows that are held deleted ones, by a deletion; gives their ids. The clock is the caller's. */
export function* mark(collection: string, which: Sql, deletion: string, at: string): Transaction<string[]> {
  const rows =
    yield sql`update ${tableSql(collection)} set deleted_at = ${at}, _deletion = ${deletion}, _revision = _revision + 1 where ${which} returning id`
  return rows.map((row) => String(row['id']))
}

/** Takes rows out of their table, and their words out of search. The clock is the caller's. */
export function* erase({ engine }: Pick<SqlContext, 'engine'>, resource: Resource, ids: readonly string[]) {
  const { name, fields } = resource
  if (fields.some((field) => field.search)) yield* engine.deleteWords(name, ids)
  yield ignoringRows(sql`delete from ${tableSql(name)} where ${engine.isAnyOf(raw('id'), ids)}`)
}

/** What is known of a deletion before it is made. */
export interface Looked {
  /** All that goes; `undefined`: so much that nobody has looked, because nothing can stand against it. */
  readonly closure: Closure | undefined
  /** Whether it is to be a job. */
  readonly isJob: boolean
  readonly issues: readonly Issue[]
}

/** Looks at what goes with records, and at what stands against that. */
export function* lookAt(
  context: SqlContext,
  plan: Removal,
  ids: readonly string[],
  objectionsTo: (closure: Closure) => Transaction<Issue[]>,
): Transaction<Looked | Large> {
  const { resource, above } = plan
  const few = yield* closureOf(context, resource, ids, Math.max(above, lookedAtOnce))
  const mustLook = few !== undefined || canBeBlocked(context.catalog, resource)
  if (few === undefined && mustLook && isForElsewhere(context, resource)) return large
  const closure = few ?? (mustLook ? yield* closureOf(context, resource, ids) : undefined)
  const issues = closure === undefined ? [] : yield* objectionsTo(closure)
  return { closure, isJob: few === undefined || sizeOf(few) > above, issues }
}

/** The same for a number of records that may be very many themselves. */
export function isTooMany(context: SqlContext, { resource, above }: Removal, count: number): Large | undefined {
  return count > Math.max(above, lookedAtOnce) && isForElsewhere(context, resource) ? large : undefined
}

/** Begins the job of a deletion: the records themselves are deleted with it, what hangs under them follows. */
export function* beginDeletion(
  context: SqlContext,
  plan: Removal,
  kind: JobKind,
  ids: readonly string[],
  closure: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const deletedAt = timestamp(now)
  const { length } = yield* mark(resource.name, context.engine.isAnyOf(raw('id'), ids), deletion, deletedAt)
  yield tick(context, resource.name, -length, length)
  yield* enqueue(context, deletion, resource, context.engine.isAnyOf(raw('id'), ids))
  if (closure !== undefined) yield* announce(context, deletion, closure)
  const total = closure === undefined ? null : sizeOf(closure)
  const asked = { collection: resource.name, deletedAt, ids: kind === 'deletion' ? ids : [] }
  yield* addDeletion(context, plan, kind, {
    ...asked,
    phase: 'mark',
    at: 0,
    taken: ids.length,
    done: ids.length,
    total,
    asked: ids.length,
  })
  return { kind: 'accepted', job: deletion, statusUrl: plan.statusUrl }
}

/** Adds the job of a deletion whose first records stand in the queue. */
export function* addDeletion(
  context: SqlContext,
  { resource, readable, deletion, statusUrl, caller, now }: Removal,
  kind: JobKind,
  found: Omit<DeletionState, 'asked'> & { readonly asked: number },
): Transaction<void> {
  const { asked, ...rest } = found
  const isAllShown = reachOf(context.catalog, resource).every(({ name }) => readable.get(name)?.kind === 'always')
  // What is known is not counted again.
  const state: DeletionState = isAllShown ? rest : { ...rest, asked, total: asked }
  const progress = { done: state.done, total: state.total }
  const job = { id: deletion, kind, task: 'deletion', statusUrl, startedBy: caller.id, progress, state, now } as const
  yield* addJob(context, job)
}

/** Puts rows into the queue of a job, where anything can hang on them. */
export function* enqueue(
  { catalog }: SqlContext,
  job: string,
  { name, dependents }: Resource,
  which: Sql,
): Transaction<void> {
  if (cascadesOf(catalog, name).length === 0 && !dependents.some(({ onDelete }) => onDelete === 'clear')) return
  yield ignoringRows(
    sql`insert into resourced_queue (job, collection, record) select ${job}, ${name}, id from ${tableSql(name)} where ${which}`,
  )
}
