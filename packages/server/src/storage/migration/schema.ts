/**
 * Reads the tables of a database, and their description in `resourced_meta`. The engine's catalog has the columns. Only
 * the description has the tables that are ours, the types of values in columns, and whether a column has no nulls.
 */

import { hyphenedForm, longestName } from 'resourced-contract/model/names'
import type { Catalog } from 'resourced-contract/model/resource'
import sql from 'sql-template-tag'
import { columnTypes } from '../sql/columns.ts'
import { isSystemTable } from '../sql/system-tables.ts'
import { type Held, indexPrefix, type TableSpec } from '../sql/tables.ts'
import { StorageFault } from '../storage.ts'
import { parsedJson, type Transaction } from '../transaction.ts'
import type { ExistingColumn, ExistingSchema, ExistingTable } from './diff.ts'
import type { MigrationDialect } from './migration-dialect.ts'

/** A table as it is remembered. */
interface ShapedTable {
  readonly name: string
  readonly columns: readonly ExistingColumn[]
  /** The columns whose words are in its full-text index. */
  readonly search: readonly string[]
}

interface Shape {
  readonly tables: readonly ShapedTable[]
}

/** A declaration, as far as a database sees it: the version that its tables are named by, and a hash of its tables. */
interface AppliedDeclaration {
  readonly version: string
  readonly hash: string
}

/** What `resourced_meta` remembers for migrations. */
interface Remembered {
  readonly shape: Shape
  /** The version whose names the tables have. */
  readonly version: string | undefined
  /** The declarations that were applied to the database, the newest last. */
  readonly lineage: readonly AppliedDeclaration[]
  /** The storage format in which the database was written. */
  readonly format: number
}

/** A trigger of ours, as it is. */
export interface ExistingTrigger {
  /** Its table. */
  readonly owner: string
  readonly name: string
  readonly definition: string
}

/** A database's tables, and their stored description. */
export interface FoundSchema extends ExistingSchema, Remembered {
  /** The schema that holds everything, quoted. */
  readonly schemaName: string
  readonly triggers: readonly ExistingTrigger[]
}

/** A row of `MigrationDialect.relations`. */
interface Relation {
  readonly name: string
  /** The name as the engine compares it. */
  readonly folded: string
  readonly kind: string
  /** The table of an index; of anything else, its own name. */
  readonly owner: string
  readonly valid: number
}

/** A row of `MigrationDialect.columnsOf`. */
interface ColumnRow {
  readonly owner: string
  readonly name: string
  /** The engine's name of the type, in lower case. */
  readonly type: string
}

/** Reads the catalog of a database and the stored description, never the records. */
export function* readSchema(dialect: MigrationDialect): Transaction<FoundSchema> {
  const relations = (yield dialect.relations) as unknown as Relation[]
  const present = new Set(relations.filter(({ kind }) => kind === 'table').map(({ name }) => name))
  const valid = new Set(relations.filter((each) => each.valid === 1).map(({ name }) => name))
  const remembered = present.has('resourced_meta')
    ? yield* readRemembered()
    : { shape: { tables: [] }, version: undefined, lineage: [], format: 1 }
  const tables = remembered.shape.tables.filter(({ name }) => present.has(name))
  const names = tables.map(({ name }) => name)
  const columnRows = (yield dialect.columnsOf(names)) as unknown as ColumnRow[]
  const columns = Map.groupBy(columnRows, ({ owner }) => owner)
  const indexes = Map.groupBy(relations.filter(isIndexOfOurs), ({ owner }) => owner)
  const clocks = new Set(present.has('resourced_clocks') ? yield* readClocks(dialect) : [])
  const triggerRows = (yield dialect.eventTriggersFound) as unknown as (ExistingTrigger & { readonly schema: string })[]
  const ours = new Set(remembered.shape.tables.map(({ name }) => name))
  return {
    ...remembered,
    schemaName: triggerRows[0]!.schema,
    triggers: triggerRows.filter(({ name }) => name !== null),
    foreign: relations.filter(({ owner }) => !ours.has(owner)).map(({ folded }) => folded),
    tables: tables.map((table): ExistingTable => {
      const { name } = table
      const found = columns.get(name) ?? []
      const known = new Map(table.columns.map((column) => [column.name, column]))
      const own = indexes.get(name) ?? []
      return {
        name,
        columns: found
          .filter((column) => column.name !== dialect.searchColumn)
          .map((column) => known.get(column.name) ?? foreignColumn(column)),
        indexes: own.filter((index) => index.valid === 1).map((index) => index.name),
        invalidIndexes: own.filter((index) => index.valid !== 1).map((index) => index.name),
        search: dialect.searchOf(table, valid, new Set(found.map((column) => column.name))),
        hasClock: isSystemTable(name) || clocks.has(name),
      }
    }),
  }
}

/** Whether an index of a table has a name that this program makes. */
export function isIndexOfOurs({ kind, name, owner }: Pick<Relation, 'kind' | 'name' | 'owner'>): boolean {
  return kind === 'index' && name.startsWith(indexPrefix(owner)) && /_[0-9a-f]{6}$/.test(name)
}

