/** Reads the body of a request on a Node server, within a limit. */
import type { ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { fault } from '../../spec/faults.ts'
import type { Edge, Exchange, NodeRequest } from './exchange.ts'
import { bodyTooLarge, malformedRequest } from './head.ts'

// What the bodies of all requests that are not answered yet may have together (LIM-4), in bytes.
const mostBytes = 64 * 1_048_576

type Receiving = Pick<Edge, 'patience' | 'inFlight' | 'bodyBytes'>

const nothing = new Uint8Array(0)

/** Whether a body follows the head (RFC 9112 section 6.3). */
export function hasBody(request: NodeRequest): boolean {
  if (request.httpVersionMajor === 2) return !(request as Http2ServerRequest).stream.endAfterHeaders
  return request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
}

/**
 * Reads the whole body, once.
 *
 * @param limit in bytes; a declared length beyond it is refused before a byte is read
 * @throws Fault BODY_TOO_LARGE; REQUEST_TIMEOUT where it comes too slowly; MALFORMED_REQUEST where it ends before its end;
 *   OVERLOADED where there are too many large ones at once
 */
export async function readNodeBody(exchange: Exchange, limit: number, edge: Receiving): Promise<Uint8Array> {
  const { request } = exchange
  if (!hasBody(request)) return nothing
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit)
  if (request.readableEnded)
    throw new Error('The body was read before: nothing else may read it, such as a body parser.')
  if (exchange.bodyFault !== undefined) throw exchange.bodyFault
  if (request.destroyed) throw endedEarly()
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false
    ;(exchange.response as ServerResponse).writeContinue()
  }
  edge.inFlight--
  try {
    return await collect(exchange, limit, edge)
  } finally {
    edge.inFlight++
  }
}

function collect(exchange: Exchange, limit: number, edge: Receiving): Promise<Uint8Array> {
  const { request } = exchange
  const { stretch, bytes } = edge.patience
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let sizeBefore = 0
    const slowness = setInterval(() => {
      const isSlow = size - sizeBefore < bytes
      sizeBefore = size
      if (!isSlow) return
      // The rest would come as slowly.
      exchange.mustClose = true
      exchange.failBody?.(tooSlow(bytes, stretch))
    }, stretch)
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      exchange.bodyBytes = size
      edge.bodyBytes += chunk.length
      chunks.push(chunk)
      if (size > limit) stop(() => reject(bodyTooLarge(limit)))
      else if (edge.bodyBytes > mostBytes) stop(() => reject(tooManyBodies()))
    }
    const onEnd = () => {
      // HTTP/2 ends the stream of a client that went away like any other.
      if ((request as Http2ServerRequest).aborted) onGone()
      else stop(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    }
    const onGone = () => stop(() => reject(endedEarly()))
    const stop = (settle: () => void) => {
      clearInterval(slowness)
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      request.on('error', ignore)
      request.pause()
      exchange.failBody = undefined
      settle()
    }
    exchange.failBody = (reason) => stop(() => reject(reason))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

function ignore(): void {}

function tooManyBodies() {
  const detail = 'Too many large bodies are on their way. Nothing was done. Try again shortly.'
  return fault('OVERLOADED', { detail, headers: { 'Retry-After': '2' } })
}

function tooSlow(bytes: number, stretch: number) {
  const detail = `At least ${bytes} bytes of a body must come every ${stretch / 1000} seconds.`
  return fault('REQUEST_TIMEOUT', { detail })
}

function endedEarly() {
  return malformedRequest('The body ended before its end.')
}
