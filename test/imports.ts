/** Reads what source files import from one another, for the tests that guard the structure of the repository. */
import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'

/** One import statement. Paths are relative to the folder that was read, with `/`. */
export interface Import {
  readonly file: string
  readonly line: number
  /** As written: `../spec/faults.ts`, `node:fs`, `ajv`. */
  readonly specifier: string
  /** The file it leads to; `undefined` for a package or a part of Node. */
  readonly target: string | undefined
  readonly typeOnly: boolean
  /** The names that it brings in, as the other file exports them. */
  readonly names: readonly string[]
}

/** A source file and its text. */
export interface Source {
  readonly file: string
  readonly text: string
}

/** Every file of TypeScript or JavaScript below a folder. */
export async function readSources(folder: URL): Promise<Source[]> {
  const names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/')).sort()
  const files = names.filter((name) => /\.[jt]sx?$/.test(name))
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(new URL(file, `${folder}/`), 'utf8') })))
}

// The formatter puts every statement of a module at the start of a line, and comments never begin so.
const statement =
  /^(?:import|export)\b(?<clause>[^'"\n;(]*(?:\{[^}]*\})?[^'"\n;(]*?)\bfrom\s*['"](?<specifier>[^'"]+)['"]/gm
const bare = /^import\s*['"](?<specifier>[^'"]+)['"]/gm
const dynamic = /^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*['"](?<specifier>[^'"]+)['"]/gm

/** The imports of one file: statements, re-exports, side effects, `import()` and the types that it can name. */
export function importsOf({ file, text }: Source): Import[] {
  const found: Import[] = []
  for (const pattern of [statement, bare, dynamic]) {
    for (const match of text.matchAll(pattern)) {
      const specifier = match.groups?.specifier ?? ''
      const line = text.slice(0, match.index).split('\n').length
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined
      const clause = match.groups?.clause ?? ''
      found.push({ file, line, specifier, target, typeOnly: /^\s*type\b/.test(clause), names: namesIn(clause) })
    }
  }
  return found.sort((left, right) => left.line - right.line)
}

/** The names between the braces of an import, without `type` and without what they are called here. */
function namesIn(clause: string): string[] {
  const [, inner = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  return inner.split(',').flatMap((part) => /^\s*(?:type\s+)?(\w+)/.exec(part)?.[1] ?? [])
}

/**
 * The circles in which files import one another, each once, as the files in order.
 * `a → b → a` is `['a', 'b']`.
 */
export function circles(imports: readonly Import[]): string[][] {
  const targets = new Map<string, Set<string>>()
  for (const { file, target } of imports) {
    if (target !== undefined) targets.set(file, (targets.get(file) ?? new Set()).add(target))
  }
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) found.push(path.slice(start))
    if (start >= 0 || done.has(file)) return
    for (const target of targets.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return found
}

/** The circles in which folders import one another, sub-folders included. */
export function folderCycles(imports: readonly Import[]): string[][] {
  const folderOf = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf('/')))
  const between = imports.flatMap((found) => {
    const [file, target] = [folderOf(found.file), found.target === undefined ? '' : folderOf(found.target)]
    return file === '' || target === '' || file === target ? [] : [{ ...found, file, target }]
  })
  return circles(between)
}
