/** Reads records from CSV (RFC 4180). The first row names the columns; their fields decide how cells are read. */
import { isUtf8 } from 'node:buffer'
import { finished } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { candidates } from 'resourced-contract/model/nearest'
import { systemFields } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { type Columns, delimiterIn } from './column-map.ts'
import { type Column, readCell } from './read-cell.ts'
import { type Bytes, type ReadOptions, type SourceRecord, tooLarge, type UnreadableRecord } from './source.ts'

/** A row from the parser. */
interface Row {
  readonly cells: readonly Uint8Array[]
  /** The offset of its end in the file, after its line break. */
  readonly end: number
}

/** A row is longer than a record may be. */
class RowTooLong extends Error {
  readonly most: number

  constructor(most: number) {
    super(`The row has more than ${most} bytes.`)
    this.most = most
  }
}

/** A column of the file; `undefined`: it is left out. */
type Header = readonly (Column | undefined)[]

/**
 * Reads rows; the fields of the columns decide how cells are read. A row with too few or too many cells is refused. A
 * quote in a wrong place ends the reading, because the limits of the cells after it are unknown.
 */
export async function* readCsv(source: Bytes, columns: Columns, options: ReadOptions): AsyncGenerator<SourceRecord> {
  // The line count of the parser is wrong after a cell with several lines that end in CRLF.
  const lines = new LineCounter()
  let header: Header | undefined
  let last = 0
  try {
    for await (const { cells, end } of rowsOf(source, lines, options)) {
      last = end
      const line = lines.lineAt(end - 1) - breaksIn(cells)
      if (header !== undefined) {
        yield recordOf(header, cells, line)
        continue
      }
      const found = readHeader(columns, cells, line)
      if ('issues' in found) {
        yield found
        return
      }
      header = found.header
    }
    if (header === undefined) yield broken(1, issue('emptyFile'))
  } catch (error) {
    if (error instanceof RowTooLong) {
      const line = lines.lineAt(last)
      if (header !== undefined) yield { ...tooLarge(line, options), final: true }
      else yield broken(line, issue('longHeader', { most: error.most }))
      return
    }
    if (!(error instanceof CsvError)) throw error
    yield objection(error, lines.lineAt(last), options)
  }
}

// The parser needs time and memory for each cell, so a row is refused before the parser has all of it.
const longestHeader = 100_000
const pieceSize = 65_536

/**
 * The rows of each chunk, taken from the callback of the parser: rows in its stream would be lost with a later error.
 */
