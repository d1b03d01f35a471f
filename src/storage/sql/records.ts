/** Records as rows, rows as records, and the JSON of records that the database builds. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { type RecordValues, type Resource, storedResource } from '../../model/resource.ts'
import type { Row } from '../transaction.ts'
import { type Column, columnSql, columnsOf, subject } from './columns.ts'
import type { Epochs, SqlContext } from './context.ts'
import type { Bound } from './engine.ts'
import { derived, jsonText, numberText, searchText } from './values.ts'

/** The value of a column for a record. */
export function boundOf(column: Column, record: RecordValues): Bound {
  const value = record[column.field.name]
  if (value === null || value === undefined) return null
  if (column.role !== 'value') return derived[column.role](value as string)
  if (column.type === 'json') return jsonText(value)
  if (column.type === 'boolean') return Number(value)
  return value as Bound
}

/** The words by which search finds a record (QRY-5). */
export function searchWords(resource: Resource, record: RecordValues): string {
  return searchText(resource.fields.filter((field) => field.search).map((field) => record[field.name] as string | null))
}

/** The revision of a row as clients see it. */
export function revisionSql({ epochs }: { readonly epochs?: Epochs }, collection: string): Sql {
  const epoch = epochs?.get(collection)
  return raw(epoch === undefined ? '_revision' : `(_revision + ${epoch})`)
}

/** The revision of a new record as clients see it. */
export function firstRevision({ epochs }: { readonly epochs?: Epochs }, collection: string): number {
  return 1 + (epochs?.get(collection) ?? 0)
}

/** The column of a select that gives the revision as `_revision`. */
export function revisionColumn(opened: { readonly epochs?: Epochs }, collection: string): Sql {
  return opened.epochs?.has(collection) ? sql`${revisionSql(opened, collection)} as _revision` : raw('_revision')
}

/** The columns that `recordOf` reads, for a select from one table. */
export function storedSql(context: SqlContext, resource: Resource): Sql {
  return context.texts.of(`${resource.name} as stored`, () => {
    const declared = columnsOf(resource).flatMap(({ name, role }) => (role === 'value' ? [name] : []))
    const names = ['id', ...declared, 'created_at', 'updated_at', 'deleted_at', '_deletion']
    return sql`${raw(names.map((name) => `"${name}"`).join(', '))}, ${revisionColumn(context, resource.name)}`
  })
}

/** The record of a row, with declared and system fields. */
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

/**
 * The JSON of one row: every readable field, unset ones `null` (RES-8).
 *
 * @param fields the requested fields; `undefined`: all; `id` is always included (QRY-4)
 * @param withDeleted adds `deleted_at`, which live records do not have (RES-6)
 */
export function representationSql(
  { engine, texts }: SqlContext,
  resource: Resource,
  fields: readonly string[] | undefined,
  withDeleted = false,
): Sql {
  return texts.of(`${versionedName(resource)} ${withDeleted} ${fields?.join() ?? '*'}`, () => {
    const wanted = (name: string) => fields === undefined || fields.includes(name)
    const unescaped = (name: string): [string, Sql] => [name, engine.jsonUnescaped(columnSql(subject, name))]
    const members = [unescaped('id')]
    for (const { name, column, value } of membersOf(resource)) {
      if (!wanted(name)) continue
      if (column === undefined) members.push([name, engine.jsonLiteral(value)])
      else if (column.field.reference !== undefined)
        members.push([name, engine.jsonUnescaped(columnSql(subject, column.name))])
      else members.push([name, engine.jsonValue(columnSql(subject, column.name), column.type)])
    }
    for (const name of ['created_at', 'updated_at']) if (wanted(name)) members.push(unescaped(name))
    if (withDeleted) members.push(unescaped('deleted_at'))
    return engine.jsonObject(members)
  })
}

type Write = (record: RecordValues) => string

const writers = new WeakMap<Resource, readonly Write[]>()

/**
 * The JSON of a live record: the same text as `representationSql` gives for its row. Who has the values of a row needs
 * no database to represent it.
 */
export function representationText(resource: Resource, record: RecordValues): string {
  let parts = writers.get(resource)
  if (parts === undefined) {
    parts = writersOf(resource)
    writers.set(resource, parts)
  }
  let text = '{'
  for (const part of parts) text += part(record)
  return `${text}}`
}

function writersOf(resource: Resource): Write[] {
  const unescaped = (text: string) => `"${text}"`
  const member = (name: string, source: string, write: (value: never) => string): Write => {
    return (record) => `,"${name}":${record[source] == null ? 'null' : write(record[source] as never)}`
  }
  const declared = membersOf(resource).map(({ name, column, value }) => {
    if (column === undefined) return () => `,"${name}":${JSON.stringify(value)}`
    const write = column.field.reference === undefined ? textsOf[column.type] : unescaped
    return member(name, column.field.name, write)
  })
  return [
    ({ id }) => `"id":"${id}"`,
    ...declared,
    ...['created_at', 'updated_at'].map((name) => member(name, name, unescaped)),
  ]
}

const textsOf: Readonly<Record<Column['type'], (value: never) => string>> = {
  text: (value: string) => JSON.stringify(value),
  integer: numberText,
  real: numberText,
  boolean: String,
  json: jsonText,
}

/** The name of a resource, qualified by its version if that is an older one, as a part of cache keys. */
export function versionedName({ name, mapping }: Resource): string {
  return mapping === undefined ? name : `${mapping.version}/${name}`
}

/** A field of a representation: from a column, or, if only an older version has the field, a constant. */
interface Member {
  readonly name: string
  readonly column: Column | undefined
  readonly value?: unknown
}

/** The fields of a representation, except those that every record has. */
export function membersOf(resource: Resource): Member[] {
  const { mapping } = resource
  const stored = storedResource(resource)
  const columns = new Map(columnsOf(stored).flatMap((each) => (each.role === 'value' ? [[each.name, each]] : [])))
  return resource.fields.flatMap(({ name, writeOnly }): Member[] => {
    if (writeOnly) return []
    const field = mapping === undefined ? name : mapping.toStored.get(name)
    if (field === undefined) return [{ name, column: undefined, value: mapping?.constants.get(name) ?? null }]
    return [{ name, column: columns.get(field) }]
  })
}
