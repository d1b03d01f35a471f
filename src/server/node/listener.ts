/** The edge to sockets: Node's servers in front of `respond`. HTTP/1.1 and HTTP/2 share one port under TLS (SEC-1). */
import { createServer, IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Server as TlsServer } from 'node:tls'
import { everyMethod } from '../../request/target.ts'
import { type Fault, fault } from '../../spec/faults.ts'
import { Admission, type Bounds } from './admission.ts'
import type { CertificatePair } from './certificate-files.ts'
import { trackConnections } from './close.ts'
import {
  type Edge,
  type Exchange,
  enter,
  type NodeRequest,
  type NodeResponse,
  type Patience,
  Unread,
  type UnreadBounds,
} from './exchange.ts'
import { exchangeOf, handle, handleLate, refuse, turnAway } from './handle.ts'
import { type ParserError, refuseUnreadable, writeAnswer } from './refusal.ts'

/** What a server needs. */
export interface NodeServerOptions {
  readonly respond: Edge['respond']
  /** Makes the answer to what cannot be handed to `respond`. */
  readonly problem: Edge['problem']
  /** Left out: plain HTTP. */
  readonly tls?: CertificatePair | undefined
  readonly trustProxy?: boolean
  /** Hears of requests that were refused before `respond`. */
  readonly onClientError?: (error: Fault) => void
  /** Hears of each request that was turned away because there were too many (LIM-4). */
  readonly onTurnedAway?: () => void
  /** How slow a client may be; LIM-3 where left out. */
  readonly patience?: Patience
  /** Where overload begins. */
  readonly bounds?: Partial<Bounds>
  /** The most bytes of answers on their way; LIM-6 where left out. */
  readonly unread?: Partial<UnreadBounds>
}

/** A server. */
export interface NodeServer {
  /**
   * Begins to listen.
   *
   * @param port 0 takes a free one
   * @returns the origin under which it listens: `https://127.0.0.1:8443`
   * @throws the system's error where the address cannot be had, such as EADDRINUSE
   */
  listen(host: string, port: number): Promise<string>
  /** Takes another certificate into use for connections that are opened from here on. */
  renewCertificate(pair: CertificatePair): void
  /**
   * Stops accepting at once, and ends when all that runs was answered and every connection is closed, or, by cutting
   * them, at the deadline.
   *
   * @param deadline in milliseconds; 8 seconds where left out: less than process managers wait before they kill
   */
  close(deadline?: number): Promise<void>
}

/** LIM-3: a head within 30 seconds, and of a body a thousand bytes a second. */
const ordinaryPatience: Patience = { head: 30_000, stretch: 10_000, bytes: 10_000, silence: 120_000 }

// Above the bounds of LIM-3, so that we see which of them was passed; the parser's own bound is the last resort.
const limits = {
  maxHeaderSize: 65_536,
  // A body has a least rate (node-body.ts), and so no other bound in time.
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
  requireHostHeader: false,
  optimizeEmptyRequests: true,
  noDelay: true,
} as const

// TLS doubles the price of a small message.
const secureBounds = { reading: 0.05 } as const

/** Makes a server; it listens once told to. */
export function createNodeServer(options: NodeServerOptions): NodeServer {
  const edge = edgeOf(options)
  const { head, silence } = edge.patience
  const settings = { ...limits, headersTimeout: head, connectionsCheckingInterval: Math.min(5_000, head / 4) }
  const server = options.tls === undefined ? createServer(settings) : createSecure(options.tls, settings)
  // Who takes nothing of an answer for so long does not want it.
  server.setTimeout(silence)
  // Half of a message dropped in silence would be a changed message: our bound is in bytes.
  server.maxHeadersCount = 0
  // A client may close its side once it has asked, and still wants the answer.
  ;(server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true
  const closeAll = trackConnections(server as NetServer, options.tls !== undefined, edge)
  attach(server, edge, { ...(options.tls && secureBounds), ...options.bounds })
  let closed: Promise<void> | undefined
  return {
    listen: (host, port) => listen(server, host, port, options.tls === undefined ? 'http' : 'https'),
    renewCertificate: (pair) => (server as unknown as TlsServer).setSecureContext({ ...secureOptions, ...pair }),
    close(deadline = 8_000) {
      closed ??= closeAll(deadline)
      return closed
    },
  }
}

// SEC-1: authenticated encryption with forward secrecy alone. The first three are of TLS 1.3, the others of 1.2.
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
  // It has what a server of node:http has, as far as it is used here.
  return server as unknown as Server
}

