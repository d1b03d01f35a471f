import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lengthOfBody } from './message.ts'

const lengths: [what: string, body: Parameters<typeof lengthOfBody>[0], length: number][] = [
  ['no body', undefined, 0],
  ['an empty text', '', 0],
  ['a text, in UTF-8', 'Käse – 5 €\n', 16],
  ['bytes', Uint8Array.of(1, 2, 3), 3],
  ['a view of bytes', Uint8Array.of(1, 2, 3).subarray(1), 2],
  ['a stretch of a file, which need not be there', { kind: 'file', path: '/none', start: 5, length: 6e9 }, 6e9],
]
for (const [what, body, length] of lengths) {
  test(`the length of ${what}`, () => assert.equal(lengthOfBody(body), length))
}
