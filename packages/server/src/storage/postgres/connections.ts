/**
 * Connections to PostgreSQL: a pool for each purpose, with its number of connections and its limits of time, and a
 * watch that detects stalled connections.
 */
import { once } from 'node:events'
import pg from 'pg'
import { StorageFault } from '../storage.ts'
import { Client } from './client.ts'
import { control } from './control.ts'
import { isOfServer, isUnusable } from './errors.ts'
import { type Hosts, hostsOf } from './hosts.ts'
import { type ConnectionOptions, limitsOf, settingsOf } from './settings.ts'

/** A client of a pool, while it is acquired. */
type PooledClient = Client & { release(isLost?: boolean): void }

/** A connection that several users share at the moment. */
interface Shared {
  readonly client: Promise<PooledClient>
  users: number
}

/** Whether the server of a connection answers another one, and is still what the address asks for. */
export async function isAnswering(options: ConnectionOptions, { server }: Client): Promise<boolean> {
  const client = new Client({ ...settingsOf(options), server })
  try {
    await client.connect()
    return true
  } catch (error) {
    return !isOfServer(error)
  } finally {
    void client.end().catch(() => {})
  }
}

/** How many more users the connection of a schema may have than another one, before that is used. */
const mostBefore = 32

/** Connections for one purpose. They are opened when they are needed. */
export class Pool {
  readonly #pool: pg.Pool
  readonly #watch: StallWatch
  readonly #max: number
  readonly #hosts: Hosts
  /** How many connections are open. */
  #open = 0
  /** The connections that have users, each in a place. */
  readonly #shared: (Shared | undefined)[] = []

  constructor(options: ConnectionOptions, watch: StallWatch, max: number) {
    this.#watch = watch
    this.#max = max
    this.#hosts = hostsOf(options.url)
    this.#pool = new pg.Pool({
      ...{ ...settingsOf(options), max, idleTimeoutMillis: 60_000 },
      // The type lists no arguments, but the class is called with those of every client.
      Client: Client as new () => Client,
    } as pg.PoolConfig)
    const { statement, grace } = limitsOf(options)
    // An idle connection that ends is replaced when one is needed.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => {
      ;(client as unknown as Client).generation = watch.generation
      this.#open++
    })
    this.#pool.on('remove', () => this.#open--)
    this.#pool.on('acquire', (client) => watch.begin(client as unknown as Client, statement + grace))
    this.#pool.on('release', (_error, client) => watch.end(client as unknown as Client))
  }

  /**
   * Does work on a connection of its own. If it fails, its transaction is rolled back.
   *
   * @throws StorageFault `busy` if no connection comes free in time
   */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#acquire()
    try {
      return await work(client)
    } catch (error) {
      if (isUnusable(error)) client.discard()
      else await client.prepareAndRun(control.rollback).catch(() => client.discard())
      throw error
    } finally {
      client.release(client.isDiscarded || client.isWorn)
    }
  }

  /**
   * Does work on a connection that others use meanwhile: each statement is a transaction by itself.
   *
   * @param schema work in it gets the same connection again, which has its statements prepared, unless others are idle
   */
  async share<T>(work: (client: Client) => Promise<T>, schema?: string): Promise<T> {
    const shared = this.#placed(schema === undefined ? undefined : this.#placeOf(schema))
    shared.users++
    try {
      const client = await shared.client
      const result = await work(client)
      if (client.isWorn) this.#displace(shared)
      return result
    } catch (error) {
      // Others that come now must not get it.
      if (isUnusable(error)) this.#displace(shared)
      throw error
    } finally {
      if (--shared.users === 0) this.#unshare(shared)
    }
  }

  /** Closes the connections that are shared at the moment, so that the next users get others. */
  discardShared(): void {
    for (const shared of this.#shared) void shared?.client.then((each) => each.discard()).catch(() => {})
    this.#shared.length = 0
  }

  /** Waits for all work, then closes all connections. */
  async close(): Promise<void> {
    await this.#pool.end()
    // The pool itself does not wait until they are closed.
    while (this.#open > 0) await once(this.#pool, 'remove')
  }

  /** The connection in a place; left out: one that is free, or that with the fewest users. */
  #placed(place = this.#leastUsed()): Shared {
    const found = this.#shared[place]
    if (found !== undefined) return found
    const shared = { client: this.#acquire(), users: 0 }
    this.#shared[place] = shared
    shared.client.catch(() => this.#displace(shared))
    return shared
  }

  #usersOf(place: number): number {
    return this.#shared[place]?.users ?? 0
  }

  #leastUsed(): number {
    let least = 0
    for (let place = 1; place < this.#max; place++) if (this.#usersOf(place) < this.#usersOf(least)) least = place
    return least
  }

  /** The place of a schema, or another one if that has far more users. */
  #placeOf(schema: string): number {
    const home = Number.parseInt(schema.slice(-4), 16) % this.#max
    const least = this.#leastUsed()
    return this.#usersOf(home) - this.#usersOf(least) > mostBefore ? least : home
  }

  #displace(shared: Shared): boolean {
    const place = this.#shared.indexOf(shared)
    if (place === -1) return false
    this.#shared[place] = undefined
    return true
  }

  #unshare(shared: Shared): void {
    const isLost = !this.#displace(shared)
    void shared.client.then((client) => client.release(isLost || client.isDiscarded || client.isWorn)).catch(() => {})
  }

  async #acquire(): Promise<PooledClient> {
    while (true) {
      const client = await this.#connect()
      if (client.generation === this.#watch.generation && !client.isUnfit) return client
      client.discard()
      client.release(true)
    }
  }

  async #connect(): Promise<PooledClient> {
    try {
      return (await this.#hosts.connected(() => this.#pool.connect())) as unknown as PooledClient
    } catch (error) {
      const isWaiting = /timeout exceeded when trying to connect/.test(String(error))
      if (!isWaiting) throw error
      throw new StorageFault('busy', 'All connections to PostgreSQL are in use.', error)
    }
  }
}

