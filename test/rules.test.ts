/** Every rule of this release is cited by a scenario, and nothing cites a rule that does not exist. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ruleSections, rules } from 'resourced-contract/spec/rules'

const root = new URL('../', import.meta.url)
const citation = new RegExp(`\\b(?:${ruleSections.map((section) => section.prefix).join('|')})-\\d+\\b`, 'g')

/**
 * The rule numbers in a text. Where `code` is set, lines of comment do not count: a scenario names its rule in its
 * table or title.
 */
function citations(text: string, code = false): string[] {
  const lines = text.split('\n').filter((line) => !code || !/^\s*(?:\/\/|\/?\*)/.test(line))
  return lines.flatMap((line) => line.match(citation) ?? [])
}

async function texts(folder: string, wanted: (file: string) => boolean): Promise<{ file: string; text: string }[]> {
  const names = await readdir(new URL(folder, root), { recursive: true })
  const files = names
    .map((name) => `${folder}${name.replaceAll('\\', '/')}`)
    .filter(wanted)
    .sort()
  return Promise.all(files.map(async (file) => ({ file, text: await readFile(new URL(file, root), 'utf8') })))
}

// Tests of the rules themselves cite them without showing that they hold.
const aboutRules = [
  'test/rules.test.ts',
  'packages/contract/src/spec/rules.test.ts',
  'test/documentation/reference.test.ts',
]
const isScenario = (file: string) =>
  !aboutRules.includes(file) && (file.startsWith('test/') ? file.endsWith('.ts') : file.endsWith('.test.ts'))

test('every rule of this release is cited by a scenario', async () => {
  const scenarios = [...(await texts('test/', isScenario)), ...(await texts('packages/', isScenario))]
  const cited = new Set(scenarios.flatMap(({ text }) => citations(text, true)))
  const missing = rules.filter((rule) => !cited.has(rule.id))
  assert.deepEqual(
    missing.map((rule) => `${rule.id}: ${rule.sentence}`),
    [],
  )
})

test('nothing cites a rule that does not exist', async () => {
  const known = new Set<string>(rules.map((rule) => rule.id))
  const isText = (file: string) => /\.(?:ts|md|yaml|json)$/.test(file)
  const all = (
    await Promise.all(['packages/', 'test/', 'docs/', 'examples/'].map((folder) => texts(folder, isText)))
  ).flat()
  const wrong = all.flatMap(({ file, text }) =>
    citations(text).flatMap((id) => (known.has(id) ? [] : [`${file} cites ${id}`])),
  )
  assert.deepEqual(wrong, [])
})

test('citations are read from tables and titles, and not from comments', () => {
  const text = "// RES-1\n * RES-2\n  rule: 'RES-3',\n  rules: ['MET-4', \"MET-5\"],\ntest('PAG-6: walks', …)\nSHA-256"
  assert.deepEqual(citations(text, true), ['RES-3', 'MET-4', 'MET-5', 'PAG-6'])
  assert.deepEqual(citations(text).length, 6)
})
