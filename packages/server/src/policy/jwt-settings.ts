/** The configuration of JWTs as credentials, read and validated (AUT-2). */
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'

/** Which tokens to accept. */
export interface JwtOptions {
  /** The issuer: exactly the `iss` of its tokens. */
  readonly issuer: string
  /** The audience: the `aud` of the tokens, or one of several. */
  readonly audience: string
  /** The issuer's JWK Set (RFC 7517 section 5): an https URL, an http URL on loopback, or a file. */
  readonly jwks: string
  /** The accepted algorithms; default: all asymmetric ones. */
  readonly algorithms?: readonly string[]
  /** The claim with the roles: a name, or a path such as `realm_access.roles`; default: `roles`. */
  readonly rolesClaim?: string
}

/** Where the issuer's keys are. */
export type KeyPlace = { readonly url: string } | { readonly file: string }

/** The options, complete. */
export interface JwtSettings {
  readonly issuer: string
  readonly audience: string
  readonly keys: KeyPlace
  readonly algorithms: readonly string[]
  readonly rolesClaim: string
}

/**
 * The algorithms that verify with a public key. With a shared secret (HS256), everyone who can verify a token can also
 * make one.
 */
export const asymmetricAlgorithms: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const needed = ['issuer', 'audience', 'jwks'] as const

/**
 * Reads the options. An empty text counts as missing, like an environment variable without a value.
 *
 * @returns `undefined`: no JWTs
 * @throws ConfigurationError if options are missing or wrong
 */
export function readJwtSettings(options: Partial<JwtOptions>): JwtSettings | undefined {
  const issuer = options.issuer?.trim() ?? ''
  const audience = options.audience?.trim() ?? ''
  const jwks = options.jwks?.trim() ?? ''
  const rolesClaim = options.rolesClaim?.trim() ?? ''
  const algorithms = (options.algorithms ?? []).map((name) => name.trim()).filter((name) => name !== '')
  const given = { issuer, audience, jwks }
  const missing = needed.filter((name) => given[name] === '')
  if (missing.length === needed.length && rolesClaim === '' && algorithms.length === 0) return undefined
  if (missing.length > 0) {
    const names = missing.map((name) => `--jwt-${name} (JWT_${name.toUpperCase()})`)
    throw new ConfigurationError(
      `JWT are accepted by --jwt-issuer, --jwt-audience and --jwt-jwks together: add ${names.join(' and ')}, or ` +
        'leave all --jwt options out.',
    )
  }
  const wrong = algorithms.filter((name) => !asymmetricAlgorithms.includes(name))
  if (wrong.length > 0) {
    throw new ConfigurationError(
      `--jwt-algorithms takes ${asymmetricAlgorithms.join(', ')}, written so, and never none or a shared secret: ` +
        `leave out ${wrong.map((name) => JSON.stringify(name)).join(', ')}.`,
    )
  }
  return {
    ...{ issuer, audience, keys: placeOf(jwks) },
    algorithms: algorithms.length === 0 ? asymmetricAlgorithms : algorithms,
    rolesClaim: rolesClaim === '' ? 'roles' : rolesClaim,
  }
}

const loopback = ['127.0.0.1', '[::1]', 'localhost']

/** @throws ConfigurationError */
function placeOf(jwks: string): KeyPlace {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(jwks)) return { file: jwks }
  const url = URL.parse(jwks)
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    throw new ConfigurationError('--jwt-jwks takes an address that begins with https://, or the path of a file.')
  }
  // The log has the address.
  if (url.username !== '' || url.password !== '')
    throw new ConfigurationError('--jwt-jwks takes an address without a password in it.')
  if (url.protocol === 'http:' && !loopback.includes(url.hostname)) {
    throw new ConfigurationError(
      `--jwt-jwks is read by https: write https://${url.host}${url.pathname}. By http it may be on loopback only.`,
    )
  }
  return { url: url.href }
}
