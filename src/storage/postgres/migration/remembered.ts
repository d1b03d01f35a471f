/** What is remembered of a PostgreSQL database beside its records: its shape, and whose names its tables have. */
import type { ClientBase } from 'pg'
import type { Catalog } from '../../../model/resource.ts'
import { type Given, givenAlso } from '../../migration/lineage.ts'
import { type Renamed, renamedShape, type Shape, shapeOf } from '../../migration/shape.ts'
import type { TableSpec } from '../../sql/tables.ts'
import { query } from './session.ts'

/** What is remembered; of a database that is new, no version. */
export interface Remembered {
  readonly shape: Shape
  /** The declarations that it was given, the last one last. */
  readonly lineage: readonly Given[]
  readonly version: string | undefined
}

/** Reads it from `resourced_meta`, which has to be there. */
export async function readRemembered(client: ClientBase): Promise<Remembered> {
  const rows = await query(
    client,
    "select key, value from resourced_meta where key in ('shape', 'version', 'declarations')",
  )
  const value = (key: string) => rows.find((row) => row['key'] === key)?.['value'] as string | undefined
  const shape = JSON.parse(value('shape') ?? '{"tables":[]}')
  return { shape, version: value('version'), lineage: JSON.parse(value('declarations') ?? '[]') }
}

/** The version whose names the tables have; `undefined` where nothing is stored yet. */
export function storedVersion({ shape, version }: Remembered, catalog: Catalog): string | undefined {
  if (shape.tables.length === 0) return undefined
  // Before there were several, the first was the only one.
  return version ?? [...catalog.versions.keys()][0] ?? catalog.version
}

/** Remembers whose names the tables have from now on. */
export async function keepVersion(client: ClientBase, version: string): Promise<void> {
  await putMeta(client, 'version', version)
}

/** Remembers that the database was given the declaration of a catalog. */
export async function keepLineage(client: ClientBase, catalog: Catalog): Promise<void> {
  await putMeta(client, 'declarations', JSON.stringify(givenAlso((await readRemembered(client)).lineage, catalog)))
}

/** Remembers the shape that the database has now, in the transaction that gave it that shape (see `shapeOf`). */
export async function keepShape(
  client: ClientBase,
  tables: readonly TableSpec[],
  concerned?: ReadonlySet<string>,
): Promise<void> {
  await putMeta(client, 'shape', JSON.stringify(shapeOf(tables, (await readRemembered(client)).shape, concerned)))
}

/** Remembers other names of a table, or of its columns, and what a column holds now, in the transaction that changed them. */
export async function keepNames(client: ClientBase, table: string, changed: Renamed): Promise<void> {
  await putMeta(client, 'shape', JSON.stringify(renamedShape((await readRemembered(client)).shape, table, changed)))
}

async function putMeta(client: ClientBase, key: string, value: string): Promise<void> {
  const put =
    'insert into resourced_meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value'
  await query(client, put, [key, value])
}
