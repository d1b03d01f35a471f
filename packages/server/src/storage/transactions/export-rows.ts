/**
 * The records of an export, in batches. An export reads all records, so it follows the order of its sort from end to
 * end. Each batch is the range of the sort's index (or of the ids, where there is no sort) after the batch before,
 * found by its keys (`keyset.ts`). Records that the filter drops count as well, so no batch costs more than its size,
 * however few records match. A list would find the matching records by the filter's own index, and sort all of them for
 * each batch anew. Only a condition whose index has the order too is left to the index (`splitByIndex`), and one that
 * names ids: there are at most 1,000. Where the sort has several fields that no index has together, the records that
 * tie in the first field are sorted for each batch.
 */

import { type FieldGrants, grantOf } from 'resourced-contract/model/field-grants'
import {
  allOf,
  always,
  namesIds,
  type Position,
  type Predicate,
  type SortTerm,
} from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { csvCell, type ExportFormat, exportColumns } from '../../plan/export-document.ts'
import { columnSql, subject } from '../sql/columns.ts'
import type { SqlContext } from '../sql/context.ts'
import { orderTerms, segmentsAfter } from '../sql/keyset.ts'
import { liveSql, predicateSql } from '../sql/predicate.ts'
import { maskedSql, membersOf, type Representation, representationSql } from '../sql/records.ts'
import { prebuilt, type Transaction } from '../transaction.ts'
import { hasIndex, servesOrder } from './access-path.ts'
import { unindexedTerms } from './list.ts'
import { rowsSql } from './page-rows.ts'

/** The records of a batch, and their format. */
export interface ExportBatch {
  readonly resource: Resource
  /** The resource in the older version of the request. */
  readonly represented?: Resource
  readonly filter: Predicate
  /** Which records the caller may read. */
  readonly permitted: Predicate
  readonly sort: readonly SortTerm[]
  /** `undefined`: all. */
  readonly fields: readonly string[] | undefined
  /** The fields that the caller may not read in every record. */
  readonly readableFields?: FieldGrants | undefined
  readonly format: ExportFormat
  /** `last` of the batch before; `undefined`: this is the first. */
  readonly after: Position['keys'] | undefined
  /** How many records are examined. */
  readonly limit: number
}

/** The records of a batch. */
export interface ExportedRows {
  /**
   * Each record's JSON, or its line of CSV without the line break. A batch may be empty before the last one: see
   * `last`.
   */
  readonly texts: readonly string[]
  /** The position after which the next batch begins; `undefined`: there are no more records. */
  readonly last: Position['keys'] | undefined
}

/**
 * Reads the next batch of an export. Records that are created or deleted between two batches may be missing; all others
 * are exported once. Each record is a row of its own, because lines of CSV may contain line breaks.
 */
export function* exportRows(context: SqlContext, batch: ExportBatch): Transaction<ExportedRows> {
  const { resource, sort, after, limit } = batch
  const wanted = allOf([batch.permitted, batch.filter])
  if (wanted.kind === 'never') return { texts: [], last: undefined }
  const { range, rest, isSorted } = splitByIndex(resource, wanted, sort)
  const ordered = orderTerms(context, resource, sort, subject)
  const terms = isSorted ? unindexedTerms(context, ordered) : ordered
  const where = liveSql(context, resource, range)
  const text = textSql(context, batch, rest)
  const place = context.dialect.jsonKeys(terms.map(({ column, type }) => [column, type]))
  const texts: string[] = []
  let looked = 0
  let last: unknown
  for (const segment of segmentsAfter(terms, after)) {
    const rest = rowsSql(resource, where, segment)
    const rows = yield prebuilt(
      sql`select ${text} as text, ${place} as place ${rest} order by ${segment.order} limit ${limit - looked}`,
    )
    for (const row of rows) if (row['text'] !== null) texts.push(String(row['text']))
    looked += rows.length
    last = rows.at(-1)?.['place'] ?? last
    if (looked === limit) return { texts, last: JSON.parse(String(last)) as Position['keys'] }
  }
  return { texts, last: undefined }
}

/**
 * Takes the first condition whose index goes on in the order of `sort` out of a predicate, or the one that names ids:
 * `range` is the part that the index finds (`always`: the whole order), `rest` is checked for each row of it.
 * `isSorted`: the index has not the order, because it is that of the ids.
 */
function splitByIndex(
  resource: Resource,
  predicate: Predicate,
  sort: readonly SortTerm[],
): { readonly range: Predicate; readonly rest: Predicate; readonly isSorted: boolean } {
  const terms = predicate.kind === 'and' ? predicate.terms : [predicate]
  const named = terms.find(namesIds)
  const isRange = (term: Predicate) => servesOrder(resource, term, sort[0]?.field) && hasIndex(resource, term)
  const range = named ?? terms.find(isRange)
  return { range: range ?? always, rest: allOf(terms.filter((term) => term !== range)), isSorted: named !== undefined }
}

/** The text of a row; null where the filter does not match, or the caller may not read the record. */
function textSql(
  context: SqlContext,
  { resource, represented = resource, fields, format, readableFields }: ExportBatch,
  rest: Predicate,
): Sql {
  const shown = { resource: represented, fields, readableFields }
  const text = format === 'csv' ? csvLineSql(context, shown) : representationSql(context, shown)
  if (rest.kind === 'always') return text
  return sql`case when ${predicateSql(context, resource, rest)} then ${text} end`
}

/**
 * Characters with which a spreadsheet begins a formula, or that it strips before one. The last four are full-width
 * forms, which some programs treat alike.
 */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

/**
 * A record as a line of CSV (RFC 4180), without the line break. Null is an empty cell; texts are always quoted, so an
 * empty text is `""`. A text that a spreadsheet would evaluate gets an apostrophe in front.

 */
function csvLineSql(context: SqlContext, { resource, fields, readableFields }: Representation): Sql {
  const { dialect } = context
  const members = new Map(membersOf(resource).map((member) => [member.name, member]))
  const cells = exportColumns(resource, fields).map((name) => {
    const member = members.get(name)
    // Ids and timestamps contain nothing that needs quotes.
    if (member === undefined) return columnSql(subject, name)
    const isDecimal = resource.field.get(name)?.type === 'decimal'
    if (member.column === undefined) return sql`${csvCell(member.value, isDecimal)}`
    const { name: column, type } = member.column
    const readable = grantOf(readableFields, member.column.field.name)
    const value = maskedSql(context, resource, readable, { value: columnSql(subject, column) })
    // Digits with an optional minus are a number in every program.
    if (isDecimal) return sql`coalesce(${value}, '')`
    if (type === 'text') return sql`coalesce(${quotedSql(harmlessSql(value))}, '')`
    const text = dialect.jsonText(value, type)
    // JSON can begin with only one of these characters, the minus of a number, and is read as that number.
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

/** Cells separated by commas, joined as a balanced tree: databases limit the depth of expressions. */
function chainSql(cells: readonly Sql[]): Sql {
  if (cells.length === 1) return cells[0] as Sql
  const half = cells.length >> 1
  return sql`(${chainSql(cells.slice(0, half))} || ${raw("','")} || ${chainSql(cells.slice(half))})`
}
