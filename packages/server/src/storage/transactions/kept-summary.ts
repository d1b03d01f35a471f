/** Which summaries are answered from kept figures (SUM-3), and the rows that they are read from. */

import type { KeptSummary } from 'resourced-contract/model/kept-summary'
import { type DatePart, dateParts } from 'resourced-contract/model/periods'
import { collectionsOf, fieldsOf } from 'resourced-contract/model/predicate'
import { type Figure, type Group, groupsOf } from 'resourced-contract/model/summary'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { ReadSummary } from '../../plan/plan.ts'
import { comparisonColumn, quoted, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { groupColumns, summariesTable, summaryName } from '../sql/kept-summaries.ts'
import { predicateSql } from '../sql/predicate.ts'
import type { Transaction } from '../transaction.ts'

/** The kept summary that answers a request; `undefined`: none does. */
export function keptSummaryOf({ resource, list, groups, figures, zone }: ReadSummary): KeptSummary | undefined {
  const { permitted, search, deleted, filter } = list
  if (permitted.kind !== 'always' || search !== undefined || deleted !== undefined) return undefined
  if (collectionsOf(filter).size > 0) return undefined
  const known = groupsOf(resource)
  const answers = ({ groups: names, sums }: KeptSummary) => {
    const kept = names.map((name) => known.get(name) as Group)
    const isGroup = (field: string) => kept.some((each) => each.part === undefined && each.field === field)
    return (
      fieldsOf(filter).every(isGroup) &&
      groups.every((group) => group.constant !== undefined || kept.some((each) => followsFrom(group, each, zone))) &&
      figures.every((figure) => isSummed(figure, sums))
    )
  }
  return (resource.summaries ?? []).filter(answers).sort((one, other) => one.groups.length - other.groups.length)[0]
}

const lengths: readonly (DatePart | undefined)[] = ['day', 'week', 'month', 'year']

/** Whether a group is the kept one, or a longer period of the same date in UTC. */
function followsFrom({ field, part, isDate }: Group, kept: Group, zone: string): boolean {
  if (kept.field !== field) return false
  if (part === undefined || kept.part === undefined) return part === kept.part
  if (isDate !== true && zone !== 'UTC') return false
  // The days of a week are kept.
  return lengths.indexOf(part) >= lengths.indexOf(kept.part === 'week' ? 'day' : kept.part)
}

function isSummed({ kind, field, constant }: Figure, sums: readonly string[]): boolean {
  return constant === undefined && (kind === 'sum' || kind === 'avg') && sums.includes(field)
}

/** Deletes the figures of groups that have lost all records. Returns how many rows. */
export function* deleteEmptyFigures({ catalog, dialect }: SqlContext): Transaction<number> {
  const hasSummaries = [...catalog.resources.values()].some(({ summaries }) => summaries !== undefined)
  if (dialect.takeSlots === undefined || !hasSummaries) return 0
  const slots = (yield dialect.takeSlots).map(({ slot }) => Number(slot))
  const key = [...groupColumns, 'summary', 'figure'].map((name) => raw(name))
  const same = key.map((name) => sql`figures.${name} = gone.${name}`)
  // Those of other slots add up to what they are without these.
  const isZero = sql`sum(count) = 0 and coalesce(sum(cast(total as numeric)), 0) = 0`
  const gone = sql`select ${join(key)} from ${raw(summariesTable)} where ${dialect.isAnyOf(sql`slot`, slots)}
    group by ${join(key)} having ${isZero}`
  const deleted = yield sql`delete from ${raw(summariesTable)} figures using (${gone}) gone
    where ${join(same, ' and ')} and ${dialect.isAnyOf(sql`figures.slot`, slots)} returning 1 as one`
  return deleted.length
}

/**
 * The rows of a kept summary under the alias of the main table, and the condition of the request. The columns of the
 * groups have the names that they have in the table of the records. `_number` records have a value of `_figure`, and
 * `_total` is their sum; the empty figure counts all records.
 */
export function keptRows(
  context: SqlContext,
  { resource, list }: ReadSummary,
  kept: KeptSummary,
): { readonly from: Sql; readonly where: Sql } {
  const known = groupsOf(resource)
  const columns = kept.groups.map((name, index) => {
    const group = known.get(name) as Group
    const text = raw(`substr(${groupColumns[index]}, 2)`)
    const value = sql`case when ${raw(groupColumns[index] as string)} = '' then null else ${exposed(group, text)} end`
    return sql`${value} as ${quoted(comparisonColumn(resource, group.field))}`
  })
  const figures = raw('figure as _figure, count as _number, total as _total')
  const rows = sql`select ${join([...columns, figures])} from ${raw(summariesTable)}
    where summary = ${raw(`'${summaryName(resource.name, kept)}'`)}`
  return { from: sql`(${rows}) ${raw(subject)}`, where: predicateSql(context, resource, list.filter) }
}

function exposed({ part, isDate, isBoolean }: Group, text: Sql): Sql {
  if (isBoolean === true) return sql`${text} = '1'`
  const isDay = part !== undefined && dateParts[part] !== dateParts.month && dateParts[part] !== dateParts.year
  // An instant of the day, which is after the beginning of a period that begins with the day.
  return isDay && isDate !== true ? sql`${text} || 'T12'` : text
}
