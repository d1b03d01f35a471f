/** When keys were last used: noted in memory and kept together later, so that no request waits for it. */
import type { KeyStore } from '../storage/storage.ts'

/** Notes uses until it is closed. */
export interface KeyUses {
  /** A key was used now. */
  note(key: string): void
  /** Keeps what was noted; it is done every minute by itself. */
  keep(): Promise<void>
  /** Keeps what was noted, for the last time. */
  close(): Promise<void>
}

const everyMinute = 60_000

/**
 * Begins to note uses.
 *
 * @param failed hears of what could not be kept; it is lost, as what a crash finds in memory
 * @param paused whether the database is to be left alone now: what was noted waits until it is over
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
