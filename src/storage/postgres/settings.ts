/** How a PostgreSQL database is reached, how long anything may take on it, and the settings of its connections. */
import type pg from 'pg'
import { rowTypes } from './client.ts'

/** Time limits in milliseconds: no caller waits for ever, whatever fails. */
export interface Limits {
  /** Until a connection is made, or one of the pool comes free. */
  readonly connect: number
  /** Until the database answers that it is there. */
  readonly ping: number
  /** For a statement. */
  readonly statement: number
  /** For a statement of long work, of which there are many one after the other. */
  readonly long: number
  /** For a lock that somebody else has. */
  readonly lock: number
  /** In a transaction in which nothing happens. */
  readonly idle: number
  /** How much longer than a statement may take we wait for its answer: then the network is gone, or the server. */
  readonly grace: number
}

/** The limits of a server. */
export const usualLimits: Limits = {
  connect: 5_000,
  ping: 2_000,
  statement: 30_000,
  long: 600_000,
  lock: 10_000,
  idle: 30_000,
  grace: 5_000,
}

/** How a PostgreSQL database is reached. */
export interface ConnectionOptions {
  /** `postgres://…`; what it leaves out, the environment says (`PGHOST`, `PGUSER`, `PGPASSWORD`, …). */
  readonly url: string
  /** The option by which it is named, for those who read what is wrong with it; `--database` where left out. */
  readonly option?: string | undefined
  /** The most connections for transactions. */
  readonly poolSize?: number | undefined
  /**
   * `off` where a pooler hands connections from one transaction to another: no named statements, no settings of a
   * session.
   */
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
