/**
 * What a deletion does to rows (DEL-5): it marks records as deleted, or removes the rows of a resource that is declared
 * so, and clears references with `clear`. A deletion at once does all of it in one transaction, a job in batches.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../../model/resource.ts'
import { timestamp } from '../../../model/time.ts'
import type { Removal } from '../../../plan/plan.ts'
import { columnSql, subject, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { type Moves, noteMove, tickAll } from '../rows/clock.ts'
import { resourceOf } from '../rows/dependents.ts'
import { type Closure, liveRows } from './cascade.ts'

/** A reference to a collection: the field by which records of another one refer to it. */
export type Reference = Pick<Resource['dependents'][number], 'collection' | 'field'>

/** Deletes a closure in this transaction. */
export function* deleteClosure(
  context: SqlContext,
  { deletion, now }: Pick<Removal, 'deletion' | 'now'>,
  closure: Closure,
): Transaction<void> {
  const at = timestamp(now)
  const moves: Moves = new Map()
  for (const [collection, ids] of closure) {
    for (const dependent of resourceOf(context.catalog, collection).dependents) {
      if (dependent.onDelete !== 'clear') continue
      const count = yield* clearReferences(context, dependent, remainingSql(context, dependent, ids, closure), { at })
      if (count > 0) noteMove(moves, dependent.collection, 0, 0)
    }
  }
  for (const [collection, ids] of closure) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    if (resource.deletion.variant === 'soft') {
      yield* markDeleted(collection, context.engine.isAnyOf(raw('id'), [...ids]), deletion, at)
      noteMove(moves, collection, -ids.size, ids.size)
    } else {
      yield* removeRows(context, resource, [...ids])
      noteMove(moves, collection, -ids.size, 0)
    }
  }
  yield* tickAll(context, moves)
}

/** The live records that refer to one of some ids and are not deleted themselves. */
export function remainingSql(
  { engine }: SqlContext,
  { collection, field }: Reference,
  ids: Iterable<string>,
  closure?: Closure,
): Sql {
  const refers = engine.isAnyOf(columnSql(subject, field), [...ids])
  const deleted = closure?.get(collection)
  if (deleted === undefined || deleted.size === 0) return sql`${liveRows(collection)} and ${refers}`
  return sql`${liveRows(collection)} and ${refers} and not (${engine.isAnyOf(columnSql(subject, 'id'), [...deleted])})`
}

/** Sets references of rows to null and returns the number of rows. The caller moves the clock. */
export function* clearReferences(
  context: SqlContext,
  { collection, field }: Reference,
  rows: Sql,
  { at, most }: { readonly at: string; readonly most?: number },
): Transaction<number> {
  const ids = yield* lockedIds(context, rows, most)
  if (ids.length > 0) {
    yield sql`update ${tableSql(collection)} set ${raw(`"${field}"`)} = null, updated_at = ${at}, _revision = _revision + 1 where ${context.engine.isAnyOf(raw('id'), ids)}`
  }
  return ids.length
}

/**
 * Locks rows and returns their ids. An update that chose its rows itself would see a row that it had to wait for as it
 * was before, and would change the row whatever it is now.
 *
 * @param most of very many rows, lock and read this many, in no order
 */
export function* lockedIds({ engine }: SqlContext, rows: Sql, most?: number): Transaction<string[]> {
  const { orderById, update } = engine.lock
  const which = most === undefined ? orderById : sql` limit ${most}`
  return (yield sql`select id from ${rows}${which}${update}`).map((row) => String(row['id']))
}

/**
 * Locks records that are to be deleted, and those of their own collection that are deleted or changed with them, all in
 * one order. Otherwise two deletions that meet would each lock their own records first, and deadlock.
 */
export function* lockRows(context: SqlContext, { name, dependents }: Resource, ids: readonly string[]) {
  const { isAnyOf, lock } = context.engine
  const own = dependents.filter(({ collection, onDelete }) => collection === name && onDelete !== 'restrict')
  if (!lock.hasOtherWriters || own.length === 0) return
  const among = ['id', ...own.map(({ field }) => field)].map((field) => isAnyOf(columnSql(subject, field), ids))
  yield* lockedIds(context, sql`${liveRows(name)} and (${join(among, ' or ')})`)
}

/** Marks locked live rows as deleted by a deletion and returns their ids. The caller moves the clock. */
export function* markDeleted(collection: string, which: Sql, deletion: string, at: string): Transaction<string[]> {
  const rows =
    yield sql`update ${tableSql(collection)} set deleted_at = ${at}, _deletion = ${deletion}, _revision = _revision + 1 where ${which} returning id`
  return rows.map((row) => String(row['id']))
}

/** Removes rows from their table, and their words from search. The caller moves the clock. */
export function* removeRows({ engine }: Pick<SqlContext, 'engine'>, resource: Resource, ids: readonly string[]) {
  const { name, fields } = resource
  if (fields.some((field) => field.search)) yield* engine.deleteWords(name, ids)
  yield ignoringRows(sql`delete from ${tableSql(name)} where ${engine.isAnyOf(raw('id'), ids)}`)
}
