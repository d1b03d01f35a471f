/**
 * Finds out whether a database takes changes (OPS-5): from the results of real changes, or, if there was none lately,
 * by a small change of its own.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { StorageFault } from './storage.ts'
import type { Transaction } from './transaction.ts'

/** How long the success of a change counts, and the least time between two probes, in milliseconds. */
const fresh = 1_000

/** How long a check waits for a probe, in milliseconds; after that the last known state counts. */
const patience = 1_000

/** The bytes of a probe after a failure: it must not fit into a free page of a full disk. */
const recovering = 65_536

/** Tracks whether changes succeed. */
export class WriteProbe {
  readonly #write: (bytes: number) => Promise<unknown>
  #succeededAt = Number.NEGATIVE_INFINITY
  #probedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | undefined
  #failure: StorageFault | undefined

  /** @param write writes at least so many bytes that nothing reads */
  constructor(write: (bytes: number) => Promise<unknown>) {
    this.#write = write
  }

  /** A change was committed. */
  succeeded(): void {
    this.#succeededAt = performance.now()
    this.#failure = undefined
  }

  /** A change failed. That is a failure of writing only if no change can succeed; otherwise the next check probes. */
  failed(error: unknown): void {
    this.#succeededAt = Number.NEGATIVE_INFINITY
    if (error instanceof StorageFault && error.kind === 'unwritable') this.#failure = error
  }

  /**
   * Resolves if changes succeed, as far as is known within a second.
   *
   * @throws StorageFault with which changes fail
   */
  async check(): Promise<void> {
    const now = performance.now()
    if (now - this.#succeededAt < fresh) return
    if (now - this.#probedAt >= fresh) this.#probing ??= this.#probe()
    if (this.#probing !== undefined) {
      const timer = new AbortController()
      const late = sleep(patience, undefined, { signal: timer.signal }).catch(() => {})
      await Promise.race([this.#probing, late])
      timer.abort()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #probe(): Promise<void> {
    this.#probedAt = performance.now()
    try {
      await this.#write(this.#failure === undefined ? 0 : recovering)
      this.succeeded()
    } catch (error) {
      // Another transaction holds a lock: that says nothing about whether changes succeed.
      const isBusy = error instanceof StorageFault && error.kind === 'busy'
      if (!isBusy)
        this.#failure = error instanceof StorageFault ? error : new StorageFault('failed', 'Writing failed.', error)
    } finally {
      this.#probing = undefined
    }
  }
}

/** The key of the row that probes write. */
export const probeKey = 'write_probe'

/** Writes the row with at least so many random bytes, which no engine can compress. */
export function* probeWrite(bytes: number): Transaction<void> {
  const value = randomBytes(Math.max(bytes, 16)).toString('base64url')
  const overwrite = sql`on conflict (key) do update set value = excluded.value`
  yield sql`insert into resourced_meta (key, value) values (${probeKey}, ${value}) ${overwrite}`
}
