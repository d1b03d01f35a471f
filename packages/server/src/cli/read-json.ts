/** Reads JSON: declarations and OpenAPI documents. Reports syntax errors and duplicate keys with line and column. */
import type { Locate } from 'resourced-contract/model/check/check-declaration'
import type { Problem } from 'resourced-contract/model/check/problem'
import { placeName, SourceText } from 'resourced-contract/model/check/source-place'
import { findSyntaxProblem } from 'resourced-contract/model/json/syntax-problem'

/** The value of a text, or what is wrong with the text. */
export interface Parsed {
  readonly value?: unknown
  readonly problems: readonly Problem[]
  /** Finds the places of the value's parts in the text. */
  readonly locate?: Locate | undefined
}

// Finding the line of each one reads all lines before it.
const mostDuplicates = 20

/** Reads JSON. Duplicate keys are refused: `JSON.parse` would silently take the second value. */
export function readJson(text: string): Parsed {
  const source = new SourceText(text)
  const problem = (range: readonly [start: number, end: number], message: string, remedy: string): Problem => {
    const place = source.place(...range)
    return { path: placeName(place), message, remedy, source: place }
  }
  try {
    const value: unknown = JSON.parse(text)
    const problems = duplicateKeys(text)
      .slice(0, mostDuplicates)
      .map(({ key, range }) =>
        problem(range, `The key ${JSON.stringify(key)} is there twice.`, 'Remove one of the two.'),
      )
    return { value, problems }
  } catch (error) {
    const { offset, message } = findSyntaxProblem(text) ?? { offset: 0, message: String(error) }
    return { problems: [problem([offset, offset + 1], `This is not JSON. ${message}`, 'Correct the syntax here.')] }
  }
}

/** A key that its object has already. */
interface DuplicateKey {
  readonly key: string
  /** The offsets of its opening quote and after its closing quote, in UTF-16 units. */
  readonly range: readonly [start: number, end: number]
}

const colon = /\s*:/y

/** Finds the duplicate keys of a text that `JSON.parse` accepts. */
function duplicateKeys(text: string): DuplicateKey[] {
  const duplicates: DuplicateKey[] = []
  // One set of keys for each open object, `undefined` for each open array.
  const open: (Set<string> | undefined)[] = []
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/gs)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else {
      const keys = open.at(-1)
      // In an object, a string is a key where a colon follows.
      colon.lastIndex = index + token.length
      if (keys === undefined || !colon.test(text)) continue
      const key = JSON.parse(token) as string
      if (keys.has(key)) duplicates.push({ key, range: [index, index + token.length] })
      keys.add(key)
    }
  }
  return duplicates
}
