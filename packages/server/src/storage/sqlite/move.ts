/** Reads a SQLite file that is moved, or fills one: in one transaction, so that a killed move leaves it as it was. */
import { createReadStream, mkdirSync } from 'node:fs'
import { open, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { SQLInputValue } from 'node:sqlite'
import { exportFileName } from '../../plan/export-document.ts'
import { buildIndex, createTables } from '../migration/apply.ts'
import { readStoredSchema, type StoredSchema } from '../migration/stored-schema.ts'
import { insertClock } from '../migration/take-step.ts'
import { type MoveSource, type MoveTarget, rowsOf } from '../move/move.ts'
import { identifier } from '../sql/columns.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { exportsFolderOf, makeFile } from './file.ts'
import { alteredObject, findStrangers } from './file-objects.ts'
import { migrationDialectOf } from './migrate.ts'

/** A file that is read. */
export interface SqliteSource extends MoveSource {
  readonly snapshot: Connection
}

/** Opens a file to read all of it. */
export function sqliteSource(path: string): SqliteSource {
  const snapshot = new Connection(path, { readOnly: true })
  const present = new Connection(path, { readOnly: true })
  // A server may be starting on the file.
  for (const { database } of [snapshot, present]) database.exec('pragma busy_timeout = 60000')
  return {
    snapshot,
    async begin() {
      snapshot.execute('begin')
      // The snapshot is of the moment of the first read.
      snapshot.value('select count(*) from resourced_meta')
    },
    async schema() {
      const { altered } = findStrangers(snapshot.database)
      if (altered.length > 0) throw alteredObject(altered[0]!)
      return snapshot.run(readStoredSchema(migrationDialectOf(snapshot.database)))
    },
    all: allOf(snapshot),
    rows: (table) => rowsOf(allOf(snapshot), table),
    file: readerOf(exportsFolderOf(path)),
    now: allOf(present),
    async close() {
      snapshot.close()
      present.close()
    },
  }
}

/**
 * Fills a file that is empty or does not exist with everything that `fill` writes, or, where that throws, with nothing.
 *
 * @throws StorageFault where the file is not empty
 * @throws MigrationRefused where a foreign table has a name that is needed
 */
export async function fillSqlite<T>(
  path: string,
  schema: StoredSchema,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  makeFile(path)
  const connection = new Connection(path)
  try {
    const filled = await fillConnection(connection, schema, (target) =>
      fill({ ...target, writeFile: writerOf(exportsFolderOf(path)) }),
    )
    connection.database.exec('pragma wal_checkpoint(truncate)')
    return filled
  } finally {
    connection.close()
  }
}

/** Fills the file of a connection in one transaction. Where the files of exports are kept is the caller's. */
export async function fillConnection<T>(
  connection: Connection,
  schema: StoredSchema,
  fill: (target: Omit<MoveTarget, 'writeFile'>) => Promise<T>,
): Promise<T> {
  const { database } = connection
  try {
    // Sorting the rows for an index may exceed the memory.
    database.exec('pragma temp_store = file; pragma cache_size = -65536')
    connection.execute('begin immediate')
    const filled = await fill(makeTarget(connection, schema))
    connection.execute('commit')
    return filled
  } finally {
    if (database.isTransaction) connection.execute('rollback')
  }
}

/** Runs statements on a connection. */
export function allOf(connection: Connection): MoveSource['all'] {
  return async (statement) => connection.all(statement)
}

/** Reads the files of exports in a folder. */
export function readerOf(folder: string): MoveSource['file'] {
  return (job) => createReadStream(join(folder, exportFileName(job)), { highWaterMark: 262_144 })
}

/** Writes the files of exports into a folder. */
export function writerOf(folder: string): MoveTarget['writeFile'] {
  return async (job, content, finished) => {
    const path = join(folder, exportFileName(job))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = await open(path, 'w', 0o600)
    try {
      for await (const piece of content) await file.writeFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    // Servers delete the file a day after this time.
    await utimes(path, finished / 1_000, finished / 1_000)
  }
}

function makeTarget(connection: Connection, schema: StoredSchema): Omit<MoveTarget, 'writeFile'> {
  const { database } = connection
  const dialect = migrationDialectOf(database)
  const indexes = connection.run(createTables(dialect, schema))
  return {
    all: allOf(connection),
    async write({ name, columns }, rows) {
      const names = columns.map((column) => identifier(column.name)).join(', ')
      const insert = database.prepare(
        `insert into ${identifier(name)} (${names}) values (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...(row as readonly SQLInputValue[]))
    },
    writeClock: async (collection, numbers) => void connection.all(insertClock(sqlite.layout, collection, numbers)),
    async index() {
      for (const step of indexes) {
        connection.run(buildIndex(dialect, step))
        // Lets an interruption be handled between two indexes.
        await new Promise(setImmediate)
      }
    },
    rows: (table) => rowsOf(allOf(connection), table),
  }
}
