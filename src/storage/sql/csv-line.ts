/** A record as one line of CSV (RFC 4180), made in the database. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Resource } from '../../model/resource.ts'
import { csvCell, exportColumns } from '../../plan/export-document.ts'
import { columnSql, subject } from './columns.ts'
import type { SqlContext } from './context.ts'
import { membersOf } from './represent.ts'

/**
 * What a spreadsheet takes for the beginning of a formula, or strips to find one behind it. The last four are full-width:
 * some programs read them as the others.
 */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r', '\n', '\uff1d', '\uff0b', '\uff0d', '\uff20']

/**
 * The line of one row, without its end. Null is nothing between the commas, and texts are always quoted, so that an empty
 * one is `""`. A text that a spreadsheet would calculate gets an apostrophe before it.
 *
 * @param fields those asked for; `undefined`: all; `id` always comes along (QRY-4)
 */
export function csvLineSql({ engine }: SqlContext, resource: Resource, fields: readonly string[] | undefined): Sql {
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
