import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Field } from 'resourced-contract/model/resource'
import { Type } from 'typebox'
import { readCell } from './read-cell.ts'

const catalog = completeCatalog({
  name: 'cells',
  resources: {
    cells: {
      fields: {
        text: Type.String(),
        whole: Type.Integer(),
        real: Type.Number(),
        yes: Type.Boolean(),
        list: Type.Array(Type.String()),
        map: Type.Object({}),
        any: Type.Union([Type.String(), Type.Integer(), Type.Boolean()]),
      },
    },
  },
})
const fields = catalog.resources.get('cells')?.field as ReadonlyMap<string, Field>

const table: readonly (readonly [field: string, cell: string | Uint8Array, expected: unknown])[] = [
  ['text', 'Zürich', 'Zürich'],
  ['text', ' 007 ', ' 007 '],
  ['text', 'true', 'true'],
  ['text', '', null],
  ['text', 'a\0b', { code: 'INVALID_TEXT', pointer: '/text' }],
  ['text', new Uint8Array([0x5a, 0xfc]), { code: 'INVALID_TEXT', pointer: '/text' }],
  ['whole', '42', 42],
  ['whole', ' -7 ', -7],
  ['whole', '-0', 0],
  ['whole', '1e3', 1_000],
  ['whole', '', null],
  // No numbers of JSON: the schema refuses the text.
  ['whole', '007', '007'],
  ['whole', '+1', '+1'],
  ['whole', '1,000', '1,000'],
  ['whole', '0x10', '0x10'],
  ['whole', 'Infinity', 'Infinity'],
  ['whole', '9007199254740993', { code: 'NUMBER_NOT_EXACT', pointer: '/whole' }],
  ['real', '0.1', 0.1],
  ['real', '-12.50', -12.5],
  ['real', '1e400', { code: 'NUMBER_NOT_EXACT', pointer: '/real' }],
  ['real', '.5', '.5'],
  ['yes', 'true', true],
  ['yes', 'FALSE', false],
  ['yes', '1', true],
  ['yes', ' 0 ', false],
  ['yes', '', null],
  ['yes', 'yes', 'yes'],
  ['yes', 'constructor', 'constructor'],
  ['list', '["a","b"]', ['a', 'b']],
  ['list', '', null],
  ['list', 'a;b', { code: 'MALFORMED_JSON', pointer: '/list' }],
  ['map', '{"a":{"b":1}}', { a: { b: 1 } }],
  ['map', '{"a":1,"a":2}', { code: 'DUPLICATE_KEY', pointer: '/map/a' }],
  ['map', '{"__proto__":1}', { code: 'UNSAFE_KEY', pointer: '/map/__proto__' }],
  ['any', '12', 12],
  ['any', 'true', true],
  ['any', 'twelve', 'twelve'],
  ['any', '"12"', '12'],
]

for (const [name, cell, expected] of table) {
  test(`${name}: ${JSON.stringify(cell)} is ${JSON.stringify(expected)}`, () => {
    const read = readCell({ field: fields.get(name) as Field, nulls: new Set() }, Buffer.from(cell))
    if (read.kind === 'value') {
      assert.deepEqual(read.value, expected)
      assert.ok(!Object.is(read.value, -0))
      return
    }
    const [{ code, pointer } = {}, ...others] = read.issues as readonly { code?: string; pointer?: string }[]
    assert.deepEqual({ code, pointer }, expected)
    assert.equal(others.length, 0)
  })
}
