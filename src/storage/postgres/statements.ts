/**
 * Statements on a connection: prepared once under a name, and sent together with the beginning and the end of their
 * transaction.
 */
import type { Socket } from 'node:net'
import pg from 'pg'
import { BoundedMap } from '../sql/bounded-map.ts'
import { StorageFault } from '../storage.ts'
import type { Row, Statement } from '../transaction.ts'
import type { Client } from './client.ts'
import { isDisconnected, isFromServer, isUnprepared, isUnsent } from './errors.ts'
import type { Limits } from './settings.ts'

/** The most prepared statements of a connection: their shapes come from queries. */
const mostPrepared = 500

interface Known {
  /** Names by text. */
  readonly names: BoundedMap<string>
  /** How many names were made. */
  made: number
}

const prepared = new WeakMap<pg.ClientBase, Known>()

/** Whether statements are prepared under names. Poolers in transaction mode may not keep them. */
export type Preparing = 'named' | 'unnamed'

/** Runs a statement. Several may be sent without waiting for answers: PostgreSQL runs them in order. */
export function prepareAndRun(
  client: pg.ClientBase,
  { text, values }: Statement,
  preparing: Preparing,
): Promise<Row[]> {
  const name = preparing === 'named' ? nameOf(client, text) : undefined
  return new Promise((resolve, reject) => {
    // `pg` uses a query object as it is, and copies any other configuration.
    const query = new pg.Query({ name, text, values } as pg.QueryConfig, undefined, (error, result) => {
      if (!error) return resolve(result.rows)
      // An earlier statement in the pipeline should have prepared this text, and failed.
      if (name !== undefined && isUnprepared(error)) forgetName(client, text, name)
      reject(error)
    })
    gather(client)
    client.query(query)
  })
}

/**
 * Corks the socket until the turn of the event loop ends, so that all statements of the turn are one write: each write
 * would cost as much as its statement.
 */
function gather(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

function nameOf(client: pg.ClientBase, text: string): string {
  let known = prepared.get(client)
  if (known === undefined) {
    known = { names: new BoundedMap(mostPrepared, (_, name) => deallocate(client, name)), made: 0 }
    prepared.set(client, known)
  }
  const { names } = known
  return names.of(text, () => `r${++known.made}`)
}

function forgetName(client: pg.ClientBase, text: string, name: string): void {
  const names = prepared.get(client)?.names
  if (names?.get(text) === name) names.delete(text)
}

function deallocate(client: pg.ClientBase, name: string): void {
  // pg keeps the texts of prepared statements as long as the connection lives.
  const { connection } = client as unknown as {
    readonly connection: { readonly parsedStatements: Record<string, string> }
  }
  delete connection.parsedStatements[name]
  // If this fails, the connection has ended, and its statements with it.
  client.query(`deallocate ${name}`).catch(() => {})
}

/** The isolation level of a transaction. */
export type Isolation = 'read committed' | 'serializable'

/** Statements that control transactions. */
export const control = {
  readCommitted: textOf('begin'),
  serializable: textOf('begin isolation level serializable'),
  // A table lock is acquired before the transaction takes its snapshot; a row lock would be too late.
  besideRules: textOf('lock table resourced_meta in row exclusive mode'),
  snapshot: textOf('begin isolation level repeatable read read only'),
  commit: textOf('commit'),
  rollback: textOf('rollback'),
  isThere: textOf('select 1 as one'),
}

function textOf(text: string): Statement {
  return { text, sql: text, values: [] }
}

/**
 * How a transaction that changes something begins. A serializable one waits for those that exclude it
 * (`Locks.excludeSerializable`).
 *
 * @param limits set where the session has none
 */
export function beginOf(isolation: Isolation, limits?: Pick<Limits, 'lock'>): readonly Statement[] {
  if (isolation === 'read committed') return [control.readCommitted]
  const waits = limits === undefined ? [] : [textOf(`set local lock_timeout = ${limits.lock}`)]
  return [control.serializable, ...waits, control.besideRules]
}

/** Sets the limits of a transaction, where no session keeps them. */
export function limiting({ statement, lock, idle, jit }: Partial<Limits> & { readonly jit?: 'off' }): Statement {
  const settings = {
    statement_timeout: statement,
    lock_timeout: lock,
    idle_in_transaction_session_timeout: idle,
    jit,
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  return textOf(`select ${given.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`)
}

/** Errors of statements before the last one that was sent: the last one did not run. */
const refusedBefore = new WeakSet<Error>()

/**
 * Sends statements without waiting for answers between them.
 *
 * @returns the rows of the last statement before COMMIT
 */
export async function send(client: Client, preparing: Preparing, statements: readonly Statement[]): Promise<Row[]> {
  const [only] = statements
  if (statements.length === 1 && only !== undefined) return prepareAndRun(client, only, preparing)
  const answers = await Promise.allSettled(statements.map((each) => prepareAndRun(client, each, preparing)))
  let rows: Row[] = []
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'rejected') {
      if (index < statements.length - 1 && isFromServer(answer.reason)) refusedBefore.add(answer.reason)
      throw answer.reason
    }
    if (statements[index] !== control.commit) rows = answer.value
  }
  return rows
}

/**
 * Waits for statements that end with COMMIT.
 *
 * @throws StorageFault `uncertain` where the answer was lost, and the commit may have happened
 */
export async function awaitCommit<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!isDisconnected(error) || isUnsent(error) || refusedBefore.has(error as Error)) throw error
    throw new StorageFault('uncertain', 'The connection to PostgreSQL was lost during a commit.', error)
  }
}
