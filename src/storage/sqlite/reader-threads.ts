/**
 * Threads that read what may take long (LIM-7), so that no other request waits for it. Each has a connection of its own
 * and runs one read at a time, on a new snapshot. Callers share the threads fairly.
 */
import { availableParallelism } from 'node:os'
import type { Catalog } from '../../model/resource.ts'
import { FairTurns } from '../fair-turns.ts'
import { type Requester, StorageFault } from '../storage.ts'
import { Thread } from './thread.ts'

/** How threads read. */
export interface ReaderOptions {
  readonly path: string
  readonly catalog: Catalog
  /** The secret of the entity tags of lists. */
  readonly tagSecret: Uint8Array
  /** How many milliseconds a thread has to end a stopped statement. Then another thread takes its place. */
  readonly patience?: number
}

/** How many threads read at once: at least two, because one caller gets half of them. */
const count = Math.min(4, Math.max(2, availableParallelism()))

/** How many reads wait for a thread, of all callers together. */
const waiting = 100

/** After so many milliseconds without a read a thread ends. */
const idleTime = 30_000

interface Reader {
  readonly thread: Thread
  /** Shared with the thread: the number of the read to stop. */
  readonly stopped: Int32Array
  idle?: NodeJS.Timeout
}

interface Read {
  readonly name: string
  readonly asked: unknown
  readonly signal: AbortSignal | undefined
  resolve(given: unknown): void
  reject(error: unknown): void
}

const messages = {
  'too-long': 'The read took longer than limits.readTime.',
  abandoned: 'The client has disconnected.',
  busy: 'The database is being closed.',
} as const

/** Runs reads on threads, which start when they are needed. */
export class ReaderThreads {
  readonly #options: ReaderOptions
  readonly #turns: FairTurns
  readonly #idle: Reader[] = []
  /** The running reads: what stops each, and when its thread is free. */
  readonly #running = new Map<() => void, Promise<void>>()
  /** Threads that were replaced, and have not ended yet. */
  #lost = 0
  #isClosed = false

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#turns = new FairTurns({ running: count, waiting, patience: options.catalog.limits.readTime })
  }

  /**
   * Runs a read by its name.
   *
   * @throws StorageFault `too-long`, `abandoned`, `crowded`, or if the database fails
   */
  run(name: string, asked: unknown, { callerId = '', abandoned }: Requester = {}): Promise<unknown> {
    const signal = abandoned?.()
    return new Promise((resolve, reject) => {
      const read = { name, asked, signal, resolve, reject }
      this.#turns.run(callerId, () => this.#read(read), signal).catch(reject)
    })
  }

  /** Stops all reads and ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = [...this.#running]
    for (const [stop] of running) stop()
    await Promise.all(running.map(([, free]) => free))
    await Promise.all(this.#idle.splice(0).map(({ thread }) => thread.close()))
  }

  /** Resolves when a thread is free for the next read, which may be later than the answer to this one. */
  async #read(read: Read): Promise<void> {
    if (this.#isClosed) throw faultOf('busy')
    if (read.signal?.aborted === true) throw faultOf('abandoned')
    const reader = this.#idle.pop() ?? (await this.#start())
    clearTimeout(reader.idle)
    const { thread, stopped } = reader
    const { promise: free, resolve: setFree } = Promise.withResolvers<boolean>()
    const replied = thread.ask(read.name, read.asked).then(read.resolve, read.reject)
    void replied.then(() => setFree(true))
    const { number } = thread
    let patience: NodeJS.Timeout | undefined
    const stop = (kind: keyof typeof messages) => {
      Atomics.store(stopped, 0, number)
      read.reject(faultOf(kind))
      patience ??= setTimeout(() => setFree(false), this.#options.patience ?? 5_000)
    }
    const abandon = () => stop('abandoned')
    const close = () => stop('busy')
    const limit = setTimeout(() => stop('too-long'), this.#options.catalog.limits.readTime)
    read.signal?.addEventListener('abort', abandon, { once: true })
    const release = free.then((isBack) => (isBack ? this.#keep(reader) : this.#replace(thread)))
    this.#running.set(close, release)
    await release
    this.#running.delete(close)
    clearTimeout(limit)
    clearTimeout(patience)
    read.signal?.removeEventListener('abort', abandon)
  }

  async #start(): Promise<Reader> {
    const { path, catalog, tagSecret } = this.#options
    const stopped = new SharedArrayBuffer(4)
    // A page, its copies, and the program.
    const heap = 128 + Math.ceil(catalog.limits.pageBytes / 2 ** 18)
    const thread = new Thread({ path, catalog, reading: { tagSecret, stopped } }, heap)
    // The time limit counts the work of the database alone.
    await thread.ask('ready', undefined)
    return { thread, stopped: new Int32Array(stopped) }
  }

  #keep(reader: Reader): void {
    if (reader.thread.isEnded) return
    this.#idle.push(reader)
    reader.idle = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(reader), 1)
      void reader.thread.close()
    }, idleTime).unref()
  }

  /** Gives up a thread whose statement goes on. It ends with the statement, and so does its snapshot. */
  async #replace(thread: Thread): Promise<void> {
    const ended = thread.terminate()
    if (this.#lost >= count || this.#isClosed) return ended
    this.#lost++
    void ended.then(() => this.#lost--)
  }
}

function faultOf(kind: keyof typeof messages): StorageFault {
  return new StorageFault(kind, messages[kind])
}
