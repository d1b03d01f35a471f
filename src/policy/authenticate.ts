/** Credential -> caller (AUT-1, AUT-2). */
import { timingSafeEqual } from 'node:crypto'
import { readBearerToken } from '../http/fields/authorization.ts'
import { fault } from '../spec/faults.ts'
import { hashOfKey, isKey } from './api-keys.ts'
import type { Caller } from './caller.ts'

/** A stored key, as far as authenticating goes. */
export interface KnownKey {
  readonly id: string
  readonly hash: string
  readonly subject: string
  readonly roles: readonly string[]
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

/** What authentication asks of the world. */
export interface Credentials {
  findKey(hash: string): Promise<KnownKey | undefined>
  /** Where JWT are accepted. */
  readonly verifyToken?: VerifyToken | undefined
  /** Milliseconds since 1970. */
  now(): number
}

/** Who a token says is calling, and until when that holds, in milliseconds since 1970. */
export interface Verified {
  readonly caller: Caller
  readonly until: number
}

/** Verifies a token; `undefined` where anything about it is wrong. */
export type VerifyToken = (token: string) => Promise<Verified | undefined>

/** How long a key is taken as it was found, in milliseconds: a revocation elsewhere takes effect within this time. */
const trust = 1_000
/** The most keys remembered. */
const most = 10_000

/** Who a request's Authorization field says it is. */
export type Authenticate = (authorization: string | undefined) => Promise<Caller>

/**
 * Makes the function that authenticates requests.
 * It throws Fault UNAUTHENTICATED where the credential is missing, malformed, unknown, expired or revoked, and
 * KEY_SERVER_FAILED where a token cannot be verified.
 */
export function authenticator(credentials: Credentials): Authenticate {
  // By the field's whole text; all are forgotten together, so that no key stays in memory for longer than it is used.
  let known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  let forgetAt = 0
  return async (authorization) => {
    const now = credentials.now()
    if (now >= forgetAt || known.size >= most) {
      known = new Map()
      forgetAt = now + trust
    }
    const remembered = authorization === undefined ? undefined : known.get(authorization)
    if (remembered !== undefined && now < remembered.until) return remembered.caller
    const read = readBearerToken(authorization)
    if (read === 'absent') throw unauthenticated('Send an API key: Authorization: Bearer rsk_…')
    // One answer for all that is wrong with a credential: it helps nobody to guess.
    const refusal = () => unauthenticated('The credential is not valid: it is unknown, expired or revoked.', true)
    if (read === 'malformed') throw refusal()
    if (!isKey(read.token)) {
      const verified = await credentials.verifyToken?.(read.token)
      if (verified === undefined) throw refusal()
      known.set(authorization as string, { caller: verified.caller, until: Math.min(now + trust, verified.until) })
      return verified.caller
    }
    const hash = hashOfKey(read.token)
    const key = await credentials.findKey(hash)
    if (key === undefined || !timingSafeEqual(Buffer.from(key.hash), Buffer.from(hash))) throw refusal()
    const expiry = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
    if (key.revoked_at !== null || expiry <= now) throw refusal()
    const caller: Caller = { id: key.subject, roles: key.roles, claims: {}, credential: key.id }
    known.set(authorization as string, { caller, until: Math.min(now + trust, expiry) })
    return caller
  }
}

function unauthenticated(detail: string, invalid = false): Error {
  const challenge = invalid ? 'Bearer realm="resourced", error="invalid_token"' : 'Bearer realm="resourced"'
  return fault('UNAUTHENTICATED', { detail, headers: { 'WWW-Authenticate': challenge } })
}
