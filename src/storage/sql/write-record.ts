/** Creating and changing one record: decided and written in the same transaction (CON-5). */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { allOf, always, type Predicate } from '../../model/predicate.ts'
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
import { type Moves, noteMove, tick, tickAll } from './clock.ts'
import { columnsOf, comparisonColumn } from './columns.ts'
import { resourceOf } from './deletion/closure.ts'
import { canHang, goingIssue, isBeingDeleted, isGoing } from './deletion/going.ts'
import { type Compiler, columnSql, predicateSql, tableSql } from './predicate.ts'
import { checkParent } from './read-page.ts'
import { foundOf, holdsSql } from './read-record.ts'
import { representationSql, subject } from './represent.ts'
import { boundOf, recordOf, searchWords, storedSql } from './rows.ts'
import { blind, last, type Row, single, type Transaction } from './transaction.ts'

/** Runs a Create. */
export function* createRecord(compiler: Compiler, plan: Create): Transaction<Outcome> {
  const { id } = plan
  const admitted = yield* admitCreate(compiler, plan)
  if (admitted.kind !== 'admitted') return admitted
  const write = insertion(compiler, plan.resource, admitted.values)
  const isLast = plan.idempotency === undefined
  const { json, revision, updatedAt } = yield* writeAndRepresent(compiler, plan, write, { live: 1, isLast })
  return { kind: 'created', id, json, revision, updatedAt }
}

/** Runs many Creates of whichever resources, in order (see `Storage.load`): nobody asks for their representations. */
export function* createRecords(
  compiler: Compiler,
  plans: readonly Create[],
  whenRefused: 'stop' | 'skip',
): Transaction<readonly (Outcome | undefined)[]> {
  const outcomes: (Outcome | undefined)[] = []
  const created: Moves = new Map()
  for (const plan of plans) {
    const { resource } = plan
    const admitted = yield* admitCreate(compiler, plan)
    if (admitted.kind === 'admitted') {
      yield* insertRecord(compiler, resource, admitted.values)
      noteMove(created, resource.name, 1, 0)
      outcomes.push(undefined)
    } else {
      outcomes.push(admitted)
      if (whenRefused === 'stop') break
    }
  }
  yield* tickAll(compiler, created)
  return outcomes
}

/** The record that a Create makes, or its refusal. */
function* admitCreate(
  compiler: Compiler,
  plan: Create,
): Transaction<Outcome | { readonly kind: 'admitted'; readonly values: RecordValues }> {
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
  return refused ?? { kind: 'admitted', values: draft.values }
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
  const { json, revision, updatedAt, readable } =
    draft.changed.length === 0
      ? yield* represent(compiler, plan, plan.id, plan.mayRead)
      : yield* writeAndRepresent(compiler, plan, change(compiler, resource, draft), { isLast: true }, plan.mayRead)
  return { kind: 'updated', json: readable ? json : undefined, revision, updatedAt }
}

/** The record at a plan's address, locked for what follows. */
export function* currentRecord(
  compiler: Compiler,
  { resource, id, permitted }: Pick<Update | Delete, 'resource' | 'id' | 'permitted'>,
): Transaction<{ found: Found | undefined; record: RecordValues | undefined }> {
  const row = yield* single(
    sql`select ${storedSql(resource)}, ${holdsSql(compiler, resource, permitted)} as _permitted from ${tableSql(resource.name)} ${raw(subject)} where id = ${id} and deleted_at is null${compiler.expressions.lock.update}`,
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
    return sql`${tableSql(question.collection)} ${raw(subject)} where id = ${question.id} and deleted_at is null${compiler.expressions.lock.share}`
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
  const { typed } = compiler.expressions
  const columns = columnsOf(resource).map(
    (column) => sql`${typed(boundOf(column, record), column.type)} as ${raw(`"${column.name}"`)}`,
  )
  for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
    columns.push(sql`${typed(record[name] as string | null, 'text')} as ${raw(name)}`)
  }
  const row = yield* single(
    sql`select ${holdsSql(compiler, resource, predicate)} as _permitted from (select ${join(columns, ', ')}) ${raw(subject)}`,
  )
  return row?.['_permitted'] === 1
}

/** What changes one row, and the search words of it that stand elsewhere. */
interface RecordChange {
  readonly id: string
  readonly change: Sql
  readonly words: string | undefined
  /** Whether there were words before. */
  readonly replaces: boolean
}

