/**
 * Runs transactions on PostgreSQL: awaits each statement, and starts a transaction again after a conflict with others.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { FairTurns } from '../fair-turns.ts'
import { type OnCommit, StorageFault } from '../storage.ts'
import type { Row, Runner, Statement, Transaction } from '../transaction.ts'
import { probeWrite, WriteProbe } from '../write-probe.ts'
import { cancelOn, throwIfAbandoned } from './cancel.ts'
import type { Client } from './client.ts'
import { isAnswering, Pool, StallWatch } from './connections.ts'
import { awaitCommit, beginOf, control, type Isolation, limiting, send, sendEach, setTimeLeft } from './control.ts'
import { isCanceled, isOfServer, isRestartable, isUnprepared, toStorageFault } from './errors.ts'
import { GroupedChanges } from './grouped-changes.ts'
import { hostsOf } from './hosts.ts'
import { ReadTime } from './read-time.ts'
import { type ConnectionOptions, connectionsOf, type Limits, limitsOf } from './settings.ts'

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

/** For so long transactions wait until another server of the address takes over, in milliseconds. */
const takeover = 5_000

/** The time between two looks whether it has, in milliseconds. */
const pause = 100

/** How many connections short reads share. */
const shared = 4

/** How long a pipelined change waits for a lock, in milliseconds. */
const shortLock = 50

/** How many slow reads of all callers wait for a connection. */
const mostWaiting = 200

