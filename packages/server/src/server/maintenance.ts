/**
 * The maintenance switch (ERR-6). Every server polls the switch in the database, which all of them share; no
 * request waits for that. A server in maintenance is ready: a balancer that took it out would answer for it.
 */
import type { Maintenance, Storage } from '../storage/storage.ts'
import type { Observe } from './observe/observe.ts'

/** Polls the switch until it is closed. */
export interface MaintenanceWatch {
  /** The message to clients; `undefined`: maintenance is off. */
  readonly current: Maintenance | undefined
  /** Reads the switch now, besides the regular polls. Never rejects. */
  poll(): Promise<void>
  /** Ends polling. */
  close(): Promise<void>
}

/** What polling needs. */
interface WatchOptions {
  readonly storage: Pick<Storage, 'maintenance' | 'maintenanceFound'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly observe: Observe
  /** Milliseconds between two polls; 500 by default, so that each server notices a change within a second. */
  readonly interval?: number | undefined
}

// A database that cannot be read is reported once in this time, in milliseconds.
const everyMinute = 60_000

/** Begins to poll the switch. While it cannot be read, the last state holds. */
export function watchMaintenance({ storage, now, observe, interval = 500 }: WatchOptions): MaintenanceWatch {
  let quietUntil = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const update = (found: Maintenance | undefined) => {
    if (isSame(found, watch.current)) return
    watch.current = found
    if (found === undefined) observe({ kind: 'maintenance', state: 'off' })
    else observe({ kind: 'maintenance', state: 'on', ...found })
  }

  const readOnce = async () => {
    if (closed) return
    try {
      update(await storage.maintenance.read())
    } catch (error) {
      if (now() < quietUntil) return
      quietUntil = now() + everyMinute
      observe({ kind: 'failure', requestId: 'maintenance', error })
    }
  }

  // One after the other: a late result must not replace a newer one.
  let last = Promise.resolve()
  const poll = () => {
    last = last.then(readOnce)
    return last
  }

  const pollLater = () => {
    if (closed) return
    timer = setTimeout(() => void poll().then(pollLater), interval)
    timer.unref()
  }

  const watch: { current: Maintenance | undefined } & MaintenanceWatch = {
    current: undefined,
    poll,
    async close() {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
  update(storage.maintenanceFound)
  pollLater()
  return watch
}

function isSame(one: Maintenance | undefined, other: Maintenance | undefined): boolean {
  return one?.since === other?.since && one?.message === other?.message && one?.retryAfter === other?.retryAfter
}
