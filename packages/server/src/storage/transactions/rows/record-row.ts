/**
 * The row of one record: selected for a change, with the permissions of the caller; written, with its search words and
 * the clock of its collection; and represented for the response. Here is also who makes a change, for the triggers of
 * events and revisions (EVT-3, HIS-1).
 */

import type { FieldGrants } from 'resourced-contract/model/field-grants'
import { always, never, type Predicate } from 'resourced-contract/model/predicate'
import type { Draft, RecordValues, Resource } from 'resourced-contract/model/resource'
import { hasRecording } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { type CurrentRecord, decidableRecords, type Found } from '../../../plan/check-record.ts'
import { judge, optimisticAnswers, type Proposal, unreadFields } from '../../../plan/decide.ts'
import type { Represented } from '../../../plan/outcome.ts'
import type { Create, Delete, Update, Write } from '../../../plan/plan.ts'
import { addressKey } from '../../sql/batch.ts'
import { type Column, columnsOf, comparisonColumn, subjectSql, tableSql } from '../../sql/columns.ts'
import type { SqlContext } from '../../sql/context.ts'
import type { Attribution } from '../../sql/dialect.ts'
import { eventSpecOf } from '../../sql/event-columns.ts'
import { newMark, nextRevisionSql } from '../../sql/marks.ts'
import { type PredicateContext, predicateSql } from '../../sql/predicate.ts'
import {
  boundOf,
  recordOf,
  representationSql,
  revisionColumn,
  searchWords,
  storedSql,
  versionedName,
  withheldNames,
  withheldSql,
} from '../../sql/records.ts'
import {
  attributing,
  type Bound,
  filled,
  firstRow,
  ignoringRows,
  prebuilt,
  type Row,
  type Statement,
  slot,
  standalone,
  type Transaction,
} from '../../transaction.ts'
import { tick, tickOne } from './clock.ts'
import { numbersOf } from './numbers.ts'

/** A plan, and what it reads of its record. */
export interface Addressed extends Pick<Update | Delete, 'resource' | 'id' | 'permitted' | 'readableFields'> {
  /** The records that the caller may read; left out: all. */
  readonly mayRead?: Predicate
  /** The fields that the caller may not write in every record. */
  readonly writableFields?: FieldGrants
  /** The fields that are not read; left out: none. */
  readonly unread?: ReadonlySet<string> | undefined
}

/** The record at a plan's address. The record is locked, and so are the records by which the permission holds. */
export function lockRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  return readCurrent(plan, currentStatement(context, plan, 'record', context.dialect.lock.update))
}

/** The same without the values of the record. */
export function* lockState(context: SqlContext, plan: Addressed): Transaction<Found | undefined> {
  const { batch, dialect } = context
  const locked = batch?.rows?.get(addressKey(plan.resource, plan.id))
  return foundOf(locked ?? (yield* firstRow(currentStatement(context, plan, 'state', dialect.lock.update))))
}

/** The same without locks, before the transaction begins. */
export function* peekRecord(context: SqlContext, plan: Addressed): Transaction<CurrentRecord> {
  const { batch } = context
  const locked = batch?.rows?.get(addressKey(plan.resource, plan.id))
  if (locked !== undefined) return currentOf(plan, locked)
  const statement = currentStatement(context, plan, 'record')
  return yield* readCurrent(plan, batch === undefined ? standalone(statement, 'reading') : statement)
}

/** The live records of many plans that differ in their ids, each locked in the order of their ids, by id. */
export function* lockRecords(
  context: SqlContext,
  plan: Omit<Addressed, 'id'>,
  ids: readonly string[],
): Transaction<ReadonlyMap<string, CurrentRecord>> {
  const rows = ids.length === 0 ? [] : yield lockingSql(context, plan, ids)
  return new Map(rows.map((row) => [String(row['id']), currentOf(plan, row)]))
}

/** The statement that locks them. */
export function lockingSql(context: SqlContext, plan: Omit<Addressed, 'id'>, ids: readonly string[]): Sql {
  const { isAnyOf, lock } = context.dialect
  const columns = storedSql(context, plan.resource, plan.unread)
  const current = currentSql({ ...context, locksReferenced: true }, plan, isAnyOf(sql`id`, ids), columns)
  return sql`${current}${lock.orderById}${lock.update}`
}

/** The plan of a change or a deletion, with what its decision reads of its record. */
export function addressOf<P extends Update | Delete>(plan: P): P & Addressed {
  const isDelete = plan.kind === 'delete'
  const mayRead = isDelete ? (plan.readable.get(plan.resource.name) ?? never) : plan.mayRead
  return { ...plan, permitted: decidableRecords(plan, mayRead), unread: isDelete ? undefined : unreadFields(plan) }
}

