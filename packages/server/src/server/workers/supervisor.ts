/**
 * Starts the workers of a server, replaces those that end, and stops them, so that no request is lost. The supervisor
 * accepts connections and counts requests; it answers none. `node:cluster` would close the port with the last worker.
 */
import { ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { forwardLines, type LogBlocks } from '../observe/log.ts'
import { createMetricsServer } from '../observe/metrics.ts'
import type { Observe } from '../observe/observe.ts'
import { type Holder, openLedger } from '../rates/lease-ledger.ts'
import { OwnPlaces } from '../streams/stream-places.ts'
import { type Channel, type Listening, openChannel, type SupervisorCalls, type WorkerCalls } from './channel.ts'
import { gatherMetrics } from './gathered-metrics.ts'
import { handover } from './handover.ts'
import { mostMissed, roundTime, watchHeartbeats } from './heartbeat.ts'
import { workerEnvironment } from './worker-link.ts'
import { openTurnQueue, type TurnTaker } from './write-turn.ts'

/** What a supervisor needs. */
export interface SupervisorOptions {
  /** How many workers. */
  readonly count: number
  readonly host: string
  readonly port: number
  readonly metricsPort?: number | undefined
  readonly metricsHost?: string | undefined
  readonly observe: Observe
  /** Where the lines of the workers go; `undefined`: they write to standard output themselves. */
  readonly output: LogBlocks | undefined
  /** Options of Node.js for the workers. */
  readonly execArgv: readonly string[]
  /** The port on which a debugger reaches the supervisor. Each worker has another one, from the next port on. */
  readonly debugPort?: number | undefined
}

/** Workers that serve. */
export interface Supervisor {
  /** Replaces all workers, one after the other, without losing a request. */
  renew(): Promise<void>
  /**
   * Stops accepting requests, finishes the running ones, and ends the workers (OPS-2). Returns whether all of them have
   * ended as they should.
   */
  close(): Promise<boolean>
  /** Ends the workers at once. */
  kill(): void
  /**
   * Resolves with an exit code when the workers have ended by themselves and are not started again. The first worker
   * has explained its end.
   */
  readonly ended: Promise<{ readonly code: number; readonly isFirst: boolean }>
}

interface Worker {
  readonly number: number
  readonly process: ChildProcess
  readonly channel: Channel<WorkerCalls>
  readonly holder: Holder
  readonly taker: TurnTaker
  readonly streams: OwnPlaces
  /** The port on which a debugger reaches it, if the server is debugged. */
  readonly debugPort: number
  /** Resolves with whether it serves, or has ended before. */
  readonly started: Promise<boolean>
  /** Resolves when it has ended, with its exit code or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Whether it answers requests. */
  isServing: boolean
  /** Whether its end is expected. */
  isLeaving: boolean
  servingSince: number
}

/** After this many workers in a row that ended early, while no other one serves, the supervisor gives up. */
const mostFailures = 5
/** A worker that serves for this long was no failure, in milliseconds. */
const early = 5_000
/** The longest pause before another start, in milliseconds. */
const longestPause = 10_000
/** A signal to a group of processes may reach a worker this long before the supervisor, in milliseconds. */
const groupSignal = 500
/** How long the output of a worker that has ended may take, in milliseconds. */
const longestOutput = 1_000
/**
 * How long a worker may take to end, in milliseconds: 8 seconds for its requests, 4 for its traces and its log, and
 * some more on a busy machine.
 */
const longestDrain = 15_000
/** How long a revocation waits for a worker at most, in milliseconds: cached keys are not trusted for longer. */
const longestTrust = 1_000

/**
 * Starts the first worker, which prepares the database and writes the messages of the start, and then the others.
 *
 * @throws the system's error, such as EADDRINUSE, or ConfigurationError, if the port or the metrics cannot be served
 */
export async function supervise(options: SupervisorOptions): Promise<Supervisor> {
  const { count, observe } = options
  const workers = new Set<Worker>()
  const serving = () => [...workers].filter(({ isServing }) => isServing)
  const ledger = openLedger(Date.now)
  const turns = openTurnQueue()
  const streams = new Map<string, number>()
  const connections = handover()
  const failure = Promise.withResolvers<never>()
  const ended = Promise.withResolvers<{ code: number; isFirst: boolean }>()
  const reports = () => new Map(serving().map((worker) => [worker, () => worker.channel.call('metrics')]))
  const metrics = await gatherMetrics(reports)
  const metricsServer = options.metricsPort === undefined ? undefined : createMetricsServer(metrics)
  let listening: Promise<Listening> | undefined
  let failures = 0
  let isStopping = false

  const listen = async (): Promise<Listening> => {
    const { host, port, metricsHost = '127.0.0.1', metricsPort = 0 } = options
    try {
      const metricsUrl = await metricsServer?.listen(metricsHost, metricsPort)
      const ticketKeys = randomBytes(48).toString('base64')
      return { metricsUrl, ticketKeys, port: await connections.listen(host, port) }
    } catch (error) {
      await metricsServer?.close()
      failure.reject(error)
      throw error
    }
  }

  /** The first port that no worker has. A worker runs beside the one that it replaces. */
  const nextDebugPort = () => {
    const used = new Set([...workers].map(({ debugPort }) => debugPort))
    let port = (options.debugPort ?? 0) + 1
    while (used.has(port)) port++
    return port <= 65_535 ? port : 0
  }

  const start = (number: number, isFirst = false): Worker => {
    const debugPort = nextDebugPort()
    const child = forked({
      execArgv: [...options.execArgv, ...(options.debugPort === undefined ? [] : [`--inspect-port=${debugPort}`])],
      env: workerEnvironment({ number, count, isFirst }),
      stdio: ['ignore', options.output === undefined ? 'inherit' : 'pipe', 'inherit', 'ipc'],
    })
    const exit = Promise.withResolvers<number | string>()
    const begun = Promise.withResolvers<boolean>()
    const calls: SupervisorCalls = {
      async ready(server) {
        listening ??= listen()
        const place = await listening
        worker.isServing = true
        worker.servingSince = performance.now()
        if (!isFirst) observe({ kind: 'worker', state: 'started', worker: number, pid: child.pid ?? 0, server })
        // The worker takes connections from its next turn on.
        setImmediate(() => worker.isLeaving || connections.add(child))
        begun.resolve(true)
        return place
      },
      taken: () => connections.taken(child),
      leaving: () => void sleep(groupSignal, undefined, { ref: false }).then(() => replace(worker)),
      metrics: () => metrics.read(),
      report: async (report) => metrics.note(worker, report),
      askTurn: (isUrgent) => turns.ask(worker.taker, isUrgent),
      leaveTurn: () => turns.leave(worker.taker),
      giveBack: (leases) => ledger.takeBack(worker.holder, leases),
      count: (shares) => ledger.count(worker.holder, shares),
      takeStream: ({ caller, most }) => worker.streams.take(caller, most),
      releaseStream: (caller) => worker.streams.release(caller),
      async revoked() {
        const told = serving().filter((other) => other !== worker)
        await Promise.all(told.map((other) => forgotten(other)))
      },
    }
    const channel = openChannel<WorkerCalls>(child, calls)
    const worker: Worker = {
      ...{ number, debugPort, process: child, channel, started: begun.promise, ended: exit.promise },
      streams: new OwnPlaces(streams),
      holder: {
        recall: (share, end) => channel.call('recall', { share, end }).catch(() => 0),
        update: (share, end, free) => channel.tell('update', { share, end, free }),
      },
      taker: {
        grant: (isShared) => channel.tellNow('grantTurn', isShared),
        recall: () => channel.tellNow('recallTurn'),
      },
      ...{ isServing: false, isLeaving: false, servingSince: Number.POSITIVE_INFINITY },
    }
    workers.add(worker)
    // A process that cannot be started, for example because too many files are open, has no output.
    const { stdout } = child as { readonly stdout: Readable | null | undefined }
    if (stdout && options.output !== undefined) forwardLines(stdout, options.output)
    child.once('disconnect', () => void connections.remove(child))
    child.once('error', (error) => {
      if (child.pid === undefined) exit.resolve(error.message)
    })
    child.once('exit', (code, signal) => {
      // Its output has ended too, unless the reader of the log has stopped.
      const end = () => exit.resolve(code ?? signal ?? 'unknown')
      child.once('close', end)
      setTimeout(end, longestOutput)
    })
    void exit.promise.then((how) => {
      workers.delete(worker)
      worker.isServing = false
      metrics.ended(worker)
      turns.leave(worker.taker)
      ledger.ended(worker.holder)
      worker.streams.releaseAll()
      void connections.remove(child)
      begun.resolve(false)
      if (!isFirst || listening !== undefined) void follow(worker, how)
    })
    return worker
  }

  /** Starts another worker in place of one that has ended by itself. */
  const follow = async (worker: Worker, how: number | string) => {
    if (worker.isLeaving || isStopping) return
    const { number, process: child } = worker
    observe({ kind: 'worker', state: 'ended', worker: number, pid: child.pid ?? 0, reason: reasonOf(how) })
    failures = performance.now() - worker.servingSince > early ? 0 : failures + 1
    if (failures >= mostFailures && serving().length === 0) return ended.resolve({ code: 1, isFirst: false })
    await sleep(failures < 2 ? 0 : Math.min(100 * 2 ** failures, longestPause), undefined, { ref: false })
    if (!isStopping) start(number)
  }

  const kill = ({ number, process: child }: Worker, asked: 'end' | 'answer', waited: number) => {
    observe({ kind: 'worker', state: 'killed', worker: number, pid: child.pid ?? 0, asked, after: waited / 1_000 })
    child.kill('SIGKILL')
  }

  /** Kills a worker that hangs, so that nobody waits for its end for ever. */
  const limit = (worker: Worker) => {
    const timer = setTimeout(() => kill(worker, 'end', longestDrain), longestDrain)
    void worker.ended.then(() => clearTimeout(timer))
  }

  const beat = watchHeartbeats<Worker>({
    workers: serving,
    ask: ({ channel }) => channel.call('beat'),
    // Another worker takes the place of one that has ended.
    hangs: (worker) => kill(worker, 'answer', mostMissed * roundTime),
  })
  const heartbeats = setInterval(beat, roundTime).unref()

  /** Ends a worker without losing a request. */
  const drain = async (worker: Worker) => {
    worker.isLeaving = true
    await connections.remove(worker.process)
    worker.channel.tell('drain')
    return worker.ended
  }

  /** Starts another worker, and ends the former one when the other serves. Returns whether it does. */
  const replace = async (worker: Worker): Promise<boolean> => {
    if (worker.isLeaving || isStopping) return true
    worker.isLeaving = true
    const next = start(worker.number)
    next.isLeaving = true
    const isReplaced = await next.started
    next.isLeaving = false
    if (isReplaced) {
      limit(worker)
      await drain(worker)
    } else if (workers.has(worker)) {
      worker.isLeaving = false
      observe({ kind: 'worker', state: 'kept', worker: worker.number, pid: worker.process.pid ?? 0 })
    } else if (!isStopping) start(worker.number)
    return isReplaced
  }

  const first = start(1, true)
  const how = await Promise.race([
    first.started.then((serves) => (serves ? undefined : first.ended)),
    failure.promise,
  ]).catch(async (error: unknown) => {
    first.isLeaving = true
    first.process.kill('SIGKILL')
    await first.ended
    throw error
  })
  if (how === undefined) for (let number = 2; number <= count; number++) start(number)
  else ended.resolve({ code: typeof how === 'number' && how > 0 ? how : 1, isFirst: true })
  let renewing = Promise.resolve()
  return {
    ended: ended.promise,
    renew() {
      renewing = renewing.then(async () => {
        for (const worker of serving()) if (!(await replace(worker))) return
      })
      return renewing
    },
    async close() {
      isStopping = true
      clearInterval(heartbeats)
      workers.forEach(limit)
      await connections.close()
      const codes = await Promise.all([...workers].map(drain))
      // Metrics show what is still running until the end.
      await metricsServer?.close()
      return codes.every((code) => code === 0)
    },
    kill() {
      for (const worker of workers) worker.process.kill('SIGKILL')
    },
  }
}

/** Starts this program in another process. Every error of the system is an event of the process. */
function forked(options: ForkOptions): ChildProcess {
  try {
    return fork(process.argv[1]!, process.argv.slice(2), options)
  } catch (error) {
    // Node.js throws errors such as ENOMEM, and emits others such as EMFILE.
    const child = new ChildProcess()
    process.nextTick(() => child.emit('error', error))
    return child
  }
}

async function forgotten({ channel }: Worker): Promise<void> {
  await Promise.race([channel.call('forget').catch(() => {}), sleep(longestTrust)])
}

function reasonOf(how: number | string): string {
  return typeof how === 'number' ? `exit code ${how}` : how
}

/** The error of a supervisor that gives up. */
export function noWorkerStarts(): ConfigurationError {
  return new ConfigurationError(
    `${mostFailures} workers ended shortly after their start. The lines above say why. ` +
      'Try --workers 1, which reports errors of one process.',
  )
}
