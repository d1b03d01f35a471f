/**
 * Measures how easy the source code is to find one's way in, and compares each figure with its ceiling in
 * `house-ceilings.json`: `npm run house`. A figure above its ceiling fails the check. `npm run house -- --accept`
 * lowers the ceilings to the figures. A change that raises one says, in its description, what users get for it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { folderCycles, type Import, importsOf, packages, readSources, type Source } from '../test/imports.ts'
import { footprints } from './footprint.ts'

/** The ceilings: of lines by folder, where a sum of several is written with `+`, and of the other figures. */
interface Ceilings {
  readonly lines: Readonly<Record<string, number>>
  readonly figures: Readonly<Record<string, number>>
}

const { values: options } = parseArgs({
  options: { accept: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
})
const file = new URL('house-ceilings.json', import.meta.url)
const ceilings = JSON.parse(readFileSync(file, 'utf8')) as Ceilings

const all = (await readSources('packages')).filter(
  ({ file }) => /\/src\//.test(file) && !/\.(?:test|fixture)\.tsx?$/.test(file),
)
const sheets = await readSources('packages/console', /\.css$/)
// The pages for people are small programs of their own: only their size and the form of their files count.
const sources = all.filter(({ file }) => !file.startsWith('packages/console/'))
const imports = sources.flatMap(importsOf)
const importers = importersOf(imports)
const cycles = folderCycles(imports)
// A package's front door is small, and the packages behind it are few.
const doors = [...packages].flatMap(([folder, { exports = {} }]) =>
  Object.values(exports).map((target) => join(folder, target)),
)
const small = sources.filter(
  ({ file, text }) => lineCount(text) < 40 && importers.get(file)?.size === 1 && !doors.includes(file),
)
const usedOnce = exportsUsedOnce(sources, imports)
const touched = await footprints()
if (options.list) {
  for (const cycle of cycles) console.log(`cycle: ${cycle.join(' → ')}`)
  for (const { file } of small) console.log(`small, imported once: ${file}`)
  for (const [name, files] of Object.entries(touched)) console.log(`${name}: ${files.join(' ')}`)
}

const measured: { readonly [Kind in keyof Ceilings]: Readonly<Record<string, number>> } = {
  lines: Object.fromEntries(Object.keys(ceilings.lines).map((folders) => [folders, linesOf(folders.split('+'))])),
  figures: {
    files: sources.length,
    'exports with one importing file, in percent': Math.round((100 * usedOnce.once) / usedOnce.all),
    'folders in an import cycle': new Set(cycles.flat()).size,
    'lines over 120 characters': all.flatMap(({ text }) => text.split('\n')).filter((line) => line.length > 120).length,
    'files over 450 lines': all.filter(({ text }) => lineCount(text) > 450).length,
    'files under 40 lines with one importer': small.length,
    'files of a first filtered list': touched.list.length,
    'files of a PATCH with If-Match': touched.patch.length,
    'files of a DELETE with cascade': touched.delete.length,
  },
}

const above: string[] = []
for (const kind of ['lines', 'figures'] as const) {
  for (const [name, figure] of Object.entries(measured[kind])) {
    const ceiling = ceilings[kind][name] ?? 0
    if (figure > ceiling) above.push(name)
    const verdict = figure > ceiling ? 'above' : figure < ceiling ? 'below' : ''
    console.log(`${name.padEnd(46)} ${String(figure).padStart(7)}  ceiling ${String(ceiling).padStart(6)}  ${verdict}`)
  }
}
if (options.accept) {
  const lowest = (kind: keyof Ceilings) =>
    Object.fromEntries(
      Object.entries(ceilings[kind]).map(([name, value]) => [name, Math.min(value, measured[kind][name] ?? value)]),
    )
  const lowered = { lines: lowest('lines'), figures: lowest('figures') }
  writeFileSync(file, `${JSON.stringify(lowered, undefined, 2)}\n`)
}
if (above.length > 0) {
  console.error(
    `Above the ceiling: ${above.join('; ')}. Merge or simplify what this change added. Where users get something for ` +
      'the lines, raise the ceiling in scripts/house-ceilings.json and say what.',
  )
  process.exitCode = 1
}
// The scenarios' harness has loaded the test runner, which would print a summary of no tests.
process.exit()

/** The lines of the sources in some folders. */
function linesOf(folders: readonly string[]): number {
  const within = [...all, ...sheets].filter(({ file }) => folders.some((folder) => file.startsWith(`${folder}/`)))
  return within.reduce((sum, { text }) => sum + lineCount(text), 0)
}

function lineCount(text: string): number {
  return text.split('\n').length - 1
}

/** The files that import each file. */
function importersOf(imports: readonly Import[]): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>()
  for (const { file, target } of imports) {
    if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  }
  return importers
}

/** How many exported names there are, and how many of them exactly one other file imports. */
function exportsUsedOnce(sources: readonly Source[], imports: readonly Import[]): { all: number; once: number } {
  const users = new Map<string, Set<string>>()
  for (const { file, target, names } of imports) {
    for (const name of target === undefined ? [] : names) {
      const key = `${target} ${name}`
      users.set(key, (users.get(key) ?? new Set()).add(file))
    }
  }
  const exported = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/^export (?:abstract |async )?(?:const|let|class|interface|type|function\*?) (\w+)/gm)].map(
      ([, name]) => `${file} ${name}`,
    ),
  )
  return { all: exported.length, once: exported.filter((key) => users.get(key)?.size === 1).length }
}
