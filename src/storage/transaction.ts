/**
 * A transaction is a generator that yields statements and receives their rows. Each engine has a runner of a few lines;
 * a test drives one by hand, without a database.
 */
import type { Sql } from 'sql-template-tag'

/** A row as the engine gives it: columns by name. */
export type Row = Record<string, string | number | null | Uint8Array>

/** What is run: a text, in either way of writing parameters, and their values. */
export type Statement = Pick<Sql, 'sql' | 'text' | 'values'> & {
  /** Nothing follows it in its transaction, and what it does is to stay: an engine may commit along with it. */
  readonly isLast?: boolean
  /** Nobody looks at its rows: an engine may send it along with the next one. */
  readonly isBlind?: boolean
  /** It stands before the first statement of its transaction, and is one of its own. */
  readonly alone?: Alone
}

/** `reading`: what follows must not rely on what it gave. `changing`: it gives rows, and nothing follows; or it gives none, and has changed nothing. */
export type Alone = 'reading' | 'changing'

/** Yields statements, receives rows, returns what came of it. */
export type Transaction<T> = Generator<Statement, T, Row[]>

/** A statement to be run again and again: its text is put together once. */
export function kept({ sql, text, values }: Sql): Statement {
  return { sql, text, values }
}

/** A statement after which its transaction ends well, whatever rows it gives. */
export function last(statement: Sql): Statement {
  return marked(statement, { isLast: true })
}

/** A statement whose rows nobody looks at. */
export function blind(statement: Sql): Statement {
  return marked(statement, { isBlind: true })
}

/** Its text is put together for the engine that reads it. */
function marked(
  statement: Pick<Sql, 'sql' | 'text' | 'values'>,
  marks: Pick<Statement, 'isLast' | 'isBlind' | 'alone'>,
): Statement {
  return {
    ...marks,
    values: statement.values,
    get sql() {
      return statement.sql
    },
    get text() {
      return statement.text
    },
  }
}

/** A statement that is a transaction of its own (see `Alone`). */
export function alone(statement: Pick<Sql, 'sql' | 'text' | 'values'>, alone: Alone): Statement {
  return marked(statement, { alone })
}

/** Runs transactions on a database; an error of the engine becomes the port's. */
export interface Runner {
  /** Runs one that only reads, on one snapshot. */
  read<T>(start: () => Transaction<T>): Promise<T>
  /**
   * Runs one that changes something; resolves once it is durable. An engine may start it again.
   *
   * @param changed whether an outcome is a change, otherwise what the transaction did is undone; always, where left out
   */
  write<T>(start: () => Transaction<T>, changed?: (outcome: T) => boolean): Promise<T>
}

/** One statement's only row. */
export function* single(statement: Statement): Transaction<Row | undefined> {
  return (yield statement)[0]
}
