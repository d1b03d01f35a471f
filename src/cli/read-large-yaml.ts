/** YAML of large documents: to find keys given twice the parser itself takes time by the square of a map's size. */
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'

/** What a text says, or the first thing that is wrong with it: place and sentence. */
export type LargeYaml =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string }

/** Reads YAML 1.2, one document. Keys given twice, unknown tags and aliases without end are refused. */
export function readLargeYaml(text: string): LargeYaml {
  const lines = new LineCounter()
  const at = (offset: number) => `line ${lines.linePos(offset).line}, column ${lines.linePos(offset).col}`
  try {
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
    const [error] = [...document.errors, ...document.warnings]
    if (error !== undefined)
      return { problem: `${at(error.pos[0])}: this is not YAML: ${error.message}. Correct the syntax here.` }
    const [twice] = repeatedKeys(document)
    const problem = twice === undefined ? undefined : `${at(twice)}: this key is there twice. Remove one of the two.`
    // A few aliases are a convenience; thousands of copies of copies are an attack.
    return problem === undefined ? { value: document.toJS({ maxAliasCount: 100 }) } : { problem }
  } catch (error) {
    return { problem: `the file: it cannot be read: ${error instanceof Error ? error.message : String(error)}.` }
  }
}

/** Where keys stand that their map has already, as offsets. */
export function repeatedKeys(document: Document.Parsed): number[] {
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
