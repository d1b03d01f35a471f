/** Runs the compiler on files of the repository, with its settings. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')

/** A message of the compiler. */
export interface Message {
  /** From 1. */
  readonly line: number
  /** All its lines. */
  readonly text: string
}

/**
 * What the compiler says of a source text, which stands in a folder beside the tests, and after it what the command
 * `times` prints.
 */
export async function compile(source: string, ...options: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(import.meta.dirname, '.compiled-'))
  try {
    await writeFile(join(folder, 'source.ts'), source)
    const settings = { extends: '../../../tsconfig.json', include: ['source.ts'] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const command = [process.execPath, compiler, '-p', folder, '--pretty', 'false', ...options]
    return await new Promise((resolve) => {
      execFile('sh', ['-c', '"$0" "$@"; times', ...command], (_, stdout) => resolve(stdout))
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The messages in the compiler's output. */
export function messagesIn(output: string): Message[] {
  return output.split(/^(?=\S+\(\d+,\d+\): )/m).flatMap((text) => {
    const [, line] = /^\S*source\.ts\((\d+),/.exec(text) ?? []
    return line === undefined ? [] : [{ line: Number(line), text: text.slice(text.indexOf(': ') + 2).trim() }]
  })
}
