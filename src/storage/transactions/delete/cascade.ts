/**
 * What happens to the children of deleted records (DEL-5): the children by `cascade` are found and deleted with them,
 * and references by `clear` are set to null. A deletion at once does all of it in one transaction, a job in batches.
 * And what blocks a deletion: records that refer to a deleted one by `restrict`, and business rules (DEL-4).
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { never } from '../../../model/predicate.ts'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { timestamp } from '../../../model/time.ts'
import { questionsOfRules, ruleIssues, type Transition } from '../../../plan/decide.ts'
import type { Removal } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { type Moves, noteMove, tickAll } from '../rows/clock.ts'
import { ask } from '../rows/other-records.ts'
import { cascadeReach, cascadesOf, resourceOf, settleSelections } from '../rows/pending-deletions.ts'

/** The ids that are deleted together, by collection. */
export type Closure = ReadonlyMap<string, ReadonlySet<string>>

/**
 * A change of so many records that the thread which answers requests should not make it: the background runs it, whole.
 */
export interface TooLarge {
  readonly kind: 'too-large'
}

export const tooLarge: TooLarge = { kind: 'too-large' }

/** The most records that are inspected where requests are answered. */
export const mostInspected = 1_000

/** Whether large changes run in the background. */
export function runsInBackground({ catalog, offloadsLargeWork = false }: SqlContext, resource: Resource): boolean {
  return offloadsLargeWork && !hasFunctionRules(catalog, resource)
}

/** Whether rules about a deletion or its undoing are functions, which run only where requests are answered. */
export function hasFunctionRules(catalog: Catalog, resource: Resource): boolean {
  return cascadeReach(catalog, resource).some(({ rules }) => rules.some((rule) => 'check' in rule))
}

/**
 * Finds and locks all that is deleted with some records.
 *
 * @param among the only collections to search; left out: all
 */
export function* closureOf(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  among?: ReadonlySet<string>,
): Transaction<Closure> {
  const find: FindChildren = (from, field, parents) =>
    among?.has(from) === false ? undefined : childrenSql(context, from, field, parents)
  return (yield* descend(context.catalog, [resource.name, ids], find)) as Closure
}

/** The same up to a number of records; `undefined` if there are more: then not all of them were searched for. */
export function closureWithin(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
  most: number,
): Transaction<Closure | undefined> {
  // One more than the most shows that there are more. A resource that never deletes by a job has no most.
  const limit = most === Number.POSITIVE_INFINITY ? raw('') : sql` limit ${most + 1}`
  const find: FindChildren = (from, field, parents) => childrenSql(context, from, field, parents, limit)
  return descend(context.catalog, [resource.name, ids], find, most)
}

/** The select of the ids of the records that refer to parents; `undefined`: they are not searched for. */
type FindChildren = (from: string, field: string, parents: readonly string[]) => Sql | undefined

/** Follows the references with `cascade` downwards from some records, each record once. */
export function* descend(
  catalog: Catalog,
  roots: readonly [collection: string, ids: readonly string[]],
  find: FindChildren,
  most = Number.POSITIVE_INFINITY,
): Transaction<Closure | undefined> {
  const closure = new Map([[roots[0], new Set(roots[1])]])
  let count = roots[1].length
  const frontier = [roots]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, parents] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      if (count > most) return undefined
      const select = find(from, field, parents)
      if (select === undefined) continue
      const known = closure.get(from) ?? new Set()
      closure.set(from, known)
      const fresh = (yield select).map((row) => String(row['id'])).filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      count += fresh.length
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return count > most ? undefined : closure
}

// The index of a reference has the children of one parent in the order of their ids: of a million, a limit reads as
// many as it wants, and nothing is sorted.
function childrenSql(
  { engine }: SqlContext,
  from: string,
  field: string,
  parents: readonly string[],
  limit = raw(''),
): Sql {
  const refers = amongSql(engine, columnSql(subject, field), parents)
  return sql`select id from ${liveRows(from)} and ${refers}${engine.lock.orderById}${limit}${engine.lock.update}`
}

/** How many records a closure has. */
export function sizeOf(closure: Closure): number {
  return closure.values().reduce((sum, ids) => sum + ids.size, 0)
}