function insertion({ expressions }: Compiler, resource: Resource, record: RecordValues): RecordChange {
  const words = resource.fields.some((field) => field.search) ? searchWords(resource, record) : undefined
  const columns = columnsOf(resource)
  const indexed = words === undefined ? [] : expressions.wordColumns(words)
  const names = [
    'id',
    ...columns.map((column) => column.name),
    ...['created_at', 'updated_at', '_revision'],
    ...indexed.map(([name]) => name),
  ]
  const values = [
    record['id'],
    ...columns.map((column) => boundOf(column, record)),
    ...[record['created_at'], record['updated_at'], 1],
    ...indexed.map(([, value]) => value),
  ]
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  const change = sql`insert into ${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))}) values (${join(values, ', ')})`
  return { id: String(record['id']), change, words, replaces: false }
}

function change(
  { expressions }: Compiler,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
): RecordChange {
  const isWord = resource.fields.some((field) => field.search && changed.includes(field.name))
  const words = isWord ? searchWords(resource, values) : undefined
  const columns = columnsOf(resource).filter((column) => changed.includes(column.field.name))
  const settings = columns.map((column) => sql`${raw(`"${column.name}"`)} = ${boundOf(column, values)}`)
  const indexed = words === undefined ? [] : expressions.wordColumns(words)
  for (const [name, value] of indexed) settings.push(sql`${raw(`"${name}"`)} = ${value}`)
  const id = String(values['id'])
  const statement = sql`update ${tableSql(resource.name)} set ${join(settings, ', ')}, updated_at = ${values['updated_at']}, _revision = _revision + 1 where id = ${id}`
  return { id, change: statement, words, replaces: true }
}

function* carryOut({ expressions }: Compiler, resource: Resource, { id, change, words, replaces }: RecordChange) {
  yield blind(change)
  if (words !== undefined) yield* expressions.indexWords(resource.name, id, words, replaces)
}

/** Writes a new record, and its words. The clock is the caller's. */
export function* insertRecord(compiler: Compiler, resource: Resource, record: RecordValues): Transaction<void> {
  yield* carryOut(compiler, resource, insertion(compiler, resource, record))
}

/** Writes the fields of a record that have changed, and moves the clock on. */
export function* changeRecord(
  compiler: Compiler,
  resource: Resource,
  draft: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  yield* carryOut(compiler, resource, change(compiler, resource, draft))
  yield blind(tick(compiler, resource.name, 0, 0))
}

/**
 * Changes a record, moves the clock on, and gives the record as it is answered.
 *
 * @param live how many live records there are more
 * @param isLast nothing follows in this transaction, and it is not to be undone
 */
function* writeAndRepresent(
  compiler: Compiler,
  plan: Pick<Write, 'resource' | 'shown'>,
  write: RecordChange,
  { live = 0, isLast }: { readonly live?: number; readonly isLast: boolean },
  mayRead: Predicate = always,
): Transaction<Answered> {
  const { resource } = plan
  const ticked = tick(compiler, resource.name, live, 0)
  const { together } = compiler.expressions
  if (together === undefined) {
    yield* carryOut(compiler, resource, write)
    yield blind(ticked)
    return yield* represent(compiler, plan, write.id, mayRead)
  }
  const statement = together(write.change, ticked, answerSql(compiler, plan, mayRead))
  return answeredOf(yield* single(isLast ? last(statement) : statement))
}

/** A record as it is answered, and whether the caller may see it. */
interface Answered extends Represented {
  readonly readable: boolean
}

/** Reads a record as it is answered. */
export function* represent(
  compiler: Compiler,
  plan: Pick<Write, 'resource' | 'shown'>,
  id: string,
  mayRead: Predicate = always,
): Transaction<Answered> {
  const answer = answerSql(compiler, plan, mayRead)
  return answeredOf(
    yield* single(sql`select ${answer} from ${tableSql(plan.resource.name)} ${raw(subject)} where id = ${id}`),
  )
}

function answerSql(
  compiler: Compiler,
  { resource, shown }: Pick<Write, 'resource' | 'shown'>,
  mayRead: Predicate,
): Sql {
  return sql`${representationSql(compiler, shown ?? resource, undefined)} as json, _revision, updated_at, ${holdsSql(compiler, resource, mayRead)} as _permitted`
}

function answeredOf(row: Row | undefined): Answered {
  const { revision, updatedAt, permitted } = foundOf(row) as Found
  return { json: String(row?.['json']), revision, updatedAt, readable: permitted }
}
