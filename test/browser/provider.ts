/** A small OpenID provider for tests: it signs in whoever clicks, and is as strict as the standards demand. */
import { hash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { audience, pairOf, sign } from '../../packages/server/src/policy/jwt.fixture.ts'
import type { ServeOptions } from '../../packages/server/src/server/serve.ts'

export interface Provider {
  readonly issuer: string
  /** What a server needs to trust it. */
  readonly trusted: Partial<ServeOptions>
  /** Whom it signs in next. */
  user: string
  /** How long its access tokens live, in seconds. */
  lifetime: number
  /** Whether it gives refresh tokens. */
  renews: boolean
  /** Changes its answer to the page. */
  spoil: (answer: URLSearchParams) => void
  /** Claims that its ID tokens have besides the right ones. */
  claims: Readonly<Record<string, unknown>>
  /** Members that its configuration has besides the right ones. */
  configuration: Readonly<Record<string, unknown>>
  /** What it was asked for, such as `authorization_code` and `refresh_token`. */
  readonly asked: string[]
  /** Stops listening. */
  stop(): void
}

interface Code {
  readonly asked: URLSearchParams
  readonly user: string
}

/** Starts a provider; it stops with the test. */
export async function startProvider(context: TestContext): Promise<Provider> {
  const pair = await pairOf('provider')
  const codes = new Map<string, Code>()
  const refreshTokens = new Map<string, string>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  context.after(stop)
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`
  const provider: Provider = {
    issuer,
    trusted: {
      ...{ jwtIssuer: issuer, jwtAudience: audience, jwtJwks: `${issuer}/keys`, consoleOpenidClient: 'console' },
    },
    ...{ user: 'ann', lifetime: 300, renews: true, spoil: () => {}, claims: {}, configuration: {}, asked: [], stop },
  }

  const pages: Readonly<Record<string, (url: URL, form: URLSearchParams) => unknown>> = {
    '/realm/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      end_session_endpoint: `${issuer}/end`,
      ...provider.configuration,
    }),
    '/realm/keys': () => ({ keys: [pair.jwk] }),
    '/realm/authorize': ({ searchParams }) => signInPage(searchParams),
    '/realm/token': (_, form) => tokens(form),
    '/realm/revoke': (_, form) => {
      provider.asked.push('revoke')
      refreshTokens.delete(form.get('token') ?? '')
      return ''
    },
    '/realm/end': ({ searchParams }) => {
      provider.asked.push('end')
      return `<title>Signed out</title><a href="${searchParams.get('post_logout_redirect_uri')}">Back</a>`
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', issuer)
    const page = pages[url.pathname]
    const form = new URLSearchParams(await text(request))
    response.setHeader('Access-Control-Allow-Origin', '*')
    const content = await page?.(url, form)
    response.statusCode = content === undefined ? 404 : typeof content === 'object' && 'error' in content! ? 400 : 200
    response.setHeader('Content-Type', typeof content === 'string' ? 'text/html' : 'application/json')
    response.end(typeof content === 'string' ? content : JSON.stringify(content ?? {}))
  }

  function signInPage(asked: URLSearchParams): string {
    const code = randomUUID()
    codes.set(code, { asked, user: provider.user })
    const answer = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer, session_state: 'x' })
    provider.spoil(answer)
    const address = `${asked.get('redirect_uri')}?${answer}`.replaceAll('&', '&amp;')
    return `<!doctype html><link rel="icon" href="data:,"><a href="${address}">Continue as ${provider.user}</a>`
  }

  async function tokens(form: URLSearchParams): Promise<object> {
    provider.asked.push(form.get('grant_type') ?? '')
    const invalid = { error: 'invalid_grant', error_description: 'The code is not valid <b>here</b>.' }
    if (form.get('client_id') !== 'console') return { error: 'invalid_client' }
    if (form.get('grant_type') === 'refresh_token') {
      const user = refreshTokens.get(form.get('refresh_token') ?? '')
      refreshTokens.delete(form.get('refresh_token') ?? '')
      return user === undefined ? invalid : tokensOf(user, {})
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    if (code === undefined) return invalid
    const challenge = hash('sha256', form.get('code_verifier') ?? '', 'base64url')
    const { asked, user } = code
    if (asked.get('code_challenge') !== challenge || asked.get('code_challenge_method') !== 'S256') return invalid
    if (asked.get('redirect_uri') !== form.get('redirect_uri')) return invalid
    return tokensOf(user, { nonce: asked.get('nonce'), ...provider.claims })
  }

  async function tokensOf(user: string, claims: object): Promise<object> {
    const now = Math.floor(Date.now() / 1000)
    const common = { iss: issuer, sub: user, iat: now, exp: now + provider.lifetime }
    const refresh = randomUUID()
    if (provider.renews) refreshTokens.set(refresh, user)
    return {
      token_type: 'Bearer',
      expires_in: provider.lifetime,
      access_token: await sign(pair, { ...common, aud: audience, roles: ['admin'], jti: randomUUID() }),
      id_token: await sign(pair, { ...common, aud: 'console', ...claims }),
      ...(provider.renews && { refresh_token: refresh }),
    }
  }

  return provider
}
