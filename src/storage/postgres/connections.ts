/**
 * Connections to PostgreSQL: a pool for transactions, a few that carry many reads at once, and a watch over those that
 * fall silent.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StorageFault } from '../storage.ts'
import { Client } from './client.ts'
import { type ConnectionOptions, settingsOf } from './settings.ts'

/** A client of a pool, while somebody has it. */
export type PooledClient = Client & { release(isLost?: boolean): void }

/** Makes the pool of transactions. Connections are made when they are needed. */
export function makePool(options: ConnectionOptions, watch: SilenceWatch): pg.Pool {
  const { poolSize: max = 10 } = options
  const pool = new pg.Pool({
    ...{ ...settingsOf(options), max, idleTimeoutMillis: 60_000 },
    // Its type has no arguments, but it gets those of every client.
    Client: Client as new () => Client,
  } as pg.PoolConfig)
  // A connection that ends while nobody uses it is replaced by the next who needs one.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    ;(client as unknown as Client).generation = watch.generation
  })
  pool.on('acquire', (client) => watch.begin(client as unknown as Client))
  pool.on('release', (_error, client) => watch.end(client as unknown as Client))
  return pool
}

/** Takes a connection of a pool; `busy` where none comes free in time, and there are some. */
export async function take(pool: pg.Pool, watch: SilenceWatch): Promise<PooledClient> {
  while (true) {
    const client = await connectIn(pool)
    if (client.generation === watch.generation) return client
    giveUp(client)
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

/** Gives a connection of a pool back that is of no use any more. */
export function giveUp(client: PooledClient): void {
  client.discard()
  client.release(true)
}

/** A connection that carries the statements of many at once, each a transaction of its own; made anew where it ends. */
export class SharedConnection {
  readonly #options: ConnectionOptions
  readonly #watch: SilenceWatch
  #client: Promise<Client> | undefined
  #closed = false
  /** How many statements are on their way. */
  pending = 0

  constructor(options: ConnectionOptions, watch: SilenceWatch) {
    this.#options = options
    this.#watch = watch
  }

  /** Has something done on the connection. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    this.pending++
    try {
      let client = await this.#present()
      // Another of its age has fallen silent, and nobody else waits on this one.
      if (client.generation !== this.#watch.generation && this.pending === 1) {
        await this.discard()
        client = await this.#present()
      }
      this.#watch.begin(client)
      try {
        return await work(client)
      } finally {
        this.#watch.end(client)
      }
    } finally {
      this.pending--
    }
  }

  /** Throws the connection away; the next who needs it gets another. */
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
    // Another may have taken its place.
    const gone = () => {
      if (this.#client === connecting) this.#client = undefined
    }
    client.on('error', gone)
    client.on('end', gone)
    connecting.catch(gone)
    return connecting
  }
}

interface Busy {
  /** How many wait for something on the connection. */
  count: number
  /** Bytes that had come when it was looked at last; since when there were no more. */
  heard: number
  silentSince: number | undefined
  /** For how long it may be silent, in milliseconds. */
  limit: number
}

/** Looks at the connections of one database. It costs nothing where nobody waits, and little where somebody does. */
export class SilenceWatch {
  readonly #limit: number
  readonly #interval: number
  readonly #busy = new Map<Client, Busy>()
  #timer: NodeJS.Timeout | undefined
  /**
   * Grows with each connection that fell silent. Those made before it are to be trusted no more: they went the same
   * way.
   */
  generation = 0

  /** @param limit for how long a connection may be silent, in milliseconds */
  constructor(limit: number) {
    this.#limit = limit
    this.#interval = Math.min(1_000, limit / 4)
  }

  /** Something is sent on a connection from here on. */
  begin(client: Client): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) {
      busy.count++
      return
    }
    this.#busy.set(client, { count: 1, heard: 0, silentSince: undefined, limit: this.#limit })
    this.#timer ??= setInterval(() => this.#look(), this.#interval).unref()
  }

  /** What is sent from here on may take longer, until it has ended. */
  allow(client: Client, limit: number): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) busy.limit = limit
  }

  /** All of it was answered. */
  end(client: Client): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined && --busy.count === 0) this.#busy.delete(client)
  }

  #look(): void {
    const now = performance.now()
    for (const [client, busy] of this.#busy) {
      const heard = client.bytesHeard
      if (busy.silentSince === undefined || heard !== busy.heard) {
        busy.heard = heard
        busy.silentSince = now
      } else if (now - busy.silentSince > busy.limit) {
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
