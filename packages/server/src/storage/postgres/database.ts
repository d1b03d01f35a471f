/**
 * Runs transactions on PostgreSQL: awaits each statement, and starts a transaction again after a conflict with others.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { type OnCommit, StorageFault } from '../storage.ts'
import type { Row, Runner, Statement, Transaction } from '../transaction.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { cancelOn, throwIfAbandoned } from './cancel.ts'
import type { Client } from './client.ts'
import type { Pool } from './connections.ts'
import {
  awaitCommit,
  beginOf,
  type Control,
  control,
  controlIn,
  type Isolation,
  limiting,
  send,
  sendEach,
  setTimeLeft,
} from './control.ts'
import {
  isCanceled,
  isDeadlock,
  isOfMissingTable,
  isOfServer,
  isRestartable,
  isUnprepared,
  toStorageFault,
} from './errors.ts'
import { Pools } from './pools.ts'
import { ReadTime } from './read-time.ts'
import type { ConnectionOptions } from './settings.ts'

/** How a transaction that changes something runs. */
export interface Writing {
  readonly isolation?: Isolation
  /** A background job: its statements have a longer limit of time. */
  readonly isLong?: boolean
  /** The transaction finds out by itself whether it was committed before (MET-9). */
  readonly isRepeatable?: boolean
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
  /** Reads of one caller, and those of one schema, wait for each other before they keep others waiting. */
  readonly caller?: string | undefined
  /** Left out: a time of its own. */
  readonly time?: ReadTime | undefined
  /** All statements have one snapshot; otherwise each has its own. */
  readonly isSnapshot?: boolean
}

/** Where a database is: the connections to its server, which is another one where its schema was moved. */
export interface Place {
  readonly pools: Pools
  /** The connections that count missing schemas; left out: the same. */
  readonly registry?: Pools
}

interface Run<T> extends SlowReading {
  readonly begin: readonly Statement[]
  /** Whether an outcome has to be kept; left out: a read, which loses nothing with its commit. */
  readonly changed?: (outcome: T) => boolean
  readonly isLong?: boolean
}

/** How often a transaction is started again, at least, before it fails. */
const mostRestarts = 12
/** After so many restarts it runs as after a deadlock: one of many that conflict with each other at a time. */
const mostBeside = 4
/** For how long it is tried at least, in milliseconds: each attempt takes long on a busy machine. */
const leastTried = 2_000

/** The time between two looks whether it has, in milliseconds. */
const pause = 100

/** A PostgreSQL database that transactions run on. */
export class Database implements Runner {
  /** How long the database may work on a read, in milliseconds (LIM-7). */
  readonly readLimit: number
  readonly #place: Place
  /** The schema of its tables; `undefined`: that of the connections. */
  readonly #schema: string | undefined
  readonly #control: Control
  /** Closes the pools, where they are its own. */
  readonly #closePools: () => Promise<void>
  /** The rows of constant statements that are not sent yet. */
  readonly #unsent = new Map<Statement, Promise<Row[]>>()
  /** Sets the limits of a transaction, where the session does not have them. */
  readonly #limiting: readonly Statement[]
  readonly #limitingReads: readonly Statement[]
  readonly #limitingLong: readonly Statement[]
  readonly #onCommit: OnCommit | undefined
  readonly #probe = new WriteProbe((bytes) => this.#tryWriting(bytes))

  /** @param shared connections that other databases use too; left out: its own */
  constructor(options: ConnectionOptions, onCommit?: OnCommit, shared?: Place) {
    const place = shared ?? { pools: new Pools(options) }
    const { limits, hasSession } = place.pools
    this.#place = place
    this.#schema = options.schema
    this.#control = controlIn(options.schema)
    this.#closePools = shared === undefined ? () => place.pools.close() : async () => {}
    this.#onCommit = onCommit
    this.readLimit = limits.read
    const all = { ...limits, jit: 'off' } as const
    this.#limiting = hasSession ? [] : [limiting(all)]
    this.#limitingReads = hasSession ? [] : [limiting({ ...all, statement: limits.read })]
    this.#limitingLong = [limiting({ ...(hasSession ? {} : all), statement: limits.long })]
    this.read = this.read.bind(this)
    this.write = this.write.bind(this)
  }

