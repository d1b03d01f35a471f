/**
 * Kept summaries (SUM-3): for each group of records a row with its number, and one for each field that is added up.
 * Triggers of the collection's table change these rows in the transaction of each change, whoever makes it.
 */
import { dateParts } from 'resourced-contract/model/periods'
import type { Resource } from 'resourced-contract/model/resource'
import { type Group, groupsOf } from 'resourced-contract/model/summary'
import { comparisonColumn, identifier } from './columns.ts'

/** The table of all kept summaries. */
export const summariesTable = 'resourced_summaries'

/** The columns of groups. A group that a summary lacks is always empty. */
export const groupColumns = ['group0', 'group1', 'group2'] as const

/** The columns that name a figure of a group; transactions that run at the same time have different slots. */
export const figureKey = ['summary', ...groupColumns, 'figure', 'slot'] as const

/** A summary as its table has it: plain data. */
export interface SummarySpec {
  readonly name: string
  readonly groups: readonly SummaryGroup[]
  readonly sums: readonly SummaryFigure[]
}

/** What records are grouped by: a column, or so many characters of it. */
export interface SummaryGroup {
  readonly column: string
  readonly characters?: number
  readonly isBoolean?: boolean
}

/** A column that is added up, and how many digits after the point its values have: integers have none. */
export interface SummaryFigure {
  readonly column: string
  readonly scale: number | null
}

/** The kept summaries of a resource, without those that only an older version has. */
export function summarySpecsOf(resource: Resource): SummarySpec[] {
  const known = groupsOf(resource)
  return (resource.summaries ?? []).map(({ name, groups, sums }) => ({
    name,
    groups: groups.map((group) => specOf(resource, known.get(group) as Group)),
    sums: sums.map((column) => ({ column, scale: resource.field.get(column)?.decimal?.scale ?? null })),
  }))
}

function specOf(resource: Resource, { field, part, isBoolean }: Group): SummaryGroup {
  const column = comparisonColumn(resource, field)
  // A week is no prefix of a date: its days are kept.
  if (part !== undefined) return { column, characters: dateParts[part] ?? dateParts.day }
  return isBoolean === true ? { column, isBoolean } : { column }
}

/** The name of a summary in the table. */
export function summaryName(table: string, { name }: Pick<SummarySpec, 'name'>): string {
  return `${table}/${name}`
}

/** The text that stands for a group's value: empty for null. */
export function groupText(value: string, { isBoolean }: SummaryGroup): string {
  return `coalesce('=' || ${isBoolean === true ? `cast(cast(${value} as integer) as text)` : value}, '')`
}

/** The columns of a table that its summaries depend on. */
export function summarizedColumns(specs: readonly SummarySpec[]): string[] {
  return [...new Set(specs.flatMap(({ groups, sums }) => [...groups, ...sums].map(({ column }) => column)))]
}

/** The text that stands for a group's value in a column of a table. */
export function groupOfColumn(group: SummaryGroup | undefined): string {
  if (group === undefined) return "''"
  const column = identifier(group.column)
  const value = group.characters === undefined ? column : `substr(${column}, 1, ${group.characters})`
  return groupText(value, group)
}
