/** Opens the database that an address names. The only file that names an engine. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withoutCredentials } from 'resourced-contract/model/credentials'
import type { Catalog } from 'resourced-contract/model/resource'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import type { Migrated } from '../storage/migration/apply.ts'
import type { Examination, PostgresExamination } from '../storage/migration/examine.ts'
import type { Apply } from '../storage/migration/migration-step.ts'
import type { StoredSchema } from '../storage/migration/stored-schema.ts'
import type { MoveSource, MoveTarget } from '../storage/move/move.ts'
import {
  examineSqlite,
  hasSqliteTables,
  listSqliteKeys,
  migrateSqlite,
  openSqliteKeys,
  openSqliteMaintenance,
} from '../storage/sqlite/administration.ts'
import type { BackupOptions, CopyResult } from '../storage/sqlite/backup.ts'
import { fillSqlite, sqliteSource } from '../storage/sqlite/move.ts'
import { openSqlite } from '../storage/sqlite/storage.ts'
import type { ListedKey, OnCommit, OnReplica, Storage, WriteTurn } from '../storage/storage.ts'
import type { DatabaseDescription, TableSource } from '../storage/table-description.ts'
import { isElsewhere, isInMemory } from './database-address.ts'

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
}

/** What opening a database may change, and callbacks for commits and for the replica. */
export interface OpenOptions {
  readonly migrate?: Apply | undefined
  readonly onCommit?: OnCommit | undefined
  readonly onReplica?: OnReplica | undefined
  /** The turn to write to a SQLite file that other workers use too. */
  readonly turn?: WriteTurn | undefined
}

type Engine =
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'postgres'
      readonly options: Parameters<typeof import('../storage/postgres/storage.ts').openPostgres>[1]
    }

/**
 * Opens a database for a catalog; synchronously if it is a file.
 *
 * @throws ConfigurationError if the address is not understood
 * @throws MigrationRefused if the database does not fit the catalog, and may not be changed
 */
export function openStorage(
  database: DatabaseOptions,
  catalog: Catalog,
  { migrate = 'additive', onCommit, onReplica, turn }: OpenOptions = {},
): Storage | Promise<Storage> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return openSqlite(catalog, { path: engine.path, migrate, onCommit, turn })
  return import('../storage/postgres/storage.ts').then(({ openPostgres }) =>
    openPostgres(catalog, { ...engine.options, migrate, onCommit, onReplica }),
  )
}

/** Opens only the API keys of a database, which needs no declaration. */
export async function openKeys(database: DatabaseOptions): Promise<Pick<Storage, 'keys' | 'close'>> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return openSqliteKeys(engine.path)
  const { openPostgresKeys } = await import('../storage/postgres/administration.ts')
  return openPostgresKeys(engine.options)
}

/**
 * Lists the API keys of a database. A file need not be writable.
 *
 * @throws ConfigurationError if no server has ever used the database
 */
export async function listKeys(database: DatabaseOptions): Promise<readonly ListedKey[]> {
  const engine = engineOf(database)
  const keys = engine.kind === 'sqlite' ? await listSqliteKeys(engine.path) : await listPostgresKeys(database)
  if (keys === undefined) throw noDatabase(database)
  return keys
}

async function listPostgresKeys(database: DatabaseOptions): Promise<readonly ListedKey[] | undefined> {
  if (!(await hasTables(database))) return undefined
  const { keys, close } = await openKeys(database)
  return keys.list().finally(close)
}

/**
 * Opens only the maintenance switch and the purge clock of a database.
 *
 * @throws ConfigurationError if no server has ever used the database: a switch in a new one would have no effect
 */
export async function openMaintenance(
  database: DatabaseOptions,
): Promise<Pick<Storage, 'maintenance' | 'purgeClock' | 'close'>> {
  const engine = engineOf(database)
  const opened =
    engine.kind === 'sqlite'
      ? openSqliteMaintenance(engine.path)
      : await (await import('../storage/postgres/administration.ts')).openPostgresMaintenance(engine.options)
  if (opened !== undefined) return opened
  throw noDatabase(database)
}

/** The error for a database that no server has ever used. */
export function noDatabase(database: DatabaseOptions): ConfigurationError {
  const found = `There is no database of Resourced at ${placeOf(database)}`
  return new ConfigurationError(`${found}: name the one that the servers use with --database.`)
}

/** Whether a database has the tables of Resourced. Changes nothing. */
export async function hasTables(database: DatabaseOptions): Promise<boolean> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return hasSqliteTables(engine.path)
  return (await import('../storage/postgres/administration.ts')).hasPostgresTables(engine.options)
}

/** The file, or the address without its password, for messages. */
export function placeOf(database: DatabaseOptions): string {
  const engine = engineOf(database)
  return engine.kind === 'sqlite' ? engine.path : withoutCredentials(engine.options.url)
}

/**
 * Returns the migration that a database needs for a catalog, and makes it where `apply` allows it.
 *
 * @throws MigrationRefused where `apply` is `all` and a step is impossible
 */
export async function planOrApplyMigration(
  database: DatabaseOptions,
  catalog: Catalog,
  apply: Apply,
): Promise<Migrated> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return migrateSqlite(engine.path, catalog, apply)
  const { planOrMigratePostgres } = await import('../storage/postgres/administration.ts')
  return planOrMigratePostgres(engine.options, catalog, apply)
}

/**
 * Describes the tables of a PostgreSQL database that Resourced did not create. Changes nothing.
 *
 * @param schemas default: the first schema of the connection's search_path
 * @throws ConfigurationError if the address is not one of PostgreSQL
 * @throws StorageFault if the database cannot be reached or read
 */
