/** Writes an answer to a Node server's response: lengths, HEAD, and bodies that nobody read. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { HttpResponse } from '../http/message.ts'
import { hasBody } from './node-body.ts'
import type { Edge, Exchange } from './node-exchange.ts'

// The rest of a small body is read and dropped, so that the connection can go on; for more, a new connection is cheaper.
const smallRest = 65_536
// How long a client may go on sending after its answer before the connection is cut (RFC 9112 section 9.6).
const longestFarewell = 2000

/**
 * Sends an answer, with its length, and without its body where HTTP has none: HEAD, 204, 304.
 *
 * @param edge whose patience the client has for the rest of its body; whether it closes, and the connection ends with the answer
 */
export function send(exchange: Exchange, answer: HttpResponse, edge: Pick<Edge, 'patience' | 'closing'>): void {
  const { request } = exchange
  const response = exchange.response as ServerResponse
  if (response.destroyed || response.writableEnded) return
  const { status } = answer
  const empty = status === 204 || status === 304
  const { headers } = answer
  let body = answer.body
  if (!empty) headers['Content-Length'] = body === undefined ? '0' : String(Buffer.byteLength(body))
  if (empty || request.method === 'HEAD') body = undefined
  const unread = !request.complete && hasBody(request)
  if (request.httpVersionMajor === 2) {
    response.writeHead(status, headers)
    response.end(body)
    if (unread) endStream(exchange.response as Http2ServerResponse)
    return
  }
  const leaves =
    unread &&
    !exchange.inputEnded &&
    (exchange.mustClose || exchange.awaitsContinue || isLarge(request as IncomingMessage))
  if (edge.closing || leaves || exchange.mustClose) headers['Connection'] = 'close'
  response.writeHead(status, headers)
  if (leaves) {
    sayFarewell(request as IncomingMessage, response, body)
    return
  }
  response.end(body)
  if (unread) dropRest(request as IncomingMessage, edge.patience.stretch)
}

/** Reads the small rest of a body that nobody wants; who takes long over it is cut off. */
function dropRest(request: IncomingMessage, patience: number): void {
  const timer = setTimeout(() => request.socket.destroy(), patience)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}

function isLarge(request: IncomingMessage): boolean {
  return !(Number(request.headers['content-length']) <= smallRest)
}

/**
 * Sends the whole answer and goes on reading for a while before the connection ends: closing with unread bytes would
 * reset it, and the reset may overtake the answer.
 */
function sayFarewell(request: IncomingMessage, response: ServerResponse, body: HttpResponse['body']): void {
  const { socket } = request
  const finish = () => {
    clearTimeout(timer)
    socket.off('end', finish)
    response.end()
  }
  const timer = setTimeout(finish, longestFarewell)
  request.once('end', finish).once('close', finish)
  socket.once('end', finish)
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  request.resume()
  if (socket.readableEnded) finish()
}

/** RFC 9113 section 8.1: after a whole answer, a stream whose body is not wanted is reset without an error. */
function endStream(response: Http2ServerResponse): void {
  response.once('finish', () => setImmediate(() => response.stream?.close()))
}
