/**
 * Whether a database takes changes (OPS-5). What real changes have come to says so; where there was none lately, a
 * small change of the server's own finds out, for whoever asks. See docs/decisions/034-full-disks-and-wrong-clocks.md.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { StorageFault } from './storage.ts'
import { committing, type Transaction } from './transaction.ts'

/**
 * For how long a change that succeeded says that others will, and the least time between two probes, in milliseconds.
 */
const fresh = 1_000

/** For how long an answer waits for a probe, in milliseconds: beyond, what was known before holds. */
const patience = 1_000

/** The bytes of a probe after a failure: a page that happens to be free must not make a full disk look well. */
const recovering = 65_536

/** Knows whether writing succeeds. */
export class WriteProbe {
  readonly #write: (bytes: number) => Promise<unknown>
  #succeededAt = Number.NEGATIVE_INFINITY
  #probedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | undefined
  #failure: StorageFault | undefined

  /** @param write changes something that nobody needs, by so many bytes at least */
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
   * Resolves where writing succeeds, as far as is known within a second.
   *
   * @throws StorageFault with which it fails
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
      // Somebody else has what it needs: that says nothing about changes.
      const isBusy = error instanceof StorageFault && error.kind === 'busy'
      if (!isBusy)
        this.#failure = error instanceof StorageFault ? error : new StorageFault('failed', 'Writing failed.', error)
    } finally {
      this.#probing = undefined
    }
  }
}

/** The key of the row. */
export const probeKey = 'write_probe'

/** Writes the row anew, with so many bytes at least: by chance, so that no engine makes them fewer. */
export function* probeWrite(bytes: number): Transaction<void> {
  const value = randomBytes(Math.max(bytes, 16)).toString('base64url')
  yield committing(
    sql`insert into resourced_meta (key, value) values (${probeKey}, ${value}) on conflict (key) do update set value = excluded.value`,
  )
}
