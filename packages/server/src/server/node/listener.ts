/**
 * Node's HTTP servers in front of `respond`. HTTP/1.1 and HTTP/2 share one port under TLS (SEC-1). Data that Node's
 * HTTP parser rejects is answered here: there is a socket, and no request.
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, ListenOptions, Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Server as TlsServer } from 'node:tls'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import { isWithin, requireBasePath } from '../../http/base-path.ts'
import type { HttpResponse, StreamSink } from '../../http/message.ts'
import { everyMethod } from '../../request/target.ts'
import { Admission, type OverloadLimits } from './admission.ts'
import type { CertificatePair } from './certificates.ts'
import { trackConnections } from './close.ts'
import { handle, handleDelayed, pendingOf, refuse, reject } from './handle.ts'
import { headersTooLarge, malformedRequest, urlTooLong } from './head.ts'
import { mountWatch } from './mounted.ts'
import {
  addPending,
  type ClientTimeouts,
  failBody,
  latestOn,
  type NodeRequest,
  type NodeResponse,
  type PendingRequest,
  type ServerState,
  type UnreadLimits,
  UnreadResponses,
} from './pending-request.ts'

// An import would evaluate every export of the module: one of them loads the client of `fetch`, which takes 40 ms.
const http = process.getBuiltinModule('node:http')

/** What a server needs. */
export interface NodeServerOptions {
  readonly respond: ServerState['respond']
  /** Makes the response to requests that never reach `respond`. */
  readonly problem: ServerState['problem']
  /** Left out: plain HTTP. */
  readonly tls?: CertificatePair | undefined
  readonly trustProxy?: boolean
  /** The beginning of every address: `/api`; empty by default. */
  readonly basePath?: string
  /** Reports requests that were refused before `respond` ran. */
  readonly onClientError?: (error: Fault) => void
  /** Reports requests that were rejected because of overload (LIM-4). */
  readonly onRejected?: () => void
  /** How slow clients may be; LIM-3 by default. */
  readonly timeouts?: ClientTimeouts
  /** Where overload begins. */
  readonly overloadLimits?: Partial<OverloadLimits>
  /** The most bytes of unread responses; LIM-6 by default. */
  readonly unread?: Partial<UnreadLimits>
}

/** A port on which several threads may listen. */
interface SharedPort {
  readonly reusePort: boolean
  readonly ticketKeys: Uint8Array
}

export interface NodeServer {
  /**
   * Begins to listen.
   *
   * @param port 0 takes a free one
   * @param shared whether other threads listen on the port too, and what all of them encrypt TLS sessions with: 48
   *   bytes
   * @returns the origin under which it listens: `https://127.0.0.1:8443`
   * @throws the system's error if it cannot listen there, such as EADDRINUSE
   */
  listen(host: string, port: number, shared?: SharedPort): Promise<string>
  /** Uses another certificate for new connections. */
  renewCertificate(pair: CertificatePair): void
  /**
   * Stops accepting at once. Ends when all running requests are answered and all connections closed; at the deadline it
   * destroys the connections that are left.
   *
   * @param deadline in milliseconds; 8 seconds by default, less than process managers wait before they kill
   */
  close(deadline?: number): Promise<void>
}

/** LIM-3: a head within 30 seconds, and of a body a thousand bytes a second. */
const defaultTimeouts: ClientTimeouts = { head: 30_000, interval: 10_000, bytes: 10_000, idle: 120_000 }

// Above the limits of LIM-3, so that the right error is reported; the parser's own limit is the last resort.
const serverOptions = {
  maxHeaderSize: 65_536,
  // Bodies have a minimum rate instead (`request-body.ts`).
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  requireHostHeader: false,
  optimizeEmptyRequests: true,
  noDelay: true,
} as const

// TLS doubles the cost of a small message.
const secureLimits = { reading: 0.05 } as const

