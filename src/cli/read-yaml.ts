/** Declarations in YAML. Loaded when there is one: the parser is as large as all of our own code. */
import { LineCounter, parseDocument } from 'yaml'
import type { Problem } from '../model/check/check-declaration.ts'
import type { Parsed } from './read-json.ts'
import { repeatedKeys } from './read-large-yaml.ts'

// The parser takes seconds for a megabyte.
const mostCharacters = 1_000_000
// One wrong indent can be the cause of thousands.
const mostProblems = 20

/** Reads YAML 1.2, one document. Duplicate keys, unknown tags and aliases without end are refused. */
export function readYaml(text: string): Parsed {
  if (text.length > mostCharacters) {
    const message = 'YAML of more than a megabyte is not read.'
    return { problems: [{ path: 'the file', message, remedy: 'Write a smaller declaration, or write it in JSON.' }] }
  }
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  // To find keys given twice the parser itself takes time by the square of a map's size.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, strict: true, prettyErrors: false })
  const errors = [...document.errors, ...document.warnings]
  const problems = errors.slice(0, mostProblems).map((error): Problem => {
    const path = at(error.pos[0])
    if (error.code === 'MULTIPLE_DOCS')
      return { path, message: 'A second document begins.', remedy: 'Write one document.' }
    return { path, message: `This is not YAML: ${error.message}.`, remedy: 'Correct the syntax here.' }
  })
  try {
    if (problems.length === 0) {
      for (const offset of repeatedKeys(document).slice(0, mostProblems)) {
        problems.push({ path: at(offset), message: 'This key is there twice.', remedy: 'Remove one of the two.' })
      }
    }
    if (problems.length > 0) return { problems }
    // A few aliases are a convenience; thousands of copies of copies are an attack.
    return { value: document.toJS({ maxAliasCount: 100 }), problems }
  } catch (error) {
    const message = `Its aliases or its depth cannot be followed: ${error instanceof Error ? error.message : String(error)}.`
    return { problems: [{ path: 'the file', message, remedy: 'Write out what aliases stand for, and nest less.' }] }
  }
}
