/** WHR-3: random declarations, rules, records and conditions against a model. `related.release.test.ts` asks many more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askLibrary } from './ask-library.ts'

test('WHR-2, WHR-3: random questions across relations find what a reader of the readable would find', async () => {
  let found = 0
  for (let seed = 1; seed <= 4; seed++) found += await askLibrary(seed, 250)
  assert.ok(found > 200, `${found} questions found something`)
})
