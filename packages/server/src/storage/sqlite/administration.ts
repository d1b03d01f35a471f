/** Commands on a SQLite file beside its servers: migrate, manage API keys, switch maintenance. */
import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Catalog } from 'resourced-contract/model/resource'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Administration, OpenKeys, OpenMaintenance } from '../administration/administration.ts'
import { isMigrated, type Migrated, migrationTo } from '../migration/apply.ts'
import { examine } from '../migration/examine.ts'
import { type Apply, MigrationRefused } from '../migration/migration-step.ts'
import { sqlContext } from '../sql/context.ts'
import type { ListedKey } from '../storage.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysCatalog, listKeys } from '../transactions/keys.ts'
import { maintenanceStore } from '../transactions/meta.ts'
import { Connection } from './connection.ts'
import { addFunctions, sqlite } from './dialect.ts'
import { immutableAddress, makeFile, withPath } from './file.ts'
import { migrate, migrationDialectOf, runOn } from './migrate.ts'
import { fillSqlite, sqliteSource } from './move.ts'
import { openReading } from './reading-storage.ts'
import { openSqlite } from './storage.ts'
import { runnerOf, Writer } from './writer.ts'

/** The administration of a file. */
export function sqliteAdministration(path: string): Administration {
  return {
    open: (catalog, { writer, ...options }) =>
      writer === undefined
        ? openSqlite(catalog, { path, ...options })
        : openReading(catalog, path, { writer, onCommit: options.onCommit }),
    openKeys: async () => openSqliteKeys(path),
    listKeys: () => listSqliteKeys(path),
    openMaintenance: async () => openSqliteMaintenance(path),
    hasTables: async () => hasSqliteTables(path),
    migrate: async (catalog, apply) => migrateSqlite(path, catalog, apply),
    async examine(catalog) {
      if (!existsSync(path)) return undefined
      const database = new DatabaseSync(addressToRead(path), { readOnly: true, timeout: 5_000 })
      try {
        addFunctions(database)
        database.exec('begin')
        return runOn(database, examine(migrationDialectOf(database), catalog))
      } finally {
        database.close()
      }
    },
    openSource: async () => sqliteSource(path),
    fill: (schema, fill) => fillSqlite(path, schema, fill),
    backUp: async (file, options) => (await import('./backup.ts')).backUpFile(path, file, options),
    restore(backup, file, options) {
      if (existsSync(path) && realpathSync(path) === realpathSync(file)) {
        throw new ConfigurationError(`${file} is the backup itself. Name another file with --database.`)
      }
      // A file that exists may be open in another process, so rows are written in a transaction.
      if (existsSync(path)) return undefined
      return import('./backup.ts').then(({ restoreFile }) => restoreFile(backup, file, path, options))
    },
  }
}

/** See `Administration.migrate`. */
export function migrateSqlite(path: string, catalog: Catalog, apply: Apply): Migrated {
  const mayChange = apply !== 'never'
  if (mayChange) makeFile(path)
  // An absent file needs the steps of an empty database. Showing them creates no file.
  const connection = new Connection(mayChange || existsSync(path) ? path : ':memory:')
  try {
    return migrate(connection.database, catalog, { apply, now: Date.now(), undoesNewer: true })
  } catch (error) {
    if (apply === 'all' || !(error instanceof MigrationRefused)) throw error
    return { steps: error.steps, applied: false }
  } finally {
    connection.close()
  }
}

/** See `Administration.openKeys`. */
export function openSqliteKeys(path: string): OpenKeys {
  makeFile(path)
  const catalog = keysCatalog()
  const { connection, runner, close } = connect(path)
  // All other tables belong to a declaration that was not read.
  migrate(connection.database, catalog, { apply: 'additive', now: Date.now(), keepsOthers: true })
  return { keys: keyStore(sqlContext({ catalog, dialect: sqlite }), runner), close }
}

/**
 * Lists the API keys of a file, which the user may only be allowed to read.
 *
 * @returns `undefined` where there is no such file, or no server has ever used it
 */
export async function listSqliteKeys(path: string): Promise<readonly ListedKey[] | undefined> {
  if (!existsSync(path)) return undefined
  const found = withPath(path, () => {
    const connection = new Connection(addressToRead(path).href, { readOnly: true })
    try {
      return readKeys(connection)
    } finally {
      connection.close()
    }
  })
  if (found !== 'former') return found
  const { keys, close } = openSqliteKeys(path)
  return keys.list().finally(close)
}

/** How long a read waits for locks, in milliseconds. */
const patience = 60_000

/** The keys; `former`: an older version created the tables, which must be migrated first. */
function readKeys({ database }: Connection): readonly ListedKey[] | 'former' | undefined {
  database.exec(`pragma busy_timeout = ${patience}; begin`)
  if (!isUsed(database)) return undefined
  const options = { apply: 'never', now: Date.now(), keepsOthers: true } as const
  const migration = migrationTo(keysCatalog(), migrationDialectOf(database), options)
  return runOn(database, isMigrated(migration)) ? runOn(database, listKeys()) : 'former'
}

/**
 * Opens a file for its maintenance switch and its purge clock only. Nothing else in it changes, whichever version
 * created it, because servers may be running on it.
 *
 * @returns `undefined` where there is no such file, or no server has ever used it
 */
export function openSqliteMaintenance(path: string): OpenMaintenance | undefined {
  if (!hasSqliteTables(path)) return undefined
  const { runner, close } = connect(path)
  return { maintenance: maintenanceStore(runner), purgeClock: purgeClockStore(runner), close }
}

function connect(path: string) {
  const connection = new Connection(path)
  const writer = new Writer(connection)
  const close = async () => {
    await writer.drain()
    connection.close()
  }
  return { connection, runner: runnerOf(connection, writer), close }
}

/** The address by which a file is read without a change of it or its folder. */
function addressToRead(path: string): URL {
  // Without a log no server has the file open. SQLite would create a log even to read, and leave it there.
  return existsSync(`${path}-wal`) ? pathToFileURL(path) : immutableAddress(path)
}

/**
 * Whether a server has ever used a file. It is opened for reading: to open it for writing would change a file of
 * another program.
 */
export function hasSqliteTables(path: string): boolean {
  if (!existsSync(path)) return false
  const database = withPath(path, () => new DatabaseSync(path, { readOnly: true, timeout: patience }))
  try {
    return withPath(path, () => isUsed(database))
  } finally {
    database.close()
  }
}

function isUsed(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_schema where name = 'resourced_meta'").get() !== undefined
}
