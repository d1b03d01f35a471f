/** Declarations in YAML. Loaded when there is one: the parser is as large as all of our own code. */
import { LineCounter, parseDocument } from 'yaml'
import type { Problem } from '../model/check.ts'
import type { Parsed } from './read-json.ts'

/** Reads YAML 1.2, one document. Duplicate keys, unknown tags and aliases without end are refused. */
export function readYaml(text: string): Parsed {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true, prettyErrors: false })
  const problems = [...document.errors, ...document.warnings].map((error): Problem => {
    const { line, col } = lines.linePos(error.pos[0])
    const path = `line ${line}, column ${col}`
    if (error.code === 'DUPLICATE_KEY')
      return { path, message: 'This key is there twice.', remedy: 'Remove one of the two.' }
    if (error.code === 'MULTIPLE_DOCS')
      return { path, message: 'A second document begins.', remedy: 'Write one document.' }
    return { path, message: `This is not YAML: ${error.message}.`, remedy: 'Correct the syntax here.' }
  })
  if (problems.length > 0) return { problems }
  try {
    // A few aliases are a convenience; thousands of copies of copies are an attack.
    return { value: document.toJS({ maxAliasCount: 100 }), problems }
  } catch (error) {
    const message = `Its aliases cannot be followed: ${error instanceof Error ? error.message : String(error)}.`
    return { problems: [{ path: 'the file', message, remedy: 'Write out what the aliases stand for.' }] }
  }
}
