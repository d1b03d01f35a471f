/** The statements that begin and end transactions and set their limits of time, and how they are sent. */
import { StorageFault } from '../storage.ts'
import type { Row, Statement } from '../transaction.ts'
import type { Client } from './client.ts'
import { isDisconnected, isFromServer, isUnsent } from './errors.ts'
import type { Limits } from './settings.ts'

/** The isolation level of a transaction. */
export type Isolation = 'read committed' | 'serializable'

/** Statements that begin transactions in a schema. */
export type Control = ReturnType<typeof controlIn>

/**
 * The statements that begin transactions.
 *
 * @param schema the only one of the transactions; left out: those of the connection
 */
export function controlIn(schema?: string) {
  const begin = (mode = '') => {
    if (schema === undefined) return textOf(`begin${mode}`)
    // The setting ends with the transaction, however it ends. To set it takes no snapshot, as a SELECT does.
    return { ...textOf(`begin${mode}; set local search_path to ${schema}`), isScript: true }
  }
  return {
    readCommitted: begin(),
    serializable: begin(' isolation level serializable'),
    snapshot: begin(' isolation level repeatable read read only'),
    readOnly: begin(' read only'),
  }
}

/** Statements that control transactions. */
export const control = {
  // A table lock is acquired before the transaction takes its snapshot; a row lock would be too late.
  besideRules: textOf('lock table resourced_meta in row exclusive mode'),
  // Two transactions never hold this lock at the same time; others do not wait for it.
  afterConflicts: textOf('lock table resourced_meta in share update exclusive mode'),
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
 * @param isAfterConflicts whether it had a deadlock, or many conflicts: those run one after another, or might for ever
 */
export function beginOf(
  { readCommitted, serializable }: Control,
  isolation: Isolation,
  limits?: Pick<Limits, 'lock'>,
  isAfterConflicts = false,
): readonly Statement[] {
  const locks = isolation === 'serializable' ? [control.besideRules] : []
  if (isAfterConflicts) locks.push(control.afterConflicts)
  if (limits !== undefined && locks.length > 0) locks.unshift(textOf(`set local lock_timeout = ${limits.lock}`))
  return [isolation === 'serializable' ? serializable : readCommitted, ...locks]
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

/** Sets the limit of the next statements of a transaction. */
export function setTimeLeft(milliseconds: number): Statement {
  return limiting({ statement: milliseconds })
}

/** Errors of statements before the last one that was sent: the last one did not run. */
const refusedBefore = new WeakSet<Error>()

/**
 * Sends statements without waiting for answers between them.
 *
 * @param schema the one that their transaction has chosen
 * @returns the rows of the last one
 */
export async function send(client: Client, statements: readonly Statement[], schema?: string): Promise<Row[]> {
  return (await sendEach(client, statements, schema)).at(-1) ?? []
}

/** The same with the rows of all of them. */
export async function sendEach(
  client: Client,
  statements: readonly Statement[],
  schema?: string,
): Promise<readonly Row[][]> {
  const answers = await Promise.allSettled(statements.map((each) => client.prepareAndRun(each, schema)))
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') continue
    if (index < statements.length - 1 && isFromServer(answer.reason)) refusedBefore.add(answer.reason)
    throw answer.reason
  }
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
}

/**
 * Waits for statements that end with COMMIT.
 *
 * @throws StorageFault `uncertain` where the answer was lost, and the commit may have happened, and where the commit
 * did not wait for a standby as it should
 */
export async function awaitCommit<T>(client: Client, sent: Promise<T>): Promise<T> {
  try {
    const answer = await sent
    if (!client.isUnreplicated) return answer
  } catch (error) {
    if (!isDisconnected(error) || isUnsent(error) || refusedBefore.has(error as Error)) throw error
    throw new StorageFault('uncertain', 'The connection to PostgreSQL was lost during a commit.', error)
  }
  throw new StorageFault('uncertain', 'The wait of a commit for a synchronous standby was cancelled.')
}
