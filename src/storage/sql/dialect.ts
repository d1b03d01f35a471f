/** What differs between the engines' SQL. One record for each engine; nobody asks which engine it is. */
import type { Held } from './table-spec.ts'
import type { ColumnSpec, IndexSpec, Layout, SearchSpec, TableSpec } from './tables.ts'

/** An engine's words for tables. */
export interface Dialect {
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
}
