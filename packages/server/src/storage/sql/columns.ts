/** The columns of a record: one for each field, and for some fields a second one that holds their comparison key. */

import { hash } from 'node:crypto'
import { fieldOfName } from 'resourced-contract/model/members'
import { type Field, isFolded, isHistory, type Resource, recordedNames } from 'resourced-contract/model/resource'
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Bound } from '../transaction.ts'

/** The type of a column; each engine has its own name for it. */
export type ColumnType = 'text' | 'integer' | 'real' | 'boolean' | 'json'

/** How a comparison key is derived from a value: see `values.ts`. `member`: the value of a member of an object. */
export type Derivation = 'instant' | 'folded' | 'decimal' | 'member'

/** A column of a resource's table. */
export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly field: Field
  /** The member of the field, an object, whose key it holds. */
  readonly member?: Field
  /** `value`: the field's value. Otherwise the comparison key that is derived from the value. */
  readonly role: 'value' | Derivation
}

export const columnTypes: Readonly<Record<Field['type'], ColumnType>> = {
  string: 'text',
  integer: 'integer',
  number: 'real',
  // SQLite has no decimal type; with text both engines read and compare alike.
  decimal: 'text',
  boolean: 'boolean',
  array: 'json',
  object: 'json',
  json: 'json',
}

/** Whether a field's texts are date-times: compared as instants, in any time zone. */
function isInstant(field: Field): boolean {
  return field.type === 'string' && field.format === 'date-time'
}

const known = new WeakMap<Resource, readonly Column[]>()

/** The columns of the declared fields, in their order; the system columns are the same for every table. */
export function columnsOf(resource: Resource): readonly Column[] {
  const kept = known.get(resource)
  if (kept !== undefined) return kept
  const columns = makeColumns(resource)
  known.set(resource, columns)
  return columns
}

function makeColumns(resource: Resource): Column[] {
  return resource.fields.flatMap((field) => {
    const value: Column = { name: field.name, type: columnTypes[field.type], field, role: 'value' }
    if (isInstant(field)) return [value, { name: `_instant_${field.name}`, type: 'text', field, role: 'instant' }]
    if (field.type === 'decimal')
      return [value, { name: decimalColumn(field.name), type: 'text', field, role: 'decimal' }]
    if (isFolded(field)) return [value, { name: foldedColumn(field.name), type: 'text', field, role: 'folded' }]
    return [value, ...field.members.flatMap((member) => memberColumns(field, member))]
  })
}

/** The columns of a member of an object: its comparison key, and, of a free text, the text in folded case. */
function memberColumns(field: Field, member: Field): Column[] {
  const of = { field, member }
  const key = { name: memberColumn(member), ...of }
  if (isInstant(member)) return [{ ...key, type: 'text', role: 'instant' }]
  const value: Column = { ...key, type: memberType(member), role: 'member' }
  return isFolded(member) ? [value, { name: foldedColumn(member.name), type: 'text', ...of, role: 'folded' }] : [value]
}

/** Whole numbers in objects have no bounds, so all numbers have one type. */
function memberType({ type }: Field): ColumnType {
  return type === 'integer' ? 'real' : columnTypes[type]
}

/** The column of a member's key: another type of values is another column. */
function memberColumn(member: Field): string {
  return columnOfMember(member.name, isInstant(member) ? 'instant' : memberType(member))
}

/** A name of a column that all engines accept: paths may be long. */
function columnOfMember(name: string, kind: ColumnType | Derivation): string {
  return `_member_${fieldOfName(name)}_${hash('sha256', `${kind} ${name}`, 'hex').slice(0, 12)}`
}

/** The column by which a field is filtered, sorted and kept unique. System fields have no other column. */
export function comparisonColumn(resource: Resource, name: string): string {
  const member = resource.member.get(name)
  if (member !== undefined) return memberColumn(member)
  const field = resource.field.get(name)
  if (field?.type === 'decimal') return decimalColumn(name)
  return field !== undefined && isInstant(field) ? `_instant_${name}` : name
}

/** The column of a decimal's comparison key. */
function decimalColumn(name: string): string {
  return `_decimal_${name}`
}

