/** HTTP messages as plain records: what the edges (sockets, fetch) translate to and from. */

import type { Fault } from '../spec/faults.ts'

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
  /**
   * Gives a signal that is aborted where nobody waits for the answer any more; where left out, somebody does to the
   * end.
   */
  readonly abandoned?: (() => AbortSignal) | undefined
  /**
   * Counts the bytes of an answer to a caller as on their way (LIM-6), 0 before it is made; where left out, nobody
   * counts.
   *
   * @param mayRefuse whether nothing was changed: then a refusal is given where there are too many
   */
  readonly reserve?: ((caller: string, bytes: number, mayRefuse: boolean) => Fault | undefined) | undefined
}

/** Response header fields by name; a name is written as here. */
export type ResponseHeaders = Record<string, string>

/** A file as a body, or a stretch of one. The edge reads it piece by piece, and only while the client takes it. */
export interface FileBody {
  readonly kind: 'file'
  readonly path: string
  /** The position of the first byte, from 0. */
  readonly start: number
  /** How many bytes. The file must have them: an answer that ends before is broken off. */
  readonly length: number
}

/** Text is sent as UTF-8. `undefined`: no body at all (204, 304). */
export type ResponseBody = string | Uint8Array | FileBody | undefined

/**
 * A response as the pipeline makes it. A HEAD request's has GET's body: the edge leaves it out and keeps the length.
 */
export interface HttpResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: ResponseBody
}

/** Whether a body lies in a file. */
export function isFile(body: ResponseBody): body is FileBody {
  return typeof body === 'object' && 'kind' in body
}

/** The length of a body in bytes, as it is sent. */
export function lengthOfBody(body: ResponseBody): number {
  if (body === undefined) return 0
  return isFile(body) ? body.length : Buffer.byteLength(body)
}
