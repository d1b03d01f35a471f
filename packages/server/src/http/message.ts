/** HTTP messages as plain data: the server's edges (sockets, fetch) translate to and from them. */

import type { Fault } from 'resourced-contract/spec/faults'

export interface HttpRequest {
  readonly method: string
  /** The request target in origin form, path and query, still percent-encoded: `/v1/tasks?status=open`. */
  readonly target: string
  /** Header fields by lower-case name; repeated list fields are joined with `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the client used HTTPS, to this server or to a trusted proxy. */
  readonly secure: boolean
  /** The IP address of the client. */
  readonly address: string
  /**
   * Reads the whole body, once.
   *
   * @param limit the most bytes
   * @throws Fault BODY_TOO_LARGE
   */
  readBody(limit: number): Promise<Uint8Array>
  /** The request of the platform: Node's `IncomingMessage`, Express's `Request`, or a `Request` of the fetch API. */
  readonly native?: unknown
  /**
   * A signal that is aborted when the client closes the connection; `undefined`: it never does.
   */
  readonly abandoned?: (() => AbortSignal) | undefined
  /**
   * Gives the place of the request among those that are processed to others, until the returned function is called: the
   * request waits for something that is not the server's.
   */
  readonly yieldPlace?: (() => () => void) | undefined
  /**
   * Counts the bytes of a response that is being sent to a caller (LIM-6), in place of those that were counted before;
   * 0 before the response exists.
   *
   * @param mayRefuse whether the request changed nothing: then it may be refused because of too many bytes
   */
  readonly reserve?: ((caller: string, bytes: number, mayRefuse: boolean) => Fault | undefined) | undefined
}

/** An IP address without the prefix of a socket for both families, which shows an IPv4 client as `::ffff:192.0.2.1`. */
export function plainAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** Splits a request target into its path and its query, without `?`. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const question = target.indexOf('?')
  if (question === -1) return { path: target, query: '' }
  return { path: target.slice(0, question), query: target.slice(question + 1) }
}

/** Decodes a part of a request target; `undefined`: it has an invalid percent-escape, or one that is not UTF-8. */
export function decodeTargetPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * The rest of a path after the base path; `undefined`: the path is outside.
 *
 * The comparison is exact, without decoding: a middleware that guards `/api` compares the text too, and a second
 * spelling such as `/%61pi` would bypass it.
 *
 * @example
 * pathWithin('/api', '/api/v1/tasks') // '/v1/tasks'
 * pathWithin('/api', '/apiary') // undefined
 */
export function pathWithin(basePath: string, path: string): string | undefined {
  if (basePath === '') return path
  if (!path.startsWith(basePath)) return undefined
  return path.length === basePath.length || path.charAt(basePath.length) === '/'
    ? path.slice(basePath.length)
    : undefined
}

/** Response header fields by name, in the spelling that is sent. */
export type ResponseHeaders = Record<string, string>

/** A file, or a part of one, as a body. The edge reads it in pieces, as fast as the client receives them. */
export type FileBody = {
  readonly kind: 'file'
  /** The position of the first byte, from 0. */
  readonly start: number
  /** The number of bytes. If the file is shorter, the response is aborted. */
  readonly length: number
} & FileContent

/** A file by its path, or one that is no file of this machine. */
export type FileContent = { readonly path: string } | StoredFile

/** A reader of the bytes of a file. */
export interface StoredFile {
  /** Reads some bytes from a position on; `undefined`: there are none. */
  read(position: number): Promise<Uint8Array | undefined>
}

/** A body that is written for as long as its client reads it, such as a stream of events. It has no length. */
export interface StreamBody {
  readonly kind: 'stream'
  /** Begins to write. The edge calls it once, when the head was sent; never for HEAD. */
  open(sink: StreamSink): void
  /** The client has taken what was written: more may be written. */
  drained(): void
  /** Nothing can be written any more. The edge calls it once, also for a body that was never opened. */
  closed(): void
}

/** Where a `StreamBody` writes to: the connection of one client. */
export interface StreamSink {
  /** Writes a piece. Returns whether more may be written now; otherwise `drained` follows. */
  write(piece: Uint8Array): boolean
  /** Ends the response once everything is written. */
  end(): void
  /** Ends the response without what is not sent yet, because the client reads too slowly. */
  abort(): void
}

/** Text is sent as UTF-8. `undefined`: no body (204, 304). */
export type ResponseBody = string | Uint8Array | FileBody | StreamBody | undefined

/**
 * A response. The response to HEAD has the body of GET: the edge sends only its length.
 */
export interface HttpResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: ResponseBody
  /** The code of a problem, for observers. */
  readonly code?: string
}

/** Whether a body is a file. */
export function isFile(body: ResponseBody): body is FileBody {
  return typeof body === 'object' && 'kind' in body && body.kind === 'file'
}

/** Whether a body is a stream. */
export function isStream(body: ResponseBody): body is StreamBody {
  return typeof body === 'object' && 'kind' in body && body.kind === 'stream'
}

/** The length of a body in bytes. */
export function lengthOfBody(body: Exclude<ResponseBody, StreamBody>): number {
  if (body === undefined) return 0
  return isFile(body) ? body.length : Buffer.byteLength(body)
}

/** How long a private cache may keep a response without validating it, in seconds. */
export function cacheControl(maxAge: number): string {
  return maxAge > 0 ? `private, max-age=${maxAge}` : 'private, no-cache'
}
