/** Connects the pipeline to the fetch API: `Request` in, `Response` out. */
import { type FileBody, type HttpRequest, type HttpResponse, isFile, lengthOfBody } from '../../http/message.ts'
import { Fault, fault } from '../../spec/faults.ts'
import { openFile, piecesOf, roomFor } from '../node/file-body.ts'
import { bodyTooLarge, checkHead, malformedRequest } from '../node/head.ts'

/** What a handler needs. `Rest` is what the platform passes to a handler after the request. */
export interface FetchApp<Rest extends readonly unknown[] = []> {
  readonly respond: (request: HttpRequest) => Promise<HttpResponse>
  /** Makes the response to requests that never reach `respond`. */
  readonly problem: (error: Fault) => HttpResponse
  /**
   * The client's address. Where it is left out, empty or `undefined`, clients share one limit for failed
   * authentications (LIM-1).
   */
  readonly address?: ((request: Request, ...rest: Rest) => string | undefined) | undefined
}

/**
 * Makes a fetch handler. The URL of a request says whether it is secure.
 *
 * @example
 * const handler = toFetchHandler(app)
 * const response = await handler(new Request('https://example.test/v1/tasks'))
 */
export function toFetchHandler<Rest extends readonly unknown[] = []>(
  app: FetchApp<Rest>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    let made: HttpResponse
    try {
      made = await app.respond(toHttpRequest(request, () => app.address?.(request, ...rest)))
      if (isFile(made.body) && hasContent(request.method, made)) await (await openFile(made.body)).close()
    } catch (error) {
      made = app.problem(error instanceof Fault ? error : fault('INTERNAL_ERROR', {}, error))
    }
    return toResponse(request.method, made)
  }
}

function toHttpRequest(request: Request, address: () => string | undefined): HttpRequest {
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
    address: address() ?? '',
    abandoned: () => request.signal,
    readBody: (limit) => readBody(request, Number(length ?? 0), limit),
  }
}

async function readBody(request: Request, declared: number, limit: number): Promise<Uint8Array> {
  if (declared > limit) throw bodyTooLarge(limit)
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

function toResponse(method: string, made: HttpResponse): Response {
  const { status, headers, body } = made
  const sent = new Headers(headers)
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
 * Opens the file once its first piece is wanted: a response that nobody reads, and nobody cancels, holds nothing open.
 */
async function* readFile(body: FileBody): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await openFile(body)
  try {
    yield* piecesOf(file, body, () => roomFor(body))
  } finally {
    await file.close()
  }
}
