/** Closes a Node server without interrupting running requests (OPS-2). */

import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Server, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { malformedRequest } from './head.ts'
import { failBody, latestOn, probe, type ServerState } from './pending-request.ts'

// An HTTP/2 session without a request for this long is closed, even if other frames arrive on it. Milliseconds, like
// all times in this file.
const idleSession = 65_000
// How long the client of such a session may take to close its side.
const lingerTimeout = 2_000
// How long requests on open connections are still answered after the server began to close. If a connection is closed
// while its client sends, the client gets a reset and cannot know whether its request was processed.
const grace = 500
// How long a server that begins to close waits at most for a turn in which no connection comes.
const longestQueue = 1_000

/**
 * Tracks the connections of a server.
 *
 * @param secure whether the server uses TLS
 * @returns a function that closes it; see `NodeServer.close`
 */
export function trackConnections(
  server: Server,
  secure: boolean,
  state: ServerState,
): (deadline: number) => Promise<void> {
  // Under TLS a connection has two sockets: the one that carries HTTP, and the one that carries TLS.
  const connections = new Set<Socket>()
  const carriers: Set<TLSSocket | Socket> = secure ? new Set() : connections
  const sessions = new Set<ServerHttp2Session>()
  let onEmpty = () => {}
  let accepted = 0
  // There may be thousands of connections, so that all of them share their listeners.
  const follow = (set: Set<Socket>) => {
    function forget(this: Socket): void {
      set.delete(this)
      if (connections.size === 0) onEmpty()
    }
    return (socket: Socket) => {
      set.add(socket)
      socket.on('close', forget).on('error', ignoreError)
    }
  }
  server.on('connection', follow(connections))
  server.on('connection', () => accepted++)
  const closeUnused = () => {
    for (const session of sessions) session.close()
    closeIdle(state, carriers)
    const shaken = new Set([...carriers].map(peer))
    for (const socket of connections) if (!shaken.has(peer(socket))) socket.destroy()
  }
  // Closing the listener resets connections that are not accepted yet, and each turn of the event loop accepts one.
  const emptyQueue = async () => {
    const end = performance.now() + longestQueue
    let before: number
    await new Promise(setImmediate)
    do {
      before = accepted
      await new Promise(setImmediate)
    } while (before !== accepted && performance.now() < end)
  }
  if (secure) server.on('secureConnection', follow(carriers))
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => socket.on('end', endInput))
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    endWhenIdle(session, state.timeouts.head)
  })
  return async (deadline) => {
    await emptyQueue()
    // Node's own close() would also interrupt responses that are being written. Bun's servers of HTTP are no NetServer.
    const stopListening = server instanceof NetServer ? NetServer.prototype.close : (server as NetServer).close
    const stopped = new Promise<void>((resolve) => stopListening.call(server, () => resolve()))
    // A server does not wait for connections that were handed over to it.
    const emptied = new Promise<void>((resolve) => {
      onEmpty = resolve
      if (connections.size === 0) resolve()
    })
    // Responses say `Connection: close` only now: a client that reconnects at once is refused by the system, and not
    // reset.
    state.closing = true
    // Their clients reconnect, to another server.
    for (const stream of [...state.streams]) stream.end()
    const idle = new Promise<void>((resolve) => {
      state.onIdle = resolve
    })
    // GOAWAY names the last processed stream, so that clients can safely retry later ones (RFC 9113 section 6.8).
    for (const session of sessions) session.close()
    // On a busy machine, requests may have arrived before this moment that are read only after it, in the same turn.
    const graceTimer = setTimeout(() => setImmediate(closeUnused), grace)
    const timer = setTimeout(() => {
      for (const session of sessions) session.destroy()
      for (const socket of connections) socket.destroy()
      state.onIdle()
    }, deadline)
    await stopped
    await emptied
    if (state.running.size > 0) await idle
    clearTimeout(graceTimer)
    clearTimeout(timer)
    // Stops the timer by which Node finds slow clients.
    server.close()
  }
}

/** Ends a session without streams. The first stream must come within the time for the head of a request. */
function endWhenIdle(session: ServerHttp2Session, first: number): void {
  let open = 0
  const end = () => {
    session.close()
    setTimeout(() => session.destroy(), lingerTimeout).unref()
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

/** Errors of a connection are no failures of the server. */
function ignoreError(): void {}

/**
 * A body that is incomplete when the client closes its side stays incomplete; Node's parser does not always report it.
 */
function endInput(this: Socket): void {
  const pending = latestOn(this)
  if (pending === undefined) return
  pending.inputEnded = true
  if ((pending.request as IncomingMessage).complete) {
    // No work is done for a client that has gone meanwhile.
    if (!pending.isStarted) probe(pending)
    return
  }
  pending.mustClose = true
  failBody(pending, malformedRequest('The body ended before its end.'))
}

function closeIdle(state: ServerState, carriers: Iterable<TLSSocket | Socket>): void {
  const busy = new Set([...state.running].map(({ request }) => request.httpVersionMajor !== 2 && request.socket))
  for (const socket of carriers) {
    const ofSession = (socket as TLSSocket).alpnProtocol === 'h2'
    if (!ofSession && !busy.has(socket)) socket.destroySoon()
  }
}

function peer(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`
}
