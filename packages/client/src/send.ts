/** A request and a response of the client, whatever carries them: `fetch`, or an application in the same process. */

/** A request of the client. */
export interface ClientRequest {
  readonly method: string
  /** The path after the version, such as `/tasks/{id}`, percent-encoded, with the query. */
  readonly path: string
  /** By name, in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON, or nothing. */
  readonly body: string | undefined
  readonly signal: AbortSignal | undefined
  /** Whether `body` of a successful response is the `Response` itself, unread: for files. */
  readonly stream?: boolean
}

/** A response. */
export interface ClientResponse {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  /** The body as it was sent. */
  readonly text: string
  /** The parsed body; `undefined`: there is none. */
  readonly body: unknown
  /** Whether an earlier attempt got no response, so that the server may have carried the request out twice. */
  readonly isRepeated?: boolean
}

/** Sends a request. It rejects if no response arrives. */
export type Send = (request: ClientRequest) => Promise<ClientResponse>

/** Options of every call. */
export interface CallOptions {
  /** Stops the call, its repetitions and its pauses. */
  readonly signal?: AbortSignal | undefined
}
