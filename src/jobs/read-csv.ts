/** Records from CSV (RFC 4180): the first row names the fields. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { suggest } from '../model/nearest.ts'
import { type Field, type Resource, systemFields } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { readCell } from './csv-values.ts'
import { type Bytes, type ReadOptions, type SourceRecord, tooLarge, type UnreadableRecord } from './source.ts'

interface Row {
  readonly record: readonly Uint8Array[]
  readonly info: { readonly lines: number }
}

/**
 * Reads rows; their cells are typed by the fields (`readCell`). A row with too few or too many cells is refused. Quotes
 * that do not fit end the reading: from there on nobody can say what is a cell.
 */
export async function* readCsv(source: Bytes, resource: Resource, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const parser = parse({
    // Bytes come out, so that text which is not UTF-8 is seen and not replaced.
    encoding: null,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: options.mostBytes,
  })
  const input = Readable.from(source, { objectMode: false })
  input.on('error', (error) => parser.destroy(error))
  let fields: readonly Field[] | undefined
  try {
    for await (const { record, info } of input.pipe(parser) as AsyncIterable<Row>) {
      if (fields !== undefined) {
        yield recordOf(fields, record, info.lines)
        continue
      }
      const header = readHeader(resource, record, info.lines)
      if ('issues' in header) {
        yield header
        return
      }
      fields = header.fields
    }
    if (fields === undefined) yield broken(1, 'The file is empty: its first row must name the fields.')
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    yield objection(error, options)
  } finally {
    input.destroy()
  }
}

function recordOf(fields: readonly Field[], cells: readonly Uint8Array[], lastLine: number): SourceRecord {
  const line = lastLine - breaksIn(cells)
  if (cells.length !== fields.length) {
    const message = `The row has ${cells.length} cells, and the header ${fields.length}.`
    return { line, issues: [{ code: 'INVALID_VALUE', message }] }
  }
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  let size = 0
  for (const [index, field] of fields.entries()) {
    const bytes = cells[index] as Uint8Array
    size += bytes.length + 1
    const cell = readCell(field, bytes)
    if (cell.kind === 'wrong') issues.push(...cell.issues)
    else value[field.name] = cell.value
  }
  return issues.length > 0 ? { line, issues } : { line, value, size }
}

/** A quoted cell may go over several lines; the parser tells the last one. */
function breaksIn(cells: readonly Uint8Array[]): number {
  let breaks = 0
  for (const cell of cells) for (let at = cell.indexOf(10); at !== -1; at = cell.indexOf(10, at + 1)) breaks++
  return breaks
}

function readHeader(
  resource: Resource,
  cells: readonly Uint8Array[],
  line: number,
): { readonly fields: readonly Field[] } | UnreadableRecord {
  const names = cells.map((cell) => Buffer.from(cell).toString().trim())
  const problems = names.flatMap((name, index): Issue[] => {
    if (names.indexOf(name) !== index) return [{ code: 'DUPLICATE_KEY', message: `The column ${name} is there twice.` }]
    if (resource.field.has(name)) return []
    if ((systemFields as readonly string[]).includes(name)) {
      return [{ code: 'READ_ONLY', message: `The server sets ${name}: take the column out.` }]
    }
    return [{ code: 'UNKNOWN_FIELD', message: unknownColumn(resource, name) }]
  })
  if (problems.length > 0) return { line, issues: problems, final: true }
  return { fields: names.map((name) => resource.field.get(name) as Field) }
}

function unknownColumn(resource: Resource, name: string): string {
  if (name === '') return 'A column has no name in the first row.'
  if (/[;\t|]/.test(name)) return `Separate the columns by commas: ${JSON.stringify(name)} is one name.`
  const remedy = suggest(
    name,
    resource.fields.map((field) => field.name),
  )
  return `${JSON.stringify(name)} is not a field of ${resource.name}. ${remedy}`
}

function objection(error: CsvError, options: ReadOptions): UnreadableRecord {
  const line = Number((error as { lines?: unknown }).lines ?? 1)
  switch (error.code as string) {
    case 'CSV_MAX_RECORD_SIZE':
      return { ...tooLarge(line, options), final: true }
    case 'CSV_QUOTE_NOT_CLOSED':
      return broken(line, 'A quoted cell that begins here is not closed.')
    case 'CSV_INVALID_CLOSING_QUOTE':
      return broken(line, 'After the closing quote of a cell a comma or the end of the line must follow.')
    default:
      return broken(
        line,
        'A quote stands inside a cell that does not begin with one: quote the cell, and double the quote.',
      )
  }
}

function broken(line: number, message: string): UnreadableRecord {
  return { line, issues: [{ code: 'INVALID_FORMAT', message }], final: true }
}