/** The column of the text of a field, or of a member of an object, in folded case. */
export function foldedColumn(name: string): string {
  return fieldOfName(name) === name ? `_folded_${name}` : columnOfMember(name, 'folded')
}

/**
 * The name of a counter, or the beginning of the names of all counters of a field or of a collection: neither of their
 * names has a slash.
 */
export function counterName(collection: string, field = '', parent = ''): string {
  return [collection, ...(field === '' ? [''] : [field, parent])].join('/')
}

/** A quoted name. Names come from the catalog, or from the database, where jobs keep filters: quotes are doubled. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The same as a part of statements. */
export function quoted(name: string): Sql {
  return raw(identifier(name))
}

/** The alias of the main table of a statement. */
export const subject = 't'

/** A column of a table alias, quoted. */
export function columnSql(alias: string, column: string): Sql {
  return raw(`${alias}.${identifier(column)}`)
}

/** A resource's table under the alias of the main table. */
export function subjectSql(collection: string): Sql {
  return raw(`${identifier(collection)} ${subject}`)
}

/** A resource's table, quoted. */
export function tableSql(collection: string): Sql {
  return raw(identifier(collection))
}

/** The position of a row by its id; null where there is none. */
export function positionSql(resource: Resource, id: string | number | boolean): Sql {
  const which = hasIdSql(resource, (of) => of(String(id)))
  return sql`(select _row from ${tableSql(resource.name)} found where ${which})`
}

/**
 * The condition that a row has an id.
 *
 * @param bound binds what is made of the id
 */
export function hasIdSql(resource: Resource, bound: (of: (id: string) => Bound) => Bound): Sql {
  const hasId = sql`id = ${bound((id) => id)}`
  return isHistory(resource) ? sql`_row = ${bound(positionIn)} and ${hasId}` : hasId
}

/**
 * Makes an id end with the position of its row. Revisions are found by it, so that no change has to add its id to an
 * index.
 */
export function idAt(id: string, position: number): string {
  return id.slice(0, -12) + position.toString(16).padStart(12, '0')
}

function positionIn(id: string): number {
  return Number.parseInt(id.slice(-12), 16) || 0
}

/** The events that a removal of a record leaves. It is a constant, as the condition of the index that finds them. */
export const isRemoval = "kind in ('deleted', 'purged')"

/** A column whose values events contain. */
export type SnapshotColumn = Pick<Column, 'name' | 'type'>

/** The columns of every record, beside its id, that events may contain. */
export const snapshotTimestamps = ['created_at', 'updated_at', 'deleted_at'].map(
  (name): SnapshotColumn => ({ name, type: 'text' }),
)

/** All columns that events may contain of the records of a resource, for `Dialect.snapshotSource`. */
export function snapshotColumns(resource: Resource): readonly SnapshotColumn[] {
  return [...columnsOf(resource).map(({ name, type }) => ({ name, type })), ...snapshotTimestamps]
}

/** The columns of a row of `events` or `revisions` under an alias. */
export function recordedRow(resource: Resource, alias: string): RecordedRow {
  const { id, shown } = recordedNames(resource)
  return { id: columnSql(alias, id).sql, shown: columnSql(alias, shown).sql }
}

/** The columns of a row of `events` or `revisions`, as SQL text: those of the id of a record, and of the record. */
export interface RecordedRow {
  readonly id: string
  readonly shown: string
}

/** The columns of a full-text index, and those of them that hold arrays. */
export interface IndexedColumns {
  readonly columns: readonly string[]
  readonly arrays: readonly string[]
}

/** The texts that `q` searches, in the order of their declaration (QRY-5). */
export function searchColumns(resource: Resource): string[] {
  return resource.fields.filter((field) => field.search && field.type === 'string').map((field) => field.name)
}

/** What the full-text index has of a record: the items of arrays first, which must all find it, then texts. */
export function indexedColumns(resource: Resource): IndexedColumns {
  const arrays = resource.fields.filter((field) => field.items !== undefined).map((field) => field.name)
  return { columns: [...arrays, ...searchColumns(resource)], arrays }
}
