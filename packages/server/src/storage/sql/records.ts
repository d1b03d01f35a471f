/** Records as rows, rows as records, and the JSON of records that the database builds. */
import { hash } from 'node:crypto'
import { type FieldGrants, grantOf, recordedGrants } from 'resourced-contract/model/field-grants'
import { jsonText } from 'resourced-contract/model/json/json-text'
import { tenantsCollection } from 'resourced-contract/model/names'
import { exactText } from 'resourced-contract/model/plain-copy'
import type { Predicate } from 'resourced-contract/model/predicate'
import {
  isHistory,
  isRecordedIn,
  type RecordValues,
  type Resource,
  recordedNames,
  resourceInVersion,
  storedResource,
} from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Bound, Row } from '../transaction.ts'
import {
  type Column,
  columnSql,
  columnsOf,
  indexedColumns,
  type RecordedRow,
  recordedRow,
  snapshotColumns,
  subject,
  tableSql,
} from './columns.ts'
import type { Opened, SqlContext } from './context.ts'
import { type PredicateContext, predicateSql } from './predicate.ts'
import { derivedOf, indexText } from './values.ts'

/** The value of a column for a record. */
export function boundOf(column: Column, record: RecordValues): Bound {
  const value = record[column.field.name]
  if (value === null || value === undefined) return null
  if (column.role !== 'value') {
    const key = derivedOf({ by: column.role, ...(column.member && { member: column.member }) }, value)
    return typeof key === 'boolean' ? Number(key) : key
  }
  if (column.type === 'json') return jsonText(value)
  if (column.type === 'boolean') return Number(value)
  return value as Bound
}

/** The words by which search finds a record (QRY-5), and the tokens of its items (WHR-4). */
export function searchWords(resource: Resource, record: RecordValues): string {
  const indexed = indexedColumns(resource)
  const stored = indexed.columns.map((name) => {
    const value = record[name] ?? null
    return value === null || typeof value === 'string' ? value : jsonText(value)
  })
  return indexText(indexed, stored)
}

/**
 * The revision of a row as clients see it. With tenants it depends on the record and its database: no entity tag fits
 * another record or another tenant, not even a copy of the record in another database (TEN-2).
 */
export function revisionSql({ catalog, dialect, epochs, tagSecret }: Opened, collection: string): Sql {
  const epoch = epochs?.get(collection)
  const revision = raw(epoch === undefined ? '_revision' : `(_revision + ${epoch})`)
  // The tenants themselves are in the catalog of their operators.
  if (!areApart(catalog) || tagSecret === undefined) return revision
  const seed = Buffer.from(tagSecret).readUIntBE(0, 6)
  return sql`(${revision} + ${dialect.tagOffset(sql`id`, seed)})`
}

/** Whether each record has tags of its own: those of tenants, and the tenants in the catalog of their operators. */
function areApart({ tenants, resources }: Opened['catalog']): boolean {
  return tenants !== undefined || resources.get(tenantsCollection)?.made === 'for-clients'
}

/** The column of a select that gives the revision as `_revision`. */
export function revisionColumn(opened: Opened, collection: string): Sql {
  const isStored = !areApart(opened.catalog) && !opened.epochs?.has(collection)
  return isStored ? raw('_revision') : sql`${revisionSql(opened, collection)} as _revision`
}

const noFields: ReadonlySet<string> = new Set()

/**
 * The columns that `recordOf` reads, for a select from one table.
 *
 * @param unread the fields that are left out
 */
export function storedSql(context: SqlContext, resource: Resource, unread = noFields): Sql {
  return context.texts.of(`${resource.name} as stored ${[...unread].join()}`, () => {
    const isRead = ({ name, role }: Column) => role === 'value' && !unread.has(name)
    const declared = columnsOf(resource)
      .filter(isRead)
      .map(({ name }) => name)
    const names = ['id', ...declared, 'created_at', 'updated_at', 'deleted_at', '_deletion']
    return sql`${raw(names.map((name) => `"${name}"`).join(', '))}, ${revisionColumn(context, resource.name)}`
  })
}

/** The record of a row, with system fields and the declared fields that the row has. */
export function recordOf(resource: Resource, row: Row): RecordValues {
  const record: Record<string, unknown> = {
    id: row['id'],
    created_at: row['created_at'],
    updated_at: row['updated_at'],
    deleted_at: row['deleted_at'],
  }
  for (const { name, type, role } of columnsOf(resource)) {
    const held = row[name]
    if (role !== 'value' || held === undefined) continue
    if (held === null) record[name] = null
    else if (type === 'json') record[name] = JSON.parse(held as string)
    else record[name] = type === 'boolean' ? held === 1 || (held as unknown) === true : held
  }
  return record
}

