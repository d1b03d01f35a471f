/** WHR-3: twenty thousand random questions across relations against a model that sees only what the caller may read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askLibrary } from './ask-library.ts'

test('WHR-2, WHR-3: 20,000 random questions across relations', async () => {
  const first = Number(process.env['RELATED_SEED'] ?? 1_000)
  let found = 0
  for (let seed = first; seed < first + 80; seed++) found += await askLibrary(seed, 250)
  assert.ok(found > 4_000, `${found} questions found something`)
})
