/**
 * Whether the server takes requests: the maintenance switch (ERR-6) and the health checks (OPS-1). Every server polls
 * the switch in the database; no request waits for that. See docs/decisions/022-maintenance.md.
 */

import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Catalog } from '../model/resource.ts'
import { requireMethod } from '../request/target.ts'
import { type Fault, fault } from '../spec/faults.ts'
import { type Maintenance, type Storage, StorageFault } from '../storage/storage.ts'
import type { Observe } from './observe/observe.ts'
import { addressOptions } from './options.ts'

/** Polls the switch until it is closed. */
export interface MaintenanceWatch {
  /** What clients are told; `undefined`: maintenance is off. */
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
  let current: Maintenance | undefined
  let quietUntil = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const update = (found: Maintenance | undefined) => {
    if (isSame(found, current)) return
    current = found
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

  update(storage.maintenanceFound)
  pollLater()
  return {
    get current() {
      return current
    },
    poll,
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

/** @throws Fault SHUTTING_DOWN */
export function requireRunning({ stopping }: { readonly stopping: boolean }): void {
  if (stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
}

/** What the health of a server depends on. */
interface HealthContext {
  readonly request: Pick<HttpRequest, 'method'>
  readonly requestId: string
  readonly app: {
    readonly catalog: Catalog
    readonly storage: Pick<Storage, 'ping'>
    readonly maintenance: Pick<MaintenanceWatch, 'current'>
    readonly state: { readonly stopping: boolean }
    readonly observe: Observe
  }
}

/**
 * Answers a health check: whether the server runs, or whether a load balancer should send it requests.
 *
 * @throws Fault METHOD_NOT_ALLOWED, SHUTTING_DOWN, NOT_READY
 * @throws StorageFault if the database is only busy
 */
export async function health(context: HealthContext, probe: 'live' | 'ready'): Promise<HttpResponse> {
  const { method } = context.request
  const target = { kind: 'health', probe } as const
  requireMethod(target, method)
  if (method === 'OPTIONS') return addressOptions(context.app.catalog, undefined, target)
  const status = probe === 'ready' ? await readiness(context) : 'live'
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: `${JSON.stringify({ status })}\n` }
}

async function readiness({ app, requestId }: HealthContext): Promise<'ready' | 'maintenance'> {
  requireRunning(app.state)
  // A load balancer that took all servers out would answer in their place, without our Retry-After.
  if (app.maintenance.current !== undefined) return 'maintenance'
  try {
    await app.storage.ping()
  } catch (error) {
    if (!(error instanceof StorageFault) || error.kind === 'busy') throw error
    app.observe({ kind: 'failure', requestId, error })
    const detail = 'The database does not answer, or takes no changes. The log has the reason under this request_id.'
    throw fault('NOT_READY', { detail, headers: { 'Retry-After': '5' } }, error)
  }
  return 'ready'
}