export async function describeDatabase(
  database: DatabaseOptions,
  schemas: readonly string[],
): Promise<DatabaseDescription> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') {
    throw new UsageError('Only tables of PostgreSQL can be inspected: use postgres://USER@HOST:5432/DATABASE.')
  }
  return (await import('../storage/postgres/inspect.ts')).describePostgres(engine.options, schemas)
}

/**
 * Opens a PostgreSQL database that Resourced did not create, to read its tables in one snapshot. Changes nothing.
 *
 * @param schemas default: the first schema of the connection's search_path
 * @throws ConfigurationError if the address is not one of PostgreSQL
 * @throws StorageFault if the database cannot be reached or read
 */
export async function openTables(database: DatabaseOptions, schemas: readonly string[]): Promise<TableSource> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') {
    throw new UsageError('Only tables of PostgreSQL can be imported: use --from postgres://USER@HOST:5432/DATABASE.')
  }
  return (await import('../storage/postgres/read-tables.ts')).openPostgresTables(engine.options, schemas)
}

/** What was found in a database, by engine. */
export type Examined =
  | { readonly kind: 'sqlite'; readonly found: Examination | undefined }
  | {
      readonly kind: 'postgres'
      readonly found: PostgresExamination
    }

/**
 * Examines a database. Changes nothing, and waits for no server.
 *
 * @param catalog `undefined`: no migration is planned
 * @throws ConfigurationError, StorageFault or the engine's error where it cannot be read
 */
export async function examineDatabase(database: DatabaseOptions, catalog: Catalog | undefined): Promise<Examined> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') {
    const found = isInMemory(database.database) ? undefined : examineSqlite(engine.path, catalog)
    return { kind: 'sqlite', found }
  }
  const { examinePostgres } = await import('../storage/postgres/administration.ts')
  return { kind: 'postgres', found: await examinePostgres(engine.options, catalog) }
}

/** The file of a database; `undefined`: it is a server, or in memory. */
export function databaseFile(database: DatabaseOptions): string | undefined {
  const engine = engineOf(database)
  return engine.kind === 'sqlite' && !isInMemory(database.database) ? resolve(engine.path) : undefined
}

/**
 * Opens a database to read all of it.
 *
 * @throws StorageFault or the engine's error
 */
export async function openMoveSource(database: DatabaseOptions): Promise<MoveSource> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return sqliteSource(engine.path)
  return (await import('../storage/postgres/move.ts')).postgresSource(engine.options)
}

/**
 * Checks that this program has made the tables of a database, before anything is written to it.
 *
 * @throws ConfigurationError where no server has ever used it, StorageFault where its tables are others
 */
export async function checkMoveSource(database: DatabaseOptions): Promise<void> {
  if (!(await hasTables(database))) throw noDatabase(database)
  const source = await openMoveSource(database)
  try {
    await source.begin()
    await source.schema()
  } finally {
    await source.close()
  }
}

/**
 * Fills an empty database. If `fill` throws or the process is killed, the database stays empty.
 *
 * @throws StorageFault if the database is not empty
 */
export async function fillDatabase<T>(
  database: DatabaseOptions,
  schema: StoredSchema,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return fillSqlite(engine.path, schema, fill)
  return (await import('../storage/postgres/move.ts')).fillPostgres(engine.options, schema, fill)
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
  if (!(await hasTables(database))) throw noDatabase(database)
  const engine = engineOf(database)
  const { backUpFile, backUpRows } = await import('../storage/sqlite/backup.ts')
  if (engine.kind === 'sqlite') return backUpFile(engine.path, file, options)
  const source = await openMoveSource(database)
  try {
    return await backUpRows(source, file, options)
  } finally {
    await source.close()
  }
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
  const { openBackup, restoreFile, restoreRows } = await import('../storage/sqlite/backup.ts')
  const backup = await openBackup(file, options)
  const engine = engineOf(database)
  if (engine.kind === 'sqlite' && existsSync(engine.path) && realpathSync(engine.path) === realpathSync(file)) {
    throw new ConfigurationError(`${file} is the backup itself. Name another file with --database.`)
  }
  // A file that exists may be open in another process, so rows are written in a transaction.
  if (engine.kind === 'sqlite' && !existsSync(engine.path)) return restoreFile(backup, file, engine.path, options)
  return restoreRows(backup, (schema, move) => fillDatabase(database, schema, move), options)
}

function engineOf(options: DatabaseOptions): Engine {
  const { database } = options
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(database)?.[1]
  // An address with a user and a password would become the name of a folder.
  if (path !== undefined && !/^sqlite:\/\/[^/\\]+:[^/\\]+@/.test(database)) {
    if (!isFolder(path)) return { kind: 'sqlite', path }
    throw new ConfigurationError(`${path} is a folder. Name a file, such as sqlite:${join(path, 'data.db')}.`)
  }
  if (isElsewhere(database)) {
    const { option, databaseReplica, databasePool, databasePooler, databaseUnsafe } = options
    if (databaseReplica !== undefined && !isElsewhere(databaseReplica)) {
      throw new UsageError('The address of the replica is not understood. Use postgres://USER@HOST:5432/DATABASE.')
    }
    const session = databasePooler === 'transaction' ? 'off' : 'on'
    return {
      kind: 'postgres',
      options: {
        ...{ url: database, option, replica: databaseReplica, poolSize: databasePool },
        ...{ session, unsafe: databaseUnsafe },
      },
    }
  }
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
