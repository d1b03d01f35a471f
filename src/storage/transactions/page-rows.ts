/** The rows of a page: segment by segment of the order, until there are enough. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Position } from '../../model/predicate.ts'
import type { Page, PageOutcome, ReadPage } from '../../plan/plan.ts'
import type { SqlContext } from '../sql/context.ts'
import { type Segment, segmentsAfter } from '../sql/keyset.ts'
import { firstRow, prebuilt, type Row, type Transaction } from '../transaction.ts'
import { readLarge } from './large-page.ts'
import type { Walk } from './listing.ts'
import { countWithin, shareSql } from './page-bytes.ts'
import { between, type PlacedRows, placeSql, type Rows, rowsSql, sizeOf, skipSql, valueSql } from './page-sql.ts'

/** The place of a row in the order. */
export type Keys = Position['keys']
type NumberedPage = Exclude<Page, { readonly style: 'cursor' }>
type CursorPage = Extract<Page, { readonly style: 'cursor' }>

type FirstPage = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>

/** Rows that were found beside a cursor, in the list's own order. */
export interface RowsBeside extends Rows {
  /** The place of the row that was met first; `undefined` where there is none. */
  readonly first: Keys | undefined
  /** The place of the row that was met last. */
  readonly last: Keys | undefined
  /** Whether there are rows beyond the last. */
  readonly more: boolean
}

/** A page by number whose records are more than it may hold (LIM-6), and how many of them fit. */
export interface TooLarge {
  readonly fits: number
}

/** Reads a page by its number or offset. */
export function* readNumbered(
  context: SqlContext,
  plan: ReadPage,
  walk: Walk,
  page: NumberedPage,
): Transaction<Rows | TooLarge> {
  const [limit, offset] = stretchOf(page)
  walk.segments ??= segmentsAfter(walk.terms, undefined)
  const texts: string[] = []
  let count = 0
  let skipped = 0
  for (const [index, segment] of walk.segments.entries()) {
    if (count >= limit) break
    const skip = count > 0 ? 0 : offset - skipped
    let statement = index === 0 ? walk.statement : undefined
    statement ??= prebuilt(numberedSql(context, plan, walk.where, segment, limit - count, skip))
    if (index === 0) walk.statement = statement
    const row = yield* firstRow(statement)
    if (isTooLarge(row)) return yield* readNumberedLarge(context, plan, walk, page)
    const found = Number(row?.['count'])
    if (found > 0) texts.push(String(row?.['json']))
    else if (skip > 0) skipped += yield* sizeOf(plan, walk.where, segment)
    count += found
  }
  return { json: texts.join(between), count }
}

/** The same where a record has more than its share. */
function* readNumberedLarge(
  context: SqlContext,
  plan: ReadPage,
  walk: Walk,
  page: NumberedPage,
): Transaction<Rows | TooLarge> {
  const [limit, offset] = stretchOf(page)
  const { sizes, read } = yield* readLarge(context, plan, walk, walk.segments ?? [], { limit, offset })
  if (read.count === sizes.length) return read
  if (page.style === 'offset') return { fits: read.count }
  // With another number of records a page begins elsewhere: so many fit wherever it begins among these.
  const largest = sizes.toSorted((left, right) => right - left)
  return { fits: Math.min(read.count, countWithin(largest, context.catalog.limits.pageBytes)) }
}

/** The most rows of a page by number, and how many come before it. */
function stretchOf(page: NumberedPage): [limit: number, offset: number] {
  return page.style === 'page' ? [page.perPage, (page.page - 1) * page.perPage] : [page.limit, page.offset]
}

function numberedSql(
  context: SqlContext,
  plan: ReadPage,
  where: Sql,
  segment: Segment,
  limit: number,
  offset: number,
): Sql {
  const rows = sql`${rowsSql(plan.resource, where, segment)} order by ${segment.order} ${context.engine.limit(limit)}${skipSql(offset)}`
  const [value, fitting] = sharedSql(context, plan, stretchOf(plan.page as NumberedPage)[0])
  return sql`select ${context.engine.joinRows(raw('json'))} as json, count(*) as count${fitting} from (select ${value} as json ${rows}) page`
}

