/** Records on their way from a file into a collection. */
import { deepestNesting, readJson } from '../model/json/read-json.ts'
import { Fault, type Issue } from '../spec/faults.ts'

/** The bytes of a file, in pieces of any size. */
export type Bytes = AsyncIterable<Uint8Array>

/** One record as a file has it: its value, or why it cannot be read. */
export type SourceRecord = ReadableRecord | UnreadableRecord

export interface ReadableRecord {
  /** Where the record begins in its file, counted from 1. */
  readonly line: number
  readonly value: unknown
  /** How many bytes of the file it takes. */
  readonly size: number
}

export interface UnreadableRecord {
  readonly line: number
  readonly issues: readonly Issue[]
  /** Nothing after this can be read, so that skipping it is no use. */
  readonly final?: boolean
}

/** How a file is read. */
export interface ReadOptions {
  /** The largest record, in bytes: the same as for a body (LIM-3). */
  readonly mostBytes: number
}

/**
 * Reads the JSON of one record by the same rules as a body.
 *
 * @param column where in its line the record begins, counted from 1
 */
export function readValue(bytes: Uint8Array, line: number, column: number): SourceRecord {
  try {
    const value = readJson(bytes, { maxDepth: deepestNesting }, { name: 'The record', line, column })
    return { line, value, size: bytes.length }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { line, issues: error.details.errors ?? [{ code: error.code, message: error.message }] }
  }
}

/** A record that is larger than a body may be. */
export function tooLarge(line: number, { mostBytes }: ReadOptions): UnreadableRecord {
  const message = `The record is larger than ${mostBytes.toLocaleString('en')} bytes.`
  return { line, issues: [{ code: 'BODY_TOO_LARGE', message }] }
}
