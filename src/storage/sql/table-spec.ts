/** Tables, columns and indexes as data, independent of the engine. */
import { createHash } from 'node:crypto'
import type { DecimalForm } from '../../model/decimal.ts'
import type { Field, FieldType } from '../../model/resource.ts'
import type { ColumnType, Derivation } from './columns.ts'

/** The constraint of a column. `row`: the number that the engine gives to each row. */
export type Constraint = 'row' | 'primary key' | 'unique not null' | 'not null' | 'none'

/** The type of the values in a column. Decimals with another precision or scale are converted. */
export type Held = Exclude<FieldType, 'decimal'> | `decimal(${number},${number})`

/** The type of the values in the column of a field. */
export function heldBy({ type, decimal }: Pick<Field, 'type' | 'decimal'>): Held {
  if (type !== 'decimal' || decimal === undefined) return type as Exclude<FieldType, 'decimal'>
  return `decimal(${decimal.precision},${decimal.scale})`
}

/** The precision and scale of the decimals in a column; `undefined` where its values are no decimals. */
export function decimalFormIn(holds: Held): DecimalForm | undefined {
  const [, precision, scale] = /^decimal\((\d+),(\d+)\)$/.exec(holds) ?? []
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) }
}

/** A column. */
export interface ColumnSpec {
  readonly name: string
  /** `bytes`: in tables of the system only. */
  readonly type: ColumnType | 'bytes'
  /** The type of its values: several of them may share a type of column. */
  readonly holds: Held
  readonly constraint: Constraint
  /** Whether values are required. The program checks it, not the database, so that a change needs no new table. */
  readonly required: boolean
  /** The value for existing rows that have none; `undefined`: no value. */
  readonly default: unknown
  /** The column whose comparison key this one holds. */
  readonly derived: { readonly from: string; readonly by: Derivation } | undefined
}

/** An index. `live`: of rows that are not deleted; `deletion`: of rows that belong to a deletion. */
export interface IndexSpec {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly unique: boolean
  readonly where: 'everything' | 'live' | 'deletion'
}

/** The full-text index of a table, and the columns whose words it contains. */
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

/** How the tables of engines differ, apart from the names of types. */
export interface Layout {
  /** The number of rows of a collection's clock: so many transactions can update it at the same time. */
  readonly clockSlots: number
  /** Whether an index must contain the row number for rows to be read from it in the order of their numbers. */
  readonly indexesRowNumber: boolean
  /** Whether the database stores the files of exports, because its servers share no folder. */
  readonly storesExports: boolean
}

/** A column of a system table, or a system column. */
export function column(name: string, holds: 'string' | 'integer' | 'json', constraint: Constraint): ColumnSpec {
  const type = holds === 'string' ? 'text' : holds
  return { name, type, holds, constraint, required: false, default: undefined, derived: undefined }
}

/** The most bytes of a name that all engines accept. */
const longestName = 63

/** The prefix of the names of a table's indexes, which tells them from indexes of other programs. */
export function indexPrefix(table: string): string {
  return `${table}_by_`.slice(0, longestName - 7)
}

/** An index. Its name contains a hash of its definition, so that a changed definition is another index. */
export function index(
  columns: readonly ColumnSpec[],
  table: string,
  names: readonly string[],
  unique = false,
  where: IndexSpec['where'] = 'live',
): IndexSpec {
  // A column with another type of values gets a new index.
  const holds = names.map((name) => columns.find((each) => each.name === name)?.holds)
  const definition = JSON.stringify([table, names, holds, unique, where])
  const hash = createHash('sha256').update(definition).digest('hex').slice(0, 6)
  const readable = `${table}_by_${names.join('_')}`.slice(0, longestName - 7)
  return { name: `${readable}_${hash}`, table, columns: names, unique, where }
}
