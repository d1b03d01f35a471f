/** What databases give and take when all that one of them holds moves to another, of any engine. */
import type { Row, Statement } from '../transaction.ts'
import type { MovedTable } from './moved-tables.ts'

/** The values of a row, in the order of its table's columns, as every engine gives them (`Row`). */
export type MovedRow = readonly Row[string][]

/** The database that is left. */
export interface MoveSource {
  /** From now on all is read on one snapshot. */
  begin(): Promise<void>
  /** Runs a statement that reads, on the snapshot. */
  all(statement: Statement): Promise<Row[]>
  /** The rows of a table, in the order of its first column, some at a time: a table may be larger than the memory. */
  rows(table: MovedTable): AsyncIterable<readonly MovedRow[]>
  /**
   * The file of a finished export, in pieces of bounded size.
   *
   * @throws Error where it cannot be read
   */
  file(job: string): AsyncIterable<Uint8Array>
  /** Runs a statement that reads what is there now, beside the snapshot. */
  now(statement: Statement): Promise<Row[]>
  close(): Promise<void>
}

/** The database that is filled. Its tables are there, and empty; nobody else sees anything of it until it is whole. */
export interface MoveTarget {
  /** In how many rows it keeps a clock. */
  readonly clockSlots: number
  /** Runs a statement. */
  all(statement: Statement): Promise<Row[]>
  write(table: MovedTable, rows: readonly MovedRow[]): Promise<void>
  /**
   * Keeps the file of a finished export.
   *
   * @param finished when the export was, in milliseconds since 1970
   */
  writeFile(job: string, content: AsyncIterable<Uint8Array>, finished: number): Promise<void>
  /** Makes what is made of rows: indexes, and the numbers that new rows get. */
  index(): Promise<void>
  /** As of a source. */
  rows(table: MovedTable): AsyncIterable<readonly MovedRow[]>
}

/** The most rows and the bytes, about, that are in memory at a time. */
export const batch = { rows: 1_000, bytes: 4_000_000 }
