/** What a SQLite file holds, and what it is remembered to have been given. */
import type { DatabaseSync } from 'node:sqlite'
import type { Catalog } from '../../model/resource.ts'
import { type Given, givenAlso } from '../migration/lineage.ts'
import type { ExistingColumn, ExistingSchema, ExistingTable } from '../migration/migration.ts'
import { type Renamed, renamedShape, type Shape, type ShapedTable, shapeOf } from '../migration/shape.ts'
import { isSystemTable } from '../sql/system-tables.ts'
import type { Held } from '../sql/table-spec.ts'
import { indexPrefix, searchTable, type TableSpec } from '../sql/tables.ts'
import { partNames, undividedSearch } from './search-parts.ts'

interface SchemaRow {
  readonly type: string
  readonly name: string
  readonly tbl_name: string
}

/** Reads what a database holds. It reads the schema only, never the records; call it within a transaction. */
export function readSchema(database: DatabaseSync): ExistingSchema {
  const rows = database.prepare('select type, name, tbl_name from sqlite_schema').all() as unknown as SchemaRow[]
  const shape = readShape(database, rows)
  const ours = new Set(shape.tables.map((table) => table.name))
  const present = new Set(rows.filter((row) => row.type === 'table').map((row) => row.name))
  const tables = shape.tables.filter((table) => present.has(table.name))
  const clocks = new Set(readClocks(database, present))
  const columns = readColumns(
    database,
    tables.map((table) => table.name),
  )
  const indexes = Map.groupBy(
    rows.filter((row) => row.type === 'index'),
    (row) => row.tbl_name,
  )
  return {
    foreign: rows.filter((row) => !ours.has(row.tbl_name)).map((row) => row.name.toLowerCase()),
    tables: tables.map((table): ExistingTable => {
      const { name } = table
      const remembered = new Map(table.columns.map((column) => [column.name, column]))
      return {
        name,
        columns: (columns.get(name) ?? []).map((column) => remembered.get(column.name) ?? unknownColumn(column)),
        indexes: (indexes.get(name) ?? []).map((row) => row.name).filter((index) => isOurs(index, name)),
        search: existingSearch(table, present),
        clock: isSystemTable(name) || clocks.has(name),
      }
    }),
  }
}

/** The full-text index of a table. One that was made before there were parts, or lacks one, holds nothing of use. */
function existingSearch({ name, search }: ShapedTable, present: ReadonlySet<string>): ExistingTable['search'] {
  const parts = partNames(searchTable(name))
  if (parts.every((part) => present.has(part))) return { name: searchTable(name), columns: search }
  const isThere = [...parts, undividedSearch(name)].some((table) => present.has(table))
  return isThere ? { name: searchTable(name), columns: [] } : undefined
}

function isOurs(index: string, table: string): boolean {
  return index.startsWith(indexPrefix(table)) && /_[0-9a-f]{6}$/.test(index)
}

/**
 * Remembers the shape that the database has now, in the transaction that gave it that shape.
 *
 * @param concerned the tables that it was about: of others is remembered what was; left out: there are no others
 */
export function keepShape(database: DatabaseSync, tables: readonly TableSpec[], concerned?: ReadonlySet<string>): void {
  writeShape(database, shapeOf(tables, rememberedShape(database), concerned))
}

/** Remembers other names of a table, or of its columns, and what a column holds now, in the transaction that changed them. */
export function keepNames(database: DatabaseSync, table: string, changed: Renamed): void {
  writeShape(database, renamedShape(rememberedShape(database), table, changed))
}

function writeShape(database: DatabaseSync, shape: Shape): void {
  putMeta(database, 'shape', JSON.stringify(shape))
}

function putMeta(database: DatabaseSync, key: string, value: string): void {
  database
    .prepare(
      'insert into resourced_meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
    )
    .run(key, value)
}

const versionKey = 'version'
const lineageKey = 'declarations'

/** The version whose names the tables have; `undefined` where nothing is stored yet. */
export function storedVersion(database: DatabaseSync, catalog: Catalog): string | undefined {
  const rows = database.prepare('select type, name, tbl_name from sqlite_schema').all() as unknown as SchemaRow[]
  if (readShape(database, rows).tables.length === 0) return undefined
  const kept = database.prepare('select value from resourced_meta where key = ?').get(versionKey)
  // Before there were several, the first was the only one.
  return (kept?.['value'] as string | undefined) ?? [...catalog.versions.keys()][0] ?? catalog.version
}

/** Remembers whose names the tables have from now on. */
export function keepVersion(database: DatabaseSync, version: string): void {
  putMeta(database, versionKey, version)
}

/** The declarations that a database was given, the last one last. */
export function readLineage(database: DatabaseSync): readonly Given[] {
  const has = database.prepare("select 1 from sqlite_schema where name = 'resourced_meta'").get() !== undefined
  const kept = has ? database.prepare('select value from resourced_meta where key = ?').get(lineageKey) : undefined
  return kept === undefined ? [] : JSON.parse(String(kept['value']))
}

/** Remembers that a database was given the declaration of a catalog. */
export function keepLineage(database: DatabaseSync, catalog: Catalog): void {
  putMeta(database, lineageKey, JSON.stringify(givenAlso(readLineage(database), catalog)))
}

function readShape(database: DatabaseSync, rows: readonly SchemaRow[]): Shape {
  return rows.some((row) => row.name === 'resourced_meta') ? rememberedShape(database) : { tables: [] }
}

function rememberedShape(database: DatabaseSync): Shape {
  const kept = database.prepare("select value from resourced_meta where key = 'shape'").get()
  return kept === undefined ? { tables: [] } : (JSON.parse(kept.value as string) as Shape)
}

function readClocks(database: DatabaseSync, present: ReadonlySet<string>): string[] {
  if (!present.has('resourced_clocks')) return []
  return database
    .prepare('select collection from resourced_clocks')
    .all()
    .map((row) => row.collection as string)
}

interface ColumnRow {
  readonly table: string
  readonly name: string
  readonly type: string
}

function readColumns(database: DatabaseSync, tables: readonly string[]): Map<string, ColumnRow[]> {
  const statement =
    'select t.value as "table", c.name, c.type from json_each(?) as t join pragma_table_xinfo(t.value) as c'
  const rows = database.prepare(statement).all(JSON.stringify(tables)) as unknown as ColumnRow[]
  return Map.groupBy(rows, (row) => row.table)
}

const holdsByType: Readonly<Record<string, Held>> = { TEXT: 'string', INTEGER: 'integer', REAL: 'number' }

/** A column that someone else has added: it is taken at its type. */
function unknownColumn({ name, type }: ColumnRow): ExistingColumn {
  return { name, holds: holdsByType[type.toUpperCase()] ?? 'string', required: false }
}
