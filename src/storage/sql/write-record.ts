/** Creating and changing one record: decided and written in the same transaction (CON-5). */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { allOf, type Predicate } from '../../model/predicate.ts'
import type { RecordValues, Resource } from '../../model/resource.ts'
import { admit, type Found } from '../../plan/admit.ts'
import {
  type Answer,
  type Answers,
  judge,
  type Question,
  questionsOfDraft,
  questionsOfRules,
  refusalOf,
  type Transition,
} from '../../plan/decide.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Create, Delete, Outcome, Represented, Update, Write } from '../../plan/plan.ts'
import { type Seen, seenOf } from '../../plan/stored.ts'
import { draftThrough, updateThrough } from '../../plan/through.ts'
import { tick } from './clock.ts'
import { columnsOf, comparisonColumn } from './columns.ts'
import { resourceOf } from './deletion/closure.ts'
import { canHang, goingIssue, isBeingDeleted, isGoing } from './deletion/going.ts'
import { type Compiler, columnSql, predicateSql, tableSql } from './predicate.ts'
import { checkParent } from './read-page.ts'
import { foundOf, holdsSql } from './read-record.ts'
import { representationSql, subject } from './represent.ts'
import { boundOf, recordOf, searchWords } from './rows.ts'
import { single, type Transaction } from './transaction.ts'

/** Runs a Create. */
export function* createRecord(compiler: Compiler, plan: Create): Transaction<Outcome> {
  const { id, resource } = plan
  const refused = yield* create(compiler, plan)
  if (refused !== undefined) return refused
  yield tick(resource.name, 1, 0)
  const { json, revision, updatedAt } = yield* represent(compiler, plan, id)
  return { kind: 'created', id, json, revision, updatedAt }
}

/** Runs many Creates of whichever resources, in order (see `Storage.load`): nobody asks for their representations. */
export function* createRecords(
  compiler: Compiler,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
): Transaction<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = []
  const created = new Map<string, number>()
  for (const plan of plans) {
    const refused = yield* create(compiler, plan)
    outcomes.push(refused)
    if (refused === undefined) created.set(plan.resource.name, (created.get(plan.resource.name) ?? 0) + 1)
    else if (whenRefused === 'stop') break
  }
  for (const [collection, count] of created) yield tick(collection, count, 0)
  return outcomes
}

/** Decides a Create and writes it; the refusal where there is one. */
function* create(compiler: Compiler, plan: Create): Transaction<Outcome | undefined> {
  const { resource } = plan
  if (plan.parent !== undefined) {
    const { resource: above, id } = plan.parent
    const refused = yield* checkParent(compiler, plan.parent)
    if (refused?.kind === 'parent-missing' && (yield* isBeingDeleted(compiler, above.name, id))) {
      return { kind: 'conflict', issues: [goingIssue] }
    }
    if (refused !== undefined) return refused
  }
  const draft = draftThrough(seenBy(compiler, plan), plan)
  const barred = yield* admitDraft(compiler, resource, plan.permitted, draft)
  if (barred !== undefined) return barred
  const transition: Transition = { resource, trigger: 'create', current: undefined, next: draft.values }
  const answers = yield* ask(compiler, resource, questionsOf(compiler, plan, transition, draft))
  const refused = judge(plan, transition, draft, answers)
  if (refused !== undefined) return refused
  yield* insertRecord(compiler, resource, draft.values)
  return undefined
}

