/** The tables of a database as it describes them itself: to copy a database, no declaration is needed. */
import type { Catalog } from 'resourced-contract/model/resource'
import { resourceTableFrom } from '../sql/found-tables.ts'
import { isSystemTable, systemTables } from '../sql/system-tables.ts'
import { type ResourceTable, resourceTables } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import type { Transaction } from '../transaction.ts'
import type { ExistingTable } from './diff.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import { type FoundSchema, readSchema } from './schema.ts'

/** The tables of resources, and the version whose names they have. */
export interface StoredSchema extends Pick<FoundSchema, 'version'> {
  readonly tables: readonly ResourceTable[]
}

/** The schema that a catalog needs. */
export function schemaOf(catalog: Catalog): StoredSchema {
  return { version: catalog.version, tables: resourceTables(catalog) }
}

/** A row of `MigrationDialect.indexesOf`. */
interface IndexRow {
  readonly name: string
  /** 1: unique. */
  readonly unique: number
  /** The names of its columns in order, as a JSON array. */
  readonly columns: string
}

/**
 * Reads the schema of a database.
 *
 * @throws StorageFault where another release of this program made its tables
 */
export function* readStoredSchema(dialect: MigrationDialect): Transaction<StoredSchema> {
  const { tables, version } = yield* readSchema(dialect)
  requireSystemTables(dialect, tables)
  const resources = tables.filter(({ name }) => !isSystemTable(name))
  const rows = (yield dialect.indexesOf(resources.map(({ name }) => name))) as unknown as IndexRow[]
  const indexes = new Map(
    rows.map(({ name, unique, columns }) => [name, { unique: unique === 1, columns: JSON.parse(columns) }] as const),
  )
  return {
    version,
    tables: resources.map((table) => {
      const found = table.indexes.flatMap((name) => indexes.get(name) ?? [])
      const made = resourceTableFrom({ ...table, indexes: found, search: table.search?.columns ?? [] })
      if (made === undefined) throw ofOtherRelease(table.name)
      return made
    }),
  }
}

function requireSystemTables({ layout }: MigrationDialect, tables: readonly ExistingTable[]): void {
  const found = new Map(tables.map((table) => [table.name, table]))
  for (const { name, columns } of systemTables(layout)) {
    const existing = found.get(name)?.columns.map((column) => column.name)
    const expected = columns.map((column) => column.name)
    if (existing?.toSorted().join() !== expected.toSorted().join()) throw ofOtherRelease(name)
  }
}

function ofOtherRelease(table: string): StorageFault {
  const remedy = 'Bring the database up to date first: start a server of this release on it, or run resourced migrate.'
  return new StorageFault('failed', `Another release of Resourced made the table ${table}. ${remedy}`)
}
