/** What every plan is made with: the caller, the version and the moment; and what makes a POST repeatable. */
import { hash } from 'node:crypto'
import { canonicalJson } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Preferred } from '../http/preferences.ts'
import type { Caller } from '../policy/caller.ts'
import type { Idempotency } from './plan.ts'

/** What planning uses besides the address and the input of a request. */
export interface Planning {
  readonly caller: Caller
  /** The catalog in whose terms records are stored. */
  readonly catalog: Catalog
  /** The catalog of the client's version. */
  readonly versionCatalog: Catalog
  readonly cursorSecret: Uint8Array
  /** Milliseconds since 1970. */
  readonly now: number
  /** What the client prefers (RFC 7240), as far as the address follows it. */
  readonly preferred: Preferred
  /** Whether the client prefers links to the representation of a history (HIS-3). */
  readonly prefersLinks?: boolean
  /** The beginning of paths, before the collection: `/v1`. */
  readonly basePath: string
  /** The networks that webhooks may reach besides public addresses (EVT-10). */
  readonly webhookNetworks: readonly string[]
}

/**
 * Makes the identity of a repeated POST (MET-9). The key counts for this caller, this address and this version only.
 *
 * @param place what distinguishes the address from others
 * @returns `undefined` for a request without a key
 */
export function idempotencyOf(
  { caller, versionCatalog, preferred }: Planning,
  place: readonly string[],
  { idempotencyKey, body }: { readonly idempotencyKey: string | undefined; readonly body?: unknown },
): Idempotency | undefined {
  if (idempotencyKey === undefined) return undefined
  const address = [caller.id, versionCatalog.version, 'POST', place, idempotencyKey]
  return {
    scope: hash('sha256', JSON.stringify(address), 'base64url'),
    fingerprint: hash('sha256', body === undefined ? '' : canonicalJson(body), 'base64url'),
    preferred,
  }
}
