/** Which test files follow the engine: those that reach it by their imports. */
import { importsOf, readSources } from '../imports.ts'

const door = 'test/postgres/database.ts'

/** A test file, and whether it follows the engine. */
export interface TestFile {
  /** From the root of the repository: `test/scenarios/core/del.test.ts`. */
  readonly file: string
  readonly text: string
  readonly follows: boolean
}

/** Every test file of the repository. */
export async function testFiles(): Promise<TestFile[]> {
  const sources = await Promise.all(['packages', 'test'].map((folder) => readSources(folder)))
  const targets = new Map(
    sources.flat().map((source) => [source.file, importsOf(source).flatMap(({ target }) => target ?? [])]),
  )
  const known = new Map([[door, true]])
  const follows = (file: string): boolean => {
    const found = known.get(file)
    if (found !== undefined) return found
    known.set(file, false)
    const reached = (targets.get(file) ?? []).some(follows)
    known.set(file, reached)
    return reached
  }
  return sources
    .flat()
    .filter(({ file }) => file.endsWith('.test.ts'))
    .map(({ file, text }) => ({ file, text, follows: follows(file) }))
}
