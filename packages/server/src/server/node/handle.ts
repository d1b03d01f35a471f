/**
 * One request on a Node server, from the head of the message until its client has read the response. Clients that read
 * too slowly are disconnected (LIM-6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { readForwarded } from 'resourced-contract/fields/header-fields'
import { Fault, fault } from 'resourced-contract/spec/faults'
import { type HttpRequest, type HttpResponse, plainAddress } from '../../http/message.ts'
import { checkHead, malformedRequest } from './head.ts'
import { urlOf } from './mounted.ts'
import {
  abortResponse,
  isOver,
  type NodeRequest,
  type NodeResponse,
  type PendingRequest,
  probe,
  removePending,
  type ServerState,
} from './pending-request.ts'
import { readNodeBody } from './request-body.ts'
import { send } from './send.ts'

type Headers = HttpRequest['headers']

/** A request that has just arrived. */
export function pendingOf(request: NodeRequest, response: NodeResponse, awaitsContinue = false): PendingRequest {
  const open = { isStarted: false, mustClose: false, inputEnded: false, bodyBytes: 0, bodyFault: undefined }
  return { request, response, url: urlOf(request), awaitsContinue, reserved: undefined, ...open }
}

/** Answers a request. Never throws; a response whose client has gone is dropped. */
export function handle(state: ServerState, pending: PendingRequest): void {
  pending.isStarted = true
  let message: HttpRequest
  try {
    message = toHttpRequest(state, pending)
  } catch (error) {
    refuse(state, pending, error)
    removePending(state, pending)
    return
  }
  void answer(state, pending, message)
}

async function answer(state: ServerState, pending: PendingRequest, message: HttpRequest): Promise<void> {
  state.inFlight++
  let made: HttpResponse
  try {
    made = await state.respond(message)
  } catch (error) {
    made = problemOf(state, error)
  }
  state.inFlight--
  const delivered = deliver(state, pending, made)
  releaseWhenRead(state, pending)
  state.onAnswered()
  await delivered
  removePending(state, pending)
}

/** Answers a request that had to wait, unless its client has gone meanwhile. */
export function handleDelayed(state: ServerState, pending: PendingRequest): void {
  // The first probe was made when its side was closed. What the system of the client said to it shows with the second.
  if (isOver(pending.response) || (pending.inputEnded && !probe(pending))) removePending(state, pending)
  else handle(state, pending)
}

// Rejected clients should not retry all at once. Made once: creating an error costs more than the rest of the response.
const busy = [1, 2, 3].map((seconds) =>
  fault('OVERLOADED', { detail: 'Nothing was done. Try again shortly.', headers: { 'Retry-After': String(seconds) } }),
)

/** Rejects a request without reading it, because of overload (LIM-4). */
export function reject(state: ServerState, pending: PendingRequest): void {
  const { headers, socket } = pending.request
  const secure = state.trustProxy ? readForwarded(headers as Headers).secure : (socket as TLSSocket).encrypted === true
  const error = busy[Math.floor(Math.random() * busy.length)]!
  state.onRejected?.()
  void deliver(state, pending, state.problem(error, { target: pending.url, headers: headers as Headers, secure }))
  removePending(state, pending)
}

/** Answers a request that must not reach `respond`. Data after a malformed head is not read. */
export function refuse(state: ServerState, pending: PendingRequest, error: unknown): void {
  if (error instanceof Fault) {
    pending.mustClose = error.code === 'MALFORMED_REQUEST'
    state.onClientError?.(error)
  }
  void deliver(state, pending, problemOf(state, error))
}

function problemOf(state: ServerState, error: unknown): HttpResponse {
  return state.problem(error instanceof Fault ? error : fault('INTERNAL_ERROR', {}, error))
}

/** Sends a response; never rejects. */
async function deliver(state: ServerState, pending: PendingRequest, made: HttpResponse): Promise<void> {
  try {
    await send(pending, made, state)
  } catch (error) {
    await recover(state, pending, error)
  }
}

/** Sends a problem in place of a response that cannot be sent, or aborts the response if its head was sent. */
async function recover(state: ServerState, pending: PendingRequest, error: unknown): Promise<void> {
  const { response } = pending
  try {
    if (response.headersSent) abortResponse(response)
    else if (error instanceof Fault) await send(pending, state.problem(error), state)
    // Node refuses to write some responses, such as those with a line break in a header.
    else await send(pending, problemOf(state, error), { ...state, closing: true })
  } catch {
    abortResponse(response)
  }
}

