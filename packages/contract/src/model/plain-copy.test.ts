import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalJson, exactText } from './plain-copy.ts'

test('the order of keys makes no difference; that of items does', () => {
  assert.equal(canonicalJson({ b: [1, { d: null, c: 'é' }], a: true }), '{"a":true,"b":[1,{"c":"é","d":null}]}')
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]))
  assert.equal(canonicalJson([-0]), '[0]')
})

test('the text reads back as the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      assert.deepEqual(JSON.parse(canonicalJson(plain)), plain)
      assert.equal(exactText(plain), JSON.stringify(plain))
    }),
  )
})

const strings = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.array(fc.constantFrom('\ud800', '\udfff', '\ufffd', '\0', '"', '\\', ',', ':', ']', 'null', 'NaN'), {
      maxLength: 4,
    }),
  )
  .map((text) => (typeof text === 'string' ? text : text.join('')))
const scalars = fc.oneof(
  fc.constantFrom<unknown>(Number.NaN, Infinity, -Infinity, 0, -0, null, undefined, true, false, 'null', '0', '-0'),
  fc.constantFrom<unknown>(2 ** 53, 2 ** 63, 1e300, 5e-324, '9007199254740993', '0.10', '0.1', 1n, 2n ** 64n),
  fc.double(),
  fc.integer(),
  strings,
)
/** Everything that a predicate can hold, and more. */
const { plain } = fc.letrec<{ plain: unknown }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalars,
    fc.array(tie('plain'), { maxLength: 3 }),
    fc.dictionary(
      strings.filter((name) => name !== '__proto__'),
      tie('plain'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
}))

test('no two values have one exact text: it reads back as the value, in JavaScript', () => {
  fc.assert(
    fc.property(plain, (value) => {
      const text = exactText(value)
      assert.deepStrictEqual(new Function(`return (${text})`)(), value, text)
    }),
    { numRuns: 2_000 },
  )
  for (const value of [new Date(0), new Map(), () => true, Symbol('key')]) {
    assert.throws(() => exactText([value]), /plain data/)
  }
})
