/** How a PostgreSQL database is reached, time limits and settings of its connections, and the types of its values. */
import pg from 'pg'
import { type Hosts, hostsOf } from './hosts.ts'

/** Time limits in milliseconds: no failure makes a caller wait forever. */
export interface Limits {
  /** Until a connection is open, or one of the pool is free. */
  readonly connect: number
  /** Until the database answers a health check. */
  readonly ping: number
  readonly statement: number
  /** For all statements of a read together, without the time in queues (LIM-7). */
  readonly read: number
  /** For a statement of a background job. */
  readonly long: number
  readonly lock: number
  /** For a transaction that is idle. */
  readonly idle: number
  /** Added to the limit of a statement while its answer is awaited. After that the network or the server has failed. */
  readonly grace: number
}

/** The default limits. */
export const usualLimits: Limits = {
  connect: 5_000,
  ping: 2_000,
  statement: 30_000,
  read: 10_000,
  long: 600_000,
  lock: 10_000,
  idle: 30_000,
  grace: 5_000,
}

/** How a PostgreSQL database is reached. */
export interface ConnectionOptions {
  /**
   * `postgres://…`, with one host or several; the environment supplies omitted parts (`PGHOST`, `PGUSER`,
   * `PGPASSWORD`, …).
   */
  readonly url: string
  /** The command line option that gives the address, for error messages; `--database` where left out. */
  readonly option?: string | undefined
  /** The most connections for transactions. */
  readonly poolSize?: number | undefined
  /** `off` behind a pooler in transaction mode: no named statements, no settings of a session. */
  readonly session?: 'on' | 'off' | undefined
  /** Time limits that differ from the defaults. */
  readonly limits?: Partial<Limits> | undefined
  /** The only schema of transactions; left out: those of the connection. */
  readonly schema?: string | undefined
}

/** The time limits of connections with these options. */
export function limitsOf({ limits }: ConnectionOptions): Limits {
  return { ...usualLimits, ...limits }
}

/** The number of connections for transactions, unless options say another. */
const usualPoolSize = 10

/** How many connections a server opens at most, by what they are for. */
export function connectionsOf({ poolSize = usualPoolSize }: Pick<ConnectionOptions, 'poolSize'>): {
  readonly transactions: number
  /** For changes of one statement. */
  readonly changes: number
  /** For reads that may be slow: at least two, so that one caller cannot use all. */
  readonly slowReads: number
} {
  return { transactions: poolSize, changes: Math.ceil(poolSize / 2), slowReads: Math.max(2, Math.ceil(poolSize / 2)) }
}

/** The settings of a connection. */
export type ClientConfig = pg.ClientConfig & {
  readonly keepsSession?: boolean
  /** The servers that it may go to: it goes to one of them in place of that of `connectionString`. */
  readonly hosts?: Hosts
  /** The one of them that it goes to; left out: `hosts` choose. */
  readonly server?: number
}

/** The settings of every connection. */
export function settingsOf(options: ConnectionOptions): ClientConfig {
  const hosts = hostsOf(options.url)
  const { url, given } = addressOf(hosts.servers[0] as string)
  const { connect, statement, lock, idle } = limitsOf(options)
  const limits = { statement_timeout: statement, lock_timeout: lock, idle_in_transaction_session_timeout: idle }
  return {
    connectionString: url,
    hosts,
    application_name: 'resourced',
    connectionTimeoutMillis: hosts.connectTimeout ?? connect,
    keepAlive: true,
    // The default of the system is two hours.
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    types: rowTypes,
    keepsSession: options.session !== 'off',
    // JIT compilation takes longer than these statements run. Poolers refuse settings that they do not know.
    ...(options.session === 'off' ? { options: given } : { ...limits, options: `${given} -c jit=off`.trim() }),
  } as ClientConfig
}

/** The address of a server for `pg`, and the settings of the session that the address contains. */
export function addressOf(text: string): { readonly url: string; readonly given: string } {
  const url = new URL(text)
  const given = url.searchParams.get('options') ?? process.env.PGOPTIONS ?? ''
  url.searchParams.delete('options')
  // pg treats these modes as verify-full, and prints a deprecation warning.
  const mode = url.searchParams.get('sslmode')
  if (mode === 'prefer' || mode === 'require' || mode === 'verify-ca') url.searchParams.set('sslmode', 'verify-full')
  return { url: url.href, given }
}

const number = (text: string) => Number(text)

// By the numbers that PostgreSQL's own catalog has for its types. Integers of ours are all within 2^53.
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)], // boolean
  [17, (text) => pg.types.getTypeParser(17, 'text')(text)], // bytea
  [20, number], // bigint
  [21, number], // smallint
  [23, number], // integer
  [26, number], // oid
  [700, number], // real
  [701, number], // double precision
  [1700, number], // numeric: what a sum of bigint is
])

const asText = (text: string) => text

/** For `types` of a `pg` client, pool or query. Values of other types, such as JSON and timestamps, stay texts. */
export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: ((type: number) => parsers.get(type) ?? asText) as pg.CustomTypesConfig['getTypeParser'],
}
