/** Imports declarations that are modules. They can import 'resourced'; errors have line and column. */
import { readFile } from 'node:fs/promises'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Problem } from '../model/check/check-declaration.ts'

/** The default export of a module, or why there is none. */
export type Imported =
  | { readonly kind: 'imported'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly problem: Problem }

// Sources run as they are, and compiled they are .js: the entry point is named alike.
const ownEntry = new URL(`../index${extname(fileURLToPath(import.meta.url))}`, import.meta.url).href
let hooked = false

/** Resolves `import 'resourced'` to this program, wherever the declaration is. */
function answerToOwnName(): void {
  if (hooked) return
  hooked = true
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'resourced' ? { url: ownEntry, shortCircuit: true } : next(specifier, context),
  })
}

/**
 * Imports a module and gives its default export. A module is imported once in the life of the program.
 *
 * @param path absolute
 */
export async function importDeclaration(path: string): Promise<Imported> {
  answerToOwnName()
  try {
    const module: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href)
    if (module.default !== undefined) return { kind: 'imported', value: module.default }
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
    const missing = /Cannot find (?:module|package) '([^']+)'/.exec(error.message)?.[1] ?? 'something'
    return failed('the file', `It imports ${missing}, which is not there.`, 'Install it, or correct the import.')
  }
  const stack = error.stack ?? ''
  if (!(error instanceof SyntaxError)) {
    // The innermost line of the stack that is in the declaration itself.
    const own = stack.split('\n').find((line) => line.includes(pathToFileURL(path).href)) ?? ''
    const at = /:(\d+):(\d+)\)?$/.exec(own)
    const where = at === null ? 'the file' : `line ${at[1]}, column ${at[2]}`
    return failed(where, `It throws ${error.name}: ${error.message}`, 'Correct what throws here.')
  }
  const where = codeFrame(stack) ?? codeFrame(await syntaxError(path))
  return failed(where ?? 'the file', `The syntax is wrong: ${error.message}`, 'Correct the syntax here.')
}

/** Line and column from the frame that Node's TypeScript parser puts before its error: `file:3`, lines, a caret. */
function codeFrame(stack: string): string | undefined {
  const line = /^[^\n]*:(\d+)\n/.exec(stack)?.[1]
  const caret = /\n([ \t]*)\^/.exec(stack)?.[1]
  if (line === undefined || caret === undefined) return undefined
  return `line ${line}, column ${caret.length + 1}`
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