/** The text of the statement is built once for each resource, except where a permission has conditions. */
function currentStatement(context: SqlContext, plan: Addressed, what: 'record' | 'state', lock?: Sql): Statement {
  const { resource, id: asked, permitted, mayRead = always, readableFields, writableFields, unread } = plan
  const statement = (id: Bound) => {
    const state = sql`${revisionColumn(context, resource.name)}, updated_at`
    const columns = what === 'record' ? storedSql(context, resource, unread) : state
    const which = sql`id = ${id}`
    if (lock === undefined) return currentSql(context, plan, which, columns)
    return sql`${currentSql({ ...context, locksReferenced: true }, plan, which, columns)}${lock}`
  }
  const isForAll = permitted.kind === 'always' && mayRead.kind === 'always'
  if (!isForAll || readableFields !== undefined || writableFields !== undefined) return statement(asked)
  const idOf = ({ id }: Pick<Addressed, 'id'>) => id
  const key = `${lock === undefined ? 'peek' : 'lock'} ${what} ${resource.name} ${[...(unread ?? [])].join()}`
  const slots = context.statements.of(key, () => prebuilt(statement(slot(idOf))))
  return filled(slots, { id: asked })
}

function currentSql(
  context: PredicateContext,
  { resource, permitted, mayRead = always, readableFields, writableFields }: Omit<Addressed, 'id'>,
  which: Sql,
  columns: Sql,
): Sql {
  const readable = mayRead.kind === 'always' ? empty : sql`, ${holdsSql(context, resource, mayRead)} as _readable`
  const locked = writableFields && sql`, ${withheldSql(context, resource, writableFields)} as _locked`
  const access = sql`${hiddenColumn(context, resource, readableFields)}${locked ?? empty}`
  const selected = sql`${columns}, ${holdsSql(context, resource, permitted)} as _permitted${readable}${access}`
  // By the ids alone: while a table is new, PostgreSQL may go through a whole index of live records.
  const isLive = context.dialect.unindexed(raw('deleted_at is null'))
  return sql`select ${selected} from ${subjectSql(resource.name)} where ${which} and ${isLive}`
}

function* readCurrent(plan: Addressed, statement: Statement): Transaction<CurrentRecord> {
  return currentOf(plan, yield* firstRow(statement))
}

function currentOf({ resource, mayRead = always }: Omit<Addressed, 'id'>, row: Row | undefined): CurrentRecord {
  const isReadable = mayRead.kind === 'always' || row?.['_readable'] === 1
  const found = foundOf(row)
  if (row === undefined) return { found, record: undefined, isReadable }
  const hidden = found?.hidden === undefined ? undefined : withheldNames(found.hidden)
  const locked = row['_locked'] === undefined ? undefined : withheldNames(row['_locked'])
  return { found, record: recordOf(resource, row), isReadable, ...(hidden && { hidden }), ...(locked && { locked }) }
}