/** The live rows of a collection, under the alias `subject`; conditions follow by `and`. */
export function liveRows(collection: string): Sql {
  return sql`${subjectSql(collection)} where ${raw(subject)}.deleted_at is null`
}

/** A reference to a collection: the field by which records of another one refer to it. */
type Reference = Pick<Resource['dependents'][number], 'collection' | 'field'>

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
      if (count > 0) noteMove(moves, dependent.collection, { live: 0, deleted: 0 })
    }
  }
  for (const [collection, ids] of closure) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    if (resource.deletion.variant === 'soft') {
      yield ignoringRows(markSql(collection, amongSql(context.engine, raw('id'), [...ids]), deletion, at))
      noteMove(moves, collection, { live: -ids.size, deleted: ids.size, ids: [...ids] })
    } else {
      yield* removeRows(context, resource, [...ids])
      noteMove(moves, collection, { live: -ids.size, deleted: 0, ids: [...ids] })
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
  const refers = amongSql(engine, columnSql(subject, field), [...ids])
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
    yield* settleSelections(context, collection, ids)
    const cleared = sql`${raw(`"${field}"`)} = null, updated_at = ${at}, _revision = _revision + 1`
    yield sql`update ${tableSql(collection)} set ${cleared} where ${context.engine.isAnyOf(raw('id'), ids)}`
  }
  return ids.length
}

/**
 * Locks rows and returns their ids. An update that chose its rows itself would select by the old state of a row that it
 * had to wait for, and would change the row in any new state.
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

/** Whether a column is one of some ids. An engine changes a single row with less effort than one of a list. */
function amongSql({ isAnyOf }: SqlContext['engine'], column: Sql, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`${column} = ${ids[0]}` : isAnyOf(column, ids)
}

/** Marks locked live rows as deleted by a deletion and returns their ids. The caller moves the clock. */
export function* markDeleted(collection: string, which: Sql, deletion: string, at: string): Transaction<string[]> {
  const rows = yield sql`${markSql(collection, which, deletion, at)} returning id`
  return rows.map((row) => String(row['id']))
}

function markSql(collection: string, which: Sql, deletion: string, at: string): Sql {
  const deleted = sql`deleted_at = ${at}, _deletion = ${deletion}, _revision = _revision + 1`
  return sql`update ${tableSql(collection)} set ${deleted} where ${which}`
}

/** Removes rows from their table, and their words from search. The caller moves the clock. */
export function* removeRows({ engine }: Pick<SqlContext, 'engine'>, resource: Resource, ids: readonly string[]) {
  const { name, fields } = resource
  if (fields.some((field) => field.search)) yield* engine.deleteWords(name, ids)
  yield ignoringRows(sql`delete from ${tableSql(name)} where ${amongSql(engine, raw('id'), ids)}`)
}

/** The most blocking records whose ids are named. */
const mostNamed = 5

/** Whether anything can block deletions of a resource. */
export function canBeBlocked(catalog: Catalog, resource: Resource): boolean {
  return cascadeReach(catalog, resource).some(
    (each) => hasDeletionRules(each) || each.dependents.some(({ onDelete }) => onDelete === 'restrict'),
  )
}

/**
 * Everything that blocks a deletion.
 *
 * @param deleted all that is deleted, if that is more than the closure
 */
export function* findBlockers(
  context: SqlContext,
  plan: Pick<Removal, 'caller' | 'now' | 'readable'>,
  closure: Closure,
  deleted = closure,
): Transaction<Issue[]> {
  const dependents = yield* blockingRecords(context, plan.readable, closure, deleted)
  return [...dependents, ...(yield* blockingRules(context, plan, closure))]
}