/** Makes a server, which does not listen yet. */
export function createNodeServer(options: NodeServerOptions): NodeServer {
  const state = stateOf(options)
  const { head, idle } = state.timeouts
  const settings = { ...serverOptions, headersTimeout: head, connectionsCheckingInterval: Math.min(5_000, head / 4) }
  const server = options.tls === undefined ? http.createServer(settings) : createSecure(options.tls, settings)
  // A client that reads nothing for this long has gone.
  server.setTimeout(idle)
  // Node would silently drop the headers beyond its count; our own limit is in bytes.
  server.maxHeadersCount = 0
  // A client may close its side after the request, and still wait for the response.
  ;(server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true
  const closeAll = trackConnections(server as NetServer, options.tls !== undefined, state)
  attach(server, state, { ...(options.tls && secureLimits), ...options.overloadLimits })
  const scheme = options.tls === undefined ? 'http' : 'https'
  let closed: Promise<void> | undefined
  let ticketKeys: Buffer | undefined
  return {
    async listen(host, port, shared) {
      ticketKeys = shared && Buffer.from(shared.ticketKeys)
      if (options.tls !== undefined && ticketKeys) (server as unknown as TlsServer).setTicketKeys(ticketKeys)
      return originOf(scheme, host, await listen(server, { host, port, reusePort: shared?.reusePort ?? false }))
    },
    renewCertificate: (pair) =>
      (server as unknown as TlsServer).setSecureContext({
        ...secureOptions,
        ...pair,
        ...(ticketKeys && { ticketKeys }),
      }),
    close(deadline = 8_000) {
      closed ??= closeAll(deadline)
      return closed
    },
  }
}

// SEC-1: only authenticated encryption with forward secrecy. The first three are for TLS 1.3, the others for TLS 1.2.
const ciphers = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  ...['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((suite) => [
    `ECDHE-ECDSA-${suite}`,
    `ECDHE-RSA-${suite}`,
  ]),
]

const secureOptions = { ciphers: ciphers.join(':'), minVersion: 'TLSv1.2' } as const

function createSecure(tls: CertificatePair, settings: ServerOptions): Server {
  const server = createSecureServer({
    ...tls,
    ...settings,
    ...secureOptions,
    allowHTTP1: true,
    http1Options: settings,
    handshakeTimeout: 10_000,
    settings: { enablePush: false, maxConcurrentStreams: 100 },
  })
  // It has every method of a `node:http` server that is used here.
  return server as unknown as Server
}

function attach(server: Server, state: ServerState, limits: Partial<OverloadLimits> | undefined): void {
  const { admission, receive } = receiver(state, limits)
  server.on('connection', () => admission.connected())
  server.on('request', (request, response) => receive(pendingOf(request, response)))
  server.on('checkContinue', (request, response) => receive(pendingOf(request, response, true)))
  // RFC 9110 section 10.1.1: unknown expectations may be ignored.
  server.on('checkExpectation', (request, response) => receive(pendingOf(request, response)))
  server.on('clientError', (error: ParserError, socket: Duplex) => refuseUnreadable(state, error, socket))
  server.on('tlsClientError', (error: ParserError, socket: TlsSocket) => refusePlain(state, error, socket))
  server.on('connect', (request: IncomingMessage, other: Duplex | ServerResponse) => {
    const error = fault('METHOD_NOT_ALLOWED', {
      detail: 'This server is not a proxy.',
      headers: { Allow: everyMethod.join(', ') },
    })
    if (request.httpVersionMajor !== 2) return writeAnswer(other as Duplex, state.problem(error))
    refuse(state, { ...pendingOf(request, other as ServerResponse), inputEnded: true }, error)
  })
}

