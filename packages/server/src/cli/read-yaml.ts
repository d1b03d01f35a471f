/**
 * Reads YAML: declarations and OpenAPI documents. Loaded on demand: the parser is as large as the rest of the program.
 */

import type { Locate } from 'resourced-contract/model/check/check-declaration'
import type { Problem } from 'resourced-contract/model/check/problem'
import { placeName, SourceText } from 'resourced-contract/model/check/source-place'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, parseDocument, visit } from 'yaml'
import type { Parsed } from './read-json.ts'

// One wrong habit can cause thousands of mistakes in keys.
const mostProblems = 20

// The parser needs seconds for a megabyte.
const defaultMost = 1_000_000

// The schema is set because a document of YAML 1.1 would read `no` as false, and dates as objects.
const options = { schema: 'core', uniqueKeys: false, strict: true, prettyErrors: false } as const

/**
 * Reads YAML 1.2, one document. Keys are the texts that the document has (`null`, not the value null). Duplicate keys,
 * keys that are no texts, merge keys, unknown tags and more than 100 aliases are refused.
 *
 * @param mostCharacters longer texts are refused
 */
export function readYaml(text: string, mostCharacters = defaultMost): Parsed {
  if (text.length > mostCharacters) {
    const message = 'YAML of more than a megabyte is not read.'
    return { problems: [{ path: 'the file', message, remedy: 'Write a smaller declaration, or write it in JSON.' }] }
  }
  const source = new SourceText(text)
  const problem = ({ range, message, remedy }: Mistake): Problem => {
    const place = source.place(range[0], range[1])
    return { path: placeName(place), message, remedy, source: place }
  }
  try {
    const document = parseDocument(text, options)
    const mistakes = syntaxMistakes(document) ?? keyMistakes(document)
    if (mistakes.length > 0) return { problems: mistakes.slice(0, mostProblems).map(problem) }
    // Thousands of aliases of aliases are an attack.
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return { value, problems: [], locate: locateIn(document, source) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `Its aliases or its depth cannot be followed: ${reason}.`
    return { problems: [{ path: 'the file', message, remedy: 'Write out what aliases stand for, and nest less.' }] }
  }
}

/**
 * Finds the places of the parts of a JSON text, which is YAML too.
 *
 * @param text that `JSON.parse` accepts
 * @returns `undefined` if the text is too long
 */
export function locateJson(text: string): Locate | undefined {
  return text.length > defaultMost ? undefined : locateIn(parseDocument(text, options), new SourceText(text))
}

/** A mistake at a range of offsets. */
interface Mistake {
  readonly range: readonly [start: number, end: number]
  readonly message: string
  readonly remedy: string
}

/** The first syntax error, because others follow from it, or else all warnings; `undefined`: there are none. */
function syntaxMistakes({ errors, warnings }: Document.Parsed): Mistake[] | undefined {
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first !== undefined) return [syntaxMistake(first)]
  return warnings.length > 0 ? warnings.map(syntaxMistake) : undefined
}

function syntaxMistake({ code, message, pos }: Document.Parsed['errors'][number]): Mistake {
  const range = [pos[0], pos[1]] as const
  if (code === 'MULTIPLE_DOCS') return { range, message: 'A second document begins.', remedy: 'Write one document.' }
  const remedy = code === 'TAB_AS_INDENT' ? 'Indent with spaces.' : 'Correct the syntax here.'
  return { range, message: `This is not YAML: ${message}.`, remedy }
}

/**
 * Reads each scalar key as the text that it is in the document, and finds mistakes in keys: the parser's own check for
 * duplicates takes quadratic time.
 */
function keyMistakes(document: Document.Parsed): Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>()
      for (const { key } of map.items) {
        const [start, end] = (isNode(key) ? key.range : undefined) ?? [0, 0]
        const report = (message: string, remedy: string) => mistakes.push({ range: [start, end], message, remedy })
        if (!isScalar(key)) {
          report('This key is not a text.', 'Write a name before the colon.')
          continue
        }
        if (typeof key.value !== 'string') key.value = key.source ?? String(key.value)
        if (keys.has(key.value)) report('This key is there twice.', 'Remove one of the two.')
        else if (key.value === '<<') {
          const remedy = 'Write the keys out, or use an alias for a whole value.'
          report('This is a merge key, which YAML 1.2 does not have.', remedy)
        }
        keys.add(key.value)
      }
    },
  })
  return mistakes
}

/** Finds parts by their steps. Values of several lines have the place of their key. */
function locateIn(document: Document.Parsed, source: SourceText): Locate {
  return (steps, isKey) => {
    let node: unknown = document.contents
    let range = rangeOf(node)
    for (const step of steps) {
      const child = childOf(node, step)
      if (child === undefined) break
      node = child.value
      const value = isScalar(node) || isAlias(node) || child.key === undefined ? rangeOf(node) : undefined
      range = (isKey ? undefined : value) ?? rangeOf(child.key) ?? range
      if (isAlias(node)) node = node.resolve(document)
    }
    return range === undefined ? undefined : source.place(range[0], range[1])
  }
}

/** The range of a node that has characters. */
function rangeOf(node: unknown): readonly [start: number, end: number] | undefined {
  const range = isNode(node) ? node.range : undefined
  return range && range[1] > range[0] ? [range[0], range[1]] : undefined
}

function childOf(
  parent: unknown,
  step: string | number,
): { readonly key: unknown; readonly value: unknown } | undefined {
  if (isSeq(parent)) {
    const value = parent.items[Number(step)]
    return value === undefined ? undefined : { key: undefined, value }
  }
  return isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === step) : undefined
}
