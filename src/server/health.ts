/** The health addresses (OPS-1): whether the server runs, and whether it is to be sent requests. */
import type { HttpResponse } from '../http/message.ts'
import type { Catalog } from '../model/resource.ts'
import { fault } from '../spec/faults.ts'
import type { Storage } from '../storage/storage.ts'
import type { MaintenanceWatch } from './maintenance.ts'
import { addressOptions, allow } from './options.ts'

/** What health is judged by. */
export interface HealthParts {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'ping'>
  readonly maintenance: Pick<MaintenanceWatch, 'current'>
  readonly state: { readonly stopping: boolean }
}

/**
 * Answers a probe, whoever asks.
 *
 * @throws Fault METHOD_NOT_ALLOWED, SHUTTING_DOWN
 * @throws StorageFault where the database does not answer
 */
export async function health(parts: HealthParts, probe: 'live' | 'ready', method: string): Promise<HttpResponse> {
  const target = { kind: 'health', probe } as const
  allow(target, method)
  if (method === 'OPTIONS') return addressOptions(parts.catalog, undefined, target)
  const status = probe === 'ready' ? await readiness(parts) : 'live'
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: `${JSON.stringify({ status })}\n` }
}

async function readiness({ storage, maintenance, state }: HealthParts): Promise<'ready' | 'maintenance'> {
  if (state.stopping) throw fault('SHUTTING_DOWN', { headers: { 'Retry-After': '5' } })
  // Ready to tell clients so: a balancer that took every server out would answer for them, without our Retry-After.
  if (maintenance.current !== undefined) return 'maintenance'
  await storage.ping()
  return 'ready'
}
