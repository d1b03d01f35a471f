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
import { isDisconnected, isSaid, isUnprepared, isUnsent } from './errors.ts'
import type { Limits } from './settings.ts'

/** The most statements that a connection keeps prepared: shapes come from queries. */
const mostPrepared = 500

interface Known {
  /** Names by text. */
  readonly names: BoundedMap<string>
  /** How many names were made. */
  made: number
}

const prepared = new WeakMap<pg.ClientBase, Known>()

/**
 * Whether statements are prepared under names: poolers that hand connections from one transaction to another may not
 * keep them.
 */
export type Preparing = 'named' | 'unnamed'

/** Runs a statement. Several may be sent without waiting for their answers: they are carried out in order. */
export function prepareAndRun(
  client: pg.ClientBase,
  { text, values }: Statement,
  preparing: Preparing,
): Promise<Row[]> {
  const name = preparing === 'named' ? nameOf(client, text) : undefined
  return new Promise((resolve, reject) => {
    // A query made here is taken as it is: `pg` copies the settings of others.
    const query = new pg.Query({ name, text, values } as pg.QueryConfig, undefined, (error, result) => {
      if (!error) return resolve(result.rows)
      // It was to be prepared by a statement that failed while this one was on its way behind it.
      if (name !== undefined && isUnprepared(error)) forgetName(client, text, name)
      reject(error)
    })
    gather(client)
    client.query(query)
  })
}

/**
 * What is sent in one turn of the event loop goes out together: each write of its own would cost as much as its
 * statement.
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
  // pg keeps the text of what it has prepared for as long as the connection lives.
  const { connection } = client as unknown as {
    readonly connection: { readonly parsedStatements: Record<string, string> }
  }
  delete connection.parsedStatements[name]
  // Where this fails, the connection is gone, and its statements with it.
  client.query(`deallocate ${name}`).catch(() => {})
}

/** How much a transaction is kept apart from others. */
export type Isolation = 'read committed' | 'serializable'

/** Statements that are nothing but their text. */
export const words = {
  readCommitted: textOf('begin'),
  serializable: textOf('begin isolation level serializable'),
  // A lock of a table is had before the transaction sees the database as it is from then on; a row's would be too late.
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
 * @param limits said where the session does not
 */
export function beginOf(isolation: Isolation, limits?: Pick<Limits, 'lock'>): readonly Statement[] {
  if (isolation === 'read committed') return [words.readCommitted]
  const waits = limits === undefined ? [] : [textOf(`set local lock_timeout = ${limits.lock}`)]
  return [words.serializable, ...waits, words.besideRules]
}

/** Says to a transaction how long it may take: where nobody keeps a session, it has to be said each time. */
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

/** What PostgreSQL said to a statement before the last one that was sent: it has not come to that. */
const refusedBefore = new WeakSet<Error>()

/**
 * Sends statements one after the other, without waiting for answers between them.
 *
 * @returns the rows of the last one that is no commit
 */
export async function send(client: Client, preparing: Preparing, statements: readonly Statement[]): Promise<Row[]> {
  const [only] = statements
  if (statements.length === 1 && only !== undefined) return prepareAndRun(client, only, preparing)
  const answers = await Promise.allSettled(statements.map((each) => prepareAndRun(client, each, preparing)))
  let rows: Row[] = []
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'rejected') {
      if (index < statements.length - 1 && isSaid(answer.reason)) refusedBefore.add(answer.reason)
      throw answer.reason
    }
    if (statements[index] !== words.commit) rows = answer.value
  }
  return rows
}

/**
 * Waits for what ends with a commit.
 *
 * @throws StorageFault `uncertain` where its answer is lost: nobody knows what it would have been
 */
export async function keeping<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!isDisconnected(error) || isUnsent(error) || refusedBefore.has(error as Error)) throw error
    throw new StorageFault('uncertain', 'The connection to PostgreSQL was lost during a commit.', error)
  }
}
