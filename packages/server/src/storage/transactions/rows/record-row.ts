/**
 * The row of one record: selected for a change, with the permissions of the caller; written, with its search words and
 * the clock of its collection; and represented for the response.
 */

import type { FieldGrants } from 'resourced-contract/model/field-grants'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Draft, RecordValues, Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { CurrentRecord, Found } from '../../../plan/check-record.ts'
import { judge, optimisticAnswers, type Proposal } from '../../../plan/decide.ts'
import type { Represented } from '../../../plan/outcome.ts'
import type { Create, Delete, Update, Write } from '../../../plan/plan.ts'
import { type Column, columnsOf, subjectSql, tableSql } from '../../sql/columns.ts'
import { filled, type SqlContext, slot, slotted } from '../../sql/context.ts'
import type { Bound, Dialect } from '../../sql/dialect.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import {
  boundOf,
  recordOf,
  representationSql,
  representationText,
  revisionAfter,
  revisionColumn,
  searchWords,
  storedSql,
  withheldNames,
  withheldSql,
} from '../../sql/records.ts'
import {
  firstRow,
  ignoringRows,
  prebuilt,
  type Row,
  type Statement,
  standalone,
  type Transaction,
} from '../../transaction.ts'
import { tick, touchedTick } from './clock.ts'

interface Addressed extends Pick<Update | Delete, 'resource' | 'id' | 'permitted' | 'readableFields'> {
  /** The records that the caller may read; left out: all. */
  readonly mayRead?: Predicate
  /** The fields that the caller may not write in every record. */
  readonly writableFields?: FieldGrants
  /** The fields that are not read; left out: none. */
  readonly unread?: ReadonlySet<string>
}

/** The record at a plan's address. The record is locked, and so are the records by which the permission holds. */
export function lockRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, lockingStatement(context, plan, 'record'))
}

/** The same without the values of the record. */
export function* lockState(context: SqlContext, plan: Addressed): Transaction<Found | undefined> {
  return foundOf(yield* firstRow(lockingStatement(context, plan, 'state')))
}

/** The same without locks, before the transaction begins. */
export function peekRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  const columns = storedSql(context, plan.resource, plan.unread)
  return readCurrent(plan, standalone(currentSql(context, plan, { id: plan.id, columns }), 'reading'))
}

/** The text of the statement is built once for each resource, except where a permission has conditions. */
function lockingStatement(context: SqlContext, plan: Addressed, what: 'record' | 'state'): Statement {
  const { resource, id: asked, permitted, mayRead = always, readableFields, writableFields, unread } = plan
  const statement = (id: Bound) => {
    const state = sql`${revisionColumn(context, resource.name)}, updated_at`
    const columns = what === 'record' ? storedSql(context, resource, unread) : state
    const current = currentSql({ ...context, locksReferenced: true }, plan, { id, columns })
    return sql`${current}${context.dialect.lock.update}`
  }
  const isForAll = permitted.kind === 'always' && mayRead.kind === 'always'
  if (!isForAll || readableFields !== undefined || writableFields !== undefined) return statement(asked)
  const idOf = ({ id }: Pick<Addressed, 'id'>) => id
  const slots = context.statements.of(`lock ${what} ${resource.name} ${[...(unread ?? [])].join()}`, () =>
    prebuilt(statement(slot(idOf))),
  )
  return filled(slots, { id: asked })
}

function currentSql(
  context: PredicateContext,
  { resource, permitted, mayRead = always, readableFields, writableFields }: Addressed,
  { id, columns }: { readonly id: Bound; readonly columns: Sql },
): Sql {
  const readable = mayRead.kind === 'always' ? empty : sql`, ${holdsSql(context, resource, mayRead)} as _readable`
  const locked = writableFields && sql`, ${withheldSql(context, resource, writableFields)} as _locked`
  const access = sql`${hiddenColumn(context, resource, readableFields)}${locked ?? empty}`
  const selected = sql`${columns}, ${holdsSql(context, resource, permitted)} as _permitted${readable}${access}`
  return sql`select ${selected} from ${subjectSql(resource.name)} where id = ${id} and deleted_at is null`
}

function* readCurrent({ resource, mayRead = always }: Addressed, statement: Statement): Transaction<CurrentRecord> {
  const row = yield* firstRow(statement)
  const isReadable = mayRead.kind === 'always' || row?.['_readable'] === 1
  const found = foundOf(row)
  if (row === undefined) return { found, record: undefined, isReadable }
  const hidden = found?.hidden === undefined ? undefined : withheldNames(found.hidden)
  const locked = row['_locked'] === undefined ? undefined : withheldNames(row['_locked'])
  return { found, record: recordOf(resource, row), isReadable, ...(hidden && { hidden }), ...(locked && { locked }) }
}

/** The column of a select that names the fields which the caller may not read, with a comma before it. */
export function hiddenColumn(context: SqlContext, resource: Resource, readable: FieldGrants | undefined): Sql {
  return readable === undefined ? empty : sql`, ${withheldSql(context, resource, readable)} as _hidden`
}

