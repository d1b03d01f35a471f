/**
 * A transaction is a generator that yields statements and receives their rows. Each engine has a runner of a few lines;
 * a test drives one by hand, without a database.
 */
import type { Sql } from 'sql-template-tag'

/** A row as the engine gives it: columns by name. */
export type Row = Record<string, string | number | null | Uint8Array>

/** What is run: a text, in either way of writing parameters, and their values. */
export type Statement = Pick<Sql, 'sql' | 'text' | 'values'>

/** Yields statements, receives rows, returns what came of it. */
export type Transaction<T> = Generator<Statement, T, Row[]>

/** A statement to be run again and again: its text is put together once. */
export function kept({ sql, text, values }: Sql): Statement {
  return { sql, text, values }
}

/** One statement's only row. */
export function* single(statement: Statement): Transaction<Row | undefined> {
  return (yield statement)[0]
}