async function* rowsOf(
  source: Bytes,
  lines: LineCounter,
  { mostBytes, delimiter = ',' }: ReadOptions,
): AsyncGenerator<Row> {
  let found: Row[] = []
  let failure: Error | undefined
  const parser = parse({
    // Cells are bytes, so that invalid UTF-8 is found and not replaced.
    encoding: null,
    delimiter,
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
  // Nothing reads its stream, which must flow to end.
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

function recordOf(header: Header, cells: readonly Uint8Array[], line: number): SourceRecord {
  if (cells.length !== header.length) {
    return { line, issues: [issue('cells', { given: cells.length, wanted: header.length })] }
  }
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  let size = 0
  for (const [index, column] of header.entries()) {
    const bytes = cells[index] as Uint8Array
    size += bytes.length + 1
    if (column === undefined) continue
    const cell = readCell(column, bytes)
    if (cell.kind === 'wrong') issues.push(...cell.issues)
    else value[column.field.name] = cell.value
  }
  return issues.length > 0 ? { line, issues } : { line, value, size }
}

/** The line breaks inside of quoted cells. */
function breaksIn(cells: readonly Uint8Array[]): number {
  let breaks = 0
  for (const cell of cells) for (let at = cell.indexOf(10); at !== -1; at = cell.indexOf(10, at + 1)) breaks++
  return breaks
}

// Each problem suggests a similar field, which takes time.
const mostProblems = 20

function readHeader(
  columns: Columns,
  cells: readonly Uint8Array[],
  line: number,
): { readonly header: Header } | UnreadableRecord {
  if (!cells.every((cell) => isUtf8(cell)))
    return broken(line, issue('notUtf8', { code: 'INVALID_FORMAT', name: 'The first row' }))
  const names = cells.map((cell) => Buffer.from(cell).toString().trim())
  const header: (Column | undefined)[] = []
  const seen = new Set<string>()
  const taken = new Map<string, string>()
  const problems: Issue[] = []
  for (const [index, name] of names.entries()) {
    const column = seen.has(name) ? undefined : columns.find(name)
    header.push(column === 'left out' ? undefined : column)
    if (seen.has(name)) problems.push(issue('columnTwice', { name }))
    else if (column === undefined) problems.push(unknownColumn(columns, name))
    else if (column !== 'left out') {
      const { name: field } = column.field
      const other = taken.get(field)
      if (other !== undefined) problems.push(issue('columnsOfField', { names: [other, name], of: field }))
      taken.set(field, name)
    }
    seen.add(name)
    if (problems.length < mostProblems || index + 1 === names.length) continue
    problems.push(issue('moreColumns', { left: names.length - index - 1 }))
    break
  }
  const hasFields = header.some((column) => column !== undefined)
  if (!hasFields && isSeparatorLine(names)) return { line, issues: [separatorLine(names)], final: true }
  for (const name of columns.named.filter((each) => !seen.has(each)).slice(0, mostProblems)) {
    problems.push(issue('mappedColumn', { name, names: candidates(name, names) }))
  }
  // Empty records would take the place of those in the file.
  if (!hasFields && problems.length === 0) problems.push(columns.noField(names))
  return problems.length > 0 ? { line, issues: problems, final: true } : { header }
}

/** Whether a first row is the one by which Excel finds the delimiter: `sep=;`. */
function isSeparatorLine([first = '', second = '', ...more]: readonly string[]): boolean {
  return /^sep=.?$/i.test(first) && second === '' && more.length === 0
}

function separatorLine([first = '']: readonly string[]): Issue {
  const named = first.slice('sep='.length)
  return issue('separatorLine', { name: first, delimiter: named === '' ? undefined : `'${named}'` })
}

function unknownColumn(columns: Columns, name: string): Issue {
  const { name: resource, fields } = columns.resource
  if ((systemFields as readonly string[]).includes(name)) return issue('serverColumn', { name })
  const replaced = columns.replacement(name, { code: 'UNKNOWN_FIELD' })
  if (replaced !== undefined) return replaced
  if (name === '') return issue('namelessColumn')
  const delimiter = delimiterIn(name)
  if (delimiter !== undefined) return issue('joinedColumns', { name, delimiter })
  const known = fields.map((field) => field.name)
  return issue('unknownColumn', { name, resource, names: candidates(name, known) })
}

/** Why the row after the last record cannot be read. */
function objection(error: CsvError, line: number, options: ReadOptions): UnreadableRecord {
  switch (error.code as string) {
    case 'CSV_MAX_RECORD_SIZE':
      return { ...tooLarge(line, options), final: true }
    case 'CSV_QUOTE_NOT_CLOSED':
      return broken(line, issue('openQuote'))
    case 'CSV_INVALID_CLOSING_QUOTE':
      return broken(line, issue('closedQuote'))
    default:
      return broken(line, issue('innerQuote'))
  }
}

function broken(line: number, found: Issue): UnreadableRecord {
  return { line, issues: [found], final: true }
}

const newline = 0x0a

/** Counts the lines of a stream. It keeps the offsets of the line breaks after the last offset that was asked for. */
class LineCounter {
  #bytes = 0
  #breaks: number[] = []
  #next = 0
  #line = 1

  /** Finds the line breaks of the next chunk. */
  pass(chunk: Uint8Array): void {
    if (this.#next > 0) this.#breaks = this.#breaks.slice(this.#next)
    this.#next = 0
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
      this.#breaks.push(this.#bytes + at)
    }
    this.#bytes += chunk.length
  }

  /**
   * The line, from 1, of the byte at this offset. The line break is the last byte of its line.
   *
   * @param offset never less than in an earlier call
   */
  lineAt(offset: number): number {
    while (this.#next < this.#breaks.length && (this.#breaks[this.#next] as number) < offset) {
      this.#next++
      this.#line++
    }
    return this.#line
  }
}
