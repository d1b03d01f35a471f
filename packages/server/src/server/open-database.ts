/** Opens the database that an address names. Only here and in database-address.ts are engines named. */
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Catalog } from 'resourced-contract/model/resource'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { withoutCredentials } from 'resourced-contract/model/text'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import type {
  Administration,
  BackupOptions,
  CopyResult,
  Host,
  OpenKeys,
  OpenMaintenance,
  OpenOptions,
} from '../storage/administration/administration.ts'
import { sqliteHost } from '../storage/sqlite/administration.ts'
import { tenantFileOf } from '../storage/sqlite/file.ts'
import type { Storage } from '../storage/storage.ts'
import { type EngineName, engineOf, isElsewhere, isInMemory } from './database-address.ts'

/** The address of a database, and settings for PostgreSQL. */
export interface DatabaseOptions {
  /** `sqlite:FILE`, `sqlite::memory:` or `postgres://…`. */
  readonly database: string
  /** The command-line option of the address, for error messages; `--database` by default. */
  readonly option?: '--from' | '--to' | 'the address' | undefined
  /** The address of a replica, which serves reads when it is up to date. */
  readonly databaseReplica?: string | undefined
  /** The most connections of one server for transactions; 10 by default. */
  readonly databasePool?: number | undefined
  /** `transaction`: a pooler, such as PgBouncer, assigns a connection to each transaction. */
  readonly databasePooler?: 'none' | 'transaction' | undefined
  /** Allows a database that can lose acknowledged changes in a power cut. */
  readonly databaseUnsafe?: boolean | undefined
  /** The id of a tenant whose database is meant, beside that of the operators (TEN-2). */
  readonly tenant?: string | undefined
}

/** A database that an address names. */
interface Database {
  /** The file, or the address without its password, for messages. */
  readonly place: string
  /** `undefined`: it is a server, or in memory. */
  readonly file: string | undefined
  administer(): Administration | Promise<Administration>
  /** The database together with those of its tenants. */
  host(): Host | Promise<Host>
}

/** The table of engines. Another engine is another row, here and in database-address.ts. */
const engines: Readonly<Record<EngineName, (options: DatabaseOptions) => Database>> = {
  sqlite({ database, tenant }) {
    const path = /^sqlite:(?:\/\/)?(.+)$/.exec(database)?.[1] ?? ''
    if (isFolder(path)) {
      throw new ConfigurationError(`${path} is a folder. Name a file, such as sqlite:${join(path, 'data.db')}.`)
    }
    const file = tenant === undefined ? path : tenantFileOf(path, tenant)
    return {
      place: file,
      file: isInMemory(database) ? undefined : resolve(file),
      administer: () => sqliteHost(path).administer(tenant),
      host: () => sqliteHost(path),
    }
  },
  postgres({ database, option, databaseReplica, databasePool, databasePooler, databaseUnsafe, tenant }) {
    if (databaseReplica !== undefined && !isElsewhere(databaseReplica)) {
      throw new UsageError('The address of the replica is not understood. Use postgres://USER@HOST:5432/DATABASE.')
    }
    const session = databasePooler === 'transaction' ? 'off' : 'on'
    const options = {
      ...{ url: database, option, replica: databaseReplica, poolSize: databasePool },
      ...({ session, unsafe: databaseUnsafe } as const),
    }
    return {
      place: withoutCredentials(database),
      file: undefined,
      async administer() {
        const { postgresAdministration } = await import('../storage/postgres/administration.ts')
        return postgresAdministration(options, tenant)
      },
      async host() {
        const { postgresHost } = await import('../storage/postgres/administration.ts')
        return postgresHost(options)
      },
    }
  },
}

function databaseAt(options: DatabaseOptions): Database {
  const engine = engineOf(options.database)
  if (engine !== undefined) return engines[engine](options)
  // The address itself may hold a password.
  throw new UsageError(
    'The database address is not understood. ' +
      'Use sqlite:FILE, such as sqlite:.resourced/data.db, or postgres://USER@HOST:5432/DATABASE.',
  )
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // The file cannot be reached, which opening it reports.
    return false
  }
}

/**
 * The administration of the database that an address names.
 *
 * @throws ConfigurationError if the address is not understood
 */
export async function administer(database: DatabaseOptions): Promise<Administration> {
  return databaseAt(database).administer()
}

