/** Records from a JSON array of any length: only one of them is in memory. */
import { ArraySplitter, type Part } from './array-splitter.ts'
import { type Bytes, type ReadOptions, readValue, type SourceRecord, tooLarge } from './source.ts'

/** Reads the elements of a JSON array, each by the rules of a body. */
export async function* readJsonArray(source: Bytes, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const splitter = new ArraySplitter(options.mostBytes)
  for await (const chunk of source) {
    for (const part of splitter.push(chunk)) yield recordOf(part, options)
  }
  for (const part of splitter.end()) yield recordOf(part, options)
}

function recordOf(part: Part, options: ReadOptions): SourceRecord {
  if (part.kind === 'element') return readValue(part.bytes, part.line, part.column)
  if (part.kind === 'too-large') return tooLarge(part.line, options)
  return { line: part.line, issues: [{ code: 'MALFORMED_JSON', message: part.message }], final: true }
}
