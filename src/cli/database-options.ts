/** The options of the command line that say where the database is, and how it is reached. */
import { Option } from 'commander'
import type { DatabaseOptions } from '../server/open-database.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'

/** Where the database is when nobody says. */
export const defaultDatabase = 'sqlite:.resourced/data.db'

/** The options as they are given. */
export interface GivenDatabase {
  readonly database: string
  readonly databaseReplica?: string
  readonly databasePool?: string
  readonly databasePooler?: 'none' | 'transaction'
  readonly databaseUnsafe?: boolean
}

/** Where it is. */
export const address = () =>
  new Option('--database <address>', 'the database: sqlite:FILE, sqlite::memory: or postgres://USER@HOST:5432/NAME')
    .env('DATABASE_URL')
    .default(defaultDatabase)
/** What stands before it. */
export const pooler = () =>
  new Option(
    '--database-pooler <mode>',
    'transaction: behind a pooler such as PgBouncer that gives each transaction any connection',
  )
    .choices(['none', 'transaction'])
    .env('DATABASE_POOLER')
    .default('none')
/** Where reads may go. */
export const replica = () =>
  new Option(
    '--database-replica <address>',
    'a replica of the database, which is read where it has everything that the database has',
  ).env('DATABASE_REPLICA_URL')
/** How many connections. */
export const pool = () =>
  new Option('--database-pool <number>', 'the most connections to PostgreSQL for transactions')
    .env('DATABASE_POOL')
    .default('10')
/** Whether it may lose what it has acknowledged. */
export const unsafe = () =>
  new Option(
    '--database-unsafe',
    'use a PostgreSQL that may lose acknowledged changes in a power cut (env: DATABASE_UNSAFE=true)',
  )

/**
 * What was given, read.
 *
 * @throws ConfigurationError where the number of connections is none
 */
export function databaseOf(given: GivenDatabase): DatabaseOptions & { readonly databasePool: number | undefined } {
  const { database, databaseReplica, databasePool, databasePooler } = given
  // By its value: whoever writes `false` means it.
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
