/** An issuer of tokens for tests: its keys, its tokens, and the server that publishes its keys. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import type { Verified } from './authenticate.ts'
import type { TokenRefusal } from './caller.ts'

export const issuer = 'https://issuer.example'
export const audience = 'https://api.example'

/** A pair of keys; `jwk` is the public one, as it is published. */
export interface Pair {
  readonly alg: string
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
  readonly jwk: JWK
}

/** Makes a pair of keys. */
export async function pairOf(kid: string, alg = 'ES256'): Promise<Pair> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
  return { alg, kid, privateKey, publicKey, jwk }
}

/** Claims that are right at a time, in milliseconds since 1970. */
export function claimsAt(now: number): JWTPayload & { readonly exp: number } {
  return { iss: issuer, aud: audience, sub: 'ann', exp: Math.floor(now / 1_000) + 3_600 }
}

/** Signs any claims, under any header. */
export function sign(pair: Pair, claims: Readonly<Record<string, unknown>>, header: object = {}): Promise<string> {
  const protectedHeader = { alg: pair.alg, kid: pair.kid, ...header }
  return new SignJWT(claims).setProtectedHeader(protectedHeader).sign(pair.privateKey)
}

/** A token made by hand of a header, claims and a signature. */
export function assembled(header: unknown, claims: unknown, signature = ''): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part(header)}.${part(claims)}.${signature}`
}

/** Asserts that a verification accepted the token, and returns its result. */
export function accepted(found: Verified | TokenRefusal): Verified {
  assert.ok(typeof found !== 'string', `it was refused: ${found}`)
  return found
}

/** A key server on loopback. */
export interface KeyServer {
  readonly url: string
  /** The published key set. */
  keys: JWK[]
  /** Answers in place of the keys, where it is set. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  /** How often it was asked. */
  asked: number
  /** From now on connections are refused. */
  stop(): Promise<void>
}

/** Starts a key server; it stops with the test. */
export async function keyServer(context: Pick<TestContext, 'after'>, ...pairs: readonly Pair[]): Promise<KeyServer> {
  const server = createServer((request, response) => {
    started.asked++
    if (started.answer !== undefined) return started.answer(request, response)
    response.setHeader('Content-Type', 'application/jwk-set+json').end(JSON.stringify({ keys: started.keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const started: KeyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    keys: pairs.map(({ jwk }) => jwk),
    answer: undefined,
    asked: 0,
    async stop() {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
  context.after(() => started.stop())
  return started
}
