/** Undoing a deletion: the record and everything that was deleted with it, or nothing (DEL-6). */

import sql, { join, raw, type Sql } from 'sql-template-tag'
import { never } from '../../model/predicate.ts'
import { indexedTexts, type Resource } from '../../model/resource.ts'
import { timestamp } from '../../model/time.ts'
import { checkRecord, decidableRecords, dependsOn, retainedSince } from '../../plan/check-record.ts'
import {
  beingDeletedReference,
  lostIssue,
  questionsOfRules,
  ruleIssues,
  type Transition,
  takenIssue,
} from '../../plan/decide.ts'
import { indexKeyIssues, maxIndexKeyBytes } from '../../plan/draft.ts'
import type { Outcome, Restore } from '../../plan/plan.ts'
import type { Issue } from '../../spec/faults.ts'
import { columnSql, comparisonColumn, subject, subjectSql, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type PredicateContext, predicateSql } from '../sql/predicate.ts'
import { recordOf, storedSql } from '../sql/records.ts'
import { firstRow, ignoringRows, type Transaction } from '../transaction.ts'
import { type Closure, descend, mostInspected, runsInBackground, type TooLarge, tooLarge } from './delete/cascade.ts'
import { purgeBegan } from './delete/purge.ts'
import { onceForKey } from './idempotency.ts'
import { type Moves, noteMove, tickAll } from './rows/clock.ts'
import { ask, holdsFor, lockAllRulesBelow } from './rows/other-records.ts'
import {
  beingDeletedIssue,
  isBeingDeleted,
  isDeletionRunning,
  isJobRunning,
  resourceOf,
  settleSelections,
} from './rows/pending-deletions.ts'
import { foundOf, holdsSql, lockRecord, represent } from './rows/record-row.ts'

/** The most blocked records that each check names. */
const mostNamed = 100

/** A text of so many characters fits into every index: each takes six bytes at most, its case folded. */
const shortText = Math.floor(maxIndexKeyBytes / 6) - 50

/** Something that blocks the restoration of one record. */
interface Blocker {
  readonly id: string
  readonly issue: Issue
}

/** Runs a Restore. A repeated answer does not show the record if the caller may no longer read it (AUT-9). */
export function* restoreRecord(context: SqlContext, plan: Restore): Transaction<Outcome | TooLarge> {
  const outcome = yield* onceForKey(context, plan, restore(context, plan))
  if (outcome.kind !== 'replayed' || outcome.answer.kind !== 'updated' || outcome.answer.json === undefined)
    return outcome
  const { record, isReadable } = yield* lockRecord(context, plan)
  if (record !== undefined && isReadable) return outcome
  return { ...outcome, answer: { ...outcome.answer, json: undefined } }
}

