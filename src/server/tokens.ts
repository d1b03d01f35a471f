/** JWT, wired: their settings, their keys, and what verifies them (AUT-2). */
import type { VerifyToken } from '../policy/authenticate.ts'
import { type JwtOptions, type JwtSettings, readJwt } from '../policy/jwt-settings.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { fetchKeys, readKeyFile } from './fetch-keys.ts'
import type { Observe } from './observe/observe.ts'

/**
 * Reads which JWT are accepted.
 *
 * @throws ConfigurationError where options are missing or cannot be, or the file of keys cannot be used
 */
export function jwtOf(options: Partial<JwtOptions>): JwtSettings | undefined {
  const reading = readJwt(options)
  if (reading.problem !== undefined) throw new ConfigurationError(reading.problem)
  const { jwt } = reading
  if (jwt !== undefined && 'file' in jwt.keys) {
    try {
      readKeyFile(jwt.keys.file)
    } catch (error) {
      throw new ConfigurationError(`--jwt-jwks ${jwt.keys.file} cannot be used: ${(error as Error).message}.`)
    }
  }
  return jwt
}

/** Makes the function that verifies tokens. What it needs is loaded with the first: a start without JWT is quicker. */
export function verifyBy(
  settings: JwtSettings,
  { now, observe }: { readonly now: () => number; readonly observe: Observe },
): VerifyToken {
  async function load(): Promise<VerifyToken> {
    const [{ rememberTokens }, { signingKeys }, { tokenVerifier }] = await Promise.all([
      import('../policy/known-tokens.ts'),
      import('../policy/signing-keys.ts'),
      import('../policy/verify-token.ts'),
    ])
    const keys = signingKeys({
      fetch: () => fetchKeys(settings.keys),
      now,
      failed: (error) => observe({ kind: 'key-server', error }),
    })
    return rememberTokens(tokenVerifier(settings, keys, now), now)
  }
  let loaded: Promise<VerifyToken> | undefined
  return async (token) => {
    loaded ??= load()
    return (await loaded)(token)
  }
}
