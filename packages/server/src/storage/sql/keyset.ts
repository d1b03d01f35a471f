/**
 * Keyset paging as ranges of an index. The rows after a position are one range if all terms have one direction and
 * contain no null, otherwise several ranges in order. Each is a single range of the sort's index, so no page costs more
 * than its size. ORDER BY names a column even where it is null in the whole range: otherwise PostgreSQL does not see
 * that an index that begins with the column has the rest in order.
 */

import { always, type Position, type Scalar, type SortTerm } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { relevance } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { type ColumnType, columnSql, columnsOf, comparisonColumn, positionSql, tableSql } from './columns.ts'
import { liveSql, type PredicateContext, predicateSql } from './predicate.ts'

/** One term of the order, with its column. `null` sorts after every value in ascending order. */
export interface OrderTerm {
  readonly column: Sql
  readonly type: ColumnType
  readonly nullable: boolean
  readonly descending: boolean
  /** The column whose value is the key in a position, if it is another one. */
  readonly key?: Sql
  /** The value of `column` for a key, if they differ. */
  readonly lookUp?: (key: Scalar) => Sql
  /** Of the first term: a column that is null in all rows of the list, and with which the index of its order begins. */
  readonly lead?: Sql
}

/** A range of the order: its condition (`undefined`: all rows) and its ORDER BY. */
export interface Segment {
  readonly condition: Sql | undefined
  readonly order: Sql
}

/**
 * The terms of a sort and the id, or the position, which breaks ties in the direction of the last term (QRY-3). Clients
 * never see positions (AUT-9): a key is the id of the row, whose position is looked up.
 *
 * @param score gives the score of a row for the order by relevance
 */
export function orderTerms(
  context: PredicateContext,
  resource: Resource,
  sort: readonly SortTerm[],
  alias: string,
  score: () => Sql = noScore,
): OrderTerm[] {
  const terms = sort.map((term): OrderTerm => {
    const { field, through = [], descending } = term
    if (field === relevance.field) return { column: score(), type: 'integer', nullable: false, descending }
    const last = through.at(-1)
    const target = last === undefined ? resource : (context.catalog.resources.get(last.collection) as Resource)
    return {
      column: valueSql(context, resource, term, alias),
      // Timestamps are stored as texts.
      type: columnsOf(target).find((each) => each.name === field)?.type ?? ('text' as const),
      nullable: last !== undefined || resource.field.get(field)?.required === false,
      descending,
    }
  })
  const descending = terms.at(-1)?.descending ?? false
  if (resource.order === 'by-position') {
    const [column, key] = [columnSql(alias, '_row'), columnSql(alias, 'id')]
    const lookUp = (id: Scalar) => positionSql(resource, id)
    return [...terms, { column, key, lookUp, type: 'text', nullable: false, descending }]
  }
  return [...terms, { column: columnSql(alias, 'id'), type: 'text', nullable: false, descending }]
}

function noScore(): never {
  throw new Error('Only lists with a search are sorted by relevance.')
}

/** The value that a term orders a row by: of a column, or of the live record that references lead to. */
function valueSql(
  context: PredicateContext,
  resource: Resource,
  { field, through = [], readable }: Pick<SortTerm, 'field' | 'through' | 'readable'>,
  alias: string,
): Sql {
  const [step, ...others] = through
  if (step === undefined) return columnSql(alias, comparisonColumn(resource, field))
  const target = context.catalog.resources.get(step.collection) as Resource
  const inner = `${alias}v`
  const value = valueSql(context, target, { field, through: others }, inner)
  const isReferenced = sql`${columnSql(inner, 'id')} = ${columnSql(alias, step.field)}`
  const permitted = liveSql(context, target, step.permitted ?? always, inner)
  const from = sql`from ${tableSql(target.name)} ${raw(inner)} where ${isReferenced} and ${permitted}`
  const found = sql`(select ${value} ${from})`
  if (readable === undefined) return found
  return sql`(case when ${predicateSql(context, resource, readable, alias)} then ${found} end)`
}

/** The reverse order. */
export function reversed(terms: readonly OrderTerm[]): OrderTerm[] {
  return terms.map((term) => ({ ...term, descending: !term.descending }))
}

/** ORDER BY of all rows. */
export function orderOf(terms: readonly OrderTerm[]): Sql {
  return join(terms.flatMap(termSql), ', ')
}

