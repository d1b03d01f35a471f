/**
 * Streams records from a file: memory use does not grow with the size of the file. Of a JSON array, of any length, one
 * record is in memory at a time.
 */
import { extname } from 'node:path'
import { issue } from 'resourced-contract/spec/faults'
import type { Columns } from './column-map.ts'
import { decoded, EncodingError } from './decode.ts'
import { readCsv } from './read-csv.ts'
import { type Bytes, type ReadOptions, readValue, type SourceRecord, tooLarge } from './source.ts'

/** The formats of record files. */
export const formats = ['json', 'ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

const endings: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
}

/** The format of a file by its extension; `undefined` for any other extension. */
export function formatOf(file: string): Format | undefined {
  return endings[extname(file).toLowerCase()]
}

/**
 * Reads the records of a file. A byte order mark at the beginning, which some programs write, says its encoding.
 *
 * @param columns which field each column is, and how its values are written
 * @returns the records in order, including those that cannot be read
 * @throws what `source` throws
 */
export async function* readRecords(
  source: Bytes,
  format: Format,
  columns: Columns,
  options: ReadOptions,
): AsyncGenerator<SourceRecord> {
  const bytes = decoded(source, options.encoding)
  try {
    if (format === 'csv') yield* readCsv(bytes, columns, options)
    else {
      for await (const record of format === 'json' ? readJsonArray(bytes, options) : readNdjson(bytes, options)) {
        yield 'value' in record ? withColumns(record, columns) : record
      }
    }
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error
    yield {
      line: error.line,
      issues: [issue('given', { code: 'INVALID_TEXT', message: error.message })],
      final: true,
    }
  }
}

function withColumns(record: Extract<SourceRecord, { value: unknown }>, columns: Columns): SourceRecord {
  const { value, issues } = columns.apply(record.value)
  return issues.length > 0 ? { line: record.line, issues } : { ...record, value }
}

/** Reads the elements of a JSON array, each by the same rules as a request body. */
async function* readJsonArray(source: Bytes, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const splitter = new ArraySplitter(options.mostBytes)
  for await (const chunk of source) {
    for (const part of splitter.push(chunk)) yield recordOf(part, options)
  }
  for (const part of splitter.end()) yield recordOf(part, options)
}

function recordOf(part: Part, options: ReadOptions): SourceRecord {
  if (part.kind === 'element') return readValue(part.bytes, part.line, part.column)
  if (part.kind === 'too-large') return tooLarge(part.line, options)
  return {
    line: part.line,
    issues: [issue('given', { code: 'MALFORMED_JSON', message: part.message })],
    final: true,
  }
}

const blank = /^[ \t\r]*$/

/**
 * Reads lines by the same rules as request bodies. Blank lines are skipped. A line that is too long is one refused
 * record.
 */
async function* readNdjson(source: Bytes, options: ReadOptions): AsyncGenerator<SourceRecord> {
  let line = 1
  let pieces: Uint8Array[] = []
  let size = 0
  const finish = (): SourceRecord | undefined => {
    if (size > options.mostBytes) return tooLarge(line, options)
    const bytes = Buffer.concat(pieces)
    // A long line is not decoded only to find out whether it is blank.
    return bytes.length < 100 && blank.test(bytes.toString('latin1')) ? undefined : readValue(bytes, line, 1)
  }
  for await (const chunk of source) {
    let from = 0
    while (from < chunk.length) {
      const end = chunk.indexOf(newline, from)
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end)
      size += piece.length
      if (size > options.mostBytes) pieces = []
      else pieces.push(piece)
      if (end === -1) break
      const record = finish()
      if (record !== undefined) yield record
      pieces = []
      size = 0
      line++
      from = end + 1
    }
  }
  const last = finish()
  if (last !== undefined) yield last
}

/** A part of the array, or the reason why there are no more parts. */
export type Part =
  | {
      readonly kind: 'element'
      /** Including the white space after the element. */
      readonly bytes: Uint8Array
      /** Where the element begins. The column counts characters; both count from 1. */
      readonly line: number
      readonly column: number
    }
  | { readonly kind: 'too-large'; readonly line: number }
  /** The text is no array, continues after it, or ends within it. */
  | { readonly kind: 'broken'; readonly line: number; readonly message: string }

