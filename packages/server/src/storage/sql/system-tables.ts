/** The tables that a database has for a catalog: those of the system, and one for each resource. */
import { eventCollections, historyCollection, tenantsCollection } from 'resourced-contract/model/names'
import type { Catalog } from 'resourced-contract/model/resource'
import { figureKey, groupColumns, summariesTable } from './kept-summaries.ts'
import {
  type ColumnSpec,
  column,
  index,
  type Layout,
  type ResourceTable,
  resourceTables,
  type TableSpec,
  tableFor,
} from './tables.ts'

/** All tables for a catalog: those of the system, then one for each resource. */
export function tablesFor(catalog: Catalog, layout: Layout): TableSpec[] {
  return layOut(resourceTables(catalog), layout)
}

/** The tables of the system, then these, as an engine has them. */
export function layOut(resources: readonly ResourceTable[], layout: Layout): TableSpec[] {
  const hasEvents = eventCollections.every((name) => resources.some((table) => table.name === name))
  const hasSequences = resources.some(({ columns }) => columns.some(({ sequence }) => sequence !== undefined))
  const hasTenants = resources.some(isOfOperators)
  const hasSummaries = resources.some(({ summaries }) => summaries.length > 0)
  const hasHistory = resources.some(({ name, isByPosition }) => name === historyCollection && isByPosition)
  const optional = [
    ...(hasEvents ? eventTables : []),
    ...(hasSequences ? [counters] : []),
    ...(hasSummaries ? [keptSummaries()] : []),
    ...(hasTenants ? [tenantKeys] : []),
    ...(hasHistory ? [answers()] : []),
  ]
  const tables = [...systemTables(layout), ...optional]
  return [...tables, ...resources.map((table) => tableFor(table, layout))]
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

/** The records with a history that kept responses show (HIS-4). `body` and its `place` stand with the first of them. */
function answers(): TableSpec {
  const texts = ['scope', 'record'].map((name) => column(name, 'string', 'not null'))
  const shown = [column('place', 'integer', 'none'), column('body', 'string', 'none')]
  const columns = [column('_row', 'integer', 'row'), ...texts, ...shown]
  const indexOf = (...names: string[]) => index(columns, 'resourced_answers', names, false, 'everything')
  return { ...system('resourced_answers', columns), indexes: [indexOf('record'), indexOf('scope', 'place')] }
}

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

const keyOfTenant = [column('hash', 'string', 'primary key'), column('tenant', 'string', 'not null')]
/** Which tenant an API key belongs to, by the hash of the key, in an operators' database (TEN-2). */
const tenantKeys = system('resourced_tenant_keys', keyOfTenant, ['tenant'])

/** Whether a table has the tenants of operators: a declaration without tenants may have one of this name. */
export function isOfOperators({ name, columns }: Pick<TableSpec, 'name' | 'columns'>): boolean {
  const isOurs = ['schema_hash', 'wakes_at'].every((each) => columns.some((column) => column.name === each))
  return name === tenantsCollection && isOurs
}

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
export const allSystemTables = systemTables(asInBackups).concat(
  ...[eventTables, counters, keptSummaries(), tenantKeys, answers()],
)

/** Whether a table belongs to the system: its rows are no records. */
export function isSystemTable(name: string): boolean {
  return allSystemTables.some((table) => table.name === name)
}
