/**
 * Verifies JWTs: a token -> its caller (AUT-2; RFC 7519, RFC 8725). Verified tokens are cached by their SHA-256
 * (SEC-3).
 */

import { hash } from 'node:crypto'
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose'
import { deepFreeze, memberAt } from 'resourced-contract/model/plain-copy'
import { Fault } from 'resourced-contract/spec/faults'
import type { Verified, VerifyToken } from './authenticate.ts'
import { type Caller, endOf, isCallerId, type TokenRefusal } from './caller.ts'
import type { JwtSettings } from './jwt-settings.ts'

/** The longest token that is verified, in characters. */
const longest = 8 * 1_024
/** How many seconds the issuer's clock may differ from this server's. */
const leeway = 30
/** Header, claims and signature, none of them empty: the token is signed, and not encrypted. */
const form = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** The types of access tokens; a token may have none (RFC 8725 section 3.11). */
const types = [undefined, 'jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']

/**
 * Makes the function that verifies tokens. It throws Fault KEY_SERVER_FAILED if the keys cannot be fetched.
 *
 * @param keyOf finds a token's key by its header's `kid` and `alg`; keys and URLs in the header are ignored
 * @param now milliseconds since 1970
 */
export function tokenVerifier(settings: JwtSettings, keyOf: JWTVerifyGetKey, now: () => number): VerifyToken {
  const { issuer, audience, rolesClaim } = settings
  const algorithms = [...settings.algorithms]
  const requiredClaims = ['exp', 'sub']
  // Called after the algorithm was accepted: a token that is refused here fetches no keys.
  const checkedKeyOf: JWTVerifyGetKey = (header, token) => {
    const { typ, crit } = header
    if (crit !== undefined) throw new errors.JOSENotSupported('No extension is understood.')
    if (!types.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) throw new WrongType()
    return keyOf(header, token)
  }
  return async (token) => {
    if (token.length > longest) return 'too-long'
    if (!form.test(token)) return 'malformed'
    const currentDate = new Date(now())
    const options = { issuer, audience, algorithms, requiredClaims, clockTolerance: leeway, currentDate }
    try {
      return verified(await claimsOf(token, checkedKeyOf, options), rolesClaim)
    } catch (error) {
      if (error instanceof Fault) throw error
      return reasonFor(error)
    }
  }
}

async function claimsOf(token: string, keyOf: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keyOf, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    // The token names no key, and several keys fit, as during a rotation.
    let reason: unknown = error
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload
      } catch (refusal) {
        // The signature is of this key, so the reason is the right one.
        if (isOfClaims(refusal)) reason = refusal
      }
    }
    throw reason
  }
}

class WrongType extends Error {}

/** By the error codes of jose. Its other errors are about the key. */
const reasons: Readonly<Record<string, TokenRefusal>> = {
  ERR_JWS_INVALID: 'malformed',
  ERR_JWT_INVALID: 'malformed',
  ERR_JOSE_NOT_SUPPORTED: 'malformed',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown-key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'signature',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_EXPIRED: 'expired',
}

const reasonsByClaim: Readonly<Record<string, TokenRefusal>> = { iss: 'issuer', aud: 'audience' }

function reasonFor(error: unknown): TokenRefusal {
  if (error instanceof WrongType) return 'type'
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'nbf' && error.reason === 'check_failed') return 'not-yet-valid'
    return reasonsByClaim[error.claim] ?? 'claims'
  }
  return (error instanceof errors.JOSEError ? reasons[error.code] : undefined) ?? 'unusable-key'
}

function isOfClaims(error: unknown): boolean {
  return error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
}

function verified(claims: JWTPayload, rolesClaim: string): Verified | TokenRefusal {
  const caller = callerOfClaims(claims, rolesClaim)
  // 1e999 is infinity in JSON: such a token would never expire.
  if (caller === undefined || !Number.isFinite(claims.exp)) return 'claims'
  return { caller, until: Math.ceil((claims.exp as number) + leeway) * 1_000 }
}

type Claims = Readonly<Record<string, unknown>>

/**
 * The caller that claims name; `undefined` if `sub` cannot be an id. All requests with the token share the caller, so
 * it is frozen.
 *
 * @param rolesClaim the claim with the roles
 */
export function callerOfClaims(claims: Claims, rolesClaim: string): Caller | undefined {
  const id = memberAt(claims, ['sub'])
  if (typeof id !== 'string' || !isCallerId(id)) return undefined
  // Without `exp` the credential ends at once, and keys created with it too.
  const expiresAt = endOf(Math.floor(Number(memberAt(claims, ['exp']) ?? 0) * 1_000))
  return deepFreeze({ id, roles: rolesOf(claims, rolesClaim), claims, credential: 'jwt', expiresAt })
}

/**
 * The roles in a claim: the texts of an array, or the words of a text, as in `scope` (RFC 8693 section 4.2). A claim
 * with exactly this name takes precedence over a path, because names can be URLs: `https://example.com/roles`.
 */
export function rolesOf(claims: Claims, claim: string): string[] {
  const path = Object.hasOwn(claims, claim) ? [claim] : claim.split('.')
  const found = memberAt(claims, path)
  if (typeof found === 'string') return found.split(' ').filter((role) => role !== '')
  return Array.isArray(found) ? found.filter((role) => typeof role === 'string') : []
}

/** How long a verified token is cached, in milliseconds: then its key must still exist. */
const trust = 60_000
/** The most tokens in the cache, with their claims; the oldest is dropped first. */
const most = 5_000

/**
 * Caches verified tokens. Refused tokens are not cached.
 *
 * @param now milliseconds since 1970
 */
export function rememberTokens(verify: VerifyToken, now: () => number): VerifyToken {
  const known = new Map<string, Verified>()
  return async (token) => {
    const key = hash('sha256', token, 'base64')
    const remembered = known.get(key)
    if (remembered !== undefined && now() < remembered.until) return remembered
    known.delete(key)
    const found = await verify(token)
    if (typeof found === 'string') return found
    const verified = { caller: found.caller, until: Math.min(found.until, now() + trust) }
    if (known.size >= most) known.delete(known.keys().next().value as string)
    known.set(key, verified)
    return verified
  }
}
