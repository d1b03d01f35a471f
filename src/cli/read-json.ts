/** Declarations in JSON: syntax errors and keys given twice, with line and column. */
import type { Problem } from '../model/check/check-declaration.ts'
import { duplicateKeys } from './json-duplicates.ts'
import { place } from './text-place.ts'

/** What a text says, or what is wrong with it. */
export interface Parsed {
  readonly value?: unknown
  readonly problems: readonly Problem[]
}

// To find the line of one reads all before it.
const mostDuplicates = 20

/** Reads JSON. A key twice in one object is refused: which one was meant is not known. */
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
    const message = `This is not JSON: ${said.replace(/ (?:in JSON )?at position .*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '')}.`
    return { problems: [{ path: place(text, offset), message, remedy: 'Correct the syntax here.' }] }
  }
}
