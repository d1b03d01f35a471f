/** API keys in use: when each was last used, and which are being revoked. */
import type { KeyStore } from '../storage/storage.ts'

/** Notes when keys are used, and writes that to the database every minute, so that no request waits for it. */
export interface KeyUses {
  /** A key was used now. */
  note(key: string): void
  /** Writes what was noted, besides the regular writes. */
  keep(): Promise<void>
  /** Writes what was noted, for the last time. */
  close(): Promise<void>
}

const everyMinute = 60_000

/**
 * Begins to note uses.
 *
 * @param failed is called with the error if uses could not be written; they are lost, as in a crash
 * @param paused whether the database must not be written to now; uses are kept until it may
 */
export function noteUses(
  keys: KeyStore,
  now: () => number,
  failed: (error: unknown) => void,
  paused: () => boolean = () => false,
): KeyUses {
  let noted = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const keep = async () => {
    clearTimeout(timer)
    timer = undefined
    if (noted.size === 0) return
    const uses = noted
    noted = new Map()
    try {
      await keys.keepUses(uses)
    } catch (error) {
      failed(error)
    }
  }
  const keepLater = () => {
    timer = setTimeout(() => (paused() ? keepLater() : keep()), everyMinute).unref()
  }
  return {
    note(key) {
      noted.set(key, now())
      if (timer === undefined) keepLater()
    },
    keep,
    close: keep,
  }
}

/**
 * Revocations that are running. A request that came after a revocation began, perhaps on the same connection and before
 * the response, must not be authenticated by the revoked key. Only requests with that key wait for the revocation.
 */
export class Revocations {
  readonly #running = new Set<{ readonly key: string; readonly ended: Promise<void> }>()

  /**
   * The revocations that are running now. Call it before anything is awaited, so that no request waits for a later one.
   *
   * @returns `undefined` if there are none; otherwise a function that waits for the revocations of a key, and says
   *   whether there were any
   */
  running(): ((key: string) => Promise<boolean>) | undefined {
    if (this.#running.size === 0) return undefined
    const running = [...this.#running]
    return async (key) => {
      const awaited = running.filter((each) => each.key === key)
      await Promise.all(awaited.map(({ ended }) => ended))
      return awaited.length > 0
    }
  }

  /**
   * Begins a revocation.
   *
   * @returns a function that ends it
   */
  begin(key: string): () => void {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const revocation = { key, ended }
    this.#running.add(revocation)
    return () => {
      this.#running.delete(revocation)
      resolve()
    }
  }
}
