/**
 * Runs transactions on PostgreSQL: awaits each statement, and starts a transaction again after a conflict with others.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import sql from 'sql-template-tag'
import { FairTurns } from '../fair-turns.ts'
import { type OnCommit, StorageFault } from '../storage.ts'
import type { Row, Runner, Statement, Transaction } from '../transaction.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { cancelOn, throwIfAbandoned } from './cancel.ts'
import type { Client, Preparing } from './client.ts'
import { acquire, destroy, makePool, type PooledClient, SharedConnection, StallWatch } from './connections.ts'
import { beginOf, control, type Isolation, limiting, setTimeLeft } from './control.ts'
import { isCanceled, isRestartable, isUnprepared, isUnusable, toStorageFault } from './errors.ts'
import { GroupedChanges } from './grouped-changes.ts'
import { ReadTime } from './read-time.ts'
import { awaitCommit, send, withCommit } from './send.ts'
import { type ConnectionOptions, connectionsOf, type Limits, limitsOf } from './settings.ts'

/** How a transaction that changes something runs. */
export interface Writing {
  readonly isolation?: Isolation
  /** A background job: its statements have a longer limit of time. */
  readonly isLong?: boolean
}

/** How a transaction that only reads runs. */
export interface Reading {
  /** Runs on its connection first. */
  readonly ready?: ((client: Client) => Promise<void>) | undefined
  /** Aborted when the client has gone. Reads on shared connections go on all the same. */
  readonly abandoned?: AbortSignal | undefined
}

/** How a read that may be slow runs. */
export interface SlowReading extends Reading {
  /** Reads of one caller wait for each other before they keep others waiting. */
  readonly caller?: string | undefined
  /** Left out: a time of its own. */
  readonly time?: ReadTime | undefined
  /** All statements have one snapshot; otherwise each has its own. */
  readonly isSnapshot?: boolean
}

interface Run<T> extends SlowReading {
  readonly begin: readonly Statement[]
  readonly changed: (outcome: T) => boolean
  readonly isLong?: boolean
}

/** How often a transaction is started again before it fails. */
const mostRestarts = 12

/** How many connections carry pipelined reads. */
const pipelines = 4

/** How long a pipelined change waits for a lock, in milliseconds. */
const shortLock = 50

/** How many slow reads of all callers wait for a connection. */
const mostWaiting = 200

/** A PostgreSQL database that transactions run on. */
export class Database implements Runner {
  readonly pool: pg.Pool
  /** How long the database may work on a read, in milliseconds (LIM-7). */
  readonly readLimit: number
  readonly #limits: Limits
  readonly #watch: StallWatch
  /** For reads that may be slow, so that neither changes nor short reads wait for them. */
  readonly #slowReads: pg.Pool
  readonly #turns: FairTurns
  readonly #pipelines: readonly SharedConnection[]
  /** For changes of one statement. */
  readonly #changes: GroupedChanges
  /** The rows of constant statements that are not sent yet. */
  readonly #unsent = new Map<Statement, Promise<Row[]>>()
  /** For statements that must not wait behind slow ones. */
  readonly #control: SharedConnection
  readonly #preparing: Preparing
  /** Sets the limits of a transaction, where the session does not have them. */
  readonly #limiting: readonly Statement[]
  readonly #limitingReads: readonly Statement[]
  readonly #limitingLong: readonly Statement[]
  readonly #onCommit: OnCommit | undefined
  readonly #probe = new WriteProbe((bytes) => this.#tryWriting(bytes))

