/**
 * A file of records: CSV, a JSON array or NDJSON, which its content tells. It is read piece by piece: however large it
 * is, a page has one piece of it in memory.
 */
import { Problem } from '../interface/problem.ts'
import type { JsonValue } from '../interface/records.ts'
import { csvReader, guessDelimiter } from './csv.ts'
import { arrayReader, lineReader } from './json-elements.ts'

/** One record of a file, before it is mapped to fields. */
export interface SourceRecord {
  /** Where it begins, counted from 1. */
  readonly line: number
  /** By column; of JSON, by member. */
  readonly values: ReadonlyMap<string, JsonValue>
  /** What the file has there: the cells, or the JSON text. */
  readonly content: readonly string[] | string
  /** Why it cannot be read. */
  readonly wrong?: string
}

/** How a file is read. */
export interface Source {
  readonly file: File
  readonly format: 'csv' | 'json' | 'ndjson'
  /** Of CSV. */
  readonly delimiter: string
  readonly encoding: string
  /** The columns; of JSON, the members of the first records. */
  readonly columns: readonly string[]
  /** The first records. */
  readonly sample: readonly SourceRecord[]
}

const pieceSize = 1_048_576
const sampleSize = 262_144
const sampleCount = 50

/** Opens a file. What is not chosen is found out. */
export async function openSource(
  file: File,
  chosen: { readonly delimiter?: string; readonly encoding?: string } = {},
): Promise<Source> {
  const bytes = new Uint8Array(await file.slice(0, sampleSize).arrayBuffer())
  const encoding = chosen.encoding ?? guessEncoding(bytes)
  const text = new TextDecoder(encoding).decode(bytes, { stream: true })
  const first = text.trimStart().charAt(0)
  const isTable = /\.(csv|tsv|txt)$/i.test(file.name)
  const format = isTable ? 'csv' : first === '[' ? 'json' : first === '{' ? 'ndjson' : 'csv'
  const delimiter = chosen.delimiter ?? (format === 'csv' ? guessDelimiter(text) : ',')
  const read = recordReader({ format, delimiter })
  const sample = read.records(text, file.size <= sampleSize).slice(0, sampleCount)
  const members = sample.flatMap(({ values }) => [...values.keys()])
  const columns = format === 'csv' ? read.columns() : [...new Set(members)]
  return { file, format, delimiter, encoding, columns, sample }
}

/** Reads all records of a file, those that cannot be read among them. */
export async function* recordsOf({ file, encoding, ...form }: Source): AsyncGenerator<SourceRecord, undefined> {
  const { records } = recordReader(form)
  // A text that is decoded wrongly would be stored wrongly.
  const decoder = new TextDecoder(encoding, { fatal: true })
  for (let at = 0; at < file.size; at += pieceSize) {
    const bytes = await file.slice(at, at + pieceSize).arrayBuffer()
    yield* records(decode(decoder, bytes, at + pieceSize < file.size), at + pieceSize >= file.size)
  }
}

function decode(decoder: TextDecoder, bytes: ArrayBuffer, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream })
  } catch {
    throw new Problem(0, {
      code: 'WRONG_ENCODING',
      detail: `The file is not ${decoder.encoding}. Choose its encoding.`,
    })
  }
}

function guessEncoding(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

function recordReader({ format, delimiter }: Pick<Source, 'format' | 'delimiter'>) {
  let columns: readonly string[] | undefined
  if (format !== 'csv') {
    const read = format === 'json' ? arrayReader() : lineReader()
    return { records: (text: string, isLast: boolean) => read(text, isLast).map(parseElement), columns: () => [] }
  }
  const read = csvReader(delimiter)
  const records = (text: string, isLast: boolean) =>
    read(text, isLast).flatMap(({ line, cells, wrong }): SourceRecord[] => {
      if (columns === undefined) {
        columns = columnNames(cells)
        return []
      }
      const width = `The row has ${cells.length} cells, and the first row ${columns.length}.`
      const problem = wrong ?? (cells.length === columns.length ? undefined : width)
      const values = new Map(columns.map((name, index) => [name, cells[index] ?? '']))
      return [{ line, values, content: cells, ...(problem !== undefined && { wrong: problem }) }]
    })
  return { records, columns: () => columns ?? [] }
}

/** The names of columns, each one once. */
function columnNames(cells: readonly string[]): string[] {
  const names = new Set<string>()
  for (const [index, cell] of cells.entries()) {
    const name = cell.trim()
    names.add(name === '' || names.has(name) ? `${name || 'column'} (${index + 1})` : name)
  }
  return [...names]
}

function parseElement({ line, text, wrong }: ReturnType<ReturnType<typeof lineReader>>[number]): SourceRecord {
  const record = { line, content: text, values: new Map<string, JsonValue>() }
  if (wrong !== undefined) return { ...record, wrong }
  try {
    const value: unknown = JSON.parse(text, exactly)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { ...record, wrong: 'A record must be a JSON object.' }
    }
    return { ...record, values: new Map(Object.entries(value)) }
  } catch (error) {
    return { ...record, wrong: error instanceof InexactNumber ? error.message : 'This is not JSON.' }
  }
}

class InexactNumber extends Error {}

/** Refuses numbers of more digits than a page keeps. */
function exactly(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const digits = context?.source?.replace(/e.*|\D/gi, '').replace(/^0+/, '') ?? ''
  if (typeof value !== 'number' || digits.length <= 15 || String(value) === context?.source) return value
  throw new InexactNumber(`The number ${context?.source} has more digits than a page keeps. Write it as a text.`)
}
