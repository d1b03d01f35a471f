/** Watches over answers that a client of a Node server does not take at once (LIM-6). */
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Fault } from '../../spec/faults.ts'
import type { Edge, Exchange } from './exchange.ts'
import { breakOff } from './file.ts'

/** An answer must be taken at ten times the least rate of bodies: it takes memory all the time. */
const timesBodies = 10

/** Counts the bytes of an exchange's answer; where `mayRefuse`, it gives a refusal in place of too many. */
export function reserve(
  edge: Edge,
  exchange: Exchange,
  caller: string,
  bytes: number,
  mayRefuse: boolean,
): Fault | undefined {
  const refusal = mayRefuse ? edge.unread.refusal(caller, bytes) : undefined
  if (refusal !== undefined || bytes === 0) return refusal
  edge.unread.add(caller, bytes)
  exchange.reserved = { caller, bytes }
  return undefined
}

/** Gives back what was counted of an exchange's answer once the client has taken it. A client that takes too long is cut off. */
export function watchTaking(edge: Edge, exchange: Exchange): void {
  const { reserved, request, response } = exchange
  if (reserved === undefined) return
  exchange.reserved = undefined
  const { caller, bytes } = reserved
  if (isTaken(response)) {
    edge.unread.remove(caller, bytes)
    return
  }
  const { silence, stretch, bytes: least } = edge.patience
  const { socket } = request
  const isVersionOne = request.httpVersionMajor !== 2
  const end = () => {
    clearTimeout(timer)
    response.off('close', end)
    if (isVersionOne) socket.off('close', end)
    edge.unread.remove(caller, bytes)
  }
  // An answer that waits behind others on its connection has no connection of its own to close.
  const cut = () => (isVersionOne ? socket.destroy() : breakOff(response))
  const timer = setTimeout(cut, silence + (bytes * stretch) / (least * timesBodies))
  response.once('close', end)
  if (!isVersionOne) return
  // Answers that wait behind others do not hear that their connection has closed; many may listen.
  socket.setMaxListeners(0)
  socket.once('close', end)
}

function isTaken(response: ServerResponse | Http2ServerResponse): boolean {
  const writable = 'stream' in response ? response.stream : response
  return writable === undefined || writable.destroyed || writable.writableFinished
}
