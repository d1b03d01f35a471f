import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJson, readNumber } from './exact-json.ts'

test('numbers are read as they are typed', () => {
  assert.equal(readNumber('1e3'), 1000)
  assert.equal(readNumber('0.10'), 0.1)
  assert.equal(readNumber('-.5'), -0.5)
  assert.equal(readNumber('12.'), 12)
  assert.equal(readNumber('-0'), -0)
  assert.equal(readNumber('9007199254740991'), Number.MAX_SAFE_INTEGER)
  assert.equal(readNumber('1.5E-7'), 1.5e-7)
})

test('what is no number, or would be another one, is not read', () => {
  for (const text of ['', '-', '1,5', '0x10', 'Infinity', 'NaN', '1 000', '1_000', '٣', '1e', '--1']) {
    assert.equal(readNumber(text), undefined, text)
  }
  for (const text of ['9007199254740993', '9007199254740992', '1e400', '1e-400', '0.12345678901234567890']) {
    assert.equal(readNumber(text), undefined, text)
  }
})

test('every number of JavaScript is read back from its text', () => {
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
      if (Number.isInteger(number) && !Number.isSafeInteger(number) && !/e/.test(String(number))) return
      assert.equal(readNumber(String(number)), number === 0 ? 0 : number)
    }),
  )
})

test('JSON is read exactly', () => {
  assert.deepEqual(
    readJson('{ "a": [1.50, -2e3, null, "x"], "__proto__": 1 }'),
    JSON.parse('{"a":[1.5,-2000,null,"x"],"__proto__":1}'),
  )
  assert.throws(() => readJson('{ "a": [9007199254740993] }'), /9007199254740993 cannot be kept exactly/)
  assert.throws(() => readJson('1e400'), /cannot be kept exactly/)
  assert.throws(() => readJson('{ a: 1 }'), SyntaxError)
})
