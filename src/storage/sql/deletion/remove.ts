/** Making a deletion that nothing stands against: at once, or as the beginning of a job (DEL-5, DEL-8). */
import sql, { raw, type Sql } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import type { Resource } from '../../../model/resource.ts'
import type { JobKind } from '../../../model/system-resources.ts'
import type { Outcome, Removal } from '../../../plan/plan.ts'
import { tick } from '../clock.ts'
import { addJob } from '../jobs/job-rows.ts'
import { type Compiler, tableSql } from '../predicate.ts'
import type { Transaction } from '../transaction.ts'
import { type Closure, cascadesOf, closureOf, resourceOf, sizeOf } from './closure.ts'
import type { DeletionState } from './deletion-state.ts'
import { stayingSql } from './objections.ts'

/** Deletes a closure in this very transaction. */
export function* removeClosure(
  compiler: Compiler,
  { deletion, now }: Pick<Removal, 'deletion' | 'now'>,
  closure: Closure,
): Transaction<void> {
  const at = timestamp(now)
  for (const [collection, ids] of closure) {
    for (const { collection: from, field, onDelete } of resourceOf(compiler.catalog, collection).dependents) {
      if (onDelete === 'clear') yield* clear(from, field, stayingSql(compiler, from, field, ids, closure), at)
    }
  }
  for (const [collection, ids] of closure) {
    if (ids.size === 0) continue
    const resource = resourceOf(compiler.catalog, collection)
    if (resource.deletion.variant === 'soft') {
      yield* mark(collection, compiler.expressions.isAmong(raw('id'), [...ids]), deletion, at)
    } else {
      yield* erase(compiler, resource, [...ids])
      yield tick(collection, -ids.size, 0)
    }
  }
}

/** Sets references of rows to null; gives their number. */
export function* clear(from: string, field: string, rows: Sql, at: string, most?: number): Transaction<number> {
  const limit = most === undefined ? raw('') : sql` limit ${most}`
  const cleared =
    yield sql`update ${tableSql(from)} set ${raw(`"${field}"`)} = null, updated_at = ${at}, _revision = _revision + 1 where id in (select id from ${rows}${limit}) returning id`
  if (cleared.length > 0) yield tick(from, 0, 0)
  return cleared.length
}

/** Makes live rows deleted ones, by a deletion; gives their ids. */
export function* mark(collection: string, which: Sql, deletion: string, at: string): Transaction<string[]> {
  const rows =
    yield sql`update ${tableSql(collection)} set deleted_at = ${at}, _deletion = ${deletion}, _revision = _revision + 1 where ${which} returning id`
  if (rows.length > 0) yield tick(collection, -rows.length, rows.length)
  return rows.map((row) => String(row['id']))
}

/** Takes rows out of their table, and their words out of search. The clock is the caller's. */
export function* erase({ expressions }: Pick<Compiler, 'expressions'>, resource: Resource, ids: readonly string[]) {
  const { name, fields } = resource
  if (fields.some((field) => field.search)) yield* expressions.forgetWords(name, ids)
  yield sql`delete from ${tableSql(name)} where ${expressions.isAmong(raw('id'), ids)}`
}

// Counted beforehand as far as this, so that most jobs know their total from the beginning.
const countedAtOnce = 1_000

/**
 * What goes with the records of a deletion, where it is to be made at once; `undefined`: it becomes a job.
 * What stands against it must be found out either way.
 */
export function* smallClosure(
  compiler: Compiler,
  { resource, above }: Removal,
  ids: readonly string[],
): Transaction<Closure | undefined> {
  return above === 0 ? undefined : yield* closureOf(compiler, resource, ids, above)
}

/** Begins the job of a deletion: the records themselves are deleted with it, what hangs under them follows. */
export function* beginDeletion(
  compiler: Compiler,
  plan: Removal,
  kind: JobKind,
  ids: readonly string[],
  whole: Closure | undefined,
): Transaction<Outcome> {
  const { resource, deletion, now } = plan
  const deletedAt = timestamp(now)
  const counted = whole ?? (yield* closureOf(compiler, resource, ids, countedAtOnce))
  yield* mark(resource.name, compiler.expressions.isAmong(raw('id'), ids), deletion, deletedAt)
  yield* enqueue(compiler, deletion, resource, compiler.expressions.isAmong(raw('id'), ids))
  const total = counted === undefined ? null : sizeOf(counted)
  const asked = { collection: resource.name, deletedAt, ids: kind === 'deletion' ? ids : [] }
  yield* addDeletion(compiler, plan, kind, {
    ...asked,
    phase: 'mark',
    at: 0,
    taken: ids.length,
    done: ids.length,
    total,
  })
  return { kind: 'accepted', job: deletion, statusUrl: plan.statusUrl }
}

/** Adds the job of a deletion whose first records stand in the queue. */
export function* addDeletion(
  compiler: Compiler,
  { deletion, statusUrl, caller, now }: Removal,
  kind: JobKind,
  state: DeletionState,
): Transaction<void> {
  const progress = { done: state.done, total: state.total }
  const job = { id: deletion, kind, task: 'deletion', statusUrl, startedBy: caller.id, progress, state, now } as const
  yield* addJob(compiler, job)
}

/** Puts rows into the queue of a job, where anything can hang on them. */
export function* enqueue(
  { catalog }: Compiler,
  job: string,
  { name, dependents }: Resource,
  which: Sql,
): Transaction<void> {
  if (cascadesOf(catalog, name).length === 0 && !dependents.some(({ onDelete }) => onDelete === 'clear')) return
  yield sql`insert into resourced_queue (job, collection, record) select ${job}, ${name}, id from ${tableSql(name)} where ${which}`
}
