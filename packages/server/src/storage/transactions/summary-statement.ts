/** The statements of a summary (SUM-1): the groups of a list with their figures, and one page of them. */
import { mostDigits } from 'resourced-contract/model/decimal'
import { type DatePart, dateParts, slotLength } from 'resourced-contract/model/periods'
import type { Scalar } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { averageDigits, type Figure, type Group, type SummaryOrder } from 'resourced-contract/model/summary'
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import type { ReadSummary } from '../../plan/plan.ts'
import { columnSql, comparisonColumn, subject } from '../sql/columns.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type OrderTerm, orderOf, reversed, segmentsAfter } from '../sql/keyset.ts'

/** The rows of a list, or kept figures of them. */
export interface SummarizedRows {
  readonly dialect: Dialect
  readonly plan: ReadSummary
  readonly from: Sql
  readonly where: Sql
  /** Whether a row has a figure of a group, and not a record (`kept-summary.ts`). */
  readonly isKept: boolean
}

/** The periods of a group, where SQL alone cannot find them: `[slot, from, until, label]`, bounds as the column has. */
export type PeriodRows = readonly (readonly [slot: string, from: string, until: string, label: string])[]

/** Whether the periods of a group are no prefixes of its dates. */
export function needsPeriods({ part, isDate }: Group, zone: string): boolean {
  return part === 'week' || (part !== undefined && isDate !== true && zone !== 'UTC')
}

/** Selects the days or months in UTC in which the rows have dates, as `slot`. */
export function slotsSql({ dialect, plan, from, where }: SummarizedRows, group: Group, most: number): Sql {
  const slot = slotSql(dialect, plan.resource, group)
  const found = sql`from ${from} where ${where} and ${slot} is not null`
  return sql`select distinct ${slot} as slot ${found} limit ${raw(String(most))}`
}

function slotSql(dialect: Dialect, resource: Resource, group: Group): Sql {
  const length = raw(String(slotLength(group.part as DatePart)))
  return sql`substr(${comparedSql(dialect, resource, group)}, 1, ${length})`
}

/** The value of a field by which it is compared. */
function comparedSql(dialect: Dialect, resource: Resource, { field, constant }: Group | Figure): Sql {
  if (constant !== undefined) return constantSql(dialect, constant.key)
  return columnSql(subject, comparisonColumn(resource, field))
}

function constantSql(dialect: Dialect, value: Scalar | null, isInteger = false): Sql {
  if (isInteger) return dialect.cast(value as number | null, 'integer')
  if (typeof value === 'number') return dialect.cast(value, Number.isInteger(value) ? 'integer' : 'real')
  return typeof value === 'boolean' ? dialect.cast(Number(value), 'integer') : dialect.cast(value, 'text')
}

/** A part of the groups in their order. */
export interface GroupRange {
  /** The place after which it begins: one key for each term of the order; `undefined`: at its beginning. */
  readonly after: readonly (Scalar | null)[] | undefined
  readonly isBackward: boolean
  readonly limit: number
  readonly offset: number
}

/**
 * Selects as `total` how many groups there are, as `beyond` how many of them are after the place, as `count` how many
 * the page has, and as `json` an array for each: the values of its groups, its count, and its figures.
 *
 * @param periods by the position of the group
 */
export function summarySql(rows: SummarizedRows, periods: ReadonlyMap<number, PeriodRows>, range: GroupRange): Sql {
  const { dialect, plan } = rows
  const { groups, figures } = plan
  const terms = range.isBackward ? reversed(orderTerms(plan)) : orderTerms(plan)
  const tables = [...periods].map(
    ([position, found]) => sql`${periodsOf(position)} as materialized (${dialect.textRows(found, 4)})`,
  )
  tables.push(sql`_groups as materialized (${groupsSql(rows, periods)})`)
  const beyond = range.after === undefined ? empty : sql` where ${beyondSql(terms, range.after)}`
  const skip = range.offset === 0 ? empty : sql` offset ${range.offset}`
  const row = dialect.jsonKeys([
    ...groups.map(({ isBoolean }, index) => [groupOf(index), isBoolean ? 'integer' : 'text'] as const),
    [count, 'integer'],
    ...figures.map((figure, index) => [shownSql(dialect, figure, index), 'text'] as const),
  ])
  const page = sql`select ${row} as row from _groups${beyond} order by ${orderOf(terms)} limit ${range.limit}${skip}`
  const paged = sql`select count(*) as count, ${dialect.joinRows(raw('row'))} as json from (${page}) rows`
  const counts = sql`(select count(*) from _groups) as total, (select count(*) from _groups${beyond}) as beyond`
  // A statement that reads begins with `select`.
  return sql`select * from (with ${join(tables, ', ')} select ${counts}, page.* from (${paged}) page) summary`
}

const count = raw('_count')

function groupOf(position: number): Sql {
  return raw(`_group${position}`)
}

function figureOf(position: number): Sql {
  return raw(`_figure${position}`)
}

function periodsOf(position: number): Sql {
  return raw(`_periods${position}`)
}

