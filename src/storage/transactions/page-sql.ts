/** What statements that read pages are made of: the rows of a segment, their JSON and their places. */
import sql, { empty, raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../model/resource.ts'
import type { ReadPage } from '../../plan/plan.ts'
import { subject, tableSql } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Segment } from '../sql/keyset.ts'
import { representationSql } from '../sql/represent.ts'
import { firstRow, type Transaction } from '../transaction.ts'
import type { Walk } from './listing.ts'

/** What stands between JSON texts: none of them has a line break, which JSON escapes. */
export const between = ',\n'

/** Rows that were found: their JSON texts, joined. */
export interface Rows {
  readonly json: string
  readonly count: number
}

/** The same, and the place of each in the order. */
export interface PlacedRows extends Rows {
  readonly places: string
}

/** The rows of one segment of a list. */
export function rowsSql({ name }: Resource, where: Sql, { condition }: Segment): Sql {
  const beyond = condition === undefined ? raw('') : sql` and ${condition}`
  return sql`from ${tableSql(name)} ${raw(subject)} where ${where}${beyond}`
}

/** The JSON of a row. */
export function valueSql(context: SqlContext, { resource: stored, versionResource, fields, deleted }: ReadPage): Sql {
  const resource = versionResource ?? stored
  const live = representationSql(context, resource, fields, false)
  if (deleted === undefined) return live
  const whole = representationSql(context, resource, fields, true)
  return sql`case when ${raw(subject)}.deleted_at is null then ${live} else ${whole} end`
}

/** The place of a row in the order, as JSON. */
export function placeSql({ engine }: SqlContext, { terms }: Walk): Sql {
  return engine.jsonKeys(terms.map(({ column, type }) => [column, type]))
}

/** Passes over so many rows. */
export function skipSql(offset: number): Sql {
  return offset === 0 ? empty : sql` offset ${offset}`
}

/** How many rows a segment has: what an offset skips over when it lies beyond it. */
export function* sizeOf({ resource }: ReadPage, where: Sql, segment: Segment): Transaction<number> {
  const row = yield* firstRow(sql`select count(*) as total ${rowsSql(resource, where, segment)}`)
  return Number(row?.['total'] ?? 0)
}
