/** `Authorization: Bearer` (RFC 6750 section 2.1). */

/** The token, or why there is none: no field, or one without a bearer token. */
export type BearerToken = { readonly token: string } | 'absent' | 'malformed'

// b64token; the scheme is case-insensitive (RFC 9110 section 11.1).
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Reads the bearer token of a request. Another scheme counts as `malformed`. */
export function readBearerToken(authorization: string | undefined): BearerToken {
  if (authorization === undefined) return 'absent'
  const found = bearer.exec(authorization)
  return found === null ? 'malformed' : { token: found[1]! }
}
