/** What a PostgreSQL schema holds, and what it is remembered to have been given. */
import type { ClientBase } from 'pg'
import type { ExistingColumn, ExistingSchema, ExistingTable } from '../../migration/migration.ts'
import type { ShapedTable } from '../../migration/shape.ts'
import { isSystemTable } from '../../sql/system-tables.ts'
import type { Held } from '../../sql/table-spec.ts'
import { indexPrefix, searchTable } from '../../sql/tables.ts'
import { postgres, wordsColumn } from '../engine.ts'
import { type Remembered, readRemembered } from './remembered.ts'
import { query } from './session.ts'

/** What there is, and what of it is half made. */
export interface FoundSchema extends ExistingSchema, Remembered {
  /** Indexes of ours that were left half made: they are kept up to date, and are of no use. */
  readonly halfMade: readonly { readonly name: string; readonly table: string }[]
  /** Of tables whose words are there: the columns that they come from. Their index may be lacking. */
  readonly words: ReadonlyMap<string, readonly string[]>
}

interface Relation {
  readonly name: string
  readonly kind: string
  /** The table of an index. */
  readonly table: string | null
  /** Of an index, whether it is whole. */
  readonly valid: number | null
}

const nothing: Remembered = { shape: { tables: [] }, version: undefined, lineage: [] }

/** The schema in which everything is: the first of the search_path that exists. */
const here = '(select oid from pg_namespace where nspname = current_schema())'

/** Reads what a schema holds. It reads the catalog of the database only, never the records; call it within a transaction. */
export async function readSchema(client: ClientBase): Promise<FoundSchema> {
  const relations = await readRelations(client)
  const present = new Set(relations.filter((each) => isTable(each.kind)).map((each) => each.name))
  const remembered = present.has('resourced_meta') ? await readRemembered(client) : nothing
  const { shape } = remembered
  const ours = new Set(shape.tables.map((table) => table.name))
  const tables = shape.tables.filter((table) => present.has(table.name))
  const columns = await readColumns(client, [...ours])
  const clocks = new Set(present.has('resourced_clocks') ? await readClocks(client) : [])
  const indexes = Map.groupBy(
    relations.filter((each) => each.table !== null && isOurs(each.name, each.table)),
    (each) => each.table!,
  )
  const words = new Map(
    tables.filter((table) => hasWords(columns.get(table.name))).map(({ name, search }) => [name, search]),
  )
  return {
    foreign: relations.filter((each) => !ours.has(each.table ?? each.name)).map((each) => each.name),
    tables: tables.map((table): ExistingTable => {
      const { name } = table
      const whole = (indexes.get(name) ?? []).filter((each) => each.valid === 1).map((each) => each.name)
      const held = new Map(table.columns.map((column) => [column.name, column]))
      return {
        name,
        columns: (columns.get(name) ?? [])
          .filter((column) => column.name !== wordsColumn)
          .map((column) => held.get(column.name) ?? unknownColumn(column)),
        indexes: whole.filter((index) => index !== searchTable(name)),
        search: existingSearch(table, words.has(name), whole),
        clock: isSystemTable(name) || clocks.has(name),
      }
    }),
    halfMade: [...indexes].flatMap(([table, found]) =>
      ours.has(table) ? found.filter((each) => each.valid !== 1).map(({ name }) => ({ name, table })) : [],
    ),
    words,
    ...remembered,
  }
}

/** The full-text index of a table. Words without an index of them, such as a killed migration leaves, are to be indexed. */
function existingSearch(
  { name, search }: ShapedTable,
  hasWords: boolean,
  whole: readonly string[],
): ExistingTable['search'] {
  if (!hasWords) return undefined
  return { name: searchTable(name), columns: whole.includes(searchTable(name)) ? search : [] }
}

function isOurs(index: string, table: string): boolean {
  return index === searchTable(table) || (index.startsWith(indexPrefix(table)) && /_[0-9a-f]{6}$/.test(index))
}

function isTable(kind: string): boolean {
  return kind === 'r' || kind === 'p'
}

function hasWords(columns: readonly ColumnRow[] | undefined): boolean {
  return columns?.some((column) => column.name === wordsColumn && column.type === 'tsvector') ?? false
}

/** All that has a name which a table of ours could not have: types too, because a table is one. */
async function readRelations(client: ClientBase): Promise<Relation[]> {
  const rows = await query(
    client,
    `select c.relname as name, c.relkind::text as kind, t.relname as table, i.indisvalid as valid
       from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
       where c.relnamespace = ${here}
     union all
     select typname, 'type', null, null from pg_type
       where typnamespace = ${here} and typrelid = 0 and typcategory <> 'A'`,
  )
  return rows as unknown as Relation[]
}

async function readClocks(client: ClientBase): Promise<string[]> {
  const statement = 'select collection from resourced_clocks group by collection having count(*) = $1'
  return (await query(client, statement, [postgres.layout.clockSlots])).map((row) => String(row['collection']))
}

interface ColumnRow {
  readonly table: string
  readonly name: string
  readonly type: string
}

async function readColumns(client: ClientBase, tables: readonly string[]): Promise<Map<string, ColumnRow[]>> {
  const rows = await query(
    client,
    `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
       from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = ${here} and c.relname = any($1) and a.attnum > 0 and not a.attisdropped
       order by a.attnum`,
    [tables],
  )
  return Map.groupBy(rows as unknown as ColumnRow[], (row) => row.table)
}

const holdsByType: Readonly<Record<string, Held>> = {
  bigint: 'integer',
  integer: 'integer',
  smallint: 'integer',
  'double precision': 'number',
  real: 'number',
  boolean: 'boolean',
  json: 'json',
}

/** A column that someone else has added: it is taken at its type. */
function unknownColumn({ name, type }: ColumnRow): ExistingColumn {
  return { name, holds: holdsByType[type] ?? 'string', required: false }
}

/** Whether a server has ever used this schema: whether it has the table of the switch of maintenance, among others. */
export async function isInUse(client: ClientBase): Promise<boolean> {
  const found = `select 1 as one from pg_class where relnamespace = ${here} and relname = 'resourced_meta' and relkind = 'r'`
  return (await query(client, found)).length > 0
}
