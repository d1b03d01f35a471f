/** What blocks the restoration of records: unique values, lost references, long texts and business rules (DEL-6). */

import { never } from 'resourced-contract/model/predicate'
import { indexedTexts, type Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { questionsOfRules, type RuleKind, ruleIssues, type Transition, takenIssue } from '../../../plan/decide.ts'
import { maxIndexKeyBytes, restoredKeyIssues } from '../../../plan/index-keys.ts'
import type { Restore } from '../../../plan/plan.ts'
import { columnSql, comparisonColumn, quoted, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import { shareLock } from '../../sql/share-lock.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { ask } from '../rows/other-records.ts'
import { isBeingDeletedSql, resourceOf } from '../rows/pending-deletions.ts'
import type { RecordSet } from './cascade.ts'

/** The most blocked records that each check names. */
const mostNamed = 100

/** A text of so many characters fits into every index: each takes six bytes at most, its case folded. */
const shortText = Math.floor(maxIndexKeyBytes / 6) - 50

/** Something that blocks the restoration of one record. */
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
      ...(yield* objections(context, plan, { resource, among })),
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
  const rows = yield sql`${select} order by id limit ${mostNamed}`
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

/** Records that a business rule keeps from being restored. */
export function* objections(
  context: SqlContext,
  plan: Pick<Restore, 'caller' | 'now'>,
  { resource, among, kind }: Pick<Returning, 'resource' | 'among'> & { readonly kind?: RuleKind | undefined },
): Transaction<Blocker[]> {
  if (!resource.rules.some((rule) => [rule.on].flat().includes('restore'))) return []
  const blockers: Blocker[] = []
  const columns = storedSql(context, resource)
  for (const row of yield sql`select ${columns} from ${subjectSql(resource.name)} where ${among} order by id`) {
    const next = recordOf(resource, row)
    const transition: Transition = { resource, trigger: 'restore', current: undefined, next, kind }
    const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
    blockers.push(...ruleIssues(plan, transition, answers).map((issue) => ({ id: String(next['id']), issue })))
  }
  return blockers
}
