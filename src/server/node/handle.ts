/** Handling one request on a Node server, from the message's head to the end of its answer. */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { readForwarded } from '../../http/fields/forwarded.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { Fault, fault } from '../../spec/faults.ts'
import { abandonmentOf } from './abandoned.ts'
import { readNodeBody } from './body.ts'
import { type Edge, type Exchange, leave, type NodeRequest, type NodeResponse } from './exchange.ts'
import { breakOff, isOver } from './file.ts'
import { checkHead, malformedRequest } from './head.ts'
import { send } from './reply.ts'
import { reserve, watchTaking } from './unread.ts'

type Headers = HttpRequest['headers']

/** Begins an exchange. */
export function exchangeOf(request: NodeRequest, response: NodeResponse, awaitsContinue = false): Exchange {
  const open = { mustClose: false, inputEnded: false, bodyBytes: 0, bodyFault: undefined, failBody: undefined }
  return { request, response, awaitsContinue, reserved: undefined, ...open }
}

/** Answers one request. Never throws; an answer that nobody waits for any more is dropped. */
export function handle(edge: Edge, exchange: Exchange): void {
  let message: HttpRequest
  try {
    message = toHttpRequest(edge, exchange)
  } catch (error) {
    refuse(edge, exchange, error)
    leave(edge, exchange)
    return
  }
  edge.inFlight++
  const finish = (answer: HttpResponse) => {
    edge.inFlight--
    const sending = deliver(edge, exchange, answer)
    watchTaking(edge, exchange)
    if (sending === undefined) leave(edge, exchange)
    else void sending.then(() => leave(edge, exchange))
    edge.onAnswered()
  }
  try {
    edge.respond(message).then(finish, (error) => finish(problemOf(edge, error)))
  } catch (error) {
    finish(problemOf(edge, error))
  }
}

/** Answers one that had to wait for its turn; whose client has hung up meanwhile is hardly waited for. */
export function handleLate(edge: Edge, exchange: Exchange): void {
  if (isOver(exchange.response)) leave(edge, exchange)
  else if (exchange.inputEnded) turnAway(edge, exchange)
  else handle(edge, exchange)
}

// Not all at once shall they come again. Made once: an error costs more than the rest of the answer.
const busy = [1, 2, 3].map((seconds) =>
  fault('OVERLOADED', { detail: 'Nothing was done. Try again shortly.', headers: { 'Retry-After': String(seconds) } }),
)

/** Turns a request away, unread: there are too many (LIM-4). */
export function turnAway(edge: Edge, exchange: Exchange): void {
  const { url = '', headers, socket } = exchange.request
  const secure = edge.trustProxy ? readForwarded(headers as Headers).secure : (socket as TLSSocket).encrypted === true
  const error = busy[Math.floor(Math.random() * busy.length)]!
  edge.onTurnedAway?.()
  deliver(edge, exchange, edge.problem(error, { target: url, headers: headers as Headers, secure }))
  leave(edge, exchange)
}

/** Answers a request that must not reach `respond`. What follows a malformed head is not read. */
export function refuse(edge: Edge, exchange: Exchange, error: unknown): void {
  if (error instanceof Fault) {
    exchange.mustClose = error.code === 'MALFORMED_REQUEST'
    edge.onClientError?.(error)
  }
  deliver(edge, exchange, problemOf(edge, error))
}

function problemOf(edge: Edge, error: unknown): HttpResponse {
  return edge.problem(error instanceof Fault ? error : fault('INTERNAL_ERROR', {}, error))
}

/** Gives a promise only where a file is sent; it never rejects. */
function deliver(edge: Edge, exchange: Exchange, answer: HttpResponse): Promise<void> | undefined {
  try {
    return send(exchange, answer, edge)?.catch((error) => recover(edge, exchange, error))
  } catch (error) {
    recover(edge, exchange, error)
  }
}

/** Says that an answer cannot be sent, or breaks it off where its head is out. */
function recover(edge: Edge, exchange: Exchange, error: unknown): void {
  const { response } = exchange
  try {
    if (response.headersSent) breakOff(response)
    else if (error instanceof Fault) send(exchange, edge.problem(error), edge)
    // An answer that Node refuses to write, such as a line break in a header, is our failure.
    else send(exchange, problemOf(edge, error), { ...edge, closing: true })
  } catch {
    breakOff(response)
  }
}

function toHttpRequest(edge: Edge, exchange: Exchange): HttpRequest {
  const { request } = exchange
  const method = request.method ?? ''
  const url = request.url ?? ''
  const received = request.headers as Headers
  const { target, host } = checkHead({ method, url, rawHeaders: request.rawHeaders, headers: received })
  const headers = request.httpVersionMajor === 2 ? withoutPseudoFields(received) : received
  if (host !== undefined) (headers as Record<string, string | undefined>).host = host
  if (request.httpVersionMajor !== 2) checkVersionOne(request as IncomingMessage, received)
  const forwarded = edge.trustProxy ? readForwarded(headers) : undefined
  return {
    method,
    target,
    headers,
    secure: forwarded === undefined ? (request.socket as TLSSocket).encrypted === true : forwarded.secure,
    address: forwarded?.address ?? plainAddress(request.socket.remoteAddress),
    abandoned: () => abandonmentOf(exchange),
    reserve: (caller, bytes, mayRefuse) => reserve(edge, exchange, caller, bytes, mayRefuse),
    readBody: (limit) => readNodeBody(exchange, limit, edge),
  }
}

function checkVersionOne(request: IncomingMessage, headers: Headers): void {
  if (request.httpVersionMajor === 0) throw malformedRequest('The version of HTTP is missing.')
  if (request.httpVersion === '2.0')
    throw malformedRequest('HTTP/2 needs TLS: without TLS this server speaks HTTP/1.1.')
  const older = request.httpVersionMinor === 0
  if (headers.host === undefined && !older) throw malformedRequest('The Host header is missing.')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  // RFC 9112 section 6.1: the framing of such a message is faulty, whatever it says.
  if (older) throw malformedRequest('HTTP/1.0 has no Transfer-Encoding.')
  if (coding.toLowerCase() !== 'chunked') throw malformedRequest('The only Transfer-Encoding understood is chunked.')
}

function withoutPseudoFields(received: Headers): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {}
  for (const name of Object.keys(received)) if (!name.startsWith(':')) headers[name] = received[name]
  const authority = received[':authority']
  // RFC 9113 section 8.3.1: where both are present they must say the same.
  if (authority !== undefined && headers.host !== undefined && headers.host.toLowerCase() !== authority.toLowerCase()) {
    throw malformedRequest('The Host header differs from the authority of the request.')
  }
  if (authority !== undefined) headers.host = authority
  return headers
}

// A socket for both families shows an IPv4 client as ::ffff:192.0.2.1.
function plainAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}
