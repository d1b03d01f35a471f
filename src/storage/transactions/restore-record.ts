/** Taking a deletion back: the record, and exactly what went with it, all or nothing (DEL-6). */

import sql, { join, raw, type Sql } from 'sql-template-tag'
import { indexedTexts } from '../../model/indexed.ts'
import { timestamp } from '../../model/instant.ts'
import { never } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'
import { admit, decidable } from '../../plan/admit.ts'
import {
  goingReferenceIssue,
  lostIssue,
  questionsOfRules,
  ruleIssues,
  type Transition,
  takenIssue,
} from '../../plan/decide.ts'
import { longestKey, longKeyIssuesOfDeleted } from '../../plan/longest-key.ts'
import type { Outcome, Restore } from '../../plan/plan.ts'
import { retainedSince } from '../../plan/retained.ts'
import { dependsOn } from '../../plan/with-check.ts'
import type { Issue } from '../../spec/faults.ts'
import { columnSql, comparisonColumn, subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type PredicateContext, predicateSql } from '../sql/predicate.ts'
import { recordOf, storedSql } from '../sql/rows.ts'
import { firstRow, ignoringRows, type Transaction } from '../transaction.ts'
import { type Closure, sizeOf } from './delete/cascade.ts'
import { purgeBegan } from './delete/purge.ts'
import { type Moves, noteMove, tickAll } from './rows/clock.ts'
import { cascadesOf, isForElsewhere, type Large, large, lookedAtOnce, resourceOf } from './rows/dependents.ts'
import { ask, holdsFor } from './rows/other-records.ts'
import { deletionsRun, goingIssue, isBeingDeleted, isRunning } from './rows/pending-deletion.ts'
import { holdAllRulesBelow } from './rows/rules-lock.ts'
import { foundOf, holdsSql, represent } from './rows/select-record.ts'

/** The most records of one kind that are named as standing in the way: of very many, a few are enough to begin with. */
const mostNamed = 100

/** The characters that every index holds: each takes six bytes at most, its case folded. */
const shortText = Math.floor(longestKey / 6) - 50

/** Something that stands against the return of one record. */
interface Objection {
  readonly id: string
  readonly issue: Issue
}

/** Runs a Restore. */
export function* restoreRecord(context: SqlContext, plan: Restore): Transaction<Outcome | Large> {
  const { resource, id } = plan
  yield* holdAllRulesBelow(context, resource.name)
  const now = Math.max(plan.now, (yield* purgeBegan(context)) ?? plan.now)
  const since = retainedSince(resource, now)
  // What permits it may be deleted too: that is what stands against it then, unless it would not permit it (DEL-6).
  const permitting: PredicateContext = {
    ...context,
    locksReferenced: true,
    deletedSince: (target) => retainedSince(target, now),
  }
  const permitted = decidable(plan, plan.mayRead)
  const row = yield* firstRow(
    sql`select ${storedSql(context, resource)}, ${holdsSql(permitting, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and (deleted_at is null or deleted_at > ${since})${context.engine.lock.update}`,
  )
  const ended = admit(plan, foundOf(row))
  if (ended !== undefined || row === undefined) return ended ?? { kind: 'missing' }
  if (row['deleted_at'] === null) {
    const message = 'The record is not deleted: there is nothing to restore.'
    return { kind: 'conflict', issues: [{ code: 'NOT_DELETED', message }] }
  }
  const restored = { ...recordOf(resource, row), deleted_at: null, updated_at: timestamp(plan.now) }
  const isDecided = !dependsOn(resource, plan.permitted, ['deleted_at', 'updated_at'])
  if (!isDecided && !(yield* holdsFor(permitting, resource, plan.permitted, restored))) return { kind: 'forbidden' }
  const deletion = String(row['_deletion'])
  if (yield* isRunning(deletion)) return { kind: 'conflict', issues: [goingIssue] }
  const elsewhere = isForElsewhere(context, resource)
  const returning = yield* returningWith(
    context,
    { resource, id, now },
    deletion,
    elsewhere ? lookedAtOnce : Number.POSITIVE_INFINITY,
  )
  if (returning === undefined) return large
  const issues = yield* objectionsTo(context, plan, returning)
  if (issues.length > 0) return { kind: 'conflict', issues }
  const moves: Moves = new Map()
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    const which = context.engine.isAnyOf(raw('id'), [...ids])
    yield sql`update ${tableSql(collection)} set deleted_at = null, _deletion = null, updated_at = ${timestamp(plan.now)}, _revision = _revision + 1 where ${which}`
    noteMove(moves, collection, ids.size, -ids.size)
  }
  yield* tickAll(context, moves)
  const { json, revision, updatedAt, readable } = yield* represent(context, plan, id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/**
 * The record, and what hangs under it by `cascade` and was deleted by the same deletion: nothing that had gone before, and
 * nothing that is gone since, because its own grace period was shorter (DEL-7).
 *
 * @param asked `now`: milliseconds since 1970
 * @param most where there are more, `undefined`
 */
function* returningWith(
  { catalog, engine }: SqlContext,
  { resource, id, now }: Pick<Restore, 'resource' | 'id' | 'now'>,
  deletion: string,
  most: number,
): Transaction<Closure | undefined> {
  const returning = new Map([[resource.name, new Set([id])]])
  const limit = most === Number.POSITIVE_INFINITY ? raw('') : sql` limit ${most + 1}`
  const frontier: [string, string[]][] = [[resource.name, [id]]]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field } of cascadesOf(catalog, collection)) {
      const dependent = resourceOf(catalog, from)
      if (dependent.deletion.variant === 'hard') continue
      const refers = engine.isAnyOf(columnSql(subject, field), ids)
      const rows =
        yield sql`select id from ${tableSql(from)} ${raw(subject)} where ${raw(subject)}.deleted_at > ${retainedSince(dependent, now)} and ${raw(subject)}._deletion = ${deletion} and ${refers}${engine.lock.orderById}${limit}${engine.lock.update}`
      const known = returning.get(from) ?? new Set<string>()
      returning.set(from, known)
      const fresh = rows.map((row) => String(row['id'])).filter((each) => !known.has(each))
      for (const each of fresh) known.add(each)
      if (sizeOf(returning) > most) return undefined
      if (fresh.length > 0) frontier.push([from, fresh])
    }
  }
  return returning
}

