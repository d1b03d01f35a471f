/** Reads JSON: declarations and OpenAPI documents. Reports syntax errors and duplicate keys with line and column. */
import type { Problem } from '../model/check/check-declaration.ts'

/** The value of a text, or what is wrong with the text. */
export interface Parsed {
  readonly value?: unknown
  readonly problems: readonly Problem[]
}

// Finding the line of each one reads all lines before it.
const mostDuplicates = 20

/** Reads JSON. Duplicate keys are refused: `JSON.parse` would silently take the second value. */
export function readJson(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    const problems = duplicateKeys(text)
      .slice(0, mostDuplicates)
      .map(({ key, offset }) => ({
        path: place(text, offset),
        message: `The key ${JSON.stringify(key)} is there twice.`,
        remedy: 'Remove one of the two.',
      }))
    return { value, problems }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    const at = /at position (\d+)/.exec(said)
    const offset = at === null ? text.length : Number(at[1])
    const reason = said.replace(/ (?:in JSON )?at position .*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '')
    const message = `This is not JSON: ${reason}.`
    return { problems: [{ path: place(text, offset), message, remedy: 'Correct the syntax here.' }] }
  }
}

/** A key that its object has already. */
interface DuplicateKey {
  readonly key: string
  /** The offset of its opening quote, in UTF-16 units. */
  readonly offset: number
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
      if (keys.has(key)) duplicates.push({ key, offset: index })
      keys.add(key)
    }
  }
  return duplicates
}

/** The line and column of an offset, counted from 1. */
function place(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
