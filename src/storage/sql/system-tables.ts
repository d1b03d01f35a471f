/** The tables that are the program's own, whatever is declared. */
import { type ColumnSpec, column, type TableSpec } from './table-spec.ts'

/** What is known about the database as a whole, by key: the shape it was last given, the secret of cursors. */
const meta = system('resourced_meta', [column('key', 'string', 'primary key'), column('value', 'string', 'not null')])

/** One row for each resource: its newest revision and exact numbers of live and of deleted but retained records. */
const clocks = system('resourced_clocks', [
  column('collection', 'string', 'primary key'),
  column('revision', 'integer', 'not null'),
  column('live', 'integer', 'not null'),
  column('deleted', 'integer', 'not null'),
])

/** API keys (AUT-2). */
const keys = system('resourced_keys', [
  column('id', 'string', 'primary key'),
  column('hash', 'string', 'unique not null'),
  column('hint', 'string', 'not null'),
  column('subject', 'string', 'not null'),
  column('roles', 'json', 'not null'),
  column('expires_at', 'string', 'none'),
  column('created_at', 'string', 'not null'),
  column('revoked_at', 'string', 'none'),
])

/** The system's tables, in the order in which they are made. */
export const systemTables: readonly TableSpec[] = [meta, clocks, keys]

function system(name: string, columns: readonly ColumnSpec[]): TableSpec {
  return { name, kind: 'system', columns, indexes: [], search: undefined }
}

const names = new Set(systemTables.map((table) => table.name))

/** Whether a table is the system's: its rows are no records. */
export function isSystemTable(name: string): boolean {
  return names.has(name)
}
