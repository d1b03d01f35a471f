/** Connects the pipeline to the fetch API: `Request` in, `Response` out. */

import { Fault, fault } from 'resourced-contract/spec/faults'
import { isWithin, requireBasePath } from '../../http/base-path.ts'
import {
  type FileBody,
  type HttpRequest,
  type HttpResponse,
  isFile,
  isStream,
  lengthOfBody,
} from '../../http/message.ts'
import { openFile, piecesOf } from '../node/file-body.ts'
import { bodyTooLarge, checkHead, malformedRequest } from '../node/head.ts'
import { readableOf } from './stream-body.ts'

/** What a handler needs of an application. */
interface FetchApp {
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** Makes the response to requests that never reach `respond`. */
  readonly refuse: (error: Fault) => HttpResponse
  /** The beginning of every address: `/api`; empty by default. */
  readonly basePath?: string
}

/** Options of a fetch handler. `Rest` is what the platform passes to a handler after the request. */
export interface FetchHandlerOptions<Rest extends readonly unknown[] = []> {
  /**
   * Returns the client's IP address, from the request or from what the platform passes after it: `bunAddress`,
   * `denoAddress`, `honoAddress`, `forwardedAddress`, or a function of your own. Failed authentications are limited by
   * address (LIM-1); clients for which it returns `''` or `undefined`, or throws, share one limit.
   */
  readonly address?: (request: Request, ...rest: Rest) => string | undefined
  /** Answers requests outside the `basePath` of the application; by default they get 404. */
  readonly fallback?: (request: Request, ...rest: Rest) => Response | Promise<Response>
}

/**
 * Makes a fetch handler of an application: `Request` in, `Response` out (Bun, Deno, Hono, Next.js). The URL of a
 * request says whether it is secure. Without `address`, all clients share one limit for failed authentications, and a
 * process warning says so.
 *
 * @throws ConfigurationError if there is a `fallback`, and the application has no `basePath` and so owns every address
 * @example
 * Bun.serve({ fetch: toFetchHandler(app, { address: bunAddress }) })
 * Deno.serve(toFetchHandler(app, { address: denoAddress }))
 */
export function toFetchHandler<Rest extends readonly unknown[] = []>(
  app: FetchApp,
  { address, fallback }: FetchHandlerOptions<Rest> = {},
): (request: Request, ...rest: Rest) => Promise<Response> {
  const { basePath = '' } = app
  if (fallback !== undefined) requireBasePath(basePath, 'toFetchHandler(app, { fallback })')
  if (address === undefined) {
    process.emitWarning(
      'toFetchHandler has no "address" option: all clients share one limit for failed authentications. ' +
        'Pass toFetchHandler(app, { address: (request, ...rest) => … }).',
      { code: 'RESOURCED_NO_ADDRESS' },
    )
  }
  // Next.js removes Content-Encoding and Content-Length from responses, and compresses bodies itself.
  const isEncodingLost = process.env.NEXT_RUNTIME !== undefined
  let warned = false
  const addressOf = (request: Request, rest: Rest): string => {
    try {
      return address?.(request, ...rest) ?? ''
    } catch (error) {
      if (!warned) process.emitWarning(`The address option of toFetchHandler threw: ${String(error)}`)
      warned = true
      return ''
    }
  }
  return async (request, ...rest) => {
    if (fallback !== undefined && !isWithin(basePath, new URL(request.url).pathname)) return fallback(request, ...rest)
    let made: HttpResponse
    try {
      const asked = toHttpRequest(request, addressOf(request, rest))
      made = await app.respond(isEncodingLost ? withoutEncoding(asked) : asked)
      if (isFile(made.body) && hasContent(request.method, made)) await (await openFile(made.body)).close()
    } catch (error) {
      made = app.refuse(error instanceof Fault ? error : fault('INTERNAL_ERROR', {}, error))
    }
    return toResponse(request, made)
  }
}

function toHttpRequest(request: Request, address: string): HttpRequest {
  const url = new URL(request.url)
  const headers: Record<string, string | undefined> = {}
  const rawHeaders: string[] = []
  for (const [name, value] of request.headers) {
    headers[name] = value
    rawHeaders.push(name, value)
  }
  const { target } = checkHead({ method: request.method, url: url.pathname + url.search, rawHeaders, headers })
  // The fetch API joins repeated fields, and two lengths must not pass as one.
  const length = headers['content-length']
  if (length !== undefined && !/^\d+$/.test(length)) throw malformedRequest('The Content-Length is not one number.')
  headers.host ??= url.host
  return {
    method: request.method,
    target,
    headers,
    secure: url.protocol === 'https:',
    address,
    native: request,
    abandoned: () => request.signal,
    readBody: (limit) => readBody(request, Number(length ?? 0), limit),
  }
}

function withoutEncoding(request: HttpRequest): HttpRequest {
  return { ...request, headers: { ...request.headers, 'accept-encoding': undefined } }
}

const bodyWasRead =
  'The body of the request was read before toFetchHandler() ran. Give the handler the request first, or a clone: ' +
  'handler(request.clone()).'

async function readBody(request: Request, declared: number, limit: number): Promise<Uint8Array> {
  if (declared > limit) throw bodyTooLarge(limit)
  if (request.bodyUsed) throw fault('INTERNAL_ERROR', { detail: bodyWasRead })
  if (request.body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of request.body) {
      size += chunk.length
      if (size > limit) throw bodyTooLarge(limit)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof Fault ? error : malformedRequest('The body ended before its end.')
  }
  return Buffer.concat(chunks, size)
}

function toResponse({ method, signal }: Request, made: HttpResponse): Response {
  const { status, headers, body } = made
  const sent = new Headers(headers)
  if (isStream(body)) {
    if (hasContent(method, made)) return new Response(readableOf(body, signal), { status, headers: sent })
    body.closed()
    return new Response(null, { status, headers: sent })
  }
  if (!isEmpty(status)) sent.set('Content-Length', String(lengthOfBody(body)))
  const content = isFile(body) ? ReadableStream.from(readFile(body)) : (body as string)
  return new Response(hasContent(method, made) ? content : null, { status, headers: sent })
}

function isEmpty(status: number): boolean {
  return status === 204 || status === 304
}

function hasContent(method: string, { status, body }: HttpResponse): boolean {
  return !isEmpty(status) && method !== 'HEAD' && body !== undefined
}

/**
 * Opens the file when its first piece is read, so that a response that nobody reads or cancels holds no file open.
 */
async function* readFile(body: FileBody): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await openFile(body)
  try {
    yield* piecesOf(file, body)
  } finally {
    await file.close()
  }
}