  get #pools(): Pools {
    return this.#place.pools
  }

  /** Runs a short reading transaction on a shared connection; each statement has a snapshot of its own. */
  readPipelined<T>(start: () => Transaction<T>, { ready }: Pick<Reading, 'ready'> = {}): Promise<T> {
    return this.#limitedReading(async () => {
      const transaction = start()
      let step = transaction.next([])
      // What has to be ready differs between reads.
      if (ready === undefined && step.done !== true && step.value.isConstant === true) {
        step = transaction.next(await this.#runConstant(step.value))
      }
      if (ready === undefined && step.done === true) return step.value
      return this.#pools.reads.share(async (client) => {
        await ready?.(client)
        return this.#runEach(client, transaction, step)
      }, this.#schema)
    })
  }

  /** The rows of a constant statement. All reads that ask for it in one turn of the event loop share them. */
  #runConstant(statement: Statement): Promise<Row[]> {
    const unsent = this.#unsent.get(statement)
    if (unsent !== undefined) return unsent
    const rows = nextTurn().then(() => {
      this.#unsent.delete(statement)
      return this.#pools.reads.share((client) => client.prepareAndRunIn(this.#schema, statement), this.#schema)
    })
    this.#unsent.set(statement, rows)
    return rows
  }

  /** As `readPipelined`, for a tiny read that must not wait behind others. */
  readPriority<T>(start: () => Transaction<T>): Promise<T> {
    return this.#reading(() => this.#pools.control.share((client) => this.#runEach(client, start())))
  }

  /** As `readPipelined`, for a read that may be slow: it waits for its caller's turn, and can be cancelled. */
  readSlow<T>(start: () => Transaction<T>, how: SlowReading = {}): Promise<T> {
    const { caller = '', isSnapshot = false, abandoned, time = new ReadTime(this.readLimit) } = how
    // Without a session, only a transaction can have a limit of time.
    const isTransaction = isSnapshot || this.#limitingReads.length > 0
    const begin = [isSnapshot ? this.#control.snapshot : this.#control.readOnly, ...this.#limitingReads]
    return this.#limitedReading(async () => {
      const transaction = start()
      const first = transaction.next([])
      if (first.done === true) return first.value
      const run = { ...how, time, begin }
      const work = (client: Client) =>
        isTransaction ? this.#runOne(client, transaction, first, run) : this.#runEach(client, transaction, first, run)
      return this.#pools.turns.run(
        { tenant: this.#schema, caller },
        () => this.#withConnection(this.#pools.slowReads, run, work),
        abandoned,
      )
    })
  }

  read<T>(start: () => Transaction<T>, how: Reading = {}): Promise<T> {
    const begin = [this.#control.snapshot, ...this.#limiting]
    return this.#reading(() => this.#transact(start, { begin, ...how }))
  }

  async write<T>(
    start: () => Transaction<T>,
    changed: (outcome: T) => boolean = () => true,
    { isolation = 'read committed', isLong = false, isRepeatable = false }: Writing = {},
  ): Promise<T> {
    const unsaid = this.#limiting.length > 0 ? this.#pools.limits : undefined
    const began = performance.now()
    const work = (isAfterConflicts: boolean) => {
      const begin = beginOf(this.#control, isolation, unsaid, isAfterConflicts)
      const limits = isLong ? this.#limitingLong : this.#limiting
      return this.#transact(start, { begin: [...begin, ...limits], changed, isLong })
    }
    const ended = this.#withFaults(this.#restarting(work, isRepeatable))
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
    const run = { begin: [this.#control.readCommitted, ...this.#limiting], changed: () => true }
    return this.#withFaults(this.#transact(() => probeWrite(bytes), run))
  }

  /** Checks that the database answers within a short time. */
  async answers(): Promise<void> {
    const asking = this.#pools.control.share((client) => client.prepareAndRun(control.isThere))
    const asked = this.#withFaults(asking.then(() => true))
    const timer = new AbortController()
    const late = sleep(this.#pools.limits.ping, false, { signal: timer.signal }).catch(() => false)
    try {
      if (await Promise.race([asked, late])) return
    } finally {
      timer.abort()
    }
    asked.catch(() => {})
    // The next check must not wait for it.
    this.#pools.control.discardShared()
    throw new StorageFault('failed', `PostgreSQL has not answered for ${this.#pools.limits.ping / 1_000} seconds.`)
  }

  /**
   * Finishes running transactions, then closes all connections, without waiting for a server that does not acknowledge.
   * Connections that other databases use too stay open.
   */
  async close(): Promise<void> {
    await this.#closePools()
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
      const run = () => client.prepareAndRunIn(this.#schema, value)
      step = transaction.next(await (time === undefined ? run() : time.spend(run)))
      throwIfAbandoned(abandoned)
    }
    return step.value
  }

  /** Runs work on a connection of its own. */
  async #withConnection<T>(
    pool: Pool,
    { ready, abandoned }: Reading,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    throwIfAbandoned(abandoned)
    return pool.use(async (client) => {
      // Behind a pooler the statement of another client might be cancelled.
      const canCancel = abandoned !== undefined && this.#pools.hasSession
      const stop = canCancel ? cancelOn(abandoned, () => this.#cancel(client)) : undefined
      try {
        throwIfAbandoned(abandoned)
        if (ready !== undefined) await ready(client)
        return await work(client)
      } catch (error) {
        throwIfAbandoned(abandoned, error)
        throw error
      } finally {
        if (stop !== undefined && !(await stop())) client.discard()
      }
    })
  }

  /** Cancels what runs on a connection. Resolves once PostgreSQL has done so: later statements are not affected. */
  async #cancel({ process }: Client): Promise<void> {
    await this.readPriority(function* () {
      yield sql`select pg_cancel_backend(${process}::integer)`
    })
  }

  /**
   * Runs work again where it may succeed then: after a conflict with other transactions, and after its server has
   * failed, where another one may take over and nothing was committed.
   *
   * @param work is told whether there was a deadlock, or many conflicts
   * @param isRepeatable whether work that was perhaps committed can run again
   */
  async #restarting<T>(work: (isAfterConflicts: boolean) => Promise<T>, isRepeatable = true): Promise<T> {
    let isAfterConflicts = false
    let failedSince: number | undefined
    const begun = performance.now()
    for (let restarts = 0; ; ) {
      try {
        return await work(isAfterConflicts)
      } catch (error) {
        isAfterConflicts ||= isDeadlock(error) || restarts >= mostBeside
        const isUnknown = error instanceof StorageFault && error.kind === 'uncertain'
        // A commit that is only on the primary would be found, and acknowledged.
        const canRepeat = isRepeatable && isUnknown && error.cause !== undefined
        if (this.#pools.patience > 0 && (isUnknown ? canRepeat : isOfServer(error))) {
          failedSince ??= performance.now()
          if (performance.now() - failedSince > this.#pools.patience) {
            throw isUnknown ? error : new StorageFault('busy', 'No server of the address has taken over yet.', error)
          }
          await sleep(pause * (0.5 + Math.random()))
        } else {
          const isTried = restarts >= mostRestarts && performance.now() - begun > leastTried
          if (isTried || !isRestartable(error)) throw error
          await sleep(Math.random() * Math.min(100, 2 ** restarts++))
        }
      }
    }
  }

  /** Runs a read, and again where its statement was not prepared on its connection, or its server has failed. */
  #reading<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      const isAgain = isUnprepared(error) || (this.#pools.patience > 0 && isOfServer(error))
      if (!isAgain) throw this.#toFault(error)
      return this.#withFaults(this.#restarting(work))
    })
  }

  /** As `#reading`, where the only limit of a statement is that of reads (LIM-7). */
  #limitedReading<T>(work: () => Promise<T>): Promise<T> {
    return this.#reading(() =>
      work().catch((error: unknown) => {
        if (isCanceled(error)) throw new StorageFault('too-long', 'PostgreSQL ended the read at its limit.', error)
        throw error
      }),
    )
  }

  /** Turns errors of PostgreSQL into those of the port. */
  #withFaults<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      throw this.#toFault(error)
    })
  }

  #toFault(error: unknown): unknown {
    if (this.#schema === undefined || !isOfMissingTable(error)) return toStorageFault(error)
    const { registry = this.#pools } = this.#place
    registry.missing++
    return new StorageFault('missing', 'The schema of a tenant is missing.', error)
  }

  async #transact<T>(start: () => Transaction<T>, run: Run<T>): Promise<T> {
    const transaction = start()
    const first = transaction.next([])
    if (first.done === true) return first.value
    let step: IteratorResult<Statement, T> = first
    let { begin } = run
    // A standalone change says it itself.
    if (first.value.attributes) {
      begin = [...begin, first.value]
      step = transaction.next([])
    }
    // Some transactions begin with more than a single statement can have.
    const isPlain = run.begin.length === 1 && run.begin[0] === this.#control.readCommitted
    while (isPlain && step.done !== true) {
      const { value } = step
      const kind = value.standalone
      if (kind === undefined || (kind !== 'reading' && this.#pools.changes.isFull)) break
      const rows = await (kind === 'reading'
        ? this.#pools.reads.share((client) => client.prepareAndRunIn(this.#schema, value), this.#schema)
        : this.#pools.changes.run(value, { ...kind, schema: this.#schema }))
      if (kind !== 'reading' && rows.length > 0) return resultOf(transaction, rows)
      step = transaction.next(rows)
    }
    if (step.done === true) return step.value
    const next = step
    return this.#withConnection(this.#pools.transactions, run, (client) =>
      this.#runOne(client, transaction, next, { ...run, begin }),
    )
  }

  async #runOne<T>(
    client: Client,
    transaction: Transaction<T>,
    first: IteratorResult<Statement, T>,
    { begin, changed, isLong, abandoned, time }: Run<T>,
  ): Promise<T> {
    time?.begin()
    if (isLong === true) this.#pools.watch.allow(client, this.#pools.limits.long + this.#pools.limits.grace)
    // Sent along with the next statement, without a round trip of their own.
    let waiting = begin
    let step = first
    while (step.done !== true) {
      throwIfAbandoned(abandoned)
      const { value } = step
      if (value.ignoresRows === true) {
        waiting = [...waiting, value]
        step = transaction.next([])
        continue
      }
      const limits = time?.statements(setTimeLeft) ?? []
      const before = [...waiting, ...limits]
      const run = async () => {
        if (value.together === undefined) return send(client, [...before, value], this.#schema)
        const answers = await sendEach(client, [...before, ...value.together], this.#schema)
        return answers.slice(before.length).map(([row]) => row as Row)
      }
      const rows = await (time === undefined ? run() : time.spend(run))
      waiting = []
      step = transaction.next(rows)
    }
    if (changed === undefined) await send(client, [...waiting, control.commit], this.#schema)
    else if (changed(step.value)) {
      await awaitCommit(client, send(client, [...waiting, control.commit], this.#schema))
    } else if (waiting[0] !== begin[0]) await send(client, [control.rollback])
    return step.value
  }
}

/** The result of a transaction after its last statement. */
function resultOf<T>(transaction: Transaction<T>, rows: Row[]): T {
  const { done, value } = transaction.next(rows)
  if (done === true) return value
  throw new Error('A statement follows the last one of a transaction.')
}