/** Starts each request at once, or when it is its turn, or rejects it because of overload. */
function receiver(state: ServerState, limits?: Partial<OverloadLimits>) {
  const admission = new Admission<PendingRequest>(
    {
      start: (pending) => handle(state, pending),
      startDelayed: (pending) => handleDelayed(state, pending),
      reject: (pending) => reject(state, pending),
      // An HTTP/2 connection carries other requests too; and a body must be read before the next request can follow it.
      pause: ({ request }) => void (request.httpVersionMajor !== 2 && request.complete && request.socket.pause()),
      resume: ({ request }) => void (request.httpVersionMajor !== 2 && request.socket.resume()),
      inFlight: () => state.inFlight,
    },
    limits,
  )
  state.onAnswered = () => admission.answered()
  const healthPath = `${state.basePath}/health/`
  const receive = (pending: PendingRequest) => {
    // Node's parser accepts a request line that ends in HTTP/2.0: it is a request of HTTP/1.1 with a wrong version.
    if (pending.request.httpVersionMajor > 1 && pending.request instanceof http.IncomingMessage)
      pending.request.httpVersionMajor = 1
    addPending(state, pending)
    // A supervisor would kill the server if health checks had to wait.
    if (pending.url.startsWith(healthPath)) handle(state, pending)
    else admission.admit(pending)
  }
  return { admission, receive }
}

function stateOf(options: Omit<NodeServerOptions, 'tls' | 'overloadLimits'>): ServerState {
  const { respond, problem, trustProxy = false, basePath = '', timeouts = defaultTimeouts } = options
  const { onClientError, onRejected } = options
  const unread = new UnreadResponses(options.unread)
  const counts = { running: new Set<PendingRequest>(), streams: new Set<StreamSink>(), inFlight: 0, bodyBytes: 0 }
  const moments = { closing: false, onIdle: () => {}, onAnswered: () => {} }
  return { respond, problem, trustProxy, basePath, onClientError, onRejected, timeouts, unread, ...counts, ...moments }
}

function originOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function listen(server: Server, place: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...place, backlog: 1024 }, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/** What a handler needs of an application. */
interface NodeApp {
  readonly respond: ServerState['respond']
  /** Makes the response to requests that never reach `respond`. */
  readonly refuse: ServerState['problem']
  /** The beginning of every address: `/api`; empty by default. */
  readonly basePath?: string
}

export interface NodeHandlerOptions {
  /** Believes `Forwarded` and `X-Forwarded-*`, because a proxy in front writes them; false by default. */
  readonly trustProxy?: boolean
  /** Leaves requests outside the `basePath` of the application to the next handler; false by default. */
  readonly next?: boolean
}

/**
 * Makes a handler of an application for a server of `node:http`, `node:https`, `node:http2`, or of a framework on top
 * of them (Express, Connect, Fastify). Mount it before anything that reads bodies.
 *
 * @throws ConfigurationError if `next` is set, and the application has no `basePath` and so owns every address
 * @example
 * http.createServer(toNodeHandler(app)).listen(8080)
 * @example
 * // createApp(declaration, { basePath: '/api' })
 * express().use(toNodeHandler(app, { next: true }))
 */
export function toNodeHandler(
  { respond, refuse: problem, basePath = '' }: NodeApp,
  { next: passesOn = false, ...options }: NodeHandlerOptions = {},
): (request: NodeRequest, response: NodeResponse, next?: () => void) => void {
  if (passesOn) requireBasePath(basePath, 'toNodeHandler(app, { next: true })')
  const { receive } = receiver(stateOf({ respond, problem, basePath, ...options }))
  const watch = mountWatch(basePath)
  return (request, response, next) => {
    const pending = pendingOf(request, response)
    if (!isWithin(basePath, pending.url)) {
      watch(request)
      if (passesOn && next !== undefined) return next()
    }
    receive(pending)
  }
}

