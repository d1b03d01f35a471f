import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from './plain-copy.ts'

test('the order of keys makes no difference; that of items does', () => {
  assert.equal(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true }), '{"a":true,"b":[1,{"c":"é","d":null}]}')
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
})

test('the text reads back as the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      assert.deepEqual(JSON.parse(canonicalJson(plain)), plain)
    }),
  )
})