/** The column of a select that names the fields which the caller may not read, with a comma before it. */
export function hiddenColumn(context: PredicateContext, resource: Resource, readable: FieldGrants | undefined): Sql {
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

/** The same of several records, by id. */
export function* representAll(
  context: SqlContext,
  plan: Represents,
  ids: readonly string[],
  mayRead: Predicate,
): Transaction<ReadonlyMap<string, Answered>> {
  const columns = sql`id, ${answerSql(context, plan, mayRead)}`
  const which = context.dialect.isAnyOf(sql`id`, ids)
  const rows = yield sql`select ${columns} from ${subjectSql(plan.resource.name)} where ${which}`
  return new Map(rows.map((row) => [String(row['id']), answeredOf(row)]))
}

/** The columns of such a select: the same object where neither permissions nor fields have conditions. */
export function answerSql(context: SqlContext, plan: Represents, mayRead: Predicate): Sql {
  const isSame = mayRead.kind === 'always' && plan.readableFields === undefined
  const make = () => answerOf(context, plan, mayRead)
  return isSame ? context.texts.of(`answer ${versionedName(plan.versionResource ?? plan.resource)}`, make) : make()
}

function answerOf(
  context: SqlContext,
  { resource, versionResource, readableFields }: Represents,
  mayRead: Predicate,
): Sql {
  const json = representationSql(context, { resource: versionResource ?? resource, readableFields })
  return sql`${json} as json, ${stateSql(context, { resource, readableFields }, mayRead)}`
}

/** The columns of the validators of a record, and whether a predicate holds for the record: see `foundOf`. */
export function stateSql(
  context: PredicateContext,
  { resource, readableFields }: Pick<Represents, 'resource' | 'readableFields'>,
  permitted: Predicate,
): Sql {
  const state = sql`${revisionColumn(context, resource.name)}, updated_at`
  const hidden = hiddenColumn(context, resource, readableFields)
  return sql`${state}, ${holdsSql(context, resource, permitted)} as _permitted${hidden}`
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

/** Who makes the change of a plan. */
export function attributionOf({ caller, request }: Pick<Write, 'caller' | 'request'>): Attribution {
  return { caller: caller.id, request: request?.id ?? null, version: request?.version ?? null }
}

/** Tells who makes the change of the running transaction, where changes are recorded. */
export function* tellAttribution({ catalog, dialect }: SqlContext, attribution: Attribution): Transaction<void> {
  if (hasRecording(catalog)) yield attributing(dialect.attribute(attribution))
}

/**
 * Runs a change that is attributed to somebody, where changes are recorded.
 *
 * @param attribution `undefined`: nobody is known
 * @param change gets the context for its statements
 */
export function* attributed<T>(
  context: SqlContext,
  attribution: Attribution | undefined,
  change: (context: SqlContext) => Transaction<T>,
): Transaction<T> {
  if (attribution === undefined || !hasRecording(context.catalog)) return yield* change(context)
  const marked = { ...attribution, mark: newMark() }
  yield* tellAttribution(context, marked)
  return yield* change({ ...context, attribution: marked })
}

/** A value of a column, or the SQL of one. */
type Cell = readonly [name: string, value: Bound | Sql]

interface RecordWrite {
  readonly resource: Resource
  readonly values: RecordValues
  /** The fields that change; left out: the record is new. */
  readonly changed?: Draft['changed']
  /** What must hold; left out: nothing. */
  readonly conditions?: readonly Sql[]
  /** What the transaction has read before, and must still hold; left out: nothing. */
  readonly unchanged?: () => readonly Sql[]
  /** The columns to return (`answerSql`); left out: none. */
  readonly answer?: Sql
  /** Whether the write may be a transaction of its own, if it writes the record; `false` where left out. */
  readonly isWhole?: boolean
}

/**
 * Writes a record if all conditions hold, and advances the clock of its collection.
 *
 * @returns the columns to return; `undefined`: there are none, or nothing was written
 */
export function writeRecord(context: SqlContext, write: RecordWrite): Transaction<Row | undefined> {
  const { resource, values, changed, conditions = [], unchanged = () => [], answer, isWhole = false } = write
  const { name } = resource
  const isNew = changed === undefined
  const id = String(values['id'])
  return context.dialect.writeRow({
    ...{ collection: name, id, isNew, conditions, unchanged, answer, attribution: context.attribution },
    isWhole: isWhole && context.batch === undefined,
    numbers: isNew ? numbersOf(resource, values) : [],
    holders: holdersOf(resource, values),
    change: isNew
      ? (further, numbers) => insertionSql(context, resource, { ...values, ...Object.fromEntries(numbers) }, further)
      : (further) => updateSql(context, resource, { values, changed }, further),
    words: isSearched(resource, changed) ? () => searchWords(resource, values) : undefined,
    tick: context.batch === undefined ? () => tick(context, name, isNew ? 1 : 0, 0) : undefined,
    touch: () => tickOne(context, name, { live: isNew ? 1 : 0, deleted: 0, ids: isNew ? [] : [id] }),
  })
}

/** The ids of the records that hold sums of a record. */
function holdersOf({ totals = [] }: Resource, values: RecordValues): string[] {
  const ids = totals.flatMap(({ reference }) => (values[reference] === null ? [] : [String(values[reference])]))
  return [...new Set(ids)].sort()
}

/** Writes a new record that needs no number. The caller advances the clock, and indexes its words. */
export function* insertRecord(context: SqlContext, resource: Resource, record: RecordValues): Transaction<void> {
  if (wordCells(context, resource, record).length > 0) {
    yield ignoringRows(insertionSql(context, resource, record, []))
    return
  }
  // The text is built once for each resource.
  const slots = context.statements.of(`insert ${resource.name}`, () => {
    const bound = (column: Column) => slot((about: RecordValues) => boundOf(column, about))
    const own = (name: string) => slot((about: RecordValues) => about[name])
    return prebuilt(insertionSql(context, resource, record, [], { bound, own }))
  })
  yield ignoringRows(filled(slots, record))
}

/** Writes the changed fields of a record that the transaction has locked. The same is left to the caller. */
export function* changeRecord(
  context: SqlContext,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  yield ignoringRows(updateSql(context, resource, { values, changed }, []))
}

/** As `changeRecord`, and indexes the search words. */
export function* rewriteRecord(
  context: SqlContext,
  resource: Resource,
  draft: Pick<Draft, 'values' | 'changed'>,
): Transaction<void> {
  yield* changeRecord(context, resource, draft)
  const { id, words } = wordsOf(resource, draft.values, draft.changed)
  if (words !== undefined) yield* context.dialect.indexWords(resource.name, [{ id, words }], true)
}

/** The id and the search words of a record that was written; without words, if they did not change. */
export function wordsOf(
  resource: Resource,
  values: RecordValues,
  changed?: Draft['changed'],
): { readonly id: string; readonly words?: string } {
  const id = String(values['id'])
  return isSearched(resource, changed) ? { id, words: searchWords(resource, values) } : { id }
}

/**
 * Removes the value of a unique field from its index, before the same transaction changes the record. The revision
 * stays, so that this is no event; a history that begins with this change has the state before.
 */
export function* freeValue({ dialect }: SqlContext, resource: Resource, field: string, id: string): Transaction<void> {
  const spec = eventSpecOf(resource)
  if (spec?.hasHistory) yield ignoringRows(dialect.keepState(resource.name, spec.columns, id))
  const column = raw(`"${comparisonColumn(resource, field)}"`)
  yield ignoringRows(sql`update${dialect.orFail} ${tableSql(resource.name)} set ${column} = null where id = ${id}`)
}

/** The values of a new row: of the columns of fields, and of its own. */
interface CellValues {
  readonly bound: (column: Column) => Bound
  readonly own: (name: string) => Bound
}

function valuesFrom(record: RecordValues): CellValues {
  return { bound: (column) => boundOf(column, record), own: (name) => record[name] as string }
}

/** The statement that inserts a row if conditions hold. */
function insertionSql(
  context: SqlContext,
  resource: Resource,
  record: RecordValues,
  conditions: readonly Sql[],
  { bound, own }: CellValues = valuesFrom(record),
): Sql {
  const cells: Cell[] = [
    ['id', own('id')],
    ...columnsOf(resource).map((column): Cell => [column.name, bound(column)]),
    ...['created_at', 'updated_at'].map((name): Cell => [name, own(name)]),
    ['_revision', 1],
    ...wordCells(context, resource, record),
  ]
  const values = join(
    cells.map(([, value]) => value),
    ', ',
  )
  const source =
    conditions.length === 0 ? sql`values (${values})` : sql`select ${values} where ${join(conditions, ' and ')}`
  // Without RETURNING, for which SQLite would keep a copy of every page that it changes.
  const table = sql`${tableSql(resource.name)} (${raw(cells.map(([name]) => `"${name}"`).join(', '))})`
  return sql`insert${context.dialect.orFail} into ${table} ${source}`
}

/** The statement that updates a row if conditions hold. */
function updateSql(
  context: SqlContext,
  resource: Resource,
  { values, changed }: Pick<Draft, 'values' | 'changed'>,
  conditions: readonly Sql[],
): Sql {
  const cells: Cell[] = [
    ...columnsOf(resource).flatMap((column): Cell[] =>
      changed.includes(column.field.name) ? [[column.name, boundOf(column, values)]] : [],
    ),
    ...wordCells(context, resource, values, changed),
    ['updated_at', values['updated_at'] as string],
    ['_revision', nextRevisionSql(newMark())],
  ]
  const settings = cells.map(([name, value]) => sql`${raw(`"${name}"`)} = ${value}`)
  const where = join([sql`id = ${values['id'] as string}`, ...conditions], ' and ')
  return sql`update${context.dialect.orFail} ${tableSql(resource.name)} set ${join(settings, ', ')} where ${where}`
}

/** Whether the full-text index has a record, and the change of some of its fields, or of all, changes them. */
function isSearched({ fields }: Resource, changed?: Draft['changed']): boolean {
  return fields.some(({ name, search, items }) => (search || items !== undefined) && changed?.includes(name) !== false)
}

/** The columns of a row that hold its search words, where the engine has some and the words change. */
function wordCells(
  { dialect }: SqlContext,
  resource: Resource,
  values: RecordValues,
  changed?: Draft['changed'],
): readonly Cell[] {
  return isSearched(resource, changed) ? dialect.wordColumns(() => searchWords(resource, values)) : []
}

/** Whether a proposal can be written if its questions have the expected answers, which the write itself checks. */
export function isWritable(plan: Create | Update, proposal: Proposal): boolean {
  const answers = optimisticAnswers(proposal.questions)
  return answers !== undefined && judge(plan, proposal, answers) === undefined
}
