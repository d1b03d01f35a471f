/**
 * The size of a page, computed in the database (LIM-6). If no record exceeds its share of the page, all records fit:
 * that costs one comparison for each record, and nothing where the declaration bounds all values. If a record exceeds
 * its share, sizes are read first, and then the records that fit.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Field } from '../../model/resource.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { membersOf } from '../sql/records.ts'

/** The most bytes of JSON for one stored byte of text: a control character is written as `\u0001`. */
const mostEscaped = 6

/** A field whose JSON never has more bytes than this is small: its largest size counts for every record. */
const small = 1_000

/** The bytes of the fields that every record has: `id` and three timestamps, with their names. */
const systemBytes = 250

/** The possible size of a record's JSON. */
interface RecordBytes {
  /** The most bytes of its small fields, and of the names of all fields. */
  readonly small: number
  /** The most bytes of its large fields; infinite where the declaration does not bound them. */
  readonly large: number
  /** The stored bytes of the large fields, and the most bytes of their JSON. */
  readonly stored: Sql | undefined
  readonly escaped: Sql | undefined
}

/**
 * The condition that a record does not exceed its share of a page of so many records.
 *
 * @returns `undefined` where no valid record can exceed it
 */
export function shareSql(context: SqlContext, plan: ReadPage, rows: number): Sql | undefined {
  const { small: fixed, large, escaped } = bytesOf(context, plan)
  const share = Math.floor(context.catalog.limits.pageBytes / rows)
  if (fixed + large <= share) return undefined
  return escaped === undefined ? sql`1 = 0` : sql`${escaped} <= ${raw(String(share - fixed))}`
}

/** The stored bytes of a record's large fields, which the engine knows without reading the values. */
export function storedBytesSql(context: SqlContext, plan: ReadPage): Sql {
  return bytesOf(context, plan).stored ?? raw('0')
}

/** How many of these sizes, from the first, have a sum within a limit: at least one, if there is any. */
export function countWithin(sizes: readonly number[], most: number): number {
  let sum = 0
  const beyond = sizes.findIndex((size) => {
    sum += size
    return sum > most
  })
  return beyond === -1 ? sizes.length : Math.max(1, beyond)
}

function bytesOf({ engine }: SqlContext, { resource: stored, versionResource, fields }: ReadPage): RecordBytes {
  const resource = versionResource ?? stored
  let fixed = systemBytes
  let large = 0
  const columns: { readonly column: Sql; readonly most: number }[] = []
  for (const { name, column, value } of membersOf(resource)) {
    if (fields !== undefined && !fields.includes(name)) continue
    const most = column === undefined ? Buffer.byteLength(JSON.stringify(value)) : longestJson(column.field)
    fixed += name.length + 4
    if (most <= small || column === undefined) {
      fixed += most
      continue
    }
    large += most
    const bytes = sql`coalesce(${engine.storedBytes(columnSql(subject, column.name), column.type)}, 0)`
    columns.push({ column: bytes, most: column.type === 'text' ? mostEscaped : 1 })
  }
  if (columns.length === 0) return { small: fixed, large, stored: undefined, escaped: undefined }
  const bytes = columns.map(({ column }) => column)
  const escaped = columns.map(({ column, most }) => (most === 1 ? column : sql`${column} * ${raw(String(most))}`))
  return { small: fixed, large, stored: join(bytes, ' + '), escaped: join(escaped, ' + ') }
}

/** The most bytes of a field's value in JSON. */
function longestJson({ type, enum: values, reference, format, schema }: Field): number {
  if (type === 'boolean' || type === 'integer' || type === 'number') return 25
  if (type !== 'string') return Number.POSITIVE_INFINITY
  if (values !== undefined) return Math.max(4, ...values.map((value) => Buffer.byteLength(JSON.stringify(value))))
  if (reference !== undefined || format === 'date') return 40
  const longest = schema['maxLength']
  return typeof longest === 'number' ? longest * mostEscaped + 2 : Number.POSITIVE_INFINITY
}
