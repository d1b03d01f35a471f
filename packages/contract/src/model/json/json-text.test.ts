import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonText, numberText } from './json-text.ts'
import { isKeptExactly } from './read-json.ts'

test('numbers are written in their shortest form, and never as an integer that is not exact', () => {
  const texts = [0, -1.5, 0.1, 9007199254740991, 9007199254740992, 1e21, -1e18, 5e-324].map(numberText)
  assert.deepEqual(texts, [
    '0',
    '-1.5',
    '0.1',
    '9007199254740991',
    '9.007199254740992e+15',
    '1e+21',
    '-1e+18',
    '5e-324',
  ])
})

test('every number is read back unchanged, by the rules for bodies', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = numberText(value)
      return Number(text) === value && isKeptExactly(text)
    }),
  )
})

test('a value of any content keeps its shape', () => {
  assert.equal(jsonText({ a: [1e19, null, 'x', true], b: { c: -0 } }), '{"a":[1e+19,null,"x",true],"b":{"c":0}}')
  fc.assert(
    fc.property(fc.jsonValue(), (value) =>
      assert.deepEqual(JSON.parse(jsonText(value)), JSON.parse(JSON.stringify(value))),
    ),
  )
})
