/**
 * Starts the threads of a server, replaces those that end or hang, and stops them, so that no request is lost. The main
 * thread answers no request itself.
 */
import { randomBytes } from 'node:crypto'
import { url as inspectorAddress } from 'node:inspector'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { withoutCredentials } from 'resourced-contract/model/text'
import type { LogBlocks } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Observe } from '../observe/observe.ts'
import { openWindows, releaseWindows } from '../rates/counter.ts'
import { OwnPlaces } from '../streams/stream-places.ts'
import { gatherMetrics } from './gathered-metrics.ts'
import { Member, type StartFailure } from './member.ts'
import type { Listening, MainCalls, ThreadCalls, WriterCalls, WriterMainCalls, WriterPort } from './thread-link.ts'

/** What the main thread needs. */
export interface SupervisorOptions {
  /** How many threads answer requests. */
  readonly count: number
  /** The module of a thread that answers requests. */
  readonly entry: URL
  /** The module of the thread that writes; `undefined`: each thread writes by itself. */
  readonly writerEntry: URL | undefined
  /** What both start with, as plain data. */
  readonly data: object
  readonly host: string
  readonly port: number
  /** Whether several threads can listen on the port. */
  readonly reusePort: boolean
  readonly metricsPort?: number | undefined
  readonly metricsHost?: string | undefined
  readonly observe: Observe
  /** Where the lines of the threads go; `undefined`: to standard output as they are. */
  readonly output: LogBlocks | undefined
}

/** Threads that serve. */
export interface Supervisor {
  /**
   * Replaces all threads, which then serve the declaration as it is now, without losing a request. Rejects if the
   * others cannot start: then the former threads stay. Gives up threads that still start because of an earlier call.
   */
  renew(): Promise<void>
  /**
   * Stops accepting requests, finishes the running ones, and ends the threads (OPS-2). Returns whether all of them have
   * ended as they should.
   */
  close(): Promise<boolean>
  /** Resolves when the threads have ended by themselves and are not started again. */
  readonly ended: Promise<StartFailure>
}

type RequestThread = Member<ThreadCalls>
type Writer = Member<WriterCalls> & { readonly committing: SharedArrayBuffer }

/** Threads that were started together: one declaration, and one writer at a time. */
interface Group {
  readonly isFirst: boolean
  writer: Writer | undefined
  /** By number, from 1. A thread that replaces another has its number. */
  readonly threads: Map<number, RequestThread>
  /** All threads are loaded before the port is taken, and all listen before the first of them is announced. */
  readonly gates: { readonly ready: Gate; readonly listens: Gate }
  /** Until all of them serve, one that has never served is not replaced: then the start has failed. */
  isOpening: boolean
  isLeaving: boolean
  /** Resolves when all of them have ended. */
  closed?: Promise<boolean>
}

/** Where threads wait for each other. */
class Gate {
  readonly #open = Promise.withResolvers<void>()
  #missing: number

  constructor(count: number) {
    this.#missing = count
  }

  /** Resolves when as many have arrived as were expected. */
  arrive(): Promise<void> {
    if (--this.#missing === 0) this.#open.resolve()
    return this.#open.promise
  }
}

/** After this many threads in a row that ended early, while no other one serves, the server gives up. */
const mostFailures = 5
/** A thread that served for this long was no failure, in milliseconds. */
const early = 5_000
/** The longest pause before another start, in milliseconds. */
const longestPause = 10_000
/** How often the pulses of threads are looked at, in milliseconds. */
const roundTime = 1_000
/** A thread whose event loop has not turned in so many rounds hangs: no collection of garbage takes so long. */
const mostMissed = 30
/**
 * How long a thread may take to end, in milliseconds: 8 seconds for its requests, 4 for its traces and its log, and
 * some more on a busy machine.
 */
const longestDrain = 15_000
/** How long a revocation waits for a thread at most, in milliseconds: cached keys are not trusted for longer. */
const longestTrust = 1_000

/**
 * Starts the threads. The first one writes the messages of the start.
 *
 * @throws the system's error, such as EADDRINUSE, or ConfigurationError, if the port or the metrics cannot be served;
 *   `StartFailed` if a thread cannot start
 */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { count, observe, output, data } = options
  const groups = new Set<Group>()
  const windows = openWindows()
  const streams = new Map<string, number>()
  const ended = Promise.withResolvers<StartFailure>()
  const threads = () => [...groups].flatMap((group) => [...group.threads.values()]).filter(({ serves }) => serves)
  const metrics = gatherMetrics({
    count: () => threads().length,
    reports: () => new Map(threads().map((thread) => [thread, () => thread.channel.call('metrics')])),
  })
  const metricsServer = options.metricsPort === undefined ? undefined : await metricsServerOf(metrics)
  let listening: Promise<Listening> | undefined
  let failures = 0
  let isStopping = false

