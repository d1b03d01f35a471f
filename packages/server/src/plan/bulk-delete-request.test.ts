import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBulkIds } from './plan-request.ts'

const wrong: readonly (readonly [name: string, body: unknown, issues: readonly string[]])[] = [
  ['no object', ['a'], ['INVALID_TYPE ']],
  ['nothing', null, ['INVALID_TYPE ']],
  ['no ids', {}, ['REQUIRED /ids']],
  ['ids that are no array', { ids: 'a' }, ['REQUIRED /ids']],
  ['an empty array', { ids: [] }, ['TOO_FEW_ITEMS /ids']],
  ['too many', { ids: ['a', 'b', 'c', 'd'] }, ['TOO_MANY_ITEMS /ids']],
  ['one twice', { ids: ['a', 'b', 'a'] }, ['INVALID_VALUE /ids/2']],
  ['what is no text', { ids: ['a', 1, null] }, ['INVALID_TYPE /ids/1', 'INVALID_TYPE /ids/2']],
  ['a dry run that is no boolean', { ids: ['a'], dry_run: 'yes' }, ['INVALID_TYPE /dry_run']],
  ['other members', { ids: ['a'], 'a/b': 1, all: true }, ['UNKNOWN_FIELD /a~1b', 'UNKNOWN_FIELD /all']],
]

for (const [name, body, expected] of wrong) {
  test(`${name}: every mistake is reported with its place`, () => {
    const read = readBulkIds(body, 3)
    assert.ok('issues' in read)
    assert.deepEqual(read.issues.map(({ code, pointer }) => `${code} ${pointer}`), expected) // biome-ignore format: a line
  })
}

test('ids are read in their order', () => {
  assert.deepEqual(readBulkIds({ ids: ['c', 'a', 'b'] }, 3), { ids: ['c', 'a', 'b'], isDryRun: false })
  assert.deepEqual(readBulkIds({ ids: ['a'], dry_run: true }, 3), { ids: ['a'], isDryRun: true })
})
