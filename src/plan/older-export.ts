/** Exports through the lens of an older version whose values are converted: the database gives records, and this their texts. */
import type { Resource } from '../model/resource.ts'
import { type ExportFormat, exportColumns, joinTexts } from './export-document.ts'
import { isObject } from './merge-patch.ts'
import type { Seen } from './stored.ts'
import { olderJson } from './through.ts'

/** Whether the texts of an export are made here. */
export function isConverted({ lens }: Resource): boolean {
  return lens !== undefined && lens.conversions.size > 0
}

/**
 * The texts of some records, to be written after all that came before.
 *
 * @param records as the database gives them, a JSON text a line
 */
export function olderTexts(
  seen: Seen,
  records: string,
  fields: readonly string[] | undefined,
  format: ExportFormat,
  isFirst: boolean,
): string {
  const texts = records.split('\n').filter((line) => line !== '')
  const older = texts.map((text) => olderJson(seen, text))
  return joinTexts(format === 'csv' ? older.map((text) => csvLine(seen.shown, text, fields)) : older, format, isFirst)
}

// The same as `storage/sql/csv-line.ts` has the database write.
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

function csvLine(resource: Resource, text: string, fields: readonly string[] | undefined): string {
  const record = JSON.parse(text) as Readonly<Record<string, unknown>>
  const cells = exportColumns(resource, fields).map((name) => {
    const value = record[name]
    // Ids and timestamps, which the server makes: nothing in them needs quotes.
    const field = resource.field.get(name)
    return field === undefined ? String(value ?? '') : csvCell(value, field.type === 'decimal')
  })
  return cells.join(',')
}

/** A value as a cell of CSV. Texts are always quoted: null is nothing between the commas, decimals are digits. */
export function csvCell(value: unknown, isDecimal: boolean): string {
  if (value === null || value === undefined) return ''
  if (isDecimal) return String(value)
  if (typeof value === 'string') return quoted(formulaStart.test(value) ? `'${value}` : value)
  return isObject(value) || Array.isArray(value) ? quoted(JSON.stringify(value)) : String(value)
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
