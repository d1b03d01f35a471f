/**
 * Writes a response to the client of a Node server: its length, HEAD, files, and what remains of the request's body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import {
  type FileBody,
  type HttpResponse,
  isFile,
  isStream,
  lengthOfBody,
  type StreamBody,
} from '../../http/message.ts'
import { openFile, piecesOf, roomFor } from './file-body.ts'
import {
  abortResponse,
  closeUnannounced,
  isOver,
  type NodeResponse,
  type PendingRequest,
  type ServerState,
} from './pending-request.ts'
import { hasBody } from './request-body.ts'
import { OpenStream } from './stream-body.ts'

// A small unread rest of a request body is read and dropped, so that the connection stays; beyond that, closing is
// cheaper.
const smallRest = 65_536
// How long a client may go on sending after the response before its connection is closed, in milliseconds (RFC 9112
// section 9.6).
const lingerTimeout = 2000

type Shared = Pick<ServerState, 'timeouts' | 'closing' | 'running' | 'streams'>

/**
 * Sends a response, without its body where HTTP has none: HEAD, 204, 304. Text and bytes are written at once.
 *
 * @throws Fault NOT_FOUND, or the system's error, if a file cannot be opened, before the head is written, or cannot be
 *   read to its end
 */
export async function send(pending: PendingRequest, made: HttpResponse, state: Shared): Promise<void> {
  const { status, headers, body } = made
  if (isOver(pending.response)) {
    if (isStream(body)) body.closed()
    return
  }
  const empty = status === 204 || status === 304
  if (isStream(body)) return sendStream(pending, made, body, state)
  if (!empty) headers['Content-Length'] = String(lengthOfBody(body))
  const sent = empty || pending.request.method === 'HEAD' ? undefined : body
  if (isFile(sent)) return sendFile(pending, made, sent, state)
  end(pending, writeHead(pending, made, state), sent)
}

/** Returns when the stream is open: an open stream is no running request. */
async function sendStream(pending: PendingRequest, made: HttpResponse, body: StreamBody, state: Shared): Promise<void> {
  const { request } = pending
  try {
    const mayOpen = await whenItsTurn(pending)
    if (!mayOpen) return body.closed()
    const lingers = writeHead(pending, made, state)
    if (request.method === 'HEAD' || state.closing || lingers) {
      end(pending, lingers, undefined)
      return body.closed()
    }
  } catch (error) {
    body.closed()
    throw error
  }
  new OpenStream(pending, body, state).start()
}

async function sendFile(pending: PendingRequest, made: HttpResponse, body: FileBody, state: Shared): Promise<void> {
  const { request, response } = pending
  if (!(await whenItsTurn(pending))) return
  const room = roomFor(body)
  const file = await openFile(body, () => room)
  try {
    const pieces = piecesOf(file, body)
    // The first piece is read before the head is written: until then, a failure can be reported.
    const first = await pieces.next()
    if (isOver(response)) return
    const lingers = writeHead(pending, made, state)
    // A client that reads only after it has sent its whole body would otherwise wait for us, and we for it.
    if (lingers) request.resume()
    if (!(await writePieces(first, pieces, response, state.timeouts.idle))) return
    response.once('finish', () => closeUnannounced(pending, state))
    end(pending, lingers, undefined)
  } finally {
    await file.close()
  }
}

/**
 * Writes the head, and disposes of the unread part of the request's body.
 *
 * @returns whether the connection must be closed with a delay
 */
function writeHead(pending: PendingRequest, { status, headers }: HttpResponse, state: Shared): boolean {
  const { request } = pending
  const response = pending.response as ServerResponse
  const unread = !request.complete && hasBody(request)
  if (request.httpVersionMajor === 2) {
    response.writeHead(status, headers)
    if (unread) endStream(pending.response as Http2ServerResponse)
    return false
  }
  const lingers =
    unread &&
    !pending.inputEnded &&
    (pending.mustClose || pending.awaitsContinue || isLarge(request as IncomingMessage))
  if (state.closing || lingers || pending.mustClose) headers['Connection'] = 'close'
  response.writeHead(status, headers)
  if (unread && !lingers) dropRest(request as IncomingMessage, state.timeouts.interval)
  return lingers
}

function end(pending: PendingRequest, lingers: boolean, body: string | Uint8Array | undefined): void {
  const response = pending.response as ServerResponse
  if (lingers) closeLingering(pending.request as IncomingMessage, response, body)
  else response.end(body)
}

/** Reads and drops the small rest of a body. If that takes too long, the connection is destroyed. */
function dropRest(request: IncomingMessage, timeout: number): void {
  const timer = setTimeout(() => request.socket.destroy(), timeout)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}

function isLarge(request: IncomingMessage): boolean {
  return !(Number(request.headers['content-length']) <= smallRest)
}

/**
 * Sends the response and goes on reading for a while before the connection is closed: closing with unread bytes would
 * reset it, and the reset could overtake the response.
 */
function closeLingering(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array | undefined,
): void {
  const { socket } = request
  const finish = () => {
    clearTimeout(timer)
    socket.off('end', finish)
    response.end()
  }
  const timer = setTimeout(finish, lingerTimeout)
  request.once('end', finish).once('close', finish)
  socket.once('end', finish)
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  request.resume()
  // The rest may have arrived while a file was sent.
  if (request.complete || socket.readableEnded) finish()
}

/** RFC 9113 section 8.1: after a complete response, a stream whose body is not needed is reset without an error. */
function endStream(response: Http2ServerResponse): void {
  response.once('finish', () => setImmediate(() => response.stream?.close()))
}

/**
 * Waits until the earlier responses on the connection were sent. Only then is a file opened: a client can pipeline a
 * thousand requests in one packet.
 *
 * @returns whether the client is still connected
 */
function whenItsTurn({ request, response }: PendingRequest): Promise<boolean> {
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
    // Each of the pipelined requests adds a listener.
    socket.setMaxListeners(0)
    response.once('socket', onTurn)
    socket.once('close', onGone)
  })
}

/**
 * Writes the pieces of a body without ending the response. Each piece is read when the one before is written.
 *
 * @param first the piece that was read before the head was written
 * @param idle milliseconds after which a client that takes no piece is disconnected. The connection's own timer does
 *   not see an idle HTTP/2 stream among active ones.
 * @returns whether everything was written; otherwise the client has gone
 * @throws Error if the file cannot be read to the end of the body
 */
async function writePieces(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncIterator<Uint8Array, void>,
  response: NodeResponse,
  idle: number,
): Promise<boolean> {
  let moves = true
  const watch = setInterval(() => {
    if (!moves) abortResponse(response)
    moves = false
  }, idle)
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      if (!(await isWritten(response, next.value))) return false
      moves = true
    }
    return true
  } finally {
    clearInterval(watch)
  }
}

/** Writes a piece, and waits until its memory is free. */
function isWritten(response: NodeResponse, piece: Uint8Array): Promise<boolean> {
  if (isOver(response)) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = () => resolve(false)
    response.once('close', onClose)
    // A stream that is destroyed meanwhile does not always call back.
    ;(response as ServerResponse).write(piece, (error) => {
      response.off('close', onClose)
      resolve(error === undefined || error === null)
    })
  })
}
