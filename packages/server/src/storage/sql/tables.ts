/** Tables, columns and indexes as data, independent of the engine, and those of the resources of a catalog. */
import { createHash } from 'node:crypto'
import { historyCollection } from 'resourced-contract/model/names'
import type { Catalog, Field, FieldType, Resource } from 'resourced-contract/model/resource'
import { isHistory } from 'resourced-contract/model/resource'
import {
  type ColumnType,
  columnsOf,
  columnTypes,
  comparisonColumn,
  foldedColumn,
  type IndexedColumns,
  identifier,
  indexedColumns,
  isRemoval,
} from './columns.ts'
import { type EventSpec, eventSpecOf } from './event-columns.ts'
import { type SummarySpec, summarySpecsOf } from './kept-summaries.ts'
import { type TotalSpec, totalSpecsOf } from './totals.ts'
import type { Derived } from './values.ts'

/** The constraint of a column. `row`: the number that the engine gives to each row. */
type Constraint = 'row' | 'primary key' | 'unique not null' | 'not null' | 'none'

/** The type of the values in a column. Decimals with another precision or scale are converted. */
export type Held = Exclude<FieldType, 'decimal'> | `decimal(${number},${number})`

/** The type of the values in the column of a field. */
function heldBy({ type, decimal }: Pick<Field, 'type' | 'decimal'>): Held {
  if (type !== 'decimal' || decimal === undefined) return type as Exclude<FieldType, 'decimal'>
  return `decimal(${decimal.precision},${decimal.scale})`
}

/** The type of a column for values of a type. */
export function typeOfHeld(held: Held): ColumnType {
  return columnTypes[held.startsWith('decimal') ? 'decimal' : (held as FieldType)]
}

export interface ColumnSpec {
  readonly name: string
  /** `bytes`: in tables of the system only. */
  readonly type: ColumnType | 'bytes'
  /** The type of its values: several of them may share a type of column. */
  readonly holds: Held
  readonly constraint: Constraint
  /** Whether values are required. The program checks it, not the database, so that a change needs no new table. */
  readonly required: boolean
  /** The value for existing rows that have none; `undefined`: no value. */
  readonly default: unknown
  /** The column whose comparison key this one holds. */
  readonly derived: Derived | undefined
  /** The field whose values are numbered separately; empty: the whole table is; left out: it is no sequence. */
  readonly sequence?: string
}

/**
 * An index. `live`: of rows that are not deleted; `deleted`: of those that are; `deletion`: of rows that belong to a
 * deletion of several records; `removal`: of events of removals.
 */
export interface IndexSpec {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  readonly unique: boolean
  readonly where: 'everything' | 'live' | 'deleted' | 'deletion' | 'removal'
}

/** The full-text index of a table. */
export interface SearchSpec extends IndexedColumns {
  readonly name: string
  readonly table: string
}

export interface TableSpec {
  readonly name: string
  readonly kind: 'resource' | 'system'
  readonly columns: readonly ColumnSpec[]
  readonly indexes: readonly IndexSpec[]
  readonly search: SearchSpec | undefined
  /** What events contain of its rows; `undefined`: its changes are no events. */
  readonly events: EventSpec | undefined
  /** The summaries that its changes keep (SUM-3). */
  readonly summaries: readonly SummarySpec[]
  /** The sums of its rows that other tables hold. */
  readonly totals: readonly TotalSpec[]
}

/** The differences between the tables of engines, except for the names of types. */
export interface Layout {
  /** The number of rows of a collection's clock: so many transactions can update it at the same time. */
  readonly clockSlots: number
  /** Whether an index must contain the row number for rows to be read from it in the order of their numbers. */
  readonly indexesRowNumber: boolean
  /** Whether the database stores the files of exports, because its servers share no folder. */
  readonly storesExports: boolean
}

/** A column of a system table, or a system column. */
export function column(name: string, holds: 'string' | 'integer' | 'json', constraint: Constraint): ColumnSpec {
  const type = holds === 'string' ? 'text' : holds
  return { name, type, holds, constraint, required: false, default: undefined, derived: undefined }
}

/** The most bytes of a name that all engines accept. */
const longestName = 63

/** The prefix of the names of a table's indexes, which distinguishes them from indexes of other programs. */
export function indexPrefix(table: string): string {
  return `${table}_by_`.slice(0, longestName - 7)
}

/** An index. Its name contains a hash of its definition, so that a changed definition is another index. */
export function index(
  columns: readonly ColumnSpec[],
  table: string,
  names: readonly string[],
  unique = false,
  where: IndexSpec['where'] = 'live',
): IndexSpec {
  // A column with another type of values gets a new index.
  const holds = names.map((name) => columns.find((each) => each.name === name)?.holds)
  const definition = JSON.stringify([table, names, holds, unique, where])
  const hash = createHash('sha256').update(definition).digest('hex').slice(0, 6)
  const readable = `${table}_by_${names.join('_')}`.slice(0, longestName - 7)
  return { name: `${readable}_${hash}`, table, columns: names, unique, where }
}

/** The end of `create index`: which rows a partial index contains. */
const indexConditions: Readonly<Record<IndexSpec['where'], string>> = {
  everything: '',
  live: ' where deleted_at is null',
  deleted: ' where deleted_at is not null',
  deletion: ' where _deletion is not null',
  removal: ` where ${isRemoval}`,
}

