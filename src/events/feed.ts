/**
 * Tells the readers of one process that there are new events. Changes of this process wake it; those of other processes
 * are found by polling, and only while somebody listens.
 */
import type { EventStore } from '../storage/storage.ts'

/** What a feed needs. */
interface FeedOptions {
  readonly store: Pick<EventStore, 'horizon'>
  /** Is called if the database cannot be polled, at most once a minute. Polling goes on. */
  failed(error: unknown): void
  /** Milliseconds between two polls; 250 by default. */
  readonly interval?: number | undefined
}

// The least time between two polls, in milliseconds: changes that come together are found together.
const least = 5
const minute = 60_000

/** The newest position of a database, for all readers of a process. */
export class EventFeed {
  readonly #store: FeedOptions['store']
  readonly #failed: FeedOptions['failed']
  readonly #interval: number
  readonly #listeners = new Set<() => void>()
  #horizon = 0
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined
  #polledAt = Number.NEGATIVE_INFINITY
  #isWoken = false
  #quietUntil = Number.NEGATIVE_INFINITY

  constructor({ store, failed, interval = 250 }: FeedOptions) {
    this.#store = store
    this.#failed = failed
    this.#interval = interval
  }

  /** The greatest position that was found: every event up to there can be read. */
  get horizon(): number {
    return this.#horizon
  }

  /**
   * Begins to poll. The listener is called each time that the horizon has advanced.
   *
   * @returns a function that ends it
   */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#schedule(this.#interval)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  /** There may be new events: this process has changed records. */
  wake(): void {
    if (this.#listeners.size === 0) return
    if (this.#polling !== undefined) {
      this.#isWoken = true
      return
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#schedule(Math.max(0, this.#polledAt + least - performance.now()))
  }

  /**
   * Reads the horizon now.
   *
   * @throws StorageFault
   */
  async read(): Promise<number> {
    this.#advance(await this.#store.horizon())
    return this.#horizon
  }

  #schedule(delay: number): void {
    if (this.#timer !== undefined || this.#polling !== undefined || this.#listeners.size === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#polling = this.#poll().finally(() => {
        this.#polling = undefined
        const delay = this.#isWoken ? least : this.#interval
        this.#isWoken = false
        this.#schedule(delay)
      })
    }, delay)
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    this.#polledAt = performance.now()
    try {
      this.#advance(await this.#store.horizon())
    } catch (error) {
      if (performance.now() < this.#quietUntil) return
      this.#quietUntil = performance.now() + minute
      this.#failed(error)
    }
  }

  /** While a transaction begins, a later poll may find a smaller number. */
  #advance(found: number): void {
    if (found <= this.#horizon) return
    this.#horizon = found
    for (const listener of [...this.#listeners]) listener()
  }
}
