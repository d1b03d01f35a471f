/** A server with one fault: a proxy before a good one, which breaks one thing. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, request as requestHttps } from 'node:https'
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net'
import type { Case } from '../../packages/check/src/case/case.ts'
import type { Profile } from '../../packages/check/src/profile/profile.ts'

/** A request, on its way to the server. */
export interface PlantedRequest {
  readonly method: string
  /** From the root, with its query. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The same for all requests of one connection. */
  readonly connection: object
}

/** An answer, on its way back. */
export interface PlantedAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Bytes that follow the answer although it has no body. */
  readonly extra?: string
  /** A body that goes on, such as a stream of events. */
  readonly stream?: IncomingMessage
  /** What becomes of the parts of such a body. */
  readonly edit?: (text: string) => string
}

/** What the good server answers. */
export type Server = (request: PlantedRequest) => Promise<PlantedAnswer>

/** What its callers show. */
export interface Keys {
  readonly key: string
  readonly otherKey: string
}

/** One fault, and the case that must find it. */
export interface Fault {
  readonly breaks: Case['id']
  /** Cases of other sections that rightly find it too, where all are tried. */
  readonly also?: readonly Case['id'][]
  /** What is wrong with such a server, as a sentence. */
  readonly says: string
  /** Makes a faulty server of a good one. Called once: what it remembers lasts as long as the server. */
  readonly plant: (server: Server, keys: Keys) => Server
  /** What it takes to see it: the shop that has TLS, and rates that are soon spent. */
  readonly secure?: boolean
  /** It answers plain HTTP on the same port, too. */
  readonly plain?: boolean
  /** By which address it is asked; 127.0.0.1 unless given. */
  readonly at?: string
  /** In which field, by lower-case name, its callers send their key in place of `Authorization`. */
  readonly keyIn?: string
  /** Where its addresses are others: what is known of it. */
  readonly profile?: (profile: Profile) => Profile
}

/** What a secure server shows. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A faulty server that listens. */
export interface Planted {
  /** `http://127.0.0.1:40123`. */
  readonly origin: string
  close(): Promise<void>
}

/** Starts a server that is as good as the one at an origin, but for a fault. */
export async function startPlanted(
  target: string,
  { plant, plain = false, at = '127.0.0.1' }: Omit<Fault, 'breaks' | 'says'>,
  { certificate, ...keys }: Keys & { readonly certificate?: Certificate | undefined } = { key: '', otherKey: '' },
): Promise<Planted> {
  const answer = plant((request) => forward(target, request), keys)
  const listener = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    try {
      write(outgoing, await answer(await requestOf(incoming)))
    } catch (error) {
      outgoing.destroy(error as Error)
    }
  }
  // What is too large is for the good server to say.
  const settings = { maxHeaderSize: 262_144 }
  const bare = createServer(settings, listener)
  const server = certificate === undefined ? bare : createSecureServer({ ...certificate, ...settings }, listener)
  const door = plain ? doorTo(server, bare) : server
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  return {
    origin: `http${certificate === undefined ? '' : 's'}://${at}:${(door.address() as AddressInfo).port}`,
    async close() {
      for (const each of [server, bare]) each.closeAllConnections()
      door.close()
      await once(door, 'close')
    },
  }
}

/** One port for both: TLS begins with a byte that no request begins with. */
function doorTo(secure: NodeJS.EventEmitter, bare: NodeJS.EventEmitter) {
  return createNetServer((socket: Socket) => {
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.unshift(first)
      ;(first[0] === 22 ? secure : bare).emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
}

async function requestOf(incoming: IncomingMessage): Promise<PlantedRequest> {
  const { method = '', url = '', headers } = incoming
  return { method, path: url, headers: joined(headers), body: await textOf(incoming), connection: incoming.socket }
}

function forward(target: string, { method, path, headers, body }: PlantedRequest): Promise<PlantedAnswer> {
  const { protocol, hostname, port } = new URL(target)
  const open = protocol === 'https:' ? requestHttps : requestHttp
  // Faults are planted into text.
  const { 'transfer-encoding': _, connection: __, 'accept-encoding': ___, ...rest } = headers
  const sent = { ...rest, ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }) }
  return new Promise((resolve, reject) => {
    const to = { hostname, port, method, path, headers: sent, rejectUnauthorized: false }
    const request = open(to, async (incoming) => {
      const head = { status: incoming.statusCode ?? 0, headers: joined(incoming.headers) }
      const isStream = head.headers['content-type']?.startsWith('text/event-stream')
      resolve(isStream ? { ...head, body: '', stream: incoming } : { ...head, body: await textOf(incoming) })
    })
    request.on('error', reject).end(body)
  })
}

function write(outgoing: ServerResponse, { status, headers, body, extra, stream, edit }: PlantedAnswer): void {
  const { 'transfer-encoding': _, connection: __, ...rest } = headers
  if (stream !== undefined) {
    outgoing.writeHead(status, rest).flushHeaders()
    // Messages are written whole.
    stream.on('data', (part: Buffer) => outgoing.write(edit?.(part.toString()) ?? part))
    stream.on('close', () => outgoing.end())
    outgoing.on('close', () => stream.destroy())
    return
  }
  if (extra !== undefined) {
    const lines = Object.entries(rest).map(([name, value]) => `${name}: ${value}\r\n`)
    outgoing.socket?.end(`HTTP/1.1 ${status} \r\n${lines.join('')}\r\n${extra}`)
    return
  }
  // What a fault has done to the body is not to be a second one.
  const isCounted = 'content-length' in rest && outgoing.req.method !== 'HEAD'
  outgoing.writeHead(status, isCounted ? { ...rest, 'content-length': String(Buffer.byteLength(body)) } : rest)
  outgoing.end(body)
}

function joined(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
