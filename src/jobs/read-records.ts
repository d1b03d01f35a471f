/** Streams records from a file: memory use does not grow with the size of the file. */
import { extname } from 'node:path'
import type { Resource } from '../model/resource.ts'
import { readCsv } from './read-csv.ts'
import { readJsonArray, readNdjson } from './read-json-records.ts'
import type { Bytes, ReadOptions, SourceRecord } from './source.ts'

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
 * Reads the records of a file. A byte order mark at the beginning, which some programs write, is skipped in every
 * format.
 *
 * @param resource its field types decide how CSV cells are read
 * @returns the records in order, including those that cannot be read
 * @throws what `source` throws
 */
export function readRecords(
  source: Bytes,
  format: Format,
  resource: Resource,
  options: ReadOptions,
): AsyncGenerator<SourceRecord> {
  const bytes = withoutMark(source)
  if (format === 'csv') return readCsv(bytes, resource, options)
  return format === 'json' ? readJsonArray(bytes, options) : readNdjson(bytes, options)
}

const mark = Buffer.from([0xef, 0xbb, 0xbf])

async function* withoutMark(source: Bytes): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array()
  for await (const chunk of source) {
    if (start === undefined) {
      yield chunk
      continue
    }
    start = start.length === 0 ? chunk : Buffer.concat([start, chunk])
    if (start.length < mark.length) continue
    yield mark.equals(start.subarray(0, mark.length)) ? start.subarray(mark.length) : start
    start = undefined
  }
  if (start !== undefined) yield start
}