/** What stands against it: values taken meanwhile, records that are not there any more, business rules. */
function* objectionsTo(context: SqlContext, plan: Restore, returning: Closure): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of returning) {
    if (ids.size === 0) continue
    const resource = resourceOf(context.catalog, collection)
    const found = [
      ...(yield* lost(context, resource, ids, returning)),
      ...(yield* taken(context, resource, ids)),
      ...(yield* tooLong(context, resource, ids)),
      ...(yield* ruled(context, plan, resource, ids)),
    ]
    const isOwn = (id: string) => resource === plan.resource && id === plan.id
    const others = found.filter(({ id }) => !isOwn(id))
    const readable = new Set(yield* readableAmong(context, plan, resource, others))
    const unread = new Map<string, Issue>()
    for (const { id, issue } of found) {
      if (isOwn(id)) issues.push(issue)
      else {
        // A pointer leads into the record that was asked for; of another one the message says which.
        const { pointer, ...rest } = issue
        if (readable.has(id)) issues.push({ ...rest, message: `${collection} ${id}: ${issue.message}` })
        else unread.set(`${issue.code} ${issue.message}`, { ...rest, message: `${collection}: ${issue.message}` })
      }
    }
    issues.push(...unread.values())
  }
  return issues
}

/** Those of some deleted records that the caller may read, as the records were: others are neither named nor counted (AUT-9). */
function* readableAmong(
  context: SqlContext,
  { readable }: Pick<Restore, 'readable'>,
  resource: Resource,
  objections: readonly Objection[],
): Transaction<string[]> {
  if (objections.length === 0) return []
  const among = context.engine.isAnyOf(columnSql(subject, 'id'), [...new Set(objections.map(({ id }) => id))])
  const shown = predicateSql(context, resource, readable.get(resource.name) ?? never)
  const rows = yield sql`select id from ${tableSql(resource.name)} ${raw(subject)} where ${among} and ${shown}`
  return rows.map((row) => String(row['id']))
}

