/** What blocks a deletion: records that refer to a deleted one by `restrict`, and business rules (DEL-4). */
import sql from 'sql-template-tag'
import { never } from '../../../model/predicate.ts'
import type { Catalog, Resource } from '../../../model/resource.ts'
import { questionsOfRules, ruleIssues, type Transition } from '../../../plan/decide.ts'
import type { Removal } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { columnSql, subject } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import type { Transaction } from '../../transaction.ts'
import { cascadeReach, resourceOf } from '../rows/dependents.ts'
import { ask } from '../rows/other-records.ts'
import { type Closure, closureOf, liveRows, remainingSql } from './cascade.ts'

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

/** What the business rules of the deleted records say against it. */
function* blockingRules(
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
