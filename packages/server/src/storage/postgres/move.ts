/**
 * Reads a PostgreSQL schema that is moved, or fills one: in one transaction, so that a killed move leaves it as it was.
 */
import type { ClientBase } from 'pg'
import sql, { join, raw } from 'sql-template-tag'
import { buildIndex, createTables } from '../migration/apply.ts'
import { readStoredSchema, type StoredSchema } from '../migration/stored-schema.ts'
import { insertClock } from '../migration/take-step.ts'
import { type MovedRow, type MovedTable, type MoveSource, type MoveTarget, movedTables, rowsOf } from '../move/move.ts'
import { identifier, quoted } from '../sql/columns.ts'
import type { ColumnSpec } from '../sql/tables.ts'
import { indexText } from '../sql/values.ts'
import { StorageFault } from '../storage.ts'
import type { Statement } from '../transaction.ts'
import { readFile, storeFile } from '../transactions/exports.ts'
import type { Client } from './client.ts'
import { lexemesOf, postgres, wordsColumn } from './dialect.ts'
import { stateOf, toStorageFault } from './errors.ts'
import { tooLongForIndex, underLock, usualWaits } from './migrate.ts'
import { migrationDialect } from './migration-dialect.ts'
import { checkDurability, checkRights, checkServer } from './requirements.ts'
import { connect, inTransaction, query, run, withSettings } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

const begin = 'begin isolation level read committed'

/** A connection without limits on time, even if its role or database has some. */
async function unlimited(options: ConnectionOptions): Promise<Client> {
  const client = await connect(options)
  // `transaction_timeout` is in PostgreSQL 17 and newer.
  const limits = ['statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout']
  await query(client, "select set_config(name, '0', false) from pg_settings where name = any($1)", [limits])
  return client
}

const all = (client: ClientBase) => (statement: Statement) => query(client, statement.text, statement.values)

/** Opens a database to be moved. */
export async function postgresSource(options: ConnectionOptions): Promise<MoveSource> {
  const [snapshot, present] = await Promise.all([unlimited(options), unlimited(options)])
  const schema = (client: Client) => run(client, readStoredSchema(migrationDialect(usualWaits.lock)))
  return {
    async begin() {
      for (;;) {
        const found = await schema(present)
        await query(snapshot, 'begin isolation level repeatable read read only')
        await lockTables(snapshot, movedTables(found))
        // The snapshot is of the moment of the first read. A migration may have ended before the locks.
        if (JSON.stringify(await schema(snapshot)) === JSON.stringify(found)) return
        await query(snapshot, 'rollback')
      }
    },
    schema: () => schema(snapshot),
    all: failing(all(snapshot)),
    rows: (table) => rowsOf(failing(all(snapshot)), table),
    file: (job) => readFile((piece) => run(snapshot, piece), job),
    now: failing(all(present)),
    async close() {
      await Promise.all([snapshot.end(), present.end()])
    },
  }
}

