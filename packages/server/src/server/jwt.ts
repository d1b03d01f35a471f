/**
 * Sets up the verification of JWTs (AUT-2): reads the settings, and fetches the issuer's keys from a server or a file.
 */

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { JSONWebKeySet } from 'jose'
import { isObject } from 'resourced-contract/model/plain-copy'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { VerifyToken } from '../policy/authenticate.ts'
import { type JwtOptions, type JwtSettings, type KeyPlace, readJwtSettings } from '../policy/jwt-settings.ts'
import type { Observe } from './observe/observe.ts'

/**
 * Reads which JWTs are accepted.
 *
 * @throws ConfigurationError if options are missing or wrong, or the key file cannot be used
 */
export function readJwt(options: Partial<JwtOptions>): JwtSettings | undefined {
  const jwt = readJwtSettings(options)
  if (jwt !== undefined && 'file' in jwt.keys) {
    try {
      // Synchronously, so that mistakes are reported at start.
      readKeySet(readFileSync(jwt.keys.file, 'utf8'))
    } catch (error) {
      throw new ConfigurationError(`--jwt-jwks ${jwt.keys.file} cannot be used: ${(error as Error).message}.`)
    }
  }
  return jwt
}

/** Loads the modules that verify tokens. Servers without tokens start faster without them. */
export function loadVerification() {
  return Promise.all([import('../policy/signing-keys.ts'), import('../policy/verify-token.ts')])
}

/** Makes the function that verifies tokens. */
export function verifyBy(
  settings: JwtSettings,
  { now, observe }: { readonly now: () => number; readonly observe: Observe },
): VerifyToken {
  async function load(): Promise<VerifyToken> {
    const [{ signingKeys }, { rememberTokens, tokenVerifier }] = await loadVerification()
    const keys = signingKeys({
      fetch: () => fetchKeys(settings.keys),
      now,
      failed: (error) => observe({ kind: 'key-server', error }),
    })
    return rememberTokens(tokenVerifier(settings, keys, now), now)
  }
  let loaded: Promise<VerifyToken> | undefined
  return async (token) => {
    loaded ??= load().catch((error: unknown) => {
      // The next token tries again.
      loaded = undefined
      throw error
    })
    return (await loaded)(token)
  }
}

/** Limits of a response, in milliseconds and bytes. */
interface FetchLimits {
  readonly timeout: number
  readonly bytes: number
}

const defaultLimits: FetchLimits = { timeout: 5_000, bytes: 1_048_576 }

/**
 * Fetches a key set.
 *
 * @throws Error if the response cannot be used, or the connection fails
 */
export async function fetchKeys(place: KeyPlace, { timeout, bytes } = defaultLimits): Promise<JSONWebKeySet> {
  if ('file' in place) return readKeySet(await readFile(place.file, 'utf8'))
  try {
    const response = await fetch(place.url, {
      headers: { Accept: 'application/jwk-set+json, application/json' },
      // A redirect could lead to a server that is not configured.
      redirect: 'error',
      // This limits the time for the body too.
      signal: AbortSignal.timeout(timeout),
    })
    if (response.status === 200) return readKeySet(await textOf(response, bytes))
    await response.body?.cancel()
    throw new Error(`it answers with ${response.status}`)
  } catch (cause) {
    throw new Error(`The keys at ${place.url} cannot be used.`, { cause })
  }
}

/** Issuers publish a few keys. A token that names no key is tried with each. */
const mostKeys = 100

/**
 * Reads a JWK Set (RFC 7517 section 5). A key is checked when a token needs it.
 *
 * @throws Error that says what is wrong with the set
 */
function readKeySet(text: string): JSONWebKeySet {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  const keys = isObject(read) ? read['keys'] : undefined
  if (!Array.isArray(keys) || !keys.every(isObject)) {
    throw new Error('it is not a JWK Set, an object with an array of keys in "keys"')
  }
  if (keys.length > mostKeys) throw new Error(`it has more than ${mostKeys} keys`)
  return { keys } as unknown as JSONWebKeySet
}

async function textOf({ body }: Response, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    length += piece.length
    if (length > most) throw new Error(`it has more than ${most} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
