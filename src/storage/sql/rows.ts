/** Records to rows and back. */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { RecordValues, Resource } from '../../model/resource.ts'
import type { Row } from '../transaction.ts'
import { type Column, columnsOf } from './columns.ts'
import { derived, searchText } from './derived.ts'
import type { Bound } from './engine.ts'
import { type Epochs, revisionColumn } from './epoch.ts'
import { jsonText } from './json-text.ts'

/** What a column holds for a record. */
export function boundOf(column: Column, record: RecordValues): Bound {
  const value = record[column.field.name]
  if (value === null || value === undefined) return null
  if (column.role !== 'value') return derived[column.role](value as string)
  if (column.type === 'json') return jsonText(value)
  if (column.type === 'boolean') return Number(value)
  return value as Bound
}

const stored = new WeakMap<Resource, Sql>()

/** The columns of a row that `recordOf` and others read, of the only table that a select is from. */
export function storedSql(opened: { readonly epochs?: Epochs }, resource: Resource): Sql {
  let columns = stored.get(resource)
  if (columns === undefined) {
    const declared = columnsOf(resource).flatMap(({ name, role }) => (role === 'value' ? [name] : []))
    const names = ['id', ...declared, 'created_at', 'updated_at', 'deleted_at', '_deletion']
    columns = raw(names.map((name) => `"${name}"`).join(', '))
    stored.set(resource, columns)
  }
  return sql`${columns}, ${revisionColumn(opened, resource.name)}`
}

/** The record that a row of its table holds: declared and system fields. */
export function recordOf(resource: Resource, row: Row): RecordValues {
  const record: Record<string, unknown> = {
    id: row['id'],
    created_at: row['created_at'],
    updated_at: row['updated_at'],
    deleted_at: row['deleted_at'],
  }
  for (const { name, type, role } of columnsOf(resource)) {
    if (role !== 'value') continue
    const held = row[name] ?? null
    if (held === null) record[name] = null
    else if (type === 'json') record[name] = JSON.parse(held as string)
    else record[name] = type === 'boolean' ? held === 1 || (held as unknown) === true : held
  }
  return record
}

/** The words by which search finds a record (QRY-5). */
export function searchWords(resource: Resource, record: RecordValues): string {
  return searchText(resource.fields.filter((field) => field.search).map((field) => record[field.name] as string | null))
}
