/** The documents that exports are written as: what stands before, between and after the texts of the records. */
import type { Resource } from '../model/resource.ts'
import { exportTypes } from '../spec/media-types.ts'

/** The format of an export file. */
export type ExportFormat = keyof typeof exportTypes
/** All formats. */
export const exportFormats = Object.keys(exportTypes) as ExportFormat[]

/** How long a file is kept after its export is finished, in milliseconds. */
export const exportsKept = 24 * 3_600_000

/** The fields that live records have beside the declared ones. */
export const liveFields = ['id', 'created_at', 'updated_at'] as const

/**
 * The columns of an export, in the order of a representation.
 *
 * @param fields those asked for; `undefined`: all; `id` always comes along (QRY-4)
 */
export function exportColumns(resource: Resource, fields: readonly string[] | undefined): string[] {
  const declared = resource.fields.filter((field) => !field.writeOnly).map((field) => field.name)
  const names = [...declared, 'created_at', 'updated_at'].filter(
    (name) => fields === undefined || fields.includes(name),
  )
  return ['id', ...names]
}

/** What stands before the first record. */
export function exportHead(resource: Resource, fields: readonly string[] | undefined, format: ExportFormat): string {
  // Names of fields are snake_case: none needs quotes.
  if (format === 'csv') return `${exportColumns(resource, fields).join(',')}\r\n`
  return format === 'json' ? '[\n' : ''
}

/** What stands after the last record. */
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
