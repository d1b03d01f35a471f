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
import { columnSql, subject, subjectSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { type OrderTerm, reversed, type Segment, segmentsAfter } from '../sql/keyset.ts'
import { maskedSql, membersOf, representationSql } from '../sql/records.ts'
import { constant, firstRow, prebuilt, type Row, type Statement, type Transaction } from '../transaction.ts'
import { fewRows, type List, type Range, rangeOf, type Scan } from './list.ts'
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
 * A row of a page. It arrives as one line of a text, because many rows of their own take a client of PostgreSQL twice
 * as long. A line break or a tab is escaped wherever JSON has one.
 */
interface Line {
  /** Empty where the record has more than its share of the page. */
  readonly json: string
  /** Beside a cursor: its keys. */
  readonly place: string
  /** Where records can have more than their share. */
  readonly id: string
  readonly size: number
}

/** The records of a page. */
type PagePart = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>

/** A page by number whose records are more than it may hold (LIM-6), and how many of them fit. */
export interface TooLarge {
  readonly fits: number
}

/** Reads the page of a list of so many records. */
export function* readRows(read: PageRead, total: number): Transaction<PagePart | TooLarge> {
  const { filter, page } = read.list.plan
  // What matches nothing is not looked for again: an ordered scan would go to the end for it.
  if (total === 0 && filter.kind !== 'always') return partOf([])
  return yield* page.style === 'cursor' ? readBeside(read, page, total) : readNumbered(read, page, total)
}

function* readNumbered(read: PageRead, page: NumberedPage, total: number): Transaction<PagePart | TooLarge> {
  const rows = yield* rowsInRange(read, rangeOf(page), total)
  const texts = yield* textsOf(read, rows)
  if (texts.length === rows.length) return partOf(texts)
  if (page.style === 'offset') return { fits: texts.length }
  // With another page size the page begins elsewhere. So many records fit wherever it begins among these.
  const sizes = rows.map(({ size }) => size).sort((left, right) => right - left)
  return { fits: Math.min(texts.length, countWithin(sizes, read.list.context.catalog.limits.pageBytes)) }
}

/** The rows from an offset on. If the end of the list is nearer, they are read from there, and fewer are skipped. */
function* rowsInRange(read: PageRead, { limit, offset }: Range, total: number): Transaction<Line[]> {
  const after = total - offset - limit
  if (offset >= total) return []
  if (offset <= Math.max(fewRows, after)) return yield* rowsBeyond(read, read.scan.terms, undefined, { limit, offset })
  const range = { limit: Math.min(limit, total - offset), offset: Math.max(0, after) }
  return (yield* rowsBeyond(read, reversed(read.scan.terms), undefined, range)).reverse()
}

/** Reads a page beside a cursor, or the first one, and one row more, to see whether there are more. */
function* readBeside(read: PageRead, page: CursorPage, total: number): Transaction<PagePart> {
  const { position } = page
  const isBackward = position?.direction === 'backward'
  const terms = isBackward ? reversed(read.scan.terms) : read.scan.terms
  // A position without keys is the edge of the list.
  const keys = position?.keys.length === 0 ? undefined : position?.keys
  const rows = yield* rowsBeyond(read, terms, keys, rangeOf(page))
  const texts = yield* textsOf(read, rows.slice(0, page.limit))
  const [first, last] = [keysOf(rows[0]), keysOf(rows[texts.length - 1])]
  if (first === undefined || last === undefined) {
    // An empty page is at the end or the beginning of the list, so it has no keys.
    const edge = position === undefined || total === 0 ? undefined : []
    return partOf([], isBackward ? { next: edge } : { previous: edge })
  }
  const onward = texts.length < rows.length ? last : undefined
  const back = position !== undefined && (yield* isBeyond(read, reversed(terms), first)) ? first : undefined
  return isBackward
    ? partOf(texts.reverse(), { previous: onward, next: back })
    : partOf(texts, { previous: back, next: onward })
}

function partOf(texts: readonly string[], { previous, next }: Partial<PagePart> = {}): PagePart {
  return { json: texts.join(',\n'), count: texts.length, previous, next }
}

function keysOf(line: Line | undefined): Keys | undefined {
  return line && (JSON.parse(line.place) as Keys)
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
): Transaction<Line[]> {
  const { list, scan } = read
  const isFront = keys === undefined && terms === scan.terms
  const rows = isFront ? linesOf(read.first ?? (yield* firstRow(firstStatement(read)))) : []
  if (rows.length >= limit) return rows
  let skipped = 0
  for (const [index, segment] of segmentsAfter(terms, keys).entries()) {
    if (index > 0 || !isFront) {
      const range = { limit: limit - rows.length, offset: rows.length > 0 ? 0 : offset - skipped }
      rows.push(...linesOf(yield* firstRow(prebuilt(segmentSql(read, segment, range)))))
    }
    if (rows.length >= limit) break
    if (rows.length === 0 && offset > skipped) skipped += yield* sizeOf(list.plan.resource, scan.where, segment)
  }
  return rows
}

function linesOf(row: Row | undefined): Line[] {
  const lines = row?.['lines']
  if (typeof lines !== 'string') return []
  return lines.split('\n').map((line) => {
    const [json = '', place = '', id = '', size = ''] = line.split('\t')
    return { json, place, id, size: Number(size) }
  })
}

/** The rows of one segment of a list. */
export function rowsSql({ name }: Resource, where: Sql, { condition }: Segment): Sql {
  const beyond = condition === undefined ? empty : sql` and ${condition}`
  return sql`from ${subjectSql(name)} where ${where}${beyond}`
}

/** How many rows a segment has: what an offset skips over when it lies beyond the segment. */
function* sizeOf(resource: Resource, where: Sql, segment: Segment): Transaction<number> {
  const row = yield* firstRow(sql`select count(*) as total ${rowsSql(resource, where, segment)}`)
  return Number(row?.['total'] ?? 0)
}

/** The rows of one segment in order, as lines. */
function segmentSql({ list: { context, plan }, scan }: PageRead, segment: Segment, { limit, offset }: Range): Sql {
  const { dialect } = context
  const keys = scan.terms.map(({ column, key = column, type }) => [key, type] as const)
  const line = lineSql(context, plan, plan.page.style === 'cursor' ? dialect.jsonKeys(keys) : undefined)
  const select = (page: Sql) =>
    sql`select ${dialect.joinRows(raw('line'))} as lines from (select ${line} as line ${page}) page`
  const skip = offset === 0 ? empty : sql` offset ${offset}`
  const found = rowsSql(plan.resource, scan.where, segment)
  const rows = sql`${found} order by ${segment.order} ${dialect.limit(limit)}${skip}`
  if (scan.isSorted !== true || offset === 0) return select(rows)
  // To sort all rows that match, an engine may make the columns of all that come before the page. So ids are sorted.
  const id = raw(`${subject}.id`)
  const named = sql`from ${subjectSql(plan.resource.name)} where ${id} in (select ${id} ${rows})`
  return select(sql`${named} order by ${segment.order}`)
}

/** See `Line`. */
function lineSql(context: SqlContext, plan: ReadPage, place: Sql | undefined): Sql {
  const value = valueSql(context, plan)
  const { small: fixed, large, stored, escaped } = bytesOf(context, plan)
  const share = Math.floor(context.catalog.limits.pageBytes / rangeOf(plan.page).limit)
  const tab = raw(` || '\t' || `)
  if (fixed + large <= share) return place === undefined ? value : join([value, place], tab.sql)
  const isWithin = sql`${escaped} <= ${raw(String(share - fixed))}`
  const json = sql`case when ${isWithin} then ${value} else '' end`
  return join([json, place ?? raw("''"), raw(`${subject}.id`), sql`(${stored})`], tab.sql)
}

/** The JSON of a row. */
function valueSql(context: SqlContext, { resource, versionResource, fields, deleted, readableFields }: ReadPage): Sql {
  const represented = { resource: versionResource ?? resource, fields, readableFields }
  const live = representationSql(context, represented)
  if (deleted === undefined) return live
  const whole = representationSql(context, { ...represented, withDeleted: true })
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${whole} end`
}

/** The JSON of rows, as many as a page may hold, but one at least. */
function* textsOf({ list: { context, plan } }: PageRead, rows: readonly Line[]): Transaction<string[]> {
  if (rows.every(({ json }) => json !== '')) return rows.map(({ json }) => json)
  const { pageBytes } = context.catalog.limits
  const texts: string[] = []
  let bytes = 0
  for (const { json, id, size } of rows) {
    // Its JSON has no fewer bytes than its values.
    if (texts.length > 0 && bytes + size > pageBytes) break
    const found = sql`from ${subjectSql(plan.resource.name)} where id = ${id}`
    const one = sql`select ${valueSql(context, plan)} as json ${found}`
    const text = json === '' ? String((yield* firstRow(one))?.['json']) : json
    bytes += Buffer.byteLength(text) + 2
    if (texts.length > 0 && bytes > pageBytes) break
    texts.push(text)
  }
  return texts
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
