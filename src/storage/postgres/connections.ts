/** Connections to PostgreSQL: a pool for transactions, and a few that carry many reads at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StorageFault } from '../storage.ts'
import { Client } from './client.ts'
import { type Limits, usualLimits } from './limits.ts'
import type { SilenceWatch } from './silence.ts'
import { rowTypes } from './types.ts'

/** How a PostgreSQL database is reached. */
export interface ConnectionOptions {
  /** `postgres://…`; what it leaves out, the environment says (`PGHOST`, `PGUSER`, `PGPASSWORD`, …). */
  readonly url: string
  /** The option by which it is named, for those who read what is wrong with it; `--database` where left out. */
  readonly option?: string | undefined
  /** The most connections for transactions. */
  readonly poolSize?: number | undefined
  /** `off` where a pooler hands connections from one transaction to another: no named statements, no settings of a session. */
  readonly session?: 'on' | 'off' | undefined
  /** How long anything may take. */
  readonly limits?: Partial<Limits> | undefined
}

/** How long anything may take on connections made so. */
export function limitsOf({ limits }: ConnectionOptions): Limits {
  return { ...usualLimits, ...limits }
}

/** Settings of a connection, however it is used. */
export function settingsOf(options: ConnectionOptions): pg.ClientConfig {
  const { url, given } = addressOf(options.url)
  const { connect, statement, lock, idle } = limitsOf(options)
  const limits = { statement_timeout: statement, lock_timeout: lock, idle_in_transaction_session_timeout: idle }
  return {
    connectionString: url,
    application_name: 'resourced',
    connectionTimeoutMillis: connect,
    keepAlive: true,
    // The system's own is two hours.
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    types: rowTypes,
    // Compiling a statement takes longer than any of ours. Poolers refuse what they do not know.
    ...(options.session === 'off' ? { options: given } : { ...limits, options: `${given} -c jit=off`.trim() }),
  } as pg.ClientConfig
}

/** An address as `pg` is to see it, and the settings of the session that it names. */
function addressOf(text: string): { readonly url: string; readonly given: string } {
  const url = new URL(text)
  const given = url.searchParams.get('options') ?? process.env.PGOPTIONS ?? ''
  url.searchParams.delete('options')
  // What pg takes for the same it warns of, in words about its own future.
  const mode = url.searchParams.get('sslmode')
  if (mode === 'prefer' || mode === 'require' || mode === 'verify-ca') url.searchParams.set('sslmode', 'verify-full')
  return { url: url.href, given }
}

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