  const listen = async (): Promise<Listening> => {
    const { host, port, reusePort, metricsHost = '127.0.0.1', metricsPort = 0 } = options
    const metricsUrl = await metricsServer?.listen(metricsHost, metricsPort)
    return { metricsUrl, reusePort, ticketKeys: randomBytes(48), port: await freePort(host, port) }
  }

  const startWriter = (group: Group): Writer => {
    const committing = new SharedArrayBuffer(4)
    const start = { entry: options.writerEntry as URL, data: { ...data, committing }, ports: [], output }
    const calls = (own: Member<WriterCalls>): Omit<WriterMainCalls, 'failed'> => ({ ready: () => own.begin() })
    const writer = Object.assign(new Member<WriterCalls>(start, calls), { committing })
    group.writer = writer
    void writer.ended.then(async (code) => {
      if (!(await isToFollow(group, writer, 0, code))) return
      const next = startWriter(group)
      next.channel.tell('open')
      if ((await next.started) !== undefined) return
      for (const { channel } of group.threads.values()) channel.tell('write', connect(next))
    })
    return writer
  }

  /** A way to a writer. */
  const connect = ({ channel, committing }: Writer): WriterPort => {
    const { port1, port2 } = new MessageChannel()
    channel.tell('connect', { port: port1 })
    return { port: port2, committing }
  }

  const startThread = (group: Group, number: number): RequestThread => {
    const writer = group.writer && connect(group.writer)
    const isFirst = group.isFirst && group.isOpening && number === 1
    const place = { number, isFirst, windows, writer }
    const start = { entry: options.entry, data: { ...data, place }, ports: writer ? [writer.port] : [], output }
    const places = new OwnPlaces(streams)
    const thread = new Member<ThreadCalls>(
      start,
      (own): Omit<MainCalls, 'failed'> => ({
        async ready() {
          await group.gates.ready.arrive()
          listening ??= listen()
          return listening
        },
        async listens(server) {
          // From now on it may have requests, which must not be lost.
          own.begin()
          await group.gates.listens.arrive()
          if (!isFirst) observe({ kind: 'worker', state: 'started', worker: number, thread: own.id, server })
        },
        metrics: () => metrics.read(),
        report: async (report) => metrics.note(own, report),
        takeStream: ({ caller, most }) => places.take(caller, most),
        releaseStream: (caller) => places.release(caller),
        async revoked() {
          const told = threads().filter((other) => other !== own)
          await Promise.all(told.map(({ channel }) => Promise.race([channel.call('forget'), sleep(longestTrust)])))
        },
      }),
    )
    group.threads.set(number, thread)
    void thread.ended.then(async (code) => {
      metrics.ended(thread)
      places.releaseAll()
      releaseWindows(windows, thread.id)
      if (await isToFollow(group, thread, number, code)) startThread(group, number)
    })
    return thread
  }

  /** Whether another thread is to take the place of one that has ended. Waits before, if they end again and again. */
  const isToFollow = async (group: Group, thread: Member<never>, number: number, code: number): Promise<boolean> => {
    // Threads that finish their requests need the one that writes until all of them have ended.
    const isOver = () => thread.isLeaving || (number > 0 && (group.isLeaving || isStopping))
    if (isOver() || (group.isOpening && thread.began === undefined)) return false
    const reason = withoutCredentials([`exit code ${code}`, thread.failure?.text ?? []].flat().join(': '))
    observe({ kind: 'worker', state: 'ended', worker: number, thread: thread.id, reason })
    const served = thread.began === undefined ? 0 : performance.now() - thread.began
    failures = served > early ? 0 : failures + 1
    if (failures >= mostFailures && threads().length === 0) {
      ended.resolve({ text: noThreadStarts, code: 1 })
      return false
    }
    // Nothing else may keep the process alive.
    await sleep(failures < 2 ? 0 : Math.min(100 * 2 ** failures, longestPause))
    return !isOver()
  }

  const kill = (thread: Member<never>, number: number, asked: 'end' | 'answer', waited: number) => {
    observe({ kind: 'worker', state: 'killed', worker: number, thread: thread.id, asked, after: waited / 1_000 })
    thread.terminate()
  }

