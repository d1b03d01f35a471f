/** Counts the records of kept summaries (SUM-3): at first, and to compare. */
import { mostDigits } from 'resourced-contract/model/decimal'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Transaction } from '../transaction.ts'
import { columnSql, identifier, quoted } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { groupColumns, groupOfColumn, type SummarySpec, summariesTable, summaryName } from './kept-summaries.ts'
import type { TotalSpec } from './totals.ts'

/** Selects the figures of a summary, without their slot, by counting all live records. */
function countedSql(dialect: Dialect, table: string, spec: SummarySpec): Sql {
  const groups = raw(groupColumns.map((name, index) => `${groupOfColumn(spec.groups[index])} as ${name}`).join(', '))
  const select = ({ figure, total, where }: Counting) => {
    const amount = figure === '' ? 'null' : identifier(figure)
    const given = figure === '' ? '' : ` and ${amount} is not null`
    const rows = sql`select ${groups}, ${raw(amount)} as amount from ${quoted(table)}
      where deleted_at is null${raw(given)}`
    return sql`select ${raw(where)}, count(*) as count, ${total(raw('amount'))} as total
      from (${rows}) live group by ${groupNames}`
  }
  return join(countings(dialect, table, spec).map(select), ' union all ')
}

/** Selects the same from the kept figures. */
function keptSql(dialect: Dialect, table: string, spec: SummarySpec): Sql {
  const select = ({ figure, total, where, zero }: Counting) => {
    const rows = sql`select ${raw(where)}, cast(sum(count) as bigint) as count, ${total(raw('total'), true)} as total
      from ${raw(summariesTable)}
      where summary = ${raw(`'${summaryName(table, spec)}'`)} and figure = ${raw(`'${figure}'`)} group by ${groupNames}`
    return sql`select * from (${rows}) kept where count <> 0 or total <> ${zero}`
  }
  return join(countings(dialect, table, spec).map(select), ' union all ')
}

const groupNames = raw(groupColumns.join(', '))

/** How a figure is counted: the columns that name it, and the text of its total. */
interface Counting {
  readonly figure: string
  readonly where: string
  readonly zero: string
  total(amount: Sql, isText?: boolean): Sql
}

function countings(dialect: Dialect, table: string, spec: SummarySpec): Counting[] {
  const where = (figure: string) =>
    `'${summaryName(table, spec)}' as summary, ${groupColumns.join(', ')}, '${figure}' as figure`
  const all: Counting = { figure: '', where: where(''), zero: '', total: () => raw('cast(null as text)') }
  const figures = spec.sums.map(({ column, scale }): Counting => {
    const form = { precision: mostDigits + numberDigits, scale: scale ?? 0 }
    return {
      ...{ figure: column, where: where(column), zero: zeroOf(scale) },
      total: (amount, isText) =>
        dialect.digits(dialect.sum(amount, scale === null && isText !== true ? undefined : form), form.scale),
    }
  })
  return [all, ...figures]
}

/** The most digits of a number of records. */
const numberDigits = 18

/** Whether the kept figures are those that counting finds. */
export function* isExact(dialect: Dialect, table: string, spec: SummarySpec): Transaction<boolean> {
  const [kept, counted] = [keptSql(dialect, table, spec), countedSql(dialect, table, spec)]
  const without = (one: Sql, other: Sql) =>
    sql`select count(*) as count from (select * from (${one}) one except select * from (${other}) other) differing`
  for (const differing of [without(kept, counted), without(counted, kept)]) {
    if (Number((yield differing)[0]?.['count']) > 0) return false
  }
  return true
}

/** Counts the summaries of a table anew. No other transaction may change the table meanwhile. */
export function* recount(dialect: Dialect, table: string, specs: readonly SummarySpec[]): Transaction<void> {
  yield* forget(table)
  const groups = raw(groupColumns.join(', '))
  for (const spec of specs) {
    yield sql`insert into ${raw(summariesTable)} (summary, ${groups}, figure, slot, count, total)
      select summary, ${groups}, figure, 0, count, total from (${countedSql(dialect, table, spec)}) counted`
  }
}

/** Deletes the figures of a table's summaries. */
export function* forget(table: string): Transaction<void> {
  const prefix = summaryName(table, { name: '' })
  yield sql`delete from ${raw(summariesTable)} where substr(summary, 1, ${prefix.length}) = ${prefix}`
}

/** The sum that a row of the table `spec.parent` should hold, as its column does, and whether it holds another one. */
export function countedTotal(
  dialect: Dialect,
  table: string,
  { parent, column, scale, precision, reference, amount }: TotalSpec,
): { readonly sum: Sql; readonly differs: Sql } {
  const form = scale === null ? undefined : { precision, scale }
  const value = columnSql('child', amount)
  const text = sql`coalesce(${dialect.digits(dialect.sum(value, form), scale ?? 0)}, ${raw(`'${zeroOf(scale)}'`)})`
  const isOfParent = sql`${columnSql('child', reference)} = ${columnSql(identifier(parent), 'id')}`
  const rows = sql`${quoted(table)} child where ${isOfParent} and child.deleted_at is null and ${value} is not null`
  const sum = scale === null ? sql`(select cast(${text} as bigint) from ${rows})` : sql`(select ${text} from ${rows})`
  return { sum, differs: sql`${quoted(column)} is distinct from ${sum}` }
}

function zeroOf(scale: number | null): string {
  return `0${scale ? `.${'0'.repeat(scale)}` : ''}`
}

/** Whether all rows hold the sums that adding up finds. */
export function* isTotalExact(dialect: Dialect, table: string, spec: TotalSpec): Transaction<boolean> {
  const { differs } = countedTotal(dialect, table, spec)
  const rows = yield sql`select count(*) as count from ${quoted(spec.parent)} where ${differs}`
  return Number(rows[0]?.['count']) === 0
}
