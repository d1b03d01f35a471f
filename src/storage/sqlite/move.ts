/** A SQLite file that is moved as a whole, or filled: in one transaction, so that a killed move leaves it as it was. */
import { createReadStream, mkdirSync } from 'node:fs'
import { open, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { SQLInputValue } from 'node:sqlite'
import type { Catalog } from '../../model/resource.ts'
import { planMigration } from '../migration/migration.ts'
import { MigrationRefused } from '../migration/migration-refused.ts'
import { clockSums } from '../move/clock-sums.ts'
import { notEmpty } from '../move/filled.ts'
import type { MovedTable } from '../move/moved-tables.ts'
import { batch, type MovedRow, type MoveSource, type MoveTarget } from '../move/parts.ts'
import { tablesFor } from '../sql/tables.ts'
import { Connection } from './connection.ts'
import { sqlite } from './engine.ts'
import { exportsFolderOf, makeFile } from './file.ts'
import { addFunctions } from './functions.ts'
import { keepShape, keepVersion, readSchema } from './schema.ts'
import { takeStep } from './take-step.ts'

const quote = sqlite.identifier

/** Opens a file to be read as a whole. */
export function sqliteSource(path: string): MoveSource {
  const snapshot = new Connection(path, { readOnly: true })
  const present = new Connection(path, { readOnly: true })
  return {
    async begin() {
      snapshot.execute('begin')
      // It begins with what is read first.
      snapshot.value('select count(*) from resourced_meta')
    },
    all: async (statement) => snapshot.all(statement),
    rows: (table) => rowsOf(snapshot, table),
    file: (job) => createReadStream(join(exportsFolderOf(path), job), { highWaterMark: 262_144 }),
    now: async (statement) => present.all(statement),
    async close() {
      snapshot.close()
      present.close()
    },
  }
}

/**
 * Fills a file that is empty, or not there yet: with all that `fill` writes, or, where it throws, with nothing.
 *
 * @throws StorageFault where it holds something
 * @throws MigrationRefused where it has a table of somebody else's under a name of ours
 */
export async function fillSqlite<T>(
  path: string,
  catalog: Catalog,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  makeFile(path)
  const connection = new Connection(path)
  const { database } = connection
  try {
    // What is sorted for an index is more than the memory may hold.
    database.exec('pragma temp_store = file; pragma cache_size = -65536')
    addFunctions(database)
    connection.execute('begin immediate')
    const filled = await fill(makeTarget(connection, path, catalog))
    connection.execute('commit')
    database.exec('pragma wal_checkpoint(truncate)')
    return filled
  } finally {
    if (database.isTransaction) connection.execute('rollback')
    connection.close()
  }
}

function makeTarget(connection: Connection, path: string, catalog: Catalog): MoveTarget {
  const { database } = connection
  const desired = tablesFor(catalog, sqlite.layout)
  const { tables, foreign } = readSchema(database)
  if (tables.length > 0) throw notEmpty(connection.all(clockSums))
  const steps = planMigration({ tables: [], foreign }, desired)
  const blocked = steps.filter(({ kind }) => kind === 'blocked')
  if (blocked.length > 0) throw new MigrationRefused(blocked)
  const now = Date.now()
  for (const step of steps) if (step.kind === 'create-table') takeStep(database, step, now)
  const folder = exportsFolderOf(path)
  return {
    clockSlots: sqlite.layout.clockSlots,
    all: async (statement) => connection.all(statement),
    async write({ name, columns }, rows) {
      const names = columns.map((column) => quote(column.name)).join(', ')
      const insert = database.prepare(
        `insert into ${quote(name)} (${names}) values (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows) insert.run(...(row as readonly SQLInputValue[]))
    },
    async writeFile(job, content, finished) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const file = await open(join(folder, job), 'w', 0o600)
      try {
        for await (const piece of content) await file.writeFile(piece)
        await file.sync()
      } finally {
        await file.close()
      }
      // By this it is known when its day is over.
      await utimes(join(folder, job), finished / 1_000, finished / 1_000)
    },
    async index() {
      for (const step of steps) {
        if (step.kind !== 'create-index' && step.kind !== 'build-search') continue
        takeStep(database, step, now)
        // Whoever wants to interrupt it is heard between two.
        await new Promise(setImmediate)
      }
      keepShape(database, desired)
      keepVersion(database, catalog.version)
    },
    rows: (table) => rowsOf(connection, table),
  }
}

async function* rowsOf({ database }: Connection, { name, columns }: MovedTable): AsyncGenerator<readonly MovedRow[]> {
  const names = columns.map((column) => quote(column.name))
  const select = database.prepare(`select ${names.join(', ')} from ${quote(name)} order by ${names[0]}`)
  select.setReturnArrays(true)
  let rows: MovedRow[] = []
  let bytes = 0
  for (const row of select.iterate() as Iterable<unknown> as Iterable<MovedRow>) {
    rows.push(row)
    for (const value of row) bytes += typeof value === 'string' ? value.length : 8
    if (rows.length < batch.rows && bytes < batch.bytes) continue
    yield rows
    rows = []
    bytes = 0
  }
  if (rows.length > 0) yield rows
}