/** The collections whose clock has all of its slots. */
function* readClocks({ layout }: MigrationDialect): Transaction<string[]> {
  const rows =
    yield sql`select collection from resourced_clocks group by collection having count(*) = ${layout.clockSlots}`
  return rows.map((row) => String(row['collection']))
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

/** A foreign column: its values follow from its type. */
function foreignColumn({ name, type }: ColumnRow): ExistingColumn {
  return { name, holds: holdsByType[type] ?? 'string', required: false }
}

/**
 * The storage format that this program writes. Increase it with every change after which a program of the former number
 * would fail on a database, or write what this program does not understand: then such a program refuses to start. A new
 * table or column for features that the former program does not know needs a new number too.
 */
export const storageFormat = 3

function* readRemembered(): Transaction<Remembered> {
  const rows = yield sql`select key, value from resourced_meta
    where key in ('format', 'shape', 'version', 'declarations')`
  const value = (key: string) => rows.find((row) => row['key'] === key)?.['value'] as string | undefined
  // A database without a number dates from before there were any.
  const format = Number(value('format') ?? 1)
  // First: a newer program may describe its tables in another way.
  if (format !== Math.trunc(format) || format > storageFormat) throw newerFormat(value('format'))
  const shape = checkedShape(parsedJson(value('shape') ?? '{"tables":[]}'))
  const lineage = parsedJson(value('declarations') ?? '[]')
  if (!Array.isArray(lineage) || !lineage.every(isApplied)) throw notWritten()
  return { shape, version: value('version'), lineage, format }
}

function newerFormat(format: string | undefined): StorageFault {
  const written = 'A newer release of Resourced has written to the database'
  const found = `${written}: its storage format is ${JSON.stringify(format)}`
  const remedy = 'Start that release or a newer one. To return to this one, restore a backup that it made.'
  return new StorageFault('failed', `${found}, and this release knows ${storageFormat}. ${remedy}`)
}

function notWritten(): StorageFault {
  const found = 'The description of the tables in resourced_meta is none that this program writes'
  return new StorageFault('failed', `${found}: the database is damaged, or was changed by another program.`)
}

const columnForm =
  /^(?:_(?:instant|decimal|folded|member|changed|renamed)_)?[a-z][a-z\d_]*$|^_(?:row|deletion|revision)$/
const decimalForm = /^decimal\(\d{1,3},\d{1,3}\)$/
const mostTables = 10_000
const mostColumns = 2_000

/**
 * Checks the description of the tables: its names become parts of statements.
 *
 * @throws StorageFault where this program cannot have written it
 */
function checkedShape(found: unknown): Shape {
  const { tables } = (found ?? {}) as { readonly tables?: unknown }
  if (!Array.isArray(tables) || tables.length > mostTables) throw notWritten()
  if (!tables.every(isShapedTable) || new Set(tables.map(({ name }) => name)).size < tables.length) throw notWritten()
  return { tables }
}

function isShapedTable(found: unknown): found is ShapedTable {
  const { name, columns, search } = (found ?? {}) as { readonly [Key in keyof ShapedTable]?: unknown }
  const isNamed = typeof name === 'string' && (isSystemTable(name) || isCollection(name))
  if (!isNamed || !Array.isArray(columns) || columns.length > mostColumns || !Array.isArray(search)) return false
  const names = new Set(columns.map((column) => column?.name))
  return columns.every(isShapedColumn) && names.size === columns.length && search.every((each) => names.has(each))
}

function isApplied(found: unknown): found is AppliedDeclaration {
  const { version, hash } = (found ?? {}) as { readonly [Key in keyof AppliedDeclaration]?: unknown }
  return typeof version === 'string' && typeof hash === 'string'
}

function isCollection(name: string): boolean {
  return hyphenedForm.test(name) && name.length <= longestName
}

function isShapedColumn(found: unknown): found is ExistingColumn {
  const { name, holds, required, sequence = '' } = (found ?? {}) as { readonly [Key in keyof ExistingColumn]?: unknown }
  const isNamed = typeof name === 'string' && columnForm.test(name) && name.length <= 2 * longestName
  const isTyped = typeof holds === 'string' && (Object.hasOwn(columnTypes, holds) || decimalForm.test(holds))
  const isNumbered = typeof sequence === 'string' && (sequence === '' || columnForm.test(sequence))
  return isNamed && isTyped && isNumbered && typeof required === 'boolean'
}

/** The version whose names the tables have; `undefined` where nothing is stored yet. */
export function storedVersion({ shape, version }: FoundSchema, catalog: Catalog): string | undefined {
  if (shape.tables.length === 0) return undefined
  // A database without a remembered version dates from when there was only the first.
  return version ?? [...catalog.versions.keys()][0] ?? catalog.version
}

/** Remembers something in `resourced_meta`, in the transaction that makes it true. */
export function* remember(key: 'format' | 'version' | 'shape' | 'declarations', value: string): Transaction<void> {
  yield sql`insert into resourced_meta (key, value) values (${key}, ${value})
    on conflict (key) do update set value = excluded.value`
}

/**
 * Remembers the shape of tables after a migration.
 *
 * @param concerned the tables that the migration was about, where the remembered shape of others stays
 */
export function* rememberShape(tables: readonly TableSpec[], concerned?: ReadonlySet<string>): Transaction<void> {
  const { shape } = yield* readRemembered()
  const others = concerned === undefined ? [] : shape.tables.filter(({ name }) => !concerned.has(name))
  const given = tables.map((table) => ({
    name: table.name,
    columns: table.columns.map(({ name, holds, required, sequence }) => ({
      ...{ name, holds, required },
      ...(sequence !== undefined && { sequence }),
    })),
    search: table.search?.columns ?? [],
  }))
  yield* remember('shape', JSON.stringify({ tables: [...given, ...others] }))
}

/** Remembers another name of a table, or other columns. Its full-text index counts as empty from then on. */
export function* rememberChange(
  table: string,
  { name = table, column = (each) => each }: { name?: string; column?(column: ExistingColumn): ExistingColumn },
): Transaction<void> {
  const { shape } = yield* readRemembered()
  const tables = shape.tables.map((each) =>
    each.name === table ? { ...each, name, columns: each.columns.map(column), search: [] } : each,
  )
  yield* remember('shape', JSON.stringify({ tables }))
}
