import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Fault, sentenceOf } from '../spec/faults.ts'
import { longestKey, parseIdempotencyKey } from './header-fields.ts'

const uuid = '8e03978e-40d5-43e8-bc93-6894a57f9324'

const keys: readonly (readonly [value: string, key: string])[] = [
  [`"${uuid}"`, uuid],
  [uuid, uuid],
  [` \t"${uuid}" `, uuid],
  ['"order 17, again"', 'order 17, again'],
  ['"say \\"hi\\" \\\\o/"', 'say "hi" \\o/'],
  ['"\\""', '"'],
  ['"a";v=1; note="x;\\"y\\"" ;*b', 'a'],
  ['order:17/2026-11-21==', 'order:17/2026-11-21=='],
  ['back\\slash', 'back\\slash'],
  ['12345', '12345'],
  [`"${'k'.repeat(longestKey)}"`, 'k'.repeat(longestKey)],
  [`"${'\\\\'.repeat(longestKey)}"`, '\\'.repeat(longestKey)],
]
for (const [value, key] of keys) {
  test(`MET-9: Idempotency-Key: ${value.slice(0, 60)}`, () => assert.equal(parseIdempotencyKey(value), key))
}

const malformed: readonly (readonly [value: string, problem: RegExp])[] = [
  ['', /is empty/],
  [' \t', /is empty/],
  ['""', /is empty/],
  ['"a', /no closing quote/],
  ['"', /no closing quote/],
  ['"a\\"', /no closing quote/],
  ['"a\\', /no closing quote/],
  ['"a\\n"', /backslash before something else/],
  ['"a"b', /after its closing quote/],
  ['"a" b', /after its closing quote/],
  ['"a", "b"', /after its closing quote/],
  ['"a";V=1', /after its closing quote/],
  ['"a\tb"', /visible ASCII/],
  ['"a\u007fb"', /visible ASCII/],
  ['a\u0000b', /visible ASCII/],
  ['"clé"', /visible ASCII/],
  ['a b', /double quotes/],
  ['a, b', /double quotes/],
  ['a;v=1', /double quotes/],
  ['a"b"', /double quotes/],
  ['k'.repeat(longestKey + 1), /255 characters/],
  [`"${'k'.repeat(longestKey + 1)}"`, /255 characters/],
]
for (const [value, expected] of malformed) {
  test(`MET-9: Idempotency-Key is malformed: ${JSON.stringify(value).slice(0, 60)}`, () => {
    assert.throws(
      () => parseIdempotencyKey(value),
      (error) =>
        error instanceof Fault &&
        error.code === 'INVALID_IDEMPOTENCY_KEY' &&
        expected.test(error.details.errors?.map(sentenceOf)[0] ?? ''),
    )
  })
}

test('property: every text of visible characters and spaces, quoted as RFC 9651 says, is read back', () => {
  const visible = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
  fc.assert(
    fc.property(fc.string({ unit: visible, minLength: 1, maxLength: longestKey }), (key) => {
      assert.equal(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`), key)
    }),
  )
})

test('a value as long as all headers may be is checked at once', () => {
  for (const part of ['"', '\\', ';a', '";', ' ']) {
    const started = process.cpuUsage()
    for (const value of [`"a"${part.repeat(16_384 / part.length)}x`, `"${part.repeat(16_384 / part.length)}`]) {
      try {
        parseIdempotencyKey(value)
      } catch (error) {
        assert.ok(error instanceof Fault)
      }
    }
    assert.ok(process.cpuUsage(started).user < 100_000, part)
  }
})
