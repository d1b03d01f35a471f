/**
 * Counts responses until the client of a Node server has read them, and disconnects clients that read too slowly
 * (LIM-6).
 */
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Fault } from '../../spec/faults.ts'
import { abortResponse, type PendingRequest, type ServerState } from './pending-request.ts'

// Responses must be read ten times as fast as request bodies must be sent: they are in memory all the time.
const timesBodies = 10

/** Counts the bytes of a response. Where `mayRefuse`, it returns a refusal instead if there are too many. */
export function reserveBytes(
  state: ServerState,
  pending: PendingRequest,
  reserved: { readonly caller: string; readonly bytes: number },
  mayRefuse: boolean,
): Fault | undefined {
  const { caller, bytes } = reserved
  const refusal = mayRefuse ? state.unread.refusal(caller, bytes) : undefined
  if (refusal !== undefined || bytes === 0) return refusal
  state.unread.add(caller, bytes)
  pending.reserved = reserved
  return undefined
}

/** Ends the counting of a response once the client has read it. A client that takes too long is disconnected. */
export function releaseWhenRead(state: ServerState, pending: PendingRequest): void {
  const { reserved, request, response } = pending
  if (reserved === undefined) return
  pending.reserved = undefined
  const { caller, bytes } = reserved
  if (isRead(response)) {
    state.unread.remove(caller, bytes)
    return
  }
  const { idle, interval, bytes: least } = state.timeouts
  const { socket } = request
  const isVersionOne = request.httpVersionMajor !== 2
  const end = () => {
    clearTimeout(timer)
    response.off('close', end)
    if (isVersionOne) socket.off('close', end)
    state.unread.remove(caller, bytes)
  }
  // A response that waits behind others on its connection has no socket of its own.
  const disconnect = () => (isVersionOne ? socket.destroy() : abortResponse(response))
  const timer = setTimeout(disconnect, idle + (bytes * interval) / (least * timesBodies))
  response.once('close', end)
  if (!isVersionOne) return
  // Responses that wait behind others get no event when their connection closes, so each adds a listener to the socket.
  socket.setMaxListeners(0)
  socket.once('close', end)
}

function isRead(response: ServerResponse | Http2ServerResponse): boolean {
  const writable = 'stream' in response ? response.stream : response
  return writable === undefined || writable.destroyed || writable.writableFinished
}
