/**
 * A worker's link to its supervisor. A worker is a whole server except for what all of them share: the port, the counts
 * of requests, the metrics and the signals.
 */
import { url as inspectorAddress } from 'node:inspector'
import type { Socket } from 'node:net'
import { fault } from 'resourced-contract/spec/faults'
import type { WriteTurn } from '../../storage/storage.ts'
import type { Counter } from '../rates/counter.ts'
import { leasedCounter } from '../rates/leased-counter.ts'
import type { StreamPlaces } from '../streams/stream-places.ts'
import { type Listening, openChannel, type SupervisorCalls, type WorkerCalls } from './channel.ts'
import { openWorkerTurn } from './write-turn.ts'

/** The variable that makes a process a worker: its number, how many there are, and whether it is the first to start. */
const variable = 'RESOURCED_WORKER'

/** The environment of a worker. */
export function workerEnvironment(place: WorkerPlace): NodeJS.ProcessEnv {
  return { ...process.env, [variable]: JSON.stringify(place) }
}

/** Which of the workers this is. */
export interface WorkerPlace {
  /** From 1; a worker that replaces another has its number. */
  readonly number: number
  readonly count: number
  /** Whether it prepares what the others use, such as the tables, and writes the messages of the start. */
  readonly isFirst: boolean
}

/** What a worker does for its supervisor. */
export interface WorkerDuties {
  /** The name by which the worker claims jobs. */
  readonly server: string
  /** Reports the metrics of the worker. */
  metrics(): Promise<readonly object[]>
  forgetKeys(): void
}

/** The link. */
export interface WorkerLink extends WorkerPlace {
  /** Counts requests together with the other workers. */
  readonly counter: Counter
  /** Counts streams of events together with the other workers. */
  readonly streamPlaces: StreamPlaces
  /** The turn to write to the SQLite file. */
  readonly turn: WriteTurn
  /** Begins to take connections, and to answer the supervisor. */
  join(take: (socket: Socket) => void, duties: WorkerDuties): Promise<Listening>
  /** Resolves when no worker authenticates by a cached key any more. */
  announceRevocation(): Promise<void>
  /** Reads the metrics of all workers as text. */
  readMetrics(): Promise<string>
  /** Resolves when the worker is to end. */
  readonly ended: Promise<void>
  /** Reports the metrics for the last time. Resolves when the supervisor has got all that was said before. */
  report(): Promise<void>
}

/** Links this process to its supervisor; `undefined` if it is no worker. */
export function linkToSupervisor(): WorkerLink | undefined {
  const text = process.env[variable]
  // Processes that this one starts are no workers.
  delete process.env[variable]
  if (text === undefined || process.send === undefined) return undefined
  const place = JSON.parse(text) as WorkerPlace
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let duties: WorkerDuties | undefined
  const own: WorkerCalls = {
    beat: () => inspectorAddress() !== undefined,
    drain: end,
    recall: ({ share, end }) => counter.giveBack(share, end),
    grantTurn: (isShared) => turn.granted(isShared),
    recallTurn: () => turn.recalled(),
    update: ({ share, end, free }) => counter.note(share, end, free),
    async forget() {
      duties?.forgetKeys()
      // A request of this turn may still read the database as it was, and cache what it finds.
      await new Promise(setImmediate)
      duties?.forgetKeys()
    },
    metrics: async () => (await duties?.metrics()) ?? [],
  }
  const supervisor = openChannel<SupervisorCalls>(process as never, own)
  const withoutSupervisor = (error: unknown) => {
    throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } }, error)
  }
  const counter = leasedCounter(
    (shares) => supervisor.call('count', shares).catch(withoutSupervisor),
    Date.now,
    (leases) => supervisor.tell('giveBack', leases),
  )
  const streamPlaces: StreamPlaces = {
    take: (caller, most) => supervisor.call('takeStream', { caller, most }).catch(withoutSupervisor),
    release: (caller) => supervisor.tell('releaseStream', caller),
  }
  const turn = openWorkerTurn(
    (isUrgent) => supervisor.tellNow('askTurn', isUrgent),
    () => supervisor.tellNow('leaveTurn'),
  )
  process.once('disconnect', () => turn.close())
  // A worker that cannot start ends as a server does.
  process.channel?.unref()
  // Without a supervisor there are no more connections.
  process.once('disconnect', end)
  // Signals often go to a whole group of processes: the supervisor decides.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => supervisor.tell('leaving'))
  process.on('SIGHUP', () => {})
  return {
    ...place,
    counter,
    streamPlaces,
    turn,
    ended,
    async join(take, given) {
      duties = given
      process.channel?.ref()
      process.on('message', (message, socket) => {
        if (message !== 'connection') return
        // The client may have gone.
        if (socket !== undefined) take(socket as Socket)
        supervisor.tell('taken')
      })
      // Without a supervisor there is nothing to serve, and nothing was served yet.
      return supervisor.call('ready', given.server).catch(() => process.exit(1))
    },
    readMetrics: () => supervisor.call('metrics'),
    announceRevocation: () => supervisor.call('revoked').catch(() => {}),
    async report() {
      await supervisor.call('report', (await duties?.metrics()) ?? []).catch(() => {})
    },
  }
}