function* restore(context: SqlContext, plan: Restore): Transaction<Outcome | TooLarge> {
  const { resource, id } = plan
  yield* lockAllRulesBelow(context, resource.name)
  const now = Math.max(plan.now, (yield* purgeBegan(context)) ?? plan.now)
  const since = retainedSince(resource, now)
  // A record by which a permission holds may be deleted too. That blocks the restoration (DEL-6).
  const permitting: PredicateContext = {
    ...context,
    locksReferenced: true,
    deletedSince: (target) => retainedSince(target, now),
  }
  const permitted = decidableRecords(plan, plan.mayRead)
  const columns = sql`${storedSql(context, resource)}, ${holdsSql(permitting, resource, permitted)} as _permitted`
  const isKept = sql`(deleted_at is null or deleted_at > ${since})`
  const which = sql`${subjectSql(resource.name)} where id = ${id} and ${isKept}${context.engine.lock.update}`
  const row = yield* firstRow(sql`select ${columns} from ${which}`)
  const ended = checkRecord(plan, foundOf(row))
  if (ended !== undefined || row === undefined) return ended ?? { kind: 'missing' }
  if (row['deleted_at'] === null) {
    const message = 'The record is not deleted: there is nothing to restore.'
    return { kind: 'conflict', issues: [{ code: 'NOT_DELETED', message }] }
  }
  const restored = { ...recordOf(resource, row), deleted_at: null, updated_at: timestamp(plan.now) }
  const isDecided = !dependsOn(resource, plan.permitted, ['deleted_at', 'updated_at'])
  if (!isDecided && !(yield* holdsFor(permitting, resource, plan.permitted, restored))) return { kind: 'forbidden' }
  const deletion = String(row['_deletion'])
  if (yield* isJobRunning(deletion)) return { kind: 'conflict', issues: [beingDeletedIssue] }
  const returning = yield* deletedWith(context, { resource, id, now }, deletion)
  if (returning === undefined) return tooLarge
  const issues = yield* findBlockers(context, plan, returning)
  if (issues.length > 0) return { kind: 'conflict', issues }
  const moves: Moves = new Map()
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    yield* settleSelections(context, collection, [...ids])
    const { updated_at } = restored
    const live = sql`deleted_at = null, _deletion = null, updated_at = ${updated_at}, _revision = _revision + 1`
    yield sql`update ${tableSql(collection)} set ${live} where ${context.engine.isAnyOf(raw('id'), [...ids])}`
    noteMove(moves, collection, { live: ids.size, deleted: -ids.size, ids: [...ids] })
  }
  yield* tickAll(context, moves)
  const { json, revision, updatedAt, readable } = yield* represent(context, plan, id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/**
 * The record, and the records below it by `cascade` that the same deletion has deleted: none that were deleted before,
 * and none that are past their own grace period since (DEL-7). `undefined`: too many for the thread that answers
 * requests.
 */
function deletedWith(
  context: SqlContext,
  { resource, id, now }: Pick<Restore, 'resource' | 'id' | 'now'>,
  deletion: string,
): Transaction<Closure | undefined> {
  const { catalog, engine } = context
  const most = runsInBackground(context, resource) ? mostInspected : undefined
  const limit = most === undefined ? raw('') : sql` limit ${most + 1}`
  const find = (from: string, field: string, parents: readonly string[]) => {
    const child = resourceOf(catalog, from)
    if (child.deletion.variant === 'hard') return undefined
    const refers = engine.isAnyOf(columnSql(subject, field), parents)
    const t = raw(subject)
    const isDeletedWith = sql`${t}.deleted_at > ${retainedSince(child, now)} and ${t}._deletion = ${deletion}`
    const lock = sql`${engine.lock.orderById}${limit}${engine.lock.update}`
    return sql`select id from ${subjectSql(from)} where ${isDeletedWith} and ${refers}${lock}`
  }
  return descend(catalog, [resource.name, [id]], find, most)
}

/**
 * Everything that blocks a restoration: unique values that were taken, lost references, long texts and business rules.
 */
function* findBlockers(context: SqlContext, plan: Restore, returning: Closure): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    const found = [
      ...(yield* lostReferences(context, resource, ids, returning)),
      ...(yield* takenValues(context, resource, ids)),
      ...(yield* longTexts(context, resource, ids)),
      ...(yield* blockingRules(context, plan, resource, ids)),
    ]
    const isOwn = (id: string) => resource === plan.resource && id === plan.id
    const others = found.filter(({ id }) => !isOwn(id))
    const readable = new Set(yield* readableAmong(context, plan, resource, others))
    const unread = new Map<string, Issue>()
    for (const { id, issue } of found) {
      if (isOwn(id)) issues.push(issue)
      else {
        // A pointer leads into the record that was asked for. Of another record the message says which.
        const { pointer, ...rest } = issue
        if (readable.has(id)) issues.push({ ...rest, message: `${collection} ${id}: ${issue.message}` })
        else unread.set(`${issue.code} ${issue.message}`, { ...rest, message: `${collection}: ${issue.message}` })
      }
    }
    issues.push(...unread.values())
  }
  return issues
}

