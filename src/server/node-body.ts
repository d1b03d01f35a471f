/** Reads the body of a request on a Node server, within a limit. */
import type { ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { bodyTooLarge, malformedRequest } from './head.ts'
import type { Exchange, NodeRequest } from './node-exchange.ts'

const nothing = new Uint8Array(0)
// HTTP/1.1 has its requestTimeout; a stream of HTTP/2 must have its own.
const longestSilence = 30_000

/** Whether a body follows the head (RFC 9112 section 6.3). */
export function hasBody(request: NodeRequest): boolean {
  if (request.httpVersionMajor === 2) return !(request as Http2ServerRequest).stream.endAfterHeaders
  return request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
}

/**
 * Reads the whole body, once.
 *
 * @param limit in bytes; a declared length beyond it is refused before a byte is read
 * @throws Fault BODY_TOO_LARGE; MALFORMED_REQUEST where the body ends before its end, or was read before
 */
export async function readNodeBody(exchange: Exchange, limit: number): Promise<Uint8Array> {
  const { request } = exchange
  if (!hasBody(request)) return nothing
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit)
  if (request.readableEnded)
    throw new Error('The body was read before: nothing else may read it, such as a body parser.')
  if (request.destroyed) throw endedEarly()
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false
    ;(exchange.response as ServerResponse).writeContinue()
  }
  return collect(exchange, limit)
}

function collect(exchange: Exchange, limit: number): Promise<Uint8Array> {
  const { request } = exchange
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) stop(() => reject(bodyTooLarge(limit)))
    }
    const onEnd = () => {
      // HTTP/2 ends the stream of a client that went away like any other.
      if ((request as Http2ServerRequest).aborted) onGone()
      else stop(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    }
    const onGone = () => stop(() => reject(endedEarly()))
    const stop = (settle: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      request.on('error', ignore)
      request.pause()
      exchange.failBody = undefined
      settle()
    }
    exchange.failBody = (reason) => stop(() => reject(reason))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
    if (request.httpVersionMajor === 2) {
      const { stream } = request as Http2ServerRequest
      stream.setTimeout(longestSilence, () => stream.destroy())
    }
  })
}

function ignore(): void {}

function endedEarly() {
  return malformedRequest('The body ended before its end.')
}
