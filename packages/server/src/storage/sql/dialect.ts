/**
 * The dialect port: every difference between the SQL of the engines, as one record that each engine's folder fills. The
 * other ports are the runner of transactions (`Runner`) and the administration (`Administration`).
 */

import type { DecimalForm } from 'resourced-contract/model/decimal'
import type { Scalar } from 'resourced-contract/model/predicate'
import type { Sql } from 'sql-template-tag'
import type { Bound, Row, Transaction } from '../transaction.ts'
import type { Column, RecordedRow, SnapshotColumn } from './columns.ts'
import type { EventSpec } from './event-columns.ts'
import type { SummarySpec } from './kept-summaries.ts'
import type { TextComparison } from './operators.ts'
import type { ColumnSpec, Held, Layout, TableSpec } from './tables.ts'
import type { TotalSpec } from './totals.ts'

/** Row locks: the text at the end of a select. It is empty if one writer has the whole database. */
export interface Locks {
  /** Whether other transactions may write at the same time. */
  readonly hasOtherWriters: boolean
  /**
   * The order in which several rows are locked, so that two transactions never deadlock. The text precedes any limit.
   */
  readonly orderById: Sql
  /** No other transaction changes or locks the rows. */
  readonly update: Sql
  /** No other transaction changes the rows. */
  readonly share: Sql
  /** As `update`, and leaves out rows that other transactions have locked. */
  readonly skipLocked: Sql
  /**
   * A statement that keeps serializable transactions away: those of business rules. `undefined` where there are none.
   */
  readonly excludeSerializable: Sql | undefined
  /**
   * Selects as `id` the running transactions that may have read, before now, which deletions run; `undefined` if one
   * writer has the whole database.
   */
  readonly earlier: Sql | undefined
  /**
   * A statement that waits for the changes by filter that run, and keeps those that come later waiting: they could find
   * what was made since this one has looked, but not what this one changes. `undefined` with one writer. Serializable
   * transactions find that out by themselves.
   */
  readonly matching: Sql | undefined
  /** Says that a transaction only reads, so that nobody waits for it (`earlier`). */
  readonly asReader: Sql | undefined
}

/** A write of one row, and what must hold for it. */
export interface RowWrite {
  readonly collection: string
  readonly id: string
  /** Whether the row is new. Otherwise conditions may ask for its columns. */
  readonly isNew: boolean
  readonly conditions: readonly Sql[]
  /** What holds as long as nobody else writes, because the transaction has read it before. */
  unchanged(): readonly Sql[]
  /** The counters whose next numbers the row takes, once all conditions hold (RES-16). */
  readonly numbers: readonly NextNumber[]
  /** The ids of the records that hold sums of the row, in the order in which they are locked. */
  readonly holders: readonly string[]
  /** The statement that writes the row on further conditions. */
  change(conditions: readonly Sql[], numbers: ReadonlyMap<string, Bound | Sql>): Sql
  /** The search words of the row; `undefined`: they do not change. */
  readonly words: (() => string) | undefined
  /** The SQL that advances the clock; `undefined`: it advances later. */
  readonly tick: (() => Sql) | undefined
  /** Advances the clock by a statement of its own, or notes that it advances later. */
  touch(): Transaction<void>
  /** The columns that are asked of the row written; `undefined`: none, and there are no conditions. */
  readonly answer: Sql | undefined
  /** Whether the write may be a transaction of its own, if it writes the row. */
  readonly isWhole: boolean
  /** Who makes the change: a transaction of its own must say so itself. */
  readonly attribution: Attribution | undefined
}

/** What the full-text index is asked for: all of these words, and one that begins so; or one of these at least. */
export type IndexSearch =
  | { readonly all: readonly string[]; readonly prefix?: string }
  | { readonly any: readonly string[] }

/** The search words of a record. */
export interface WordsOf {
  readonly id: string
  readonly words: string
}

/** A text that is searched, and how much its words count. */
export interface WeightedText {
  readonly text: Sql
  readonly weight: number
}

/** A counter, and the statement that takes its next number as `last`, at the end of which a condition may stand. */
export interface NextNumber {
  /** The field that is numbered. */
  readonly name: string
  readonly counter: string
  take(where: Sql): Sql
}

