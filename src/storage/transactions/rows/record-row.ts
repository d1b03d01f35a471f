/**
 * The row of one record: selected for a change, with the permissions of the caller; written, with its search words and
 * the clock of its collection; and represented for the response.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { always, type Predicate } from '../../../model/predicate.ts'
import type { Draft, RecordValues, Resource } from '../../../model/resource.ts'
import type { CurrentRecord, Found } from '../../../plan/check-record.ts'
import { judge, optimisticAnswers, type Proposal } from '../../../plan/decide.ts'
import type { Create, Delete, Represented, Update, Write } from '../../../plan/plan.ts'
import { type Column, columnsOf, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Bound } from '../../sql/engine.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import { filled, slot, slotted } from '../../sql/prepared.ts'
import { boundOf, recordOf, representationSql, revisionColumn, searchWords, storedSql } from '../../sql/records.ts'
import {
  committing,
  firstRow,
  ignoringRows,
  prebuilt,
  type Row,
  type Statement,
  standalone,
  type Transaction,
  touching,
} from '../../transaction.ts'
import { tick } from './clock.ts'

interface Addressed extends Pick<Update | Delete, 'resource' | 'id' | 'permitted'> {
  /** The records that the caller may read; left out: all. */
  readonly mayRead?: Predicate
}

/** The record at a plan's address. The record is locked, and so are the records by which the permission holds. */
export function lockRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, sql`${currentSql({ ...context, locksReferenced: true }, plan)}${context.engine.lock.update}`)
}

/** The same without locks, before the transaction begins. */
export function peekRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, standalone(currentSql(context, plan), 'reading'))
}

function currentSql(context: PredicateContext, { resource, id, permitted, mayRead = always }: Addressed): Sql {
  const readable = mayRead.kind === 'always' ? empty : sql`, ${holdsSql(context, resource, mayRead)} as _readable`
  const isPermitted = holdsSql(context, resource, permitted)
  const columns = sql`${storedSql(context, resource)}, ${isPermitted} as _permitted${readable}`
  return sql`select ${columns} from ${subjectSql(resource.name)} where id = ${id} and deleted_at is null`
}

function* readCurrent({ resource, mayRead = always }: Addressed, statement: Statement): Transaction<CurrentRecord> {
  const row = yield* firstRow(statement)
  const isReadable = mayRead.kind === 'always' || row?.['_readable'] === 1
  return { found: foundOf(row), record: row === undefined ? undefined : recordOf(resource, row), isReadable }
}

/** A record as the response to a change shows it, and whether the caller may see it. */
export interface Answered extends Represented {
  readonly readable: boolean
}

/** Selects a record for the response to a change. */
export function* represent(
  context: SqlContext,
  plan: Pick<Write, 'resource' | 'versionResource'>,
  id: string,
  mayRead: Predicate = always,
): Transaction<Answered> {
  const answer = answerSql(context, plan, mayRead)
  return answeredOf(yield* firstRow(sql`select ${answer} from ${subjectSql(plan.resource.name)} where id = ${id}`))
}

/** The columns of such a select. */
export function answerSql(
  context: SqlContext,
  { resource, versionResource }: Pick<Write, 'resource' | 'versionResource'>,
  mayRead: Predicate,
): Sql {
  const json = representationSql(context, versionResource ?? resource, undefined)
  const revision = revisionColumn(context, resource.name)
  return sql`${json} as json, ${revision}, updated_at, ${holdsSql(context, resource, mayRead)} as _permitted`
}

/** The record in a row of such a select. */
export function answeredOf(row: Row | undefined): Answered {
  const { revision, updatedAt, permitted } = foundOf(row) as Found
  return { json: String(row?.['json']), revision, updatedAt, readable: permitted }
}

/** A column that says whether a predicate holds for the row. */
export function holdsSql(context: PredicateContext, resource: Resource, predicate: Predicate): Sql {
  if (predicate.kind === 'always') return sql`1`
  return sql`case when ${predicateSql(context, resource, predicate)} then 1 else 0 end`
}

/** The state of a record in a row that has its validators. */
export function foundOf(row: Row | undefined): Found | undefined {
  if (row === undefined) return undefined
  return {
    revision: Number(row['_revision']),
    updatedAt: String(row['updated_at']),
    permitted: row['_permitted'] === 1,
  }
}

/** A statement that updates a row, and new search words that the engine keeps outside of it. */
interface RowChange {
  readonly id: string
  readonly statement: Sql
  readonly words: string | undefined
}

/** The values of a record. */
export function sourceOf(resource: Resource, record: RecordValues): RowSource {
  return {
    system: (name) => record[name] as string,
    column: (column) => boundOf(column, record),
    words: (hold) => hold(searchWords(resource, record)),
  }
}

/** Where the values of a row come from. */
export interface RowSource {
  readonly system: (name: 'id' | 'created_at' | 'updated_at') => Bound
  readonly column: (column: Column) => Bound
  readonly words: (hold: (words: string) => Sql) => Sql
}