/** How a record is represented. */
export interface Representation {
  /** As the version of the client has it. */
  readonly resource: Resource
  /** The requested fields; `undefined`: all; `id` is always included (QRY-4). */
  readonly fields?: readonly string[] | undefined
  /** The stored fields that the caller may not read in every record. */
  readonly readableFields?: FieldGrants | undefined
  /** Adds `deleted_at`, which live records do not have (RES-6). */
  readonly withDeleted?: boolean
  /** The rows are records as events show them: fields must be readable in them, and in the records as they are. */
  readonly isSnapshot?: boolean
}

/** The JSON of one row: every field, and `null` where it is unset (RES-8) or the caller may not read it (AUT-13). */
export function representationSql(
  context: PredicateContext,
  { resource, fields, readableFields, withDeleted = false, isSnapshot = false }: Representation,
): Sql {
  const { dialect, texts } = context
  const masks = readableFields === undefined ? '' : `${grantsDigest(readableFields)}${isSnapshot ? ' shown' : ''}`
  const key = `${versionedName(resource)} ${withDeleted} ${fields?.join() ?? '*'}${masks}`
  const make = () => {
    const wanted = (name: string) => fields === undefined || fields.includes(name)
    const unescaped = (name: string): [string, Sql] => [name, dialect.jsonUnescaped(columnSql(subject, name))]
    const members = [unescaped('id')]
    for (const { name, column, value } of membersOf(resource)) {
      if (!wanted(name)) continue
      if (resource.order === 'by-position' && name === recordedNames(resource).shown) {
        members.push([name, shownDataSql(context, resource, readableFields)])
        continue
      }
      if (column === undefined) {
        members.push([name, dialect.jsonLiteral(value)])
        continue
      }
      const stored = columnSql(subject, column.name)
      const isId = column.field.reference !== undefined
      const shown = isId ? dialect.jsonUnescaped(stored) : dialect.jsonValue(stored, column.type)
      const readable = readableFields && grantOf(readableFields, column.field.name)
      const masked = { value: shown, otherwise: dialect.jsonLiteral(null), isSnapshot }
      members.push([name, maskedSql(context, resource, readable, masked)])
    }
    // A revision never changes.
    const stamps = isHistory(resource) ? ['created_at'] : ['created_at', 'updated_at']
    for (const name of stamps) if (wanted(name)) members.push(unescaped(name))
    if (withDeleted) members.push(unescaped('deleted_at'))
    return dialect.jsonObject(members)
  }
  // What is retained depends on the time.
  return context.binSince !== undefined && readableFields !== undefined ? make() : texts.of(key, make)
}

/**
 * The JSON of the record that an event or a revision shows, or null (EVT-3, HIS-2). For an older version it is an
 * object of the stored name of the collection and the record, because the values of a record are converted by its
 * collection (`eventsOfVersion`).
 */
function shownDataSql(context: SqlContext, events: Resource, readableFields: FieldGrants | undefined): Sql {
  const { dialect, catalog } = context
  const row = recordedRow(events, subject)
  const shown = [...catalog.resources.values()].flatMap((stored): Sql[] => {
    if (!isRecordedIn(events, stored)) return []
    const resource =
      events.mapping === undefined ? stored : resourceInVersion(catalog, events.mapping.version, stored.name)
    if (resource === undefined) return []
    const own = recordedGrants(readableFields, stored.name)
    const json = representationSql(context, { resource, readableFields: own, isSnapshot: true })
    const record = sql`(select ${json} from ${shownSql(context, row, stored)})`
    return [sql`when ${stored.name} then ${record}`]
  })
  const isNull = sql`${raw(row.shown)} is null or ${columnSql(subject, 'kind')} in ('deleted', 'purged')`
  const record = sql`case ${columnSql(subject, 'collection')} ${join(shown, ' ')} end`
  const json = dialect.jsonValue(sql`case when ${isNull} then null else ${record} end`, 'json')
  if (events.mapping === undefined) return json
  return dialect.jsonObject([
    ['collection', dialect.jsonValue(columnSql(subject, 'collection'), 'text')],
    ['record', json],
  ])
}

/**
 * The record that an event or a revision shows. It has the defaults of required fields that were added to the resource
 * later.
 */