function attach(server: Server, edge: Edge, bounds: Partial<Bounds> | undefined): void {
  const { admission, receive } = receiver(edge, bounds)
  server.on('connection', () => admission.connected())
  server.on('request', (request, response) => receive(exchangeOf(request, response)))
  server.on('checkContinue', (request, response) => receive(exchangeOf(request, response, true)))
  // RFC 9110 section 10.1.1: an expectation that one does not know may be ignored.
  server.on('checkExpectation', (request, response) => receive(exchangeOf(request, response)))
  server.on('clientError', (error: ParserError, socket: Duplex) => refuseUnreadable(edge, error, socket))
  server.on('connect', (request: IncomingMessage, other: Duplex | ServerResponse) => {
    const error = fault('METHOD_NOT_ALLOWED', {
      detail: 'This server is not a proxy.',
      headers: { Allow: everyMethod.join(', ') },
    })
    if (request.httpVersionMajor !== 2) return writeAnswer(other as Duplex, edge.problem(error))
    refuse(edge, { ...exchangeOf(request, other as ServerResponse), inputEnded: true }, error)
  })
}

/** What is done with every request that comes: it is worked on, now or when it is its turn, or turned away. */
function receiver(edge: Edge, bounds?: Partial<Bounds>) {
  const admission = new Admission<Exchange>(
    {
      begin: (exchange) => handle(edge, exchange),
      beginLate: (exchange) => handleLate(edge, exchange),
      turnAway: (exchange) => turnAway(edge, exchange),
      // On HTTP/2 others ask on the same connection; and the rest of a body must go before anything follows it.
      hold: ({ request }) => void (request.httpVersionMajor !== 2 && request.complete && request.socket.pause()),
      release: ({ request }) => void (request.httpVersionMajor !== 2 && request.socket.resume()),
      inFlight: () => edge.inFlight,
    },
    bounds,
  )
  edge.onAnswered = () => admission.answered()
  const receive = (exchange: Exchange) => {
    // Node's parser takes a request line that ends in HTTP/2.0. Framed as HTTP/1.1, it is a request of HTTP/1.1 with a wrong version.
    if (exchange.request instanceof IncomingMessage && exchange.request.httpVersionMajor > 1)
      exchange.request.httpVersionMajor = 1
    enter(edge, exchange)
    // Whoever asks whether the server lives would end it, if it had to wait.
    if (exchange.request.url?.startsWith('/health/')) handle(edge, exchange)
    else admission.admit(exchange)
  }
  return { admission, receive }
}

function edgeOf(options: Omit<NodeServerOptions, 'tls' | 'bounds'>): Edge {
  const { respond, problem, trustProxy = false, onClientError, onTurnedAway, patience = ordinaryPatience } = options
  const unread = new Unread(options.unread)
  const counts = { running: new Set<Exchange>(), inFlight: 0, bodyBytes: 0 }
  const moments = { closing: false, onIdle: () => {}, onAnswered: () => {} }
  return { respond, problem, trustProxy, onClientError, onTurnedAway, patience, unread, ...counts, ...moments }
}

function listen(server: Server, host: string, port: number, scheme: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject)
      const address = server.address() as AddressInfo
      resolve(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`)
    })
  })
}

/**
 * A handler for servers that others made: `node:http`, `node:https`, `node:http2`, or a framework on top of them. It must
 * come before anything that reads bodies.
 *
 * @example
 * http.createServer(toNodeHandler(app)).listen(8080)
 */
export function toNodeHandler(
  { respond, refuse: problem }: { readonly respond: Edge['respond']; readonly refuse: Edge['problem'] },
  options: { readonly trustProxy?: boolean } = {},
): (request: NodeRequest, response: NodeResponse) => void {
  const { receive } = receiver(edgeOf({ respond, problem, ...options }))
  return (request, response) => receive(exchangeOf(request, response))
}
