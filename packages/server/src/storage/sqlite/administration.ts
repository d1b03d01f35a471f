/**
 * Commands on a SQLite file beside its servers: migrate, manage API keys, switch maintenance. The file as a storage on
 * a thread that only reads, while another thread makes its changes.
 */

import { existsSync, realpathSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Catalog } from 'resourced-contract/model/resource'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Administration, Host, OpenKeys, OpenMaintenance } from '../administration/administration.ts'
import { isMigrated, type Migrated, migrationTo, schemaHash } from '../migration/apply.ts'
import { examine } from '../migration/examine.ts'
import { type Apply, MigrationRefused } from '../migration/migration-step.ts'
import { sqlContext } from '../sql/context.ts'
import type { ListedKey, OnCommit, Storage } from '../storage.ts'
import type { RemoteWriter } from '../threads/remote-writer.ts'
import type { Runner } from '../transaction.ts'
import { purgeClockStore } from '../transactions/delete/purge.ts'
import { keyStore, keysCatalog, listKeys } from '../transactions/keys.ts'
import { maintenanceStore, readShared } from '../transactions/meta.ts'
import { tenantStore } from '../transactions/tenants.ts'
import { Connection, withStorageFaults } from './connection.ts'
import { addFunctions, sqlite } from './dialect.ts'
import {
  exportsFolderOf,
  fileWatch,
  immutableAddress,
  makeFile,
  syncFolder,
  tenantFileOf,
  tenantsFolderOf,
  withPath,
} from './file.ts'
import { migrate, migrationDialectOf, runOn } from './migrate.ts'
import { fillSqlite, sqliteSource } from './move.ts'
import { SharedThreads } from './reader-threads.ts'
import { eventsOf, isRead, openSqlite, readerOfFile, readsOf } from './storage.ts'
import { runnerOf, Writer } from './writer.ts'

/** A file, and those of its tenants in a folder beside it. Of a database in memory, each tenant has another one. */
export function sqliteHost(path: string): Host {
  const fileOf = (tenant: string) => tenantFileOf(path, tenant)
  const threads = new Map<Catalog, SharedThreads>()
  const threadsOf = (catalog: Catalog) => {
    const known = threads.get(catalog) ?? new SharedThreads(catalog)
    threads.set(catalog, known)
    return known
  }
  return {
    administer: (tenant) =>
      tenant === undefined ? sqliteAdministration(path) : sqliteAdministration(fileOf(tenant), threadsOf),
    hashOf: (catalog) => schemaHash(catalog, sqlite),
    async remove(tenant) {
      const file = fileOf(tenant)
      if (file === ':memory:') return
      await rm(exportsFolderOf(file), { recursive: true, force: true })
      // The database goes last: what is left of an interrupted removal still belongs to it.
      for (const part of [`${file}-wal`, `${file}-shm`, file]) await rm(part, { force: true })
      syncFolder(dirname(file))
    },
    async databases() {
      const names = await readdir(tenantsFolderOf(path)).catch(() => [])
      return names.flatMap((name) => {
        const [, tenant] = /^([\da-f-]{36})\.db$/.exec(name) ?? []
        if (tenant === undefined) return []
        const place = fileOf(tenant)
        return [{ tenant, place, removal: `rm -r ${place}*` }]
      })
    },
    async size(tenant) {
      const file = fileOf(tenant)
      if (file === ':memory:') return 0
      const sizes = await Promise.all([file, `${file}-wal`].map((part) => stat(part).catch(() => undefined)))
      return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0)
    },
    async close() {
      await Promise.all([...threads.values()].map((each) => each.close()))
    },
  }
}

/**
 * The administration of a file.
 *
 * @param threadsOf the threads that it shares with other files of a catalog; left out: it has its own
 */
export function sqliteAdministration(
  path: string,
  threadsOf: (catalog: Catalog) => SharedThreads | undefined = () => undefined,
): Administration {
  return {
    open(catalog, { writer, ...options }) {
      const threads = threadsOf(catalog)
      return writer === undefined
        ? openSqlite(catalog, { path, threads, ...options })
        : openReading(catalog, path, { writer, onCommit: options.onCommit, threads })
    },
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
    changesEnded: () => everyoneLeft(path),
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

/** How long a move waits for servers to close a file, in milliseconds. */
const longestOpen = 20_000

/** Waits until no connection has a file open: a busy thread may still have to make changes that it was sent. */
async function everyoneLeft(path: string): Promise<void> {
  const until = performance.now() + longestOpen
  while (existsSync(path) && !isAlone(path) && performance.now() < until) await sleep(100)
}

/** Whether no other connection has a file open. */
function isAlone(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // In the mode WAL each connection has a lock until it is closed.
    database.exec('pragma locking_mode = exclusive; begin immediate; commit')
    return true
  } catch {
    return false
  } finally {
    database.close()
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
  return { connection, runner: runnerOf({ run: (start) => connection.run(start()) }, writer), close }
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

/** How such a file is opened. */
interface ReadingOptions {
  readonly writer: RemoteWriter
  readonly onCommit?: OnCommit | undefined
  /** See `SqliteOptions`. */
  readonly threads?: SharedThreads | undefined
}

/** Opens a file that its writer has brought up to date. */
export function openReading(catalog: Catalog, path: string, options: ReadingOptions): Storage {
  const { writer, onCommit = () => {}, threads = new SharedThreads(catalog) } = options
  writer.observe(onCommit)
  const reader = readerOfFile(path, options.threads !== undefined)
  const { cursorSecret, epochs, maintenanceFound } = reader.run(readShared)!
  const context = sqlContext({ catalog, dialect: sqlite, epochs, tagSecret: cursorSecret })
  const requireFile = fileWatch(path)
  const reads = readsOf(context, reader, { path, requireFile, pool: threads.readers })
  const onlyReads = (): never => {
    throw new Error('This thread only reads.')
  }
  const runner: Runner = { read: (start) => withStorageFaults(() => reader.run(start)), write: onlyReads }
  const { find, list } = keyStore(context, runner)
  const tenants = tenantStore(context, runner, { state: () => reader.state() })
  return {
    cursorSecret,
    exportsFolder: exportsFolderOf(path),
    pieces: undefined,
    run(plan, requester) {
      if (isRead(plan)) return reads.run(plan, requester)
      return writer.run(plan)
    },
    load: onlyReads,
    loadAll: onlyReads,
    events: eventsOf(context, reader),
    deliveries: catalog.system.has('deliveries') ? writer.deliveries : undefined,
    jobs: writer.jobs,
    keys: { find, list, add: writer.keys.add, revoke: writer.keys.revoke, keepUses: writer.keys.keepUses },
    tenants: tenants && writer.tenantsBeside(tenants),
    maintenance: writer.maintenance,
    purgeClock: writer.purgeClock,
    maintenanceFound,
    async ping() {
      requireFile()
      await writer.ping()
    },
    async close() {
      await reads.close()
      if (options.threads === undefined) await threads.close()
      reader.close()
    },
  }
}