/**
 * The database that an address names, together with those of its tenants; synchronously if they are files.
 *
 * @throws ConfigurationError if the address is not understood
 */
export function openHost(database: DatabaseOptions): Host | Promise<Host> {
  return databaseAt(database).host()
}

/** What the database at an address holds of an interface: with tenants, all but theirs (TEN-2). */
export function catalogAt({ tenant }: DatabaseOptions, catalog: Catalog): Catalog {
  return tenant === undefined ? (operatorsOf(catalog) ?? catalog) : catalog
}

/**
 * Opens a database with the records of a catalog; synchronously if it is a file.
 *
 * @throws ConfigurationError if the address is not understood, or names the database of operators
 * @throws MigrationRefused if the database does not fit the catalog, and may not be changed
 */
export function openStorage(
  database: DatabaseOptions,
  catalog: Catalog,
  options: OpenOptions = {},
): Storage | Promise<Storage> {
  if (catalogAt(database, catalog) !== catalog) {
    throw new ConfigurationError('The declaration has tenants, and the database of which tenant is meant is not said.')
  }
  const administration = databaseAt(database).administer()
  if (administration instanceof Promise) return administration.then(({ open }) => open(catalog, options))
  return administration.open(catalog, options)
}

/** Opens only the API keys of a database, which needs no declaration. */
export async function openKeys(database: DatabaseOptions): Promise<OpenKeys> {
  return (await administer(database)).openKeys()
}

/**
 * Opens only the maintenance switch and the purge clock of a database.
 *
 * @throws ConfigurationError if no server has ever used the database: a switch in a new one would have no effect
 */
export async function openMaintenance(database: DatabaseOptions): Promise<OpenMaintenance> {
  const opened = await (await administer(database)).openMaintenance()
  if (opened === undefined) throw noDatabase(database)
  return opened
}

/** The error for a database that no server has ever used. */
export function noDatabase(database: DatabaseOptions): ConfigurationError {
  const found = `There is no database of Resourced at ${placeOf(database)}`
  return new ConfigurationError(`${found}: name the one that the servers use with --database.`)
}

/** The file, or the address without its password, for messages. */
export function placeOf(database: DatabaseOptions): string {
  return databaseAt(database).place
}

/** The file of a database; `undefined`: it is a server, or in memory. */
export function databaseFile(database: DatabaseOptions): string | undefined {
  return databaseAt(database).file
}

/**
 * Checks that this program has made the tables of a database, before anything is written to it.
 *
 * @throws ConfigurationError where no server has ever used it, StorageFault where its tables are others
 */
export async function checkMoveSource(database: DatabaseOptions): Promise<void> {
  const { hasTables, openSource } = await administer(database)
  if (!(await hasTables())) throw noDatabase(database)
  const source = await openSource()
  try {
    await source.begin()
    await source.schema()
  } finally {
    await source.close()
  }
}

/**
 * Writes a backup of a database to a file that does not exist.
 *
 * @throws StorageFault or the engine's error: there is no file then
 */
export async function backUpDatabase(
  database: DatabaseOptions,
  file: string,
  options: BackupOptions,
): Promise<CopyResult> {
  const { hasTables, backUp, openSource } = await administer(database)
  if (!(await hasTables())) throw noDatabase(database)
  if (backUp !== undefined) return backUp(file, options)
  // The file of a backup is a SQLite file, whichever the engine.
  const { backUpRows } = await import('../storage/sqlite/backup.ts')
  const source = await openSource()
  try {
    return await backUpRows(source, file, options)
  } finally {
    await source.close()
  }
}

/**
 * Checks what can be checked of a backup without reading it whole.
 *
 * @throws StorageFault if the file is not a backup, or its end is missing
 */
export async function checkBackup(file: string, options: BackupOptions): Promise<void> {
  const { openBackup } = await import('../storage/sqlite/backup.ts')
  await openBackup(file, options)
}

/**
 * Restores a backup into an empty database. If that fails or the process is killed, the database stays empty.
 *
 * @throws StorageFault if the file is not a complete backup, or the database is not empty
 */
export async function restoreDatabase(
  file: string,
  database: DatabaseOptions,
  options: BackupOptions,
): Promise<CopyResult> {
  const { openBackup, restoreRows } = await import('../storage/sqlite/backup.ts')
  const backup = await openBackup(file, options)
  const { fill, restore } = await administer(database)
  return restore?.(backup, file, options) ?? restoreRows(backup, fill, options)
}
