/** Records from a file, before they are imported. */
import { isUtf8 } from 'node:buffer'
import { deepestNesting, readJson } from 'resourced-contract/model/json/read-json'
import type { Resource } from 'resourced-contract/model/resource'
import { Fault, type Issue, issue } from 'resourced-contract/spec/faults'

/** The bytes of a file, in pieces of any size. */
export type Bytes = AsyncIterable<Uint8Array>

/** One record of a file: its value, or why it cannot be read. */
export type SourceRecord = ReadableRecord | UnreadableRecord

export interface ReadableRecord {
  /** The line where the record begins, counted from 1. */
  readonly line: number
  readonly value: unknown
  /** Its bytes in the file. */
  readonly size: number
  /** What is decided already about the record that it becomes. */
  readonly made?: MadeRecord
}

/** A record of an import that resolves references by keys. */
export interface MadeRecord {
  readonly resource: Resource
  readonly id: string
  /** Where it stands in its source. */
  readonly place: string
  readonly promised?: ReadonlySet<string>
}

export interface UnreadableRecord {
  readonly line: number
  readonly issues: readonly Issue[]
  /** Whether nothing after this record can be read. */
  readonly final?: boolean
}

export interface ReadOptions {
  /** The largest record, in bytes: the limit of request bodies (LIM-3). */
  readonly mostBytes: number
  /** Between the cells of CSV; default: a comma. */
  readonly delimiter?: string | undefined
  /** The encoding of the file; default: by its byte order mark, otherwise UTF-8. */
  readonly encoding?: string | undefined
}

/**
 * Reads the JSON of one record by the same rules as a request body.
 *
 * @param column the column where the record begins, counted from 1
 */
export function readValue(bytes: Uint8Array, line: number, column: number): SourceRecord {
  try {
    const value = readJson(bytes, { maxDepth: deepestNesting }, { name: 'The record', line, column })
    return { line, value, size: bytes.length }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // Its own message would not name the remedy.
    if (!isUtf8(bytes)) return { line, issues: [issue('notUtf8', { code: error.code, name: 'The record' })] }
    return { line, issues: error.details.errors ?? [issue('given', { code: error.code, message: error.message })] }
  }
}

/** The refusal of a record that is larger than a request body may be. */
export function tooLarge(line: number, { mostBytes }: ReadOptions): UnreadableRecord {
  return { line, issues: [issue('largeRecord', { most: mostBytes })] }
}
