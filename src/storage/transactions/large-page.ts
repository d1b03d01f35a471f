/** Reading a page whose records may be more than it can hold (LIM-6): sizes first, and then the records that fit. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { ReadPage } from '../../plan/plan.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Segment } from '../sql/keyset.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import type { Walk } from './listing.ts'
import { countWithin, storedBytesSql } from './page-bytes.ts'
import { between, type PlacedRows, placeSql, rowsSql, sizeOf, skipSql, valueSql } from './page-sql.ts'

/** What of a list is to be read: so many rows after so many, and how many more are to be looked at. */
export interface Stretch {
  readonly limit: number
  readonly offset: number
  readonly more?: number
}

/**
 * Reads rows of which some may be large: only as many as a page may hold, and one at least.
 *
 * @returns also the sizes of all rows of the stretch, as they are stored
 */
export function* readLarge(
  context: SqlContext,
  plan: ReadPage,
  walk: Walk,
  segments: readonly Segment[],
  { limit, offset, more = 0 }: Stretch,
): Transaction<{ readonly sizes: readonly number[]; readonly read: PlacedRows }> {
  const { pageBytes } = context.catalog.limits
  const parts: { readonly segment: Segment; readonly skip: number; readonly count: number }[] = []
  const sizes: number[] = []
  let skipped = 0
  for (const segment of segments) {
    const wanted = limit + more - sizes.length
    if (wanted <= 0) break
    const skip = sizes.length > 0 ? 0 : offset - skipped
    const row = yield* firstRow(sizesSql(context, plan, walk.where, segment, wanted, skip))
    const found = JSON.parse(`[${row?.['sizes'] ?? ''}]`) as number[]
    if (found.length === 0 && skip > 0) skipped += yield* sizeOf(plan, walk.where, segment)
    parts.push({ segment, skip, count: found.length })
    sizes.push(...found)
  }
  const most = Math.min(limit, countWithin(sizes, pageBytes))
  const records: string[] = []
  const places: string[] = []
  let count = 0
  let bytes = 0
  for (const { segment, skip, count: size } of parts) {
    const wanted = Math.min(size, most - count)
    if (wanted <= 0) continue
    const row = yield* firstRow(
      withinSql(context, plan, walk, segment, { limit: wanted, offset: skip }, pageBytes - bytes, count === 0),
    )
    const found = Number(row?.['count'])
    if (found > 0) {
      records.push(String(row?.['json']))
      places.push(String(row?.['places']))
      count += found
      bytes += Number(row?.['bytes'])
    }
    if (found < wanted) break
  }
  return { sizes, read: { json: records.join(between), places: places.join(between), count } }
}

function sizesSql(
  context: SqlContext,
  plan: ReadPage,
  where: Sql,
  segment: Segment,
  limit: number,
  offset: number,
): Sql {
  const rows = sql`${rowsSql(plan.resource, where, segment)} order by ${segment.order} ${context.engine.limit(limit)}${skipSql(offset)}`
  return sql`select ${context.engine.joinRows(raw('size'))} as sizes from (select cast(${storedBytesSql(context, plan)} as text) as size ${rows}) page`
}

/** Rows until they have so many bytes. They are found first: to sort them, an engine may make the JSON of all that match. */
function withinSql(
  context: SqlContext,
  plan: ReadPage,
  walk: Walk,
  segment: Segment,
  { limit, offset }: Stretch,
  most: number,
  isFirst: boolean,
): Sql {
  const { engine } = context
  const { order } = segment
  const ids = sql`select ${raw(subject)}.id ${rowsSql(plan.resource, walk.where, segment)} order by ${order} ${engine.limit(limit)}${skipSql(offset)}`
  const rows = sql`select ${valueSql(context, plan)} as json, ${placeSql(context, walk)} as place from ${tableSql(plan.resource.name)} ${raw(subject)} where ${raw(subject)}.id in (${ids}) order by ${order} ${engine.limit(limit)}`
  const sized = sql`select json, place, octet_length(json) as size, sum(octet_length(json) + 2) over (rows unbounded preceding) as upto from (${rows}) page`
  const first = isFirst ? raw(' or upto = size + 2') : empty
  return sql`select ${engine.joinRows(raw('json'))} as json, ${engine.joinRows(raw('place'))} as places, count(*) as count, max(upto) as bytes from (${sized}) sized where upto <= ${raw(String(most))}${first}`
}
