/** The state of a Node server while it answers requests: its counters, and each request until it is answered. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import type { HttpRequest, HttpResponse, StreamSink } from '../../http/message.ts'

export type NodeRequest = IncomingMessage | Http2ServerRequest
export type NodeResponse = ServerResponse | Http2ServerResponse

/** How slow clients may be (LIM-3), so that many slow ones cannot hold what others need. Times in milliseconds. */
export interface ClientTimeouts {
  /** For the head of a request. */
  readonly head: number
  /** In each interval of this length, at least `bytes` bytes of a body must arrive. */
  readonly interval: number
  readonly bytes: number
  /** For a connection on which nothing moves while a response is sent. */
  readonly idle: number
}

/** The part of a request that is known if it is refused before it is read. */
export type RefusedRequest = Pick<HttpRequest, 'target' | 'headers' | 'secure'>

/** What all requests of one server share. */
export interface ServerState {
  readonly timeouts: ClientTimeouts
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** Makes the response to a request that never reaches `respond`; without the request if it could not be parsed. */
  readonly problem: (error: Fault, request?: RefusedRequest) => HttpResponse
  /** Whether a proxy in front reports the client's address and protocol. */
  readonly trustProxy: boolean
  /** The beginning of every address: `/api`, or empty. */
  readonly basePath: string
  /** Reports requests that were refused before `respond` ran. */
  readonly onClientError?: ((error: Fault) => void) | undefined
  /** Reports requests that were rejected because of overload. */
  readonly onRejected?: (() => void) | undefined
  /** Every request whose response is not written yet. */
  readonly running: Set<PendingRequest>
  /** Responses without an end of their own, which closing ends. */
  readonly streams: Set<StreamSink>
  /** The bytes of responses that clients have not read yet. */
  readonly unread: UnreadResponses
  /** How many requests are being processed, without those that wait for their client or for their turn. */
  inFlight: number
  /** Bytes of request bodies in memory. */
  bodyBytes: number
  /** Called after each response was made. */
  onAnswered: () => void
  /** From now on every response on HTTP/1.1 ends its connection. */
  closing: boolean
  /** Called when nothing is running any more while closing. */
  onIdle: () => void
}

/** One request, from its head to the end of its response. */
export interface PendingRequest {
  readonly request: NodeRequest
  readonly response: NodeResponse
  /** The request target as the client sent it. */
  readonly url: string
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  /** Whether it waits no longer to be processed. */
  isStarted: boolean
  /** Nothing that follows on this connection can be trusted. */
  mustClose: boolean
  /** The client will send nothing more. */
  inputEnded: boolean
  /** Bytes of its body that were received. */
  bodyBytes: number
  /** What of its response is counted as unread before it is sent. */
  reserved: { readonly caller: string; readonly bytes: number } | undefined
  /** Why the rest of the body cannot be read, if that is known before anything reads it. */
  bodyFault: Fault | undefined
}

const latest = Symbol('latest pending request')
type Carrier = Duplex & { [latest]?: PendingRequest | undefined }

/** Counts a request as running. */
export function addPending(state: ServerState, pending: PendingRequest): void {
  state.running.add(pending)
  const { request } = pending
  if (request.httpVersionMajor !== 2) (request.socket as Carrier)[latest] = pending
}

/** Counts a request as answered, and forgets it even if its connection stays open. */
export function removePending(state: ServerState, pending: PendingRequest): void {
  if (!state.running.delete(pending)) return
  state.bodyBytes -= pending.bodyBytes
  const { request } = pending
  if (request.httpVersionMajor !== 2 && latestOn(request.socket) === pending) {
    ;(request.socket as Carrier)[latest] = undefined
  }
  if (state.closing && state.running.size === 0) state.onIdle()
}

/**
 * The last request on a connection of HTTP/1.1, unless it is answered. Earlier ones were received whole. Searching all
 * running requests for it would be slow exactly when there are many.
 */