/** A record as the response to a change shows it, and whether the caller may see it. */
export interface Answered extends Represented {
  readonly readable: boolean
}

/** What a response shows of a record. */
type Represents = Pick<Write, 'resource' | 'versionResource' | 'readableFields'>

/** Selects a record for the response to a change. */
export function* represent(
  context: SqlContext,
  plan: Represents,
  id: string,
  mayRead: Predicate = always,
): Transaction<Answered> {
  const answer = answerSql(context, plan, mayRead)
  return answeredOf(yield* firstRow(sql`select ${answer} from ${subjectSql(plan.resource.name)} where id = ${id}`))
}

/** The columns of such a select. */
export function answerSql(
  context: SqlContext,
  { resource, versionResource, readableFields }: Represents,
  mayRead: Predicate,
): Sql {
  const json = representationSql(context, { resource: versionResource ?? resource, readableFields })
  const state = sql`${revisionColumn(context, resource.name)}, updated_at`
  const hidden = hiddenColumn(context, resource, readableFields)
  return sql`${json} as json, ${state}, ${holdsSql(context, resource, mayRead)} as _permitted${hidden}`
}

/** The record in a row of such a select. */
export function answeredOf(row: Row | undefined): Answered {
  const { permitted, ...validators } = foundOf(row) as Found
  return { json: String(row?.['json']), ...validators, readable: permitted }
}

/** A column that says whether a predicate holds for the row. */
export function holdsSql(context: PredicateContext, resource: Resource, predicate: Predicate): Sql {
  if (predicate.kind === 'always') return sql`1`
  return sql`case when ${predicateSql(context, resource, predicate)} then 1 else 0 end`
}

/** The state of a record in a row that has its validators. */
export function foundOf(row: Row | undefined): Found | undefined {
  if (row === undefined) return undefined
  const hidden = row['_hidden']
  return {
    revision: Number(row['_revision']),
    updatedAt: String(row['updated_at']),
    permitted: row['_permitted'] === 1,
    ...(typeof hidden === 'string' && hidden !== '' && { hidden }),
  }
}

/** The values of a record. */
export function sourceOf(resource: Resource, record: RecordValues): RowSource {
  return {
    system: (name) => record[name] as string,
    column: (column) => boundOf(column, record),
    words: (hold) => hold(searchWords(resource, record)),
    mark: newMark,
  }
}

/** Where the values of a row come from. */
export interface RowSource {
  readonly system: (name: 'id' | 'created_at' | 'updated_at') => Bound
  readonly column: (column: Column) => Bound
  readonly words: (hold: (words: string) => Sql) => Sql
  /** The mark of a change (`marks.ts`). */
  readonly mark: () => Bound
}

/** Slots for the values of a record, in statements that are filled with `{ record }`, and of a change with `mark`. */
export function slotsOf(resource: Resource): RowSource {
  type About = { readonly record: RecordValues }
  return {
    system: (name) => slot(({ record }: About) => record[name]),
    column: (column) => slot(({ record }: About) => boundOf(column, record)),
    words: (hold) => slotted(hold(''), ({ record }: About) => hold(searchWords(resource, record))),
    mark: () => slot(({ mark }: { readonly mark: number }) => mark),
  }
}

/**
 * The statement that inserts a row if conditions hold.
 *
 * @param numbers the SQL of the columns that the statement itself numbers
 */
export function insertionSql(
  { dialect }: SqlContext,
  resource: Resource,
  { system, column, words }: RowSource,
  conditions: readonly Sql[] = [],
  numbers: ReadonlyMap<string, Sql> = new Map(),
): Sql {
  const columns = columnsOf(resource)
  const indexed = isSearched(resource) ? wordValues(dialect, words) : []
  const names = [
    'id',
    ...columns.map((column) => column.name),
    ...['created_at', 'updated_at', '_revision'],
    ...indexed.map(([name]) => name),
  ]
  const values = [
    system('id'),
    ...columns.map((each) => numbers.get(each.name) ?? column(each)),
    ...[system('created_at'), system('updated_at'), 1],
    ...indexed.map(([, value]) => value),
  ]
  const source =
    conditions.length === 0
      ? sql`values (${join(values, ', ')})`
      : sql`select ${join(values, ', ')} where ${join(conditions, ' and ')}`
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  const table = sql`${tableSql(resource.name)} (${raw(names.map((name) => `"${name}"`).join(', '))})`
  return sql`insert${dialect.orFail} into ${table} ${source}`
}

function isSearched({ fields }: Resource): boolean {
  return fields.some((field) => field.search)
}

/** The columns of a row that hold its search words, where the engine has some, with their values. */
function wordValues(dialect: Dialect, words: RowSource['words']): (readonly [name: string, value: Sql])[] {
  return dialect
    .wordColumns('')
    .map(([name], index) => [name, words((text) => dialect.wordColumns(text)[index]?.[1] as Sql)] as const)
}

