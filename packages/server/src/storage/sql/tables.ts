/**
 * Tables, columns and indexes as data, independent of the engine, and those that a database should hold for a catalog:
 * the tables of the system, and one for each resource.
 */
import { createHash } from 'node:crypto'
import { eventCollections, historyCollection } from 'resourced-contract/model/names'
import { isHistory } from 'resourced-contract/model/recorded'
import type { Catalog, Field, FieldType, Resource } from 'resourced-contract/model/resource'
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
import { figureKey, groupColumns, type SummarySpec, summariesTable, summarySpecsOf } from './kept-summaries.ts'
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

/** A column. */
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

/** A table. */
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
function index(
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

/** All tables for a catalog: those of the system, then one for each resource. */
export function tablesFor(catalog: Catalog, layout: Layout): TableSpec[] {
  return layOut(resourceTables(catalog), layout)
}

/** The tables of the system, then these, as an engine has them. */
export function layOut(resources: readonly ResourceTable[], layout: Layout): TableSpec[] {
  const hasEvents = eventCollections.every((name) => resources.some((table) => table.name === name))
  const hasSequences = resources.some(({ columns }) => columns.some(({ sequence }) => sequence !== undefined))
  const hasSummaries = resources.some(({ summaries }) => summaries.length > 0)
  const optional = [
    ...(hasEvents ? eventTables : []),
    ...(hasSequences ? [counters] : []),
    ...(hasSummaries ? [keptSummaries()] : []),
  ]
  const tables = [...systemTables(layout), ...optional]
  return [...tables, ...resources.map((table) => tableFor(table, layout))]
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

function tableFor(table: ResourceTable, layout: Layout): TableSpec {
  const { name, columns, declaredIndexes, search, events, summaries, totals } = table
  if (table.isByPosition) {
    const made = [{ columns: ['id'], unique: true }, ...declaredIndexes]
    const indexes = made.map((each) => index(columns, name, each.columns, each.unique, 'everything'))
    if (name === historyCollection) {
      const ofRecord = ['record_id', 'collection', 'created_at', ...(layout.indexesRowNumber ? ['_row'] : [])]
      indexes.push(index(columns, name, ofRecord, false, 'everything'))
    } else indexes.push(index(columns, name, ['kind'], false, 'removal'))
    return { name, kind: 'resource', columns, indexes, search, events, summaries, totals }
  }
  const made = [
    index(columns, name, ['id'], true, 'everything'),
    ...declaredIndexes.map((each) => index(columns, name, each.columns, each.unique)),
    index(columns, name, layout.indexesRowNumber ? ['_deletion', '_row'] : ['_deletion'], false, 'deletion'),
    index(columns, name, ['deleted_at'], false, 'deleted'),
  ]
  const indexes = [...new Map(made.map((each) => [each.name, each])).values()]
  return { name, kind: 'resource', columns, indexes, search, events, summaries, totals }
}

/** Properties of the database as a whole, by key: the last migrated shape, the secret of cursors. */
const meta = system('resourced_meta', [column('key', 'string', 'primary key'), column('value', 'string', 'not null')])

/**
 * One row for each resource: its newest revision and the exact numbers of live records and of deleted, retained ones.
 * With slots, the sum of its rows counts, and transactions update different rows.
 */
function clocks({ clockSlots }: Layout): TableSpec {
  const numbers = ['revision', 'live', 'deleted'].map((name) => column(name, 'integer', 'not null'))
  if (clockSlots === 1) return system('resourced_clocks', [column('collection', 'string', 'primary key'), ...numbers])
  const columns = [column('collection', 'string', 'not null'), column('slot', 'integer', 'not null'), ...numbers]
  const slot = index(columns, 'resourced_clocks', ['collection', 'slot'], true, 'everything')
  return { ...system('resourced_clocks', columns), indexes: [slot] }
}

/**
 * The hashes of API keys (AUT-2). The keys are records; their hashes are in a table of their own, so that no query of
 * records can reach them.
 */
const keyHashes = system('resourced_key_hashes', [
  column('key', 'string', 'primary key'),
  column('hash', 'string', 'unique not null'),
])

/** The first responses to requests with an idempotency key (MET-9). `created_at` is in milliseconds. */
const idempotency = system(
  'resourced_idempotency',
  [
    column('scope', 'string', 'primary key'),
    column('fingerprint', 'string', 'not null'),
    column('outcome', 'json', 'not null'),
    column('created_at', 'integer', 'not null'),
  ],
  ['created_at'],
)

/** The internal state of unfinished jobs, and which server has claimed them until when (JOB-3, JOB-5). */
const work = system(
  'resourced_work',
  [
    column('job', 'string', 'primary key'),
    column('task', 'string', 'not null'),
    column('state', 'json', 'not null'),
    column('server', 'string', 'none'),
    column('until', 'integer', 'none'),
  ],
  ['task'],
)

/**
 * Records that a job has still to process, in order, by id. The id of a record that it has changed is followed by the
 * values that it has replaced (BLK-3).
 */
function queue({ indexesRowNumber }: Layout): TableSpec {
  const columns = [
    column('_row', 'integer', 'row'),
    column('job', 'string', 'not null'),
    column('collection', 'string', 'not null'),
    column('record', 'string', 'not null'),
  ]
  const byJob = index(columns, 'resourced_queue', indexesRowNumber ? ['job', '_row'] : ['job'], false, 'everything')
  return { ...system('resourced_queue', columns), indexes: [byJob] }
}

/** The last number of each sequence (RES-16), for each value of the field that it is numbered by. */
export const counters = system('resourced_counters', [
  column('name', 'string', 'primary key'),
  column('last', 'integer', 'not null'),
])

/** The figures of kept summaries (SUM-3): a row for each group, figure and slot. `total` has the digits of a sum. */
function keptSummaries(): TableSpec {
  const columns = [
    ...['summary', ...groupColumns, 'figure'].map((name) => column(name, 'string', 'not null')),
    column('slot', 'integer', 'not null'),
    // Never null: SQLite keeps copies of pages where a constraint may fail in a trigger.
    column('count', 'integer', 'none'),
    column('total', 'string', 'none'),
  ]
  const byKey = index(columns, summariesTable, figureKey, true, 'everything')
  return { ...system(summariesTable, columns), indexes: [byKey] }
}

/** The files of exports in pieces, by the offset of each piece, where the database stores them (JOB-6). */
function pieces(): TableSpec {
  const columns: ColumnSpec[] = [
    column('job', 'string', 'not null'),
    column('start', 'integer', 'not null'),
    { ...column('content', 'string', 'not null'), type: 'bytes' },
  ]
  const inOrder = index(columns, 'resourced_pieces', ['job', 'start'], true, 'everything')
  return { ...system('resourced_pieces', columns), indexes: [inOrder] }
}

/**
 * Who gets events: webhooks and functions, each with the position up to which events have deliveries. `active`: 1, 0
 * where it is turned off, -1 where it was deleted. `kinds`, JSON as text, belongs to functions (EVT-12); `secrets` and
 * `caller` belong to webhooks (EVT-8).
 */
const consumers = system('resourced_consumers', [
  column('name', 'string', 'primary key'),
  column('webhook', 'string', 'none'),
  column('position', 'integer', 'not null'),
  column('active', 'integer', 'not null'),
  column('kinds', 'string', 'none'),
  column('secrets', 'json', 'none'),
  column('caller', 'json', 'none'),
])

/**
 * Deliveries that are pending (EVT-9). `due`: when the next attempt is made, or that of a server ends, in milliseconds;
 * null where an earlier delivery of the record is pending.
 */
function pendingDeliveries(): TableSpec {
  const columns = [
    column('delivery', 'string', 'primary key'),
    column('consumer', 'string', 'not null'),
    column('record', 'string', 'not null'),
    column('turn', 'integer', 'not null'),
    column('position', 'integer', 'not null'),
    column('attempts', 'integer', 'not null'),
    column('first_at', 'integer', 'none'),
    column('due', 'integer', 'none'),
    column('server', 'string', 'none'),
  ]
  const name = 'resourced_deliveries'
  const indexOf = (names: readonly string[]) => index(columns, name, names, false, 'everything')
  const indexes = [indexOf(['consumer', 'due']), indexOf(['consumer', 'record', 'turn'])]
  return { ...system(name, columns), indexes }
}

/** The system's tables of an interface with events. */
const eventTables = [consumers, pendingDeliveries()]

/** The system's tables, in the order of their creation. */
export function systemTables(layout: Layout): TableSpec[] {
  const tables = [meta, clocks(layout), keyHashes, idempotency, work, queue(layout)]
  return layout.storesExports ? [...tables, pieces()] : tables
}

function system(name: string, columns: readonly ColumnSpec[], indexed: readonly string[] = []): TableSpec {
  const indexes = indexed.map((each) => index(columns, name, [each], false, 'everything'))
  return { name, kind: 'system', columns, indexes, search: undefined, events: undefined, summaries: [], totals: [] }
}

const asInBackups: Layout = { clockSlots: 1, indexesRowNumber: false, storesExports: true }
/** All tables that the system can have, as backups have them. */
export const allSystemTables = [...systemTables(asInBackups), ...eventTables, counters, keptSummaries()]

/** Whether a table belongs to the system: its rows are no records. */
export function isSystemTable(name: string): boolean {
  return allSystemTables.some((table) => table.name === name)
}