/** A PostgreSQL database that transactions run on. */
export class Database implements Runner {
  /** How long the database may work on a read, in milliseconds (LIM-7). */
  readonly readLimit: number
  readonly #limits: Limits
  readonly #watch: StallWatch
  readonly #transactions: Pool
  /** For changes of one statement. */
  readonly #changes: GroupedChanges
  /** For reads that may be slow, so that neither changes nor short reads wait for them. */
  readonly #slowReads: Pool
  readonly #turns: FairTurns
  /** For short reads, which share connections. */
  readonly #reads: Pool
  /** For statements that must not wait behind others. */
  readonly #control: Pool
  /** The rows of constant statements that are not sent yet. */
  readonly #unsent = new Map<Statement, Promise<Row[]>>()
  readonly #hasSession: boolean
  /** How long transactions are started again where their server has failed, in milliseconds. */
  readonly #patience: number
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
    const { areSeveral } = hostsOf(options.url)
    this.#patience = areSeveral ? takeover : 0
    const shortest = Math.min(limits.statement, limits.read) + limits.grace
    this.#watch = new StallWatch(shortest, areSeveral ? (client) => isAnswering(options, client) : undefined)
    const { transactions, changes, slowReads } = connectionsOf(options)
    const poolOf = (max: number, own: Partial<Limits> = {}) =>
      new Pool({ ...options, limits: { ...limits, ...own } }, this.#watch, max)
    this.#transactions = poolOf(transactions)
    this.#changes = new GroupedChanges(poolOf(changes, { lock: Math.min(limits.lock, shortLock) }), changes)
    this.#slowReads = poolOf(slowReads, { statement: limits.read })
    this.#turns = new FairTurns({ running: slowReads, waiting: mostWaiting, patience: limits.connect })
    this.#reads = poolOf(shared, { statement: limits.read })
    this.#control = poolOf(1)
    const hasSession = options.session !== 'off'
    this.#hasSession = hasSession
    const all = { ...limits, jit: 'off' } as const
    this.#limiting = hasSession ? [] : [limiting(all)]
    this.#limitingReads = hasSession ? [] : [limiting({ ...all, statement: limits.read })]
    this.#limitingLong = [limiting({ ...(hasSession ? {} : all), statement: limits.long })]
    this.read = this.read.bind(this)
    this.write = this.write.bind(this)
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
      return this.#reads.share(async (client) => {
        await ready?.(client)
        return this.#runEach(client, transaction, step)
      })
    })
  }

  /** The rows of a constant statement. All reads that ask for it in one turn of the event loop share them. */
  #runConstant(statement: Statement): Promise<Row[]> {
    const unsent = this.#unsent.get(statement)
    if (unsent !== undefined) return unsent
    const rows = nextTurn().then(() => {
      this.#unsent.delete(statement)
      return this.#reads.share((client) => client.prepareAndRun(statement))
    })
    this.#unsent.set(statement, rows)
    return rows
  }

  /** As `readPipelined`, for a tiny read that must not wait behind others. */
  readPriority<T>(start: () => Transaction<T>): Promise<T> {
    return this.#reading(() => this.#control.share((client) => this.#runEach(client, start())))
  }

  /** As `readPipelined`, for a read that may be slow: it waits for its caller's turn, and can be cancelled. */
  readSlow<T>(start: () => Transaction<T>, how: SlowReading = {}): Promise<T> {
    const { caller = '', isSnapshot = false, abandoned, time = new ReadTime(this.readLimit) } = how
    // Without a session, only a transaction can have a limit of time.
    const isTransaction = isSnapshot || this.#limitingReads.length > 0
    const begin = [isSnapshot ? control.snapshot : control.readOnly, ...this.#limitingReads]
    return this.#limitedReading(async () => {
      const transaction = start()
      const first = transaction.next([])
      if (first.done === true) return first.value
      const run = { ...how, time, begin, changed: () => true }
      const work = (client: Client) =>
        isTransaction ? this.#runOne(client, transaction, first, run) : this.#runEach(client, transaction, first, run)
      return this.#turns.run(caller, () => this.#withConnection(this.#slowReads, run, work), abandoned)
    })
  }

  read<T>(start: () => Transaction<T>, how: Reading = {}): Promise<T> {
    const begin = [control.snapshot, ...this.#limiting]
    return this.#reading(() => this.#transact(start, { begin, changed: () => true, ...how }))
  }

  async write<T>(
    start: () => Transaction<T>,
    changed: (outcome: T) => boolean = () => true,
    { isolation = 'read committed', isLong = false, isRepeatable = false }: Writing = {},
  ): Promise<T> {
    const unsaid = this.#limiting.length > 0 ? this.#limits : undefined
    const begin = [...beginOf(isolation, unsaid), ...(isLong ? this.#limitingLong : this.#limiting)]
    const began = performance.now()
    const ended = withStorageFaults(
      this.#restarting(() => this.#transact(start, { begin, changed, isLong }), isRepeatable),
    )
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
    const asking = this.#control.share((client) => client.prepareAndRun(control.isThere))
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
    this.#control.discardShared()
    throw new StorageFault('failed', `PostgreSQL has not answered for ${this.#limits.ping / 1_000} seconds.`)
  }

  /**
   * Finishes running transactions, then closes all connections, without waiting for a server that does not acknowledge.
   */
  async close(): Promise<void> {
    const pools = [this.#transactions, this.#changes, this.#slowReads, this.#reads, this.#control]
    await Promise.all(pools.map((each) => each.close()))
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
      const run = () => client.prepareAndRun(value)
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
      const canCancel = abandoned !== undefined && this.#hasSession
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
   * @param isRepeatable whether work that was perhaps committed can run again
   */
  async #restarting<T>(work: () => Promise<T>, isRepeatable = true): Promise<T> {
    let failedSince: number | undefined
    for (let restarts = 0; ; ) {
      try {
        return await work()
      } catch (error) {
        const isUnknown = error instanceof StorageFault && error.kind === 'uncertain'
        if (this.#patience > 0 && (isUnknown ? isRepeatable : isOfServer(error))) {
          failedSince ??= performance.now()
          if (performance.now() - failedSince > this.#patience) {
            throw isUnknown ? error : new StorageFault('busy', 'No server of the address has taken over yet.', error)
          }
          await sleep(pause * (0.5 + Math.random()))
        } else {
          if (restarts === mostRestarts || !isRestartable(error)) throw error
          await sleep(Math.random() * Math.min(100, 2 ** restarts++))
        }
      }
    }
  }

  /** Runs a read, and again where its statement was not prepared on its connection, or its server has failed. */
  #reading<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      const isAgain = isUnprepared(error) || (this.#patience > 0 && isOfServer(error))
      if (!isAgain) throw toStorageFault(error)
      return withStorageFaults(this.#restarting(work))
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
    const isPlain = run.begin.length === 1 && run.begin[0] === control.readCommitted
    while (isPlain && step.done !== true) {
      const { value } = step
      const kind = value.standalone
      if (kind === undefined || (kind !== 'reading' && this.#changes.isFull)) break
      const rows = await (kind === 'reading'
        ? this.#reads.share((client) => client.prepareAndRun(value))
        : this.#changes.run(value, kind))
      if (kind !== 'reading' && rows.length > 0) return resultOf(transaction, rows)
      step = transaction.next(rows)
    }
    if (step.done === true) return step.value
    const next = step
    return this.#withConnection(this.#transactions, run, (client) =>
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
    if (isLong === true) this.#watch.allow(client, this.#limits.long + this.#limits.grace)
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
        if (value.together === undefined) return send(client, [...before, value])
        const answers = await sendEach(client, [...before, ...value.together])
        return answers.slice(before.length).map(([row]) => row as Row)
      }
      const rows = await (time === undefined ? run() : time.spend(run))
      waiting = []
      step = transaction.next(rows)
    }
    if (changed(step.value)) await awaitCommit(send(client, [...waiting, control.commit]))
    else if (waiting[0] !== begin[0]) await send(client, [control.rollback])
    return step.value
  }
}

/** The result of a transaction after its last statement. */
function resultOf<T>(transaction: Transaction<T>, rows: Row[]): T {
  const { done, value } = transaction.next(rows)
  if (done === true) return value
  throw new Error('A statement follows the last one of a transaction.')
}

/** Turns errors of PostgreSQL into those of the port. */
function withStorageFaults<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw toStorageFault(error)
  })
}
