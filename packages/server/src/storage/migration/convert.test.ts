import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Held } from '../sql/tables.ts'
import { convertValue, isWider } from './convert.ts'

const cases: readonly [value: unknown, to: Held, converted: unknown][] = [
  [7, 'number', 7],
  [9007199254740993n, 'number', undefined],
  [9007199254740994n, 'number', 9007199254740994],
  [7.5, 'integer', undefined],
  [7, 'integer', 7],
  [1e300, 'integer', undefined],
  ['7', 'integer', 7],
  ['-7', 'integer', -7],
  ['07', 'integer', undefined],
  [' 7', 'integer', undefined],
  ['', 'integer', undefined],
  ['7.5', 'integer', undefined],
  ['7.5', 'number', 7.5],
  ['7.50', 'number', undefined],
  ['-0', 'number', undefined],
  ['Infinity', 'number', undefined],
  ['true', 'boolean', true],
  ['yes', 'boolean', undefined],
  [1, 'boolean', true],
  [2, 'boolean', undefined],
  [true, 'integer', 1],
  [false, 'string', 'false'],
  [9007199254740993n, 'string', '9007199254740993'],
  [['a'], 'string', undefined],
  ['a', 'array', undefined],
  ['a', 'json', 'a'],
  [9007199254740993n, 'json', undefined],
  [['a'], 'object', undefined],
  [{ a: 1 }, 'object', { a: 1 }],
  [['a'], 'array', ['a']],
]

test('a value converts only where that is exact', () => {
  for (const [value, to, converted] of cases) {
    assert.deepEqual(convertValue(value, to), converted, `${typeof value} ${String(value)} to ${to}`)
  }
})

const price: Held = 'decimal(12,2)'
const decimals: readonly [value: unknown, from: Held, to: Held, converted: unknown][] = [
  [7, 'integer', price, '7.00'],
  [9007199254740993n, 'integer', 'decimal(16,0)', '9007199254740993'],
  [9007199254740993n, 'integer', price, undefined],
  [19.99, 'number', price, '19.99'],
  [19.999, 'number', price, undefined],
  [1e21, 'number', 'decimal(38,2)', '1000000000000000000000.00'],
  [1e300, 'number', price, undefined],
  ['19.9', 'string', price, '19.90'],
  ['19.990', 'string', price, '19.99'],
  ['1e2', 'string', price, undefined],
  ['', 'string', price, undefined],
  [true, 'boolean', price, undefined],
  [[1], 'array', price, undefined],
  ['19.90', price, 'string', '19.90'],
  ['19.90', price, 'json', '19.90'],
  ['19.90', price, 'number', 19.9],
  ['19.90', price, 'integer', undefined],
  ['20.00', price, 'integer', 20],
  ['-0.05', price, 'number', -0.05],
  ['12345678901234567890.12', 'decimal(38,2)', 'number', undefined],
  ['12345678901234567890.00', 'decimal(38,2)', 'integer', undefined],
  ['19.90', price, 'decimal(12,4)', '19.9000'],
  ['19.90', price, 'decimal(12,1)', '19.9'],
  ['19.99', price, 'decimal(12,1)', undefined],
  ['199.99', price, 'decimal(4,2)', undefined],
  ['1.00', price, 'boolean', undefined],
]

test('decimals convert digit by digit, and not where digits would be lost', () => {
  for (const [value, from, to, converted] of decimals) {
    assert.equal(convertValue(value, to, from), converted, `${String(value)} from ${from} to ${to}`)
  }
})

test('a larger precision changes no stored decimal, another scale does', () => {
  assert.ok(isWider(price, 'decimal(14,2)'))
  assert.ok(isWider(price, 'json'))
  for (const to of ['decimal(12,4)', 'decimal(14,4)', 'decimal(11,2)', 'number', 'string'] as const)
    assert.ok(!isWider(price, to), to)
  assert.ok(!isWider('integer', price))
})
