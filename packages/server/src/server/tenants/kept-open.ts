/** What is opened when it is needed, and closed when nobody has used it for a while. */
import { setTimeout as sleep } from 'node:timers/promises'

/** How something is kept open. */
export interface KeptOpenOptions<T> {
  open(id: string): Promise<T>
  close(value: T, id: string): Promise<void>
  /**
   * Asked before something idle is closed, while it may be used again.
   *
   * @returns `false`: it has something to do, and stays open
   */
  mayClose(value: T, id: string): Promise<boolean>
  /** Called with errors of closing. */
  failed(error: unknown): void
  /** Milliseconds after the last use; a minute by default. */
  readonly idle?: number
  /** How many may be open although nobody uses them; 64 by default. */
  readonly most?: number
}

/** Something that is in use until `leave` is called. */
export interface Lease<T> {
  readonly value: T
  leave(): void
}

interface Entry<T> {
  readonly opening: Promise<T>
  value: T | undefined
  users: number
  /** By `performance.now()`. */
  leftAt: number
  isAsked: boolean
  /** When it last had something to do, by `performance.now()`. */
  refusedAt: number
  closing: Promise<void> | undefined
}

/** How often what is idle is looked for, in milliseconds. */
const interval = 1_000

/** Keeps open what is used, by its id: one of each, even if several ask for it at the same time. */
export class KeptOpen<T> {
  readonly #options: KeptOpenOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  readonly #timer: NodeJS.Timeout
  #isClosed = false

  constructor(options: KeptOpenOptions<T>) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), interval).unref()
  }

  /** What is open now, by id. */
  *open(): Iterable<readonly [id: string, value: T]> {
    for (const [id, { value, closing }] of this.#entries) {
      if (value !== undefined && closing === undefined) yield [id, value]
    }
  }

  /** Opens what has this id, unless it is open, and keeps it open until the lease ends. */
  async use(id: string): Promise<Lease<T>> {
    for (let entry = this.#entries.get(id); entry?.closing !== undefined; entry = this.#entries.get(id)) {
      await entry.closing
    }
    if (this.#isClosed) throw new Error('Nothing is opened any more.')
    const entry = this.#entries.get(id) ?? this.#begin(id)
    // Before anything is awaited: it must not be closed meanwhile.
    entry.users++
    const value = entry.value ?? (await entry.opening)
    return { value, leave: () => this.#left(entry) }
  }

  /** Closes what has this id as soon as nobody uses it, whatever it has to do. */
  async drop(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    // Without awaiting anything, if it is open: who asks after this waits until it is closed.
    if (entry.value === undefined) await entry.opening.catch(() => {})
    if (entry.value === undefined) return
    while (entry.users > 0) await sleep(20)
    await this.#close(id, entry)
  }

  /** Closes everything, after all uses. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await Promise.all([...this.#entries.keys()].map((id) => this.drop(id)))
  }

  #begin(id: string): Entry<T> {
    const opening = this.#options.open(id)
    const entry: Entry<T> = {
      ...{ opening, value: undefined, users: 0, leftAt: 0, isAsked: false, closing: undefined },
      refusedAt: Number.NEGATIVE_INFINITY,
    }
    this.#entries.set(id, entry)
    opening.then(
      (value) => {
        entry.value = value
      },
      () => this.#entries.delete(id),
    )
    return entry
  }

  #left(entry: Entry<T>): void {
    entry.users--
    entry.leftAt = performance.now()
    if (this.#entries.size > (this.#options.most ?? 64)) this.#look()
  }

  /** Closes what was idle for long, and what is idle beyond the limit, the longest idle first. */
  #look(): void {
    const { idle = 60_000, most = 64 } = this.#options
    const now = performance.now()
    // What refuses is asked again at the next look of the timer, and not at every end of a use.
    const isIdle = ([, { users, value, closing, isAsked, refusedAt }]: [string, Entry<T>]) =>
      users === 0 && value !== undefined && closing === undefined && !isAsked && now - refusedAt >= interval / 2
    const candidates = [...this.#entries].filter(isIdle).sort(([, left], [, right]) => left.leftAt - right.leftAt)
    const excess = this.#entries.size - most
    for (const [index, [id, entry]] of candidates.entries()) {
      if (now - entry.leftAt >= idle || index < excess) void this.#closeIdle(id, entry)
    }
  }

  async #closeIdle(id: string, entry: Entry<T>): Promise<void> {
    const { mayClose, failed, idle = 60_000 } = this.#options
    const { leftAt } = entry
    entry.isAsked = true
    try {
      const isPermitted = await mayClose(entry.value as T, id)
      // It was used meanwhile.
      if (entry.users > 0 || entry.leftAt !== leftAt || entry.closing !== undefined) return
      if (isPermitted) await this.#close(id, entry)
      else {
        entry.refusedAt = performance.now()
        entry.leftAt = entry.refusedAt - idle / 2
      }
    } catch (error) {
      failed(error)
    } finally {
      entry.isAsked = false
    }
  }

  #close(id: string, entry: Entry<T>): Promise<void> {
    entry.closing ??= this.#options
      .close(entry.value as T, id)
      .catch(this.#options.failed)
      .finally(() => this.#entries.delete(id))
    return entry.closing
  }
}