interface Busy {
  /** Bytes that had been received at the last check. */
  received: number
  stalledSince: number | undefined
  /** For how long it may receive nothing, in milliseconds. */
  limit: number
}

/** After so long without an answer the server may be gone, in milliseconds. */
const suspicion = 2_000

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

  readonly #isThere: ((client: Client) => Promise<boolean>) | undefined
  /** The servers that are asked at the moment. */
  readonly #asked = new Set<number>()

  /**
   * @param shortest the shortest limit of a connection, in milliseconds
   * @param isThere whether the server of a connection answers others: asked about connections that have received
   *   nothing for a while, where another server may take over; left out: they have their whole time
   */
  constructor(shortest: number, isThere?: (client: Client) => Promise<boolean>) {
    this.#interval = Math.min(1_000, shortest / 4)
    this.#isThere = isThere
  }

  /**
   * A connection is used from now on.
   *
   * @param limit for how long the connection may receive nothing, in milliseconds
   */
  begin(client: Client, limit: number): void {
    this.#busy.set(client, { received: 0, stalledSince: undefined, limit })
    this.#timer ??= setInterval(() => this.#look(), this.#interval).unref()
  }

  /** Sets another limit for the current use of a connection. */
  allow(client: Client, limit: number): void {
    const busy = this.#busy.get(client)
    if (busy !== undefined) busy.limit = limit
  }

  /** A connection is not used any more. */
  end(client: Client): void {
    this.#busy.delete(client)
  }

  #look(): void {
    const now = performance.now()
    for (const [client, busy] of this.#busy) {
      const received = client.bytesReceived
      if (busy.stalledSince === undefined || received !== busy.received) {
        busy.received = received
        busy.stalledSince = now
      } else if (now - busy.stalledSince > busy.limit) this.#discard(client, busy.limit)
      else if (now - busy.stalledSince > suspicion) void this.#ask(client)
    }
    if (this.#busy.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Discards the connections to a server that have received nothing for a while, if it answers no others. */
  async #ask(suspect: Client): Promise<void> {
    const { server } = suspect
    if (this.#isThere === undefined || this.#asked.has(server)) return
    this.#asked.add(server)
    const isThere = await this.#isThere(suspect)
    this.#asked.delete(server)
    if (isThere) return
    const now = performance.now()
    for (const [client, { stalledSince = now, received }] of this.#busy) {
      const isStalled = now - stalledSince > suspicion && client.bytesReceived === received
      if (isStalled && client.server === server) this.#discard(client, suspicion)
    }
  }

  #discard(client: Client, limit: number): void {
    this.#busy.delete(client)
    this.generation++
    client.discard(`PostgreSQL has not answered for ${Math.round(limit / 1_000)} seconds.`)
  }
}