/** Whether a change of fields changes the search words of a record. */
function changesWords({ fields }: Resource, changed: Draft['changed']): boolean {
  return fields.some(({ name, search }) => search && changed.includes(name))
}

/** The fields that an update writes, and where their values come from. */
interface RowUpdate extends Pick<Draft, 'changed'> {
  readonly source: RowSource
  readonly conditions?: readonly Sql[]
}

/** The statement that updates a row if conditions hold. */
export function updateSql(
  { dialect }: SqlContext,
  resource: Resource,
  { changed, source: { system, column, words, mark }, conditions = [] }: RowUpdate,
): Sql {
  const columns = columnsOf(resource).filter(({ field }) => changed.includes(field.name))
  const values = columns.map((each) => [each.name, column(each)] as const)
  const indexed = changesWords(resource, changed) ? wordValues(dialect, words) : []
  const settings = [...values, ...indexed].map(([name, value]) => sql`${raw(`"${name}"`)} = ${value}`)
  settings.push(sql`updated_at = ${system('updated_at')}`, sql`_revision = ${nextRevisionSql(mark())}`)
  const where = join([sql`id = ${system('id')}`, ...conditions], ' and ')
  return sql`update${dialect.orFail} ${tableSql(resource.name)} set ${join(settings, ', ')} where ${where}`
}

/** Writes a new record. The caller moves the clock. */
export function* insertRecord(context: SqlContext, resource: Resource, record: RecordValues): Transaction<void> {
  const { dialect, statements } = context
  const insertion = statements.of(`insert ${resource.name}`, () =>
    prebuilt(insertionSql(context, resource, slotsOf(resource))),
  )
  yield ignoringRows(filled(insertion, { record }))
  if (isSearched(resource)) {
    yield* dialect.indexWords(resource.name, String(record['id']), searchWords(resource, record), false)
  }
}

/** Writes the changed fields of a record and moves the clock. The text is built once for each set of fields. */
export function* changeRecord(
  context: SqlContext,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  mark = newMark(),
): Transaction<void> {
  const { dialect, statements } = context
  const update = statements.of(`update ${resource.name} ${changed.join()}`, () =>
    prebuilt(updateSql(context, resource, { changed, source: slotsOf(resource) })),
  )
  yield ignoringRows(filled(update, { record: values, mark }))
  const id = String(values['id'])
  if (changesWords(resource, changed)) {
    yield* dialect.indexWords(resource.name, id, searchWords(resource, values), true)
  }
  yield touchedTick(context, resource.name, { live: 0, deleted: 0, ids: [id] })
}

/**
 * Updates a record, moves the clock, ends the transaction, and returns the record for the response.
 *
 * @param before the revision that the record had
 */
export function* writeAndRepresent(
  context: SqlContext,
  plan: Update,
  draft: Draft,
  before: number,
): Transaction<Answered> {
  const { resource, mayRead } = plan
  const { writeReturning } = context.dialect
  if (writeReturning !== undefined) {
    const source = sourceOf(resource, draft.values)
    const statement = updateSql(context, resource, { changed: draft.changed, source })
    const ticked = tick(context, resource.name, 0, 0)
    return answeredOf(yield* firstRow(writeReturning(statement, ticked, answerSql(context, plan, mayRead))))
  }
  const mark = newMark()
  yield* changeRecord(context, resource, draft, mark)
  const { id, versionResource } = plan
  const isWhole = mayRead.kind === 'always' && plan.readableFields === undefined
  if (!isWhole || !isAsStored(resource, draft)) return yield* represent(context, plan, id, mayRead)
  const json = representationText(versionResource ?? resource, draft.values)
  const revision = revisionAfter(context, resource.name, before, mark)
  return { json, revision, updatedAt: String(draft.values['updated_at']), readable: true }
}

/**
 * Whether the values of an updated record give its JSON. Equal objects may have their members in different orders, and
 * fields that were not read have no values.
 */
function isAsStored(resource: Resource, { changed }: Draft): boolean {
  return columnsOf(resource).every(({ type, field }) => type !== 'json' || changed.includes(field.name))
}

/**
 * Writes a proposal in one statement, whose conditions are everything that must hold. Over a network, each statement
 * less saves a round trip.
 *
 * @param statement the statement, which returns a row if it writes one
 * @param locks the counters that it locks
 * @returns that row; `undefined` if nothing was written: then the proposal must be decided step by step, which also
 *   finds the reason
 */
export function* writeInOneStatement(
  plan: Create | Update,
  proposal: Proposal,
  statement: () => Parameters<typeof standalone>[0],
  locks?: readonly string[],
): Transaction<Row | undefined> {
  const answers = optimisticAnswers(proposal.questions)
  if (answers === undefined || judge(plan, proposal, answers) !== undefined) return undefined
  return yield* firstRow(standalone(statement(), 'changing', { writes: plan.id, locks }))
}
