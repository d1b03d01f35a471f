import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordIn } from './client.ts'

const login = { host: 'db.example', port: 5432, database: 'shop', user: 'ann' }

const files: readonly (readonly [string, string, string | undefined])[] = [
  ['all fields', 'db.example:5432:shop:ann:secret', 'secret'],
  ['stars', '*:*:*:*:secret', 'secret'],
  ['the first line that fits', 'other:5432:shop:ann:no\n*:*:shop:ann:yes\n*:*:*:*:late', 'yes'],
  ['comments and empty lines', '# *:*:*:*:no\n\ndb.example:*:*:*:yes\n', 'yes'],
  ['lines that end as on Windows', 'db.example:5432:shop:ann:secret\r\n', 'secret'],
  ['a colon and a backslash in a password', String.raw`*:*:*:*:a\:b\\c`, String.raw`a:b\c`],
  ['too few fields', 'db.example:5432:shop:ann', undefined],
  ['another port', 'db.example:5433:shop:ann:secret', undefined],
  ['another user', 'db.example:5432:shop:bob:secret', undefined],
  ['a star that is meant', String.raw`\*:5432:shop:ann:secret`, undefined],
  ['nothing', '', undefined],
]

for (const [what, text, password] of files) {
  test(`a password file with ${what}`, () => {
    assert.equal(passwordIn(text, login), password)
  })
}

test('a socket of this machine counts as localhost', () => {
  assert.equal(passwordIn('localhost:*:*:*:secret', { ...login, host: '/var/run/postgresql' }), 'secret')
})
