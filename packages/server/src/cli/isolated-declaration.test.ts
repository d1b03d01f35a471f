import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { declarationOf, isSameContent, tryDeclaration } from './isolated-declaration.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-isolated-'))
after(() => rmSync(folder, { recursive: true }))

function save(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const module = (code: string) => `${code}\nexport default { name: 'notes', resources: {} }\n`

const failing: readonly [string, RegExp, limit?: number][] = [
  ['for (;;) {}', /endless\.mjs is not loaded after 0\.3 seconds: look for an endless loop/, 300],
  ['setInterval(() => {}, 9); await new Promise(() => {})', /is not loaded after 0\.3 seconds/, 300],
  ['await new Promise(() => {})', /ends the process while it is loaded, or awaits what never happens\.$/],
  ['process.exit(0)', /ends the process while it is loaded/],
  ['console.log("printed"); throw new Error("thrown")', /^printed\n[\s\S]*It throws Error: thrown/],
]
for (const [code, message, limit] of failing) {
  test(`a declaration fails alone: ${code}`, async () => {
    const attempt = await tryDeclaration(save('endless.mjs', module(code)), { limit })
    assert.ok(attempt.kind === 'failed')
    assert.match(attempt.message, message)
  })
}

test('a module is imported from the sources that were tried, whatever its files have become', async () => {
  save('title.mjs', "export const title = 'tried'")
  const file = save(
    'resources.mjs',
    `import { title } from './title.mjs'
     export default { name: 'notes', title, resources: { notes: { fields: { text: { type: 'string' } }, access: { read: () => true } } } }`,
  )
  const reads: string[] = []
  const attempt = await tryDeclaration(file, { onRead: (path) => reads.push(path) })
  assert.ok(attempt.kind === 'loaded', JSON.stringify(attempt))
  assert.deepEqual([...new Set(reads)], [file, join(folder, 'title.mjs')])
  save('title.mjs', 'for (;;) {}')
  save('resources.mjs', 'for (;;) {}')
  const declaration = await declarationOf(attempt.content, file)
  assert.equal(declaration.title, 'tried')
  assert.equal(typeof declaration.resources.notes?.access?.read, 'function')
})

test('attempts are the same where they have read the same, in the same order', async () => {
  const contentOf = async (text: string) => {
    const attempt = await tryDeclaration(save('resources.json', text))
    assert.ok(attempt.kind === 'loaded', JSON.stringify(attempt))
    return attempt.content
  }
  const [notes, lists] = [
    '"notes": { "fields": { "a": { "type": "string" } } }',
    '"lists": { "fields": { "a": { "type": "string" } } }',
  ]
  const first = await contentOf(`{ "name": "notes", "resources": { ${notes}, ${lists} } }`)
  const same = await contentOf(`{ "name": "notes",\n "resources": { ${notes}, ${lists} } }`)
  const other = await contentOf(`{ "name": "notes", "resources": { ${lists}, ${notes} } }`)
  assert.equal(isSameContent(first, same), true)
  assert.equal(isSameContent(first, other), false)
})
