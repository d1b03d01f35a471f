/**
 * Tells the readers of one process that there are new events. Changes of this process wake it; those of other processes
 * are found by polling, and only while somebody listens.
 */
import type { EventStore } from '../storage/storage.ts'

/** What a feed needs. */
interface FeedOptions {
  readonly store: Pick<EventStore, 'horizon' | 'mark'>
  /** Is called if the database cannot be polled, at most once a minute. Polling goes on. */
  failed(error: unknown): void
  /** Milliseconds between two polls; 250 by default. */
  readonly interval?: number | undefined
}

/** @param isBack the horizon has gone back: the database has lost its last changes */
type Listener = (isBack: boolean) => void

// The least time between two polls, in milliseconds: changes that come together are found together.
const least = 5
const minute = 60_000

/** The newest position of a database, for all readers of a process. */
export class EventFeed {
  readonly #store: FeedOptions['store']
  readonly #failed: FeedOptions['failed']
  readonly #interval: number
  readonly #listeners = new Set<Listener>()
  #horizon = 0
  #mark: number | undefined
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

  /** The newest position that was found: every event up to there can be read. */
  get horizon(): number {
    return this.#horizon
  }

  /** The mark of the horizon (`EventPosition`), once a poll has found nothing new. */
  get mark(): number | undefined {
    return this.#mark
  }

  /**
   * Begins to poll. The listener is called each time that the horizon has advanced, or gone back.
   *
   * @returns a function that ends it
   */
  listen(listener: Listener): () => void {
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
    await this.#find()
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
      await this.#find()
    } catch (error) {
      if (performance.now() < this.#quietUntil) return
      this.#quietUntil = performance.now() + minute
      this.#failed(error)
    }
  }

  async #find(): Promise<void> {
    const before = this.#horizon
    const found = await this.#store.horizon()
    if (found === before) return this.#readMark(found)
    // An earlier answer that comes late says nothing new.
    if (found > before && found <= this.#horizon) return
    this.#horizon = found
    this.#mark = undefined
    for (const listener of [...this.#listeners]) listener(found < before)
  }

  async #readMark(position: number): Promise<void> {
    const mark = await this.#store.mark(position)
    if (this.#horizon === position) this.#mark = mark
  }
}
