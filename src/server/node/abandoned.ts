/** Whether the client of an exchange still waits for its answer. */
import type { ServerResponse } from 'node:http'
import type { Exchange } from './exchange.ts'
import { isOver } from './file.ts'

/** How often a client is asked that has closed its side, in milliseconds. */
const pause = 250

/**
 * A signal that is aborted when the client has gone. Of answers that wait behind others on a connection it is not known.
 */
export function abandonmentOf({ request, response, inputEnded }: Exchange): AbortSignal {
  const gone = new AbortController()
  if (isOver(response)) gone.abort()
  if (gone.signal.aborted) return gone.signal
  if (request.httpVersionMajor === 2) {
    response.once('close', () => gone.abort())
    return gone.signal
  }
  const { socket } = request
  if ((response as ServerResponse).socket === null) return gone.signal
  let timer: NodeJS.Timeout | undefined
  const ask = () => {
    timer ??= setInterval(() => askWhetherThere(response as ServerResponse, request.httpVersionMinor), pause).unref()
  }
  response.once('close', () => {
    clearInterval(timer)
    socket.off('end', ask)
    gone.abort()
  })
  if (inputEnded) ask()
  else socket.once('end', ask)
  return gone.signal
}

/**
 * A client may close its side and want the answer all the same; one that is gone has closed it too, and does not say so. What
 * is sent to it is refused by its system, which ends the connection: an interim answer (RFC 9110 section 15.2) does no harm
 * to one that is there. HTTP/1.0 has none.
 */
function askWhetherThere(response: ServerResponse, minor: number): void {
  if (minor > 0 && !response.headersSent && !response.destroyed) response.writeProcessing()
}