/** Runs an Update. */
export function* updateRecord(compiler: Compiler, plan: Update): Transaction<Outcome> {
  const { resource } = plan
  // The operations `test` and `copy` of a JSON Patch read.
  const permitted = plan.kind === 'patch' ? allOf([plan.permitted, plan.mayRead]) : plan.permitted
  const { found, record } = yield* currentRecord(compiler, { ...plan, permitted })
  const ended = admit(plan, found)
  if (ended !== undefined || record === undefined) return ended ?? { kind: 'missing' }
  const drafted = updateThrough(seenBy(compiler, plan), plan, record)
  if (drafted.kind !== 'draft') return drafted
  const { draft } = drafted
  // A record moves under another one only where the caller might have put it there.
  if (draft.changed.some((name) => plan.movedBy.includes(name))) {
    const barred =
      (yield* admitDraft(compiler, resource, plan.permitted, draft)) ??
      (yield* admitDraft(compiler, resource, plan.mayCreate, draft))
    if (barred !== undefined) return barred
  }
  const transition: Transition = { resource, trigger: 'update', current: record, next: draft.values }
  const answers = yield* ask(compiler, resource, questionsOf(compiler, plan, transition, draft))
  const refused = judge(plan, transition, draft, answers)
  if (refused?.kind !== 'invalid' && (yield* isGoing(compiler, resource, record))) {
    return { kind: 'conflict', issues: [goingIssue] }
  }
  if (refused !== undefined) return refused
  if (draft.changed.length > 0) yield* changeRecord(compiler, resource, draft)
  const { json, revision, updatedAt, readable } = yield* represent(compiler, plan, plan.id, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/** The record at a plan's address, locked for what follows. */
export function* currentRecord(
  compiler: Compiler,
  { resource, id, permitted }: Pick<Update | Delete, 'resource' | 'id' | 'permitted'>,
): Transaction<{ found: Found | undefined; record: RecordValues | undefined }> {
  const row = yield* single(
    sql`select *, ${holdsSql(compiler, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null`,
  )
  return { found: foundOf(row), record: row === undefined ? undefined : recordOf(resource, row) }
}

/** How the client's version sees what a plan is about. */
function seenBy({ catalog }: Compiler, { shown }: Pick<Write, 'shown'>): Seen | undefined {
  return shown && seenOf(catalog, shown)
}

/** Asks all questions in one statement. */
export function* ask(compiler: Compiler, resource: Resource, questions: readonly Question[]): Transaction<Answers> {
  if (questions.length === 0) return []
  const columns = questions.map((question, index) => {
    const exists = sql`select exists (select 1 from ${askedSql(compiler, resource, question)})`
    return sql`(${exists}) as ${raw(`a${index}`)}`
  })
  const row = yield* single(sql`select ${join(columns, ', ')}`)
  const answers: [Question, Answer][] = []
  for (const [index, question] of questions.entries()) {
    const exists = row?.[`a${index}`] === 1
    answers.push([question, (yield* isReferenceGoing(compiler, question, exists)) ? 'going' : exists])
  }
  return answers
}

function* isReferenceGoing(compiler: Compiler, question: Question, exists: boolean): Transaction<boolean> {
  if (question.kind !== 'reference') return false
  const { collection, id } = question
  // What hangs on nothing is there, or is not.
  if (exists && !canHang(resourceOf(compiler.catalog, collection))) return false
  return yield* isBeingDeleted(compiler, collection, id)
}

function askedSql(compiler: Compiler, resource: Resource, question: Question): Sql {
  if (question.kind === 'reference') {
    return sql`${tableSql(question.collection)} where id = ${question.id} and deleted_at is null`
  }
  if (question.kind === 'taken') {
    const same = question.fields.map((name, index) => {
      const key = question.keys[index]
      return sql`${columnSql(subject, comparisonColumn(resource, name))} = ${compiler.expressions.bind(key ?? '')}`
    })
    return sql`${tableSql(resource.name)} ${raw(subject)} where ${join(same, ' and ')} and deleted_at is null and id <> ${question.except}`
  }
  const target = compiler.catalog.resources.get(question.collection) as Resource
  return sql`${tableSql(target.name)} ${raw(subject)} where deleted_at is null and ${predicateSql(compiler, target, subject, question.where)}`
}

function questionsOf(compiler: Compiler, plan: Create | Update, transition: Transition, draft: Draft): Question[] {
  return [...questionsOfDraft(plan.resource, draft), ...questionsOfRules(compiler.catalog, plan, transition)]
}

/** The refusal of a draft that a permission does not hold for. */
function* admitDraft(
  compiler: Compiler,
  resource: Resource,
  permission: Predicate,
  draft: Draft,
): Transaction<Outcome | undefined> {
  if (yield* holdsFor(compiler, resource, permission, draft.values)) return undefined
  const references = questionsOfDraft(resource, draft).filter((question) => question.kind === 'reference')
  return refusalOf(permission, draft, yield* ask(compiler, resource, references))
}

/** Whether a predicate holds for a record that is not in its table (yet): it is made up as a row of its own. */
function* holdsFor(
  compiler: Compiler,
  resource: Resource,
  predicate: Predicate,
  record: RecordValues,
): Transaction<boolean> {
  if (predicate.kind === 'always' || predicate.kind === 'never') return predicate.kind === 'always'
  const columns = columnsOf(resource).map((column) => sql`${boundOf(column, record)} as ${raw(`"${column.name}"`)}`)
  for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
    columns.push(sql`${record[name] as string | null} as ${raw(name)}`)
  }
  const row = yield* single(
    sql`select ${holdsSql(compiler, resource, predicate)} as _permitted from (select ${join(columns, ', ')}) ${raw(subject)}`,
  )
  return row?.['_permitted'] === 1
}

/** Writes a new record, and its words. The clock is the caller's. */
export function* insertRecord(compiler: Compiler, resource: Resource, record: RecordValues): Transaction<void> {
  const columns = columnsOf(resource)
  const names = ['id', ...columns.map((column) => column.name), 'created_at', 'updated_at', '_revision']
  const values = [
    record['id'],
    ...columns.map((column) => boundOf(column, record)),
    record['created_at'],
    record['updated_at'],
    1,
  ]
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  yield sql`insert into ${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))}) values (${join(values, ', ')})`
  yield* index(compiler, resource, record, false)
}

/** Writes the fields of a record that have changed, and moves the clock on. */
export function* changeRecord(
  compiler: Compiler,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  const columns = columnsOf(resource).filter((column) => changed.includes(column.field.name))
  const settings = columns.map((column) => sql`${raw(`"${column.name}"`)} = ${boundOf(column, values)}`)
  yield sql`update ${tableSql(resource.name)} set ${join(settings, ', ')}, updated_at = ${values['updated_at']}, _revision = _revision + 1 where id = ${values['id']}`
  if (resource.fields.some((field) => field.search && changed.includes(field.name))) {
    yield* index(compiler, resource, values, true)
  }
  yield tick(resource.name, 0, 0)
}

function* index(
  { expressions }: Compiler,
  resource: Resource,
  record: RecordValues,
  replaces: boolean,
): Transaction<void> {
  if (!resource.fields.some((field) => field.search)) return
  const words = searchWords(resource, record)
  yield* expressions.indexWords(resource.name, String(record['id']), words, replaces)
}

/** A record as it is answered, and whether the caller may see it. */
export function* represent(
  compiler: Compiler,
  { resource, shown }: Pick<Write, 'resource' | 'shown'>,
  id: string,
  mayRead: Predicate = { kind: 'always' },
): Transaction<Represented & { readonly readable: boolean }> {
  const row = yield* single(
    sql`select ${representationSql(compiler, shown ?? resource, undefined)} as json, _revision, updated_at, ${holdsSql(compiler, resource, mayRead)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id}`,
  )
  const found = foundOf(row) as Found
  return {
    json: String(row?.['json']),
    revision: found.revision,
    updatedAt: found.updatedAt,
    readable: found.permitted,
  }
}