/** Records that refer to something that is deleted, and does not return with them. */
function* lost(
  context: SqlContext,
  resource: Resource,
  ids: ReadonlySet<string>,
  returning: Closure,
): Transaction<Objection[]> {
  const { engine } = context
  const objections: Objection[] = []
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
  for (const { name, reference } of resource.fields) {
    if (reference === undefined) continue
    const { collection } = reference
    const column = columnSql(subject, name)
    const back = [...(returning.get(collection) ?? [])]
    const comes = engine.isAnyOf(column, back)
    // None of what they refer to goes before they are back.
    const referred = sql`select ${column} from ${tableSql(resource.name)} ${raw(subject)} where ${among}`
    yield ignoringRows(
      sql`select id from ${tableSql(collection)} where id in (${referred}) and deleted_at is null${engine.lock.orderById}${engine.lock.share}`,
    )
    const referring = sql`from ${tableSql(resource.name)} ${raw(subject)} where ${among} and ${column} is not null and not (${comes})`
    const going = yield* goingAmong(context, collection, sql`select distinct ${column} as id ${referring}`)
    const isGoing = engine.isAnyOf(column, going)
    const there = sql`exists (select 1 from ${tableSql(collection)} x where x.id = ${column} and x.deleted_at is null)`
    for (const [which, issue] of [
      [sql`not (${isGoing}) and not ${there}`, lostIssue(name, collection)],
      [isGoing, goingReferenceIssue(name, collection)],
    ] as const) {
      const rows = yield sql`select id ${referring} and ${which} order by id limit ${mostNamed}`
      objections.push(...rows.map((row) => ({ id: String(row['id']), issue })))
    }
  }
  return objections
}

/** Those of some records that a deletion which still runs has taken, or is about to take. */
function* goingAmong(context: SqlContext, collection: string, ids: Sql): Transaction<string[]> {
  if (!(yield* deletionsRun())) return []
  const going: string[] = []
  for (const row of yield ids) {
    const id = String(row['id'])
    if (yield* isBeingDeleted(context, collection, id)) going.push(id)
  }
  return going
}

/** Records of which another live one has taken a value that must be unique. */
function* taken({ engine }: SqlContext, resource: Resource, ids: ReadonlySet<string>): Transaction<Objection[]> {
  const objections: Objection[] = []
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
  const table = tableSql(resource.name)
  for (const fields of resource.unique) {
    const same = fields.map((name) => {
      const column = comparisonColumn(resource, name)
      return sql`${columnSql('x', column)} = ${columnSql(subject, column)}`
    })
    const other = sql`exists (select 1 from ${table} x where ${join(same, ' and ')} and x.deleted_at is null)`
    const rows =
      yield sql`select id from ${table} ${raw(subject)} where ${among} and ${other} order by id limit ${mostNamed}`
    for (const row of rows) objections.push({ id: String(row['id']), issue: takenIssue(fields) })
  }
  return objections
}

/** Records with a text that is too long for an index, which holds live records only: it was declared after their deletion (LIM-3). */
function* tooLong({ engine }: SqlContext, resource: Resource, ids: ReadonlySet<string>): Transaction<Objection[]> {
  const names = indexedTexts(resource)
  if (names.length === 0) return []
  const columns = ['id', ...names].map((name) => columnSql(subject, name))
  const lengths = names.map((name) => sql`coalesce(length(cast(${columnSql(subject, name)} as text)), 0)`)
  const among = engine.isAnyOf(columnSql(subject, 'id'), [...ids])
  const rows =
    yield sql`select ${join(columns, ', ')} from ${tableSql(resource.name)} ${raw(subject)} where ${among} and ${join(lengths, ' + ')} > ${shortText} order by id`
  return rows.flatMap(({ id, ...values }) =>
    longKeyIssuesOfDeleted(resource, values).map((issue) => ({ id: String(id), issue })),
  )
}

/** Records that a business rule does not let return: those are asked one by one. */
function* ruled(
  context: SqlContext,
  plan: Restore,
  resource: Resource,
  ids: ReadonlySet<string>,
): Transaction<Objection[]> {
  if (!resource.rules.some((rule) => [rule.on].flat().includes('restore'))) return []
  const objections: Objection[] = []
  const among = context.engine.isAnyOf(raw('id'), [...ids])
  for (const row of yield sql`select ${storedSql(context, resource)} from ${tableSql(resource.name)} where ${among} order by id`) {
    const next = recordOf(resource, row)
    const transition: Transition = { resource, trigger: 'restore', current: undefined, next }
    const answers = yield* ask(context, resource, questionsOfRules(context.catalog, plan, transition))
    const found = ruleIssues(plan, transition, answers)
    objections.push(...found.map((issue) => ({ id: String(next['id']), issue })))
  }
  return objections
}
