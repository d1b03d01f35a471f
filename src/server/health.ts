/** The health addresses (OPS-1): whether the server runs, and whether it is to be sent requests. */
import type { HttpResponse } from '../http/message.ts'
import type { Catalog } from '../model/resource.ts'
import { requireMethod } from '../request/target.ts'
import { fault } from '../spec/faults.ts'
import { type Storage, StorageFault } from '../storage/storage.ts'
import type { MaintenanceWatch } from './maintenance.ts'
import type { Observe } from './observe/observe.ts'
import { addressOptions } from './options.ts'

/** What health is judged by. */
export interface HealthParts {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'ping'>
  readonly maintenance: Pick<MaintenanceWatch, 'current'>
  readonly state: { readonly stopping: boolean }
  readonly observe: Observe
}

/**
 * Answers a probe, whoever asks.
 *
 * @throws Fault METHOD_NOT_ALLOWED, SHUTTING_DOWN, NOT_READY
 * @throws StorageFault where the database is only busy
 */
export async function health(
  parts: HealthParts,
  {
    probe,
    method,
    requestId,
  }: { readonly probe: 'live' | 'ready'; readonly method: string; readonly requestId: string },
): Promise<HttpResponse> {
  const target = { kind: 'health', probe } as const
  requireMethod(target, method)
  if (method === 'OPTIONS') return addressOptions(parts.catalog, undefined, target)
  const status = probe === 'ready' ? await readiness(parts, requestId) : 'live'
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: `${JSON.stringify({ status })}\n` }
}

async function readiness(
  { storage, maintenance, state, observe }: HealthParts,
  requestId: string,
): Promise<'ready' | 'maintenance'> {
  if (state.stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
  // Ready to tell clients so: a balancer that took every server out would answer for them, without our Retry-After.
  if (maintenance.current !== undefined) return 'maintenance'
  try {
    await storage.ping()
  } catch (error) {
    if (!(error instanceof StorageFault) || error.kind === 'busy') throw error
    observe({ kind: 'failure', requestId, error })
    const detail = 'The database does not answer, or takes no changes. The log has the reason under this request_id.'
    throw fault('NOT_READY', { detail, headers: { 'Retry-After': '5' } }, error)
  }
  return 'ready'
}
