/** The rows of a page: segment by segment of the order, until there are enough. */
import sql, { raw, type Sql } from 'sql-template-tag'
import type { Position } from '../../model/order.ts'
import type { Resource } from '../../model/resource.ts'
import type { Page, PageOutcome, ReadPage } from '../../plan/plan.ts'
import { type Segment, segmentsAfter } from './keyset.ts'
import type { Walk } from './listing.ts'
import { type Compiler, tableSql } from './predicate.ts'
import { representationSql, subject } from './represent.ts'
import { kept, type Row, single, type Transaction } from './transaction.ts'

/** What stands between JSON texts: none of them has a line break, which JSON escapes. */
const between = ',\n'

/** The place of a row in the order. */
export type Keys = Position['keys']
type NumberedPage = Exclude<Page, { readonly style: 'cursor' }>
type CursorPage = Extract<Page, { readonly style: 'cursor' }>

type FirstPage = Pick<PageOutcome, 'json' | 'count' | 'previous' | 'next'>

/** Rows that were found: their JSON texts, joined. */
export interface Rows {
  readonly json: string
  readonly count: number
}

/** Rows that were found beside a cursor, in the list's own order. */
export interface RowsBeside extends Rows {
  /** The place of the row that was met first; `undefined` where there is none. */
  readonly first: Keys | undefined
  /** The place of the row that was met last. */
  readonly last: Keys | undefined
  /** Whether there are rows beyond the last. */
  readonly more: boolean
}

/** Reads a page by its number or offset. */
export function* readNumbered(compiler: Compiler, plan: ReadPage, walk: Walk, page: NumberedPage): Transaction<Rows> {
  const [limit, offset] = stretchOf(page)
  walk.segments ??= segmentsAfter(walk.terms, undefined)
  const texts: string[] = []
  let count = 0
  let skipped = 0
  for (const [index, segment] of walk.segments.entries()) {
    if (count >= limit) break
    const skip = count > 0 ? 0 : offset - skipped
    let statement = index === 0 ? walk.statement : undefined
    statement ??= kept(numberedSql(compiler, plan, walk.where, segment, limit - count, skip))
    if (index === 0) walk.statement = statement
    const row = yield* single(statement)
    const found = Number(row?.['count'])
    if (found > 0) texts.push(String(row?.['json']))
    else if (skip > 0) skipped += yield* sizeOf(plan, walk.where, segment)
    count += found
  }
  return { json: texts.join(between), count }
}

/** The most rows of a page by number, and how many come before it. */
function stretchOf(page: NumberedPage): [limit: number, offset: number] {
  return page.style === 'page' ? [page.perPage, (page.page - 1) * page.perPage] : [page.limit, page.offset]
}

function numberedSql(
  compiler: Compiler,
  plan: ReadPage,
  where: Sql,
  segment: Segment,
  limit: number,
  offset: number,
): Sql {
  const skip = offset === 0 ? raw('') : sql` offset ${offset}`
  const rows = sql`${rowsSql(plan.resource, where, segment)} order by ${segment.order} ${compiler.expressions.limit(limit)}${skip}`
  return sql`select ${compiler.expressions.join(raw('json'))} as json, count(*) as count from (select ${valueSql(compiler, plan)} as json ${rows}) page`
}

/** How many rows a segment has: what an offset skips over when it lies beyond it. */
function* sizeOf({ resource }: ReadPage, where: Sql, segment: Segment): Transaction<number> {
  const row = yield* single(sql`select count(*) as total ${rowsSql(resource, where, segment)}`)
  return Number(row?.['total'] ?? 0)
}

