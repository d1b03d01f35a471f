/** HTTP messages as plain records: what the edges (sockets, fetch) translate to and from. */

/** A request as the pipeline sees it. */
export interface HttpRequest {
  readonly method: string
  /** The request target in origin form, path and query, still percent-encoded: `/v1/tasks?status=open`. */
  readonly target: string
  /** Header fields by lower-case name; repeated list fields are joined with `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether it came by HTTPS, here or at a trusted proxy. */
  readonly secure: boolean
  /** The address it came from. */
  readonly address: string
  /**
   * Reads the whole body, once.
   *
   * @param limit the most bytes that it may have
   * @throws Fault BODY_TOO_LARGE where it has more
   */
  readBody(limit: number): Promise<Uint8Array>
}

/** Response header fields by name; a name is written as here. */
export type ResponseHeaders = Record<string, string>

/** A response as the pipeline makes it. A HEAD request's has GET's body: the edge leaves it out and keeps the length. */
export interface HttpResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Text is sent as UTF-8. `undefined`: no body at all (204, 304). */
  readonly body: string | Uint8Array | undefined
}
