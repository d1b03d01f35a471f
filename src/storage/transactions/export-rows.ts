/**
 * The records of an export, in batches. An export reads all records, so it follows the order of its sort from end to
 * end. Each batch is the range of the sort's index (or of the ids, where there is no sort) after the batch before,
 * found by its keys (`keyset.ts`). Records that the filter drops count as well, so no batch costs more than its size,
 * however few records match. A list would find the matching records by the filter's own index, and sort all of them for
 * each batch anew. Only a condition whose index has the order too is left to the index (`splitByIndex`). Where the sort
 * has several fields that no index has together, the records that tie in the first field are sorted for each batch.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { allOf, type Position, type Predicate, type SortTerm } from '../../model/predicate.ts'
import type { Resource } from '../../model/resource.ts'
import { csvCell, type ExportFormat, exportColumns } from '../../plan/export-document.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { orderTerms, segmentsAfter } from '../sql/keyset.ts'
import { liveSql, predicateSql } from '../sql/predicate.ts'
import { membersOf, representationSql } from '../sql/records.ts'
import { prebuilt, type Transaction } from '../transaction.ts'
import { splitByIndex } from './access-path.ts'
import { rowsSql } from './page-rows.ts'

/** Which records are wanted, and how. */
export interface ExportBatch {
  readonly resource: Resource
  /** The resource as an older version shows it, where one asked. */
  readonly represented?: Resource
  readonly filter: Predicate
  /** Which records the caller may read. */
  readonly permitted: Predicate
  readonly sort: readonly SortTerm[]
  /** `undefined`: all. */
  readonly fields: readonly string[] | undefined
  readonly format: ExportFormat
  /** `last` of the batch before; `undefined`: this is the first. */
  readonly after: Position['keys'] | undefined
  /** How many records are looked at: no more of them are given. */
  readonly limit: number
}

/** The records of a batch. */
export interface ExportedRows {
  /** Each record's JSON, or its line of CSV without the end. There may be none in the middle: see `last`. */
  readonly texts: readonly string[]
  /** Where the next batch begins; `undefined`: there are no more records. */
  readonly last: Position['keys'] | undefined
}

/**
 * Reads the next batch of an export. Records that come or go between two batches are there or not; all others are given
 * once. They come one a row: lines of CSV may hold any line break.
 */
export function* exportRows(context: SqlContext, batch: ExportBatch): Transaction<ExportedRows> {
  const { resource, sort, after, limit } = batch
  const wanted = allOf([batch.permitted, batch.filter])
  if (wanted.kind === 'never') return { texts: [], last: undefined }
  const { range, rest } = splitByIndex(resource, wanted, sort)
  const terms = orderTerms(resource, sort, subject)
  const where = liveSql(context, resource, range)
  const text = textSql(context, batch, rest)
  const place = context.engine.jsonKeys(terms.map(({ column, type }) => [column, type]))
  const texts: string[] = []
  let looked = 0
  let last: unknown
  for (const segment of segmentsAfter(terms, after)) {
    const rows = yield prebuilt(
      sql`select ${text} as text, ${place} as place ${rowsSql(resource, where, segment)} order by ${segment.order} limit ${limit - looked}`,
    )
    for (const row of rows) if (row['text'] !== null) texts.push(String(row['text']))
    looked += rows.length
    last = rows.at(-1)?.['place'] ?? last
    if (looked === limit) return { texts, last: JSON.parse(String(last)) as Position['keys'] }
  }
  return { texts, last: undefined }
}

/** The text of a row; null where it is not asked for, or the caller may not see it. */
function textSql(
  context: SqlContext,
  { resource, represented = resource, fields, format }: ExportBatch,
  rest: Predicate,
): Sql {
  const text =
    format === 'csv' ? csvLineSql(context, represented, fields) : representationSql(context, represented, fields)
  if (rest.kind === 'always') return text
  return sql`case when ${predicateSql(context, resource, rest)} then ${text} end`
}

/**
 * What a spreadsheet takes for the beginning of a formula, or strips to find one behind it. The last four are
 * full-width: some programs read them as the others.
 */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

/**
 * The line of one row, without its end. Null is nothing between the commas, and texts are always quoted, so that an
 * empty one is `""`. A text that a spreadsheet would calculate gets an apostrophe before it.
 *
 * @param fields those asked for; `undefined`: all; `id` always comes along (QRY-4)
 */
function csvLineSql({ engine }: SqlContext, resource: Resource, fields: readonly string[] | undefined): Sql {
  const members = new Map(membersOf(resource).map((member) => [member.name, member]))
  const cells = exportColumns(resource, fields).map((name) => {
    const member = members.get(name)
    // Ids and timestamps, which the server makes: nothing in them needs quotes.
    if (member === undefined) return columnSql(subject, name)
    const isDecimal = resource.field.get(name)?.type === 'decimal'
    if (member.column === undefined) return sql`${csvCell(member.value, isDecimal)}`
    const { name: column, type } = member.column
    const value = columnSql(subject, column)
    // Digits, with a minus before them at most: a number to every program.
    if (isDecimal) return sql`coalesce(${value}, '')`
    if (type === 'text') return sql`coalesce(${quotedSql(harmlessSql(value))}, '')`
    const text = engine.jsonText(value, type)
    // Of all that begins a formula, JSON can only begin with the minus of a number, which is what it will be taken for.
    return sql`coalesce(${type === 'json' ? quotedSql(text) : text}, '')`
  })
  return chainSql(cells)
}

function quotedSql(text: Sql): Sql {
  return sql`'"' || replace(${text}, '"', '""') || '"'`
}

function harmlessSql(text: Sql): Sql {
  return sql`case when substr(${text}, 1, 1) in (${join(formulaStarts)}) then '''' || ${text} else ${text} end`
}

/** Cells with commas between them, put together in halves: databases bound how deep an expression is nested. */
function chainSql(cells: readonly Sql[]): Sql {
  if (cells.length === 1) return cells[0] as Sql
  const half = cells.length >> 1
  return sql`(${chainSql(cells.slice(0, half))} || ${raw("','")} || ${chainSql(cells.slice(half))})`
}
