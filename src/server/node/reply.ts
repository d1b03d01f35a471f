/** Writes an answer to a Node server's response: lengths, HEAD, and bodies that nobody read. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import { type FileBody, type HttpResponse, isFile, lengthOfBody } from '../../http/message.ts'
import { hasBody } from './body.ts'
import { type Edge, type Exchange, latestOn } from './exchange.ts'
import { isOver, passOn, whenItsTurn } from './file.ts'
import { openFile, piecesOf, roomFor } from './file-body.ts'

// The rest of a small body is read and dropped, so that the connection can go on; for more, a new connection is cheaper.
const smallRest = 65_536
// How long a client may go on sending after its answer before the connection is cut (RFC 9112 section 9.6).
const longestFarewell = 2000

type Shared = Pick<Edge, 'patience' | 'closing' | 'running'>

/**
 * Sends an answer, with its length, and without its body where HTTP has none: HEAD, 204, 304.
 *
 * @param edge whose patience the client has; whether it closes, and the connection ends with the answer
 * @returns nothing where all is written; for a file a promise that settles once it is. It rejects where the file cannot
 *   be opened or read, then with the head not yet written, and where it cannot be read to the end.
 */
export function send(exchange: Exchange, answer: HttpResponse, edge: Shared): Promise<void> | undefined {
  if (isOver(exchange.response)) return
  const { status, headers, body } = answer
  const empty = status === 204 || status === 304
  if (!empty) headers['Content-Length'] = String(lengthOfBody(body))
  const sent = empty || exchange.request.method === 'HEAD' ? undefined : body
  if (isFile(sent)) return sendFile(exchange, answer, sent, edge)
  end(exchange, begin(exchange, answer, edge), sent)
}

async function sendFile(exchange: Exchange, answer: HttpResponse, body: FileBody, edge: Shared): Promise<void> {
  const { request, response } = exchange
  if (!(await whenItsTurn(exchange))) return
  const file = await openFile(body)
  try {
    const room = roomFor(body)
    const pieces = piecesOf(file, body, () => room)
    // A file that cannot be read at all can still be reported.
    const first = await pieces.next()
    if (isOver(response)) return
    const leaves = begin(exchange, answer, edge)
    // Who sends before it reads would otherwise wait for us as we for it.
    if (leaves) request.resume()
    if (!(await passOn(first, pieces, response, edge.patience.silence))) return
    if (request.httpVersionMajor !== 2) response.once('finish', () => endUnannounced(exchange, edge))
    end(exchange, leaves, undefined)
  } finally {
    await file.close()
  }
}

/** Ends a connection that was to go on when the head was written: since then the server began to close, or garbage came. */
function endUnannounced(exchange: Exchange, edge: Shared): void {
  if (!edge.closing && !exchange.mustClose) return
  const { socket } = exchange.request
  const last = latestOn(socket)
  if (last === undefined || last === exchange) socket.destroySoon()
}

/**
 * Writes the head, and sees to what of the request's body nobody read.
 *
 * @returns whether a farewell must be said after the answer
 */
function begin(exchange: Exchange, { status, headers }: HttpResponse, edge: Shared): boolean {
  const { request } = exchange
  const response = exchange.response as ServerResponse
  const unread = !request.complete && hasBody(request)
  if (request.httpVersionMajor === 2) {
    response.writeHead(status, headers)
    if (unread) endStream(exchange.response as Http2ServerResponse)
    return false
  }
  const leaves =
    unread &&
    !exchange.inputEnded &&
    (exchange.mustClose || exchange.awaitsContinue || isLarge(request as IncomingMessage))
  if (edge.closing || leaves || exchange.mustClose) headers['Connection'] = 'close'
  response.writeHead(status, headers)
  if (unread && !leaves) dropRest(request as IncomingMessage, edge.patience.stretch)
  return leaves
}

function end(exchange: Exchange, leaves: boolean, body: string | Uint8Array | undefined): void {
  const response = exchange.response as ServerResponse
  if (leaves) sayFarewell(exchange.request as IncomingMessage, response, body)
  else response.end(body)
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
function sayFarewell(request: IncomingMessage, response: ServerResponse, body: string | Uint8Array | undefined): void {
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
  // While a file was sent, the rest may have come.
  if (request.complete || socket.readableEnded) finish()
}

/** RFC 9113 section 8.1: after a whole answer, a stream whose body is not wanted is reset without an error. */
function endStream(response: Http2ServerResponse): void {
  response.once('finish', () => setImmediate(() => response.stream?.close()))
}
