/** The command line options for the address of the database and its connections. */
import { Option } from 'commander'
import type { DatabaseOptions } from '../server/open-database.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'

/** The default of `--database`. */
export const defaultDatabase = 'sqlite:.resourced/data.db'

/** The options as commander gives them. */
export interface GivenDatabase {
  readonly database: string
  readonly databaseReplica?: string
  readonly databasePool?: string
  readonly databasePooler?: 'none' | 'transaction'
  readonly databaseUnsafe?: boolean
}

export const address = () =>
  new Option('--database <address>', 'Database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST:5432/NAME')
    .env('DATABASE_URL')
    .default(defaultDatabase)
export const pooler = () =>
  new Option('--database-pooler <mode>', 'Pooler in front of PostgreSQL: transaction for PgBouncer in transaction mode')
    .choices(['none', 'transaction'])
    .env('DATABASE_POOLER')
    .default('none')
export const replica = () =>
  new Option('--database-replica <address>', 'PostgreSQL replica for reads, used while it is up to date').env(
    'DATABASE_REPLICA_URL',
  )
export const pool = () =>
  new Option('--database-pool <number>', 'Maximum number of PostgreSQL connections for transactions')
    .env('DATABASE_POOL')
    .default('10')
export const unsafe = () =>
  new Option(
    '--database-unsafe',
    'Accept a PostgreSQL that may lose acknowledged changes in a power cut (env: DATABASE_UNSAFE=true)',
  )

/**
 * Reads the options.
 *
 * @throws ConfigurationError if the number of connections is not a number
 */
export function databaseOf(given: GivenDatabase): DatabaseOptions & { readonly databasePool: number | undefined } {
  const { database, databaseReplica, databasePool, databasePooler } = given
  // DATABASE_UNSAFE=false means false, unlike commander's own environment variables of flags.
  const databaseUnsafe = given.databaseUnsafe ?? process.env.DATABASE_UNSAFE === 'true'
  return {
    ...{ database, databaseReplica, databasePooler, databaseUnsafe },
    databasePool: databasePool === undefined ? undefined : connectionsOf(databasePool),
  }
}

function connectionsOf(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (number > 0) return number
  throw new ConfigurationError(`--database-pool takes a number from 1 to 9999, not ${JSON.stringify(text)}.`)
}