/** Those of the blocked records that the caller may read. Others are neither named nor counted (AUT-9). */
function* readableAmong(
  context: SqlContext,
  { readable }: Pick<Restore, 'readable'>,
  resource: Resource,
  blocked: readonly Blocker[],
): Transaction<string[]> {
  if (blocked.length === 0) return []
  const among = context.engine.isAnyOf(columnSql(subject, 'id'), [...new Set(blocked.map(({ id }) => id))])
  const shown = predicateSql(context, resource, readable.get(resource.name) ?? never)
  const rows = yield sql`select id from ${subjectSql(resource.name)} where ${among} and ${shown}`
  return rows.map((row) => String(row['id']))
}

/** Records that refer to a record which is deleted and is not restored with them. */
function* lostReferences(
  context: SqlContext,
  resource: Resource,
  ids: ReadonlySet<string>,
  returning: Closure,
): Transaction<Blocker[]> {
  const { engine } = context
  const blockers: Blocker[] = []
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
  for (const { name, reference } of resource.fields) {
    if (reference === undefined) continue
    const { collection } = reference
    const column = columnSql(subject, name)
    const returns = engine.isAnyOf(column, [...(returning.get(collection) ?? [])])
    // None of the records that they refer to is deleted before they are restored.
    const referred = sql`select ${column} from ${subjectSql(resource.name)} where ${among}`
    const lock = sql`${engine.lock.orderById}${engine.lock.share}`
    yield ignoringRows(
      sql`select id from ${tableSql(collection)} where id in (${referred}) and deleted_at is null${lock}`,
    )
    const from = subjectSql(resource.name)
    const referring = sql`from ${from} where ${among} and ${column} is not null and not (${returns})`
    const pending = yield* beingDeletedAmong(context, collection, sql`select distinct ${column} as id ${referring}`)
    const isPending = engine.isAnyOf(column, pending)
    const exists = sql`exists (select 1 from ${tableSql(collection)} x where x.id = ${column} and x.deleted_at is null)`
    for (const [which, issue] of [
      [sql`not (${isPending}) and not ${exists}`, lostIssue(name, collection)],
      [isPending, beingDeletedReference(name, collection)],
    ] as const) {
      blockers.push(...(yield* named(sql`select id ${referring} and ${which}`, issue)))
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
function* takenValues({ engine }: SqlContext, resource: Resource, ids: ReadonlySet<string>): Transaction<Blocker[]> {
  const blockers: Blocker[] = []
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
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
function* longTexts({ engine }: SqlContext, resource: Resource, ids: ReadonlySet<string>): Transaction<Blocker[]> {
  const names = indexedTexts(resource)
  if (names.length === 0) return []
  const columns = ['id', ...names].map((name) => columnSql(subject, name))
  const lengths = names.map((name) => sql`coalesce(length(cast(${columnSql(subject, name)} as text)), 0)`)
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
  const which = sql`${among} and ${join(lengths, ' + ')} > ${shortText} order by id`
  const rows = yield sql`select ${join(columns, ', ')} from ${subjectSql(resource.name)} where ${which}`
  const remedy = 'the record cannot return to that index; create a new record with a shorter text'
  return rows.flatMap(({ id, ...values }) => {
    const draft = { values, changed: Object.keys(values) }
    const issues = indexKeyIssues(resource, draft, { code: 'TEXT_TOO_LONG', remedy })
    return issues.map((issue) => ({ id: String(id), issue }))
  })
}

/** Records that a business rule keeps from being restored. */
function* blockingRules(
  context: SqlContext,
  plan: Restore,
  resource: Resource,
  ids: ReadonlySet<string>,
): Transaction<Blocker[]> {
  if (!resource.rules.some((rule) => [rule.on].flat().includes('restore'))) return []
  const blockers: Blocker[] = []
  const among = context.engine.isAnyOf(raw('id'), [...ids])
  const columns = storedSql(context, resource)
  for (const row of yield sql`select ${columns} from ${tableSql(resource.name)} where ${among} order by id`) {
    const next = recordOf(resource, row)
    const transition: Transition = { resource, trigger: 'restore', current: undefined, next }
    const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
    blockers.push(...ruleIssues(plan, transition, answers).map((issue) => ({ id: String(next['id']), issue })))
  }
  return blockers
}
