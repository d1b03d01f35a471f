/** Records from CSV (RFC 4180): the first row names the fields. */
import { finished } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { suggest } from '../model/nearest.ts'
import { type Field, type Resource, systemFields } from '../model/resource.ts'
import type { Issue } from '../spec/faults.ts'
import { readCell } from './csv-values.ts'
import { LineCounter } from './line-counter.ts'
import { type Bytes, type ReadOptions, type SourceRecord, tooLarge, type UnreadableRecord } from './source.ts'

/** A row as the parser gives it. */
interface Row {
  readonly cells: readonly Uint8Array[]
  /** Where it ends in the file, in bytes, its line break counted. */
  readonly end: number
}

/** A row that goes on beyond what a record may have. */
class RowTooLong extends Error {
  readonly most: number

  constructor(most: number) {
    super(`The row has more than ${most} bytes.`)
    this.most = most
  }
}

/**
 * Reads rows; their cells are typed by the fields (`readCell`). A row with too few or too many cells is refused. Quotes
 * that do not fit end the reading: from there on nobody can say what is a cell.
 */
export async function* readCsv(source: Bytes, resource: Resource, options: ReadOptions): AsyncGenerator<SourceRecord> {
  // The parser's own count goes wrong after a cell over several lines that end in CRLF.
  const lines = new LineCounter()
  let fields: readonly Field[] | undefined
  let last = 0
  try {
    for await (const { cells, end } of rowsOf(source, lines, options)) {
      last = end
      const line = lines.lineAt(end - 1) - breaksIn(cells)
      if (fields !== undefined) {
        yield recordOf(fields, cells, line)
        continue
      }
      const header = readHeader(resource, cells, line)
      if ('issues' in header) {
        yield header
        return
      }
      fields = header.fields
    }
    if (fields === undefined) yield broken(1, 'The file is empty: its first row must name the fields.')
  } catch (error) {
    if (error instanceof RowTooLong) {
      const line = lines.lineAt(last)
      if (fields !== undefined) yield { ...tooLarge(line, options), final: true }
      else
        yield broken(
          line,
          `The first row is longer than ${error.most} bytes: it must name the fields, and nothing else.`,
        )
      return
    }
    if (!(error instanceof CsvError)) throw error
    yield objection(error, lines.lineAt(last), options)
  }
}

// The parser takes time and memory for each cell, so a row is refused before the parser has all of it.
const longestHeader = 100_000
const pieceSize = 65_536

/** The rows of each chunk, taken as the parser finds them: what its stream holds would be lost with a later error. */
async function* rowsOf(source: Bytes, lines: LineCounter, { mostBytes }: ReadOptions): AsyncGenerator<Row> {
  let found: Row[] = []
  let failure: Error | undefined
  const parser = parse({
    // Bytes come out, so that text which is not UTF-8 is seen and not replaced.
    encoding: null,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: mostBytes,
    on_record(cells, { bytes }) {
      found.push({ cells: cells as unknown as readonly Uint8Array[], end: bytes })
      return undefined
    },
  })
  parser.on('error', (error) => {
    failure = error
  })
  const take = function* () {
    yield* found
    found = []
    if (failure !== undefined) throw failure
  }
  // Nothing is ever read from it, and it ends only once it is.
  parser.resume()
  let passed = 0
  let end = 0
  for await (const chunk of source) {
    lines.pass(chunk)
    for (let at = 0; at < chunk.length; at += pieceSize) {
      const piece = chunk.subarray(at, at + pieceSize)
      await new Promise((written) => parser.write(piece, written))
      passed += piece.length
      const isHeader = end === 0 && found.length === 0
      end = found.at(-1)?.end ?? end
      yield* take()
      if (isHeader && passed > longestHeader) throw new RowTooLong(longestHeader)
      if (passed - end > mostBytes + pieceSize) throw new RowTooLong(mostBytes)
    }
  }
  await new Promise<void>((ended) => {
    finished(parser, () => ended())
    parser.end()
  })
  yield* take()
}

function recordOf(fields: readonly Field[], cells: readonly Uint8Array[], line: number): SourceRecord {
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

/** A quoted cell may go over several lines; the record ends in the last one. */
function breaksIn(cells: readonly Uint8Array[]): number {
  let breaks = 0
  for (const cell of cells) for (let at = cell.indexOf(10); at !== -1; at = cell.indexOf(10, at + 1)) breaks++
  return breaks
}

// Each names a field that it may have meant, which takes a while.
const mostProblems = 20

function readHeader(
  resource: Resource,
  cells: readonly Uint8Array[],
  line: number,
): { readonly fields: readonly Field[] } | UnreadableRecord {
  const names = cells.map((cell) => Buffer.from(cell).toString().trim())
  const seen = new Set<string>()
  const problems: Issue[] = []
  for (const [index, name] of names.entries()) {
    if (seen.has(name)) problems.push({ code: 'DUPLICATE_KEY', message: `The column ${name} is there twice.` })
    else if ((systemFields as readonly string[]).includes(name)) {
      problems.push({ code: 'READ_ONLY', message: `The server sets ${name}: take the column out.` })
    } else if (!resource.field.has(name)) {
      problems.push({ code: 'UNKNOWN_FIELD', message: unknownColumn(resource, name) })
    }
    seen.add(name)
    if (problems.length < mostProblems || index + 1 === names.length) continue
    problems.push({ code: 'UNKNOWN_FIELD', message: `There are ${names.length - index - 1} more columns.` })
    break
  }
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

/** Why the row after the last one that was read could not be. */
function objection(error: CsvError, line: number, options: ReadOptions): UnreadableRecord {
  switch (error.code as string) {
    case 'CSV_MAX_RECORD_SIZE':
      return { ...tooLarge(line, options), final: true }
    case 'CSV_QUOTE_NOT_CLOSED':
      return broken(line, 'A cell of the row that begins here opens a quote that is never closed.')
    case 'CSV_INVALID_CLOSING_QUOTE':
      return broken(line, 'In the row that begins here something other than a comma follows a closing quote.')
    default:
      return broken(
        line,
        'In the row that begins here a quote stands inside a cell: quote the cell, and double the quote.',
      )
  }
}

function broken(line: number, message: string): UnreadableRecord {
  return { line, issues: [{ code: 'INVALID_FORMAT', message }], final: true }
}
