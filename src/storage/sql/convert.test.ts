import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldType } from '../../model/resource.ts'
import { convertValue } from './convert.ts'

const cases: readonly [value: unknown, to: FieldType, converted: unknown][] = [
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

test('a value is converted where that is exact, and else not at all', () => {
  for (const [value, to, converted] of cases) {
    assert.deepEqual(convertValue(value, to), converted, `${typeof value} ${String(value)} to ${to}`)
  }
})
