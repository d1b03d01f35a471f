/**
 * Signs in with an OpenID provider: authorization code (RFC 6749) with PKCE (RFC 7636), `state` and `nonce`. It needs
 * neither frames nor cookies of the provider. No token is ever in an address.
 */
import type { OpenIdSetting } from './page-settings.ts'
import { Problem } from './problem.ts'
import { type Credential, keptProvider, never, type ProviderSession, type Session } from './session.ts'

/** The provider's addresses (OpenID Connect Discovery 1.0 section 3). */
interface Endpoints {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly revocation_endpoint?: string
  readonly end_session_endpoint?: string
  readonly authorization_response_iss_parameter_supported?: boolean
}

/** A sign-in on its way: the secrets that its answer must fit. */
interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly endpoints: Endpoints
  readonly keep: boolean
  /** The fragment of the view to come back to. */
  readonly fragment: string
}

/** What somebody has signed in with, and whether it shall survive a reload. */
export interface Grant {
  readonly credential: Credential
  readonly keep: boolean
}

interface Tokens {
  readonly access_token: string
  readonly id_token?: string
  readonly refresh_token?: string
  readonly expires_in?: number
}

const begunKey = 'resourced.openid.begun'
const channelName = 'resourced.openid'
const timeout = 10_000

/** The page itself: the redirect address that is registered at the provider. */
const pageUrl = location.origin + location.pathname

/** Goes to the provider. The page comes back with an answer for `takeAnswer`. */
export async function leaveToSignIn(setting: OpenIdSetting, keep: boolean): Promise<undefined> {
  const begun = await begin(setting, keep)
  sessionStorage.setItem(begunKey, JSON.stringify(begun))
  location.assign(await addressOf(setting, begun))
}

/** Signs in in another tab, so that this one loses nothing of what was typed. */
export async function signInElsewhere(setting: OpenIdSetting, keep: boolean): Promise<Grant> {
  const begun = await begin(setting, keep)
  const address = await addressOf(setting, begun)
  const channel = new BroadcastChannel(channelName)
  const answer = new Promise<URLSearchParams>((resolve) => {
    channel.onmessage = ({ data }) => {
      const answer = new URLSearchParams(String(data))
      if (answer.get('state') !== begun.state) return
      channel.postMessage({ taken: begun.state })
      resolve(answer)
    }
  })
  open(address, '_blank', 'noopener')
  return redeem(setting, begun, await answer).finally(() => channel.close())
}

/** The provider's answer to a sign-in. */
export interface Answer {
  readonly parameters: URLSearchParams
  /** `undefined`: it was not begun in this tab. */
  readonly begun: Begun | undefined
}

/** Takes the provider's answer out of the address and the history. An answer is taken once. */
export function takeAnswer(): Answer | undefined {
  const parameters = new URLSearchParams(location.search)
  if (!parameters.has('code') && !parameters.has('error')) return undefined
  const stored = sessionStorage.getItem(begunKey)
  sessionStorage.removeItem(begunKey)
  const begun = stored === null ? undefined : (JSON.parse(stored) as Begun)
  const isOurs = begun?.state === parameters.get('state')
  history.replaceState(null, '', pageUrl + (isOurs ? begun.fragment : location.hash))
  return { parameters, begun: isOurs ? begun : undefined }
}

/**
 * Signs in with an answer, or hands it to the tab that waits for it.
 *
 * @returns `undefined` if another tab signs in with it
 */
export async function finishSignIn(setting: OpenIdSetting, answer: Answer): Promise<Grant | undefined> {
  if (answer.begun !== undefined) return redeem(setting, answer.begun, answer.parameters)
  const channel = new BroadcastChannel(channelName)
  const isTaken = await new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }) => data?.taken === answer.parameters.get('state') && resolve(true)
    channel.postMessage(answer.parameters.toString())
    setTimeout(resolve, 1000, false)
  })
  channel.close()
  if (!isTaken) throw refusal('This sign-in was not begun in this tab, or has been used. Sign in again.')
  close()
  return undefined
}

/** What `keptProvider` holds. */
interface Kept {
  readonly endpoints: Endpoints
  /** The refresh token, where the provider gives one. */
  readonly token?: string | undefined
  readonly expiresAt?: number | undefined
}

/** What was kept of the session at the provider over a reload of the page. */
export function keptSession(setting: OpenIdSetting): Partial<Pick<Session, 'provider' | 'expiresAt'>> {
  const text = keptProvider()
  if (text === undefined) return {}
  const kept = JSON.parse(text) as Kept
  return { provider: providerSession(setting, kept), expiresAt: kept.expiresAt ?? never }
}

async function begin({ issuer }: OpenIdSetting, keep: boolean): Promise<Begun> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const endpoints = (await ask(url)) as Endpoints
  if (endpoints.issuer !== issuer) {
    throw refusal(`The provider calls itself ${endpoints.issuer}, but this server trusts ${issuer}.`)
  }
  const [state, nonce] = [crypto.randomUUID(), crypto.randomUUID()]
  const verifier = crypto.randomUUID() + crypto.randomUUID()
  return { state, nonce, verifier, endpoints, keep, fragment: location.hash }
}

