/**
 * Backups: a copy of a SQLite file page by page, or of another database row by row, each from one snapshot, while
 * servers write.
 */
import { existsSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { eventCollections } from 'resourced-contract/model/names'
import sql, { raw } from 'sql-template-tag'
import type {
  Administration,
  Backup,
  BackupDescription,
  BackupOptions,
  CopyResult,
  LongWork,
} from '../administration/administration.ts'
import {
  areTemporary,
  checkJobs,
  expectedRows,
  type MoveSource,
  type MoveTarget,
  moveAll,
  moveFiles,
  restartedState,
  unfinishedExports,
} from '../move/move.ts'
import { identifier } from '../sql/columns.ts'
import { isSystemTable, systemTables } from '../sql/system-tables.ts'
import { createIndex } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import { readFile, storeFile } from '../transactions/exports.ts'
import { copyDatabase, damaged, describe, existing, hashOf, readDescription, writeWhole } from './backup-file.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, immutableAddress, makeFolder } from './file.ts'
import {
  alteredObject,
  dropObjects,
  type FileObject,
  findStrangers,
  isOfHelper,
  openUntrusted,
} from './file-objects.ts'
import { allOf, fillConnection, readerOf, sqliteSource, writerOf } from './move.ts'

/** How many pages are copied between two turns of the event loop: 4 MB, at which the copy is fastest. */
const pagesAtATime = 1_000

/**
 * Copies a SQLite file. The snapshot keeps writers from restarting the copy, and the copy keeps no writer waiting.
 *
 * @throws StorageFault where the copy fails or the database is damaged: there is no file then
 */
export async function backUpFile(path: string, file: string, options: BackupOptions): Promise<CopyResult> {
  return await writeBackup(file, options, async (partial) => {
    await copyPages(path, partial, options)
    const strangers = inspectCopy(partial)
    return await withPartial(partial, async (connection) => {
      dropObjects(connection.database, strangers)
      await checkTables(connection, options)
      const [file, writeFile] = [readerOf(exportsFolderOf(path)), writerInto(connection)]
      const { files, lost } = await completeCopy(connection, { file, writeFile }, options)
      const restarted = restartExports(connection)
      const omitted = strangers.filter((each) => each.text !== null && !isOfHelper(each))
      return { ...factsOf(connection, files), lost, restarted, omitted }
    })
  })
}

/**
 * What a copy has that is not ours.
 *
 * @throws StorageFault where a table of ours was changed: nobody could restore the copy
 */
function inspectCopy(partial: string): readonly FileObject[] {
  const { altered, foreign } = readUntrusted(partial, findStrangers)
  const table = altered.find(({ kind }) => kind !== 'trigger')
  if (table !== undefined) throw alteredObject(table)
  return [...altered, ...foreign]
}

/** Copies the pages of one snapshot, which ends with the copy: until then, the log of the database grows. */
async function copyPages(path: string, partial: string, { signal, onProgress }: LongWork): Promise<void> {
  const source = sqliteSource(path)
  try {
    await source.begin()
    const size = Number(source.snapshot.value('pragma page_size'))
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) => {
      signal.throwIfAborted()
      const [done, total] = [totalPages - remainingPages, totalPages].map((pages) => (pages * size) / 1e6)
      onProgress('Copying', 'MB', done!, total!)
    }
    await backup(source.snapshot.database, partial, { rate: pagesAtATime, progress })
  } finally {
    await source.close()
  }
}

/**
 * Copies a database of another engine, row by row, and reads the copy back.
 *
 * @throws StorageFault where the copy fails: there is no file then
 */
export function backUpRows(source: MoveSource, file: string, options: BackupOptions): Promise<CopyResult> {
  return writeBackup(file, options, async (partial) => {
    await source.begin()
    const schema = await source.schema()
    const expected = await expectedRows(source)
    return await withPartial(partial, async (connection) => {
      const { files, lost, restarted } = await fillConnection(connection, schema, (target) =>
        moveAll(source, { ...target, writeFile: writerInto(connection) }, { schema, ...moving(options, expected) }),
      )
      return { ...factsOf(connection, files), lost, restarted, omitted: [] }
    })
  })
}