/** The rows beyond a position (or all rows) in the order of `terms`, as segments that are read one after the other. */
export function segmentsAfter(terms: readonly OrderTerm[], keys: Position['keys'] | undefined): Segment[] {
  if (keys === undefined) return allSegments(terms)
  const uniform = terms.every((term) => !term.nullable && term.descending === terms[0]?.descending)
  if (uniform) {
    const columns = join(
      terms.map((term) => term.column),
      ', ',
    )
    const beyond = raw(terms[0]?.descending ? '<' : '>')
    const values = terms.map((term, index) => keySql(term, keys[index] as Scalar))
    return [
      { condition: sql`(${columns}) ${beyond} (${join(values, ', ')})`, order: orderSql(terms, 0, leadOf(terms)) },
    ]
  }
  const segments: Segment[] = []
  for (let index = terms.length - 1; index >= 0; index--) {
    const before = terms.slice(0, index)
    const equal = before.map((term, place) => equalSql(term, keys[place] as Scalar | null))
    const nulls = before.flatMap(({ column }, place) => (keys[place] === null ? [column] : []))
    segments.push(...beyondSegments(terms, index, { equal, nulls: [...leadOf(terms), ...nulls] }, keys[index] ?? null))
  }
  return segments
}

/** What all rows of a range share. */
interface Common {
  readonly equal: readonly Sql[]
  /** The columns that are null in all rows, if an index begins with them. */
  readonly nulls: readonly Sql[]
}

function leadOf([first]: readonly OrderTerm[]): Sql[] {
  return first?.lead === undefined ? [] : [first.lead]
}

function beyondSegments(terms: readonly OrderTerm[], index: number, common: Common, key: Scalar | null): Segment[] {
  const { column, descending, nullable } = terms[index] as OrderTerm
  const { equal, nulls } = common
  if (key === null) {
    // Ascending, null is last: nothing is beyond it. Descending, every value is.
    if (!descending) return []
    return [{ condition: and([...equal, sql`${column} is not null`]), order: orderSql(terms, index, nulls) }]
  }
  const beyond = sql`${column} ${raw(descending ? '<' : '>')} ${keySql(terms[index] as OrderTerm, key)}`
  const values = { condition: and([...equal, beyond]), order: orderSql(terms, index, nulls) }
  if (descending || !nullable) return [values]
  return [values, nullSegment(terms, index, common)]
}

/** The segments of the whole order. */
function allSegments(terms: readonly OrderTerm[]): Segment[] {
  const { column, descending, nullable } = terms[0] as OrderTerm
  const nulls = leadOf(terms)
  if (!nullable) return [{ condition: undefined, order: orderSql(terms, 0, nulls) }]
  const values = { condition: sql`${column} is not null`, order: orderSql(terms, 0, nulls) }
  const unset = nullSegment(terms, 0, { equal: [], nulls })
  return descending ? [unset, values] : [values, unset]
}

function nullSegment(terms: readonly OrderTerm[], index: number, { equal, nulls }: Common): Segment {
  const { column } = terms[index] as OrderTerm
  const rest = terms.slice(index + 1)
  const order = [...nullsSql([...nulls, column], rest), ...rest.flatMap(termSql)]
  return { condition: and([...equal, sql`${column} is null`]), order: join(order, ', ') }
}

/** ORDER BY from a term on that contains no null within its segment, so that its index can be read in order. */
function orderSql(terms: readonly OrderTerm[], from: number, nulls: readonly Sql[]): Sql {
  const [first, ...others] = terms.slice(from) as [OrderTerm, ...OrderTerm[]]
  const order = [...nullsSql(nulls, [first]), ...termSql({ ...first, nullable: false }), ...others.flatMap(termSql)]
  return join(order, ', ')
}

/** Columns that are null, in the direction of the next term, because an index is read in one direction. */
function nullsSql(columns: readonly Sql[], [next]: readonly OrderTerm[]): Sql[] {
  return columns.map((column) => sql`${column}${raw(next?.descending ? ' desc' : '')}`)
}

function termSql({ column, descending, nullable }: OrderTerm): Sql[] {
  const direction = raw(descending ? ' desc' : '')
  const value = sql`${column}${direction}`
  return nullable ? [sql`(${column} is null)${direction}`, value] : [value]
}

function keySql({ lookUp }: OrderTerm, key: Scalar): Sql | Scalar {
  return lookUp === undefined ? key : lookUp(key)
}

function equalSql({ column }: OrderTerm, key: Scalar | null): Sql {
  return key === null ? sql`${column} is null` : sql`${column} = ${key}`
}

function and(conditions: readonly Sql[]): Sql | undefined {
  return conditions.length === 0 ? undefined : join(conditions, ' and ')
}
