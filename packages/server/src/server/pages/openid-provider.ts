/** The OpenID provider that people sign in with, and the addresses at which a page may reach it. */
import type { ConsoleSettings } from './console-settings.ts'

type OpenIdSettings = NonNullable<ConsoleSettings['openid']>

/** A provider, as pages use it. */
export interface OpenIdProvider {
  /** What the page learns of it. */
  readonly described: Readonly<Record<string, string>>
  /** The origins that the page sends requests to. */
  readonly origins: readonly string[]
}

/** How long what the provider says is used, in milliseconds. */
const lifetime = 3_600_000
/** How long the server waits before it asks again a provider that did not answer, in milliseconds. */
const pause = 10_000
const timeout = 3_000
/** The most bytes of a configuration. */
const most = 262_144

/**
 * Makes a function that gives the provider. It reads the provider's configuration (OpenID Connect Discovery 1.0,
 * section 4), because the tokens of some providers come from another origin than the issuer's. Without an answer, the
 * page is served with the issuer's origin alone.
 *
 * @param now milliseconds since 1970
 */
export function providerOf(settings: OpenIdSettings, now: () => number): () => Promise<OpenIdProvider> {
  let known: Promise<OpenIdProvider> | undefined
  let until = 0
  return () => {
    if (known !== undefined && now() < until) return known
    until = now() + lifetime
    known = discover(settings.issuer).then(
      (endpoints) => describe(settings, endpoints),
      () => {
        until = now() + pause
        return describe(settings, [])
      },
    )
    return known
  }
}

function describe({ issuer, audience, client, scope }: OpenIdSettings, endpoints: readonly string[]): OpenIdProvider {
  return {
    described: { issuer, audience, client_id: client, scope },
    origins: [...new Set([issuer, ...endpoints].flatMap((address) => URL.parse(address)?.origin ?? []))],
  }
}

/** The addresses that a page sends requests to. */
async function discover(issuer: string): Promise<readonly string[]> {
  const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
    headers: { Accept: 'application/json' },
    // A redirect could lead to a server that is not configured.
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  })
  if (response.status !== 200) throw new Error(`The provider answers with ${response.status}.`)
  const text = await response.text()
  if (text.length > most) throw new Error('The configuration of the provider is too large.')
  const configuration = JSON.parse(text) as Readonly<Record<string, unknown>>
  const endpoints = ['token_endpoint', 'revocation_endpoint'].map((name) => configuration[name])
  return endpoints.filter((each) => typeof each === 'string' && /^https?:\/\//.test(each)) as string[]
}