/** The origin of a change (EVT-3, HIS-1); `null`: unknown, or the server. */
export interface Attribution {
  /** The id of the caller. */
  readonly caller: string | null
  /** The id of the request. */
  readonly request: string | null
  readonly version: string | null
  /** The mark of what the transaction changes as one (`goesOnSql`); left out: a new one. */
  readonly mark?: number
}

/** A trigger of a table, which writes events or revisions, or keeps summaries. */
export interface TableTrigger {
  readonly name: string
  /**
   * What the database keeps of it: another text is another trigger.
   *
   * @param schema quoted
   */
  definition(schema: string): string
  /** The statements that create or replace it. */
  statements(schema: string): readonly string[]
}

/** The SQL of one engine. Arguments that are columns are SQL text, already quoted. */
export interface Dialect {
  // Tables

  readonly layout: Layout
  /** Names tables themselves, where a connection may have views of the same names that check what is read. */
  readonly schema: Sql
  /** The engine's name for each type of column. */
  readonly types: Readonly<Record<ColumnSpec['type'], string>>
  /** A column's definition, as `create table` and `add column` take it. */
  readonly columnDefinition: (column: ColumnSpec) => string
  readonly createTable: (table: Pick<TableSpec, 'name' | 'columns' | 'search'>) => string
  /** The stored value of a field; `null` if it has none. */
  readonly store: (value: unknown, holds: Held) => unknown

  // Conditions

  /** The bound form of a comparison key. */
  bind(value: Scalar): Bound
  /** A value as a column of a row that is in no table. */
  cast(value: Bound, type: Column['type']): Sql
  /** `column` differs from `value`, where null differs from every value. */
  isDistinct(column: Sql, value: Bound): Sql
  /** `column` is one of the values: one parameter however many there are. */
  isAnyOf(column: Sql, values: readonly Scalar[]): Sql
  /** `column` is one of the values of a select, in one branch of an OR, so that each branch can use an index. */
  isInSubquery(column: Sql, select: Sql): Sql
  /** The texts of a JSON array, as a table with the column `value`. */
  elements(list: Sql, alias: string): Sql
  /** A whole number below 2 ** 51 that depends on an id and a number, without a pattern. */
  tagOffset(id: Sql, seed: number): Sql
  /** At the end of a subquery: keeps the planner from turning it into a join (an optimization fence). */
  readonly fence: Sql
  /** The same expression, for which the planner uses no index. */
  unindexed(expression: Sql): Sql
  /** At most so many rows: in the text itself, where the planner depends on it. */
  limit(count: number): Sql

  // Texts and search

  /** The text of a column in folded case (`fold` in model/text.ts). */
  fold(column: Sql): Sql
  /** Compares a text with a part of a text: both folded. */
  compareText(words: TextComparison, text: Sql, part: Sql): Sql
  /** Rows of the table `alias` that the full-text index finds. */
  matchesSearch(collection: string, alias: string, search: IndexSearch): Sql
  /** The array in a column of JSON has all of the items, or one of them; false or null where there is no array. */
  hasItems(column: Sql, values: readonly Scalar[], all: boolean): Sql
  /**
   * Whether texts have all of these words between them, the last as a prefix: decided on the texts, without an index.
   */
  haveWords(texts: readonly Sql[], words: readonly string[]): Sql
  /** How well texts match words, the last one as a prefix: `scoreOf` of each text, times its weight (WHR-6). */
  relevance(texts: readonly WeightedText[], words: readonly string[]): Sql
  /** The columns that hold a record's search words; none where a table of its own holds them. */
  wordColumns(words: () => string): readonly (readonly [string, Sql])[]
  /**
   * Inserts the search words of records into the table that holds them; `replaces` deletes their former words first.
   */
  indexWords(collection: string, records: readonly WordsOf[], replaces: boolean): Transaction<void>
  /** Deletes the search words of the records with these ids, before the records are deleted. */
  deleteWords(collection: string, ids: readonly string[]): Transaction<void>

  // JSON

