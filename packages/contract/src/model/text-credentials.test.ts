import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdsCredential, isCredential, pathWithoutCredentials, withoutCredentials } from './text.ts'

const key = `rsk_${'a1B'.repeat(16)}c`
const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl'

for (const [text, told] of [
  [`/v1/api-keys/${key}/${key}x`, '/v1/api-keys/rsk_***/rsk_***x'],
  ['/v1/api-keys/rsk_short', '/v1/api-keys/rsk_short'],
  [`Bearer ${token}, and more`, 'Bearer eyJ***, and more'],
  ['redis://ann:p@ss/word@host:6379/0 is lost', 'redis://***@host:6379/0 is lost'],
  ['write to ann@example.com, or see https://example.com/', 'write to ann@example.com, or see https://example.com/'],
] as const) {
  test(`${told} is what is told`, () => assert.equal(withoutCredentials(text), told))
}

test('a key in a path is found in every encoding, and other paths are unchanged', () => {
  assert.equal(pathWithoutCredentials(`/v1/caf%C3%A9/${key.replace('_', '%5F')}`), '/v1/caf%C3%A9/rsk_***')
  assert.equal(pathWithoutCredentials(`/v1/%zz/${key}`), '/v1/%zz/rsk_***')
  assert.equal(pathWithoutCredentials('/v1/a%2Fb'), '/v1/a%2Fb')
})

test('only complete credentials count as credentials', () => {
  assert.deepEqual([key, token, 'rsk_', 'eyJ', 'a.b.c'].map(holdsCredential), [true, true, false, false, false])
})

test('a text that contains a credential is none itself', () => {
  assert.deepEqual([key, token, `y${key}`, `${key}x`, '', 'a'].map(isCredential), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})
