/** Reads the body of a request on a Node server, within a limit. */
import type { ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import { bodyTooLarge, malformedRequest } from './head.ts'
import { bodyWasRead, keptBody } from './mounted.ts'
import { bodyFailed, type NodeRequest, type PendingRequest, type ServerState } from './pending-request.ts'

// The most bytes of bodies in memory for all running requests together (LIM-4).
const mostBytes = 64 * 1_048_576

type Receiving = Pick<ServerState, 'timeouts' | 'inFlight' | 'bodyBytes'>

const nothing = new Uint8Array(0)

/** Whether a body follows the head (RFC 9112 section 6.3). */
export function hasBody(request: NodeRequest): boolean {
  if (request.httpVersionMajor === 2) return !(request as Http2ServerRequest).stream.endAfterHeaders
  return request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
}

/**
 * Reads the whole body, once, or takes the bytes that a framework has kept of it.
 *
 * @param limit in bytes; a declared length beyond it is refused before a byte is read
 * @throws Fault BODY_TOO_LARGE; REQUEST_TIMEOUT if it arrives too slowly; MALFORMED_REQUEST if it is incomplete;
 *   OVERLOADED if too many large bodies arrive at once
 * @throws Fault INTERNAL_ERROR if another parser has read it and kept no bytes; it says how to mend the program
 */
export async function readNodeBody(pending: PendingRequest, limit: number, state: Receiving): Promise<Uint8Array> {
  const { request } = pending
  if (!hasBody(request)) return nothing
  const declared = request.headers['content-length']
  if (Number(declared) === 0) return nothing
  if (Number(declared ?? 0) > limit) throw bodyTooLarge(limit)
  const kept = keptBody(request)
  if (kept !== undefined && kept.length > limit) throw bodyTooLarge(limit)
  if (kept !== undefined) return kept
  if (request.readableDidRead || request.readableEnded) throw fault('INTERNAL_ERROR', { detail: bodyWasRead })
  if (pending.bodyFault !== undefined) throw pending.bodyFault
  if (request.destroyed) throw endedEarly()
  if (pending.awaitsContinue) {
    pending.awaitsContinue = false
    ;(pending.response as ServerResponse).writeContinue()
  }
  state.inFlight--
  try {
    return await collect(pending, limit, state)
  } finally {
    state.inFlight++
  }
}

function collect(pending: PendingRequest, limit: number, state: Receiving): Promise<Uint8Array> {
  const { request } = pending
  const { interval, bytes } = state.timeouts
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let sizeBefore = 0
    const slowness = setInterval(() => {
      const isSlow = size - sizeBefore < bytes
      sizeBefore = size
      if (!isSlow) return
      // The rest would be as slow.
      pending.mustClose = true
      onFault(tooSlow(bytes, interval))
    }, interval)
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      pending.bodyBytes = size
      state.bodyBytes += chunk.length
      chunks.push(chunk)
      if (size > limit) stop(() => reject(bodyTooLarge(limit)))
      else if (state.bodyBytes > mostBytes) stop(() => reject(tooManyBodies()))
    }
    const onEnd = () => {
      // HTTP/2 ends the stream of a client that has gone like any other.
      if ((request as Http2ServerRequest).aborted) onGone()
      else stop(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    }
    const onGone = () => stop(() => reject(endedEarly()))
    const stop = (settle: () => void) => {
      clearInterval(slowness)
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      request.on('error', ignore).off(bodyFailed, onFault)
      request.pause()
      settle()
    }
    const onFault = (reason: Fault) => stop(() => reject(reason))
    request.on(bodyFailed, onFault)
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

function ignore(): void {}

function tooManyBodies() {
  const detail = 'Too many large bodies are on their way. Nothing was done. Try again shortly.'
  return fault('OVERLOADED', { detail, headers: { 'Retry-After': '2' } })
}

function tooSlow(bytes: number, interval: number) {
  const detail = `At least ${bytes} bytes of a body must come every ${interval / 1000} seconds.`
  return fault('REQUEST_TIMEOUT', { detail })
}

function endedEarly() {
  return malformedRequest('The body ended before its end.')
}
