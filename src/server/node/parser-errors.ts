/** Responses to data that Node's HTTP parser rejects: there is a socket, and no request. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpResponse } from '../../http/message.ts'
import { type Fault, fault } from '../../spec/faults.ts'
import { headersTooLarge, malformedRequest, urlTooLong } from './head.ts'
import { failBody, latestOn, type ServerState } from './pending-request.ts'

/** What Node hands to `clientError`. */
export interface ParserError extends Error {
  readonly code?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

// How long the client may take to read the response before its connection is destroyed, in milliseconds.
const lingerTimeout = 2000
const answered = new WeakSet<Duplex>()

/**
 * Answers a message that the parser rejected, and ends its connection. If an earlier request on it is still being
 * processed, only that one is answered.
 */
export function refuseUnreadable(state: ServerState, error: ParserError, socket: Duplex): void {
  // The parser fails again with every further byte.
  if (answered.has(socket)) return
  const refusal = faultOf(error, socket)
  if (refusal === undefined || !socket.writable) {
    socket.destroy()
    return
  }
  answered.add(socket)
  const last = latestOn(socket)
  if (last !== undefined) {
    last.mustClose = true
    last.inputEnded = error.code === 'HPE_INVALID_EOF_STATE'
    // Data after a complete request is no fault of that request.
    if (!(last.request as IncomingMessage).complete) failBody(last, refusal)
    return
  }
  setTimeout(() => socket.destroy(), lingerTimeout).unref()
  // Node may be sending a response of its own: another must not overtake it.
  if ((socket as { _httpMessage?: unknown })._httpMessage || error.code === 'HPE_CLOSED_CONNECTION') return
  state.onClientError?.(refusal)
  writeAnswer(socket, state.problem(refusal))
}

/** Writes a complete response to a bare socket, and ends it. */
export function writeAnswer(socket: Duplex, { status, headers, body = '' }: HttpResponse): void {
  const bytes = Buffer.from(body as string)
  const fields = { ...headers, Date: new Date().toUTCString(), 'Content-Length': bytes.length, Connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`
  socket.on('error', () => socket.destroy())
  socket.end(Buffer.concat([Buffer.from(head, 'latin1'), bytes]))
}

const words: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'The method is not one that HTTP knows.',
  HPE_INVALID_URL: 'The address holds characters that must be escaped.',
  HPE_INVALID_VERSION: 'The version of HTTP is not one that this server speaks.',
  HPE_INVALID_HEADER_TOKEN: 'A header has characters that are not allowed there.',
  HPE_INVALID_CONTENT_LENGTH: 'The Content-Length is not one number.',
  HPE_UNEXPECTED_CONTENT_LENGTH: 'The Content-Length stands twice, or beside a Transfer-Encoding.',
  HPE_INVALID_TRANSFER_ENCODING: 'The only Transfer-Encoding understood is chunked.',
  HPE_INVALID_CHUNK_SIZE: 'A chunk of the body has no valid size.',
  HPE_INVALID_EOF_STATE: 'The request ended before its end.',
}

/** The fault for a parser's error; `undefined` if the client sent nothing, has gone, or does not use TLS. */
function faultOf(error: ParserError, socket: Duplex): Fault | undefined {
  const { code = '' } = error
  // Clients may connect long before they need the connection: one that has sent nothing gets no response.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead > 0) {
    return fault('REQUEST_TIMEOUT', { detail: 'The head of the request did not come whole in time.' })
  }
  if (!code.startsWith('HPE_')) return undefined
  if (code === 'HPE_HEADER_OVERFLOW') return stoppedInRequestLine(error) ? urlTooLong() : headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return fault('BODY_TOO_LARGE', { detail: 'The extensions of the chunks are too long.' })
  }
  return malformedRequest(words[code] ?? 'The request is not HTTP/1.1.')
}

/** Whether the parser's limit was exceeded within the request line, as far as the last packet shows. */
function stoppedInRequestLine({ rawPacket, bytesParsed = 0 }: ParserError): boolean {
  const text = rawPacket?.toString('latin1') ?? ''
  if (text.slice(0, bytesParsed).includes('\n')) return false
  const line = text.split('\n', 1)[0]!
  return /^[A-Z]{3,16} [/*h]/.test(line) || / HTTP\/1\.[01]\r?$/.test(line)
}
