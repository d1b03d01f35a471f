/** Tables of a catalog on the engine of the tests, and statements run on them by hand. */
import pg from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Sql } from 'sql-template-tag'
import { engine } from '../../../../../test/engine.ts'
import { emptyDatabase } from '../../../../../test/postgres/database.ts'
import { postgres } from '../postgres/dialect.ts'
import { migratePostgres } from '../postgres/migrate.ts'
import { settingsOf } from '../postgres/settings.ts'
import { Connection } from '../sqlite/connection.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { migrate } from '../sqlite/migrate.ts'
import type { Row, Transaction } from '../transaction.ts'
import type { Dialect } from './dialect.ts'

/** What statements are run on. */
export interface Tables {
  readonly dialect: Dialect
  /** Runs one; several may be sent at once, and are carried out in order. */
  all(statement: Pick<Sql, 'sql' | 'text' | 'values'>): Promise<Row[]>
  /** Runs a transaction's statements; BEGIN and COMMIT are the caller's. */
  run<T>(transaction: Transaction<T>): Promise<T>
  close(): Promise<void>
}

const options = { apply: 'additive', now: 0 } as const

/** Makes the tables of a catalog, empty. */
export async function openTables(catalog: Catalog): Promise<Tables> {
  const { all, ...tables } = engine === 'postgres' ? await inPostgres(catalog) : inSqlite(catalog)
  const run = async <T>(transaction: Transaction<T>) => {
    let step = transaction.next([])
    while (step.done !== true) step = transaction.next(await all(step.value))
    return step.value
  }
  return { ...tables, all, run }
}

function inSqlite(catalog: Catalog): Omit<Tables, 'run'> {
  const connection = new Connection(':memory:')
  migrate(connection.database, catalog, options)
  const all = async (statement: Pick<Sql, 'sql' | 'text' | 'values'>) => connection.all(statement)
  return { dialect: sqlite, all, close: async () => connection.close() }
}

async function inPostgres(catalog: Catalog): Promise<Omit<Tables, 'run'>> {
  const { url, remove } = await emptyDatabase()
  const client = new pg.Client(settingsOf({ url }))
  await client.connect()
  await migratePostgres(client, catalog, options)
  return {
    dialect: postgres,
    async all({ text, values }) {
      const { rows } = await client.query(text, values as unknown[])
      return rows
    },
    async close() {
      await client.end()
      await remove()
    },
  }
}
