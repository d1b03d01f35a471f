import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { textOf } from '../spec/faults.ts'
import {
  canonicalValue,
  decimalKey,
  decimalKeyOf,
  decimalOf,
  decimalOfKey,
  decimalText,
  isMultipleOf,
  readDecimal,
} from './decimal.ts'
import { compileSchema } from './schema.ts'
import { compareText } from './text.ts'

test('every amount of cents is a multiple of 0.01, and nothing between two of them', () => {
  const validate = compileSchema('price', { type: 'number', multipleOf: 0.01 })
  for (let cents = -2_500; cents <= 2_500; cents++) {
    assert.deepEqual(validate(cents / 100), [], String(cents / 100))
    const [issue] = validate(Number(`${cents / 100 === Math.trunc(cents / 100) ? `${cents / 100}.0` : cents / 100}05`))
    if (cents % 10 !== 0) assert.equal(issue && textOf(issue), 'must be a multiple of 0.01')
  }
})

test('multiples are decided on digits: of fractions, of negative and of very large and small numbers', () => {
  const cases: readonly (readonly [value: number, step: number, expected: boolean])[] = [
    [0, 0.01, true], [-0, 7, true], [19.99, 0.01, true], [-19.99, 0.01, true], [19.995, 0.01, false],
    [0.3, 0.1, true], [0.35, 0.1, false], [1.1, 1.1, true], [4.35, 0.05, true], [1e-7, 1e-7, true], [3e-7, 2e-7, false],
    [1e300, 3, false], [1e300, 0.001, true], [1e300, 1e-300, true], [6e300, 3, true], [1e-300, 1e300, false],
    [9007199254740992, 3, false], [2 ** 60, 2, true], [1.7976931348623157e308, 5e-324, true], [5e-324, 1, false],
    [7.5, 2.5, true], [10, 2.5, true], [1, 0.3, false], [12, 5, false], [12, 4, true], [Number.POSITIVE_INFINITY, 1, false],
  ] // biome-ignore format: one row reads best
  for (const [value, step, expected] of cases) assert.equal(isMultipleOf(value, step), expected, `${value} of ${step}`)
})

test('multiples in objects and arrays are judged alike', () => {
  const price = { type: 'number', multipleOf: 0.01 }
  const schema = { type: 'object', properties: { net: price, parts: { type: 'array', items: price } } }
  const validate = compileSchema('amounts', schema)
  assert.deepEqual(validate({ net: 19.99, parts: [0.29, 0.57, 1.15] }), [])
  assert.deepEqual(
    validate({ net: 19.999, parts: [0.29, 0.577] }).map(({ pointer }) => pointer),
    ['/amounts/net', '/amounts/parts/1'],
  )
})

/** A decimal of at most 38 digits, as an integer of its last digit's units. */
const decimals = fc.record({
  units: fc.oneof(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), fc.bigInt({ min: -200n, max: 200n })),
  scale: fc.oneof(fc.constant(2), fc.integer({ min: 0, max: 38 })),
})

function written({ units, scale }: { units: bigint; scale: number }): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return units < 0n ? `-${text}` : text
}

test('keys of decimals are in the order of numbers, and two spellings of one number have one key', () => {
  fc.assert(
    fc.property(decimals, decimals, (left, right) => {
      const [a, b] = [left.units * 10n ** BigInt(right.scale), right.units * 10n ** BigInt(left.scale)]
      const order = compareText(decimalKeyOf(written(left)) as string, decimalKeyOf(written(right)) as string)
      assert.equal(Math.sign(order), a < b ? -1 : a > b ? 1 : 0, `${written(left)} and ${written(right)}`)
    }),
    { numRuns: 3_000 },
  )
})

test('a key converts back to its decimal, and a text with all decimals is the same number', () => {
  fc.assert(
    fc.property(decimals, (each) => {
      const read = readDecimal(written(each))!
      assert.deepEqual(decimalOfKey(decimalKey(read)!), read)
      const text = decimalText(read, { precision: 76, scale: 38 })!
      assert.deepEqual(readDecimal(text), read)
      assert.equal(text.split('.')[1]?.length, 38)
    }),
  )
})

test('a field has one spelling for each value', () => {
  const form = { precision: 12, scale: 2 }
  const cases: readonly (readonly [unknown, unknown])[] = [
    ['19.9', '19.90'], [19.9, '19.90'], [20, '20.00'], ['-0', '0.00'], [-0, '0.00'], ['-0.5', '-0.50'], [1e3, '1000.00'], [1e-2, '0.01'],
    ['9999999999.99', '9999999999.99'],
    // What does not fit stays as it is: the validator says why.
    ['10000000000', '10000000000'], ['0.001', '0.001'], ['1e2', '1e2'], ['0019.9', '0019.9'], ['+5', '+5'], [' 5', ' 5'], ['', ''], [null, null],
  ] // biome-ignore format: one row reads best
  for (const [sent, stored] of cases) assert.equal(canonicalValue({ decimal: form }, sent), stored)
  assert.equal(canonicalValue({ decimal: { precision: 3, scale: 0 } }, '7'), '7')
  assert.equal(canonicalValue({ decimal: { precision: 2, scale: 2 } }, 0.5), '0.50')
  assert.equal(canonicalValue({ decimal: { precision: 2, scale: 2 } }, 1), 1)
})

test('the work for a huge exponent depends on the text only', () => {
  const started = process.cpuUsage()
  assert.equal(decimalText(decimalOf('1e999999999'), { precision: 38, scale: 0 }), undefined)
  assert.equal(decimalKey(decimalOf('1e999999999')), undefined)
  assert.equal(decimalKey(decimalOf('1e-999999999')), undefined)
  assert.equal(isMultipleOf(decimalOf('1e999999999'), decimalOf('0.03')), false)
  assert.ok(process.cpuUsage(started).user < 200_000)
})
