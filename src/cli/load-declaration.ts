/** Reads a declaration from a file: TypeScript, JavaScript, JSON or YAML. */
import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { checkDeclaration, DeclarationError, type Problem } from '../model/check.ts'
import type { InterfaceDeclaration } from '../model/declaration.ts'
import { importDeclaration } from './import-declaration.ts'
import { duplicateKeys } from './json-duplicates.ts'
import { place } from './text-place.ts'

export { DeclarationError }

const names = ['resources.ts', 'resources.js', 'resources.mjs', 'resources.json', 'resources.yaml', 'resources.yml']
const modules = ['.ts', '.js', '.mjs', '.mts']
const mostBytes = 5_000_000

/**
 * The declaration of a folder: the first of `resources.ts`, `.js`, `.mjs`, `.json`, `.yaml`, `.yml` that is there.
 * `undefined` where there is none.
 */
export async function findDeclaration(folder: string): Promise<string | undefined> {
  for (const name of names) {
    const file = join(folder, name)
    const found = await access(file, constants.R_OK).then(
      () => true,
      () => false,
    )
    if (found) return file
  }
  return undefined
}

/**
 * Reads a declaration and checks it. A module gives it as its default export.
 *
 * @throws DeclarationError with everything that is wrong: syntax (with line and column), or what the declaration says
 */
export async function loadDeclaration(file: string): Promise<InterfaceDeclaration> {
  const path = resolve(file)
  const declaration = await read(path, file)
  const problems = checkDeclaration(declaration)
  if (problems.length > 0) throw new DeclarationError(problems, file)
  return declaration as InterfaceDeclaration
}

async function read(path: string, file: string): Promise<unknown> {
  const refuse = (problems: readonly Problem[]) => new DeclarationError(problems, file)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || !found.isFile()) {
    const message = found === undefined ? 'There is no such file.' : 'This is not a file.'
    throw refuse([
      { path: file, message, remedy: 'Name a file, or write resources.ts, resources.json or resources.yaml.' },
    ])
  }
  const kind = extname(path).toLowerCase()
  if (found.size > mostBytes) {
    throw refuse([{ path: file, message: 'is larger than five megabytes', remedy: 'Write a smaller declaration.' }])
  }
  if (modules.includes(kind)) {
    const imported = await importDeclaration(path)
    if (imported.kind === 'failed') throw refuse([imported.problem])
    return imported.value
  }
  if (kind !== '.json' && kind !== '.yaml' && kind !== '.yml') {
    throw refuse([
      { path: basename(file), message: 'is of no known kind', remedy: 'Name it .ts, .js, .mjs, .json, .yaml or .yml.' },
    ])
  }
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  const parsed = kind === '.json' ? readJson(text) : readYaml(text)
  if (parsed.problems.length > 0) throw refuse(parsed.problems)
  return parsed.value
}

/** What a text says, or what is wrong with it. */
interface Parsed {
  readonly value?: unknown
  readonly problems: readonly Problem[]
}

/** Reads JSON. A key twice in one object is refused: which one was meant is not known. */
export function readJson(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text)
    const problems = duplicateKeys(text).map(({ key, offset }) => ({
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
