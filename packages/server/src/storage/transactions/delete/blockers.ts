/**
 * What blocks a deletion: live records that refer to a deleted one by `restrict`, and business rules (DEL-4); and what
 * blocks a restoration: unique values, lost references, long texts and business rules (DEL-6).
 */

import type { BusinessRule, RuleTrigger } from 'resourced-contract/model/declaration'
import { grantOf } from 'resourced-contract/model/field-grants'
import { allOf, always, never } from 'resourced-contract/model/predicate'
import type { Catalog, Field, Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { questionsOfRules, type RuleKind, ruleIssues, type Transition, takenIssue } from '../../../plan/decide.ts'
import { maxIndexKeyBytes, restoredKeyIssues } from '../../../plan/index-keys.ts'
import type { BulkDelete, Removal, Restore } from '../../../plan/plan.ts'
import { columnSql, comparisonColumn, quoted, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import { shareLock } from '../../sql/totals.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { ask, canBePending, cascadeReach, isBeingDeletedSql, resourceOf } from '../rows/other-records.ts'
import { closureOf, type RecordSet, remainingSql, setOf } from './cascade.ts'
import type { Removed } from './work-list.ts'

/** The most records that refer to a deleted one whose ids are named. */
const mostReferring = 5

/** The most blocked records that each check of a restoration names. */
const mostBlocked = 100

/** A text of so many characters fits into every index: each takes six bytes at most, its case folded. */
const shortText = Math.floor(maxIndexKeyBytes / 6) - 50

/** Something that blocks the deletion or restoration of one record. */
interface Blocker {
  readonly id: string
  readonly issue: Issue
}

/** The records of a collection that are to be restored. */
export interface Returning {
  readonly resource: Resource
  /** The condition on a row of the subject. */
  readonly among: Sql
  /** A condition on the id of a record of a collection, which another record has in a column: it is restored too. */
  readonly returns: RecordSet['has']
}

/** Whether business rules decide about a kind of change of a resource's own records. */
export function hasRules({ rules }: Resource, trigger: RuleTrigger): boolean {
  return rules.some((rule) => isOn(rule, trigger))
}

function isOn({ on }: BusinessRule, trigger: RuleTrigger): boolean {
  return [on].flat().includes(trigger)
}

/**
 * Whether a deletion of one record concerns no other one, and no running deletion concerns the record: nothing refers
 * to the resource, and no business rule decides.
 */
export function isAlone(context: SqlContext, resource: Resource): boolean {
  const { deletion, dependents } = resource
  const isSoft = deletion.variant === 'soft'
  return isSoft && dependents.length === 0 && !hasRules(resource, 'delete') && !canBePending(context, resource)
}

/** Whether anything can block deletions of a resource. */
export function canBeBlocked({ catalog }: Pick<SqlContext, 'catalog'>, resource: Resource): boolean {
  return cascadeReach(catalog, resource).some(
    (each) => hasRules(each, 'delete') || each.dependents.some(({ onDelete }) => onDelete === 'restrict'),
  )
}

/** The collections below a resource in which functions decide about a kind of change. */
export function decidersBelow(catalog: Catalog, resource: Resource, trigger: RuleTrigger): string[] {
  const isDecider = (rule: BusinessRule) => 'check' in rule && isOn(rule, trigger)
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

/** Everything that blocks a deletion or restoration. Of a list, each record that was asked for has its own reasons. */
export function blockersOf(
  context: SqlContext,
  plan: Removed | Restore,
  ids: readonly string[],
  set: RecordSet,
): Transaction<Issue[]> {
  if (plan.kind === 'restore') return findRestorationBlockers(context, plan, set)
  return plan.kind === 'bulk-delete' ? blockersById(context, plan, ids, set) : findBlockers(context, plan, set)
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
      const named =
        count === 0 ? [] : yield sql`select id from ${blocking} and ${shown} ${order} limit ${mostReferring}`
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
  { collections, has }: RecordSet,
  kind?: RuleKind,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const collection of collections) {
    const resource = resourceOf(context.catalog, collection)
    const among = sql`${isLive} and ${has(collection, columnSql(subject, 'id'))}`
    const found = yield* objections(context, plan, { resource, among, trigger: 'delete', kind })
    issues.push(...found.map((each) => each.issue))
  }
  return issues
}

/** A condition on a row of the subject. */
export const isLive = sql`${columnSql(subject, 'deleted_at')} is null`

/** Records whose business rules decide. */
interface Ruled extends Pick<Returning, 'resource' | 'among'> {
  readonly trigger: 'delete' | 'restore'
  /** One kind of rules; left out: all. */
  readonly kind?: RuleKind | undefined
}

/** The objections of business rules to the deletion or restoration of records. */
export function* objections(
  context: SqlContext,
  plan: Pick<Removal, 'caller' | 'now'>,
  { resource, among, trigger, kind }: Ruled,
): Transaction<Blocker[]> {
  if (!hasRules(resource, trigger)) return []
  const blockers: Blocker[] = []
  const columns = storedSql(context, resource)
  for (const row of yield sql`select ${columns} from ${subjectSql(resource.name)} where ${among} order by id`) {
    const record = recordOf(resource, row)
    const [current, next] = trigger === 'delete' ? [record, undefined] : [undefined, record]
    const transition: Transition = { resource, trigger, current, next, kind }
    const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
    blockers.push(...ruleIssues(plan, transition, answers).map((issue) => ({ id: String(record['id']), issue })))
  }
  return blockers
}

/** Everything that blocks a restoration. */
export function* findRestorationBlockers(
  context: SqlContext,
  plan: Restore,
  { collections, has: returns }: RecordSet,
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const collection of collections) {
    const resource = resourceOf(context.catalog, collection)
    const among = returns(collection, columnSql(subject, 'id'))
    const found = [
      ...(yield* stateBlockers(context, { resource, among, returns })),
      ...(yield* objections(context, plan, { resource, among, trigger: 'restore' })),
    ]
    issues.push(...(yield* shownBlockers(context, plan, resource, found)))
  }
  return issues
}

/** What blocks records, apart from business rules. */
export function* stateBlockers(context: SqlContext, returning: Returning): Transaction<Blocker[]> {
  return [
    ...(yield* lostReferences(context, returning)),
    ...(yield* takenValues(returning)),
    ...(yield* longTexts(returning)),
  ]
}

/** The blockers as the caller sees them: a record is named only if the caller may read it (AUT-9). */
export function* shownBlockers(
  context: SqlContext,
  plan: Restore,
  resource: Resource,
  found: readonly Blocker[],
): Transaction<Issue[]> {
  const { name: collection } = resource
  const issues: Issue[] = []
  const isOwn = (id: string) => collection === plan.resource.name && id === plan.id
  const others = found.filter(({ id }) => !isOwn(id))
  const readable = new Set(yield* readableAmong(context, plan, resource, others))
  const unread = new Map<string, Issue>()
  for (const { id, issue } of found) {
    if (isOwn(id)) issues.push(issue)
    else {
      // A pointer leads into the record that was asked for. Of another record the sentence says which.
      const shown = movedTo({ field: issue.field }, issue, { other: collection, ...(readable.has(id) && { id }) })
      if (readable.has(id)) issues.push(shown)
      else unread.set(JSON.stringify(shown), shown)
    }
  }
  return [...issues, ...unread.values()]
}

/** Those of the blocked records that the caller may read. Others are neither named nor counted (AUT-9). */
function* readableAmong(
  context: SqlContext,
  { readable }: Pick<Restore, 'readable'>,
  resource: Resource,
  blocked: readonly Blocker[],
): Transaction<string[]> {
  if (blocked.length === 0) return []
  const among = context.dialect.isAnyOf(columnSql(subject, 'id'), [...new Set(blocked.map(({ id }) => id))])
  const shown = predicateSql(context, resource, readable.get(resource.name) ?? never)
  const rows = yield sql`select id from ${subjectSql(resource.name)} where ${among} and ${shown}`
  return rows.map((row) => String(row['id']))
}

/** Records that refer to a record which is deleted and is not restored with them. */
function* lostReferences(
  { dialect, catalog }: SqlContext,
  { resource, among, returns }: Returning,
): Transaction<Blocker[]> {
  const blockers: Blocker[] = []
  const from = subjectSql(resource.name)
  for (const { name, reference } of resource.fields) {
    if (reference === undefined) continue
    const { collection } = reference
    const [column, target] = [columnSql(subject, name), tableSql(collection)]
    if (dialect.lock.share.sql !== '') {
      // None of the records that they refer to is deleted before they are restored.
      const referred = sql`select id from ${target} where id in (select ${column} from ${from} where ${among})`
      const share = shareLock(dialect, resourceOf(catalog, collection))
      yield ignoringRows(sql`${referred} and deleted_at is null${dialect.lock.orderById}${share}`)
    }
    const isLeft = sql`${column} is not null and not (${returns(collection, column)})`
    const exists = (which: Sql) => sql`exists (select 1 from ${target} x where x.id = ${column} and ${which})`
    const isPending = exists(isBeingDeletedSql(raw('x')))
    for (const [which, found] of [
      [sql`not ${isPending} and not ${exists(sql`x.deleted_at is null`)}`, 'targetDeleted'],
      [isPending, 'targetBeingDeleted'],
    ] as const) {
      const referring = sql`select id from ${from} where ${among} and ${isLeft} and ${which}`
      blockers.push(...(yield* named(referring, issue(found, { field: name, target: collection }))))
    }
  }
  return blockers
}

/** Records with a unique value that another live record has taken. */
function* takenValues({ resource, among }: Returning): Transaction<Blocker[]> {
  const blockers: Blocker[] = []
  const table = tableSql(resource.name)
  for (const fields of resource.unique) {
    const same = fields.map((name) => {
      const column = comparisonColumn(resource, name)
      return sql`${columnSql('x', column)} = ${columnSql(subject, column)}`
    })
    const other = sql`exists (select 1 from ${table} x where ${join(same, ' and ')} and x.deleted_at is null)`
    const select = sql`select id from ${table} ${raw(subject)} where ${among} and ${other}`
    blockers.push(...(yield* named(select, takenIssue(fields))))
  }
  return blockers
}

/** The first rows of a select of ids, as blocked by an issue. */
function* named(select: Sql, issue: Issue): Transaction<Blocker[]> {
  const rows = yield sql`${select} order by id limit ${mostBlocked}`
  return rows.map((row) => ({ id: String(row['id']), issue }))
}

/** Records with a text that is too long for an index: it was declared after their deletion (LIM-3). */
function* longTexts({ resource, among }: Returning): Transaction<Blocker[]> {
  const names = indexedTexts(resource)
  if (names.length === 0) return []
  // Of a field the value as it is declared, of a member its key.
  const columnOf = (name: string) =>
    columnSql(subject, resource.member.has(name) ? comparisonColumn(resource, name) : name)
  const columns = ['id', ...names].map((name) => sql`${columnOf(name)} as ${quoted(name)}`)
  const lengths = names.map((name) => sql`coalesce(length(cast(${columnOf(name)} as text)), 0)`)
  const which = sql`${among} and ${join(lengths, ' + ')} > ${shortText} order by id`
  const rows = yield sql`select ${join(columns, ', ')} from ${subjectSql(resource.name)} where ${which}`
  return rows.flatMap(({ id, ...values }) =>
    restoredKeyIssues(resource, values).map((issue) => ({ id: String(id), issue })),
  )
}

/** The indexed fields, if one of them is a text of any length; otherwise none. */
function indexedTexts({ indexes, fields: own }: Resource): readonly string[] {
  const names = new Set(indexes.flatMap((index) => index.fields))
  const fields = own.flatMap((field) => [field, ...field.members])
  const indexed = fields.filter(({ name }) => names.has(name))
  const isText = ({ type, enum: values, reference }: Field) =>
    type === 'string' && values === undefined && reference === undefined
  return indexed.some(isText) ? indexed.map(({ name }) => name) : []
}
