/** What stands against a deletion: records that refer to what would go, and business rules (DEL-4). */
import sql, { type Sql } from 'sql-template-tag'
import { never } from '../../../model/predicate.ts'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { questionsOfRules, ruleIssues, type Transition } from '../../../plan/decide.ts'
import type { Removal } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/rows.ts'
import type { Transaction } from '../../transaction.ts'
import { reachOf, resourceOf } from '../rows/dependents.ts'
import { ask } from '../rows/other-records.ts'
import { type Closure, closureOf, liveRows } from './cascade.ts'

/** By whom and when, which business rules may ask, and whose ids may be named. */
type Judged = Pick<Removal, 'caller' | 'now' | 'readable'>

/** The most ids of records in the way that are named. */
const mostNamed = 5

/** Whether anything can stand against deletions of a resource at all: else nobody need look. */
export function canBeBlocked(catalog: Catalog, resource: Resource): boolean {
  return reachOf(catalog, resource).some(
    (each) => hasDeletionRules(each) || each.dependents.some(({ onDelete }) => onDelete === 'restrict'),
  )
}

/**
 * Everything that stands against a deletion.
 *
 * @param going all that goes, where that is more than the closure asked about
 */
export function* objectionsOf(
  context: SqlContext,
  plan: Judged,
  closure: Closure,
  going = closure,
): Transaction<Issue[]> {
  return [...(yield* blockersOf(context, plan, closure, going)), ...(yield* ruleObjections(context, plan, closure))]
}

/** Live records that refer to what goes, do not go themselves, and forbid it. */
export function* blockersOf(
  context: SqlContext,
  { readable }: Pick<Removal, 'readable'>,
  closure: Closure,
  going: Closure,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of closure) {
    for (const { collection: from, field, onDelete } of resourceOf(context.catalog, collection).dependents) {
      if (onDelete !== 'restrict') continue
      const staying = stayingSql(context, from, field, ids, going)
      const shown = predicateSql(context, resourceOf(context.catalog, from), readable.get(from) ?? never)
      const [row] =
        yield sql`select count(*) as count, count(case when ${shown} then 1 end) as readable from ${staying}`
      const [total, count] = [Number(row?.['count']), Number(row?.['readable'])]
      if (total === 0) continue
      // The order of the reference's index.
      const order = sql`order by ${columnSql(subject, field)}, ${columnSql(subject, 'id')}`
      const named = count === 0 ? [] : yield sql`select id from ${staying} and ${shown} ${order} limit ${mostNamed}`
      const message = blockedBy(from, collection, field, total === count ? count : undefined)
      const blockers = named.map((each) => String(each['id'])).sort()
      issues.push({ code: 'HAS_DEPENDENTS', message, collection: from, count, ids: blockers })
    }
  }
  return issues
}

/** @param count how many records are in the way; `undefined`: the caller may not read all of them, and is not told (AUT-9) */
function blockedBy(from: string, collection: string, field: string, count: number | undefined): string {
  if (count === 1) return `1 record of ${from} refers to ${collection} by ${field}; delete or change it first.`
  const which = count === undefined ? 'Some records' : `${count} records`
  return `${which} of ${from} refer to ${collection} by ${field}; delete or change them first.`
}

/** Live records of `from` that refer to one of `ids` and do not go themselves. */
export function stayingSql(
  { engine }: SqlContext,
  from: string,
  field: string,
  ids: Iterable<string>,
  closure: Closure,
): Sql {
  const refers = engine.isAnyOf(columnSql(subject, field), [...ids])
  const going = closure.get(from)
  if (going === undefined || going.size === 0) return sql`${liveRows(from)} and ${refers}`
  return sql`${liveRows(from)} and ${refers} and not (${engine.isAnyOf(columnSql(subject, 'id'), [...going])})`
}

/** What the business rules of everything that goes say against it. */
function* ruleObjections(context: SqlContext, plan: Judged, closure: Closure): Transaction<Issue[]> {
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

/** Whom nobody asks: what stands in the way is counted, and never named. */
const unnamed = { readable: new Map() }

/**
 * Those of some records that are held, against which nothing stands, neither against what goes with them; and with them what may be
 * referred to by `restrict`.
 */
export function* freeAmong(
  context: SqlContext,
  resource: Resource,
  ids: readonly string[],
): Transaction<{ readonly free: readonly string[]; readonly closure: Closure }> {
  const contested = contestedBelow(context.catalog, resource)
  if (contested.size === 0) return { free: ids, closure: new Map() }
  // What stays may keep others that it was to take along.
  for (let free = ids; ; ) {
    const closure = yield* closureOf(context, resource, free, undefined, contested)
    if ((yield* blockersOf(context, unnamed, closure, closure)).length === 0) return { free, closure }
    const kept = new Set<string>()
    for (const id of free) {
      const own = yield* closureOf(context, resource, [id], undefined, contested)
      if ((yield* blockersOf(context, unnamed, own, closure)).length > 0) kept.add(id)
    }
    free = free.filter((id) => !kept.has(id))
  }
}

/**
 * The collections that have to be looked into: those that others may refer to by `restrict`, those that do, and what lies on the way to
 * them. None where nothing can stand in the way.
 */
function contestedBelow(catalog: Catalog, resource: Resource): ReadonlySet<string> {
  const reached = reachOf(catalog, resource)
  const ends = new Set<string>()
  for (const { name, dependents } of reached) {
    for (const { collection, onDelete } of dependents) if (onDelete === 'restrict') ends.add(name).add(collection)
  }
  const isOnTheWay = (each: Resource) => reachOf(catalog, each).some(({ name }) => ends.has(name))
  return new Set(reached.filter(isOnTheWay).map(({ name }) => name))
}
