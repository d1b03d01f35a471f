/**
 * The maintenance switch (ERR-6). Every server polls the switch in the database, which all of them share; no
 * request waits for that. A server in maintenance is ready: a balancer that took it out would answer for it.
 */
import { type Fault, fault } from 'resourced-contract/spec/faults'
import type { Maintenance, Storage } from '../storage/storage.ts'
import type { Observe } from './observe/observe.ts'

/** Polls the switch until it is closed. */
export interface MaintenanceWatch {
  /** The message to clients; `undefined`: maintenance is off. */
  readonly current: Maintenance | undefined
  /** Reads the switch now, besides the regular polls. */
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
export function watchMaintenance({ storage, now, observe, interval }: WatchOptions): MaintenanceWatch {
  let quietUntil = Number.NEGATIVE_INFINITY

  const update = (found: Maintenance | undefined) => {
    if (isSame(found, watch.current)) return
    watch.current = found
    if (found === undefined) observe({ kind: 'maintenance', state: 'off' })
    else observe({ kind: 'maintenance', state: 'on', ...found })
  }

  const readOnce = async () => {
    try {
      update(await storage.maintenance.read())
    } catch (error) {
      if (now() < quietUntil) return
      quietUntil = now() + everyMinute
      observe({ kind: 'failure', requestId: 'maintenance', error })
    }
  }

  const watch: { current: Maintenance | undefined } & MaintenanceWatch = {
    current: undefined,
    ...pollSwitches(readOnce, interval),
  }
  update(storage.maintenanceFound)
  return watch
}

/**
 * Reads switches again and again until it is closed, one read after the other: a late result must not replace a newer
 * one. A read that fails is followed by the next.
 *
 * @param interval milliseconds between two reads
 */
export function pollSwitches(read: () => Promise<void>, interval = 500): Pick<MaintenanceWatch, 'poll' | 'close'> {
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let last = Promise.resolve()
  const poll = () => {
    const next = last.then(async () => {
      if (!closed) await read()
    })
    last = next.catch(() => {})
    return next
  }
  const pollLater = () => {
    if (closed) return
    timer = setTimeout(
      () =>
        void poll()
          .catch(() => {})
          .then(pollLater),
      interval,
    ).unref()
  }
  pollLater()
  return {
    poll,
    async close() {
      closed = true
      clearTimeout(timer)
      await last
    },
  }
}

/** What a request is refused with during maintenance. */
export function maintenanceFault({ message, retryAfter }: Maintenance): Fault {
  return fault('MAINTENANCE', { detail: message, headers: { 'Retry-After': String(retryAfter) } })
}

/** Whether two states of a switch are the same. */
export function isSame(one: Maintenance | undefined, other: Maintenance | undefined): boolean {
  return one?.since === other?.since && one?.message === other?.message && one?.retryAfter === other?.retryAfter
}