/** The options of a move whose rows are shown as progress. */
function moving({ signal, now, onProgress }: BackupOptions, expected: number) {
  let done = 0
  const total = 2 * expected
  return {
    ...{ signal, now },
    onRows(count: number) {
      done += count
      onProgress('Copying and reading back', 'rows', done, Math.max(total, done))
    },
    onIndexes() {},
  }
}

type Facts = Pick<BackupDescription, 'declaration' | 'records' | 'files'> & Omit<CopyResult, 'description'>

function writeBackup(
  file: string,
  options: BackupOptions,
  fill: (partial: string) => Promise<Facts>,
): Promise<CopyResult> {
  if (existsSync(file)) throw existing(file)
  return writeWhole(file, async (partial) => {
    const created_at = new Date(options.now).toISOString()
    const { lost, restarted, omitted, ...facts } = await fill(partial)
    const description = await describe(partial, { created_at, resourced: options.version, ...facts }, options)
    return { description, lost, restarted, omitted }
  })
}

/** Works on a partial file, which has a table for the files of exports. */
async function withPartial<T>(partial: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = new Connection(partial, { log: 'none' })
  try {
    connection.database.exec(sqlite.createTable(piecesTable))
    for (const index of piecesTable.indexes) connection.database.exec(createIndex(index))
    return await work(connection)
  } finally {
    connection.close()
  }
}

const pieces = 'resourced_pieces'
const piecesTable = systemTables({ ...sqlite.layout, storesExports: true }).find(({ name }) => name === pieces)!

function writerInto(connection: Connection): MoveTarget['writeFile'] {
  return (job, content) => storeFile(async (piece) => connection.run(piece), job, content)
}

/** @throws StorageFault where the structure of a table is damaged */
async function checkTables(connection: Connection, { signal, onProgress }: LongWork): Promise<void> {
  const tables = connection.all(sql`select name from sqlite_schema where type = 'table' order by name`)
  for (const [index, { name }] of tables.entries()) {
    signal.throwIfAborted()
    onProgress('Checking tables', 'rows', index, tables.length)
    const found = connection.value(`pragma quick_check(${identifier(String(name))})`)
    if (found !== 'ok') {
      throw new StorageFault('failed', `The database is damaged, so no backup was made. SQLite reports: ${found}.`)
    }
    // Lets an interruption be handled between two tables.
    await new Promise(setImmediate)
  }
}

function restartExports(connection: Connection): number {
  const unfinished = connection.all(unfinishedExports)
  for (const { job, state } of unfinished) {
    connection.all(sql`update resourced_work set state = ${restartedState(String(state))} where job = ${job}`)
  }
  return unfinished.length
}

function factsOf(connection: Connection, files: number): Pick<Facts, 'declaration' | 'records' | 'files'> {
  const meta = (key: string) => connection.all(sql`select value from resourced_meta where key = ${key}`)[0]?.['value']
  const tables: readonly { readonly name: string }[] = JSON.parse(String(meta('shape') ?? '{"tables":[]}')).tables
  const count = (name: string) =>
    Number(connection.all(sql`select count(*) as count from ${raw(identifier(name))}`)[0]?.['count'])
  const names = tables.map(({ name }) => name)
  // Without events, these may be names of declared collections.
  const system = names.includes('resourced_consumers') ? eventCollections : []
  const collections = names.filter((name) => !isSystemTable(name) && !system.includes(name))
  return {
    declaration: JSON.parse(String(meta('declarations') ?? '[]')).at(-1) ?? null,
    records: Object.fromEntries(collections.map((name) => [name, count(name)])),
    files,
  }
}

/**
 * Opens a backup, which is data: it may have been forged. Its tables, indexes, views and triggers are compared with
 * those that this program makes before anything else is read.
 *
 * @throws StorageFault where the file is no backup, is incomplete, is none that this program makes, or a newer one made
 *   it
 */
export async function openBackup(file: string, options: BackupOptions): Promise<Backup> {
  const description = await readDescription(file, options.version)
  checkObjects(file)
  return {
    description,
    async verify() {
      if ((await hashOf(file, description.bytes, options)) !== description.sha256) throw damaged(file)
      checkStructure(file, file)
    },
    open() {
      const source = sqliteSource(immutableAddress(file).href)
      return { ...source, file: piecesOf(source.snapshot) }
    },
  }
}