  constructor(options: ConnectionOptions, onCommit?: OnCommit) {
    const limits = limitsOf(options)
    this.#onCommit = onCommit
    this.#limits = limits
    this.readLimit = limits.read
    this.#watch = new StallWatch(Math.min(limits.statement, limits.read) + limits.grace)
    const { transactions, changes, slowReads } = connectionsOf(options)
    this.pool = makePool(options, this.#watch, transactions)
    const reading = { ...options, limits: { ...limits, statement: limits.read } }
    this.#slowReads = makePool(reading, this.#watch, slowReads)
    this.#turns = new FairTurns({ running: slowReads, waiting: mostWaiting, patience: limits.connect })
    this.#pipelines = Array.from({ length: pipelines }, () => new SharedConnection(reading, this.#watch))
    const changing = { ...options, limits: { ...limits, lock: Math.min(limits.lock, shortLock) } }
    this.#changes = new GroupedChanges(changing, this.#watch, changes)
    this.#control = new SharedConnection(options, this.#watch)
    const hasSession = options.session !== 'off'
    this.#preparing = hasSession ? 'named' : 'unnamed'
    const all = { ...limits, jit: 'off' } as const
    this.#limiting = hasSession ? [] : [limiting(all)]
    this.#limitingReads = hasSession ? [] : [limiting({ ...all, statement: limits.read })]
    this.#limitingLong = [limiting({ ...(hasSession ? {} : all), statement: limits.long })]
    this.read = this.read.bind(this)
    this.write = this.write.bind(this)
  }

  /** Runs a short reading transaction on a shared connection; each statement has a snapshot of its own. */
  readPipelined<T>(start: () => Transaction<T>, { ready }: Pick<Reading, 'ready'> = {}): Promise<T> {
    return limitedReading(async () => {
      const transaction = start()
      // What has to be ready differs between reads.
      if (ready !== undefined) {
        return leastBusy(this.#pipelines).use((client) => ready(client).then(() => this.#runEach(client, transaction)))
      }
      let step = transaction.next([])
      if (step.done !== true && step.value.isConstant === true) {
        step = transaction.next(await this.#shared(step.value))
      }
      return step.done === true
        ? step.value
        : leastBusy(this.#pipelines).use((client) => this.#runEach(client, transaction, step))
    })
  }

  /** The rows of a constant statement. All reads that ask for it before it is sent share them: none is older. */
  #shared(statement: Statement): Promise<Row[]> {
    const unsent = this.#unsent.get(statement)
    if (unsent !== undefined) return unsent
    const forget = () => {
      if (this.#unsent.get(statement) === rows) this.#unsent.delete(statement)
    }
    const rows = leastBusy(this.#pipelines).use((client) => {
      client.beforeSending(forget)
      return client.prepareAndRun(statement, this.#preparing)
    })
    this.#unsent.set(statement, rows)
    rows.catch(forget)
    return rows
  }

  /** As `readPipelined`, for a tiny read that must not wait behind others. */
  readPriority<T>(start: () => Transaction<T>): Promise<T> {
    return reading(() => this.#control.use((client) => this.#runEach(client, start())))
  }

  /** As `readPipelined`, for a read that may be slow: it waits for its caller's turn, and can be cancelled. */
  readSlow<T>(start: () => Transaction<T>, how: SlowReading = {}): Promise<T> {
    const { caller = '', isSnapshot = false, abandoned, time = new ReadTime(this.readLimit) } = how
    // Without a session, only a transaction can have a limit of time.
    const isTransaction = isSnapshot || this.#limitingReads.length > 0
    const begin = [isSnapshot ? control.snapshot : control.readOnly, ...this.#limitingReads]
    return limitedReading(async () => {
      const transaction = start()
      const first = transaction.next([])
      if (first.done === true) return first.value
      const run = { ...how, time, begin, changed: () => true }
      const work = (client: PooledClient) =>
        isTransaction ? this.#runOne(client, transaction, first, run) : this.#runEach(client, transaction, first, run)
      return this.#turns.run(caller, () => this.#withPooled(this.#slowReads, run, work), abandoned)
    })
  }

  read<T>(start: () => Transaction<T>, how: Reading = {}): Promise<T> {
    const begin = [control.snapshot, ...this.#limiting]
    return reading(() => this.#transact(start, { begin, changed: () => true, ...how }))
  }

  async write<T>(
    start: () => Transaction<T>,
    changed: (outcome: T) => boolean = () => true,
    { isolation = 'read committed', isLong = false }: Writing = {},
  ): Promise<T> {
    const unsaid = this.#limiting.length > 0 ? this.#limits : undefined
    const begin = [...beginOf(isolation, unsaid), ...(isLong ? this.#limitingLong : this.#limiting)]
    const began = performance.now()
    const ended = withStorageFaults(restarting(() => this.#transact(start, { begin, changed, isLong })))
    ended.catch((error: unknown) => this.#probe.failed(error))
    const outcome = await ended
    if (changed(outcome)) this.#probe.succeeded()
    if (!isLong) this.#onCommit?.({ changes: 1, duration: performance.now() - began })
    return outcome
  }

  /** Checks that the database answers and takes changes, within a short time. */
  async ping(): Promise<void> {
    await this.answers()
    await this.#probe.check()
  }

  #tryWriting(bytes: number): Promise<void> {
    const run = { begin: [control.readCommitted, ...this.#limiting], changed: () => true }
    return withStorageFaults(this.#transact(() => probeWrite(bytes), run))
  }

  /** Checks that the database answers within a short time. */
  async answers(): Promise<void> {
    const asking = this.#control.use((client) => client.prepareAndRun(control.isThere, this.#preparing))
    const asked = withStorageFaults(asking.then(() => true))
    const timer = new AbortController()
    const late = sleep(this.#limits.ping, false, { signal: timer.signal }).catch(() => false)
    try {
      if (await Promise.race([asked, late])) return
    } finally {
      timer.abort()
    }
    asked.catch(() => {})
    // The next check must not wait for it.
    void this.#control.discard()
    throw new StorageFault('failed', `PostgreSQL has not answered for ${this.#limits.ping / 1_000} seconds.`)
  }

  /**
   * Finishes running transactions, then closes all connections, without waiting for a server that does not acknowledge.
   */
  async close(): Promise<void> {
    await Promise.all([
      this.pool.end(),
      this.#slowReads.end(),
      ...this.#pipelines.map((each) => each.close()),
      this.#changes.close(),
      this.#control.close(),
    ])
  }

  async #runEach<T>(
    client: Client,
    transaction: Transaction<T>,
    first = transaction.next([]),
    { abandoned, time }: SlowReading = {},
  ): Promise<T> {
    let step = first
    while (step.done !== true) {
      const { value } = step
      const run = () => client.prepareAndRun(value, this.#preparing)
      step = transaction.next(await (time === undefined ? run() : time.spend(run)))
      throwIfAbandoned(abandoned)
    }
    return step.value
  }

  /** Runs work on a connection of the pool, which is released or destroyed afterwards. */
  async #withPooled<T>(
    pool: pg.Pool,
    { ready, abandoned }: Reading,
    work: (client: PooledClient) => Promise<T>,
  ): Promise<T> {
    throwIfAbandoned(abandoned)
    const client = await acquire(pool, this.#watch)
    // Behind a pooler the statement of another client might be cancelled.
    const canCancel = abandoned !== undefined && this.#preparing === 'named'
    const stop = canCancel ? cancelOn(abandoned, () => this.#cancel(client)) : undefined
    let isUsable = true
    try {
      throwIfAbandoned(abandoned)
      if (ready !== undefined) await ready(client)
      return await work(client)
    } catch (error) {
      isUsable = await this.#isUsable(client, error)
      throwIfAbandoned(abandoned, error)
      throw error
    } finally {
      if (stop !== undefined && !(await stop())) isUsable = false
      if (isUsable) client.release()
      else destroy(client)
    }
  }

  /** Cancels what runs on a connection. Resolves once PostgreSQL has done so: later statements are not affected. */
  async #cancel({ process }: Client): Promise<void> {
    await this.readPriority(function* () {
      yield sql`select pg_cancel_backend(${process}::integer)`
    })
  }

  async #transact<T>(start: () => Transaction<T>, run: Run<T>): Promise<T> {
    const transaction = start()
    const first = transaction.next([])
    if (first.done === true) return first.value
    let step: IteratorResult<Statement, T> = first
    while (step.done !== true && this.#mayShare(step.value, run)) {
      const { value } = step
      const rows = await (value.standalone === 'reading'
        ? leastBusy(this.#pipelines).use((client) => client.prepareAndRun(value, this.#preparing))
        : this.#changes.run(value, this.#preparing))
      if (value.standalone === 'changing' && rows.length > 0) return resultOf(transaction, rows)
      step = transaction.next(rows)
    }
    if (step.done === true) return step.value
    const next = step
    return this.#withPooled(this.pool, run, (client) => this.#runOne(client, transaction, next, run))
  }

  /** Whether a statement is a transaction by itself, so that it may share a connection with those of others. */
  #mayShare(statement: Statement, { begin }: Pick<Run<unknown>, 'begin'>): boolean {
    if (statement.standalone === undefined || withCommit(begin, statement).length > 1) return false
    return statement.standalone === 'reading' || !this.#changes.isFull
  }

  async #runOne<T>(
    client: PooledClient,
    transaction: Transaction<T>,
    first: IteratorResult<Statement, T>,
    { begin, changed, isLong, abandoned, time }: Run<T>,
  ): Promise<T> {
    time?.begin()
    if (isLong === true) this.#watch.allow(client, this.#limits.long + this.#limits.grace)
    // Sent along with the next statement, without a round trip of their own.
    let waiting = begin
    let step = first
    while (step.done !== true) {
      throwIfAbandoned(abandoned)
      const { value } = step
      if (value.standalone !== undefined) {
        const sent = send(client, this.#preparing, withCommit(begin, value))
        const rows = await (value.standalone === 'changing' ? awaitCommit(sent) : sent)
        if (value.standalone === 'changing' && rows.length > 0) return resultOf(transaction, rows)
        step = transaction.next(rows)
        continue
      }
      if (value.ignoresRows === true) {
        waiting = [...waiting, value]
        step = transaction.next([])
        continue
      }
      if (value.commits === true) {
        return resultOf(transaction, await awaitCommit(send(client, this.#preparing, withCommit(waiting, value))))
      }
      const limits = time?.statements(setTimeLeft) ?? []
      const run = () => send(client, this.#preparing, [...waiting, ...limits, value])
      const rows = await (time === undefined ? run() : time.spend(run))
      waiting = []
      step = transaction.next(rows)
    }
    if (changed(step.value)) await awaitCommit(send(client, this.#preparing, [...waiting, control.commit]))
    else if (waiting[0] !== begin[0]) await send(client, this.#preparing, [control.rollback])
    return step.value
  }

  /** Rolls a failed transaction back. Returns whether its connection can still be used. */
  async #isUsable(client: Client, error: unknown): Promise<boolean> {
    if (isUnusable(error)) return false
    try {
      await send(client, this.#preparing, [control.rollback])
      return true
    } catch {
      return false
    }
  }
}

/** The result of a transaction after its last statement. */
function resultOf<T>(transaction: Transaction<T>, rows: Row[]): T {
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

/** As `reading`, where the only limit of a statement is that of reads (LIM-7). */
function limitedReading<T>(work: () => Promise<T>): Promise<T> {
  return reading(() =>
    work().catch((error: unknown) => {
      if (isCanceled(error)) throw new StorageFault('too-long', 'PostgreSQL ended the read at its limit.', error)
      throw error
    }),
  )
}

/** Runs a read, and runs it again where a statement was not prepared on its connection. */
function reading<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    if (!isUnprepared(error)) throw toStorageFault(error)
    return withStorageFaults(restarting(work))
  })
}

function leastBusy(connections: readonly SharedConnection[]): SharedConnection {
  return connections.reduce((least, each) => (each.pending < least.pending ? each : least))
}

/** Turns errors of PostgreSQL into those of the port. */
function withStorageFaults<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw toStorageFault(error)
  })
}
