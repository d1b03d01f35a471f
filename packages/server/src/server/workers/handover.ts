/** The listener of a supervisor: it accepts connections, and hands each of them to a worker, in turn. */
import type { ChildProcess } from 'node:child_process'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** The listener. */
export interface Handover {
  /** Begins to listen. @returns the port @throws the system's error, such as EADDRINUSE */
  listen(host: string, port: number): Promise<number>
  /** Gives connections to a worker from now on. */
  add(worker: ChildProcess): void
  /** A worker has got its connection, and may get another. */
  taken(worker: ChildProcess): void
  /** Gives no more connections to a worker. Resolves when none is under way to it. */
  remove(worker: ChildProcess): Promise<void>
  /** Stops listening. Resolves when all accepted connections are handed over, or no worker is left. */
  close(): Promise<void>
}

/** A connection that is under way to a worker. */
interface Way {
  readonly socket: Socket
  readonly arrived: () => void
  /** Whether the worker gets no other connection afterwards. */
  isLeaving: boolean
  readonly done: Promise<void>
}

/** Makes a listener, which does not listen yet. */
export function handover(): Handover {
  const waiting: Socket[] = []
  const free: ChildProcess[] = []
  /** The workers to which a connection is under way, and what follows its arrival. */
  const busy = new Map<ChildProcess, Way>()
  let allHandedOver = () => {}

  const next = () => {
    while (waiting.length > 0 && free.length > 0) hand(waiting.shift()!, free.shift()!)
    if (waiting.length === 0) allHandedOver()
  }

  const hand = (socket: Socket, worker: ChildProcess) => {
    if (!worker.connected) {
      waiting.unshift(socket)
      return
    }
    const { promise: done, resolve: arrived } = Promise.withResolvers<void>()
    busy.set(worker, { socket, arrived, isLeaving: false, done })
    // Without an answer from the worker, its end follows. Node.js would never close a connection that was on its way to
    // a worker that was killed, so it stays open here until it has arrived.
    worker.send('connection', socket, { keepOpen: true }, () => {})
  }

  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // The client may go while the connection waits.
    socket.on('error', () => {})
    waiting.push(socket)
    next()
  })

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ host, port, backlog: 1024 }, () => {
          server.off('error', reject)
          // A process has a limit of open files: connections wait for it to be met again.
          server.on('error', () => {})
          resolve((server.address() as AddressInfo).port)
        })
      }),
    add(worker) {
      free.push(worker)
      next()
    },
    taken(worker) {
      const way = busy.get(worker)
      if (way === undefined) return
      busy.delete(worker)
      way.socket.destroy()
      way.arrived()
      if (!way.isLeaving) free.push(worker)
      next()
    },
    async remove(worker) {
      const index = free.indexOf(worker)
      if (index >= 0) free.splice(index, 1)
      const way = busy.get(worker)
      if (way !== undefined) {
        way.isLeaving = true
        if (!worker.connected) this.taken(worker)
        await way.done
      }
      if (free.length + busy.size === 0) allHandedOver()
    },
    async close() {
      // Closing the listener would reset connections that are not accepted yet.
      await new Promise(setImmediate)
      server.close()
      const emptied = new Promise<void>((resolve) => {
        allHandedOver = resolve
      })
      next()
      if (free.length + busy.size > 0) await emptied
      for (const socket of waiting.splice(0)) socket.destroy()
    },
  }
}