/** @throws StorageFault where a backup has anything that this program does not make */
function checkObjects(path: string): readonly FileObject[] {
  const { altered, foreign } = readUntrusted(path, findStrangers)
  const strange = [...altered, ...foreign.filter((each) => !isOfHelper(each))][0]
  if (strange === undefined) return foreign
  const found = `The file has the ${strange.kind} ${JSON.stringify(strange.name)}, which this program does not make.`
  const remedy = 'A backup is restored as data only, so nothing was restored. Use another backup.'
  throw new StorageFault('failed', `${found} ${remedy}`)
}

/**
 * Checks the structure of all pages: a table that contains itself would never end.
 *
 * @param file the backup, for messages
 * @throws StorageFault where it is damaged
 */
function checkStructure(path: string, file: string): void {
  const found = readUntrusted(path, (database) => database.prepare('pragma quick_check(1)').get())
  const said = String(Object.values(found ?? {})[0])
  if (said !== 'ok') throw new StorageFault('failed', `${damaged(file).message} SQLite reports: ${said}.`)
}

/** Reads a file that may be forged. */
function readUntrusted<T>(path: string, read: (database: DatabaseSync) => T): T {
  const database = openUntrusted(path)
  try {
    return read(database)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SQLITE_ERROR') throw error
    throw new StorageFault('failed', `${path} is damaged. SQLite reports: ${(error as Error).message}.`)
  } finally {
    database.close()
  }
}

function piecesOf(connection: Connection): MoveSource['file'] {
  return (job) => readFile(async (piece) => connection.run(piece), job)
}

/** Moves the files of exports of a copied database, which forgets what is about the present of its origin only. */
async function completeCopy(
  connection: Connection,
  { file, writeFile }: Pick<MoveSource, 'file'> & Pick<MoveTarget, 'writeFile'>,
  options: BackupOptions,
) {
  const source = { all: allOf(connection), file }
  const tables = connection.all(sql`select name from sqlite_schema where type = 'table'`) as { name: string }[]
  await checkJobs(source, tables)
  connection.all(sql`delete from resourced_meta where ${areTemporary}`)
  if (options.renewsSecrets === true) connection.all(forgetSecret)
  return moveFiles(source, { writeFile }, tables, options)
}

/** The next start makes another one. */
const forgetSecret = sql`delete from resourced_meta where key = 'cursor_secret'`

/**
 * Restores a backup page by page to a SQLite file that does not exist.
 *
 * @throws StorageFault where the backup is damaged or something of another database is there
 */
export async function restoreFile(
  { description }: Backup,
  file: string,
  path: string,
  options: BackupOptions,
): Promise<CopyResult> {
  for (const left of [`${path}-wal`, `${path}-journal`]) {
    if (!existsSync(left)) continue
    const remedy = 'SQLite would apply it to the restored one. Move it away first.'
    throw new StorageFault('failed', `${left} belongs to a database that is no longer there. ${remedy}`)
  }
  makeFolder(path)
  return await writeWhole(path, async (partial) => {
    await copyDatabase(file, partial, description, options)
    // Once more: the file may have changed since, and the copy is what remains.
    const foreign = checkObjects(partial)
    checkStructure(partial, file)
    const connection = new Connection(partial, { log: 'none' })
    try {
      dropObjects(connection.database, foreign)
      const [file, writeFile] = [piecesOf(connection), writerOf(exportsFolderOf(path))]
      const { lost } = await completeCopy(connection, { file, writeFile }, options)
      connection.database.exec(`drop table ${pieces}`)
      return { description, lost, restarted: connection.all(unfinishedExports).length, omitted: [] }
    } finally {
      connection.close()
    }
  })
}

/**
 * Restores a backup row by row into an empty database of any engine.
 *
 * @param fill fills the database with what a function writes, or, where that throws, with nothing
 */
export async function restoreRows(
  backup: Backup,
  fill: Administration['fill'],
  options: BackupOptions,
): Promise<CopyResult> {
  const source = backup.open()
  try {
    await source.begin()
    const schema = await source.schema()
    const expected = await expectedRows(source)
    const { lost, restarted } = await fill(schema, async (target) => {
      // After the check that the database is empty, which takes no time.
      await backup.verify()
      const moved = await moveAll(source, target, { schema, ...moving(options, expected) })
      if (options.renewsSecrets === true) await target.all(forgetSecret)
      return moved
    })
    return { description: backup.description, lost, restarted, omitted: [] }
  } finally {
    await source.close()
  }
}
