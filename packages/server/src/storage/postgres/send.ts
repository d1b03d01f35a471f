/** Sends the statements of a transaction together, and waits for its commit. */
import { StorageFault } from '../storage.ts'
import type { Row, Statement } from '../transaction.ts'
import type { Client, Preparing } from './client.ts'
import { control } from './control.ts'
import { isDisconnected, isFromServer, isUnsent } from './errors.ts'

/** Errors of statements before the last one that was sent: the last one did not run. */
const refusedBefore = new WeakSet<Error>()

/**
 * Sends statements without waiting for answers between them.
 *
 * @returns the rows of the last statement before COMMIT
 */
export async function send(client: Client, preparing: Preparing, statements: readonly Statement[]): Promise<Row[]> {
  const [only] = statements
  if (statements.length === 1 && only !== undefined) return client.prepareAndRun(only, preparing)
  const answers = await Promise.allSettled(statements.map((each) => client.prepareAndRun(each, preparing)))
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

/** The last statement of a transaction, with unsent statements before it and COMMIT. */
export function withCommit(waiting: readonly Statement[], value: Statement): Statement[] {
  // A single statement is a transaction by itself.
  const isAll = waiting.length === 1 && waiting[0] === control.readCommitted
  return isAll ? [value] : [...waiting, value, control.commit]
}
