/** The configuration of the console, read and checked. */

import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { JwtSettings } from '../../policy/jwt-settings.ts'

/** How people sign in to the console with OpenID Connect, in addition to API keys. */
export interface ConsoleOpenId {
  /** The client id that the issuer of `jwt` has given to the console. */
  readonly client: string
  /** The scopes to ask for, separated by spaces; `openid` by default. */
  readonly scope?: string | undefined
}

/** Whether the console is served, and how people sign in to it. */
export type ConsoleOption = boolean | { readonly openid?: ConsoleOpenId | undefined }

/** The configuration of the console, complete. */
export interface ConsoleSettings {
  readonly isServed: boolean
  /** Where people sign in besides API keys; `undefined`: nowhere. */
  readonly openid: OpenIdSettings | undefined
}

/** The provider that people sign in with. */
interface OpenIdSettings {
  /** The issuer of the tokens that the server accepts. */
  readonly issuer: string
  readonly audience: string
  readonly client: string
  readonly scope: string
}

/**
 * Reads the option.
 *
 * @param jwt which tokens the server accepts
 * @throws ConfigurationError if people could not sign in
 */
export function readConsole(option: ConsoleOption = true, jwt: JwtSettings | undefined): ConsoleSettings {
  const openid = typeof option === 'object' ? option.openid : undefined
  const client = openid?.client.trim() ?? ''
  const scope = openid?.scope?.trim() ?? ''
  if (client === '') {
    if (scope === '') return { isServed: option !== false, openid: undefined }
    throw new ConfigurationError('--console-openid-scope needs --console-openid-client.')
  }
  if (jwt === undefined) {
    throw new ConfigurationError(
      '--console-openid-client needs the issuer that it belongs to: add --jwt-issuer, --jwt-audience and --jwt-jwks.',
    )
  }
  const { issuer, audience } = jwt
  if (!/^https?:$/.test(URL.parse(issuer)?.protocol ?? '')) {
    throw new ConfigurationError(
      `--console-openid-client needs an issuer with an address, not ${JSON.stringify(issuer)}: browsers sign in there.`,
    )
  }
  return { isServed: true, openid: { issuer, audience, client, scope: scope === '' ? 'openid' : scope } }
}