/** Slots for the values of a record, in statements that are filled with `{ record }`. */
export function slotsOf(resource: Resource): RowSource {
  type About = { readonly record: RecordValues }
  return {
    system: (name) => slot(({ record }: About) => record[name]),
    column: (column) => slot(({ record }: About) => boundOf(column, record)),
    words: (hold) => slotted(hold(''), ({ record }: About) => hold(searchWords(resource, record))),
  }
}

/** The statement that inserts a row if conditions hold. */
export function insertionSql(
  { engine }: SqlContext,
  resource: Resource,
  { system, column, words }: RowSource,
  conditions: readonly Sql[] = [],
): Sql {
  const columns = columnsOf(resource)
  const indexed = (isSearched(resource) ? engine.wordColumns('') : []).map(
    ([name], index) => [name, words((text) => engine.wordColumns(text)[index]?.[1] as Sql)] as const,
  )
  const names = [
    'id',
    ...columns.map((column) => column.name),
    ...['created_at', 'updated_at', '_revision'],
    ...indexed.map(([name]) => name),
  ]
  const values = [
    system('id'),
    ...columns.map(column),
    ...[system('created_at'), system('updated_at'), 1],
    ...indexed.map(([, value]) => value),
  ]
  const source =
    conditions.length === 0
      ? sql`values (${join(values, ', ')})`
      : sql`select ${join(values, ', ')} where ${join(conditions, ' and ')}`
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  return sql`insert into ${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))}) ${source}`
}

function isSearched({ fields }: Resource): boolean {
  return fields.some((field) => field.search)
}

/** Updates a record if conditions hold. */
export function rowUpdate(
  { engine }: SqlContext,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  conditions: readonly Sql[] = [],
): RowChange {
  const isWord = resource.fields.some((field) => field.search && changed.includes(field.name))
  const words = isWord ? searchWords(resource, values) : undefined
  const columns = columnsOf(resource).filter((column) => changed.includes(column.field.name))
  const settings = columns.map((column) => sql`${raw(`"${column.name}"`)} = ${boundOf(column, values)}`)
  const indexed = words === undefined ? [] : engine.wordColumns(words)
  for (const [name, value] of indexed) settings.push(sql`${raw(`"${name}"`)} = ${value}`)
  const id = String(values['id'])
  settings.push(sql`updated_at = ${values['updated_at']}`, sql`_revision = _revision + 1`)
  const where = join([sql`id = ${id}`, ...conditions], ' and ')
  const statement = sql`update ${tableSql(resource.name)} set ${join(settings, ', ')} where ${where}`
  return { id, statement, words }
}

/** Updates a row and its search words. */
function* updateRow({ engine }: SqlContext, resource: Resource, { id, statement, words }: RowChange) {
  yield ignoringRows(statement)
  if (words !== undefined) yield* engine.indexWords(resource.name, id, words, true)
}

/** Writes a new record. The caller moves the clock. */
export function* insertRecord(context: SqlContext, resource: Resource, record: RecordValues): Transaction<void> {
  const { engine, statements } = context
  const insertion = statements.of(`insert ${resource.name}`, () =>
    prebuilt(insertionSql(context, resource, slotsOf(resource))),
  )
  yield ignoringRows(filled(insertion, { record }))
  if (isSearched(resource)) {
    yield* engine.indexWords(resource.name, String(record['id']), searchWords(resource, record), false)
  }
}

/** Writes the changed fields of a record and moves the clock. */
export function* changeRecord(
  context: SqlContext,
  resource: Resource,
  draft: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  const change = rowUpdate(context, resource, draft)
  yield* updateRow(context, resource, change)
  yield touching(tick(context, resource.name, 0, 0), { collection: resource.name, ids: [change.id] })
}

/** Updates a record, moves the clock, ends the transaction, and returns the record for the response. */
export function* writeAndRepresent(context: SqlContext, plan: Update, change: RowChange): Transaction<Answered> {
  const { resource, mayRead } = plan
  const ticked = tick(context, resource.name, 0, 0)
  const { writeReturning } = context.engine
  if (writeReturning === undefined) {
    yield* updateRow(context, resource, change)
    yield touching(ticked, { collection: resource.name, ids: [change.id] })
    return yield* represent(context, plan, change.id, mayRead)
  }
  const statement = writeReturning(change.statement, ticked, answerSql(context, plan, mayRead))
  return answeredOf(yield* firstRow(committing(statement)))
}

/**
 * Writes a proposal in one statement, whose conditions are everything that must hold. Over a network, each statement
 * less saves a round trip.
 *
 * @param statement the statement, which returns a row if it writes one
 * @returns that row; `undefined` if nothing was written: then the proposal must be decided step by step, which also
 *   finds the reason
 */
export function* writeInOneStatement(
  plan: Create | Update,
  proposal: Proposal,
  statement: () => Parameters<typeof standalone>[0],
): Transaction<Row | undefined> {
  const answers = optimisticAnswers(proposal.questions)
  if (answers === undefined || judge(plan, proposal, answers) !== undefined) return undefined
  return yield* firstRow(standalone(statement(), 'changing'))
}
