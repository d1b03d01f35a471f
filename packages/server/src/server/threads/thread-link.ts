/**
 * A thread's link to the main thread. A thread that answers requests is a whole server except for what all of them
 * share: the writer of the database, the counts of requests and streams, the metrics and the signals.
 */
import { type Channel, openChannel, type Peer } from '../../storage/threads/channel.ts'
import { type RemoteWriter, remoteWriter, type WriterPort } from '../../storage/threads/remote-writer.ts'
import { type Counter, sharedCounter, type Windows } from '../rates/counter.ts'
import type { StreamPlaces } from '../streams/stream-places.ts'
import type { StartFailure } from './member.ts'

export type { WriterPort }

/** Where the threads are reached. */
export interface Listening {
  readonly port: number
  /** Whether others may listen there too. */
  readonly reusePort: boolean
  /** What all threads encrypt TLS sessions with: 48 bytes. */
  readonly ticketKeys: Uint8Array
  readonly metricsUrl: string | undefined
}

/** What a thread that answers requests may ask of the main thread. */
export interface MainCalls {
  /** The thread can answer requests. Resolves when it may listen. */
  ready(): Promise<Listening>
  /** The thread listens. Resolves when all threads do. Its name is that by which it claims jobs. */
  listens(server: string): Promise<void>
  /** The thread cannot start. */
  failed(failure: StartFailure): void
  /** Counts a stream of events. Returns whether the caller may have one more (EVT-7). */
  takeStream(stream: { readonly caller: string; readonly most: number }): Promise<boolean>
  /** A stream of the caller has ended. */
  releaseStream(caller: string): void
  /** Reads the metrics of all threads as text (OPS-7). */
  metrics(): Promise<string>
  /** Reports the metrics of a thread that ends. */
  report(metrics: readonly object[]): Promise<void>
  /** A key was revoked. Resolves when no thread authenticates by a cached key any more. */
  revoked(): Promise<void>
}

/** What the main thread may ask of such a thread. */
export interface ThreadCalls {
  /** Finishes running requests, and ends the thread. */
  drain(): void
  /** Forgets cached keys. */
  forget(): Promise<void>
  /** The metrics of the thread, as `prom-client` aggregates them. */
  metrics(): Promise<readonly object[]>
  /** From now on, changes go to this writer. */
  write(writer: WriterPort): void
}

/** What the thread that writes may ask of the main thread. */
export interface WriterMainCalls extends Pick<MainCalls, 'failed'> {
  /** The database is open. */
  ready(): void
}

/** What the main thread may ask of the thread that writes. */
export interface WriterCalls {
  /** Opens the database, without a thread that asks for it. */
  open(): void
  /** Lets another thread ask for changes. */
  connect(way: Pick<WriterPort, 'port'>): void
  /** Finishes what runs, closes the database, and ends the thread. */
  drain(): void
}

/** What a thread that answers requests starts with. */
export interface ThreadPlace {
  /** From 1; a thread that replaces another has its number. */
  readonly number: number
  /** Whether it writes the messages of the start. */
  readonly isFirst: boolean
  readonly windows: Windows
  /** `undefined`: the thread writes by itself. */
  readonly writer: WriterPort | undefined
}

/** What a thread does for the main thread. */
export interface ThreadDuties {
  /** Reports the metrics of the thread. */
  metrics(): Promise<readonly object[]>
  forgetKeys(): void
}

export interface ThreadLink extends Pick<ThreadPlace, 'number' | 'isFirst'> {
  readonly main: Channel<MainCalls>
  /** Counts requests together with the other threads. */
  readonly counter: Counter
  /** Counts streams of events together with the other threads. */
  readonly streamPlaces: StreamPlaces
  /** Makes the changes of the thread; `undefined`: the thread writes by itself. */
  readonly writer: RemoteWriter | undefined
  /** Begins to answer the main thread. Resolves when the thread may listen. */
  join(duties: ThreadDuties): Promise<Listening>
  /** Resolves when the thread is to end. */
  readonly ended: Promise<void>
  /** Reports the metrics for the last time. Resolves when the main thread has got all that was said before. */
  report(): Promise<void>
}

/** How often a thread advances its pulse, in milliseconds. */
export const pulseTime = 500

/** Advances a pulse for as long as the event loop of this thread turns. */
export function beat(pulse: SharedArrayBuffer): void {
  const beats = new Int32Array(pulse)
  setInterval(() => Atomics.add(beats, 0, 1), pulseTime).unref()
}

/** Links this thread to the main thread. */
export function linkToMain(peer: Peer, { number, isFirst, windows, writer }: ThreadPlace): ThreadLink {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const changes = writer && remoteWriter(writer)
  let duties: ThreadDuties | undefined
  const own: ThreadCalls = {
    drain: end,
    async forget() {
      duties?.forgetKeys()
      // A request of this turn may still read the database as it was, and cache what it finds.
      await new Promise(setImmediate)
      duties?.forgetKeys()
    },
    metrics: async () => (await duties?.metrics()) ?? [],
    write: (next) => changes?.use(next),
  }
  const main = openChannel<MainCalls>(peer, own)
  return {
    ...{ number, isFirst, main, ended, writer: changes },
    counter: sharedCounter(Date.now, windows),
    streamPlaces: {
      take: (caller, most) => main.call('takeStream', { caller, most }),
      release: (caller) => main.tell('releaseStream', caller),
    },
    join(given) {
      duties = given
      return main.call('ready')
    },
    async report() {
      await main.call('report', (await duties?.metrics()) ?? [])
    },
  }
}