/** Waits until the transactions that have changed a schema have ended. */
export async function changesEnded(options: ConnectionOptions): Promise<void> {
  const client = await unlimited(options)
  try {
    const found = await run(client, readStoredSchema(migrationDialect(usualWaits.lock)))
    // One lock at a time, so that it is in no circle of locks.
    for (const { name } of movedTables(found)) {
      await inTransaction(client, begin, () => query(client, `lock table ${identifier(name)} in share mode`))
    }
  } catch (error) {
    throw toStorageFault(error)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * Keeps migrations away until the snapshot has been read: a table that they rewrite would be empty in it. Reads and
 * writes are not affected.
 */
async function lockTables(client: ClientBase, tables: readonly MovedTable[]): Promise<void> {
  await query(client, `lock table ${tables.map(({ name }) => identifier(name)).join(', ')} in access share mode`)
}

function failing<A, T>(work: (asked: A) => Promise<T>): (asked: A) => Promise<T> {
  return async (asked) => {
    try {
      return await work(asked)
    } catch (error) {
      throw toStorageFault(error)
    }
  }
}

/**
 * Fills a schema without tables of ours with everything that `fill` writes, or, where that throws, with nothing.
 *
 * @throws StorageFault where the schema is not empty, or may not be written
 * @throws MigrationRefused where a foreign table has a name that is needed
 */
export async function fillPostgres<T>(
  options: ConnectionOptions & { readonly unsafe?: boolean | undefined },
  schema: StoredSchema,
  fill: (target: MoveTarget) => Promise<T>,
): Promise<T> {
  const client = await unlimited(options)
  try {
    if (options.unsafe !== true) await checkDurability(client)
    await checkServer(client)
    await checkRights(client)
    // A server that starts meanwhile waits for the lock, or gives up.
    const filled = () => inTransaction(client, begin, async () => fill(await makeTarget(client, schema)))
    // The server notices within a second that this process was killed.
    const settings = { client_connection_check_interval: '1000' }
    return await withSettings(client, settings, () => underLock(client, usualWaits, filled))
  } catch (error) {
    throw stateOf(error) === undefined ? error : new StorageFault('failed', 'The database cannot be filled:', error)
  } finally {
    await client.end().catch(() => {})
  }
}

async function makeTarget(client: ClientBase, schema: StoredSchema): Promise<MoveTarget> {
  const dialect = migrationDialect(usualWaits.lock)
  const indexes = await run(client, createTables(dialect, schema))
  return {
    all: all(client),
    write: (table, rows) => writeRows(client, table, rows),
    writeClock: async (collection, numbers) =>
      void (await all(client)(insertClock(postgres.layout, collection, numbers))),
    writeFile: (job, content) => storeFile((piece) => run(client, piece), job, content),
    async index() {
      for (const step of indexes) {
        await run(client, buildIndex(dialect, step)).catch((error) => {
          throw tooLongForIndex(error, step, 'move again') ?? error
        })
      }
      for (const { name, columns } of movedTables(schema)) {
        if (columns[0]?.constraint === 'row') await restartNumbers(client, name)
        // Without this, the planner has no statistics until autovacuum runs.
        await all(client)(sql`analyze ${quoted(name)}`)
      }
    },
    rows: (table) => rowsOf(all(client), table),
  }
}

/** Makes new rows get higher numbers than the existing ones. */
async function restartNumbers(client: ClientBase, table: string): Promise<void> {
  const [row] = await all(client)(sql`select max(_row) as last from ${quoted(table)}`)
  const last = row?.['last']
  if (last !== null)
    await all(client)(sql`select setval(pg_get_serial_sequence(${identifier(table)}, '_row'), ${last})`)
}

// The types of arrays of values. JSON is sent as text, so that its text stays the same.
const arrays: Readonly<Record<ColumnSpec['type'], string>> = {
  text: 'text[]',
  integer: 'bigint[]',
  real: 'double precision[]',
  boolean: 'boolean[]',
  json: 'text[]',
  bytes: 'bytea[]',
}

/** Writes rows, with the words of their full-text index. */
async function writeRows(client: ClientBase, table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
  const written = table.columns.map(({ name, type }, index) => ({
    ...{ name, type: arrays[type], values: rows.map((row): unknown => row[index]) },
    value: type === 'json' ? `v${index}::json` : `v${index}`,
  }))
  const { search } = table
  if (search !== undefined) {
    const places = search.columns.map((name) => table.columns.findIndex((column) => column.name === name))
    const textsOf = (row: MovedRow) => places.map((place) => row[place] as string | null)
    written.push({
      ...{
        name: wordsColumn,
        type: 'text[]',
        values: rows.map((row) => lexemesOf(indexText(search, textsOf(row))).join(' ')),
      },
      value: `array_to_tsvector(string_to_array(v${written.length}, ' '))`,
    })
  }
  await all(client)(sql`insert into ${quoted(table.name)} (${join(written.map(({ name }) => quoted(name)))})
    select ${join(written.map(({ value }) => raw(value)))}
      from unnest(${join(written.map(({ values, type }) => sql`${values}::${raw(type)}`))})
        as made (${join(written.map((_, index) => raw(`v${index}`)))})`)
}