export function latestOn(socket: Duplex): PendingRequest | undefined {
  return (socket as Carrier)[latest]
}

/**
 * Closes a connection whose head promised that it stays: since then the server began to close, or unparsable data came.
 */
export function closeUnannounced(pending: PendingRequest, state: Pick<ServerState, 'closing'>): void {
  const { request } = pending
  if (request.httpVersionMajor === 2 || !(state.closing || pending.mustClose)) return
  const last = latestOn(request.socket)
  if (last === undefined || last === pending) request.socket.destroySoon()
}

/**
 * The event of a request whose body cannot be read to its end, with the reason. As a function in the `PendingRequest`
 * the listener would keep the whole request in memory until the next full collection.
 */
export const bodyFailed = Symbol('body failed')

/** Fails the reading of a body, which may have begun or not. */
export function failBody(pending: PendingRequest, reason: Fault): void {
  pending.bodyFault = reason
  pending.request.emit(bodyFailed, reason)
}

/** Aborts a response whose head was sent, so that the client sees that it is incomplete. */
export function abortResponse(response: NodeResponse): void {
  // Without an error a stream of HTTP/2 would end as if the response were complete; with one, a socket would report it.
  if ('stream' in response) response.stream.destroy(new Error('The response was aborted.'))
  else response.destroy()
}

/**
 * A client may close its side and still wait for the response. A client that has gone closed its side too. An interim
 * response (RFC 9110 section 15.2) distinguishes them: the system of a client that has gone refuses it, which ends the
 * connection. HTTP/1.0 has none, and a response that waits behind others on its connection cannot be written.
 *
 * @returns whether the connection is still of use, as far as is known
 */
export function probe({ request, response }: PendingRequest): boolean {
  const { socket, headersSent, destroyed } = response as ServerResponse
  if (request.httpVersionMinor > 0 && socket !== null && !headersSent && !destroyed) {
    ;(response as ServerResponse).writeProcessing()
  }
  return request.socket.errored === null
}

/** Whether nothing more can be written to a response. */
export function isOver(response: NodeResponse): boolean {
  return response.writableEnded || ('stream' in response ? response.stream : response).destroyed
}

/** The most bytes of unread responses. */
export interface UnreadLimits {
  readonly caller: number
  readonly server: number
}

const defaultLimits: UnreadLimits = { caller: 16_777_216, server: 134_217_728 }

// Made once: creating an error costs more than the rest of the response.
const headers = { 'Retry-After': '5' }
const callerExceeded = fault('ANSWERS_UNREAD', {
  detail: 'Read the answers that are on their way to you, or close their connections; then send this request again.',
  headers,
})
const serverExceeded = fault('OVERLOADED', {
  detail: 'Too many bytes of answers wait for slow clients. Nothing was done. Try again shortly.',
  headers,
})

/** Counts the bytes of responses that were made and that no client has read yet (LIM-6): they are in memory. */
export class UnreadResponses {
  readonly #limits: UnreadLimits
  readonly #callers = new Map<string, number>()
  #bytes = 0

  constructor(limits: Partial<UnreadLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits }
  }

  /** The bytes for all clients. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Why a response of this size may not be made for a caller; `undefined`: it may. A caller with nothing unread may get
   * a response of any size.
   *
   * @param bytes 0 if the response is not made yet
   */
  refusal(caller: string, bytes: number): Fault | undefined {
    const before = this.#callers.get(caller) ?? 0
    if (before > 0 && before + bytes >= this.#limits.caller) return callerExceeded
    if (bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#limits.server) return serverExceeded
    return undefined
  }

  add(caller: string, bytes: number): void {
    this.#bytes += bytes
    this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + bytes)
  }

  /** Call it when the client has read them, or never will. */
  remove(caller: string, bytes: number): void {
    this.#bytes -= bytes
    const rest = (this.#callers.get(caller) ?? 0) - bytes
    if (rest > 0) this.#callers.set(caller, rest)
    else this.#callers.delete(caller)
  }
}
