/**
 * What blocks a deletion: live records that refer to a deleted one by `restrict`, and business rules (DEL-4). Other
 * requests may add to it while a deletion runs in batches, so each batch asks again (`deletableAmong`).
 */

import type { BusinessRule, RuleTrigger } from 'resourced-contract/model/declaration'
import { grantOf } from 'resourced-contract/model/field-grants'
import { allOf, always, never } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import sql from 'sql-template-tag'
import { questionsOfRules, type RuleKind, ruleIssues, type Transition } from '../../../plan/decide.ts'
import type { BulkDelete, Removal } from '../../../plan/plan.ts'
import { columnSql, subject } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import type { Transaction } from '../../transaction.ts'
import { ask } from '../rows/other-records.ts'
import { canBePending, cascadeReach, resourceOf } from '../rows/pending-deletions.ts'
import { closureOf, liveRows, type RecordSet, remainingSql, setOf } from './cascade.ts'

/** The most blocking records whose ids are named. */
const mostNamed = 5

/**
 * Whether a deletion of one record concerns no other one, and no running deletion concerns the record: nothing refers
 * to the resource, and no business rule decides.
 */
export function isAlone(context: SqlContext, resource: Resource): boolean {
  const { deletion, dependents } = resource
  const isSoft = deletion.variant === 'soft'
  return isSoft && dependents.length === 0 && !hasDeletionRules(resource) && !canBePending(context, resource)
}

/** Whether business rules decide about deletions of a resource's own records. */
export function hasDeletionRules({ rules }: Resource): boolean {
  return rules.some((rule) => [rule.on].flat().includes('delete'))
}

/** Whether anything can block deletions of a resource. */
export function canBeBlocked(catalog: Catalog, resource: Resource): boolean {
  return cascadeReach(catalog, resource).some(
    (each) => hasDeletionRules(each) || each.dependents.some(({ onDelete }) => onDelete === 'restrict'),
  )
}

/** The collections below a resource in which functions decide about a kind of change. */
export function decidersBelow(catalog: Catalog, resource: Resource, trigger: RuleTrigger): string[] {
  const isDecider = (rule: BusinessRule) => 'check' in rule && [rule.on].flat().includes(trigger)
  return cascadeReach(catalog, resource).flatMap(({ name, rules }) => (rules.some(isDecider) ? [name] : []))
}

/**
 * Everything that blocks a deletion.
 *
 * @param deleted all that is deleted, if that is more than the set
 */
export function* findBlockers(
  context: SqlContext,
  plan: Pick<Removal, 'caller' | 'now' | 'readable' | 'readableReferences'>,
  set: RecordSet,
  deleted = set,
): Transaction<Issue[]> {
  const dependents = yield* blockingRecords(context, plan, set, deleted)
  return [...dependents, ...(yield* blockingRules(context, plan, set))]
}

/** What blocks each record by itself. The other records of the request do not block it: they are deleted too. */
export function* blockersById(
  context: SqlContext,
  plan: Pick<BulkDelete, 'resource' | 'ids' | 'caller' | 'now' | 'readable' | 'readableReferences'>,
  ids: readonly string[],
  deleted: RecordSet,
): Transaction<Issue[]> {
  if ((yield* findBlockers(context, plan, deleted)).length === 0) return []
  const issues: Issue[] = []
  for (const id of ids) {
    const own = setOf(context, yield* closureOf(context, plan.resource, [id]))
    const pointer = `/ids/${plan.ids.indexOf(id)}`
    // The pointer of a business rule leads into a record that the body does not show.
    issues.push(...(yield* findBlockers(context, plan, own, deleted)).map((each) => movedTo({ pointer }, each)))
  }
  return issues
}

/** The live records that refer by `restrict` to a record which is deleted, and are not deleted themselves. */
function* blockingRecords(
  context: SqlContext,
  { readable, readableReferences }: Pick<Removal, 'readable' | 'readableReferences'>,
  set: RecordSet,
  deleted: RecordSet,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const collection of set.collections) {
    for (const dependent of resourceOf(context.catalog, collection).dependents) {
      const { collection: from, field, onDelete } = dependent
      if (onDelete !== 'restrict') continue
      const blocking = remainingSql(dependent, collection, set, deleted)
      const isReadable = grantOf(readableReferences?.get(from), field) ?? always
      const permitted = allOf([readable.get(from) ?? never, isReadable])
      const shown = predicateSql(context, resourceOf(context.catalog, from), permitted)
      const [row] =
        yield sql`select count(*) as count, count(case when ${shown} then 1 end) as readable from ${blocking}`
      const [total, count] = [Number(row?.['count']), Number(row?.['readable'])]
      if (total === 0) continue
      // The order of the reference's index.
      const order = sql`order by ${columnSql(subject, field)}, ${columnSql(subject, 'id')}`
      const named = count === 0 ? [] : yield sql`select id from ${blocking} and ${shown} ${order} limit ${mostNamed}`
      const blockers = named.map((each) => String(each['id'])).sort()
      // A caller who may not read all of them does not learn the number (AUT-9).
      const known = { ...(total === count && { count }), ...(count > 0 && { ids: blockers }) }
      const reason = total !== count ? 'unreadDependents' : count === 1 ? 'dependent' : 'dependents'
      issues.push(issue(reason, { collection: from, by: field, target: collection, count: undefined, ...known }))
    }
  }
  return issues
}

/** The objections of the business rules of the deleted records; of one kind of rules, if it is given. */
export function* blockingRules(
  context: SqlContext,
  plan: Pick<Removal, 'caller' | 'now'>,
  set: RecordSet,
  kind?: RuleKind,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const collection of set.collections) {
    const resource = resourceOf(context.catalog, collection)
    if (!hasDeletionRules(resource)) continue
    const among = set.has(collection, columnSql(subject, 'id'))
    const rows = yield sql`select ${storedSql(context, resource)} from ${liveRows(collection)} and ${among} order by id`
    for (const row of rows) {
      const current = recordOf(resource, row)
      const transition: Transition = { resource, trigger: 'delete', current, next: undefined, kind }
      const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
      issues.push(...ruleIssues(plan, transition, answers))
    }
  }
  return issues
}
