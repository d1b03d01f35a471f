/**
 * Maintenance (ERR-6): a switch in the database, which every server on it looks at now and then, and never for a request.
 * See docs/decisions/022-maintenance.md.
 */
import { type Fault, fault } from '../spec/faults.ts'
import type { Maintenance, Storage } from '../storage/storage.ts'
import type { Observe } from './observe/observe.ts'

/** What a server knows of the switch, until it is closed. */
export interface MaintenanceWatch {
  /** What clients are told; `undefined`: it is off. */
  readonly current: Maintenance | undefined
  /** Looks at the switch now; it is done twice a second by itself. Never rejects. */
  look(): Promise<void>
  /** Looks no more. */
  close(): Promise<void>
}

/** What watching needs. */
export interface WatchOptions {
  readonly storage: Pick<Storage, 'maintenance' | 'maintenanceFound'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly observe: Observe
  /** Milliseconds between two looks; 500 where left out, so that each server notices within a second. */
  readonly interval?: number | undefined
}

/** A database that stays away is told of once a minute. */
const everyMinute = 60_000

/** Begins to watch the switch. Where it cannot be read, what was known of it holds. */
export function watchMaintenance({ storage, now, observe, interval = 500 }: WatchOptions): MaintenanceWatch {
  let current: Maintenance | undefined
  let quietUntil = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const know = (found: Maintenance | undefined) => {
    if (isSame(found, current)) return
    current = found
    if (found === undefined) observe({ kind: 'maintenance', state: 'off' })
    else observe({ kind: 'maintenance', state: 'on', ...found })
  }

  const readOnce = async () => {
    if (closed) return
    try {
      know(await storage.maintenance.read())
    } catch (error) {
      if (now() < quietUntil) return
      quietUntil = now() + everyMinute
      observe({ kind: 'failure', requestId: 'maintenance', error })
    }
  }

  // One after the other: an answer that comes late must not replace a newer one.
  let last = Promise.resolve()
  const look = () => {
    last = last.then(readOnce)
    return last
  }

  const lookLater = () => {
    if (closed) return
    timer = setTimeout(() => void look().then(lookLater), interval)
    timer.unref()
  }

  know(storage.maintenanceFound)
  lookLater()
  return {
    get current() {
      return current
    },
    look,
    async close() {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
}

function isSame(one: Maintenance | undefined, other: Maintenance | undefined): boolean {
  return one?.since === other?.since && one?.message === other?.message && one?.retryAfter === other?.retryAfter
}

/** The refusal that every request gets meanwhile. */
export function maintenanceFault({ message, retryAfter }: Maintenance): Fault {
  return fault('MAINTENANCE', { detail: message, headers: { 'Retry-After': String(retryAfter) } })
}
