/** Runs transactions on PostgreSQL: awaited statement by statement, and started again where others were in the way. */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { type OnCommit, StorageFault } from '../storage.ts'
import type { Row, Runner, Statement, Transaction } from '../transaction.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import type { Client } from './client.ts'
import { giveUp, makePool, type PooledClient, SharedConnection, SilenceWatch, take } from './connections.ts'
import { asStorageFault, isRestartable, isUnprepared, isUseless } from './errors.ts'
import { type ConnectionOptions, type Limits, limitsOf } from './settings.ts'
import { beginOf, type Isolation, keeping, limiting, type Preparing, prepareAndRun, send, words } from './statements.ts'

/** How a transaction that changes something is run. */
export interface Writing {
  readonly isolation?: Isolation
  /** Long work: no statement of it is too long. */
  readonly isLong?: boolean
}

/** How a transaction that only reads is run. */
export interface Reading {
  /** What is done on its connection before. */
  readonly ready?: ((client: Client) => Promise<void>) | undefined
  /** Aborted where nobody waits for it any more. What shares its connection with others goes on all the same. */
  readonly abandoned?: AbortSignal | undefined
}

interface Run<T> extends Reading {
  readonly begin: readonly Statement[]
  readonly changed: (outcome: T) => boolean
  readonly isLong?: boolean
}

/** How often a transaction is started again before it is given up. */
const mostRestarts = 12

/** The connections that carry single reads. */
const shared = 4

/** A PostgreSQL database that transactions run on. */
export class Database implements Runner {
  readonly pool: pg.Pool
  readonly #limits: Limits
  readonly #watch: SilenceWatch
  readonly #shared: readonly SharedConnection[]
  /** For what must not wait behind anything that takes long. */
  readonly #control: SharedConnection
  readonly #preparing: Preparing
  /** What a transaction says of its limits, where the session does not. */
  readonly #usual: readonly Statement[]
  readonly #unhurried: readonly Statement[]
  readonly #onCommit: OnCommit | undefined
  readonly #probe = new WriteProbe((bytes) => this.#tryWriting(bytes))