/** Reads a page beside a cursor, or the first one: one row more than it has, to see whether there are more. */
export function* readFrom(context: SqlContext, plan: ReadPage, walk: Walk, page: CursorPage): Transaction<RowsBeside> {
  const { position, limit } = page
  // A position without keys is the edge of the list.
  const keys = position === undefined || position.keys.length === 0 ? undefined : position.keys
  const records: string[] = []
  const places: string[] = []
  let count = 0
  if (keys === undefined) walk.segments ??= segmentsAfter(walk.terms, undefined)
  const segments = (keys === undefined ? walk.segments : segmentsAfter(walk.terms, keys)) as Segment[]
  for (const [index, segment] of segments.entries()) {
    if (count > limit) break
    const isFirst = keys === undefined && index === 0
    let statement = isFirst ? walk.statement : undefined
    statement ??= prebuilt(besideSql(context, plan, walk, segment, limit + 1 - count))
    if (isFirst) walk.statement = statement
    const row = yield* firstRow(statement)
    if (isTooLarge(row)) {
      const { sizes, read } = yield* readLarge(context, plan, walk, segments, { limit, offset: 0, more: 1 })
      return besideOf(read, read.count < sizes.length, page)
    }
    const found = Number(row?.['count'])
    if (found === 0) continue
    records.push(String(row?.['json']))
    places.push(String(row?.['places']))
    count += found
  }
  return besideOf(
    withoutLast({ json: records.join(between), places: places.join(between), count }, limit),
    count > limit,
    page,
  )
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
  const json = position?.direction === 'backward' ? found.split(between).reverse().join(between) : found
  if (count === 0) return { json, count, first: undefined, last: undefined, more }
  const first = places.split(between, 1)[0] as string
  const last = places.slice(places.lastIndexOf('\n') + 1)
  return { json, count, first: JSON.parse(first) as Keys, last: JSON.parse(last) as Keys, more }
}

function besideSql(context: SqlContext, plan: ReadPage, walk: Walk, segment: Segment, limit: number): Sql {
  const { engine } = context
  const rows = sql`${rowsSql(plan.resource, walk.where, segment)} order by ${segment.order} ${engine.limit(limit)}`
  const [value, fitting] = sharedSql(context, plan, (plan.page as CursorPage).limit + 1)
  return sql`select ${engine.joinRows(raw('json'))} as json, ${engine.joinRows(raw('place'))} as places, count(*) as count${fitting} from (select ${value} as json, ${placeSql(context, walk)} as place ${rows}) page`
}

/** The JSON of a row, null where it has more than its share of a page of so many; and the count of those that have not. */
function sharedSql(context: SqlContext, plan: ReadPage, rows: number): [value: Sql, fitting: Sql] {
  const value = valueSql(context, plan)
  const share = shareSql(context, plan, rows)
  if (share === undefined) return [value, empty]
  return [sql`case when ${share} then ${value} end`, raw(', count(json) as fitting')]
}

/** Whether a statement left out records that have more than their share of the page. */
function isTooLarge(row: Row | undefined): boolean {
  return row?.['fitting'] !== undefined && Number(row['fitting']) < Number(row['count'])
}

/** A page by number, or the first one of a walk by cursor, in one statement: of its first segment. */
export function firstPageSql(context: SqlContext, plan: ReadPage, walk: Walk): Sql {
  const { page } = plan
  walk.segments ??= segmentsAfter(walk.terms, undefined)
  const segment = walk.segments[0] as Segment
  if (page.style === 'cursor') return besideSql(context, plan, walk, segment, page.limit + 1)
  return numberedSql(context, plan, walk.where, segment, ...stretchOf(page))
}

/**
 * What that statement has found; `undefined`: the segments after the first may have more of the page, or it has more bytes than its
 * statement gives.
 */
export function firstPageOf(page: Page, { segments = [] }: Walk, row: Row | undefined): FirstPage | undefined {
  if (isTooLarge(row)) return undefined
  const count = Number(row?.['count'])
  const json = count === 0 ? '' : String(row?.['json'])
  if (page.style !== 'cursor') {
    const [limit] = stretchOf(page)
    return count < limit && segments.length > 1 ? undefined : { json, count, previous: undefined, next: undefined }
  }
  if (count <= page.limit && segments.length > 1) return undefined
  const places = count === 0 ? '' : String(row?.['places'])
  const found = besideOf(withoutLast({ json, places, count }, page.limit), count > page.limit, page)
  return { json: found.json, count: found.count, previous: undefined, next: found.more ? found.last : undefined }
}
