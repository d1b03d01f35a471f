/** The tables that are the program's own, whatever is declared. */
import { type ColumnSpec, column, index, type Layout, type TableSpec } from './table-spec.ts'

/** What is known about the database as a whole, by key: the shape it was last given, the secret of cursors. */
const meta = system('resourced_meta', [column('key', 'string', 'primary key'), column('value', 'string', 'not null')])

/**
 * One row for each resource: its newest revision and exact numbers of live and of deleted but retained records. With
 * slots, what is true is the sum of its rows, and each of them may be changed by somebody else.
 */
function clocks({ clockSlots }: Layout): TableSpec {
  const numbers = ['revision', 'live', 'deleted'].map((name) => column(name, 'integer', 'not null'))
  if (clockSlots === 1) return system('resourced_clocks', [column('collection', 'string', 'primary key'), ...numbers])
  const columns = [column('collection', 'string', 'not null'), column('slot', 'integer', 'not null'), ...numbers]
  const slot = index(columns, 'resourced_clocks', ['collection', 'slot'], true, 'everything')
  return { ...system('resourced_clocks', columns), indexes: [slot] }
}

/** What API keys are onceForKey by (AUT-2). The keys are records; this is apart from them, so that nothing asked of records reaches it. */
const keyHashes = system('resourced_key_hashes', [
  column('key', 'string', 'primary key'),
  column('hash', 'string', 'unique not null'),
])

/** Where keys were, hashes and all, before they were records. */
export const formerKeys = 'resourced_keys'

/** First answers to creations that may be repeated, by what makes them recognisable (MET-9). `created_at` is in milliseconds. */
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

/** What unfinished jobs know beside what is shown of them, and which server is at it until when (JOB-3, JOB-5). */
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

/** Records that a job has yet to look at, in order. */
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

/** The files of exports in pieces, each by the byte at which it begins, where they are not files beside the database (JOB-6). */
function pieces(): TableSpec {
  const columns: ColumnSpec[] = [
    column('job', 'string', 'not null'),
    column('start', 'integer', 'not null'),
    { ...column('content', 'string', 'not null'), type: 'bytes' },
  ]
  const inOrder = index(columns, 'resourced_pieces', ['job', 'start'], true, 'everything')
  return { ...system('resourced_pieces', columns), indexes: [inOrder] }
}

/** The system's tables, in the order in which they are made. */
export function systemTables(layout: Layout): TableSpec[] {
  const tables = [meta, clocks(layout), keyHashes, idempotency, work, queue(layout)]
  return layout.storesExports ? [...tables, pieces()] : tables
}

function system(name: string, columns: readonly ColumnSpec[], indexed: readonly string[] = []): TableSpec {
  const indexes = indexed.map((each) => index(columns, name, [each], false, 'everything'))
  return { name, kind: 'system', columns, indexes, search: undefined }
}

const names = new Set(
  systemTables({ clockSlots: 1, indexesRowNumber: false, storesExports: true }).map((table) => table.name),
)

/** Whether a table is the system's: its rows are no records. */
export function isSystemTable(name: string): boolean {
  return names.has(name)
}
