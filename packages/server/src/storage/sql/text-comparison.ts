/** Comparisons of texts that ignore case, in SQL. */
import { comparisons } from 'resourced-contract/model/operators'
import type { Predicate } from 'resourced-contract/model/predicate'
import { comparedField, isFolded, type Resource } from 'resourced-contract/model/resource'
import { fold } from 'resourced-contract/model/text'
import sql, { type Sql } from 'sql-template-tag'
import { columnSql, comparisonColumn, foldedColumn } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { after, type TextComparison } from './operators.ts'

interface Folding {
  readonly dialect: Pick<Dialect, 'fold' | 'compareText'>
}

interface Rows {
  readonly resource: Resource
  readonly alias: string
}

/** A text in folded case: in a column of its own, where the field has one. */
export function foldedSql({ dialect }: Folding, { resource, alias }: Rows, name: string): Sql {
  const field = comparedField(resource, name)
  if (field !== undefined && isFolded(field)) return columnSql(alias, foldedColumn(name))
  return dialect.fold(columnSql(alias, comparisonColumn(resource, name)))
}

/** A comparison with a part of a text, ignoring case. */
export function textSql(
  context: Folding,
  rows: Rows,
  { field: name, operator, value }: Extract<Predicate, { kind: 'compare' }>,
  words: TextComparison,
): Sql {
  const part = fold(String(value))
  const field = comparedField(rows.resource, name)
  const text = foldedSql(context, rows, name)
  // A range of the folded column's index instead of a check of every row.
  const isRange = field !== undefined && isFolded(field) && comparisons[operator].index === 'prefix'
  const end = isRange ? after(part) : undefined
  if (end !== undefined) return sql`(${text} >= ${part} and ${text} < ${end})`
  return context.dialect.compareText(words, text, sql`${part}`)
}
