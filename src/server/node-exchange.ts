/** What stands between a Node server and `respond`: one exchange of messages, and what all of a server's exchanges share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { HttpRequest, HttpResponse } from '../http/message.ts'
import type { Fault } from '../spec/faults.ts'

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

/** What all exchanges of one server share. */
export interface Edge {
  readonly patience: Patience
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** Makes the answer to a request that never reaches `respond`. */
  readonly problem: (error: Fault) => HttpResponse
  /** Whether a proxy in front says who the client is, and whether it came by HTTPS. */
  readonly trustProxy: boolean
  /** Hears of the refusals of which `respond` hears nothing. */
  readonly onClientError?: ((error: Fault) => void) | undefined
  /** What `respond` is working on, and files on their way. */
  readonly running: Set<Exchange>
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
  /** Ends the reading of the body, while it is being read. */
  failBody: ((reason: Fault) => void) | undefined
}
