/**
 * Threads that read what may take long (LIM-7), so that no other request waits for it. Each has a connection of its own
 * and runs one read at a time, on a new snapshot. Tenants and their callers share the threads fairly.
 */
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog } from 'resourced-contract/model/resource'
import { FairTurns } from '../fair-turns.ts'
import { type Requester, StorageFault } from '../storage.ts'
import { CopyThread } from './checkpoints.ts'
import { JobThread, type ReadFile, Thread } from './thread.ts'
import { readTooLong } from './work-limit.ts'
import { WriterTurns } from './writer-turns.ts'

/** How threads read a file. */
export interface ReaderOptions extends Required<ReadFile> {
  readonly catalog: Catalog
  /** The threads of all files of the catalog; left out: the file has its own. */
  readonly pool?: ReaderPool
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

/** Threads that all files of a catalog share. They start when they are needed. */
export class ReaderPool {
  /** Files share the threads fairly, and so do the callers of each. */
  readonly turns: FairTurns
  readonly #catalog: Catalog
  readonly #idle: Reader[] = []
  readonly #working = new Set<Reader>()
  /** Threads that were replaced, and have not ended yet. */
  #lost = 0
  #isClosed = false

  constructor(catalog: Catalog) {
    this.#catalog = catalog
    this.turns = new FairTurns({ running: count, waiting, patience: Math.max(1_000, catalog.limits.readTime) })
  }

  /** A thread without work, if there is one. */
  takeIdle(): Reader | undefined {
    const reader = this.#idle.pop()
    clearTimeout(reader?.idle)
    // It may have ended meanwhile.
    if (reader?.thread.isEnded === true) return this.takeIdle()
    if (reader !== undefined) this.#working.add(reader)
    return reader
  }

  start(): Reader {
    const { limits } = this.#catalog
    const stopped = new SharedArrayBuffer(4)
    // A page, its copies, and the program.
    const heap = 128 + Math.ceil(limits.pageBytes / 2 ** 18)
    const thread = new Thread({ catalog: this.#catalog, reading: { stopped } }, heap)
    const reader = { thread, stopped: new Int32Array(stopped) }
    this.#working.add(reader)
    return reader
  }

  /** Takes a thread back whose work is done. */
  keep(reader: Reader): void {
    this.#working.delete(reader)
    if (reader.thread.isEnded) return
    this.#idle.push(reader)
    reader.idle = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(reader), 1)
      void reader.thread.close()
    }, idleTime).unref()
  }

  /** Gives up a thread whose statement goes on. It ends with the statement, and so does its snapshot. */
  async replace(reader: Reader): Promise<void> {
    this.#working.delete(reader)
    const ended = reader.thread.terminate()
    if (this.#lost >= count || this.#isClosed) return ended
    this.#lost++
    void ended.then(() => this.#lost--)
  }

  /** Closes a file that nobody reads any more. */
  forget(file: ReadFile): void {
    for (const { thread } of [...this.#idle, ...this.#working]) thread.forget(file)
  }

  /** Ends the threads, once their reads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#idle.splice(0).map(({ thread }) => thread.close()))
  }
}

/**
 * The threads beside a database file. Files of the same catalog can share them: few of many have work at a time. They
 * start when they are needed, and are closed after the storages that use them.
 */
export class SharedThreads {
  /** For reads of requests that may take long. */
  readonly readers: ReaderPool
  /** For background jobs. */
  readonly jobs: JobThread
  /** For checkpoints. */
  readonly copies = new CopyThread()
  /** Changes are made on the thread that opens the files, where their writers take turns. */
  readonly turns = new WriterTurns()

  constructor(catalog: Catalog) {
    this.readers = new ReaderPool(catalog)
    this.jobs = new JobThread(catalog)
  }

  async close(): Promise<void> {
    await Promise.all([this.readers.close(), this.jobs.close(), this.copies.close()])
  }
}

/** Runs reads of a file on threads. */
export class ReaderThreads {
  readonly #options: ReaderOptions
  readonly #pool: ReaderPool
  /** The reads that have a turn, and when their threads are free. */
  readonly #running = new Map<Read, Promise<void>>()
  /** Reads pause until it resolves. */
  #pause: Promise<void> | undefined
  /** The bytes of the log after the last pause. */
  #logged = 0
  #isClosed = false

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#pool = options.pool ?? new ReaderPool(options.catalog)
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
      const tenant = this.#options.pool === undefined ? undefined : this.#options.path
      this.#pool.turns.run({ tenant, caller: callerId }, begin, signal).catch(reject)
    })
  }

  /** Stops all reads of the file, and ends its own threads. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { stop } of this.#running.keys()) stop?.('busy')
    await Promise.allSettled([...this.#running.values(), this.#pause])
    if (this.#options.pool === undefined) await this.#pool.close()
    else this.#pool.forget(this.#options)
  }

  /** Resolves when a thread is free for the next read, which may be later than the answer to this one. */
  async #read(read: Read): Promise<void> {
    const reader = await this.#take()
    if (this.#isClosed || read.signal?.aborted === true) {
      this.#pool.keep(reader)
      throw faults[this.#isClosed ? 'busy' : 'abandoned']()
    }
    const { thread, stopped } = reader
    const { promise: free, resolve: setFree } = Promise.withResolvers<boolean>()
    const replied = thread.ask(this.#file, read.name, read.asked).then(read.resolve, read.reject)
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
    if (isBack) this.#pool.keep(reader)
    else await this.#pool.replace(reader)
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
    const reader = this.#pool.takeIdle()
    if (reader === undefined) return
    const until = performance.now() + this.#options.catalog.limits.readTime
    do {
      await reader.thread.ask(this.#file, 'checkpoint', undefined).catch(() => {})
      if (!this.#isLogLong()) break
      await sleep(100)
    } while (!this.#isClosed && performance.now() < until)
    this.#logged = this.#logBytes()
    this.#pool.keep(reader)
  }

  async #take(): Promise<Reader> {
    // A thread may open the file anew, also one that runs.
    this.#options.requireFile?.()
    const idle = this.#pool.takeIdle()
    if (idle !== undefined) return idle
    const reader = this.#pool.start()
    // The time limit counts the work of the database alone.
    await reader.thread.ask(this.#file, 'ready', undefined)
    return reader
  }

  get #file(): ReadFile {
    const { path, tagSecret } = this.#options
    return { path, tagSecret }
  }
}
