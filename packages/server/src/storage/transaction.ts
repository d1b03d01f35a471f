/**
 * Transactions as generators that yield statements and receive their rows. Each engine has a runner for them, and a
 * test can run one by hand, without a database.
 */
import type { Sql } from 'sql-template-tag'

/** A value bound to a parameter. */
export type Bound = string | number | null | Uint8Array

/** A row as the engine gives it: columns by name. */
export type Row = Record<string, string | number | null | Uint8Array>

/** The value of a stored JSON text; `undefined`: it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A statement: its text, with `?` (`sql`) or `$1` (`text`) for parameters, and the parameters' values. */
export type Statement = Pick<Sql, 'sql' | 'text' | 'values'> & {
  /** The rows of this statement are not read: an engine may send it along with the next one. */
  readonly ignoresRows?: boolean | undefined
  /** The statement is a transaction of its own, before the first statement of the transaction that yields it. */
  readonly standalone?: Standalone | undefined
  /** The statement advances the clock of a collection once, for a change of these records alone. */
  readonly touches?: Touched | undefined
  /** These statements are sent at once, and the rows are the first of each. Engines with one writer need not know. */
  readonly together?: readonly Statement[]
  /** It tells who makes the change of its transaction, as every standalone change in it does too. */
  readonly attributes?: boolean | undefined
  /** Its values never change, so reads that begin at the same time may share its rows. */
  readonly isConstant?: boolean
  /** It may be several statements, without values and without rows. */
  readonly isScript?: boolean
}

/** Records of a collection that are created or changed. */
export interface Touched {
  readonly collection: string
  readonly ids: Iterable<string>
  /** How far it advances the clock of the collection. */
  readonly stride: number
}

/** `reading`: what follows must not rely on the rows. */
export type Standalone = 'reading' | StandaloneChange

/** A change that is one statement: either it gives rows, and nothing follows; or none, and it has changed nothing. */
export interface StandaloneChange {
  /** The id of the record that it writes. */
  readonly writes: string
  /** The counters that it locks until its commit, by name (RES-16). */
  readonly locks: readonly string[]
}

/** Yields statements, receives rows, returns the result of the transaction. */
export type Transaction<T> = Generator<Statement, T, Row[]>

/** A statement that is run many times: its text is built once. */
export function prebuilt({ sql, text, values }: Pick<Sql, 'sql' | 'text' | 'values'>): Statement {
  return { sql, text, values }
}

/** As `prebuilt`, with values that never change. */
export function constant(statement: Pick<Sql, 'sql' | 'text' | 'values'>): Statement {
  return { ...prebuilt(statement), isConstant: true }
}

/** A statement whose rows are not read. */
export function ignoringRows(statement: Pick<Sql, 'sql' | 'text' | 'values'>): Statement {
  return marked(statement, { ignoresRows: true })
}

/** A statement that tells who makes the change of its transaction. */
export function attributing(statement: Pick<Sql, 'sql' | 'text' | 'values'>): Statement {
  return marked(statement, { ignoresRows: true, attributes: true })
}

/** The statement that advances the clock of a collection for a change of these records alone. Its rows are not read. */
export function touching(tick: Pick<Sql, 'sql' | 'text' | 'values'>, touches: Touched): Statement {
  return marked(tick, { ignoresRows: true, touches })
}

/** A statement that is a transaction of its own. */
export function standalone(statement: Pick<Sql, 'sql' | 'text' | 'values'>, kind: Standalone): Statement {
  return marked(statement, { standalone: kind })
}

// Statements that run many times with different values: their texts are built once, with slots in place of values.

/** A placeholder for a value, and where the value comes from. */
class Slot {
  readonly take: (about: never) => unknown
  constructor(take: (about: never) => unknown) {
    this.take = take
  }
}

/** A placeholder whose value is taken from `about` when the statement runs. */
export function slot<About>(take: (about: About) => unknown): Bound {
  return new Slot(take) as unknown as Bound
}

/** A statement with its slots filled. */
export function filled<About>({ sql, text, values }: Statement, about: About): Statement {
  const given: unknown[] = []
  for (const value of values) given.push(value instanceof Slot ? value.take(about as never) : value)
  return { sql, text, values: given as Statement['values'] }
}

type Marks = Pick<Statement, 'ignoresRows' | 'standalone' | 'touches' | 'attributes'>

/** Marks a statement itself: a copy of it would build the texts of all engines. */
function marked(statement: Pick<Sql, 'sql' | 'text' | 'values'>, marks: Marks): Statement {
  return Object.assign(statement, marks)
}

/**
 * Others have changed what the transaction has read before: it starts again. Nobody does so where one writer has all.
 */
export class Outdated extends Error {}

/** Runs transactions on a database. Errors of the engine become those of the port (`StorageFault`). */
export interface Runner {
  /** Runs a transaction that only reads, on one snapshot. */
  read<T>(start: () => Transaction<T>): Promise<T>
  /**
   * Runs a transaction that changes something; resolves once the change is durable. An engine may start the transaction
   * again.
   *
   * @param changed whether a result is a change; otherwise the transaction is rolled back. Always a change, where left
   * out.
   */
  write<T>(start: () => Transaction<T>, changed?: (outcome: T) => boolean): Promise<T>
}

/**
 * The first row of each of some statements, which are sent at once. Only within a transaction, and only where there are
 * other writers.
 */
export function* firstRows(statements: readonly Statement[]): Transaction<readonly (Row | undefined)[]> {
  return yield { ...(statements[0] as Statement), standalone: undefined, ignoresRows: false, together: statements }
}

/** The first row of a statement. */
export function* firstRow(statement: Statement): Transaction<Row | undefined> {
  return (yield statement)[0]
}

/** The result of a transaction that ends with its first statement; `undefined`: it has more. */
export function* singleStatement<T>(transaction: Transaction<T>): Transaction<T | undefined> {
  const first = transaction.next([])
  const last = first.done === true ? first : transaction.next(yield first.value)
  return last.done === true ? last.value : undefined
}

/** Deletes batch after batch until one of them is empty. Returns how much. */
export async function inBatches(deleteSome: () => Promise<number>, goesOn: () => boolean): Promise<number> {
  let total = 0
  while (goesOn()) {
    const count = await deleteSome()
    if (count === 0) break
    total += count
  }
  return total
}
