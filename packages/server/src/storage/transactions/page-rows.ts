/**
 * The rows of a page: segment by segment of the order, until there are enough. Records that are larger than their share
 * of a page are read one by one, until the page has its bytes (LIM-6).
 */

import { grantOf } from 'resourced-contract/model/field-grants'
import type { Position } from 'resourced-contract/model/predicate'
import type { Field, Resource } from 'resourced-contract/model/resource'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { columnSql, hasIdSql, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, reversed, type Segment, segmentsAfter } from '../sql/keyset.ts'
import { maskedSql, membersOf, representationSql } from '../sql/records.ts'
import { constant, firstRow, prebuilt, type Row, type Statement, type Transaction } from '../transaction.ts'
import { fewRows, isIndexRange, type Range, rangeOf } from './access-path.ts'
import type { List, Scan } from './list.ts'
import { clockSql } from './rows/clock.ts'

/** The place of a row in the order. */
type Keys = Position['keys']
type NumberedPage = Exclude<Page, { readonly style: 'cursor' }>
type CursorPage = Extract<Page, { readonly style: 'cursor' }>

/** A page to be read, by one scan. */
export interface PageRead {
  readonly list: List
  readonly scan: Scan
  /** The row of `firstStatement`, where it has run already. */
  readonly first?: Row | undefined
}

/**
 * The rows of a page, column by column. A statement gives each column as one text, because many rows of their own take
 * a client of PostgreSQL twice as long.
 */
interface Rows {
  readonly count: number
  /** The records, joined; `null` where a record has more than its share of the page. */
  readonly json: string
  /** Beside a cursor: the keys of each row. */
  readonly place: readonly string[]
  /** Where records can have more than their share: their ids and stored bytes. */
  readonly id: readonly string[]
  readonly size: readonly string[]
}

/** The separator of texts: none of them has a line break, which JSON escapes. */
export const between = ',\n'

/** The records of a page. */
type PagePart = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>
type Records = Pick<PagePart, 'json' | 'count'>

/** A page by number whose records are more than it may hold (LIM-6), and how many of them fit. */
export interface TooLarge {
  readonly fits: number
}

/** Reads the page of a list of so many records. */
export function* readRows(read: PageRead, total: number): Transaction<PagePart | TooLarge> {
  const { filter, page } = read.list.plan
  // What matches nothing is not looked for again: an ordered scan would go to the end for it.
  if (total === 0 && filter.kind !== 'always') return partOf(noRows)
  return yield* page.style === 'cursor' ? readBeside(read, page, total) : readNumbered(read, page, total)
}

function* readNumbered(read: PageRead, page: NumberedPage, total: number): Transaction<PagePart | TooLarge> {
  const rows = yield* rowsInRange(read, rangeOf(page), total)
  const records = yield* recordsOf(read, rows)
  if (records.count === rows.count) return partOf(records)
  if (page.style === 'offset') return { fits: records.count }
  // With another page size the page begins elsewhere. So many records fit wherever it begins among these.
  const sizes = rows.size.map(Number).sort((left, right) => right - left)
  return { fits: Math.min(records.count, countWithin(sizes, read.list.context.catalog.limits.pageBytes)) }
}

/** The rows from an offset on. If the end of the list is nearer, they are read from there, and fewer are skipped. */
function* rowsInRange(read: PageRead, { limit, offset }: Range, total: number): Transaction<Rows> {
  const after = total - offset - limit
  if (offset >= total) return noRows
  if (offset <= Math.max(fewRows, after)) return yield* rowsBeyond(read, read.scan.terms, undefined, { limit, offset })
  const range = { limit: Math.min(limit, total - offset), offset: Math.max(0, after) }
  const rows = yield* rowsBeyond(read, reversed(read.scan.terms), undefined, range)
  return { ...rows, json: inReverse(rows.json), id: rows.id.toReversed(), size: rows.size.toReversed() }
}

/** Reads a page beside a cursor, or the first one, and one row more, to see whether there are more. */
function* readBeside(read: PageRead, page: CursorPage, total: number): Transaction<PagePart> {
  const { position } = page
  const isBackward = position?.direction === 'backward'
  const terms = isBackward ? reversed(read.scan.terms) : read.scan.terms
  // A position without keys is the edge of the list.
  const keys = position?.keys.length === 0 ? undefined : position?.keys
  const rows = yield* rowsBeyond(read, terms, keys, rangeOf(page))
  const records = yield* recordsOf(read, rows, page.limit)
  const [first, last] = [keysOf(rows.place[0]), keysOf(rows.place[records.count - 1])]
  if (first === undefined || last === undefined) {
    // An empty page is at the end or the beginning of the list, so it has no keys.
    const edge = position === undefined || total === 0 ? undefined : []
    return partOf(noRows, isBackward ? { next: edge } : { previous: edge })
  }
  const onward = records.count < rows.count ? last : undefined
  const back = position !== undefined && (yield* isBeyond(read, reversed(terms), first)) ? first : undefined
  return isBackward
    ? partOf({ ...records, json: inReverse(records.json) }, { previous: onward, next: back })
    : partOf(records, { previous: back, next: onward })
}

