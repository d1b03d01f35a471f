/** Taking a deletion back: the record, and exactly what went with it, all or nothing (DEL-6). */
import sql, { raw } from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import type { RecordValues, Resource } from '../../../model/resource.ts'
import { admit } from '../../../plan/admit.ts'
import { questionsOfRecord, questionsOfRules, restoreIssues, type Transition } from '../../../plan/decide.ts'
import type { Outcome, Restore } from '../../../plan/plan.ts'
import type { Issue } from '../../../spec/faults.ts'
import { tick } from '../clock.ts'
import { type Compiler, columnSql, tableSql } from '../predicate.ts'
import { foundOf, holdsSql } from '../read-record.ts'
import { subject } from '../represent.ts'
import { recordOf } from '../rows.ts'
import { single, type Transaction } from '../transaction.ts'
import { ask, represent } from '../write-record.ts'
import { goingIssue, isRunning } from './going.ts'

/** What comes back, by collection and id. */
type Returning = Map<string, Map<string, RecordValues>>

/** Runs a Restore. */
export function* restoreRecord(compiler: Compiler, plan: Restore): Transaction<Outcome> {
  const { resource, id } = plan
  const row = yield* single(
    sql`select *, ${holdsSql(compiler, resource, plan.permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and (deleted_at is null or deleted_at > ${plan.since})`,
  )
  const ended = admit(plan, foundOf(row))
  if (ended !== undefined || row === undefined) return ended ?? { kind: 'missing' }
  if (row['deleted_at'] === null) {
    const message = 'The record is not deleted: there is nothing to restore.'
    return { kind: 'conflict', issues: [{ code: 'NOT_DELETED', message }] }
  }
  if (yield* isRunning(String(row['_deletion']))) return { kind: 'conflict', issues: [goingIssue] }
  const returning = yield* returningWith(compiler, plan, String(row['_deletion']), recordOf(resource, row))
  const issues = yield* objectionsTo(compiler, plan, returning)
  if (issues.length > 0) return { kind: 'conflict', issues }
  for (const [collection, records] of returning) {
    const which = compiler.expressions.isAmong(raw('id'), [...records.keys()])
    yield sql`update ${tableSql(collection)} set deleted_at = null, _deletion = null, updated_at = ${timestamp(plan.now)}, _revision = _revision + 1 where ${which}`
    yield tick(collection, records.size, -records.size)
  }
  const { json, revision, updatedAt, readable } = yield* represent(compiler, resource, id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/** The record, and what hangs under it by `cascade` and was deleted by the same deletion: nothing that had gone before. */
function* returningWith(
  { catalog, expressions }: Compiler,
  { resource, id }: Restore,
  deletion: string,
  record: RecordValues,
): Transaction<Returning> {
  const returning: Returning = new Map([[resource.name, new Map([[id, record]])]])
  const frontier: [string, string[]][] = [[resource.name, [id]]]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const { collection: from, field, onDelete } of (catalog.resources.get(collection) as Resource).dependents) {
      const dependent = catalog.resources.get(from) as Resource
      if (onDelete !== 'cascade' || dependent.deletion.variant === 'hard') continue
      const refers = expressions.isAmong(columnSql(subject, field), ids)
      const rows =
        yield sql`select * from ${tableSql(from)} ${raw(subject)} where ${raw(subject)}.deleted_at is not null and ${raw(subject)}._deletion = ${deletion} and ${refers}`
      const known = returning.get(from) ?? new Map<string, RecordValues>()
      returning.set(from, known)
      const fresh = rows.map((row) => recordOf(dependent, row)).filter((each) => !known.has(String(each['id'])))
      for (const each of fresh) known.set(String(each['id']), each)
      if (fresh.length > 0) frontier.push([from, fresh.map((each) => String(each['id']))])
    }
  }
  return returning
}

/** What stands against it: values taken meanwhile, records that are not there any more, business rules. */
function* objectionsTo(compiler: Compiler, plan: Restore, returning: Returning): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, records] of returning) {
    const resource = compiler.catalog.resources.get(collection) as Resource
    for (const next of records.values()) {
      const transition: Transition = { resource, trigger: 'restore', current: undefined, next }
      const questions = [
        ...questionsOfRecord(resource, next, (to, id) => returning.get(to)?.has(id) === true),
        ...questionsOfRules(compiler.catalog, plan, transition),
      ]
      const answers = yield* ask(compiler, resource, questions)
      const isAsked = resource === plan.resource && next['id'] === plan.id
      for (const found of restoreIssues(plan, transition, answers)) {
        // A pointer leads into the record that was asked for; of another one the message says which.
        const { pointer, ...rest } = found
        issues.push(isAsked ? found : { ...rest, message: `${collection} ${next['id']}: ${found.message}` })
      }
    }
  }
  return issues
}
