/** Deleting a record, and with it what depends on it: all or nothing (DEL-4, DEL-5). */
import sql, { raw, type Sql } from 'sql-template-tag'
import { timestamp } from '../../model/instant.ts'
import type { Resource } from '../../model/resource.ts'
import { admit } from '../../plan/admit.ts'
import { questionsOfRules, ruleIssues, type Transition } from '../../plan/decide.ts'
import type { Delete, Outcome } from '../../plan/plan.ts'
import type { Issue } from '../../spec/faults.ts'
import { tick } from './clock.ts'
import { type Compiler, columnSql, tableSql } from './predicate.ts'
import { subject } from './represent.ts'
import { recordOf } from './rows.ts'
import { single, type Transaction } from './transaction.ts'
import { ask, currentRecord } from './write-record.ts'

/** By whom and when, which business rules may ask. */
type Judged = Pick<Delete, 'caller' | 'now'>

/** The ids that go, by collection. */
export type Closure = Map<string, Set<string>>

/** Runs a Delete. */
export function* deleteRecord(compiler: Compiler, plan: Delete): Transaction<Outcome> {
  const { found } = yield* currentRecord(compiler, plan)
  const ended = admit(plan, found)
  if (ended !== undefined) return ended
  const closure = yield* closureOf(compiler, plan.resource, [plan.id])
  const issues = yield* objectionsOf(compiler, plan, closure)
  if (issues.length > 0) return { kind: 'conflict', issues }
  const deletedAt = timestamp(plan.now)
  yield* removeClosure(compiler, plan, closure, deletedAt)
  return { kind: 'deleted', id: plan.id, deletedAt }
}

/** Records and all that goes with them by `cascade`; cycles end where everything is found. */
export function* closureOf(
  { catalog, expressions }: Compiler,
  resource: Resource,
  ids: readonly string[],
): Transaction<Closure> {
  const closure: Closure = new Map([[resource.name, new Set(ids)]])
  const frontier: [string, string[]][] = [[resource.name, [...ids]]]
  for (let entry = frontier.shift(); entry !== undefined; entry = frontier.shift()) {
    const [collection, ids] = entry
    for (const dependent of (catalog.resources.get(collection) as Resource).dependents) {
      if (dependent.onDelete !== 'cascade') continue
      const refers = expressions.isAmong(columnSql(subject, dependent.field), ids)
      const rows = yield sql`select id from ${live(dependent.collection)} and ${refers}`
      const known = closure.get(dependent.collection) ?? new Set()
      closure.set(dependent.collection, known)
      const fresh = rows.map((row) => String(row['id'])).filter((id) => !known.has(id))
      for (const id of fresh) known.add(id)
      if (fresh.length > 0) frontier.push([dependent.collection, fresh])
    }
  }
  return closure
}

/**
 * Everything that stands against a deletion.
 *
 * @param going all that goes, where that is more than the closure asked about
 */
export function* objectionsOf(
  compiler: Compiler,
  plan: Judged,
  closure: Closure,
  going = closure,
): Transaction<Issue[]> {
  return [...(yield* blockersOf(compiler, closure, going)), ...(yield* ruleObjections(compiler, plan, closure))]
}

/** Makes a deletion that nothing stands against. */
export function* removeClosure(
  compiler: Compiler,
  plan: Pick<Delete, 'deletion'>,
  closure: Closure,
  deletedAt: string,
): Transaction<void> {
  yield* clearReferences(compiler, closure, deletedAt)
  for (const [collection, ids] of closure) yield* remove(compiler, plan, collection, [...ids], deletedAt)
}

/** Live records that refer to what goes, do not go themselves, and forbid it. */
function* blockersOf({ catalog, expressions }: Compiler, closure: Closure, going: Closure): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of closure) {
    for (const { collection: from, field, onDelete } of (catalog.resources.get(collection) as Resource).dependents) {
      if (onDelete !== 'restrict') continue
      const staying = stayingSql({ catalog, expressions }, from, field, ids, going)
      const row = yield* single(sql`select count(*) as count from ${staying}`)
      const count = Number(row?.['count'])
      if (count === 0) continue
      const message =
        count === 1
          ? `1 record of ${from} refers to ${collection} by ${field}; delete or change it first.`
          : `${count} records of ${from} refer to ${collection} by ${field}; delete or change them first.`
      issues.push({ code: 'HAS_DEPENDENTS', message })
    }
  }
  return issues
}

/** What the business rules of everything that goes say against it. */
function* ruleObjections(compiler: Compiler, plan: Judged, closure: Closure): Transaction<Issue[]> {
  const issues: Issue[] = []
  for (const [collection, ids] of closure) {
    const resource = compiler.catalog.resources.get(collection) as Resource
    if (!resource.rules.some((rule) => [rule.on].flat().includes('delete'))) continue
    const rows =
      yield sql`select * from ${live(collection)} and ${compiler.expressions.isAmong(columnSql(subject, 'id'), [...ids])}`
    for (const row of rows) {
      const current = recordOf(resource, row)
      const transition: Transition = { resource, trigger: 'delete', current, next: undefined }
      const answers = yield* ask(compiler, resource, questionsOfRules(compiler.catalog, plan, transition))
      issues.push(...ruleIssues(plan, transition, answers))
    }
  }
  return issues
}

function* clearReferences(compiler: Compiler, closure: Closure, now: string): Transaction<void> {
  for (const [collection, ids] of closure) {
    for (const { collection: from, field, onDelete } of (compiler.catalog.resources.get(collection) as Resource)
      .dependents) {
      if (onDelete !== 'clear') continue
      const cleared =
        yield sql`update ${tableSql(from)} set ${raw(`"${field}"`)} = null, updated_at = ${now}, _revision = _revision + 1 where id in (select id from ${stayingSql(compiler, from, field, ids, closure)}) returning id`
      if (cleared.length > 0) yield tick(from, 0, 0)
    }
  }
}

function* remove(
  { catalog, expressions }: Compiler,
  plan: Pick<Delete, 'deletion'>,
  collection: string,
  ids: string[],
  now: string,
): Transaction<void> {
  if (ids.length === 0) return
  const resource = catalog.resources.get(collection) as Resource
  const which = expressions.isAmong(raw('id'), ids)
  if (resource.deletion.variant === 'soft') {
    yield sql`update ${tableSql(collection)} set deleted_at = ${now}, _deletion = ${plan.deletion}, _revision = _revision + 1 where ${which}`
    yield tick(collection, -ids.length, ids.length)
    return
  }
  if (resource.fields.some((field) => field.search)) yield expressions.forgetWords(collection, ids)
  yield sql`delete from ${tableSql(collection)} where ${which}`
  yield tick(collection, -ids.length, 0)
}

/** Live records of `from` that refer to one of `ids` and do not go themselves. */
function stayingSql({ expressions }: Compiler, from: string, field: string, ids: Set<string>, closure: Closure): Sql {
  const refers = expressions.isAmong(columnSql(subject, field), [...ids])
  const going = closure.get(from)
  if (going === undefined || going.size === 0) return sql`${live(from)} and ${refers}`
  return sql`${live(from)} and ${refers} and not (${expressions.isAmong(columnSql(subject, 'id'), [...going])})`
}

function live(collection: string): Sql {
  return sql`${tableSql(collection)} ${raw(subject)} where ${raw(subject)}.deleted_at is null`
}