export function shownSql({ dialect }: SqlContext, row: RecordedRow, stored: Resource): Sql {
  const source = dialect.snapshotSource(row, snapshotColumns(stored))
  const added = columnsOf(stored).flatMap(({ name, role, type, field }) => {
    if (role !== 'value' || !field.required || field.default === undefined) return []
    const value = dialect.cast(boundOf({ name, role, type, field }, { [field.name]: field.default }), type)
    return [[name, sql`coalesce(shown.${raw(`"${name}"`)}, ${value}) as ${raw(`"${name}"`)}`] as const]
  })
  if (added.length === 0) return sql`${source} ${raw(subject)}`
  const completed = new Map(added)
  const names = ['id', ...snapshotColumns(stored).map(({ name }) => name)]
  const columns = names.map((name) => completed.get(name) ?? raw(`shown."${name}"`))
  return sql`(select ${join(columns, ', ')} from ${source} shown) ${raw(subject)}`
}

/** A value of a row that some callers may not read. */
interface MaskedValue extends Pick<Representation, 'isSnapshot'> {
  readonly value: Sql
  /** The value in rows in which the field may not be read; left out: null. */
  readonly otherwise?: Sql
}

/**
 * A value of a row, in the rows whose field the caller may read.
 *
 * @param resource in any version
 * @param readable the rows; `undefined`: all
 */
export function maskedSql(
  context: PredicateContext,
  resource: Resource,
  readable: Predicate | undefined,
  { value, otherwise = raw('null'), isSnapshot = false }: MaskedValue,
): Sql {
  if (readable === undefined) return value
  if (readable.kind === 'never') return otherwise
  const stored = storedResource(resource)
  const holds = predicateSql(context, stored, readable)
  const isReadable = isSnapshot ? sql`${holds} and ${holdsNowSql(context, stored, readable)}` : holds
  return sql`case when ${isReadable} then ${value} else ${otherwise} end`
}

/** Whether a predicate holds for the record as it is now, of a row that shows it as it was. */
function holdsNowSql(context: SqlContext, resource: Resource, predicate: Predicate): Sql {
  const now = `${subject}n`
  const isSame = sql`${columnSql(now, 'id')} = ${columnSql(subject, 'id')}`
  const holds = predicateSql(context, resource, predicate, now)
  return sql`exists (select 1 from ${tableSql(resource.name)} ${raw(now)} where ${isSame} and ${holds})`
}

/** The fields of a row for which a predicate does not hold: each name after a comma (`Validators.hidden`). */
export function withheldSql(context: SqlContext, resource: Resource, grants: FieldGrants): Sql {
  if (resource.order === 'by-position') return withheldOfEventSql(context, resource, grants)
  return namesSql(context, resource, grants, false)
}

/** The fields of the record that a row shows, for which a predicate does not hold. */
export function withheldOfStateSql(context: SqlContext, row: RecordedRow, stored: Resource, grants: FieldGrants): Sql {
  return sql`(select ${namesSql(context, stored, grants, true)} from ${shownSql(context, row, stored)})`
}

function withheldOfEventSql(context: SqlContext, events: Resource, grants: FieldGrants): Sql {
  const row = recordedRow(events, subject)
  const cases = [...context.catalog.resources.values()].flatMap((stored) => {
    const own = recordedGrants(grants, stored.name)
    if (own === undefined) return []
    return [sql`when ${stored.name} then ${withheldOfStateSql(context, row, stored, own)}`]
  })
  return sql`coalesce(case ${columnSql(subject, 'collection')} ${join(cases, ' ')} end, '')`
}

function namesSql(context: SqlContext, resource: Resource, grants: FieldGrants, isSnapshot: boolean): Sql {
  const names = Object.entries(grants).map(([name, grant]) =>
    maskedSql(context, resource, grant, { value: raw("''"), otherwise: raw(`',${name}'`), isSnapshot }),
  )
  return join(names, ' || ')
}

/** The names in such a text. */
export function withheldNames(text: unknown): ReadonlySet<string> {
  return new Set(
    String(text ?? '')
      .split(',')
      .slice(1),
  )
}

const digests = new WeakMap<object, string>()

/**
 * The digest of data that never changes, as a part of cache keys. It is made once for each object, by a cryptographic
 * hash, so that no caller can write two filters with one digest.
 */
export function digestOf(data: object): string {
  const known = digests.get(data)
  if (known !== undefined) return known
  const digest = hash('sha256', exactText(data), 'base64url').slice(0, 22)
  digests.set(data, digest)
  return digest
}

/** The digest of a predicate; empty for `always`. */
export function predicateDigest(predicate: Predicate): string {
  return predicate.kind === 'always' ? '' : digestOf(predicate)
}

/** The digest of grants; empty where there are none. It begins with a blank. */
export function grantsDigest(grants: FieldGrants | undefined): string {
  return grants === undefined ? '' : ` ${digestOf(grants)}`
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
