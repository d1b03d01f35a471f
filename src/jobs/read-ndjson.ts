/** Records from NDJSON: a JSON object on each line. Blank lines are passed over. */
import { type Bytes, type ReadOptions, readValue, type SourceRecord, tooLarge } from './source.ts'

const newline = 0x0a
const blank = /^[ \t\r]*$/

/** Reads lines, each by the rules of a body. A line that is too long is refused, and reading goes on after it. */
export async function* readNdjson(source: Bytes, options: ReadOptions): AsyncGenerator<SourceRecord> {
  let line = 1
  let pieces: Uint8Array[] = []
  let size = 0
  const finish = (): SourceRecord | undefined => {
    if (size > options.mostBytes) return tooLarge(line, options)
    const bytes = Buffer.concat(pieces)
    // Only what is short can be blank: a long line is not turned into a text to see.
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
