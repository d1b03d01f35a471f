/** When each API key was last used: noted in memory, and written to the database in the background. */
import type { KeyStore } from '../storage/storage.ts'

/** Notes when keys are used, and writes the uses to the database every minute, so that no request waits for a write. */
export interface KeyUses {
  /** A key was used now. */
  note(key: string): void
  /** Writes the noted uses, besides the regular writes. */
  keep(): Promise<void>
  /** Writes the noted uses for the last time. */
  close(): Promise<void>
}

const everyMinute = 60_000

/**
 * Begins to note uses.
 *
 * @param failed is called with the error if uses could not be written; the next write tries again
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
  let isClosed = false
  const keep = async () => {
    clearTimeout(timer)
    timer = undefined
    if (noted.size === 0) return
    const uses = noted
    noted = new Map()
    try {
      await keys.keepUses(uses)
    } catch (error) {
      noted = new Map([...uses, ...noted])
      if (timer === undefined && !isClosed) keepLater()
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
    close() {
      isClosed = true
      return keep()
    },
  }
}
