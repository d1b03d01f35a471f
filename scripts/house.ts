/**
 * Measures how easy the source code is to find one's way in, and compares each figure with its target and its baseline:
 * `npm run house`. A figure that is worse than both fails the check. `npm run house -- --accept` records the figures.
 * It records more lines and files too, which a new feature needs: the reviewer sees by how much. It records nothing
 * else that is worse.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { folderCycles, type Import, importsOf, readSources, type Source } from '../test/imports.ts'
import { footprints } from './footprint.ts'

/** The figure that the project wants to reach; the baseline is what it has reached so far. */
const targets = {
  lines: 43_000,
  files: 430,
  'exports with one importing file, in percent': 40,
  'folders in an import cycle': 0,
  'lines over 120 characters': 0,
  'files over 450 lines': 0,
  'files under 40 lines with one importer': 0,
  'files of a first filtered list': 40,
  'files of a PATCH with If-Match': 50,
  'files of a DELETE with cascade': 42,
} as const
type Figure = keyof typeof targets
/** The figures that grow with features. */
const sizes: readonly Figure[] = ['lines', 'files']
type Figures = Record<Figure, number>

const { values: options } = parseArgs({
  options: { accept: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
})
const baselineFile = new URL('house-baseline.json', import.meta.url)

const sources = (await readSources(new URL('../src', import.meta.url))).filter(({ file }) => !isTest(file))
// The pages for people are small programs of their own: only the form of their files counts.
const pageSources = (
  await Promise.all(['../console', '../api-page'].map((path) => readSources(new URL(path, import.meta.url))))
)
  .flat()
  .filter(({ file }) => !isTest(file))
const imports = sources.flatMap(importsOf)
const importers = importersOf(imports)
const cycles = folderCycles(imports)
const small = sources.filter(({ file, text }) => lineCount(text) < 40 && importers.get(file)?.size === 1)
const usedOnce = exportsUsedOnce(sources, imports)
const touched = await footprints()

const figures: Figures = {
  lines: sources.reduce((sum, { text }) => sum + lineCount(text), 0),
  files: sources.length,
  'exports with one importing file, in percent': Math.round((100 * usedOnce.once) / usedOnce.all),
  'folders in an import cycle': new Set(cycles.flat()).size,
  'lines over 120 characters': [...sources, ...pageSources]
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line.length > 120).length,
  'files over 450 lines': [...sources, ...pageSources].filter(({ text }) => lineCount(text) > 450).length,
  'files under 40 lines with one importer': small.length,
  'files of a first filtered list': touched.list.length,
  'files of a PATCH with If-Match': touched.patch.length,
  'files of a DELETE with cascade': touched.delete.length,
}

if (options.list) {
  for (const cycle of cycles) console.log(`cycle: ${cycle.join(' → ')}`)
  for (const { file } of small) console.log(`small, imported once: ${file}`)
  for (const [name, files] of Object.entries(touched)) console.log(`${name}: ${files.join(' ')}`)
}
const baseline = JSON.parse(readFileSync(baselineFile, 'utf8')) as Figures
const isWorse = (name: Figure) => figures[name] > Math.max(baseline[name], targets[name])
for (const [name, figure] of Object.entries(figures) as [Figure, number][]) {
  const verdict = isWorse(name) ? 'worse' : figure < baseline[name] ? 'better' : ''
  console.log(
    `${name.padEnd(46)} ${figure}`.padEnd(56),
    `baseline ${baseline[name]}, target ${targets[name]}  ${verdict}`,
  )
}
const worse = (Object.keys(targets) as Figure[]).filter(isWorse)
if (options.accept && worse.every((name) => sizes.includes(name))) {
  writeFileSync(baselineFile, `${JSON.stringify(figures, undefined, 2)}\n`)
} else if (worse.length > 0) {
  console.error(
    `Worse than the baseline: ${worse.join('; ')}. Merge or simplify what this change added, then run it again. ` +
      'Lines and files that a new feature needs are recorded with: npm run house -- --accept',
  )
  process.exitCode = 1
}
// The scenarios' harness has loaded the test runner, which would print a summary of no tests.
process.exit()

function isTest(file: string): boolean {
  return /\.(?:test|fixture)\.tsx?$/.test(file)
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
