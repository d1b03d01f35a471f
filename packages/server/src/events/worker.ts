/**
 * Delivers events to their consumers (EVT-9, EVT-12), on any of the servers of a database. The database has all state:
 * up to which position each consumer has deliveries, and which deliveries are pending, due, and claimed by which server
 * until when. So a server may end at any moment, and another one continues.
 *
 * Each consumer has its own attempts, of which a few run at the same time: a slow one delays no other.
 */
import { isDeepStrictEqual } from 'node:util'
import { uuidv7 } from 'uuidv7'
import type { ReadEvent } from '../plan/plan-events.ts'
import type {
  ClaimedDelivery,
  ConsumerState,
  DeliveryEnd,
  DeliveryStore,
  FunctionKinds,
  NewDelivery,
} from '../storage/delivery-store.ts'
import { type EventStore, StorageFault } from '../storage/storage.ts'
import { type AttemptResult, answerOf, type FindConsumer } from './consumer.ts'
import { nextAttemptAt } from './retry.ts'

/** What a worker needs. */
export interface WorkerOptions {
  readonly events: EventStore
  readonly deliveries: DeliveryStore
  readonly findConsumer: FindConsumer
  /** The functions of this server. New ones get events from now on, the others continue. */
  readonly functions?: readonly FunctionKinds[]
  /** The name by which the server claims deliveries. */
  readonly server: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whether nothing may begin now (ERR-6). */
  readonly paused: () => boolean
  /** Called with errors of the database and of consumers. */
  readonly failed: (error: unknown) => void
  /** Called with what came of each attempt. */
  readonly ended?: ((state: ConsumerState, delivery: ClaimedDelivery, end: DeliveryEnd) => void) | undefined
  /** Milliseconds between two looks at the database; 250 by default. */
  readonly interval?: number | undefined
}

/** Delivers events until it is closed. */
export interface DeliveryWorker {
  /** Resolves when new functions get all events of the changes that follow. */
  readonly begun: Promise<unknown>
  /** Looks for events and for deliveries that are due, and resolves when none is left to begin and none runs. */
  settle(): Promise<void>
  /** When the worker has something to do, in milliseconds since 1970; 0: now; infinity: not before the next event. */
  nextDue(): Promise<number>
  /** Waits a few seconds for running attempts, and gives the others back. */
  close(): Promise<void>
}

/** How long a claim lasts, in milliseconds: longer than any attempt. */
const lease = 45_000
/** The most events that become deliveries in one transaction. */
const batch = 100
/** The most attempts that run at the same time: for one consumer, for one that keeps failing, and for all. */
const most = { consumer: 8, failing: 1, all: 512 } as const
/** The most consumers that are given events at the same time. */
const mostFanOuts = 4
/** After so many failures in a row a consumer counts as failing. */
const failing = 5
/** The longest pause of a failing consumer, in milliseconds. */
const longestPause = 60_000
/** A position without deliveries is stored when it has advanced by so much: storing it costs a write. */
const worthStoring = 1_000
/** How many times longer a server waits between two looks while there is no consumer. */
const idle = 4
/** How often deliveries of deleted webhooks and old deliveries are removed, in milliseconds. */
const sweepInterval = 60_000
/** How long a server that stops waits for running attempts, in milliseconds. */
const grace = 5_000

/** What this server remembers of a consumer. */
interface Lane {
  state: ConsumerState
  /** The position up to which this server has examined events; never before that of `state`. */
  examined: number
  /** The mark of `examined` (`EventPosition`); `undefined`: it is the position of `state`. */
  mark: number | undefined
  fanning: boolean
  claiming: boolean
  running: number
  /** Attempts that have failed since the last success. */
  failures: number
  pausedUntil: number
}

/** Starts a worker. */
export function startDeliveries(options: WorkerOptions): DeliveryWorker {
  const worker = new Worker(options)
  worker.look()
  return worker
}

class Worker implements DeliveryWorker {
  readonly begun: Promise<unknown>
  readonly #options: WorkerOptions
  readonly #interval: number
  readonly #lanes = new Map<string, Lane>()
  readonly #work = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  #running = 0
  #fanOuts = 0
  #sweptAt = Number.NEGATIVE_INFINITY
  /** The horizon when the server started: new functions get the events after it. */
  #startedAt: Promise<number> | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#interval = options.interval ?? 250
    this.#startedAt = this.#readStart()
    this.begun = Promise.resolve(this.#startedAt).catch(() => {})
  }