const noRows: Rows = { count: 0, json: '', place: [], id: [], size: [] }

function partOf({ json, count }: Records, { previous, next }: Partial<PagePart> = {}): PagePart {
  return { json, count, previous, next }
}

function keysOf(place: string | undefined): Keys | undefined {
  return place === undefined ? undefined : (JSON.parse(place) as Keys)
}

/** Whether there is a row beyond a place. */
function* isBeyond({ list, scan }: PageRead, terms: readonly OrderTerm[], keys: Keys): Transaction<boolean> {
  for (const segment of segmentsAfter(terms, keys)) {
    const rows = rowsSql(list.plan.resource, scan.where, segment)
    if ((yield sql`select 1 as found ${rows} order by ${segment.order} limit 1`).length > 0) return true
  }
  return false
}

/**
 * The statement that reads the page from the first segment of its list, which most pages are in. Where others write at
 * any time, it also reads the clock, so that no change comes between them.
 */
export function firstStatement(read: PageRead): Statement {
  const { list, scan } = read
  if (scan.first !== undefined) return scan.first
  const { context, plan, others } = list
  const rows = segmentSql(read, segmentsAfter(scan.terms, undefined)[0] as Segment, rangeOf(plan.page))
  const clock = clockSql(context, plan.resource.name, others)
  const both = sql`select clock.*, page.* from (${clock}) clock, (${rows}) page`
  scan.first = constant(context.dialect.lock.hasOtherWriters ? both : rows)
  return scan.first
}

/** Reads rows beyond a place (`undefined`: from the beginning), segment by segment. */
function* rowsBeyond(
  read: PageRead,
  terms: readonly OrderTerm[],
  keys: Keys | undefined,
  { limit, offset }: Range,
): Transaction<Rows> {
  const { list, scan } = read
  const isFront = keys === undefined && terms === scan.terms
  let rows = isFront ? rowsOf(read.first ?? (yield* firstRow(firstStatement(read)))) : noRows
  if (rows.count >= limit) return rows
  let skipped = 0
  for (const [index, segment] of segmentsAfter(terms, keys).entries()) {
    if (index > 0 || !isFront) {
      const range = { limit: limit - rows.count, offset: rows.count > 0 ? 0 : offset - skipped }
      rows = joinedRows(rows, rowsOf(yield* firstRow(prebuilt(segmentSql(read, segment, range)))))
    }
    if (rows.count >= limit) break
    if (rows.count === 0 && offset > skipped) skipped += yield* sizeOf(list.plan.resource, scan.where, segment)
  }
  return rows
}

function rowsOf(found: Row | undefined): Rows {
  const lines = (column: 'place' | 'id' | 'size') => {
    const text = found?.[column]
    return typeof text === 'string' ? text.split(between) : []
  }
  const count = Number(found?.['count'] ?? 0)
  const json = count === 0 ? '' : String(found?.['json'])
  return { count, json, place: lines('place'), id: lines('id'), size: lines('size') }
}

function joinedRows(left: Rows, right: Rows): Rows {
  if (left.count === 0) return right
  return {
    count: left.count + right.count,
    json: right.count === 0 ? left.json : left.json + between + right.json,
    place: [...left.place, ...right.place],
    id: [...left.id, ...right.id],
    size: [...left.size, ...right.size],
  }
}

function inReverse(json: string): string {
  return json.split(between).reverse().join(between)
}

/** The rows of one segment of a list. */
export function rowsSql({ name }: Resource, where: Sql, { condition }: Segment, table = subjectSql(name)): Sql {
  const beyond = condition === undefined ? empty : sql` and ${condition}`
  return sql`from ${table} where ${where}${beyond}`
}

/** How many rows a segment has: what an offset skips over when it lies beyond the segment. */
function* sizeOf(resource: Resource, where: Sql, segment: Segment): Transaction<number> {
  const row = yield* firstRow(sql`select count(*) as total ${rowsSql(resource, where, segment)}`)
  return Number(row?.['total'] ?? 0)
}

