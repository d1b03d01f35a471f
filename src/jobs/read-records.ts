/** Records from a file, streamed: what is in memory at a time does not grow with the file. */
import { extname } from 'node:path'
import type { Resource } from '../model/resource.ts'
import { readCsv } from './read-csv.ts'
import { readJsonArray } from './read-json-array.ts'
import { readNdjson } from './read-ndjson.ts'
import type { Bytes, ReadOptions, SourceRecord } from './source.ts'

/** What a file of records can be. */
export const formats = ['json', 'ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

const endings: Readonly<Record<string, Format>> = {
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
}

/** The format of a file by the ending of its name; `undefined` where that says nothing. */
export function formatOf(file: string): Format | undefined {
  return endings[extname(file).toLowerCase()]
}

/**
 * Reads the records of a file. A byte order mark before them, which some programs write, is passed over in every
 * format.
 *
 * @param resource whose fields type the cells of CSV
 * @returns the records in their order, those that cannot be read among them
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