const byte = { quote: 0x22, comma: 0x2c, open: 0x5b, backslash: 0x5c, close: 0x5d, openBrace: 0x7b, closeBrace: 0x7d }
const newline = 0x0a

/**
 * Splits a JSON array at the commas between its elements, while it arrives. It only counts brackets and skips strings;
 * the parser of the elements finds syntax errors. A misplaced bracket always leaves an element that is not JSON, so all
 * elements are JSON exactly if the whole text is. The only exception is a comma after the last element, which is read
 * over: many programs write it, and nothing is lost.
 */
export class ArraySplitter {
  readonly #mostBytes: number
  #state: 'before' | 'between' | 'element' | 'after' | 'broken' = 'before'
  #depth = 0
  #inString = false
  #escaped = false
  #line = 1
  #column = 0
  #started = { line: 1, column: 1 }
  #pieces: Uint8Array[] = []
  #size = 0

  /** @param mostBytes the size of the largest element that is kept */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Returns the parts that end in this chunk. */
  push(chunk: Uint8Array): Part[] {
    const parts: Part[] = []
    // The start of the current element in this chunk.
    let from = 0
    for (let index = 0; index < chunk.length && this.#state !== 'broken'; index++) {
      const code = chunk[index] as number
      if (code === newline) {
        this.#line++
        this.#column = 0
      } else if ((code & 0xc0) !== 0x80) this.#column++
      if (this.#state === 'element') {
        if (!this.#endsAt(code)) continue
        this.#keep(chunk.subarray(from, index))
        parts.push(this.#finish())
        this.#state = code === byte.comma ? 'between' : 'after'
      } else if (isBlank(code)) {
      } else if (this.#state === 'between' && code !== byte.comma && code !== byte.close) {
        this.#state = 'element'
        this.#started = { line: this.#line, column: this.#column }
        from = index
        this.#endsAt(code)
      } else if (this.#state === 'between' && code === byte.close) this.#state = 'after'
      else if (this.#state === 'before' && code === byte.open) this.#state = 'between'
      else parts.push(this.#break(this.#objection(code)))
    }
    if (this.#state === 'element') this.#keep(chunk.subarray(from))
    return parts
  }

  /** Ends the text; returns what is wrong with its end. */
  end(): Part[] {
    if (this.#state === 'after' || this.#state === 'broken') return []
    if (this.#state === 'before') return [this.#break('The file is empty: it must hold a JSON array of records.')]
    if (this.#state === 'between') return [this.#break('The file ends before the array does.')]
    return [this.#break(`The file ends within the record that begins at line ${this.#started.line}.`)]
  }

  /** Whether the element ends before this byte. */
  #endsAt(code: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (code === byte.backslash) this.#escaped = true
      else if (code === byte.quote) this.#inString = false
      return false
    }
    if (code === byte.quote) this.#inString = true
    else if (code === byte.open || code === byte.openBrace) this.#depth++
    else if (code === byte.comma) return this.#depth === 0
    else if (code === byte.close || code === byte.closeBrace) {
      if (this.#depth === 0) return code === byte.close
      this.#depth--
    }
    return false
  }

  #keep(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > this.#mostBytes) this.#pieces = []
    else if (bytes.length > 0) this.#pieces.push(bytes)
  }

  #finish(): Part {
    const [pieces, size] = [this.#pieces, this.#size]
    this.#pieces = []
    this.#size = 0
    if (size > this.#mostBytes) return { kind: 'too-large', line: this.#started.line }
    const bytes = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
    return { kind: 'element', bytes, ...this.#started }
  }

  #objection(code: number): string {
    if (this.#state === 'after') return 'Nothing may follow the array.'
    if (this.#state === 'between') return 'A record is missing before the comma.'
    const remedy = code === byte.openBrace ? ' A file with one object on each line is NDJSON: say --format ndjson.' : ''
    return `The file must hold a JSON array of records: [ must come first.${remedy}`
  }

  #break(message: string): Part {
    this.#state = 'broken'
    this.#pieces = []
    return { kind: 'broken', line: this.#line, message }
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === newline || code === 0x09 || code === 0x0d
}