  /** JSON of an object: names and SQL of values. */
  jsonObject(members: readonly (readonly [string, Sql])[]): Sql
  /** JSON of a column's value. */
  jsonValue(column: Sql, type: Column['type']): Sql
  /** JSON of a text without characters that need escaping: ids and timestamps. */
  jsonUnescaped(column: Sql): Sql
  /** The JSON of a column's value as a text, null where it is null. */
  jsonText(column: Sql, type: Exclude<Column['type'], 'text'>): Sql
  /** JSON of a value that is the same in every row. */
  jsonLiteral(value: unknown): Sql
  /** A whole number that is a member of the object in a JSON column; null where the column or the member is. */
  jsonInteger(column: Sql, member: string): Sql
  /** JSON array of the keys that rows are ordered by, as text: booleans as 0 and 1. */
  jsonKeys(columns: readonly (readonly [Sql, Column['type']])[]): Sql
  /** Joins texts of all rows: a comma and a line break between them. */
  joinRows(text: Sql): Sql
  /**
   * How many bytes a value takes as it is stored, uncompressed: found without reading a long one, where the engine can.
   */
  storedBytes(column: Sql, type: Column['type']): Sql

  // Summaries

  /**
   * The exact sum of a column of integers, or of the texts of decimals: a value that sorts like the number; null where
   * there is none.
   */
  sum(column: Sql, form: DecimalForm | undefined): Sql
  /** A sum divided by the number of its values, half away from zero rounded to so many digits after the point. */
  average(sum: Sql, count: Sql, digits: number): Sql
  /** The text of such a number, with so many digits after the point. */
  digits(value: Sql, scale: number): Sql
  /** The triggers of a table that keep its summaries (SUM-3). */
  summaryTriggers(table: string, specs: readonly SummarySpec[]): readonly TableTrigger[]
  /** The triggers of a table that keep the sums of its records in other tables. */
  totalTriggers(table: string, specs: readonly TotalSpec[]): readonly TableTrigger[]
  /** The triggers of the tenants of an operators' database (TEN-3). */
  readonly tenantTriggers: readonly TableTrigger[]
  /**
   * Takes the slots of kept figures that no running transaction has, and selects them as `slot`; `undefined` where one
   * writer has the database, whose triggers delete the figures of empty groups.
   */
  readonly takeSlots: Sql | undefined
  /** A select of rows of texts: `text0`, `text1` and so on. */
  textRows(rows: readonly (readonly string[])[], width: number): Sql

  // Events

  /**
   * Follows `insert` and `update` in statements that change one row. A constraint that fails undoes nothing then, so
   * SQLite keeps no copy of the pages that the statement changes.
   */
  readonly orFail: Sql
  /** The triggers of a table that write its events and revisions. */
  eventTriggers(table: string, spec: EventSpec): readonly TableTrigger[]
  /**
   * Keeps the present state of a record as a revision, where it is not kept: its history begins with the next change.
   */
  keepState(table: string, columns: readonly SnapshotColumn[], id: string): Sql
  /**
   * A derived table of one row: the record of an event as the event shows it, with the values and types that its
   * columns had in the table of its resource (`snapshotColumns`), and `id`. Columns that the event lacks are null.
   *
   * @param row the row of `events` or `revisions`, of a table of the statement around
   */
  snapshotSource(row: RecordedRow, columns: readonly SnapshotColumn[]): Sql
  /**
   * Tells the triggers who makes the changes of the running transaction. The rows of the statement are not read.
   */
  attribute(attribution: Attribution): Sql
  /**
   * Selects as `horizon` the position up to which no event can appear any more, and as `last` the last position that
   * was given. A reader runs it in the primary database before it takes the snapshot in which it reads events.
   * `undefined` where one writer has the database: there it is the newest position.
   */
  readonly horizon: Sql | undefined

  // Transactions

  readonly lock: Locks
  /**
   * Takes an advisory lock until the transaction ends, and says whether it was free; `undefined` where one writer has
   * the database.
   */
  readonly tryAdvisoryLock: ((name: string) => Sql) | undefined
  /**
   * Waits for an advisory lock and holds it until the transaction ends; `undefined` where one writer has the database.
   */
  readonly advisoryLock: ((name: string) => Sql) | undefined
  /** The row of a collection's clock that a transaction updates, as ` and …`. */
  readonly clockSlot: Sql
  /**
   * Writes a row if all conditions hold, and advances the clock of its collection: in one statement, where the engine
   * has one that does all this.
   *
   * @returns a row of what is asked of the row written; `undefined`: nothing is asked, or nothing was written
   */
  writeRow(write: RowWrite): Transaction<Row | undefined>
}
