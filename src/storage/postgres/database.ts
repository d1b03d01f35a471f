/** Runs transactions on PostgreSQL: awaited statement by statement, and started again where others were in the way. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Row, Runner, Statement, Transaction } from '../sql/transaction.ts'
import { type OnCommit, StorageFault } from '../storage.ts'
import { type ConnectionOptions, makePool, SharedConnection, take } from './connections.ts'
import { asStorageFault, isDisconnected, isRestartable } from './errors.ts'
import { type Preparing, prepareAndRun } from './statements.ts'

/** How much a transaction is kept apart from others. */
export type Isolation = 'read committed' | 'serializable'

/** How a transaction that changes something is run. */
export interface Writing {
  readonly isolation?: Isolation
  /** Long work: no statement of it is too long. */
  readonly isLong?: boolean
}

interface Run<T> {
  readonly begin: readonly Statement[]
  readonly changed: (outcome: T) => boolean
}

/** How often a transaction is started again before it is given up. */
const mostRestarts = 12

/** The connections that carry single reads. */
const shared = 2

const commit = statement('commit')
const rollback = statement('rollback')
const snapshot = [statement('begin isolation level repeatable read read only')]
const unhurried = statement('set local statement_timeout = 0')
const begins: Readonly<Record<Isolation, Statement>> = {
  'read committed': statement('begin'),
  serializable: statement('begin isolation level serializable'),
}

function statement(text: string): Statement {
  return { text, sql: text, values: [] }
}

/** A PostgreSQL database that transactions run on. */
export class Database implements Runner {
  readonly pool: pg.Pool
  readonly #shared: readonly SharedConnection[]
  readonly #preparing: Preparing

  readonly #onCommit: OnCommit | undefined

  constructor(options: ConnectionOptions, onCommit?: OnCommit) {
    this.#onCommit = onCommit
    this.pool = makePool(options)
    this.#shared = Array.from({ length: shared }, () => new SharedConnection(options))
    this.#preparing = options.session === 'off' ? 'unnamed' : 'named'
    this.read = this.read.bind(this)
    this.write = this.write.bind(this)
  }

  /** Runs a transaction that only reads, each statement of it on a snapshot of its own: mostly there is one. */
  each<T>(start: () => Transaction<T>): Promise<T> {
    const connection = this.#shared.reduce((least, each) => (each.pending < least.pending ? each : least))
    return answering(connection.use((client) => this.#runEach(start, client)))
  }

  #runEach<T>(start: () => Transaction<T>, client: pg.ClientBase): Promise<T> {
    const transaction = start()
    return this.#goOn(transaction, transaction.next([]), client)
  }

  async #goOn<T>(transaction: Transaction<T>, first: IteratorResult<Statement, T>, client: pg.ClientBase): Promise<T> {
    let step = first
    while (step.done !== true) step = transaction.next(await prepareAndRun(client, step.value, this.#preparing))
    return step.value
  }

  /** The same for what may take its time: on a connection that nobody else uses meanwhile. */
  apart<T>(start: () => Transaction<T>): Promise<T> {
    return answering(this.#runApart(start))
  }

  async #runApart<T>(start: () => Transaction<T>): Promise<T> {
    const transaction = start()
    const first = transaction.next([])
    if (first.done === true) return first.value
    const client = await take(this.pool)
    try {
      const outcome = await this.#goOn(transaction, first, client)
      client.release()
      return outcome
    } catch (error) {
      client.release(isDisconnected(error))
      throw error
    }
  }

  read<T>(start: () => Transaction<T>): Promise<T> {
    return answering(this.#transact(start, { begin: snapshot, changed: () => true }))
  }

  async write<T>(
    start: () => Transaction<T>,
    changed: (outcome: T) => boolean = () => true,
    { isolation = 'read committed', isLong = false }: Writing = {},
  ): Promise<T> {
    const begin = isLong ? [begins[isolation], unhurried] : [begins[isolation]]
    const began = performance.now()
    const outcome = await answering(restarting(() => this.#transact(start, { begin, changed })))
    if (!isLong) this.#onCommit?.({ changes: 1, duration: performance.now() - began })
    return outcome
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), ...this.#shared.map((each) => each.close())])
  }

  async #transact<T>(start: () => Transaction<T>, { begin, changed }: Run<T>): Promise<T> {
    const transaction = start()
    let step = transaction.next([])
    if (step.done === true) return step.value
    const client = await take(this.pool)
    // Sent along with the next statement: nobody waits for them alone.
    let waiting = begin
    try {
      while (step.done !== true) {
        const { value } = step
        if (value.isBlind === true) {
          waiting = [...waiting, value]
          step = transaction.next([])
          continue
        }
        if (value.isLast === true) {
          // One statement alone is a transaction by itself.
          const isAlone = waiting.length === 1 && waiting[0] === begins['read committed']
          const rows = await keeping(this.#send(client, isAlone ? [value] : [...waiting, value, commit]))
          client.release()
          return endOf(transaction, rows)
        }
        const rows = await this.#send(client, [...waiting, value])
        waiting = []
        step = transaction.next(rows)
      }
      if (changed(step.value)) await keeping(this.#send(client, [...waiting, commit]))
      else if (waiting[0] !== begin[0]) await this.#send(client, [rollback])
      client.release()
      return step.value
    } catch (error) {
      client.release(await this.#isLost(client, error))
      throw error
    }
  }

  /** Ends a transaction that has failed; whether its connection is of no use any more. */
  async #isLost(client: pg.PoolClient, error: unknown): Promise<boolean> {
    if (isDisconnected(error) || error instanceof StorageFault) return true
    try {
      await this.#send(client, [rollback])
      return false
    } catch {
      return true
    }
  }

  /**
   * Sends statements one after the other, without waiting for answers between them.
   *
   * @returns the rows of the last one that is no commit
   */
  async #send(client: pg.ClientBase, statements: readonly Statement[]): Promise<Row[]> {
    const [only] = statements
    if (statements.length === 1 && only !== undefined) return prepareAndRun(client, only, this.#preparing)
    const answers = await Promise.allSettled(statements.map((each) => prepareAndRun(client, each, this.#preparing)))
    let rows: Row[] = []
    for (const [index, answer] of answers.entries()) {
      if (answer.status === 'rejected') throw answer.reason
      if (statements[index] !== commit) rows = answer.value
    }
    return rows
  }
}

/** What a transaction returns after its last statement. */
function endOf<T>(transaction: Transaction<T>, rows: Row[]): T {
  const { done, value } = transaction.next(rows)
  if (done === true) return value
  throw new Error('A statement follows the last one of a transaction.')
}

/** Waits for a commit: where its answer is lost, nobody knows what it would have been. */
async function keeping<T>(sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!isDisconnected(error)) throw error
    throw new StorageFault('uncertain', 'The connection to PostgreSQL was lost during a commit.', error)
  }
}

async function restarting<T>(work: () => Promise<T>): Promise<T> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await work()
    } catch (error) {
      if (restarts === mostRestarts || !isRestartable(error)) throw error
      await sleep(Math.random() * Math.min(100, 2 ** restarts))
    }
  }
}

/** What comes of a piece of work; an error of PostgreSQL becomes the port's. */
function answering<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw asStorageFault(error)
  })
}