  /** Ends a thread without losing a request. Returns whether it has ended as it should. */
  const drain = async (thread: Member<ThreadCalls | WriterCalls>, number: number): Promise<boolean> => {
    thread.isLeaving = true
    if (!thread.serves) {
      thread.terminate()
      await thread.ended
      return true
    }
    thread.channel.tell('drain')
    const timer = setTimeout(() => kill(thread as never, number, 'end', longestDrain), longestDrain)
    const code = await thread.ended
    clearTimeout(timer)
    return code === 0
  }

  /** Ends threads that were started together, the writer last. Returns whether all have ended as they should. */
  const close = (group: Group): Promise<boolean> => {
    group.isLeaving = true
    group.closed ??= (async () => {
      const ends = await Promise.all([...group.threads].map(([number, thread]) => drain(thread, number)))
      if (group.writer !== undefined) ends.push(await drain(group.writer, 0))
      groups.delete(group)
      return ends.every((isClean) => isClean)
    })()
    return group.closed
  }

  /** Starts threads together. Returns `false` if they were ended before they served. */
  const open = async (isFirst: boolean): Promise<boolean> => {
    const gates = { ready: new Gate(count), listens: new Gate(count) }
    const group: Group = { isFirst, writer: undefined, threads: new Map(), gates, isOpening: true, isLeaving: false }
    groups.add(group)
    const started = async (thread: Pick<RequestThread, 'started'>) => {
      const failure = await thread.started
      if (failure !== undefined) throw new StartFailed(failure)
    }
    try {
      const writer = options.writerEntry === undefined ? [] : [startWriter(group)]
      const numbers = Array.from({ length: count }, (_, index) => index + 1)
      await Promise.all([...writer, ...numbers.map((number) => startThread(group, number))].map(started))
      group.isOpening = false
      return true
    } catch (error) {
      const isGivenUp = group.isLeaving
      await close(group)
      if (isGivenUp) return false
      await listening
      // Threads only say that their writer has ended.
      const cause = group.writer?.failure
      throw cause === undefined ? error : new StartFailed(cause)
    }
  }

  const renew = async () => {
    const former = [...groups]
    if (isStopping || former.length > 1) return
    try {
      if (!(await open(false))) return
    } catch (error) {
      for (const { threads } of former)
        for (const [worker, { id }] of threads) observe({ kind: 'worker', state: 'kept', worker, thread: id })
      throw error
    }
    await Promise.all(former.map(close))
  }

  await open(true).catch(async (error: unknown) => {
    await metricsServer?.close()
    throw error
  })
  const rounds = setInterval(() => {
    // A debugger may have stopped a thread.
    if (inspectorAddress() !== undefined) return
    for (const { writer, threads } of groups) {
      for (const [number, thread] of [...threads, ...(writer ? [[0, writer] as const] : [])]) {
        if (thread.serves && thread.missedRounds() === mostMissed)
          kill(thread as never, number, 'answer', mostMissed * roundTime)
      }
    }
  }, roundTime).unref()
  let renewing: Promise<unknown> = Promise.resolve()
  let calls = 0
  return {
    ended: ended.promise,
    renew() {
      // A start that goes on has an earlier declaration, and may never end.
      for (const group of groups) if (group.isOpening) void close(group)
      const call = ++calls
      const renewed = renewing.then(() => (call === calls ? renew() : undefined))
      renewing = renewed.catch(() => {})
      return renewed
    },
    async close() {
      isStopping = true
      clearInterval(rounds)
      const present = [...groups].filter(({ isLeaving }) => !isLeaving)
      await Promise.all([...groups].map(close))
      const areClean = await Promise.all(present.map(close))
      // Metrics show what is still running until the end.
      await metricsServer?.close()
      return areClean.every((isClean) => isClean)
    },
  }
}

/** Only a server with a port for metrics loads the module. */
async function metricsServerOf(metrics: Pick<Metrics, 'read'>) {
  const { createMetricsServer } = await import('../node/metrics-server.ts')
  return createMetricsServer(metrics)
}

/** A thread has said why it cannot start. */
export class StartFailed extends Error {
  readonly failure: StartFailure

  constructor(failure: StartFailure) {
    super(failure.text)
    this.failure = failure
  }
}

const noThreadStarts = `${mostFailures} threads ended shortly after their start. The lines above say why.`

/**
 * A port on which threads can listen together. Listeners that share a port would also share it with another program
 * that allows that; this one does not, so a port in use is an error.
 *
 * @throws the system's error, such as EADDRINUSE
 */
export function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
