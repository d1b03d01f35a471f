import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBearerToken } from './authenticate.ts'

const rows: [string | undefined, ReturnType<typeof readBearerToken>][] = [
  [undefined, 'absent'],
  ['Bearer mF_9.B5f-4.1JqM', { token: 'mF_9.B5f-4.1JqM' }],
  ['bearer abc==', { token: 'abc==' }],
  ['BEARER  a~+/', { token: 'a~+/' }],
  ['', 'malformed'],
  ['Bearer', 'malformed'],
  ['Bearer ', 'malformed'],
  ['Bearer a b', 'malformed'],
  ['Bearer a=b', 'malformed'],
  ['Bearer =', 'malformed'],
  ['Bearer é', 'malformed'],
  ['Bearer a, Bearer b', 'malformed'],
  ['Basic dXNlcjpwYXNz', 'malformed'],
  ['Bearertoken', 'malformed'],
]
for (const [value, expected] of rows) {
  test(`Authorization: ${value}`, () => assert.deepEqual(readBearerToken(value), expected))
}
