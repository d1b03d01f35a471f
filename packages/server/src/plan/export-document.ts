/** The files that exports write (JOB-6): the text before, between and after the records, and CSV cells. */
import { isObject } from 'resourced-contract/model/plain-copy'
import type { MappedResource, Resource } from 'resourced-contract/model/resource'
import { isRecordId } from 'resourced-contract/model/text'
import type { exportTypes } from 'resourced-contract/spec/media-types'
import { jsonFromStored } from '../versions/translate-record.ts'

/** The format of an export file. */
export type ExportFormat = keyof typeof exportTypes

/** How long a file is kept after its export is finished, in milliseconds. */
export const exportsKept = 24 * 3_600_000

/**
 * The name of the file of an export. Every path of such a file is made of it: the id comes from a database, and one
 * that was forged may hold `../`.
 *
 * @throws Error where the id is none
 */
export function exportFileName(job: string): string {
  if (isRecordId(job)) return job
  throw new Error(`${JSON.stringify(job)} is not the id of a job, so it names no file of an export.`)
}

/**
 * The columns of an export, in the order of a representation.
 *
 * @param fields the requested fields; `undefined`: all; `id` is always included (QRY-4)
 */
export function exportColumns(resource: Resource, fields: readonly string[] | undefined): string[] {
  const declared = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = [...declared, 'created_at', 'updated_at'].filter(
    (name) => fields === undefined || fields.includes(name),
  )
  return ['id', ...names]
}

/** The text before the first record. */
export function exportHead(resource: Resource, fields: readonly string[] | undefined, format: ExportFormat): string {
  // Names of fields are snake_case: none needs quotes.
  if (format === 'csv') return `${exportColumns(resource, fields).join(',')}\r\n`
  return format === 'json' ? '[\n' : ''
}

/** The text after the last record. */
export function exportTail(format: ExportFormat): string {
  return format === 'json' ? '\n]\n' : ''
}

/**
 * The texts of some records, to be written after all that came before.
 *
 * @param isFirst whether no record was written yet
 */
export function joinTexts(texts: readonly string[], format: ExportFormat, isFirst: boolean): string {
  if (texts.length === 0) return ''
  // JSON texts and CSV lines are made so that none of them ends in a line break.
  if (format === 'json') return (isFirst ? '' : ',\n') + texts.join(',\n')
  const end = format === 'csv' ? '\r\n' : '\n'
  return texts.join(end) + end
}

/**
 * The texts of some records of an older version whose values are converted, which the database cannot write.
 *
 * @param records as the database gives them, a JSON text on each line
 * @param options `isFirst`: whether no record was written yet
 */
export function convertedTexts(
  resource: MappedResource,
  records: string,
  options: { readonly fields: readonly string[] | undefined; readonly format: ExportFormat; readonly isFirst: boolean },
): string {
  const { fields, format, isFirst } = options
  const lines = records.split('\n').filter((line) => line !== '')
  const texts = lines.map((line) => {
    const json = jsonFromStored(resource, line)
    return format === 'csv' ? csvLine(resource, json, fields) : json
  })
  return joinTexts(texts, format, isFirst)
}

// Must equal the lines that the database writes for `storage/transactions/export-rows.ts`.
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

function csvLine(resource: Resource, json: string, fields: readonly string[] | undefined): string {
  const record = JSON.parse(json) as Readonly<Record<string, unknown>>
  const cells = exportColumns(resource, fields).map((name) => {
    const value = record[name]
    const field = resource.field.get(name)
    // Ids and timestamps come from the server and need no quotes.
    return field === undefined ? String(value ?? '') : csvCell(value, field.type === 'decimal')
  })
  return cells.join(',')
}

/** A value as a cell of CSV. Texts are always quoted; null is empty; decimals are digits. */
export function csvCell(value: unknown, isDecimal: boolean): string {
  if (value === null || value === undefined) return ''
  if (isDecimal) return String(value)
  if (typeof value === 'string') return quoted(formulaStart.test(value) ? `'${value}` : value)
  return isObject(value) || Array.isArray(value) ? quoted(JSON.stringify(value)) : String(value)
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