  constructor(options: ConnectionOptions, onCommit?: OnCommit) {
    const limits = limitsOf(options)
    this.#onCommit = onCommit
    this.#limits = limits
    this.#watch = new SilenceWatch(limits.statement + limits.grace)
    this.pool = makePool(options, this.#watch)
    this.#shared = Array.from({ length: shared }, () => new SharedConnection(options, this.#watch))
    this.#control = new SharedConnection(options, this.#watch)
    const hasSession = options.session !== 'off'
    this.#preparing = hasSession ? 'named' : 'unnamed'
    const all = { ...limits, jit: 'off' } as const
    this.#usual = hasSession ? [] : [limiting(all)]
    this.#unhurried = [limiting({ ...(hasSession ? {} : all), statement: limits.long })]
    this.read = this.read.bind(this)
    this.write = this.write.bind(this)
  }

  /** Runs a transaction that only reads, each statement of it on a snapshot of its own: mostly there is one. */
  each<T>(start: () => Transaction<T>, { ready }: Pick<Reading, 'ready'> = {}): Promise<T> {
    const connection = this.#shared.reduce((least, each) => (each.pending < least.pending ? each : least))
    const run = (client: Client) => this.#runEach(client, start())
    return reading(() => connection.use(ready === undefined ? run : (client) => ready(client).then(() => run(client))))
  }

  /** The same for what must not wait behind others, and takes no time. */
  aside<T>(start: () => Transaction<T>): Promise<T> {
    return reading(() => this.#control.use((client) => this.#runEach(client, start())))
  }

  /** The same for what may take its time: on a connection that nobody else uses meanwhile. */
  apart<T>(start: () => Transaction<T>, how: Reading = {}): Promise<T> {
    return reading(async () => {
      const transaction = start()
      const first = transaction.next([])
      if (first.done === true) return first.value
      return this.#holding(how, (client) => this.#runEach(client, transaction, first, how.abandoned))
    })
  }

  read<T>(start: () => Transaction<T>, how: Reading = {}): Promise<T> {
    const begin = [words.snapshot, ...this.#usual]
    return reading(() => this.#transact(start, { begin, changed: () => true, ...how }))
  }

  async write<T>(
    start: () => Transaction<T>,
    changed: (outcome: T) => boolean = () => true,
    { isolation = 'read committed', isLong = false }: Writing = {},
  ): Promise<T> {
    const unsaid = this.#usual.length > 0 ? this.#limits : undefined
    const begin = [...beginOf(isolation, unsaid), ...(isLong ? this.#unhurried : this.#usual)]
    const began = performance.now()
    const ended = answering(restarting(() => this.#transact(start, { begin, changed, isLong })))
    ended.catch((error: unknown) => this.#probe.failed(error))
    const outcome = await ended
    if (changed(outcome)) this.#probe.succeeded()
    if (!isLong) this.#onCommit?.({ changes: 1, duration: performance.now() - began })
    return outcome
  }

  /** Asks whether the database is there and takes changes, and does not wait for long. */
  async ping(): Promise<void> {
    await this.#isThere()
    await this.#probe.check()
  }

  #tryWriting(bytes: number): Promise<void> {
    const run = { begin: [words.readCommitted, ...this.#usual], changed: () => true }
    return answering(this.#transact(() => probeWrite(bytes), run))
  }

  async #isThere(): Promise<void> {
    const asking = this.#control.use((client) => prepareAndRun(client, words.isThere, this.#preparing))
    const asked = answering(asking.then(() => true))
    const timer = new AbortController()
    const late = sleep(this.#limits.ping, false, { signal: timer.signal }).catch(() => false)
    try {
      if (await Promise.race([asked, late])) return
    } finally {
      timer.abort()
    }
    asked.catch(() => {})
    // The next one is not to wait for it.
    void this.#control.discard()
    throw new StorageFault('failed', `PostgreSQL has not answered for ${this.#limits.ping / 1_000} seconds.`)
  }

  /** Finishes what is running; those who do not hear that it is over are not waited for. */
  async close(): Promise<void> {
    await Promise.all([this.pool.end(), ...this.#shared.map((each) => each.close()), this.#control.close()])
  }

  async #runEach<T>(
    client: Client,
    transaction: Transaction<T>,
    first = transaction.next([]),
    abandoned?: AbortSignal,
  ): Promise<T> {
    let step = first
    while (step.done !== true) {
      step = transaction.next(await prepareAndRun(client, step.value, this.#preparing))
      checkAwaited(abandoned)
    }
    return step.value
  }

  /** Has something done on a connection of the pool, which is given back or thrown away. */
  async #holding<T>({ ready, abandoned }: Reading, work: (client: PooledClient) => Promise<T>): Promise<T> {
    checkAwaited(abandoned)
    const client = await take(this.pool, this.#watch)
    // Where sessions are shared nobody knows whose statement would be cancelled.
    const canCancel = abandoned !== undefined && this.#preparing === 'named'
    const stop = canCancel ? cancelOn(abandoned, () => this.#cancel(client)) : undefined
    let isUsable = true
    try {
      checkAwaited(abandoned)
      if (ready !== undefined) await ready(client)
      return await work(client)
    } catch (error) {
      isUsable = await this.#isUsable(client, error)
      checkAwaited(abandoned, error)
      throw error
    } finally {
      if (stop !== undefined && !(await stop())) isUsable = false
      if (isUsable) client.release()
      else giveUp(client)
    }
  }

  /** Cancels what runs on a connection. Resolves once PostgreSQL has done so: what comes later on it is not meant. */
  async #cancel({ process }: Client): Promise<void> {
    await this.aside(function* () {
      yield sql`select pg_cancel_backend(${process}::integer)`
    })
  }

  async #transact<T>(start: () => Transaction<T>, run: Run<T>): Promise<T> {
    const transaction = start()
    const first = transaction.next([])
    if (first.done === true) return first.value
    return this.#holding(run, (client) => this.#runOne(client, transaction, first, run))
  }

  async #runOne<T>(
    client: PooledClient,
    transaction: Transaction<T>,
    first: IteratorResult<Statement, T>,
    { begin, changed, isLong, abandoned }: Run<T>,
  ): Promise<T> {
    if (isLong === true) this.#watch.allow(client, this.#limits.long + this.#limits.grace)
    // Sent along with the next statement: nobody waits for them alone.
    let waiting = begin
    let step = first
    while (step.done !== true) {
      checkAwaited(abandoned)
      const { value } = step
      if (value.standalone !== undefined) {
        const sent = send(client, this.#preparing, aloneOf(begin, value))
        const rows = await (value.standalone === 'changing' ? keeping(sent) : sent)
        if (value.standalone === 'changing' && rows.length > 0) return endOf(transaction, rows)
        step = transaction.next(rows)
        continue
      }
      if (value.ignoresRows === true) {
        waiting = [...waiting, value]
        step = transaction.next([])
        continue
      }
      if (value.commits === true) {
        return endOf(transaction, await keeping(send(client, this.#preparing, aloneOf(waiting, value))))
      }
      const rows = await send(client, this.#preparing, [...waiting, value])
      waiting = []
      step = transaction.next(rows)
    }
    if (changed(step.value)) await keeping(send(client, this.#preparing, [...waiting, words.commit]))
    else if (waiting[0] !== begin[0]) await send(client, this.#preparing, [words.rollback])
    return step.value
  }

  /** Ends a transaction that has failed; whether its connection is still of use. */
  async #isUsable(client: Client, error: unknown): Promise<boolean> {
    if (isUseless(error)) return false
    try {
      await send(client, this.#preparing, [words.rollback])
      return true
    } catch {
      return false
    }
  }
}

/** The last statement of a transaction, and what still has to be sent before it. */
function aloneOf(waiting: readonly Statement[], value: Statement): Statement[] {
  // One statement alone is a transaction by itself.
  const isAll = waiting.length === 1 && waiting[0] === words.readCommitted
  return isAll ? [value] : [...waiting, value, words.commit]
}

/** What a transaction returns after its last statement. */
function endOf<T>(transaction: Transaction<T>, rows: Row[]): T {
  const { done, value } = transaction.next(rows)
  if (done === true) return value
  throw new Error('A statement follows the last one of a transaction.')
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

/** A read, which is run again where a statement on its connection was not prepared. */
function reading<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (!isUnprepared(error)) throw asStorageFault(error)
    return answering(restarting(work))
  })
}

/** What comes of a piece of work; an error of PostgreSQL becomes the port's. */
function answering<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw asStorageFault(error)
  })
}

/** @throws StorageFault where nobody waits any more */
export function checkAwaited(abandoned: AbortSignal | undefined, cause?: unknown): void {
  if (abandoned?.aborted === true) throw new StorageFault('abandoned', 'Nobody waits for the answer any more.', cause)
}

/** Between two attempts, in milliseconds: the first may come before the statement that is meant. */
const pause = 100

/**
 * Cancels what runs on a connection, from when a signal is aborted.
 *
 * @param cancel does it; it has an effect on what was sent before it resolves, and on nothing later
 * @returns what must be called before the connection is used for others; gives `false` where it must not be
 */
export function cancelOn(abandoned: AbortSignal, cancel: () => Promise<void>): () => Promise<boolean> {
  const stopped = new AbortController()
  let cancelling: Promise<boolean> | undefined
  const begin = () => {
    cancelling = cancelUntil(stopped.signal, cancel)
  }
  abandoned.addEventListener('abort', begin, { once: true })
  return async () => {
    abandoned.removeEventListener('abort', begin)
    stopped.abort()
    return (await cancelling) ?? true
  }
}

async function cancelUntil(stopped: AbortSignal, cancel: () => Promise<void>): Promise<boolean> {
  try {
    while (!stopped.aborted) {
      await cancel()
      await sleep(pause, undefined, { signal: stopped }).catch(() => {})
    }
    return true
  } catch {
    return false
  }
}
