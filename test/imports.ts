/** Reads what source files import from one another, for the tests that guard the structure of the repository. */
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'

const root = new URL('../', import.meta.url)

/** One import statement. Paths are relative to the root of the repository, with `/`. */
export interface Import {
  readonly file: string
  readonly line: number
  /** As written: `../spec/faults.ts`, `node:fs`, `ajv`. */
  readonly specifier: string
  /** The file it leads to, through the front door of a package of ours too; `undefined` for others and parts of Node. */
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

/**
 * Every file of TypeScript or JavaScript below a folder of the repository, such as `packages/server/src`.
 *
 * @param kinds other kinds of files
 */
export async function readSources(folder: string, kinds = /\.[jt]sx?$/): Promise<Source[]> {
  const names = (await readdir(new URL(folder, root), { recursive: true })).map((name) => name.replaceAll('\\', '/'))
  const files = names.filter((name) => kinds.test(name)).sort()
  return Promise.all(
    files.map(async (name) => {
      const file = `${folder}/${name}`
      return { file, text: await readFile(new URL(file, root), 'utf8') }
    }),
  )
}

/** The manifest of a package of ours, as far as imports depend on it. */
interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
}

/** The packages of the repository, by their folders: `packages/server`. */
export const packages: ReadonlyMap<string, Manifest> = new Map(
  readdirSync(new URL('packages', root)).map((name) => [
    `packages/${name}`,
    JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, root), 'utf8')) as Manifest,
  ]),
)

/** The file behind the front door of a package of ours; `undefined`: the package is another's, or has no such door. */
export function behindDoor(specifier: string): string | undefined {
  for (const [folder, { name, exports = {} }] of packages) {
    if (specifier !== name && !specifier.startsWith(`${name}/`)) continue
    const door = `.${specifier.slice(name.length)}`
    for (const [each, target] of Object.entries(exports)) {
      const [start = '', end] = each.split('*')
      const matches = end === undefined ? door === each : door.startsWith(start) && door.endsWith(end)
      if (matches) return posix.join(folder, target.replace('*', door.slice(start.length)))
    }
  }
  return undefined
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
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : behindDoor(specifier)
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
