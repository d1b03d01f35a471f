/** A token -> its caller, where everything about it is right (AUT-2; RFC 7519, RFC 8725). */
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose'
import { Fault } from '../spec/faults.ts'
import type { Verified, VerifyToken } from './authenticate.ts'
import { callerOfClaims } from './jwt-claims.ts'
import type { JwtSettings } from './jwt-settings.ts'
import type { TokenRefusal } from './refusal.ts'

/** Longer ones are not even looked at. */
const longest = 8 * 1_024
/** By how many seconds the issuer's clock may differ from ours. */
const leeway = 30
/** Header, claims and signature, none of them empty: neither an unsigned token nor an encrypted one. */
const form = /^[\w-]+\.[\w-]+\.[\w-]+$/
/** A token may leave its type out; what has another is no token to call with (RFC 8725 section 3.11). */
const types = [undefined, 'jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']

/**
 * Makes the function that verifies tokens. It gives a word for whatever is wrong with one, and throws Fault
 * KEY_SERVER_FAILED where that cannot be known.
 *
 * @param keyOf finds a token's key by its header's `kid` and `alg`; keys and addresses inside of the header are not looked at
 * @param now milliseconds since 1970
 */
export function tokenVerifier(settings: JwtSettings, keyOf: JWTVerifyGetKey, now: () => number): VerifyToken {
  const { issuer, audience, rolesClaim } = settings
  const algorithms = [...settings.algorithms]
  const requiredClaims = ['exp', 'sub']
  // Called once the algorithm is known to be allowed: what is refused here fetches no keys.
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
    // It names no key, and several could be meant, as while keys are rotated.
    let reason: unknown = error
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload
      } catch (refusal) {
        // Of this key is the signature, then.
        if (isOfClaims(refusal)) reason = refusal
      }
    }
    throw reason
  }
}

class WrongType extends Error {}

/** By the codes of jose. What else it throws is about the key. */
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
  // In JSON 1e999 is infinity: such a token would never expire.
  if (caller === undefined || !Number.isFinite(claims.exp)) return 'claims'
  return { caller, until: Math.ceil((claims.exp as number) + leeway) * 1_000 }
}
