/** What makes a POST recognisable when it is repeated (MET-9). */
import { hash } from 'node:crypto'
import type { CallerView } from '../model/declaration.ts'
import { canonicalJson } from '../model/digest.ts'
import type { Catalog } from '../model/resource.ts'
import type { Idempotency, Preferred } from './plan.ts'

/**
 * Makes the marks of a POST: its key is that of this caller at this address alone, and of this version, whose answers are its own.
 *
 * @param place what tells the address from others
 * @returns `undefined` where it came without a key
 */
export function idempotencyOf(
  { versionCatalog, preferred }: { readonly versionCatalog: Pick<Catalog, 'version'>; readonly preferred: Preferred },
  caller: CallerView,
  place: readonly string[],
  { idempotencyKey, body }: { readonly idempotencyKey: string | undefined; readonly body?: unknown },
): Idempotency | undefined {
  if (idempotencyKey === undefined) return undefined
  return {
    scope: hash(
      'sha256',
      JSON.stringify([caller.id, versionCatalog.version, 'POST', place, idempotencyKey]),
      'base64url',
    ),
    fingerprint: hash('sha256', body === undefined ? '' : canonicalJson(body), 'base64url'),
    preferred,
  }
}
