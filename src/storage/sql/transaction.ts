/**
 * A transaction is a generator that yields statements and receives their rows. Each engine has a runner of a few lines;
 * a test drives one by hand, without a database.
 */
import type { Sql } from 'sql-template-tag'

/** A row as the engine gives it: columns by name. */
export type Row = Record<string, string | number | null | Uint8Array>

/** Yields statements, receives rows, returns what came of it. */
export type Transaction<T> = Generator<Sql, T, Row[]>

/** One statement's only row. */
export function* single(statement: Sql): Transaction<Row | undefined> {
  return (yield statement)[0]
}
