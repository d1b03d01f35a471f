/** The same interface over every kind of connection. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { connect } from 'node:http2'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Catalog } from 'resourced-contract/model/resource'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { newDatabase } from '../engine.ts'
import type { Transport } from './transports.ts'

/** An answer as it came over the connection. */
export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The number of bytes of its body. */
  readonly bytes: number
}

/** Sends a request with the administrator's credential. */
export type Ask = (
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
) => Promise<WireAnswer>

/** Serves an interface until the test ends, and connects to it. */
export async function connected(
  context: TestContext,
  declaration: InterfaceDeclaration,
  transport: Transport,
): Promise<{ readonly ask: Ask; readonly catalog: Catalog }> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-wire-'))
  const catalog = completeCatalog(declaration)
  const { address } = await newDatabase({ memory: true })
  const serving = await serve({
    ...{ catalog, database: address, host: '127.0.0.1', port: 0, http: transport === 'HTTP/1.1', folder },
    rateLimit: 'off',
  })
  const key = newKey()
  await serving.app.storage.keys.add({
    ...{ id: 'k', hash: hashOfKey(key), hint: hintOfKey(key), subject: 'root', roles: ['admin'] },
    ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
  })
  const base = { authorization: `Bearer ${key}` }
  const ca = serving.caFile === undefined ? undefined : readFileSync(serving.caFile)
  const { origin } = new URL(serving.url)
  const client = transport === 'HTTP/2' ? overSession(origin, ca, base) : overMessages(origin, ca, base)
  context.after(async () => {
    client.close()
    await serving.close()
    rmSync(folder, { recursive: true })
  })
  return { ask: client.ask, catalog }
}

interface Client {
  readonly ask: Ask
  close(): void
}

function overMessages(origin: string, ca: Buffer | undefined, base: Readonly<Record<string, string>>): Client {
  const options = { keepAlive: true, maxSockets: 16 }
  const agent =
    ca === undefined ? new PlainAgent(options) : new TlsAgent({ ...options, ca, ALPNProtocols: ['http/1.1'] })
  const request = ca === undefined ? plainRequest : tlsRequest
  const ask: Ask = (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        origin + path,
        { method, headers: { ...base, ...headers, ...length(body) }, agent },
        (answer) => {
          const parts: Buffer[] = []
          answer.on('data', (part: Buffer) => parts.push(part))
          answer.on('end', () =>
            resolve({ status: Number(answer.statusCode), headers: answer.headers, ...read(parts) }),
          )
        },
      )
      sent.on('error', reject).end(body)
    })
  return { ask, close: () => agent.destroy() }
}

function overSession(origin: string, ca: Buffer | undefined, base: Readonly<Record<string, string>>): Client {
  const session = connect(origin, { ca })
  const ask: Ask = (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const fields = { ':method': method, ':path': path, ...base, ...headers, ...length(body) }
      const stream = session.request(fields, { endStream: body === undefined })
      let answered: IncomingHttpHeaders = {}
      const parts: Buffer[] = []
      stream.on('response', (received) => (answered = received))
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () =>
        resolve({
          status: Number(answered[':status' as keyof IncomingHttpHeaders]),
          headers: answered,
          ...read(parts),
        }),
      )
      stream.on('error', reject)
      if (body !== undefined) stream.end(body)
    })
  return { ask, close: () => session.close() }
}

function read(parts: readonly Buffer[]): Pick<WireAnswer, 'body' | 'bytes'> {
  const whole = Buffer.concat(parts)
  return { body: whole.toString(), bytes: whole.length }
}

function length(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

/** Works through items, some at a time. */
export async function each<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value)
    }),
  )
}
