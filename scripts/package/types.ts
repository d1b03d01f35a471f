/** The declarations of the public names, and of what they refer to. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { behindDoor } from '../../test/imports.ts'
import type { Files } from './bundle.ts'
import { type Contents, declarationFile, root } from './contents.ts'

const specifier = /(\bfrom\s*|\bimport\(\s*|^import\s*)(['"])(\.[^'"]+?)\.ts\2/gm

const ours = /(\bfrom\s*|\bimport\(\s*|^import\s*)(['"])(resourced-[^'"]+)\2/gm

/** Declaration files by their paths: those that the modules of the package lead to. */
export async function declarations(contents: Contents): Promise<Files> {
  const { nodeModules, webModules } = contents
  const modules = Object.keys({ ...nodeModules, ...webModules })
  if (modules.length === 0) return new Map()
  const folder = await mkdtemp(join(tmpdir(), 'resourced-types-'))
  try {
    const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))
    const project = fileURLToPath(new URL('tsconfig.json', import.meta.url))
    const run = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', folder], { encoding: 'utf8' })
    if (run.status !== 0) throw new Error(`The declarations cannot be written:\n${run.stdout}${run.stderr}`)
    return await reachable(folder, contents)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function reachable(folder: string, { nodeModules, webModules }: Contents): Promise<Files> {
  const found = new Map<string, string>()
  const entries = Object.values(nodeModules).map(declarationFile)
  const waiting = [...entries, ...Object.values(webModules).map(declarationFile)]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    const written = await readFile(join(folder, file), 'utf8')
    // Packages of ours are folders beside one another in the package.
    const text = written.replace(ours, (_, before: string, quote: string, name: string) => {
      const source = behindDoor(name)
      if (source === undefined) throw new Error(`${file} names ${name}, which is no door of a package.`)
      const path = posix.relative(posix.dirname(file), declarationFile(source).replace(/\.d\.ts$/, '.ts'))
      return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    })
    for (const [, , , path = ''] of text.matchAll(specifier)) {
      waiting.push(`${posix.join(posix.dirname(file), path)}.d.ts`)
    }
    found.set(file, text.replace(specifier, '$1$2$3.js$2'))
  }
  // Whatever `types` the application's compiler is set to: the declarations name those of Node.js.
  for (const file of entries) found.set(file, `/// <reference types="node" />\n${found.get(file)}`)
  return found
}
