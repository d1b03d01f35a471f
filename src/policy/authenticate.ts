/** Credential -> caller (AUT-1, AUT-2). */
import { timingSafeEqual } from 'node:crypto'
import { readBearerToken } from '../http/fields/authorization.ts'
import { fault } from '../spec/faults.ts'
import { hashOfKey, isKey } from './api-keys.ts'
import type { Caller } from './caller.ts'
import type { Refusal, TokenRefusal } from './refusal.ts'

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
  /** Hears of keys that were taken, by id. */
  used?(key: string): void
  /** Milliseconds since 1970. */
  now(): number
}

/** Who a token says is calling, and until when that holds, in milliseconds since 1970. */
export interface Verified {
  readonly caller: Caller
  readonly until: number
}

/** Verifies a token: whose it is, or what is wrong with it. */
export type VerifyToken = (token: string) => Promise<Verified | TokenRefusal>

/** How long a key is taken as it was found, in milliseconds: a revocation elsewhere takes effect within this time. */
const trust = 1_000
/** The most keys remembered. */
const most = 10_000

/** Who a request's Authorization field says it is. */
export interface Authenticate {
  (authorization: string | undefined): Promise<Caller>
  /** Takes nothing as it was found before: a key was revoked. */
  forget(): void
}

/**
 * Makes the function that authenticates requests.
 * It throws Fault UNAUTHENTICATED where the credential is missing, malformed, unknown, expired or revoked (`refusalIn` tells),
 * and KEY_SERVER_FAILED where a token cannot be verified.
 */
export function authenticator(credentials: Credentials): Authenticate {
  // By the field's whole text; all are forgotten together, so that no key stays in memory for longer than it is used.
  let known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  let forgetAt = 0
  const authenticate = async (authorization: string | undefined) => {
    const now = credentials.now()
    if (now >= forgetAt || known.size >= most) {
      known = new Map()
      forgetAt = now + trust
    }
    // Whoever is found while all are forgotten was found too early to be remembered.
    const remembering = known
    const remembered = authorization === undefined ? undefined : known.get(authorization)
    if (remembered !== undefined && now < remembered.until) return remembered.caller
    const read = readBearerToken(authorization)
    if (read === 'absent') {
      const what = credentials.verifyToken === undefined ? 'an API key' : 'an API key or a token'
      throw unauthenticated(`Send ${what}: Authorization: Bearer …`)
    }
    // One answer for all that is wrong with a credential: it helps nobody to guess.
    const invalid = (refusal: Refusal) =>
      unauthenticated('The credential is not valid: it is unknown, expired or revoked.', refusal)
    if (read === 'malformed') throw invalid({ credential: 'other', reason: 'malformed' })
    if (!isKey(read.token)) {
      const verified = await credentials.verifyToken?.(read.token)
      if (verified === undefined) throw invalid({ credential: 'token', reason: 'not-accepted' })
      if (typeof verified === 'string') throw invalid({ credential: 'token', reason: verified })
      known.set(authorization as string, { caller: verified.caller, until: Math.min(now + trust, verified.until) })
      return verified.caller
    }
    const hash = hashOfKey(read.token)
    const key = await credentials.findKey(hash)
    if (key === undefined || !timingSafeEqual(Buffer.from(key.hash), Buffer.from(hash))) {
      throw invalid({ credential: 'key', reason: 'unknown' })
    }
    const expiry = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at)
    // So written that an expiry which is no moment is over.
    if (key.revoked_at !== null) throw invalid({ credential: 'key', reason: 'revoked' })
    if (!(now < expiry)) throw invalid({ credential: 'key', reason: 'expired' })
    const caller: Caller = { id: key.subject, roles: key.roles, claims: {}, credential: key.id, expiresAt: expiry }
    remembering.set(authorization as string, { caller, until: Math.min(now + trust, expiry) })
    credentials.used?.(key.id)
    return caller
  }
  const forget = () => {
    known = new Map()
  }
  return Object.assign(authenticate, { forget })
}

function unauthenticated(detail: string, refusal?: Refusal): Error {
  const challenge = `Bearer realm="resourced"${refusal === undefined ? '' : ', error="invalid_token"'}`
  return fault('UNAUTHENTICATED', { detail, headers: { 'WWW-Authenticate': challenge } }, refusal)
}
