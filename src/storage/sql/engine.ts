/** The words of SQL in which the engines differ, for reads and writes of records: an engine fills this record. */
import type { Sql } from 'sql-template-tag'
import type { Scalar } from '../../model/predicate.ts'
import type { Transaction } from '../transaction.ts'
import type { Column } from './columns.ts'
import type { Held } from './table-spec.ts'
import type { ColumnSpec, IndexSpec, Layout, SearchSpec, TableSpec } from './tables.ts'

/** A value bound to a parameter. */
export type Bound = string | number | null | Uint8Array

/** How rows are held. They stand at the end of a select. */
export interface Locks {
  /** Whether there is anybody to hold rows against. */
  readonly isNeeded: boolean
  /** The order in which several are held, so that two who hold the same never wait for each other: before any limit. */
  readonly order: Sql
  /** Nobody else changes the rows, or holds them. */
  readonly update: Sql
  /** Nobody else changes the rows. */
  readonly share: Sql
  /** As `update`, without the rows that somebody else holds. */
  readonly free: Sql
  /**
   * A statement that keeps changes away which are serializable, for business rules: `undefined` where no change is, because one writer
   * holds everything.
   */
  readonly rules: Sql | undefined
}

/** What one engine says differently. Column arguments are SQL text, already quoted. */
export interface Engine {
  /** What its tables are like. */
  readonly layout: Layout
  /** Its word for each type of column. */
  readonly types: Readonly<Record<ColumnSpec['type'], string>>
  /** A name as the engine reads it, quoted: names come from the catalog only. */
  readonly identifier: (name: string) => string
  /** A column's definition, as `create table` and `add column` take it. */
  readonly columnDefinition: (column: ColumnSpec) => string
  readonly createTable: (table: TableSpec) => string
  readonly createIndex: (index: IndexSpec) => string
  readonly createSearch: (search: SearchSpec) => string
  /** What is stored for a value of a field; `null` for none. */
  readonly store: (value: unknown, holds: Held) => unknown
  /** The bound form of a comparison key. */
  bind(value: Scalar): Bound
  /** `column` differs from `value`, where null differs from every value. */
  isDistinct(column: Sql, value: Bound): Sql
  /** `column` is one of the values: one parameter however many there are. */
  isAmong(column: Sql, values: readonly Scalar[]): Sql
  /** `column` is one of what a select gives, in one branch of several: so written that each branch may have its index. */
  isSelected(column: Sql, select: Sql): Sql
  /** At the end of a subquery: keeps the planner from turning it into a join (an optimization fence). */
  readonly fence: Sql
  /** The text of a column in folded case (`fold` in model/text.ts). */
  fold(column: Sql): Sql
  /** The same expression, so written that no index is looked for. */
  unindexed(expression: Sql): Sql
  /** Whether a text holds another: both folded. */
  contains(text: Sql, part: string): Sql
  /** Whether a text begins with another: both folded. */
  startsWith(text: Sql, part: string): Sql
  /** Rows of the table `alias` whose search words match: every word, the last as a prefix. */
  searches(collection: string, alias: string, words: readonly string[]): Sql
  /** That texts have all of these words between them, the last as a prefix: decided on the texts themselves, without an index. */
  haveWords(texts: readonly Sql[], words: readonly string[]): Sql
  /** The columns in which a record's search words stand; none where they stand elsewhere. */
  wordColumns(words: string): readonly (readonly [string, Sql])[]
  /** Puts the search words of a record in that stand elsewhere; where it `replaces`, in place of those that it had. */
  indexWords(collection: string, id: string, words: string, replaces: boolean): Transaction<void>
  /** Takes out the search words of the rows with these ids, before the rows go. */
  forgetWords(collection: string, ids: readonly string[]): Transaction<void>
  /** JSON of an object: names and SQL of values. */
  jsonObject(members: readonly (readonly [string, Sql])[]): Sql
  /** JSON of a column's value. */
  jsonValue(column: Sql, type: Column['type']): Sql
  /** JSON of a column's text in which nothing has to be escaped: what the server makes. */
  jsonPlain(column: Sql): Sql
  /** At most so many rows: in the text itself, where plans are made for it. */
  limit(count: number): Sql
  /** A whole number that is a member of the object in a JSON column; null where the column or the member is. */
  jsonInteger(column: Sql, member: string): Sql
  /** The JSON of a column's value as a text, null where it is null. */
  jsonText(column: Sql, type: Exclude<Column['type'], 'text'>): Sql
  /** JSON of a value that is the same in every row. */
  jsonLiteral(value: unknown): Sql
  /** How many bytes a value takes as it is stored, uncompressed: found without reading a long one, where the engine can. */
  storedBytes(column: Sql, type: Column['type']): Sql
  /** JSON array of the keys that rows are ordered by, as text: booleans as 0 and 1. */
  jsonKeys(columns: readonly (readonly [Sql, Column['type']])[]): Sql
  /** Joins texts of all rows: a comma and a line break between them. */
  join(text: Sql): Sql
  /** A value as a column of a row that is made up. */
  typed(value: Bound, type: Column['type']): Sql
  /** What makes a select hold its rows until the transaction ends: nothing where one writer holds everything. */
  readonly lock: Locks
  /**
   * What tells two states of clocks apart that have one sum of revisions: a number, summed over their rows; 0 where there are no such
   * states, because everybody sees changes in one order.
   */
  readonly clockMark: Sql
  /** The part of a collection's clock that a transaction moves on, as ` and …`. */
  readonly clockPart: Sql
  /**
   * Takes a lock of a name until the transaction ends, and says whether it was free: `undefined` where one writer has all
   * there is.
   */
  readonly tryLock: ((name: string) => Sql) | undefined
  /** Takes a lock of a name until the transaction ends, and waits for it; `undefined` as with `tryLock`. */
  readonly waitForLock: ((name: string) => Sql) | undefined
  /**
   * A change of one row of a table, its clock, and what is selected of the row, in one statement, where there is such a thing. Where no
   * row is changed the clock stays.
   */
  readonly together: ((change: Sql, tick: Sql, columns: Sql) => Sql) | undefined
}
