/** Opens the database that an address names. The only file that names an engine. */
import { withoutCredentials } from '../model/credentials.ts'
import type { Catalog } from '../model/resource.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import type { Apply, MigrationStep } from '../storage/migration/step.ts'
import type { MoveSource, MoveTarget } from '../storage/move/move.ts'
import {
  hasSqliteTables,
  migrateSqlite,
  openSqliteKeys,
  openSqliteMaintenance,
} from '../storage/sqlite/administration.ts'
import { fillSqlite, sqliteSource } from '../storage/sqlite/move.ts'
import { openSqlite } from '../storage/sqlite/storage.ts'
import type { KeyStore, MaintenanceStore, OnCommit, OnReplica, PurgeClockStore, Storage } from '../storage/storage.ts'

/** Where the database is, and how it is reached. All but the address is about PostgreSQL. */
export interface DatabaseOptions {
  /** `sqlite:FILE`, `sqlite::memory:` or `postgres://…`. */
  readonly database: string
  /** The option that names it, where that is not `--database`: refusals tell it. */
  readonly option?: '--from' | '--to' | undefined
  /** A replica of it, which is read where it has everything that the database has. */
  readonly databaseReplica?: string | undefined
  /** The most connections of one server for transactions; 10 where left out. */
  readonly databasePool?: number | undefined
  /** `transaction`: a pooler, such as PgBouncer, gives each transaction any connection. */
  readonly databasePooler?: 'none' | 'transaction' | undefined
  /** Whether a database may be used that can lose acknowledged changes in a power cut. */
  readonly databaseUnsafe?: boolean | undefined
}

/** What start-up may change, and who hears of commits and of the replica. */
export interface OpenOptions {
  readonly migrate?: Apply | undefined
  readonly onCommit?: OnCommit | undefined
  readonly onReplica?: OnReplica | undefined
}

type Engine =
  | { readonly kind: 'sqlite'; readonly path: string }
  | {
      readonly kind: 'postgres'
      readonly options: Parameters<typeof import('../storage/postgres/storage.ts').openPostgres>[1]
    }

/**
 * Opens a database for a catalog: at once where it is a file, which an application may need that cannot wait.
 *
 * @throws ConfigurationError where the address is not understood
 * @throws MigrationRefused where the database does not fit, and may not be changed to
 */
export function openStorage(
  database: DatabaseOptions,
  catalog: Catalog,
  { migrate = 'additive', onCommit, onReplica }: OpenOptions = {},
): Storage | Promise<Storage> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return openSqlite(catalog, { path: engine.path, migrate, onCommit })
  return import('../storage/postgres/storage.ts').then(({ openPostgres }) =>
    openPostgres(catalog, { ...engine.options, migrate, onCommit, onReplica }),
  )
}

/** Opens a database for its API keys alone: no declaration is needed. */
export async function openKeys(
  database: DatabaseOptions,
): Promise<{ readonly keys: KeyStore; close(): Promise<void> }> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return openSqliteKeys(engine.path)
  const { openPostgresKeys } = await import('../storage/postgres/administration.ts')
  return openPostgresKeys(engine.options)
}

/**
 * Opens a database for its switch of maintenance and its clock of purges alone.
 *
 * @throws ConfigurationError where no server has ever used it: a switch in a database made by mistake would stop nobody
 */
export async function openMaintenance(database: DatabaseOptions): Promise<{
  readonly maintenance: MaintenanceStore
  readonly purgeClock: PurgeClockStore
  close(): Promise<void>
}> {
  const engine = engineOf(database)
  const opened =
    engine.kind === 'sqlite'
      ? openSqliteMaintenance(engine.path)
      : await (await import('../storage/postgres/administration.ts')).openPostgresMaintenance(engine.options)
  if (opened !== undefined) return opened
  throw new ConfigurationError(
    `There is no database of Resourced at ${placeOf(database)}: name the one that the servers use.`,
  )
}

/** Whether a database has the tables of Resourced. Nothing is made or changed where it has not. */
export async function hasTables(database: DatabaseOptions): Promise<boolean> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return hasSqliteTables(engine.path)
  return (await import('../storage/postgres/administration.ts')).hasPostgresTables(engine.options)
}

/** The file, or the address without its password: where a database is, for messages. */
export function placeOf(database: DatabaseOptions): string {
  const engine = engineOf(database)
  return engine.kind === 'sqlite' ? engine.path : withoutCredentials(engine.options.url)
}

/** What a database lacks for a catalog; with `apply`, changed, whatever it loses. */
export async function planOrApplyMigration(
  database: DatabaseOptions,
  catalog: Catalog,
  apply: boolean,
): Promise<{ readonly steps: readonly MigrationStep[]; readonly applied: boolean }> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return migrateSqlite(engine.path, catalog, apply)
  const { planOrMigratePostgres } = await import('../storage/postgres/administration.ts')
  return planOrMigratePostgres(engine.options, catalog, apply)
}

/** Whether a database is another process, so that many requests are under way while it answers. */
export function isElsewhere(options: DatabaseOptions): boolean {
  return engineOf(options).kind !== 'sqlite'
}

/**
 * Opens a database to be read as a whole.
 *
 * @throws StorageFault, or the engine's error, where it cannot be
 */
export async function openMoveSource(database: DatabaseOptions): Promise<MoveSource> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return sqliteSource(engine.path)
  return (await import('../storage/postgres/move.ts')).postgresSource(engine.options)
}

/**
 * Fills an empty database: with all that `fill` writes, or, where that throws or is killed, with nothing.
 *
 * @throws StorageFault where it holds something already
 */
export async function fillDatabase<T>(
  database: DatabaseOptions,
  catalog: Catalog,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const engine = engineOf(database)
  if (engine.kind === 'sqlite') return fillSqlite(engine.path, catalog, fill)
  return (await import('../storage/postgres/move.ts')).fillPostgres(engine.options, catalog, fill)
}

/** Whether a database ends with the process that has it open. */
export function isInMemory({ database }: DatabaseOptions): boolean {
  return database.includes(':memory:')
}

function engineOf(options: DatabaseOptions): Engine {
  const { database } = options
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(database)?.[1]
  // What looks like a user and a password would become the name of a folder.
  if (path !== undefined && !/^sqlite:\/\/[^/\\]+:[^/\\]+@/.test(database)) return { kind: 'sqlite', path }
  if (isPostgres(database)) {
    const { option, databaseReplica, databasePool, databasePooler, databaseUnsafe } = options
    if (databaseReplica !== undefined && !isPostgres(databaseReplica)) {
      throw new ConfigurationError(
        'The address of the replica is not understood. Use postgres://USER@HOST:5432/DATABASE.',
      )
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
  throw new ConfigurationError(
    'The database address is not understood. Use sqlite:FILE, such as sqlite:.resourced/data.db, or postgres://USER@HOST:5432/DATABASE.',
  )
}

function isPostgres(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address) && URL.canParse(address)
}
