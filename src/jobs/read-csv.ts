/** Reads records from CSV (RFC 4180). The first row names the fields, and their types decide how cells are read. */
import { isUtf8 } from 'node:buffer'
import { finished } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { deepestNesting, isKeptExactly, readJson } from '../model/json/read-json.ts'
import { suggest } from '../model/nearest.ts'
import { type Field, type Resource, systemFields } from '../model/resource.ts'
import { isStorableText } from '../model/text.ts'
import { Fault, type Issue, issueCodes } from '../spec/faults.ts'
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

/**
 * Reads rows; the types of the fields decide how cells are read. A row with too few or too many cells is refused. A
 * quote in a wrong place ends the reading, because the limits of the cells after it are unknown.
 */
export async function* readCsv(source: Bytes, resource: Resource, options: ReadOptions): AsyncGenerator<SourceRecord> {
  // The line count of the parser is wrong after a cell with several lines that end in CRLF.
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

// The parser needs time and memory for each cell, so a row is refused before the parser has all of it.
const longestHeader = 100_000
const pieceSize = 65_536

/**
 * The rows of each chunk, taken from the callback of the parser: rows in its stream would be lost with a later error.
 */
async function* rowsOf(source: Bytes, lines: LineCounter, { mostBytes }: ReadOptions): AsyncGenerator<Row> {
  let found: Row[] = []
  let failure: Error | undefined
  const parser = parse({
    // Cells are bytes, so that invalid UTF-8 is found and not replaced.
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

/** The line breaks inside of quoted cells. */
function breaksIn(cells: readonly Uint8Array[]): number {
  let breaks = 0
  for (const cell of cells) for (let at = cell.indexOf(10); at !== -1; at = cell.indexOf(10, at + 1)) breaks++
  return breaks
}

// Each problem suggests a similar field, which takes time.
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

/** Why the row after the last record cannot be read. */
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

/** A value, or what is wrong with the cell. */
type Cell =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly issues: readonly Issue[] }

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const booleans = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
])

/**
 * Reads a cell by the type of its field. An empty cell is `null`. A text that is no number or boolean stays a text,
 * which the schema of the field refuses. Arrays and objects are JSON.
 *
 * @param bytes the cell without its quotes
 */
export function readCell(field: Field, bytes: Uint8Array): Cell {
  if (bytes.length === 0) return value(null)
  if (!isUtf8(bytes)) return wrong('INVALID_TEXT', `${field.name} is not valid UTF-8.`, field)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  if (!isStorableText(text)) return wrong('INVALID_TEXT', issueCodes.INVALID_TEXT, field)
  switch (field.type) {
    case 'string':
      return value(text)
    case 'decimal':
      return value(text.trim())
    case 'integer':
    case 'number':
      return readNumber(field, text)
    case 'boolean':
      return value(booleans.get(text.trim().toLowerCase()) ?? text)
    case 'array':
    case 'object':
      return readNested(field, bytes)
    case 'json': {
      // A field of several types: a text that is not JSON is a string.
      const nested = readNested(field, bytes)
      return nested.kind === 'wrong' && nested.issues[0]?.code === 'MALFORMED_JSON' ? value(text) : nested
    }
  }
}

function readNumber(field: Field, text: string): Cell {
  const literal = text.trim()
  if (!number.test(literal)) return value(text)
  if (!isKeptExactly(literal)) return wrong('NUMBER_NOT_EXACT', issueCodes.NUMBER_NOT_EXACT, field)
  // Adding zero takes the sign from -0, as in JSON.
  return value(Number(literal) + 0)
}

function readNested(field: Field, bytes: Uint8Array): Cell {
  try {
    const place = { name: `The JSON in ${field.name}`, line: 1, column: 1 }
    return value(readJson(bytes, { maxDepth: deepestNesting }, place))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { errors } = error.details
    if (errors === undefined) return wrong('MALFORMED_JSON', error.message, field)
    return {
      kind: 'wrong',
      issues: errors.map((each) => ({ ...each, pointer: `/${field.name}${each.pointer ?? ''}` })),
    }
  }
}

function value(read: unknown): Cell {
  return { kind: 'value', value: read }
}

function wrong(code: Issue['code'], message: string, field: Field): Cell {
  return { kind: 'wrong', issues: [{ code, message, pointer: `/${field.name}` }] }
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
