/** Reads a declaration from a file (TypeScript, JavaScript, JSON or YAML), checks it and completes it. */
import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { checkDeclaration, DeclarationError, type Problem } from '../model/check/check-declaration.ts'
import type { InterfaceDeclaration } from '../model/declaration.ts'
import type { Catalog } from '../model/resource.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { completeVersions, type Versions } from '../versions/versions.ts'
import { importDeclaration } from './import-declaration.ts'
import { readJson } from './read-json.ts'

export { DeclarationError }

const names = ['resources.ts', 'resources.js', 'resources.mjs', 'resources.json', 'resources.yaml', 'resources.yml']
const modules = ['.ts', '.js', '.mjs', '.mts']
const mostBytes = 5_000_000

/**
 * The declaration file of a folder: the first that exists of `resources.ts`, `.js`, `.mjs`, `.json`, `.yaml`, `.yml`.
 * `undefined`: none.
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
 * Reads a declaration and checks it. A module exports it as default.
 *
 * @throws DeclarationError with all mistakes: syntax errors with line and column, or what `checkDeclaration` finds
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
  const parsed = kind === '.json' ? readJson(text) : (await import('./read-yaml.ts')).readYaml(text)
  if (parsed.problems.length > 0) throw refuse(parsed.problems)
  return parsed.value
}

/**
 * Loads, checks and completes a declaration with all of its versions.
 *
 * @param file default: the declaration in the working directory
 * @throws DeclarationError, ConfigurationError
 */
export async function loadVersions(file: string | undefined): Promise<Versions> {
  const found = file ?? (await findDeclaration('.'))
  if (found === undefined) {
    throw new ConfigurationError(
      'There is no declaration here: write resources.ts, resources.js, resources.json or resources.yaml, or name ' +
        'a file.',
    )
  }
  return completeVersions(await loadDeclaration(found))
}

/** Like `loadVersions`, for commands that only need what is stored. */
export async function loadCatalog(file: string | undefined): Promise<Catalog> {
  return (await loadVersions(file)).stored
}
