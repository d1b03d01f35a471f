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

/** Copies logs away from the event loop. */
export interface LogCopier {
  /** Copies nearly the whole log. */
  copy(): Promise<unknown>
  /** Finishes the running copy. */
  close(): Promise<void>
}

/**
 * A copier on a thread, which starts with the first copy. A copy that fails is no error: there will be another one.
 *
 * @param requireFile throws if the path does not lead to the file any more: the log must not be copied into another one
 */
export function threadedCopier(path: string, requireFile = () => {}): LogCopier {
  let thread: Worker | undefined
  let copying = Promise.withResolvers<void>()
  let idle: NodeJS.Timeout | undefined
  const start = () => {
    const worker = new Worker(new URL(import.meta.resolve('#checkpoint-thread')), {
      workerData: { path, enough: fewPages, mostPasses },
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    })
    worker.unref()
    worker.on('message', () => {
      copying.resolve()
      idle = setTimeout(() => {
        thread = undefined
        void worker.terminate()
      }, idleTime).unref()
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      // Another one may have started meanwhile.
      if (thread !== undefined && thread !== worker) return
      thread = undefined
      copying.resolve()
    })
    return worker
  }
  copying.resolve()
  return {
    copy() {
      requireFile()
      clearTimeout(idle)
      thread ??= start()
      copying = Promise.withResolvers()
      thread.postMessage('copy')
      return copying.promise
    },
    async close() {
      thread?.ref()
      await copying.promise
      clearTimeout(idle)
      await thread?.terminate()
    },
  }
}

/** Has the log of a writer's connection copied whenever it is long. */
export class Checkpoints {
  readonly #connection: Connection
  readonly #copier: LogCopier
  #lookedAt = 0
  #isCopying = false

  constructor(connection: Connection, copier: LogCopier) {
    this.#connection = connection
    this.#copier = copier
    // Only where the thread does not manage.
    connection.database.exec(`pragma wal_autocheckpoint = ${4 * longLog}`)
  }

  /**
   * Begins a checkpoint if the log is long. Called between commits.
   *
   * @param hasGrown whether another connection may have written much
   */
  consider(hasGrown = false): void {
    const { writes } = this.#connection
    if (this.#isCopying || (!hasGrown && writes - this.#lookedAt < lookEvery)) return
    this.#lookedAt = writes
    if (this.#remaining('noop') >= longLog) void this.#run()
  }

  /** Copies nearly the whole log now, unless it is being copied. */
  async copy(): Promise<void> {
    if (!this.#isCopying) await this.#run()
  }

  async close(): Promise<void> {
    this.#isCopying = true
    await this.#copier.close()
  }

  async #run(): Promise<void> {
    this.#isCopying = true
    try {
      await this.#copier.copy()
      if (this.#remaining('noop') <= 2 * fewPages) this.#remaining('passive')
    } catch {
      // A disk that cannot be written fails the next change too, which reports it.
    } finally {
      this.#isCopying = false
    }
  }

  /** The pages that are only in the log. `passive` copies those first that no reader needs in the log. */
  #remaining(mode: 'noop' | 'passive'): number {
    const { log, checkpointed } = this.#connection.row(`pragma wal_checkpoint(${mode})`)
    return Number(log) - Number(checkpointed)
  }
}
