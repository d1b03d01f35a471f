/** Brings a PostgreSQL database to what a catalog needs. */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../model/resource.ts'
import { tablesFor } from '../sql/tables.ts'
import { postgres } from './dialect.ts'

/** Makes the tables of a catalog in an empty database. */
export async function createTables(client: ClientBase, catalog: Catalog): Promise<void> {
  await client.query('begin')
  for (const table of tablesFor(catalog, postgres.layout)) {
    await client.query(postgres.createTable(table))
    for (const index of table.indexes) await client.query(postgres.createIndex(index))
    if (table.search !== undefined) await client.query(postgres.createSearch(table.search))
    if (table.kind === 'system') continue
    const slots = 'insert into resourced_clocks select $1, slot, 0, 0, 0 from generate_series(0, 15) as slot'
    await client.query(slots, [table.name])
  }
  await client.query('commit')
}