/** What Node hands to `clientError`. */
interface ParserError extends Error {
  readonly code?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** A socket of TLS, and the one below, where the runtime is Node.js. */
interface TlsSocket {
  readonly _parent?: Socket
}

// How long the client may take to read the response before its connection is destroyed, in milliseconds.
const lingerTimeout = 2000
const answered = new WeakSet<Duplex>()

/**
 * Answers a message that the parser rejected, and ends its connection. If an earlier request on it is still being
 * processed, only that one is answered.
 */
function refuseUnreadable(state: ServerState, error: ParserError, socket: Duplex): void {
  // The parser fails again with every further byte.
  if (answered.has(socket)) return
  const refusal = faultOf(error, socket)
  if (refusal === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  answered.add(socket)
  const last = latestOn(socket)
  if (last !== undefined) {
    last.mustClose = true
    last.inputEnded = error.code === 'HPE_INVALID_EOF_STATE'
    // Data after a complete request is no fault of that request.
    if (!(last.request as IncomingMessage).complete) failBody(last, refusal)
    return
  }
  setTimeout(() => socket.destroy(), lingerTimeout).unref()
  // Node may be sending a response of its own: another must not overtake it.
  if ((socket as { _httpMessage?: unknown })._httpMessage || error.code === 'HPE_CLOSED_CONNECTION') return
  state.onClientError?.(refusal)
  writeAnswer(socket, state.problem(refusal))
}

/** OpenSSL's errors for what begins like a request of HTTP. */
const plainRequests: readonly unknown[] = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST']

/** Answers a request of plain HTTP on a port for HTTPS. Everything else that is not TLS gets no answer. */
function refusePlain(state: ServerState, { code }: ParserError, { _parent: socket }: TlsSocket): void {
  if (!plainRequests.includes(code) || socket?.writable !== true) return
  const refusal = malformedRequest('This port speaks HTTPS. Use an address that begins with https://, not http://.')
  setTimeout(() => socket.destroy(), lingerTimeout).unref()
  state.onClientError?.(refusal)
  writeAnswer(socket, state.problem(refusal))
}

/** Writes a complete response to a bare socket, and ends it. */
function writeAnswer(socket: Duplex, { status, headers, body = '' }: HttpResponse): void {
  const bytes = Buffer.from(body as string)
  const fields = { ...headers, Date: new Date().toUTCString(), 'Content-Length': bytes.length, Connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
  socket.on('error', () => socket.destroy())
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), bytes]))
}

const words: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'The method is not an HTTP method.',
  HPE_INVALID_URL: 'The address has characters that must be escaped.',
  HPE_INVALID_VERSION: 'The server does not support this version of HTTP.',
  HPE_INVALID_HEADER_TOKEN: 'A header has characters that are not allowed there.',
  HPE_INVALID_CONTENT_LENGTH: 'The Content-Length is not one number.',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'The request has two Content-Length fields, or one in addition to Transfer-Encoding.',
  HPE_INVALID_TRANSFER_ENCODING: 'The only Transfer-Encoding understood is chunked.',
  HPE_INVALID_CHUNK_SIZE: 'A chunk of the body has no valid size.',
  HPE_INVALID_EOF_STATE: 'The request ended before its end.',
}

/** The fault for a parser's error; `undefined` if the client sent nothing, has gone, or does not use TLS. */
function faultOf(error: ParserError, socket: Duplex): Fault | undefined {
  const { code = '' } = error
  // Clients may connect long before they need the connection: one that has sent nothing gets no response.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead > 0) {
    return fault('REQUEST_TIMEOUT', { detail: 'The head of the request did not come whole in time.' })
  }
  if (!code.startsWith('HPE_')) return undefined
  if (code === 'HPE_HEADER_OVERFLOW') return stoppedInRequestLine(error) ? urlTooLong() : headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return fault('BODY_TOO_LARGE', { detail: 'The extensions of the chunks are too long.' })
  }
  return malformedRequest(words[code] ?? 'The request is not HTTP/1.1.')
}

/** Whether the parser's limit was exceeded within the request line, as far as the last packet shows. */
function stoppedInRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const text = rawPacket?.toString('latin1') ?? ''
  if (text.slice(0, bytesParsed).includes('\n')) return false
  const line = text.split('\n', 1)[0]!
  return /^[A-Z]{3,16} [/*h]/.test(line) || / HTTP\/1\.[01]\r?$/.test(line)
}
