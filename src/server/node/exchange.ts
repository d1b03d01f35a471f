/** What stands between a Node server and `respond`: one exchange of messages, and what all of a server's exchanges share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { type Fault, fault } from '../../spec/faults.ts'

export type NodeRequest = IncomingMessage | Http2ServerRequest
export type NodeResponse = ServerResponse | Http2ServerResponse

/** How slow a client may be (LIM-3): so that many slow ones cannot hold what others need. */
export interface Patience {
  /** Milliseconds within which a whole head must come. */
  readonly head: number
  /** A stretch of a body's time, in milliseconds: in each of them so many bytes must come. */
  readonly stretch: number
  readonly bytes: number
  /** Milliseconds for which nothing at all may move on a connection while an answer is on its way. */
  readonly silence: number
}

/** What is known of a request that is refused unread. */
export type RefusedRequest = Pick<HttpRequest, 'target' | 'headers' | 'secure'>

/** What all exchanges of one server share. */
export interface Edge {
  readonly patience: Patience
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** Makes the answer to a request that never reaches `respond`; to one that cannot be read, without it. */
  readonly problem: (error: Fault, request?: RefusedRequest) => HttpResponse
  /** Whether a proxy in front says who the client is, and whether it came by HTTPS. */
  readonly trustProxy: boolean
  /** Hears of the refusals of which `respond` hears nothing. */
  readonly onClientError?: ((error: Fault) => void) | undefined
  /** Hears of each request that was turned away for there being too many. */
  readonly onTurnedAway?: (() => void) | undefined
  /** Every exchange whose answer is not written yet. */
  readonly running: Set<Exchange>
  /** The bytes of answers that no client has taken yet. */
  readonly unread: Unread
  /** How many of them are being worked on, and do not wait for their client or for their turn. */
  inFlight: number
  /** Bytes of bodies that were received for them. */
  bodyBytes: number
  /** Called whenever an answer was made. */
  onAnswered: () => void
  /** From here on every answer on HTTP/1.1 ends its connection. */
  closing: boolean
  /** Called whenever nothing is running any more while closing. */
  onIdle: () => void
}

/** One request and its answer. */
export interface Exchange {
  readonly request: NodeRequest
  readonly response: NodeResponse
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  /** Nothing that follows on this connection can be trusted. */
  mustClose: boolean
  /** The client will send nothing more. */
  inputEnded: boolean
  /** Bytes of its body that were received. */
  bodyBytes: number
  /** What of its answer is counted as on its way, before it is sent. */
  reserved: { readonly caller: string; readonly bytes: number } | undefined
  /** Why the rest of the body cannot be read, where that is known before anything reads it. */
  bodyFault: Fault | undefined
  /** Ends the reading of the body, while it is being read. */
  failBody: ((reason: Fault) => void) | undefined
}

const latest = Symbol('latest exchange')
type Carrier = Duplex & { [latest]?: Exchange | undefined }

/** An exchange is under way from here on. */
export function enter(edge: Edge, exchange: Exchange): void {
  edge.running.add(exchange)
  const { request } = exchange
  if (request.httpVersionMajor !== 2) (request.socket as Carrier)[latest] = exchange
}

/** An exchange is over: nothing of it is kept, also where its connection stays. */
export function leave(edge: Edge, exchange: Exchange): void {
  if (!edge.running.delete(exchange)) return
  edge.bodyBytes -= exchange.bodyBytes
  const { request } = exchange
  if (request.httpVersionMajor !== 2 && latestOn(request.socket) === exchange) {
    ;(request.socket as Carrier)[latest] = undefined
  }
  if (edge.closing && edge.running.size === 0) edge.onIdle()
}

/**
 * The exchange that came last on a connection of HTTP/1.1, where it is not over; the others were received whole. To look
 * through all that are running would take long just when there are many.
 */
export function latestOn(socket: Duplex): Exchange | undefined {
  return (socket as Carrier)[latest]
}

/** The rest of a body cannot be read: whoever reads it, now or later, gets the reason. */
export function failBody(exchange: Exchange, reason: Fault): void {
  exchange.bodyFault = reason
  exchange.failBody?.(reason)
}

/** The most bytes of answers on their way. */
export interface UnreadBounds {
  readonly caller: number
  readonly server: number
}

const ordinaryBounds: UnreadBounds = { caller: 16_777_216, server: 134_217_728 }

// Made once: an error costs more than the rest of the answer.
const headers = { 'Retry-After': '5' }
const callerBehind = fault('ANSWERS_UNREAD', {
  detail: 'Read the answers that are on their way to you, or close their connections; then send this request again.',
  headers,
})
const serverFull = fault('OVERLOADED', {
  detail: 'Too many bytes of answers wait for slow clients. Nothing was done. Try again shortly.',
  headers,
})

/** Counts the bytes of answers on their way, for one server. */
export class Unread {
  readonly #bounds: UnreadBounds
  readonly #callers = new Map<string, number>()
  #bytes = 0

  constructor(bounds: Partial<UnreadBounds> = {}) {
    this.#bounds = { ...ordinaryBounds, ...bounds }
  }

  /** The bytes on their way to all clients. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Why an answer of so many bytes may not be made for a caller; `undefined`: it may. To a caller who has nothing to read, any one answer may.
   *
   * @param bytes 0 where the answer is not made yet
   */
  refusal(caller: string, bytes: number): Fault | undefined {
    const before = this.#callers.get(caller) ?? 0
    if (before > 0 && before + bytes >= this.#bounds.caller) return callerBehind
    if (bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#bounds.server) return serverFull
    return undefined
  }

  add(caller: string, bytes: number): void {
    this.#bytes += bytes
    this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + bytes)
  }

  /** They were taken, or nobody will take them. */
  remove(caller: string, bytes: number): void {
    this.#bytes -= bytes
    const rest = (this.#callers.get(caller) ?? 0) - bytes
    if (rest > 0) this.#callers.set(caller, rest)
    else this.#callers.delete(caller)
  }
}
