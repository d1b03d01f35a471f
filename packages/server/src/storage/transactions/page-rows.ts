/**
 * The rows of a page: segment by segment of the order, until there are enough. Where records may be more than a page
 * can hold (LIM-6), their sizes are read first, and then the records that fit.
 */

import { grantOf } from 'resourced-contract/model/field-grants'
import type { Position } from 'resourced-contract/model/predicate'
import type { Field, Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { columnSql, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { reversed, type Segment, segmentsAfter } from '../sql/keyset.ts'
import { maskedSql, membersOf, representationSql } from '../sql/records.ts'
import { firstRow, prebuilt, type Row, type Transaction } from '../transaction.ts'
import { hasIndex, type Range, rangeOf, type Scan } from './list.ts'
import type { Place } from './places.ts'

/** The place of a row in the order. */
export type Keys = Position['keys']
type NumberedPage = Exclude<Page, { readonly style: 'cursor' }>
type CursorPage = Extract<Page, { readonly style: 'cursor' }>

/** A page to be read, by one scan. */
interface PageRead {
  readonly context: SqlContext
  readonly plan: ReadPage
  readonly scan: Scan
}

/** Rows that were found: their JSON texts, joined. */
interface Rows {
  readonly json: string
  readonly count: number
}

/** The same, with the place of each row in the order; places are empty for pages by number. */
interface PlacedRows extends Rows {
  readonly places: string
}

/** Rows that were found beside a cursor, in the list's own order. */
interface RowsBeside extends Rows {
  /** The place of the first row in the order of reading; `undefined` if there is none. */
  readonly first: Keys | undefined
  /** The place of the last row in the order of reading. */
  readonly last: Keys | undefined
  /** Whether there are rows beyond the last. */
  readonly more: boolean
}

/** A page by number whose records are more than it may hold (LIM-6), and how many of them fit. */
export interface TooLarge {
  readonly fits: number
}

/** So many rows of an index are read quickly. */
const fewRows = 10_000

/** The separator of JSON texts: none of them has a line break, which JSON escapes. */
const between = ',\n'

/** To skip so many rows takes less time than to make another statement. */
export const skippedQuickly = 1_000

/**
 * Reads a page by its number or offset.
 *
 * @param total the records of the list
 * @param place a place at or before the page; `undefined`: only the first row is known
 */
export function* readNumbered(
  read: PageRead,
  page: NumberedPage,
  { total, place }: { readonly total: number; readonly place: Place | undefined },
): Transaction<Rows | TooLarge> {
  const whole = rangeOf(page)
  if (whole.offset >= total) return { json: '', count: 0 }
  const range = { limit: whole.limit, offset: whole.offset - (place?.rows ?? 0) }
  const segments = place === undefined ? wholeOrder(read.scan) : segmentsAfter(read.scan.terms, place.keys)
  const isNearEnd = range.offset > Math.max(skippedQuickly, total - whole.offset - whole.limit)
  const rows = yield* isNearEnd ? readFromEnd(read, whole, total) : readRows(read, segments, range)
  if (rows !== undefined) return rows
  const { sizes, rows: fitting } = yield* readLarge(read, segments, range)
  if (fitting.count === sizes.length) return fitting
  if (page.style === 'offset') return { fits: fitting.count }
  // With another page size the page begins elsewhere. So many records fit wherever it begins among these.
  const largest = sizes.toSorted((left, right) => right - left)
  return { fits: Math.min(fitting.count, countWithin(largest, read.context.catalog.limits.pageBytes)) }
}

/** Reads a page beside a cursor, or the first one, and one row more, to see whether there are more. */
export function* readBeside(read: PageRead, page: CursorPage): Transaction<RowsBeside> {
  const { position, limit } = page
  // A position without keys is the edge of the list.
  const isEdge = position === undefined || position.keys.length === 0
  const segments = isEdge ? wholeOrder(read.scan) : segmentsAfter(read.scan.terms, position.keys)
  const rows = yield* readRows(read, segments, rangeOf(page))
  if (rows !== undefined) return besideOf(withoutLast(rows, limit), rows.count > limit, page)
  const { sizes, rows: fitting } = yield* readLarge(read, segments, { limit, offset: 0 }, 1)
  return besideOf(fitting, fitting.count < sizes.length, page)
}

/** A page by number, or the first one by cursor, in one statement: of the first segment of its order. */
export function firstPageSql(read: PageRead): Sql {
  return segmentSql(read, wholeOrder(read.scan)[0] as Segment, rangeOf(read.plan.page))
}

/**
 * What that statement has found; `undefined` where the segments after the first may have more of the page, or it has
 * more bytes than its statement gives.
 */
export function firstPageOf(
  page: Page,
  { segments = [] }: Scan,
  row: Row | undefined,
): Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'> | undefined {
  const count = Number(row?.['count'])
  if (isTooLarge(row) || (count < rangeOf(page).limit && segments.length > 1)) return undefined
  const json = count === 0 ? '' : String(row?.['json'])
  if (page.style !== 'cursor') return { json, count, previous: undefined, next: undefined }
  const places = count === 0 ? '' : String(row?.['places'])
  const found = besideOf(withoutLast({ json, places, count }, page.limit), count > page.limit, page)
  return { json: found.json, count: found.count, previous: undefined, next: found.more ? found.last : undefined }
}

/** The rows of one segment of a list. */
export function rowsSql({ name }: Resource, where: Sql, { condition }: Segment, table = subjectSql(name)): Sql {
  const beyond = condition === undefined ? empty : sql` and ${condition}`
  return sql`from ${table} where ${where}${beyond}`
}

function wholeOrder(scan: Scan): readonly Segment[] {
  scan.segments ??= segmentsAfter(scan.terms, undefined)
  return scan.segments
}

/** Reads a page in the reverse order, so that only the rows after it are skipped. */
function* readFromEnd(read: PageRead, { limit, offset }: Range, total: number): Transaction<Rows | undefined> {
  const scan: Scan = { ...read.scan, terms: reversed(read.scan.terms) }
  const after = total - offset - limit
  const range = { limit: Math.min(limit, total - offset), offset: Math.max(0, after) }
  const rows = yield* readRows({ ...read, scan }, segmentsAfter(scan.terms, undefined), range)
  return rows && { json: inReverse(rows.json), count: rows.count }
}

function inReverse(json: string): string {
  return json.split(between).reverse().join(between)
}

/** Reads rows segment by segment; `undefined` where a record has more than its share of the page. */
function* readRows(
  read: PageRead,
  segments: readonly Segment[],
  { limit, offset }: Range,
): Transaction<PlacedRows | undefined> {
  const { plan, scan } = read
  const records: string[] = []
  const places: string[] = []
  let count = 0
  let skipped = 0
  for (const [index, segment] of segments.entries()) {
    if (count >= limit) break
    const skip = count > 0 ? 0 : offset - skipped
    const isFirst = index === 0 && segments === scan.segments
    let statement = isFirst ? scan.statement : undefined
    statement ??= prebuilt(segmentSql(read, segment, { limit: limit - count, offset: skip }))
    if (isFirst) scan.statement = statement
    const row = yield* firstRow(statement)
    if (isTooLarge(row)) return undefined
    const found = Number(row?.['count'])
    if (found > 0) {
      records.push(String(row?.['json']))
      places.push(String(row?.['places']))
    } else if (skip > 0) skipped += yield* sizeOf(plan, scan.where, segment)
    count += found
  }
  return { json: records.join(between), places: places.join(between), count }
}

/** The rows of one segment, with their number, and beside a cursor with their places. */
function segmentSql(read: PageRead, segment: Segment, range: Range): Sql {
  const { context, plan, scan } = read
  const { joinRows } = context.dialect
  const rows = pageRowsSql(read, segment, range)
  const [value, fitting] = sharedSql(read)
  const json = joinRows(raw('json'))
  const found = sql`count(*) as count${fitting} from`
  if (plan.page.style !== 'cursor') return sql`select ${json} as json, ${found} (select ${value} as json ${rows}) page`
  const placed = sql`select ${value} as json, ${placeSql(context, scan)} as place ${rows}`
  return sql`select ${json} as json, ${joinRows(raw('place'))} as places, ${found} (${placed}) page`
}

/**
 * The rows of a page, as the text after the columns of a select. Where they are found by sorting all that match, the
 * engine may make the columns of all that come before the end of the page. So ids are sorted first.
 */
function pageRowsSql(read: PageRead, segment: Segment, range: Range): Sql {
  const rows = orderedSql(read, segment, range)
  if (read.scan.isSorted !== true || range.offset === 0) return rows
  const found = sql`from ${subjectSql(read.plan.resource.name)} where ${raw(subject)}.id in`
  return sql`${found} (select ${raw(subject)}.id ${rows}) order by ${segment.order}`
}

/** The rows of a segment in order, as the text after the columns of a select. */
function orderedSql({ context, plan, scan }: PageRead, segment: Segment, { limit, offset }: Range): Sql {
  const skip = offset === 0 ? empty : sql` offset ${offset}`
  // What ends soon needs no check whether it has to end, which SQLite has for each row.
  const isShort = offset + limit <= fewRows && hasIndex(plan)
  const table = isShort ? sql`${context.dialect.schema}${subjectSql(plan.resource.name)}` : undefined
  const rows = rowsSql(plan.resource, scan.where, segment, table)
  return sql`${rows} order by ${segment.order} ${context.dialect.limit(limit)}${skip}`
}

/** The JSON of a row, null where it has more than its share of the page; and the count of those that have not. */
function sharedSql({ context, plan }: PageRead): [value: Sql, fitting: Sql] {
  const value = valueSql(context, plan)
  const share = shareSql(context, plan, rangeOf(plan.page).limit)
  if (share === undefined) return [value, empty]
  return [sql`case when ${share} then ${value} end`, raw(', count(json) as fitting')]
}

/** Whether a statement left out records that have more than their share of the page. */
function isTooLarge(row: Row | undefined): boolean {
  return row?.['fitting'] !== undefined && Number(row['fitting']) < Number(row['count'])
}

/** The JSON of a row. */
function valueSql(context: SqlContext, { resource, versionResource, fields, deleted, readableFields }: ReadPage): Sql {
  const represented = { resource: versionResource ?? resource, fields, readableFields }
  const live = representationSql(context, represented)
  if (deleted === undefined) return live
  const whole = representationSql(context, { ...represented, withDeleted: true })
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${whole} end`
}

/** The place of a row in the order, as JSON. */
function placeSql({ dialect }: SqlContext, { terms }: Scan): Sql {
  return dialect.jsonKeys(terms.map(({ column, key = column, type }) => [key, type]))
}

/** How many rows a segment has: what an offset skips over when it lies beyond the segment. */
function* sizeOf({ resource }: ReadPage, where: Sql, segment: Segment): Transaction<number> {
  const row = yield* firstRow(sql`select count(*) as total ${rowsSql(resource, where, segment)}`)
  return Number(row?.['total'] ?? 0)
}

/** The rows of a page of so many, where one more was read. */
function withoutLast(rows: PlacedRows, limit: number): PlacedRows {
  if (rows.count <= limit) return rows
  const { json, places, count } = rows
  const cut = (text: string) => text.slice(0, text.lastIndexOf(between))
  return { json: cut(json), places: cut(places), count: count - 1 }
}

/** The rows beside a cursor. */
function besideOf({ json: found, places, count }: PlacedRows, more: boolean, { position }: CursorPage): RowsBeside {
  const json = position?.direction === 'backward' ? inReverse(found) : found
  if (count === 0) return { json, count, first: undefined, last: undefined, more }
  const first = places.split(between, 1)[0] as string
  const last = places.slice(places.lastIndexOf('\n') + 1)
  return { json, count, first: JSON.parse(first) as Keys, last: JSON.parse(last) as Keys, more }
}

/**
 * Reads rows of which some may be large: only as many as a page may hold, and one at least.
 *
 * @param more how many more rows are looked at
 * @returns also the sizes of all rows that were looked at, as they are stored
 */
function* readLarge(
  read: PageRead,
  segments: readonly Segment[],
  { limit, offset }: Range,
  more = 0,
): Transaction<{ readonly sizes: readonly number[]; readonly rows: PlacedRows }> {
  const { context, plan, scan } = read
  const { pageBytes } = context.catalog.limits
  const parts: { readonly segment: Segment; readonly offset: number; readonly count: number }[] = []
  const sizes: number[] = []
  let skipped = 0
  for (const segment of segments) {
    const wanted = limit + more - sizes.length
    if (wanted <= 0) break
    const skip = sizes.length > 0 ? 0 : offset - skipped
    const row = yield* firstRow(sizesSql(read, segment, { limit: wanted, offset: skip }))
    const found = JSON.parse(`[${row?.['sizes'] ?? ''}]`) as number[]
    if (found.length === 0 && skip > 0) skipped += yield* sizeOf(plan, scan.where, segment)
    parts.push({ segment, offset: skip, count: found.length })
    sizes.push(...found)
  }
  const most = Math.min(limit, countWithin(sizes, pageBytes))
  const records: string[] = []
  const places: string[] = []
  let count = 0
  let bytes = 0
  for (const { segment, offset, count: size } of parts) {
    const wanted = Math.min(size, most - count)
    if (wanted <= 0) continue
    const bounds = { most: pageBytes - bytes, isFirst: count === 0 }
    const row = yield* firstRow(withinSql(read, segment, { limit: wanted, offset }, bounds))
    const found = Number(row?.['count'])
    if (found > 0) {
      records.push(String(row?.['json']))
      places.push(String(row?.['places']))
      count += found
      bytes += Number(row?.['bytes'])
    }
    if (found < wanted) break
  }
  return { sizes, rows: { json: records.join(between), places: places.join(between), count } }
}

function sizesSql(read: PageRead, segment: Segment, range: Range): Sql {
  const { context, plan } = read
  const size = sql`cast(${storedBytesSql(context, plan)} as text) as size`
  const sizes = context.dialect.joinRows(raw('size'))
  return sql`select ${sizes} as sizes from (select ${size} ${orderedSql(read, segment, range)}) page`
}

/**
 * Rows until they have so many bytes. They are found first: to sort them, an engine may make the JSON of all that
 * match.
 *
 * @param bounds `isFirst`: one row is read, however large
 */
function withinSql(
  read: PageRead,
  segment: Segment,
  range: Range,
  bounds: { readonly most: number; readonly isFirst: boolean },
): Sql {
  const { context, plan, scan } = read
  const { joinRows, limit } = context.dialect
  const ids = sql`select ${raw(subject)}.id ${orderedSql(read, segment, range)}`
  const columns = sql`${valueSql(context, plan)} as json, ${placeSql(context, scan)} as place`
  const found = sql`from ${subjectSql(plan.resource.name)} where ${raw(subject)}.id in (${ids})`
  const rows = sql`select ${columns} ${found} order by ${segment.order} ${limit(range.limit)}`
  const upto = sql`sum(octet_length(json) + 2) over (rows unbounded preceding) as upto`
  const sized = sql`select json, place, octet_length(json) as size, ${upto} from (${rows}) page`
  const first = bounds.isFirst ? raw(' or upto = size + 2') : empty
  const joined = sql`${joinRows(raw('json'))} as json, ${joinRows(raw('place'))} as places`
  const fitting = sql`where upto <= ${raw(String(bounds.most))}${first}`
  return sql`select ${joined}, count(*) as count, max(upto) as bytes from (${sized}) sized ${fitting}`
}

// The size of a page is computed in the database (LIM-6). If no record exceeds its share of the page, all records fit:
// that costs one comparison for each record, and nothing where the declaration bounds all values.

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
function shareSql(context: SqlContext, plan: ReadPage, rows: number): Sql | undefined {
  const { small: fixed, large, escaped } = bytesOf(context, plan)
  const share = Math.floor(context.catalog.limits.pageBytes / rows)
  if (fixed + large <= share) return undefined
  return escaped === undefined ? sql`1 = 0` : sql`${escaped} <= ${raw(String(share - fixed))}`
}

/** The stored bytes of a record's large fields, which the engine knows without reading the values. */
function storedBytesSql(context: SqlContext, plan: ReadPage): Sql {
  return bytesOf(context, plan).stored ?? raw('0')
}

/** How many of these sizes, from the first, have a sum within a limit: at least one, if there is any. */
function countWithin(sizes: readonly number[], most: number): number {
  let sum = 0
  const beyond = sizes.findIndex((size) => {
    sum += size
    return sum > most
  })
  return beyond === -1 ? sizes.length : Math.max(1, beyond)
}

function bytesOf(context: SqlContext, plan: ReadPage): RecordBytes {
  const { dialect } = context
  const { resource: stored, versionResource, fields, readableFields } = plan
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
    const size = dialect.storedBytes(columnSql(subject, column.name), column.type)
    const grant = readableFields && grantOf(readableFields, column.field.name)
    const bytes = sql`coalesce(${maskedSql(context, resource, grant, { value: size })}, 0)`
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