  /** Looks once now, and again after a while. */
  readonly look = (): void => {
    clearTimeout(this.#timer)
    if (this.#closed) return
    this.#track(
      this.#lookOnce().finally(() => {
        clearTimeout(this.#timer)
        if (this.#closed) return
        const wait = this.#lanes.size === 0 ? idle * this.#interval : this.#interval
        this.#timer = setTimeout(this.look, wait).unref()
      }),
    )
  }

  async settle(): Promise<void> {
    do {
      await this.#idle()
      if (this.#closed) return
      this.#track(this.#lookOnce())
      await this.#idle()
    } while (await this.#hasWork())
  }

  async nextDue(): Promise<number> {
    const { deliveries, events } = this.#options
    const [states, horizon] = [await deliveries.consumers(), await events.horizon()]
    const times = states.map(({ name, due = Number.POSITIVE_INFINITY }) => {
      const lane = this.#lanes.get(name)
      return lane === undefined || lane.running > 0 || lane.examined < horizon ? 0 : due
    })
    return Math.min(...times)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const { deliveries, server, now, failed } = this.#options
    const late = setTimeout(() => this.#stopping.abort(), grace)
    await this.#idle()
    clearTimeout(late)
    if (this.#lanes.size > 0) await deliveries.release(server, now()).catch(failed)
  }

  async #idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Whether there are events that are not examined, or deliveries that are due. */
  async #hasWork(): Promise<boolean> {
    const { deliveries, events, now, paused } = this.#options
    if (paused()) return false
    const [states, horizon] = [await deliveries.consumers(), await events.horizon()]
    return states.some(({ name, due = Number.POSITIVE_INFINITY }) => {
      const lane = this.#lanes.get(name)
      return lane !== undefined && (lane.examined < horizon || (due <= now() && lane.pausedUntil <= now()))
    })
  }

  /** Keeps work that is not awaited, so that closing waits for it. Errors are reported. */
  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#options.failed).finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }

  async #lookOnce(): Promise<void> {
    const { deliveries, events, now, paused } = this.#options
    if (paused()) return
    if (performance.now() - this.#sweptAt > sweepInterval) {
      this.#sweptAt = performance.now()
      await deliveries.sweep(now())
    }
    const states = await this.#register(await deliveries.consumers())
    const horizon = states.length > 0 ? await events.horizon() : 0
    const lanes = states.map((state) => this.#laneOf(state))
    this.#forget(states)
    // From another one each time, so that none waits for the others.
    const first = Math.floor(Math.random() * lanes.length)
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      // The horizon goes back only where the database has lost its last changes.
      if (horizon < lane.examined && lane.mark !== undefined && !lane.fanning) this.#examineAgain(lane)
      if (lane.examined < horizon) this.#fanOut(lane)
      if (lane.state.due !== undefined && lane.state.due <= now()) this.#claim(lane)
    }
  }

  /** Adds functions that the database lacks: new ones, and those of a kind that was removed. Returns all consumers. */
  async #register(states: readonly ConsumerState[]): Promise<readonly ConsumerState[]> {
    const { deliveries, functions = [] } = this.#options
    const known = new Map(states.map(({ name, kinds }) => [name, kinds]))
    const missing = functions.filter(({ name, kinds }) => kinds.some((kind) => known.get(name)?.[kind] === undefined))
    if (missing.length === 0) return states
    this.#startedAt ??= this.#readStart()
    const position = (await this.#startedAt) ?? 0
    for (const each of missing) await deliveries.addConsumer({ ...each, position })
    // Not before all are added: the next look adds those that failed, from the same position on.
    this.#startedAt = undefined
    return deliveries.consumers()
  }

  /** Begins to read the horizon at once: a request that follows the start may already change something. */
  #readStart(): Promise<number> | undefined {
    const { events, functions = [] } = this.#options
    if (functions.length === 0) return undefined
    const reading = events.horizon()
    // `#register` awaits the result and reports the error; the next look reads again.
    reading.catch(() => {
      if (this.#startedAt === reading) this.#startedAt = undefined
    })
    return reading
  }

  #laneOf(state: ConsumerState): Lane {
    const known = this.#lanes.get(state.name)
    if (known === undefined) {
      const at = { state, examined: state.position, mark: undefined, fanning: false, claiming: false }
      const lane = { ...at, running: 0, failures: 0, pausedUntil: 0 }
      this.#lanes.set(state.name, lane)
      return lane
    }
    if (!known.fanning) {
      // Another server has advanced the position, or the database is another one.
      const { position, kinds } = known.state
      known.state = state
      if (state.position !== position || !isDeepStrictEqual(state.kinds, kinds)) this.#examineAgain(known)
    }
    return known
  }

  /** Examines the events that follow the stored position again. */
  #examineAgain(lane: Lane): void {
    lane.examined = lane.state.position
    lane.mark = undefined
  }

  #forget(states: readonly ConsumerState[]): void {
    if (states.length === this.#lanes.size) return
    const names = new Set(states.map(({ name }) => name))
    for (const [name, { running, fanning }] of this.#lanes) {
      if (!names.has(name) && running === 0 && !fanning) this.#lanes.delete(name)
    }
  }

  /** Makes deliveries of the events that follow the position of a consumer. */
  #fanOut(lane: Lane): void {
    if (lane.fanning || this.#fanOuts >= mostFanOuts) return
    lane.fanning = true
    this.#fanOuts++
    this.#track(
      this.#fanOutAll(lane).finally(() => {
        lane.fanning = false
        this.#fanOuts--
      }),
    )
  }

  async #fanOutAll(lane: Lane): Promise<void> {
    const { deliveries, findConsumer, now, paused } = this.#options
    for (let more = true; more && !this.#closed && !paused(); ) {
      const consumer = await findConsumer(lane.state)
      if (consumer === undefined) return
      if (consumer.read === undefined) {
        // Nothing is left to examine, or `settle` would wait for ever.
        lane.examined = Number.POSITIVE_INFINITY
        return
      }
      const { name, position: from, kinds } = lane.state
      const next = await consumer.read({ position: lane.examined, mark: lane.mark }, batch, kinds)
      if (next.isLost === true) {
        this.#examineAgain(lane)
        continue
      }
      more = next.more
      const to = Math.max(next.position, lane.examined)
      if (next.events.length === 0 && to - from < worthStoring) {
        lane.examined = to
        lane.mark = next.mark ?? lane.mark
        continue
      }
      const added = next.events.map(deliveryOf)
      const isFirst = await deliveries.fanOut({ consumer: name, kinds, from, to, deliveries: added, now: now() })
      if (!isFirst) {
        // Another server was first, or the consumer was turned off, or it has other kinds: the next look finds them.
        lane.state = { ...lane.state, position: -1 }
        return
      }
      // Not before the commit: events that got no deliveries, because the transaction failed, are examined again.
      lane.examined = to
      lane.mark = undefined
      lane.state = { ...lane.state, position: to }
      if (added.length > 0) this.#claim(lane)
    }
  }

  /** Claims deliveries that are due, as many as may run, and begins them. */
  #claim(lane: Lane): void {
    if (lane.claiming) return
    lane.claiming = true
    this.#track(
      this.#claimAll(lane).finally(() => {
        lane.claiming = false
      }),
    )
  }

  async #claimAll(lane: Lane): Promise<void> {
    const { deliveries, server, now, paused } = this.#options
    for (let [limit, count] = [0, 0]; limit === count; ) {
      const free = (lane.failures >= failing ? most.failing : most.consumer) - lane.running
      limit = Math.min(free, most.all - this.#running)
      if (limit <= 0 || this.#closed || paused() || now() < lane.pausedUntil) return
      const claim = { consumer: lane.state.name, server, limit, now: now(), until: now() + lease }
      const claimed = await deliveries.claim(claim)
      count = claimed.length
      for (const delivery of claimed) this.#begin(lane, delivery)
    }
  }

  #begin(lane: Lane, delivery: ClaimedDelivery): void {
    lane.running++
    this.#running++
    this.#track(
      this.#attempt(lane, delivery).finally(() => {
        lane.running--
        this.#running--
        if (!this.#closed) this.#claim(lane)
      }),
    )
  }

  async #attempt(lane: Lane, delivery: ClaimedDelivery): Promise<void> {
    const { deliveries, findConsumer, server, now, failed } = this.#options
    const { signal } = this.#stopping
    let result: AttemptResult
    try {
      const consumer = await findConsumer(lane.state)
      result = (await consumer?.deliver(delivery, signal)) ?? { kind: 'stopped' }
    } catch (error) {
      failed(error)
      // The claim ends by itself, and the delivery is then made again.
      if (error instanceof StorageFault) return
      result = { kind: 'failed', answer: answerOf('The server could not make the attempt.') }
    }
    // What was interrupted is given back.
    if (signal.aborted && result.kind !== 'succeeded') return
    this.#learn(lane, result)
    const end = endOf(result, delivery, now())
    const isKept = await deliveries.end({ consumer: lane.state.name, server, delivery, end, now: now() })
    // A delivery that waits for its consumer was no attempt.
    if (isKept && (result.kind !== 'stopped' || result.answer !== undefined))
      this.#options.ended?.(lane.state, delivery, end)
  }

  /** Slows down a consumer that keeps failing. */
  #learn(lane: Lane, { kind }: AttemptResult): void {
    // Attempts that ran together fail together: they count once.
    if (kind === 'discarded' || (kind === 'failed' && this.#options.now() < lane.pausedUntil)) return
    lane.failures = kind === 'failed' ? lane.failures + 1 : 0
    if (lane.failures < failing) return
    const pause = Math.min(1_000 * 2 ** (lane.failures - failing), longestPause)
    lane.pausedUntil = this.#options.now() + pause * (0.5 + Math.random() / 2)
  }
}

function deliveryOf({ id, collection, record, kind, position }: ReadEvent): NewDelivery {
  return { id: uuidv7(), event: id, collection, record, kind, position, turn: position }
}

/** How long a delivery waits that this server can make no attempt at, in milliseconds. */
const untilPossible = 1_000

/** How an attempt ends a delivery, or when the next attempt is made. */
function endOf(result: AttemptResult, { attempts, firstAt }: ClaimedDelivery, now: number): DeliveryEnd {
  switch (result.kind) {
    case 'succeeded':
      return { status: 'succeeded', answer: result.answer }
    case 'discarded':
      return { status: 'discarded', answer: answerOf(result.reason) }
    case 'stopped':
      if (result.answer !== undefined) return { status: 'failed', answer: result.answer }
      return { status: 'pending', next: now + untilPossible }
    case 'failed': {
      const { answer, retryAfter } = result
      const next = nextAttemptAt({ attempts, firstAt, now, retryAfter })
      return next === undefined ? { status: 'failed', answer } : { status: 'pending', next, answer }
    }
  }
}