/** A statement that creates an index, as every engine takes it. */
export function createIndex({ name, table, columns, unique, where }: IndexSpec): string {
  const made = `create ${unique ? 'unique ' : ''}index ${identifier(name)}`
  return `${made} on ${identifier(table)} (${columns.map(identifier).join(', ')})${indexConditions[where]}`
}

const constraints: Readonly<Record<Exclude<Constraint, 'row'>, string>> = {
  'primary key': ' primary key',
  'unique not null': ' not null unique',
  'not null': ' not null',
  none: '',
}

/**
 * A column's definition.
 *
 * @param row the constraint of the number of rows
 */
export function defineColumn(
  { name, type, constraint }: ColumnSpec,
  types: Readonly<Record<ColumnSpec['type'], string>>,
  row: string,
): string {
  return `${identifier(name)} ${types[type]}${constraint === 'row' ? row : constraints[constraint]}`
}

/** The table of a resource, which every engine lays out in its own way. */
export interface ResourceTable
  extends Pick<TableSpec, 'name' | 'columns' | 'search' | 'events' | 'summaries' | 'totals'> {
  /** The indexes of live records that the declaration needs. */
  readonly declaredIndexes: readonly Pick<IndexSpec, 'columns' | 'unique'>[]
  /** Whether its rows are read in the order of their numbers, and are never deleted records. */
  readonly isByPosition: boolean
}

/** The tables of a catalog's resources. */
export function resourceTables(catalog: Catalog): ResourceTable[] {
  const all = [...catalog.resources.values(), ...catalog.system.values()]
  return all.map((resource) => resourceTable(catalog, resource))
}

/** The name of the full-text index of a collection; on SQLite the prefix of its tables. */
export function searchTable(collection: string): string {
  return `resourced_words_${collection}`
}

function resourceTable(catalog: Catalog, resource: Resource): ResourceTable {
  const columns = columnsOf(resource).map(({ name, type, field, member, role }): ColumnSpec => {
    if (role !== 'value') {
      const holds = type === 'real' ? 'number' : type === 'boolean' ? type : 'string'
      const derived = { from: field.name, by: role, ...(member && { member }) }
      return { ...column(name, 'string', 'none'), type, holds, derived }
    }
    return {
      ...column(name, 'string', 'none'),
      type,
      holds: heldBy(field),
      required: field.required,
      default: field.default,
      ...(field.sequence !== undefined && { sequence: field.sequence.per ?? '' }),
    }
  })
  const key = (name: string) => comparisonColumn(resource, name)
  const isByPosition = resource.order === 'by-position'
  const declaredIndexes = (isHistory(resource) ? [] : resource.indexes).map(({ fields, kind }) =>
    kind === 'unique'
      ? { columns: fields.map(key), unique: true }
      : isByPosition
        ? { columns: fields.map(key), unique: false }
        : { columns: [...fields.map(kind === 'folded' ? foldedColumn : key), 'id'], unique: false },
  )
  const { before, after } = systemColumns
  return {
    name: resource.name,
    columns: [...before, ...columns, ...after],
    declaredIndexes,
    isByPosition,
    search: searchOf(resource.name, indexedColumns(resource)),
    events: eventSpecOf(resource),
    summaries: summarySpecsOf(resource),
    totals: totalSpecsOf(catalog, resource),
  }
}

/** The columns that every record has, before and after those of its fields. */
const systemColumns = {
  before: [column('_row', 'integer', 'row'), column('id', 'string', 'not null')],
  after: [
    column('created_at', 'string', 'not null'),
    column('updated_at', 'string', 'not null'),
    column('deleted_at', 'string', 'none'),
    column('_deletion', 'string', 'none'),
    column('_revision', 'integer', 'not null'),
  ],
}

export const systemColumnByName = new Map(
  [...systemColumns.before, ...systemColumns.after].map((each) => [each.name, each] as const),
)

export function searchOf(table: string, indexed: IndexedColumns): SearchSpec | undefined {
  return indexed.columns.length > 0 ? { name: searchTable(table), table, ...indexed } : undefined
}

export function tableFor(table: ResourceTable, layout: Layout): TableSpec {
  const { declaredIndexes, isByPosition, ...rest } = table
  const { name, columns } = rest
  if (isByPosition) {
    // A revision is found by the position in its id (`idAt`).
    const byId = name === historyCollection ? [] : [{ columns: ['id'], unique: true }]
    const made = [...byId, ...declaredIndexes]
    const indexes = made.map((each) => index(columns, name, each.columns, each.unique, 'everything'))
    if (name === historyCollection) {
      const ofRecord = ['record_id', 'collection', 'created_at', ...(layout.indexesRowNumber ? ['_row'] : [])]
      indexes.push(index(columns, name, ofRecord, false, 'everything'))
    } else indexes.push(index(columns, name, ['kind'], false, 'removal'))
    return { ...rest, kind: 'resource', indexes }
  }
  const made = [
    index(columns, name, ['id'], true, 'everything'),
    ...declaredIndexes.map((each) => index(columns, name, each.columns, each.unique)),
    index(columns, name, layout.indexesRowNumber ? ['_deletion', '_row'] : ['_deletion'], false, 'deletion'),
    index(columns, name, ['deleted_at'], false, 'deleted'),
  ]
  const indexes = [...new Map(made.map((each) => [each.name, each])).values()]
  return { ...rest, kind: 'resource', indexes }
}
