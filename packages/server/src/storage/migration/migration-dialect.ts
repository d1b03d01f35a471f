/** The parts of a migration that differ between engines. The other parts are shared: see `apply.ts`. */
import type { Sql } from 'sql-template-tag'
import type { Dialect } from '../sql/dialect.ts'
import type { ColumnSpec, SearchSpec } from '../sql/tables.ts'
import type { Statement, Transaction } from '../transaction.ts'
import type { Stored } from './convert.ts'
import type { ExistingSearch } from './diff.ts'
import type { MigrationStep, StepOf } from './migration-step.ts'

/** The values of a column that are converted into another column. */
export interface ColumnConversion {
  readonly table: string
  readonly from: string
  readonly to: ColumnSpec
  /** Converts one value that is not null. */
  convert(stored: Stored, id: string): Stored | null
  /** Further assignments to the converted rows, each with a comma before it. */
  readonly also: Sql
}

/** The columns and indexes that are filled from other columns of a table. */
export interface DerivedValues {
  readonly table: string
  readonly columns: readonly ColumnSpec[]
  /** The full-text index to rebuild. */
  readonly search: SearchSpec | undefined
  /** Whether the migration has created the table: it holds no rows, and no other connection uses it. */
  readonly isNew: boolean
}

/** The part of a migration that differs between engines. */
export interface MigrationDialect extends Dialect {
  /** Whether indexes of existing tables are built after the transaction, while other connections write. */
  readonly defersIndexes: boolean
  /** The column of a table that holds its full-text index; `undefined` where the index has tables of its own. */
  readonly searchColumn: string | undefined
  /** Selects every table, index and other relation (`Relation`). */
  readonly relations: Statement
  /** Selects the columns of tables (`ColumnRow`). */
  columnsOf(tables: readonly string[]): Statement
  /** Selects the indexes of tables: their name, whether they are unique, and their columns as a JSON array. */
  indexesOf(tables: readonly string[]): Statement
  /**
   * The full-text index of a table.
   *
   * @param table its name, and the columns whose words it is remembered to hold
   * @param relations the names of the tables and of the valid indexes
   * @param columns the names of the table's columns
   */
  searchOf(
    table: { readonly name: string; readonly search: readonly string[] },
    relations: ReadonlySet<string>,
    columns: ReadonlySet<string>,
  ): ExistingSearch | undefined
  /** Locks the existing tables of steps before the first step is taken. */
  lockTables(steps: readonly MigrationStep[], existing: ReadonlySet<string>): Statement[]
  /** Runs an update, and counts the rows that it changed. */
  countChanged(update: Sql): Transaction<number>
  /** Converts the values of a column, and counts the rows. */
  convertColumn(conversion: ColumnConversion): Transaction<number>
  /** Counts the values that a change of type cannot convert. */
  countInconvertible(step: StepOf<'change-type'>): Transaction<number>
  fillDerived(values: DerivedValues): Transaction<void>
  dropSearch(table: string): Statement[]
  /** Selects the triggers that write events (`ExistingTrigger`): one row at least, with the schema of all tables. */
  readonly eventTriggersFound: Statement
  /** Whether a trigger has to go before its table changes. Otherwise a statement lets a migration be no event. */
  readonly silence: 'without-triggers' | Statement
  dropTrigger(table: string, name: string): Statement[]
  /** Gives added columns the defaults that servers of the older declaration do not write. */
  setDefaults(steps: readonly MigrationStep[]): Statement[]
}
