/** Connections to PostgreSQL: a pool for transactions, and a few that carry many reads at once. */
import pg from 'pg'
import { StorageFault } from '../storage.ts'
import { rowTypes } from './types.ts'

/** How a PostgreSQL database is reached. */
export interface ConnectionOptions {
  /** `postgres://…`; what it leaves out, the environment says (`PGHOST`, `PGUSER`, `PGPASSWORD`, …). */
  readonly url: string
  /** The most connections for transactions. */
  readonly poolSize?: number
  /** `off` where a pooler hands connections from one transaction to another: no named statements, no settings of a session. */
  readonly session?: 'on' | 'off'
}

/** For how long a request waits for a connection, in milliseconds. */
const patience = 5_000

// What nobody may wait longer for, in milliseconds: a statement; a lock; a transaction in which nothing happens.
const limits = { statement_timeout: 30_000, lock_timeout: 10_000, idle_in_transaction_session_timeout: 30_000 }

/** Settings of a connection, however it is used. */
export function settingsOf({ url, session = 'on' }: ConnectionOptions): pg.ClientConfig {
  const settings = {
    connectionString: url,
    application_name: 'resourced',
    connectionTimeoutMillis: patience,
    keepAlive: true,
    pipeline: true,
    types: rowTypes,
    // Compiling a statement takes longer than any of ours.
    ...(session === 'on' && { ...limits, options: '-c jit=off' }),
  }
  return settings
}

/** Makes the pool of transactions. Connections are made when they are needed. */
export function makePool(options: ConnectionOptions): pg.Pool {
  const { poolSize: max = 10 } = options
  const pool = new pg.Pool({ ...settingsOf(options), max, idleTimeoutMillis: 60_000 })
  // A connection that ends while nobody uses it is replaced by the next who needs one.
  pool.on('error', () => {})
  return pool
}

/** A connection that carries the statements of many at once, each a transaction of its own; made anew where it ends. */
export class SharedConnection {
  readonly #options: ConnectionOptions
  #client: Promise<pg.Client> | undefined
  /** How many statements are on their way. */
  pending = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** Has something done on the connection. */
  async use<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    this.pending++
    try {
      this.#client ??= this.#connect()
      return await work(await this.#client)
    } finally {
      this.pending--
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.end()
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(settingsOf(this.#options))
    const gone = () => {
      this.#client = undefined
    }
    client.on('error', gone)
    client.on('end', gone)
    try {
      await client.connect()
      return client
    } catch (error) {
      gone()
      throw error
    }
  }
}

/** Takes the connection of a pool; `busy` where none comes free in time. */
export async function take(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    if (pool.idleCount === 0 && pool.totalCount >= pool.options.max) {
      throw new StorageFault('busy', 'All connections to PostgreSQL are in use.', error)
    }
    throw error
  }
}
