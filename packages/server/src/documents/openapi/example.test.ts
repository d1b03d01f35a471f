import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleOf, exampleOfObject } from './schemas.ts'

const cases: readonly [object, unknown][] = [
  [{ type: 'string' }, 'Some title'],
  [{ type: 'string', maxLength: 4 }, 'Some'],
  [{ type: 'string', minLength: 40 }, undefined],
  [{ type: 'string', pattern: '^x' }, undefined],
  [{ type: 'string', format: 'date' }, '2026-11-21'],
  [{ type: 'string', format: 'of-our-own' }, undefined],
  [{ enum: ['open', 'done'] }, 'open'],
  [{ enum: ['open', 'done'], default: 'done' }, 'done'],
  [{ const: 7 }, 7],
  [{ type: 'integer', minimum: 2.5 }, 3],
  [{ type: 'integer', maximum: -3 }, -3],
  [{ type: ['number', 'null'], minimum: 1 }, 1],
  [{ type: 'boolean' }, true],
  [{ type: 'array', items: {} }, []],
  [{ type: 'array', minItems: 1 }, undefined],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, undefined],
]
for (const [schema, expected] of cases) {
  test(`an example of ${JSON.stringify(schema)} is ${JSON.stringify(expected) ?? 'not made'}`, () => {
    assert.deepEqual(exampleOf(schema as never, 'title'), expected)
  })
}

test('an object has no example if a required property has none', () => {
  const properties = { name: { type: 'string' }, code: { type: 'string', pattern: '^x' } }
  assert.deepEqual(exampleOfObject({ properties }), { name: 'Some name' })
  assert.equal(exampleOfObject({ properties, required: ['code'] }), undefined)
})
