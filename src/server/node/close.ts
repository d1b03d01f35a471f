/** Stops a Node server without cutting off what is running (OPS-2). */

import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Server, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Edge, failBody, latestOn } from './exchange.ts'
import { malformedRequest } from './head.ts'

// A session of HTTP/2 on which nothing was asked for this long is given back, whatever else comes on it.
const idleSession = 65_000
// How long the client may take to close its side then.
const longestFarewell = 2_000
// How long kept connections are still answered on when the server stops. A client that sends as it is closed gets a reset, and
// cannot know whether its request was worked on.
const grace = 500

/**
 * Follows the connections of a server.
 *
 * @param secure whether HTTP goes over TLS there
 * @returns a function that closes it; see `NodeServer.close`
 */
export function trackConnections(server: Server, secure: boolean, edge: Edge): (deadline: number) => Promise<void> {
  // Under TLS a connection has two sockets: the one that carries HTTP, and the one that carries TLS.
  const carriers = new Set<TLSSocket | Socket>()
  const connections = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const follow = (set: Set<Socket>) => (socket: Socket) => {
    set.add(socket)
    socket.once('close', () => set.delete(socket))
    // Whatever happens to one connection is no failure of the server.
    socket.on('error', () => {})
  }
  server.on('connection', follow(connections))
  server.on(secure ? 'secureConnection' : 'connection', follow(carriers))
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    socket.once('end', () => endInput(socket))
  })
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    endWhenIdle(session, edge.patience.head)
  })
  return async (deadline) => {
    // What has connected before is accepted: closing the listener would reset it.
    await new Promise(setImmediate)
    // Node's own close() would also cut answers that are still being written.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
    // Only now do answers say `Connection: close`: a client that connects again at once is refused by the system, and not reset.
    edge.closing = true
    const idle = new Promise<void>((resolve) => {
      edge.onIdle = resolve
    })
    // GOAWAY names the last stream that is worked on, so a client may send what it opened after that one again (RFC 9113 section 6.8).
    for (const session of sessions) session.close()
    const graceTimer = setTimeout(() => {
      for (const session of sessions) session.close()
      closeIdle(edge, carriers)
      const shaken = new Set([...carriers].map(peer))
      for (const socket of connections) if (!shaken.has(peer(socket))) socket.destroy()
    }, grace)
    const timer = setTimeout(() => {
      for (const session of sessions) session.destroy()
      for (const socket of connections) socket.destroy()
      edge.onIdle()
    }, deadline)
    await closed
    if (edge.running.size > 0) await idle
    clearTimeout(graceTimer)
    clearTimeout(timer)
    // Stops the timer with which Node looks for slow clients.
    server.close()
  }
}

/** Ends a session that has no stream: the first must come as soon as the head of a request elsewhere. */
function endWhenIdle(session: ServerHttp2Session, first: number): void {
  let open = 0
  const end = () => {
    session.close()
    setTimeout(() => session.destroy(), longestFarewell).unref()
  }
  let timer = setTimeout(end, first).unref()
  session.on('stream', (stream) => {
    clearTimeout(timer)
    open++
    stream.once('close', () => {
      open--
      if (open === 0 && !session.closed) timer = setTimeout(end, idleSession).unref()
    })
  })
  session.once('close', () => clearTimeout(timer))
}

/** A body that is not whole when the client ends its side never will be; Node's parser does not always say so. */
function endInput(socket: Socket): void {
  const exchange = latestOn(socket)
  if (exchange === undefined) return
  exchange.inputEnded = true
  if ((exchange.request as IncomingMessage).complete) return
  exchange.mustClose = true
  failBody(exchange, malformedRequest('The body ended before its end.'))
}

function closeIdle(edge: Edge, carriers: Iterable<TLSSocket | Socket>): void {
  const busy = new Set([...edge.running].map(({ request }) => request.httpVersionMajor !== 2 && request.socket))
  for (const socket of carriers) {
    const ofSession = (socket as TLSSocket).alpnProtocol === 'h2'
    if (!ofSession && !busy.has(socket)) socket.destroySoon()
  }
}

function peer(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