async function addressOf({ client_id, scope, audience }: OpenIdSetting, begun: Begun): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier))
  const challenge = btoa(String.fromCharCode(...new Uint8Array(digest)))
  const url = new URL(begun.endpoints.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    ...{ client_id, scope, audience, redirect_uri: pageUrl, state: begun.state, nonce: begun.nonce },
    code_challenge: challenge.replaceAll('+', '-').replaceAll('/', '_').replace('=', ''),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** @throws Problem if the answer is a refusal, or not of the provider that was asked */
async function redeem(setting: OpenIdSetting, begun: Begun, answer: URLSearchParams): Promise<Grant> {
  const { endpoints, keep, nonce, verifier } = begun
  const { issuer, client_id } = setting
  // RFC 9207: the answer of another provider, to whom the code must not be sent on.
  const from = answer.get('iss') ?? (endpoints.authorization_response_iss_parameter_supported ? '' : issuer)
  if (from !== issuer) throw refusal('The answer comes from another provider. Sign in again.')
  const error = answer.get('error')
  if (error !== null) throw refusal(`The provider refuses: ${answer.get('error_description') ?? error}`)
  const tokens = await askForTokens(endpoints, {
    ...{ grant_type: 'authorization_code', code: answer.get('code') ?? '', redirect_uri: pageUrl },
    ...{ client_id, code_verifier: verifier },
  })
  const isOpenId = setting.scope.split(' ').includes('openid')
  if (isOpenId && !isFor(tokens.id_token, setting, nonce)) {
    throw refusal('The provider gives a token of another sign-in. Sign in again.')
  }
  return { credential: credentialOf(setting, endpoints, tokens), keep }
}

/**
 * Whether an ID token is the answer to a sign-in (OpenID Connect Core 1.0 section 3.1.3.7). It comes from the provider
 * itself, so its signature is not checked.
 */
function isFor(token: string | undefined, { issuer, client_id }: OpenIdSetting, nonce: string): boolean {
  try {
    const text = atob((token?.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
    const claims = JSON.parse(text) as Readonly<Record<string, unknown>>
    return claims['nonce'] === nonce && claims['iss'] === issuer && [claims['aud']].flat().includes(client_id)
  } catch {
    return false
  }
}

function credentialOf(setting: OpenIdSetting, endpoints: Endpoints, tokens: Tokens): Credential {
  const { access_token, refresh_token: token, expires_in: seconds } = tokens
  const expiresAt = seconds === undefined ? undefined : Date.now() + seconds * 1000
  const provider = providerSession(setting, { endpoints, token, expiresAt })
  return { token: access_token, expiresAt, provider }
}

function providerSession(setting: OpenIdSetting, kept: Kept): ProviderSession {
  const { client_id } = setting
  const { endpoints, token } = kept
  return {
    kept: JSON.stringify(kept),
    renew: token === undefined ? undefined : () => renewed(setting, endpoints, token),
    end() {
      const { revocation_endpoint, end_session_endpoint } = endpoints
      if (token !== undefined && revocation_endpoint !== undefined) {
        // RFC 7009. Nobody waits for the answer: a provider that is down must not keep anybody signed in here.
        const body = new URLSearchParams({ token, token_type_hint: 'refresh_token', client_id })
        fetch(revocation_endpoint, { method: 'POST', body, credentials: 'omit', keepalive: true }).catch(() => {})
      }
      if (end_session_endpoint === undefined) return location.reload()
      const url = new URL(end_session_endpoint)
      url.searchParams.set('client_id', client_id)
      url.searchParams.set('post_logout_redirect_uri', pageUrl)
      location.assign(url)
    },
  }
}

async function renewed(setting: OpenIdSetting, endpoints: Endpoints, token: string): Promise<Credential | undefined> {
  try {
    const form = { grant_type: 'refresh_token', refresh_token: token, client_id: setting.client_id }
    // A provider that gives no other refresh token goes on with this one.
    return credentialOf(setting, endpoints, { refresh_token: token, ...(await askForTokens(endpoints, form)) })
  } catch (error) {
    if (error instanceof Problem && error.status >= 400 && error.status < 500) return undefined
    throw error
  }
}

/** @throws Problem if the provider gives no token */
async function askForTokens({ token_endpoint }: Endpoints, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const tokens = (await ask(token_endpoint, form)) as Tokens
  if (typeof tokens.access_token !== 'string') throw refusal('The provider gives no token.')
  return tokens
}

/** @throws Problem if the provider refuses or does not answer */
async function ask(url: string, form?: Readonly<Record<string, string>>): Promise<unknown> {
  let status = 0
  let answer: Readonly<Record<string, unknown>> = {}
  try {
    const response = await fetch(url, {
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.timeout(timeout),
    })
    status = response.status
    answer = (await response.json()) as typeof answer
  } catch {
    if (status < 400) throw refusal(`${new URL(url).host} does not answer. Try again later, or sign in with a key.`)
  }
  if (status < 400) return answer
  throw refusal(`The provider refuses: ${answer['error_description'] ?? answer['error'] ?? status}`, status)
}

function refusal(detail: string, status = 0): Problem {
  return new Problem(status, { code: 'SIGN_IN_FAILED', detail })
}
