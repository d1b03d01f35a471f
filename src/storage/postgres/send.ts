/** Sends the statements of a transaction, its beginning and its end along with what stands between. */

import { StorageFault } from '../storage.ts'
import type { Row, Statement } from '../transaction.ts'
import type { Client } from './client.ts'
import { isDisconnected, isSaid, isUnsent } from './errors.ts'
import type { Limits } from './limits.ts'
import { type Preparing, prepareAndRun } from './statements.ts'

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
 * How a transaction that changes something begins. One that is serializable waits for those that must not run beside
 * it (see `Locks.rules`).
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
