/**
 * Connections to PostgreSQL: a pool for transactions, a few that carry many reads at once, and a watch that detects
 * stalled connections.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StorageFault } from '../storage.ts'
import { Client } from './client.ts'
import { type ConnectionOptions, limitsOf, settingsOf } from './settings.ts'

/** A client of a pool, while it is acquired. */
export type PooledClient = Client & { release(isLost?: boolean): void }

/** Creates a pool of at most so many connections. They are opened when they are needed. */
export function makePool(options: ConnectionOptions, watch: StallWatch, max: number): pg.Pool {
  const limit = patienceOf(options)
  const pool = new pg.Pool({
    ...{ ...settingsOf(options), max, idleTimeoutMillis: 60_000 },
    // The type lists no arguments, but the class is called with those of every client.
    Client: Client as new () => Client,
  } as pg.PoolConfig)
  // An idle connection that ends is replaced when one is needed.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    ;(client as unknown as Client).generation = watch.generation
  })
  pool.on('acquire', (client) => watch.begin(client as unknown as Client, limit))
  pool.on('release', (_error, client) => watch.end(client as unknown as Client))
  return pool
}

/** Acquires a connection of a pool. @throws StorageFault `busy` where none comes free in time */
export async function acquire(pool: pg.Pool, watch: StallWatch): Promise<PooledClient> {
  while (true) {
    const client = await connectIn(pool)
    if (client.generation === watch.generation) return client
    destroy(client)
  }
}

async function connectIn(pool: pg.Pool): Promise<PooledClient> {
  try {
    return (await pool.connect()) as unknown as PooledClient
  } catch (error) {
    const isWaiting = /timeout exceeded when trying to connect/.test(String(error))
    if (!isWaiting) throw error
    throw new StorageFault('busy', 'All connections to PostgreSQL are in use.', error)
  }
}

/** Closes an acquired connection that cannot be used any more, and takes it out of the pool. */
export function destroy(client: PooledClient): void {
  client.discard()
  client.release(true)
}

/**
 * A connection that carries statements of many requests, each a transaction of its own. It is opened anew after it
 * ends.
 */
export class SharedConnection {
  readonly #options: ConnectionOptions
  readonly #watch: StallWatch
  #client: Promise<Client> | undefined
  #closed = false
  /** How many statements wait for their answer. */
  pending = 0

  constructor(options: ConnectionOptions, watch: StallWatch) {
    this.#options = options
    this.#watch = watch
  }

  /** Runs work on the connection. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    this.pending++
    try {
      let client = await this.#present()
      // Another connection of its generation has stalled, and no other work waits on this one.
      if (client.generation !== this.#watch.generation && this.pending === 1) {
        await this.discard()
        client = await this.#present()
      }
      this.#watch.begin(client, patienceOf(this.#options))
      try {
        return await work(client)
      } finally {
        this.#watch.end(client)
      }
    } finally {
      this.pending--
    }
  }

  /** Discards the connection; the next use opens another. */
  async discard(): Promise<void> {
    const present = this.#client
    this.#client = undefined
    const client = await present?.catch(() => undefined)
    client?.discard()
  }

  async close(): Promise<void> {
    this.#closed = true
    while (this.pending > 0) await sleep(10)
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  #present(): Promise<Client> {
    this.#client ??= this.#connect()
    return this.#client
  }

  #connect(): Promise<Client> {
    if (this.#closed) throw new StorageFault('failed', 'The database is closed.')
    const client = new Client(settingsOf(this.#options))
    client.generation = this.#watch.generation
    const connecting = client.connect().then(() => client)
    // Another connection may have replaced it.
    const gone = () => {
      if (this.#client === connecting) this.#client = undefined
    }
    client.on('error', gone)
    client.on('end', gone)
    connecting.catch(gone)
    return connecting
  }
}

/** For how long a connection may receive nothing while a statement runs, in milliseconds. */
function patienceOf(options: ConnectionOptions): number {
  const { statement, grace } = limitsOf(options)
  return statement + grace
}

interface Busy {
  /** How many uses of the connection wait for an answer. */
  count: number
  /** Bytes that had been received at the last check. */
  received: number
  stalledSince: number | undefined
  /** For how long it may receive nothing, in milliseconds. */
  limit: number
}

/**
 * Detects stalled connections: an answer is awaited, and nothing arrives. A network that drops packets reports no
 * error, and PostgreSQL's own limits do not reach the client through it. The watch runs only while answers are awaited.
 */
export class StallWatch {
  readonly #interval: number
  readonly #busy = new Map<Client, Busy>()
  #timer: NodeJS.Timeout | undefined
  /**
   * Grows with each stalled connection. Connections of an earlier generation took the same network path, so they are
   * replaced.
   */
  generation = 0

  /** @param shortest the shortest limit of a connection, in milliseconds */
  constructor(shortest: number) {
    this.#interval = Math.min(1_000, shortest / 4)
  }

  /**
   * A use of a connection begins.
   *
   * @param limit for how long the connection may receive nothing, in milliseconds
   */
  begin(client: Client, limit: number): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) {
      busy.count++
      return
    }
    this.#busy.set(client, { count: 1, received: 0, stalledSince: undefined, limit })
    this.#timer ??= setInterval(() => this.#look(), this.#interval).unref()
  }

  /** Sets another limit for the current use of a connection. */
  allow(client: Client, limit: number): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) busy.limit = limit
  }

  /** A use of a connection has ended. */
  end(client: Client): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined && --busy.count === 0) this.#busy.delete(client)
  }

  #look(): void {
    const now = performance.now()
    for (const [client, busy] of this.#busy) {
      const received = client.bytesReceived
      if (busy.stalledSince === undefined || received !== busy.received) {
        busy.received = received
        busy.stalledSince = now
      } else if (now - busy.stalledSince > busy.limit) {
        this.#busy.delete(client)
        this.generation++
        client.discard(`PostgreSQL has not answered for ${Math.round(busy.limit / 1_000)} seconds.`)
      }
    }
    if (this.#busy.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