function groupsSql(rows: SummarizedRows, periods: ReadonlyMap<number, PeriodRows>): Sql {
  const { dialect, plan, from, where, isKept } = rows
  const { resource, groups, figures } = plan
  const joined = [...periods.keys()].map((position) => {
    const group = groups[position] as Group
    const table = periodsOf(position)
    const date = comparedSql(dialect, resource, group)
    const isIn = sql`${date} >= ${table}.text1 and ${date} < ${table}.text2`
    return sql` left join ${table} on ${table}.text0 = ${slotSql(dialect, resource, group)} and ${isIn}`
  })
  const columns = [
    ...groups.map((group, position) => {
      const value = periods.has(position) ? sql`${periodsOf(position)}.text3` : groupSql(dialect, resource, group)
      return sql`${value} as ${groupOf(position)}`
    }),
    sql`${isKept ? keptCount('') : raw('count(*)')} as ${count}`,
    ...figures.map((figure, position) => sql`${figureSql(rows, figure)} as ${figureOf(position)}`),
  ]
  const found = sql`from ${from}${join([empty, ...joined, empty], '')} where ${where}`
  const grouped =
    groups.length === 0
      ? empty
      : sql` group by ${join(
          groups.map((_, index) => groupOf(index)),
          ', ',
        )}`
  // A group that has lost its records may have figures still.
  const having = isKept && groups.length > 0 ? sql` having ${keptCount('')} <> 0` : empty
  return sql`select ${join(columns, ', ')} ${found}${grouped}${having}`
}

/** The value of a group. */
function groupSql(dialect: Dialect, resource: Resource, group: Group): Sql {
  const { part, isBoolean, values } = group
  const column = comparedSql(dialect, resource, group)
  if (part !== undefined) return sql`substr(${column}, 1, ${raw(String(dateParts[part]))})`
  if (values !== undefined) {
    const older = (value: string | boolean | null) =>
      typeof value === 'boolean' || value === null
        ? raw(value === null ? 'null' : String(Number(value)))
        : dialect.cast(value, 'text')
    const cases = values.map(([stored, value]) => sql`when ${dialect.bind(stored)} then ${older(value)}`)
    return sql`case ${column} ${join(cases, ' ')} end`
  }
  return isBoolean ? sql`cast(${column} as integer)` : column
}

function figureSql({ dialect, plan: { resource }, isKept }: SummarizedRows, figure: Figure): Sql {
  const { kind, field, decimal, isBoolean, constant } = figure
  if (kind === 'min' || kind === 'max') {
    const compared = comparedSql(dialect, resource, figure)
    return sql`${raw(kind)}(${isBoolean ? sql`cast(${compared} as integer)` : compared})`
  }
  if (isKept) return keptFigure(dialect, figure)
  const value =
    constant === undefined ? columnSql(subject, field) : constantSql(dialect, constant.value, decimal === undefined)
  const sum = dialect.sum(value, decimal)
  return kind === 'sum' ? sum : dialect.average(sum, sql`count(${value})`, averageDigits + (decimal?.scale ?? 0))
}

/** How many records have a value of a figure; the empty figure: all. */
function keptCount(figure: string): Sql {
  const ofFigure = sql`case when ${own('_figure')} = ${raw(`'${figure}'`)} then ${own('_number')} end`
  return sql`cast(coalesce(sum(${ofFigure}), 0) as bigint)`
}

function keptFigure(dialect: Dialect, { kind, field, decimal }: Figure): Sql {
  const scale = decimal?.scale ?? 0
  const total = sql`case when ${own('_figure')} = ${raw(`'${field}'`)} then ${own('_total')} end`
  const number = keptCount(field)
  // Slots may have amounts of a group in which no record has a value.
  const sum = sql`case when ${number} <> 0 then ${dialect.sum(total, { precision: mostSummed, scale })} end`
  return kind === 'sum' ? sum : dialect.average(sum, number, averageDigits + scale)
}

/** The most digits of a sum: those of a value, and of the number of records. */
const mostSummed = mostDigits + 18

function own(column: string): Sql {
  return columnSql(subject, column)
}

/** A figure as a value of JSON: decimals and sums are texts. */
function shownSql(dialect: Dialect, { kind, decimal }: Figure, position: number): Sql {
  const value = figureOf(position)
  const scale = decimal?.scale ?? 0
  if (kind === 'sum') return dialect.digits(value, scale)
  return kind === 'avg' ? dialect.digits(value, scale + averageDigits) : value
}

/** The order of the request, and then the groups that it does not name. */
function wholeOrder({ groups, order }: ReadSummary): readonly SummaryOrder[] {
  const named = order.flatMap(({ by }) => (typeof by === 'object' && 'group' in by ? [by.group] : []))
  const others = groups.flatMap((_, group) => (named.includes(group) ? [] : [{ by: { group }, descending: false }]))
  const whole = [...order, ...others]
  return whole.length > 0 ? whole : [{ by: 'count', descending: false }]
}

/** The terms of that order. Null is after every value. */
function orderTerms(plan: ReadSummary): OrderTerm[] {
  return wholeOrder(plan).map(({ by, descending }) => {
    if (by === 'count') return { column: count, type: 'integer', nullable: false, descending }
    const column = 'group' in by ? groupOf(by.group) : figureOf(by.figure)
    return { column, type: 'text', nullable: true, descending }
  })
}

/** The place of a group in an order by groups: a key for each term. */
export function placeOf(plan: ReadSummary, values: readonly unknown[]): (Scalar | null)[] {
  const positionOf = (by: SummaryOrder['by']) =>
    typeof by === 'object' && 'group' in by ? by.group : plan.groups.length
  return wholeOrder(plan).map(({ by }) => values[positionOf(by)] as Scalar | null)
}

/** The rows after a place. */
function beyondSql(terms: readonly OrderTerm[], keys: readonly (Scalar | null)[]): Sql {
  const ranges = segmentsAfter(terms, keys).map(({ condition }) => sql`(${condition as Sql})`)
  return ranges.length === 0 ? sql`1 = 0` : sql`(${join(ranges, ' or ')})`
}
