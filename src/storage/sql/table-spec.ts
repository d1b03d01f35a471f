/** What a database should hold, as data. No engine's words are in here. */
import { createHash } from 'node:crypto'
import type { DecimalForm } from '../../model/decimal.ts'
import type { Field, FieldType } from '../../model/resource.ts'
import type { ColumnType, Derivation } from './columns.ts'

/** What the database itself holds a column to. `row` is the number that the engine gives to each row. */
export type Constraint = 'row' | 'primary key' | 'unique not null' | 'not null' | 'none'

/** What values are in a column. Decimals of another form are written another way: a change of it converts them. */
export type Held = Exclude<FieldType, 'decimal'> | `decimal(${number},${number})`

/** What is in the column of a field. */
export function heldBy({ type, decimal }: Pick<Field, 'type' | 'decimal'>): Held {
  if (type !== 'decimal' || decimal === undefined) return type as Exclude<FieldType, 'decimal'>
  return `decimal(${decimal.precision},${decimal.scale})`
}

/** The form of the decimals in a column; `undefined` where it holds others. */
export function decimalFormIn(holds: Held): DecimalForm | undefined {
  const [, precision, scale] = /^decimal\((\d+),(\d+)\)$/.exec(holds) ?? []
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) }
}

/** A column. */
export interface ColumnSpec {
  readonly name: string
  /** `bytes`: no field has them, only a table of the system's. */
  readonly type: ColumnType | 'bytes'
  /** What its values are: several types of value may share a type of column. */
  readonly holds: Held
  readonly constraint: Constraint
  /** No row may hold `null` here. The program keeps it, so that a change of mind needs no new table. */
  readonly required: boolean
  /** What stands in for `null` in rows that are there already; `undefined`: nothing does. */
  readonly default: unknown
  /** Made from another column, whose value it is compared in place of. */
  readonly derived: { readonly from: string; readonly by: Derivation } | undefined
}

/** An index. `live`: of rows that are not deleted; `deletion`: of rows that went with a deletion. */
export interface IndexSpec {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly unique: boolean
  readonly where: 'everything' | 'live' | 'deletion'
}

/** The full-text index of a table: which columns' words it holds. */
export interface SearchSpec {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
}

/** A table. */
export interface TableSpec {
  readonly name: string
  readonly kind: 'resource' | 'system'
  readonly columns: readonly ColumnSpec[]
  readonly indexes: readonly IndexSpec[]
  readonly search: SearchSpec | undefined
}

/** What an engine's tables are like, beyond its words for them. */
export interface Layout {
  /** In how many rows the clock of a collection is kept: so many transactions may move it on at once. */
  readonly clockSlots: number
  /** Whether the number of a row has to be named in an index for rows to be read from it in their order. */
  readonly indexesRowNumber: boolean
  /**
   * Whether the files of exports are kept in the database, because it has no place beside it that every server reaches.
   */
  readonly storesExports: boolean
}

/** Makes a column of the system's own. */
export function column(name: string, holds: 'string' | 'integer' | 'json', constraint: Constraint): ColumnSpec {
  const type = holds === 'string' ? 'text' : holds
  return { name, type, holds, constraint, required: false, default: undefined, derived: undefined }
}

/** The most bytes of a name that every engine keeps. */
const longestName = 63

/** The beginning of the names of a table's indexes, by which they are told from those that someone else made. */
export function indexPrefix(table: string): string {
  return `${table}_by_`.slice(0, longestName - 7)
}

/** Makes an index. It is named by its definition, so that a changed one is another index. */
export function index(
  columns: readonly ColumnSpec[],
  table: string,
  names: readonly string[],
  unique = false,
  where: IndexSpec['where'] = 'live',
): IndexSpec {
  // A column that holds something else now is indexed anew.
  const holds = names.map((name) => columns.find((each) => each.name === name)?.holds)
  const definition = JSON.stringify([table, names, holds, unique, where])
  const hash = createHash('sha256').update(definition).digest('hex').slice(0, 6)
  const readable = `${table}_by_${names.join('_')}`.slice(0, longestName - 7)
  return { name: `${readable}_${hash}`, table, columns: names, unique, where }
}