/** Reads a page beside a cursor, or the first one: one row more than it has, to see whether there are more. */
export function* readFrom(compiler: Compiler, plan: ReadPage, walk: Walk, page: CursorPage): Transaction<RowsBeside> {
  const { position, limit } = page
  // A position without keys is the edge of the list.
  const keys = position === undefined || position.keys.length === 0 ? undefined : position.keys
  const records: string[] = []
  const places: string[] = []
  let count = 0
  if (keys === undefined) walk.segments ??= segmentsAfter(walk.terms, undefined)
  const segments = keys === undefined ? walk.segments : segmentsAfter(walk.terms, keys)
  for (const [index, segment] of (segments as Segment[]).entries()) {
    if (count > limit) break
    const isFirst = keys === undefined && index === 0
    let statement = isFirst ? walk.statement : undefined
    statement ??= kept(besideSql(compiler, plan, walk, segment, limit + 1 - count))
    if (isFirst) walk.statement = statement
    const row = yield* single(statement)
    const found = Number(row?.['count'])
    if (found === 0) continue
    records.push(String(row?.['json']))
    places.push(String(row?.['places']))
    count += found
  }
  return besideOf(records.join(between), places.join(between), count, page)
}

/** The rows beside a cursor, of which there is one more than the page has where there are more. */
function besideOf(found: string, place: string, counted: number, { position, limit }: CursorPage): RowsBeside {
  const more = counted > limit
  let [json, lines, count] = [found, place, counted]
  if (more) {
    json = json.slice(0, json.lastIndexOf(between))
    lines = lines.slice(0, lines.lastIndexOf(between))
    count--
  }
  if (position?.direction === 'backward') json = json.split(between).reverse().join(between)
  if (count === 0) return { json, count, first: undefined, last: undefined, more }
  const first = lines.split(between, 1)[0] as string
  const last = lines.slice(lines.lastIndexOf('\n') + 1)
  return { json, count, first: JSON.parse(first) as Keys, last: JSON.parse(last) as Keys, more }
}

function besideSql(
  { catalog, expressions }: Compiler,
  plan: ReadPage,
  { where, terms }: Walk,
  segment: Segment,
  limit: number,
): Sql {
  const place = expressions.jsonKeys(terms.map(({ column, type }) => [column, type]))
  const rows = sql`${rowsSql(plan.resource, where, segment)} order by ${segment.order} ${expressions.limit(limit)}`
  return sql`select ${expressions.join(raw('json'))} as json, ${expressions.join(raw('place'))} as places, count(*) as count from (select ${valueSql({ catalog, expressions }, plan)} as json, ${place} as place ${rows}) page`
}

/** A page by number, or the first one of a walk by cursor, in one statement: of its first segment. */
export function firstPageSql(compiler: Compiler, plan: ReadPage, walk: Walk): Sql {
  const { page } = plan
  walk.segments ??= segmentsAfter(walk.terms, undefined)
  const segment = walk.segments[0] as Segment
  if (page.style === 'cursor') return besideSql(compiler, plan, walk, segment, page.limit + 1)
  return numberedSql(compiler, plan, walk.where, segment, ...stretchOf(page))
}

/** What that statement has found; `undefined`: the segments after the first may have more of the page. */
export function firstPageOf(page: Page, { segments = [] }: Walk, row: Row | undefined): FirstPage | undefined {
  const count = Number(row?.['count'])
  const json = count === 0 ? '' : String(row?.['json'])
  if (page.style !== 'cursor') {
    const [limit] = stretchOf(page)
    return count < limit && segments.length > 1 ? undefined : { json, count, previous: undefined, next: undefined }
  }
  if (count <= page.limit && segments.length > 1) return undefined
  const found = besideOf(json, count === 0 ? '' : String(row?.['places']), count, page)
  return { json: found.json, count: found.count, previous: undefined, next: found.more ? found.last : undefined }
}

/** The rows of one segment of a list. */
export function rowsSql({ name }: Resource, where: Sql, { condition }: Segment): Sql {
  const beyond = condition === undefined ? raw('') : sql` and ${condition}`
  return sql`from ${tableSql(name)} ${raw(subject)} where ${where}${beyond}`
}

function valueSql(compiler: Compiler, { resource: stored, shown, fields, deleted }: ReadPage): Sql {
  const resource = shown ?? stored
  const live = representationSql(compiler, resource, fields, false)
  if (deleted === undefined) return live
  const whole = representationSql(compiler, resource, fields, true)
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${whole} end`
}
