/** Authenticates requests: credential -> caller (AUT-1, AUT-2). Every refused credential gets the same response. */
import { timingSafeEqual } from 'node:crypto'
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { fault } from 'resourced-contract/spec/faults'
import { hashOfKey, isKey } from './api-keys.ts'
import type { Caller, Refusal, TokenRefusal } from './caller.ts'

/** The part of a stored key that authentication needs. */
export interface KnownKey {
  readonly id: string
  readonly hash: string
  readonly subject: string
  readonly roles: readonly string[]
  /** `null`: none. */
  readonly claims: Readonly<Record<string, unknown>> | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
  /** The name of the tenant that has it; left out: none. */
  readonly tenant?: string
}

/** The sources of authentication. */
interface Credentials {
  findKey(hash: string): Promise<KnownKey | undefined>
  /** `undefined`: JWTs are not accepted. */
  readonly verifyToken?: VerifyToken | undefined
  /** Whether the application checks credentials of its own first. */
  readonly hasOwn?: boolean
  /** Called with the id of each key that is used, and the name of its tenant. */
  used?(key: string, tenant?: string): void
  /** Milliseconds since 1970. */
  now(): number
}

/** The caller that a token names, and when that ends, in milliseconds since 1970. */
export interface Verified {
  readonly caller: Caller
  readonly until: number
}

/** Verifies a token: its caller, or why it is refused. */
export type VerifyToken = (token: string) => Promise<Verified | TokenRefusal>

/** How long a found key is cached, in milliseconds: a revocation on another server takes effect within this time. */
const trust = 1_000
/** The most keys in the cache. */
const most = 10_000

/** Finds the caller of a request by its Authorization field. */
export interface Authenticate {
  (authorization: string | undefined): Promise<Caller>
  /** The caller of a credential that was accepted a moment ago; `undefined`: the credential must be verified. */
  remembered(authorization: string | undefined): Caller | undefined
  /** Empties the cache, because a key was revoked. */
  forget(): void
}

/**
 * Makes the function that authenticates requests. It throws Fault UNAUTHENTICATED if the credential is missing,
 * malformed, unknown, expired or revoked (`refusalIn` has the reason), and KEY_SERVER_FAILED if a token cannot be
 * verified.
 */
export function authenticator(credentials: Credentials): Authenticate {
  // By the whole field value. The cache is emptied as a whole, so that no key stays in memory after its last use.
  let known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  let forgetAt = 0
  const remembered = (authorization: string | undefined) => {
    const now = credentials.now()
    if (now >= forgetAt || known.size >= most) {
      known = new Map()
      forgetAt = now + trust
    }
    const entry = authorization === undefined ? undefined : known.get(authorization)
    return entry !== undefined && now < entry.until ? entry.caller : undefined
  }
  const authenticate = async (authorization: string | undefined) => {
    const cached = remembered(authorization)
    if (cached !== undefined) return cached
    const now = credentials.now()
    // A caller that is found while the cache is emptied was found too early to be cached.
    const remembering = known
    const read = readBearerToken(authorization)
    if (read === 'absent') {
      const what = credentials.verifyToken === undefined ? 'an API key' : 'an API key or a token'
      const own = credentials.hasOwn ? 'a credential of this application, or ' : ''
      throw unauthenticated(`Send ${own}${what}: Authorization: Bearer …`)
    }
    const invalid = refusedCredential
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
    // An expiry that is not a date counts as over: the comparison with NaN is false.
    if (key.revoked_at !== null) throw invalid({ credential: 'key', reason: 'revoked' })
    if (!(now < expiry)) throw invalid({ credential: 'key', reason: 'expired' })
    const identity = {
      id: key.subject,
      roles: key.roles,
      claims: key.claims ?? {},
      credential: key.id,
      expiresAt: expiry,
      ...(key.tenant !== undefined && { tenant: key.tenant }),
    }
    const caller: Caller = deepFreeze(identity)
    remembering.set(authorization as string, { caller, until: Math.min(now + trust, expiry) })
    credentials.used?.(key.id, key.tenant)
    return caller
  }
  const forget = () => {
    known = new Map()
  }
  return Object.assign(authenticate, { remembered, forget })
}

/** The token, or why there is none: no field, or one without a bearer token. */
type BearerToken = { readonly token: string } | 'absent' | 'malformed'

// b64token of RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1).
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Reads the bearer token of `Authorization`. Another scheme counts as `malformed`. */
export function readBearerToken(authorization: string | undefined): BearerToken {
  if (authorization === undefined) return 'absent'
  const found = bearer.exec(authorization)
  return found === null ? 'malformed' : { token: found[1]! }
}

/**
 * The fault for a refused credential. Every one gets the same response, so that attackers learn nothing from it. The
 * log has the reason.
 */
export function refusedCredential(refusal: Refusal): Error {
  return unauthenticated('The credential is not valid: it is unknown, expired or revoked.', refusal)
}

function unauthenticated(detail: string, refusal?: Refusal): Error {
  const challenge = `Bearer realm="resourced"${refusal === undefined ? '' : ', error="invalid_token"'}`
  return fault('UNAUTHENTICATED', { detail, headers: { 'WWW-Authenticate': challenge } }, refusal)
}

/**
 * Revocations that are running. A request that came after a revocation began, perhaps on the same connection and before
 * the response, must not be authenticated by the revoked key. Only requests with that key wait for the revocation.
 */
export class Revocations {
  readonly #running = new Set<{ readonly key: string; readonly ended: Promise<void> }>()

  /**
   * The revocations that are running now. Call it before anything is awaited, so that no request waits for a later one.
   *
   * @returns `undefined` if there are none; otherwise a function that waits for the revocations of a key, and says
   *   whether there were any
   */
  running(): ((key: string) => Promise<boolean>) | undefined {
    if (this.#running.size === 0) return undefined
    const running = [...this.#running]
    return async (key) => {
      const awaited = running.filter((each) => each.key === key)
      await Promise.all(awaited.map(({ ended }) => ended))
      return awaited.length > 0
    }
  }

  /**
   * Begins a revocation.
   *
   * @returns a function that ends it
   */
  begin(key: string): () => void {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const revocation = { key, ended }
    this.#running.add(revocation)
    return () => {
      this.#running.delete(revocation)
      resolve()
    }
  }
}
