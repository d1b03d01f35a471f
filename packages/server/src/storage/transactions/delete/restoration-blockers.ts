/** What blocks the restoration of records: unique values, lost references, long texts and business rules (DEL-6). */

import { never } from 'resourced-contract/model/predicate'
import { indexedTexts, type Resource } from 'resourced-contract/model/resource'
import { type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { questionsOfRules, type RuleKind, ruleIssues, type Transition, takenIssue } from '../../../plan/decide.ts'
import { maxIndexKeyBytes, restoredKeyIssues } from '../../../plan/index-keys.ts'
import type { Restore } from '../../../plan/plan.ts'
import { columnSql, comparisonColumn, subject, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import { predicateSql } from '../../sql/predicate.ts'
import { recordOf, storedSql } from '../../sql/records.ts'
import { ignoringRows, type Transaction } from '../../transaction.ts'
import { ask } from '../rows/other-records.ts'
import { isBeingDeleted, isDeletionRunning, resourceOf } from '../rows/pending-deletions.ts'
import type { Closure } from './cascade.ts'

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
  readonly ids: readonly string[]
  /** A condition on the id of a record of a collection, which another record has in a column: it is restored too. */
  readonly returns: (collection: string, id: Sql) => Sql
}

/** The condition that a record is one of a closure. */
function returnsWith({ dialect }: SqlContext, closure: Closure): Returning['returns'] {
  return (collection, id) => dialect.isAnyOf(id, [...(closure.get(collection) ?? [])])
}

/** The condition that a record has the mark of a restoration. */
export function returnsMarked(mark: string): Returning['returns'] {
  return (collection, id) =>
    sql`exists (select 1 from ${tableSql(collection)} x where x.id = ${id} and x._deletion = ${mark})`
}

/** Everything that blocks a restoration. */
export function* findRestorationBlockers(
  context: SqlContext,
  plan: Restore,
  closure: Closure,
  returns = returnsWith(context, closure),
): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, all] of closure) {
    if (all.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    const ids = [...all]
    const found = [
      ...(yield* stateBlockers(context, { resource, ids, returns })),
      ...(yield* objections(context, plan, { resource, ids })),
    ]
    issues.push(...(yield* shownBlockers(context, plan, resource, found)))
  }
  return issues
}

/** What blocks records, apart from business rules. */
export function* stateBlockers(context: SqlContext, returning: Returning): Transaction<Blocker[]> {
  return [
    ...(yield* lostReferences(context, returning)),
    ...(yield* takenValues(context, returning)),
    ...(yield* longTexts(context, returning)),
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
function* lostReferences(context: SqlContext, { resource, ids, returns }: Returning): Transaction<Blocker[]> {
  const { dialect } = context
  const blockers: Blocker[] = []
  const among = dialect.isAnyOf(columnSql(subject, 'id'), ids)
  for (const { name, reference } of resource.fields) {
    if (reference === undefined) continue
    const { collection } = reference
    const column = columnSql(subject, name)
    // None of the records that they refer to is deleted before they are restored.
    const referred = sql`select ${column} from ${subjectSql(resource.name)} where ${among}`
    const lock = sql`${dialect.lock.orderById}${dialect.lock.share}`
    yield ignoringRows(
      sql`select id from ${tableSql(collection)} where id in (${referred}) and deleted_at is null${lock}`,
    )
    const from = subjectSql(resource.name)
    const isLeft = sql`${column} is not null and not (${returns(collection, column)})`
    const referring = sql`from ${from} where ${among} and ${isLeft}`
    const pending = yield* beingDeletedAmong(context, collection, sql`select distinct ${column} as id ${referring}`)
    const isPending = dialect.isAnyOf(column, pending)
    const exists = sql`exists (select 1 from ${tableSql(collection)} x where x.id = ${column} and x.deleted_at is null)`
    for (const [which, found] of [
      [sql`not (${isPending}) and not ${exists}`, issue('targetDeleted', { field: name, target: collection })],
      [isPending, issue('targetBeingDeleted', { field: name, target: collection })],
    ] as const) {
      blockers.push(...(yield* named(sql`select id ${referring} and ${which}`, found)))
    }
  }
  return blockers
}

/** Those of some records that a running deletion has deleted or will delete. */
function* beingDeletedAmong(context: SqlContext, collection: string, ids: Sql): Transaction<string[]> {
  if (!(yield* isDeletionRunning())) return []
  const found: string[] = []
  for (const row of yield ids) {
    const id = String(row['id'])
    if (yield* isBeingDeleted(context, collection, id)) found.push(id)
  }
  return found
}

/** Records with a unique value that another live record has taken. */
function* takenValues({ dialect }: SqlContext, { resource, ids }: Returning): Transaction<Blocker[]> {
  const blockers: Blocker[] = []
  const among = dialect.isAnyOf(columnSql(subject, 'id'), ids)
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
function* longTexts({ dialect }: SqlContext, { resource, ids }: Returning): Transaction<Blocker[]> {
  const names = indexedTexts(resource)
  if (names.length === 0) return []
  const columns = ['id', ...names].map((name) => columnSql(subject, name))
  const lengths = names.map((name) => sql`coalesce(length(cast(${columnSql(subject, name)} as text)), 0)`)
  const among = dialect.isAnyOf(columnSql(subject, 'id'), ids)
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
  { resource, ids, kind }: Pick<Returning, 'resource' | 'ids'> & { readonly kind?: RuleKind | undefined },
): Transaction<Blocker[]> {
  if (!resource.rules.some((rule) => [rule.on].flat().includes('restore'))) return []
  const blockers: Blocker[] = []
  const among = context.dialect.isAnyOf(raw('id'), ids)
  const columns = storedSql(context, resource)
  for (const row of yield sql`select ${columns} from ${tableSql(resource.name)} where ${among} order by id`) {
    const next = recordOf(resource, row)
    const transition: Transition = { resource, trigger: 'restore', current: undefined, next, kind }
    const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
    blockers.push(...ruleIssues(plan, transition, answers).map((issue) => ({ id: String(next['id']), issue })))
  }
  return blockers
}
