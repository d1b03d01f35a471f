/** Passes a file on to a client of a Node server, as fast as the client takes it. */
import type { ServerResponse } from 'node:http'
import type { Exchange, NodeResponse } from './exchange.ts'

/**
 * Waits until the answers before it on its connection were sent. Only then may a file be opened: a client can ask for a
 * thousand of them in one packet.
 *
 * @returns whether there still is a client
 */
export function whenItsTurn({ request, response }: Exchange): Promise<boolean> {
  if (request.httpVersionMajor === 2 || response.socket !== null) return Promise.resolve(!isOver(response))
  const { socket } = request
  if (socket.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const settle = (isPresent: boolean) => () => {
      response.off('socket', onTurn)
      socket.off('close', onGone)
      resolve(isPresent)
    }
    const onTurn = settle(true)
    const onGone = settle(false)
    // Each of those thousand listens.
    socket.setMaxListeners(0)
    response.once('socket', onTurn)
    socket.once('close', onGone)
  })
}

/**
 * Writes the pieces of a body, and does not end the answer. The next piece is read when this one was taken.
 *
 * @param first the first piece: it was read before the head was written
 * @param silence in milliseconds: a client that takes not one piece in that time is cut off. The connection's own timer
 *   does not see a stream of HTTP/2 that stands still while others move.
 * @returns whether all was taken; otherwise the client is gone
 * @throws Error where the file cannot be read to the end of the body
 */
export async function passOn(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncIterator<Uint8Array, void>,
  response: NodeResponse,
  silence: number,
): Promise<boolean> {
  let moves = true
  const watch = setInterval(() => {
    if (!moves) breakOff(response)
    moves = false
  }, silence)
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      if (!(await isTaken(response, next.value))) return false
      moves = true
    }
    return true
  } finally {
    clearInterval(watch)
  }
}

/** Breaks off an answer whose head was sent, so that the client sees that it is not whole. */
export function breakOff(response: NodeResponse): void {
  // Without an error a stream of HTTP/2 would end as if all had been said; with one, a socket would report it.
  if ('stream' in response) response.stream.destroy(new Error('The answer was broken off.'))
  else response.destroy()
}

/** Whether nothing more can be written to an answer. */
export function isOver(response: NodeResponse): boolean {
  return response.writableEnded || ('stream' in response ? response.stream : response).destroyed
}

/** Writes a piece, and waits until its memory is free. */
function isTaken(response: NodeResponse, piece: Uint8Array): Promise<boolean> {
  if (isOver(response)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = () => resolve(false)
    response.once('close', onClose)
    // What is written to a stream that ends meanwhile is not always called back.
    ;(response as ServerResponse).write(piece, (error) => {
      response.off('close', onClose)
      resolve(error === undefined || error === null)
    })
  })
}
