/**
 * Reads YAML: declarations and OpenAPI documents. Loaded on demand: the parser is as large as the rest of the program.
 */
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { Problem } from '../model/check/check-declaration.ts'
import type { Parsed } from './read-json.ts'

// One wrong indent can cause thousands.
const mostProblems = 20

/**
 * Reads YAML 1.2, one document. Duplicate keys, unknown tags and more than 100 aliases are refused.
 *
 * @param mostCharacters longer texts are refused: the parser needs seconds for a megabyte
 */
export function readYaml(text: string, mostCharacters = 1_000_000): Parsed {
  if (text.length > mostCharacters) {
    const message = 'YAML of more than a megabyte is not read.'
    return { problems: [{ path: 'the file', message, remedy: 'Write a smaller declaration, or write it in JSON.' }] }
  }
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, strict: true, prettyErrors: false })
    const errors = [...document.errors, ...document.warnings]
    const problems = errors.slice(0, mostProblems).map((error): Problem => {
      const path = at(error.pos[0])
      if (error.code === 'MULTIPLE_DOCS')
        return { path, message: 'A second document begins.', remedy: 'Write one document.' }
      return { path, message: `This is not YAML: ${error.message}.`, remedy: 'Correct the syntax here.' }
    })
    if (problems.length === 0) {
      for (const offset of repeatedKeys(document).slice(0, mostProblems)) {
        problems.push({ path: at(offset), message: 'This key is there twice.', remedy: 'Remove one of the two.' })
      }
    }
    // Thousands of aliases of aliases are an attack.
    return problems.length > 0 ? { problems } : { value: document.toJS({ maxAliasCount: 100 }), problems }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `Its aliases or its depth cannot be followed: ${reason}.`
    return { problems: [{ path: 'the file', message, remedy: 'Write out what aliases stand for, and nest less.' }] }
  }
}

/** The offsets of keys that their map has already. The parser's own check takes quadratic time. */
function repeatedKeys(document: Document.Parsed): number[] {
  const offsets: number[] = []
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : key
        if (keys.has(name)) offsets.push(isNode(key) ? (key.range?.[0] ?? 0) : 0)
        keys.add(name)
      }
    },
  })
  return offsets
}
