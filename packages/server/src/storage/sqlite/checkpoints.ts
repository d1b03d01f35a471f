/**
 * Checkpoints: changes are copied from the log of a file (WAL) into the file itself, so that the log can begin anew. A
 * thread copies nearly all of them, because that takes tens of milliseconds. The writer copies the last ones between
 * two commits: only then nobody adds more.
 */
import { Worker } from 'node:worker_threads'
import type { Connection } from './connection.ts'

/** The pages in a log from which it is copied: 16 MB, so that a page that changes often is copied once. */
const longLog = 4_000

/** The most pages that the writer copies: a millisecond or two. */
const fewPages = 250

/** How often the thread copies what was added while it copied. Each time it is less. */
const mostPasses = 4

/** How many statements the writer runs before it looks at the log again. */
const lookEvery = 200

/** After so many milliseconds without a copy the thread ends, so that its memory is free. */
const idleTime = 5_000

/** A thread that copies logs, one after the other. It starts with the first copy. */
export class CopyThread {
  #thread: Worker | undefined
  /** The copies that were asked for, in order. */
  #copies: (() => void)[] = []
  #idle: NodeJS.Timeout | undefined

  /** A copy that fails is no error: there will be another one. */
  copy(path: string): Promise<void> {
    clearTimeout(this.#idle)
    this.#thread ??= this.#start()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#copies.push(resolve)
    this.#thread.postMessage(path)
    return promise
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL(import.meta.resolve('#checkpoint-thread')), {
      workerData: { enough: fewPages, mostPasses },
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    })
    worker.unref()
    worker.on('message', () => {
      this.#copies.shift()?.()
      if (this.#copies.length > 0) return
      this.#idle = setTimeout(() => {
        this.#thread = undefined
        void worker.terminate()
      }, idleTime).unref()
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      // Another one may have started meanwhile.
      if (this.#thread !== undefined && this.#thread !== worker) return
      this.#thread = undefined
      for (const resolve of this.#copies.splice(0)) resolve()
    })
    return worker
  }
}

/** Has the log of a writer's connection copied whenever it is long. */
export class Checkpoints {
  readonly #connection: Connection
  readonly #copyLog: () => Promise<unknown>
  #lookedAt = 0
  #running: Promise<void> | undefined
  #isClosed = false

  /** @param copyLog copies nearly the whole log, away from the event loop */
  constructor(connection: Connection, copyLog: () => Promise<unknown>) {
    this.#connection = connection
    this.#copyLog = copyLog
    // Only where the thread does not manage.
    connection.database.exec(`pragma wal_autocheckpoint = ${4 * longLog}`)
  }

  /** Begins a checkpoint if the log is long. Called between commits. */
  consider(): void {
    const { writes } = this.#connection
    if (this.#running !== undefined || this.#isClosed || writes - this.#lookedAt < lookEvery) return
    this.#lookedAt = writes
    if (this.#remaining('noop') >= longLog) void this.copy()
  }

  /** Copies nearly the whole log now, unless it is being copied. */
  async copy(): Promise<void> {
    if (this.#running !== undefined || this.#isClosed) return
    this.#running = this.#run()
    await this.#running
    this.#running = undefined
  }

  /** Finishes the running copy. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      await this.#copyLog()
      if (this.#remaining('noop') <= 2 * fewPages) this.#remaining('passive')
    } catch {
      // A disk that cannot be written fails the next change too, which reports it.
    }
  }

  /** The pages that are only in the log. `passive` copies those first that no reader needs in the log. */
  #remaining(mode: 'noop' | 'passive'): number {
    const { log, checkpointed } = this.#connection.row(`pragma wal_checkpoint(${mode})`)
    return Number(log) - Number(checkpointed)
  }
}