/** The rows of one segment in order: see `Rows`. */
function segmentSql({ list: { context, plan }, scan }: PageRead, segment: Segment, { limit, offset }: Range): Sql {
  const { dialect } = context
  const columns = columnsSql(context, plan)
  if (plan.page.style === 'cursor') {
    columns.push(['place', keysSql(context, scan.terms)])
  }
  const joined = columns.map(([name]) => sql`${dialect.joinRows(raw(name))} as ${raw(name)}`)
  const shown = columns.map(([name, value]) => sql`${value} as ${raw(name)}`)
  const select = (rows: Sql) =>
    sql`select count(*) as count, ${join(joined, ', ')} from (select ${join(shown, ', ')} ${rows}) page`
  const skip = offset === 0 ? empty : sql` offset ${offset}`
  // What ends soon needs no check whether it has to end, which a reader thread has for each row.
  const endsSoon = offset + limit <= 10 * fewRows && isIndexRange(plan)
  const table = endsSoon ? sql`${dialect.schema}${subjectSql(plan.resource.name)}` : undefined
  const found = rowsSql(plan.resource, scan.where, segment, table)
  const rows = sql`${found} order by ${segment.order} ${dialect.limit(limit)}${skip}`
  if (scan.isSorted !== true || offset === 0) return select(rows)
  // To sort all rows that match, an engine may make the columns of all that come before the page. So ids are sorted.
  const id = raw(`${subject}.id`)
  const named = sql`from ${subjectSql(plan.resource.name)} where ${id} in (select ${id} ${rows})`
  return select(sql`${named} order by ${segment.order}`)
}

/** The keys of a row in an order, as a JSON array. */
export function keysSql({ dialect }: Pick<SqlContext, 'dialect'>, terms: readonly OrderTerm[]): Sql {
  return dialect.jsonKeys(terms.map(({ column, key = column, type }) => [key, type] as const))
}

/** The columns of `Rows`, but for places. */
function columnsSql(context: SqlContext, plan: ReadPage): [name: keyof Rows, value: Sql][] {
  const value = valueSql(context, plan)
  const { small: fixed, large, stored, escaped } = bytesOf(context, plan)
  const share = Math.floor(context.catalog.limits.pageBytes / rangeOf(plan.page).limit)
  if (fixed + large <= share) return [['json', value]]
  const isWithin = sql`${escaped} <= ${raw(String(share - fixed))}`
  return [
    ['json', sql`case when ${isWithin} then ${value} else 'null' end`],
    ['id', raw(`${subject}.id`)],
    ['size', sql`cast(${stored} as text)`],
  ]
}

/** How the rows of a list are represented. */
export type ShownRows = Pick<ReadPage, 'resource' | 'versionResource' | 'fields' | 'deleted' | 'readableFields'>

/** The JSON of a row. */
export function valueSql(
  context: SqlContext,
  { resource, versionResource, fields, deleted, readableFields }: ShownRows,
): Sql {
  const represented = { resource: versionResource ?? resource, fields, readableFields }
  const live = representationSql(context, represented)
  if (deleted === undefined) return live
  const whole = representationSql(context, { ...represented, withDeleted: true })
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${whole} end`
}

/** The records of so many rows, or of as many as a page may hold, but one at least. */
function* recordsOf({ list: { context, plan } }: PageRead, rows: Rows, most = rows.count): Transaction<Records> {
  // One row more is read at most.
  const json = rows.count > most ? rows.json.slice(0, rows.json.lastIndexOf(between)) : rows.json
  const texts = rows.id.length === 0 ? [] : json.split(between)
  if (!texts.includes('null')) return { json, count: Math.min(rows.count, most) }
  const { pageBytes } = context.catalog.limits
  const fitting: string[] = []
  let bytes = 0
  for (const [index, known] of texts.entries()) {
    // Its JSON has no fewer bytes than its values.
    if (index > 0 && bytes + Number(rows.size[index]) > pageBytes) break
    const hasId = hasIdSql(plan.resource, (of) => of(String(rows.id[index])))
    const source = sql`from ${subjectSql(plan.resource.name)} where ${hasId}`
    const one = sql`select ${valueSql(context, plan)} as json ${source}`
    const text = known === 'null' ? String((yield* firstRow(one))?.['json']) : known
    bytes += Buffer.byteLength(text) + 2
    if (index > 0 && bytes > pageBytes) break
    fitting.push(text)
  }
  return { json: fitting.join(between), count: fitting.length }
}

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
  readonly stored: Sql
  readonly escaped: Sql
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

export function bytesOf(context: SqlContext, plan: ShownRows): RecordBytes {
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
  if (columns.length === 0) return { small: fixed, large, stored: raw('0'), escaped: raw('0') }
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
