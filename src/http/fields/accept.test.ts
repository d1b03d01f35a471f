import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accepts } from './accept.ts'

const rows: [string | undefined, boolean][] = [
  [undefined, true],
  ['', true],
  ['*/*', true],
  ['application/json', true],
  ['Application/JSON', true],
  ['application/*', true],
  ['application/json; charset=utf-8', true],
  ['application/json;q=0.1', true],
  ['text/html, application/xhtml+xml, */*;q=0.8', true],
  ['text/html, application/json;q=0.5', true],
  ['text/html', false],
  ['text/*', false],
  ['application/xml', false],
  ['application/json;q=0', false],
  ['*/*;q=0', false],
  ['application/json;q=0, */*', false],
  ['application/problem+json', false],
  ['application/json; version=2', false],
  ['nonsense', false],
  [',,,', false],
]
for (const [accept, expected] of rows) {
  test(`Accept: ${accept} ${expected ? 'takes' : 'does not take'} JSON`, () => assert.equal(accepts(accept), expected))
}

test('another media type can be asked about', () => {
  assert.equal(accepts('text/csv', 'text/csv'), true)
  assert.equal(accepts('text/csv', 'application/json'), false)
})
