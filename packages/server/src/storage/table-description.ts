/** The tables of a database that Resourced did not create, as far as a declaration can be made from them. */
import type { Field } from 'resourced-contract/model/resource'

export interface TableDescription {
  readonly schema: string
  readonly name: string
  readonly comment: string | undefined
  readonly columns: readonly ColumnDescription[]
  /** The names of its columns; empty: none. */
  readonly primaryKey: readonly string[]
  readonly uniqueSets: readonly (readonly string[])[]
  /** Its indexes of columns and of all rows, those of `uniqueSets` too, but not that of the primary key. */
  readonly indexes: readonly IndexDescription[]
  readonly foreignKeys: readonly ForeignKeyDescription[]
  readonly checks: readonly CheckDescription[]
  /** Constraints, indexes and triggers without an equivalent in a declaration, as SQL or as a phrase. */
  readonly others: readonly string[]
}

export interface ColumnDescription {
  readonly name: string
  readonly type: ColumnTypeDescription
  readonly comment: string | undefined
  readonly required: boolean
  /** As SQL; `undefined`: none. */
  readonly default: string | undefined
  /** Whether the database numbers the rows by an identity or a sequence. */
  readonly numbered: boolean
  /** Whether the database computes the value. */
  readonly generated: boolean
  /** The conditions of its domain, as SQL about `VALUE`. */
  readonly domainChecks: readonly string[]
}

/** The type of a column; of a domain, the type that it is based on. */
export interface ColumnTypeDescription {
  /** The name in the catalog of the database, such as `varchar`. */
  readonly name: string
  /** The name as people write it, such as `character varying(20)`, or the name of the domain. */
  readonly label: string
  /** The most characters of a text; `undefined`: any number. */
  readonly length: number | undefined
  /** The digits of a number; `undefined`: any number. */
  readonly digits: { readonly precision: number; readonly scale: number } | undefined
  /** The values of an enumeration. */
  readonly values: readonly string[] | undefined
  /** The type of the elements of an array. */
  readonly element: ColumnTypeDescription | undefined
}

/** An index of columns. */
export interface IndexDescription {
  readonly columns: readonly string[]
  readonly unique: boolean
  /** Whether it has an order, so that sorted lists and ranges are read from it. */
  readonly ordered: boolean
}

export interface ForeignKeyDescription {
  readonly name: string
  readonly columns: readonly string[]
  readonly schema: string
  readonly table: string
  readonly targets: readonly string[]
  readonly onDelete: 'no action' | 'restrict' | 'cascade' | 'set null' | 'set default'
}

/** A check constraint. */
export interface CheckDescription {
  readonly name: string
  readonly columns: readonly string[]
  /** The condition, as SQL. */
  readonly condition: string
}

/** A view, partition or another relation that is no table of its own. */
export interface OtherRelation {
  readonly schema: string
  readonly name: string
  readonly kind: 'view' | 'materialized view' | 'foreign table' | 'partition' | 'inheriting table'
}

/** Everything that was read. */
export interface DatabaseDescription {
  readonly database: string
  /** The schemas that were read. */
  readonly schemas: readonly string[]
  readonly tables: readonly TableDescription[]
  readonly others: readonly OtherRelation[]
}

export interface TableReading {
  readonly table: TableDescription
  /** The columns that become fields. */
  readonly columns: readonly { readonly column: ColumnDescription; readonly field: Field }[]
  /** The names of the columns of keys. */
  readonly keys: readonly string[]
}

export interface TableRow {
  /** Its fields, as the JSON of a request body. */
  readonly value: Uint8Array
  /** The keys as texts, in the order in which they were asked for. */
  readonly keys: readonly (string | null)[]
}

/** An open database whose tables are read in one snapshot. */
export interface TableSource {
  readonly described: DatabaseDescription
  /** The rows of a table, in the order of its primary key. */
  rows(reading: TableReading): AsyncIterable<TableRow>
  close(): Promise<void>
}