/** The live records that refer by `restrict` to a record which is deleted, and are not deleted themselves. */
function* blockingRecords(
  context: SqlContext,
  readable: Removal['readable'],
  closure: Closure,
  deleted: Closure,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of closure) {
    for (const dependent of resourceOf(context.catalog, collection).dependents) {
      const { collection: from, field, onDelete } = dependent
      if (onDelete !== 'restrict') continue
      const blocking = remainingSql(context, dependent, ids, deleted)
      const shown = predicateSql(context, resourceOf(context.catalog, from), readable.get(from) ?? never)
      const [row] =
        yield sql`select count(*) as count, count(case when ${shown} then 1 end) as readable from ${blocking}`
      const [total, count] = [Number(row?.['count']), Number(row?.['readable'])]
      if (total === 0) continue
      // The order of the reference's index.
      const order = sql`order by ${columnSql(subject, field)}, ${columnSql(subject, 'id')}`
      const named = count === 0 ? [] : yield sql`select id from ${blocking} and ${shown} ${order} limit ${mostNamed}`
      const message = blockedBy(from, collection, field, total === count ? count : undefined)
      const blockers = named.map((each) => String(each['id'])).sort()
      issues.push({ code: 'HAS_DEPENDENTS', message, collection: from, count, ids: blockers })
    }
  }
  return issues
}

/**
 * @param count how many records block it; `undefined`: the caller may not read all of them, and does not learn the
 *   number (AUT-9)
 */
function blockedBy(from: string, collection: string, field: string, count: number | undefined): string {
  if (count === 1) return `1 record of ${from} refers to ${collection} by ${field}; delete or change it first.`
  const which = count === undefined ? 'Some records' : `${count} records`
  return `${which} of ${from} refer to ${collection} by ${field}; delete or change them first.`
}

/** The objections of the business rules of the deleted records. */
export function* blockingRules(
  context: SqlContext,
  plan: Pick<Removal, 'caller' | 'now'>,
  closure: Closure,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of closure) {
    const resource = resourceOf(context.catalog, collection)
    if (!hasDeletionRules(resource)) continue
    const among = context.engine.isAnyOf(columnSql(subject, 'id'), [...ids])
    const rows = yield sql`select ${storedSql(context, resource)} from ${liveRows(collection)} and ${among} order by id`
    for (const row of rows) {
      const current = recordOf(resource, row)
      const transition: Transition = { resource, trigger: 'delete', current, next: undefined }
      const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
      issues.push(...ruleIssues(plan, transition, answers))
    }
  }
  return issues
}

function hasDeletionRules({ rules }: Resource): boolean {
  return rules.some((rule) => [rule.on].flat().includes('delete'))
}

/**
 * Of the locked records that a batch of a deletion by filter has come to, those that no record blocks by now (DEL-10):
 * others may have begun to refer to them, or to their children. With them comes everything below them that may be
 * referred to by `restrict`.
 */
export function* deletableAmong(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
): Transaction<{ readonly deletable: readonly string[]; readonly closure: Closure }> {
  const restricted = restrictedBelow(context.catalog, resource)
  if (restricted.size === 0) return { deletable: ids, closure: new Map() }
  const isBlocked = function* (closure: Closure, deleted: Closure): Transaction<boolean> {
    return (yield* blockingRecords(context, new Map(), closure, deleted)).length > 0
  }
  // A record that stays may block others that were to be deleted with it.
  for (let deletable = ids; ; ) {
    const closure = yield* closureOf(context, resource, deletable, restricted)
    if (!(yield* isBlocked(closure, closure))) return { deletable, closure }
    const blocked = new Set<string>()
    for (const id of deletable) {
      const own = yield* closureOf(context, resource, [id], restricted)
      if (yield* isBlocked(own, closure)) blocked.add(id)
    }
    deletable = deletable.filter((id) => !blocked.has(id))
  }
}

/**
 * The collections below a resource in which a blocker has to be searched for: those with a reference by `restrict`
 * between them, and those on the way there.
 */
function restrictedBelow(catalog: Catalog, resource: Resource): ReadonlySet<string> {
  const reached = cascadeReach(catalog, resource)
  const ends = new Set<string>()
  for (const { name, dependents } of reached) {
    for (const { collection, onDelete } of dependents) if (onDelete === 'restrict') ends.add(name).add(collection)
  }
  const leadsThere = (each: Resource) => cascadeReach(catalog, each).some(({ name }) => ends.has(name))
  return new Set(reached.filter(leadsThere).map(({ name }) => name))
}
