/**
 * Reads a declaration from a file (TypeScript, JavaScript, JSON or YAML), checks it and completes it. Modules can
 * import 'resourced'; their errors have line and column.
 */
import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { basename, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import { DeclarationError, type Problem } from 'resourced-contract/model/check/problem'
import { placeName, SourceText } from 'resourced-contract/model/check/source-place'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Catalog } from 'resourced-contract/model/resource'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { completeVersions, type Versions } from '../versions/versions.ts'
import { type Parsed, readJson } from './read-json.ts'

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
  const { value, locate } = await read(path, file)
  const problems = checkDeclaration(value, locate)
  if (problems.length > 0) throw new DeclarationError(problems, file)
  return value as InterfaceDeclaration
}

async function read(path: string, file: string): Promise<Parsed> {
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
    return { value: imported.value, problems: [] }
  }
  if (kind !== '.json' && kind !== '.yaml' && kind !== '.yml') {
    throw refuse([
      { path: basename(file), message: 'is of no known kind', remedy: 'Name it .ts, .js, .mjs, .json, .yaml or .yml.' },
    ])
  }
  const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  const parsed = kind === '.json' ? readJson(text) : (await import('./read-yaml.ts')).readYaml(text)
  if (parsed.problems.length > 0) throw refuse(parsed.problems)
  if (kind !== '.json' || checkDeclaration(parsed.value).length === 0) return parsed
  // Only declarations with mistakes need the places of their parts, which another parser finds.
  return { ...parsed, locate: (await import('./read-yaml.ts')).locateJson(text) }
}

/**
 * Loads, checks and completes a declaration with all of its versions.
 *
 * @param file default: the declaration in the working directory
 * @param basePath the beginning of every address, such as `/api`
 * @throws DeclarationError, ConfigurationError
 */
export async function loadVersions(file: string | undefined, basePath?: string): Promise<Versions> {
  const found = file ?? (await findDeclaration('.'))
  if (found === undefined) {
    throw new ConfigurationError(
      'There is no declaration here: write resources.ts, resources.js, resources.json or resources.yaml, or name ' +
        'a file.',
    )
  }
  return completeVersions(await loadDeclaration(found), basePath)
}

/** Like `loadVersions`, for commands that only need what is stored. */
export async function loadCatalog(file: string | undefined): Promise<Catalog> {
  return (await loadVersions(file)).stored
}

/** The default export of a module, or why there is none. */
export type Imported =
  | { readonly kind: 'imported'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly problem: Problem }

/** The module that `import 'resourced'` leads to in a declaration. */
export const ownEntry = import.meta.resolve('resourced')
let hooked = false

/** Resolves `import 'resourced'` to this program, wherever the declaration is. */
function answerToOwnName(): void {
  // Bun has no hooks: there, declarations import the package that is installed beside them.
  if (hooked || registerHooks === undefined) return
  hooked = true
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'resourced' ? { url: ownEntry, shortCircuit: true } : next(specifier, context),
  })
}

/** Imports a module that may import 'resourced', and gives its default export. */
export async function importDefault(url: string): Promise<unknown> {
  answerToOwnName()
  const module: Readonly<Record<string, unknown>> = await import(url)
  return module.default
}

/**
 * Imports a module and gives its default export, or says why there is none. A module is imported once in the life of
 * the program.
 *
 * @param path absolute
 */
async function importDeclaration(path: string): Promise<Imported> {
  try {
    const value = await importDefault(pathToFileURL(path).href)
    if (value !== undefined) return { kind: 'imported', value }
    const remedy = 'Write export default defineInterface({ … }).'
    return failed('the file', 'Nothing is exported as default.', remedy)
  } catch (error) {
    return explain(path, error)
  }
}

function failed(path: string, message: string, remedy: string): Imported {
  return { kind: 'failed', problem: { path, message, remedy } }
}

async function explain(path: string, error: unknown): Promise<Imported> {
  if (!(error instanceof Error)) return failed('the file', `It throws ${String(error)}.`, 'Correct what throws.')
  const code = Reflect.get(error, 'code')
  if (code === 'ERR_MODULE_NOT_FOUND') {
    // In the words of Node.js and Bun, or of Deno.
    const missing = /(?:Cannot find (?:module|package)|Import) ['"]([^'"]+)['"]/.exec(error.message)?.[1] ?? 'something'
    return failed('the file', `It imports ${missing}, which is not there.`, 'Install it, or correct the import.')
  }
  const stack = error.stack ?? ''
  const own = `${pathToFileURL(path).href}:`
  // The innermost line of the stack that is in the declaration itself.
  const thrower = stack.split('\n').find((line) => line.includes(own)) ?? ''
  const isSyntax = error instanceof SyntaxError
  const at = isSyntax ? (parserFrame(stack) ?? parserFrame(await syntaxError(path))) : stackFrame(thrower)
  const source = at && new SourceText(await readFile(path, 'utf8').catch(() => '')).at(...at)
  const message = isSyntax ? `The syntax is wrong: ${error.message}` : `It throws ${error.name}: ${error.message}`
  const remedy = isSyntax ? 'Correct the syntax here.' : 'Correct what throws here.'
  if (source === undefined) return failed('the file', message, remedy)
  return { kind: 'failed', problem: { path: placeName(source), message, remedy, source } }
}

type LineAndColumn = readonly [line: number, column: number]

/** Line and column from the frame that Node's TypeScript parser puts before its error: `file:3`, lines, a caret. */
function parserFrame(stack: string): LineAndColumn | undefined {
  const line = /^[^\n]*:(\d+)\n/.exec(stack)?.[1]
  const caret = /\n([ \t]*)\^/.exec(stack)?.[1]
  return line === undefined || caret === undefined ? undefined : [Number(line), caret.length + 1]
}

function stackFrame(line: string): LineAndColumn | undefined {
  const at = /:(\d+):(\d+)\)?$/.exec(line)
  return at === null ? undefined : [Number(at[1]), Number(at[2])]
}

/** V8 does not give the place of a syntax error in a module. The TypeScript parser does, for JavaScript too. */
async function syntaxError(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const warn = process.emitWarning
  // Node would warn that the parser is experimental.
  process.emitWarning = () => {}
  try {
    stripTypeScriptTypes(text)
    return ''
  } catch (error) {
    return error instanceof Error ? (error.stack ?? '') : ''
  } finally {
    process.emitWarning = warn
  }
}
