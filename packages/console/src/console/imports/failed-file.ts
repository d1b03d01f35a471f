/** The refused lines of an import as a file that can be corrected and imported. */
import { csvLine } from './csv.ts'
import type { Failure } from './import-run.ts'
import type { Source } from './source.ts'

/** The column that says what is wrong. */
const errorColumn = 'import_error'

/** @returns the file and its name */
export function failedFile(source: Source, failures: readonly Failure[]): [Blob, string] {
  const { columns, delimiter, format, file } = source
  // The file of an earlier import has the column already.
  const known = columns[0] === errorColumn ? 1 : 0
  const lines = failures.map(({ record, errors }) => {
    const { content, values, wrong } = record
    const error = errors.map(({ pointer, message }) => `${pointer ?? ''} ${message}`.trim()).join('; ')
    if (typeof content !== 'string') return csvLine([error, ...content.slice(known)], delimiter)
    return wrong === undefined
      ? JSON.stringify({ ...Object.fromEntries(values), [errorColumn]: error })
      : content.replaceAll(/[\r\n]+/g, ' ')
  })
  const isTable = format === 'csv'
  // Spreadsheets take a text for UTF-8 if it begins with a byte order mark.
  if (isTable) lines.unshift(`\ufeff${csvLine([errorColumn, ...columns.slice(known)], delimiter)}`)
  const name = file.name.replace(/(\.[^.]*)?$/, `-refused.${isTable ? 'csv' : 'ndjson'}`)
  return [new Blob([lines.map((line) => `${line}\n`).join('')], { type: 'text/plain' }), name]
}