function toHttpRequest(state: ServerState, pending: PendingRequest): HttpRequest {
  const { request, url } = pending
  const method = request.method ?? ''
  const received = request.headers as Headers
  const { target, host } = checkHead({ method, url, rawHeaders: request.rawHeaders, headers: received })
  const headers = request.httpVersionMajor === 2 ? withoutPseudoFields(received) : received
  if (host !== undefined) (headers as Record<string, string | undefined>).host = host
  if (request.httpVersionMajor !== 2) checkVersionOne(request as IncomingMessage, received)
  const forwarded = state.trustProxy ? readForwarded(headers) : undefined
  return {
    method,
    target,
    headers,
    secure: forwarded === undefined ? (request.socket as TLSSocket).encrypted === true : forwarded.secure,
    address: forwarded?.address ?? plainAddress(request.socket.remoteAddress),
    native: request,
    abandoned: () => abandonSignal(pending),
    yieldPlace: () => yieldPlace(state),
    reserve: (caller, bytes, mayRefuse) => reserveBytes(state, pending, { caller, bytes }, mayRefuse),
    readBody: (limit) => readNodeBody(pending, limit, state),
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
  // RFC 9112 section 6.1: such a message always has faulty framing.
  if (older) throw malformedRequest('HTTP/1.0 has no Transfer-Encoding.')
  if (coding.toLowerCase() !== 'chunked') throw malformedRequest('The only Transfer-Encoding understood is chunked.')
}

function yieldPlace(state: ServerState): () => void {
  state.inFlight--
  return () => void state.inFlight++
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

// How often a client is probed that has closed its side, in milliseconds.
const probeInterval = 250

/**
 * Returns a signal that is aborted when the client has gone. A response that waits behind others on its connection gets
 * no such signal.
 */
function abandonSignal(pending: PendingRequest): AbortSignal {
  const { request, response, inputEnded } = pending
  const gone = new AbortController()
  if (isOver(response)) gone.abort()
  if (gone.signal.aborted) return gone.signal
  if (request.httpVersionMajor === 2) {
    response.once('close', () => gone.abort())
    return gone.signal
  }
  const { socket } = request
  if ((response as ServerResponse).socket === null) return gone.signal
  let timer: NodeJS.Timeout | undefined
  const startProbing = () => {
    timer ??= setInterval(() => probe(pending), probeInterval).unref()
  }
  response.once('close', () => {
    clearInterval(timer)
    socket.off('end', startProbing)
    gone.abort()
  })
  if (inputEnded) startProbing()
  else socket.once('end', startProbing)
  return gone.signal
}

// Responses must be read ten times as fast as request bodies must be sent: they are in memory all the time.
const timesBodies = 10

/**
 * Counts the bytes of a response, in place of those that were counted for it before. Where `mayRefuse`, it returns a
 * refusal instead if there are too many.
 */
function reserveBytes(
  state: ServerState,
  pending: PendingRequest,
  reserved: { readonly caller: string; readonly bytes: number },
  mayRefuse: boolean,
): Fault | undefined {
  const { caller, bytes } = reserved
  const refusal = mayRefuse ? state.unread.refusal(caller, bytes) : undefined
  if (refusal !== undefined || bytes === 0) return refusal
  if (pending.reserved !== undefined) state.unread.remove(pending.reserved.caller, pending.reserved.bytes)
  state.unread.add(caller, bytes)
  pending.reserved = reserved
  return undefined
}

/** Ends the counting of a response once the client has read it. A client that takes too long is disconnected. */
function releaseWhenRead(state: ServerState, pending: PendingRequest): void {
  const { reserved, request, response } = pending
  if (reserved === undefined) return
  pending.reserved = undefined
  const { caller, bytes } = reserved
  if (isRead(response)) {
    state.unread.remove(caller, bytes)
    return
  }
  const { idle, interval, bytes: least } = state.timeouts
  const { socket } = request
  const isVersionOne = request.httpVersionMajor !== 2
  const end = () => {
    clearTimeout(timer)
    response.off('close', end)
    if (isVersionOne) socket.off('close', end)
    state.unread.remove(caller, bytes)
  }
  // A response that waits behind others on its connection has no socket of its own.
  const disconnect = () => (isVersionOne ? socket.destroy() : abortResponse(response))
  const timer = setTimeout(disconnect, idle + (bytes * interval) / (least * timesBodies))
  response.once('close', end)
  if (!isVersionOne) return
  // Responses that wait behind others get no event when their connection closes, so each adds a listener to the socket.
  socket.setMaxListeners(0)
  socket.once('close', end)
}

function isRead(response: ServerResponse | Http2ServerResponse): boolean {
  const writable = 'stream' in response ? response.stream : response
  return writable === undefined || writable.destroyed || writable.writableFinished
}
