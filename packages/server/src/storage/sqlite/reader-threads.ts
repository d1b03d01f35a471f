/**
 * Threads that read what may take long (LIM-7), so that no other request waits for it. Each has a connection of its own
 * and runs one read at a time, on a new snapshot. Callers share the threads fairly.
 */
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog } from 'resourced-contract/model/resource'
import { FairTurns } from '../fair-turns.ts'
import { type Requester, StorageFault } from '../storage.ts'
import { Thread } from './thread.ts'
import { readTooLong } from './work-limit.ts'

/** How threads read. */
export interface ReaderOptions {
  readonly path: string
  readonly catalog: Catalog
  /** The secret of the entity tags of lists. */
  readonly tagSecret: Uint8Array
  /** Throws if the path does not lead to the file any more. Then it must not be opened: its log belongs to another. */
  readonly requireFile?: () => void
  /** How many milliseconds a thread has to end a stopped statement. Then another thread takes its place. */
  readonly patience?: number
  /** How many milliseconds a read may take by the clock. */
  readonly longest?: number
  /** How many bytes the log may have before reads pause, so that it can begin anew. */
  readonly longestLog?: number
}

/** How many threads read at once: at least two, because one caller gets half of them. */
const count = Math.min(4, Math.max(2, availableParallelism()))

/**
 * How many times `limits.readTime` a read may take by the clock. The thread itself counts its processor time: this is
 * for reads that wait, for a processor or a disk, and for steps of a statement in which the thread does not check it.
 */
const patienceByClock = 3

/** How many reads wait for a thread, of all callers together: most take milliseconds. */
const waiting = 1_000

/** After so many milliseconds without a read a thread ends: to start one takes longer than most reads. */
const idleTime = 60_000

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
  /** Stops it, once a thread runs it. */
  stop?: (kind: keyof typeof faults) => void
}

const faults = {
  'too-long': readTooLong,
  abandoned: () => new StorageFault('abandoned', 'The client has disconnected.'),
  busy: () => new StorageFault('busy', 'The database is being closed.'),
} as const

/** Runs reads on threads, which start when they are needed. */
export class ReaderThreads {
  readonly #options: ReaderOptions
  readonly #turns: FairTurns
  readonly #idle: Reader[] = []
  /** The reads that have a turn, and when their threads are free. */
  readonly #running = new Map<Read, Promise<void>>()
  /** Reads pause until it resolves. */
  #pause: Promise<void> | undefined
  /** The bytes of the log after the last pause. */
  #logged = 0
  /** Threads that were replaced, and have not ended yet. */
  #lost = 0
  #isClosed = false

  constructor(options: ReaderOptions) {
    this.#options = options
    const { readTime } = options.catalog.limits
    this.#turns = new FairTurns({ running: count, waiting, patience: Math.max(1_000, readTime) })
  }

  /**
   * Runs a read by its name.
   *
   * @throws StorageFault `too-long`, `abandoned`, `crowded`, or if the database fails
   */
  run(name: string, asked: unknown, { callerId = '', abandoned }: Requester = {}): Promise<unknown> {
    const signal = abandoned?.()
    return new Promise((resolve, reject) => {
      const read: Read = { name, asked, signal, resolve, reject }
      const begin = async () => {
        if (!this.#isClosed && this.#isLogLong())
          this.#pause ??= this.#shortenLog().finally(() => (this.#pause = undefined))
        await this.#pause
        if (this.#isClosed) throw faults.busy()
        const running = this.#read(read).finally(() => this.#running.delete(read))
        this.#running.set(read, running)
        return running
      }
      this.#turns.run(callerId, begin, signal).catch(reject)
    })
  }

  /** Stops all reads and ends the threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { stop } of this.#running.keys()) stop?.('busy')
    await Promise.allSettled([...this.#running.values(), this.#pause])
    await Promise.all(this.#idle.splice(0).map(({ thread }) => thread.close()))
  }

  /** Resolves when a thread is free for the next read, which may be later than the answer to this one. */
  async #read(read: Read): Promise<void> {
    const reader = this.#takeIdle() ?? (await this.#start())
    if (this.#isClosed || read.signal?.aborted === true) {
      this.#keep(reader)
      throw faults[this.#isClosed ? 'busy' : 'abandoned']()
    }
    const { thread, stopped } = reader
    const { promise: free, resolve: setFree } = Promise.withResolvers<boolean>()
    const replied = thread.ask(read.name, read.asked).then(read.resolve, read.reject)
    void replied.then(() => setFree(true))
    const { number } = thread
    let patience: NodeJS.Timeout | undefined
    const stop = (kind: keyof typeof faults) => {
      Atomics.store(stopped, 0, number)
      read.reject(faults[kind]())
      patience ??= setTimeout(() => setFree(false), this.#options.patience ?? 5_000)
    }
    read.stop = stop
    const abandon = () => stop('abandoned')
    const { catalog, longest = catalog.limits.readTime * patienceByClock } = this.#options
    const limit = setTimeout(() => stop('too-long'), longest)
    read.signal?.addEventListener('abort', abandon, { once: true })
    const isBack = await free
    clearTimeout(limit)
    clearTimeout(patience)
    read.signal?.removeEventListener('abort', abandon)
    if (isBack) this.#keep(reader)
    else await this.#replace(thread)
  }

  /**
   * SQLite can begin its log anew only at a moment without a snapshot in it. Reads that overlap leave no such moment,
   * and the log would grow with each change.
   */
  #isLogLong(): boolean {
    const { longestLog = 134_217_728 } = this.#options
    const bytes = this.#logBytes()
    if (bytes < this.#logged) this.#logged = 0
    return bytes > this.#logged + longestLog
  }

  #logBytes(): number {
    return statSync(`${this.#options.path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }

  /**
   * Waits for the running reads, and copies the log into the file. The next change then begins it anew. Other threads
   * that answer requests see how long the log is, too, and let their reads end: this one waits for them.
   */
  async #shortenLog(): Promise<void> {
    await Promise.allSettled(this.#running.values())
    this.#options.requireFile?.()
    const reader = this.#takeIdle()
    if (reader === undefined) return
    const until = performance.now() + this.#options.catalog.limits.readTime
    do {
      await reader.thread.ask('checkpoint', undefined).catch(() => {})
      if (!this.#isLogLong()) break
      await sleep(100)
    } while (!this.#isClosed && performance.now() < until)
    this.#logged = this.#logBytes()
    this.#keep(reader)
  }

  async #start(): Promise<Reader> {
    const { path, catalog, tagSecret, requireFile } = this.#options
    requireFile?.()
    const stopped = new SharedArrayBuffer(4)
    // A page, its copies, and the program.
    const heap = 128 + Math.ceil(catalog.limits.pageBytes / 2 ** 18)
    const thread = new Thread({ path, catalog, reading: { tagSecret, stopped } }, heap)
    // The time limit counts the work of the database alone.
    await thread.ask('ready', undefined)
    return { thread, stopped: new Int32Array(stopped) }
  }

  /** A thread that has no work, and is not ended for that meanwhile. */
  #takeIdle(): Reader | undefined {
    const reader = this.#idle.pop()
    clearTimeout(reader?.idle)
    return reader?.thread.isEnded === true ? this.#takeIdle() : reader
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
