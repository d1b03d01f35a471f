import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ajv } from '../schema.ts'
import { isPlain } from './field-schema.ts'

test('everyday schemas are plain', () => {
  assert.ok(isPlain({ type: 'string', minLength: 1, maxLength: 200, filter: true, search: true }))
  assert.ok(
    isPlain({ type: 'array', items: { type: 'object', properties: { a: { enum: [1, null] } }, required: ['a'] } }),
  )
})

test('schemas that need the meta-schema are not plain', () => {
  for (const schema of [
    { pattern: '(' },
    { type: 'text' },
    { minLength: -1 },
    { items: 3 },
    { required: ['a', 'a'] },
  ]) {
    assert.equal(isPlain(schema), false, JSON.stringify(schema))
  }
})

test('the meta-schema accepts every plain schema, and has no keyword that counts as unknown', () => {
  const words =
    'type title description format minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems \
minProperties maxProperties enum examples default const uniqueItems readOnly writeOnly deprecated additionalProperties items \
properties required pattern not allOf $ref $id $defs multipleOf minContains contentEncoding dependentRequired filter x'
  const value = fc.oneof(
    fc.constantFrom('string', 'object', 'text', '', -1, 0, 1.5, 7, true, null),
    fc.constantFrom<unknown>([], {}, ['a'], ['a', 'a'], [1], { a: {} }, { a: 1 }, { type: 'string' }, { type: 1 }),
  )
  const schema = fc.dictionary(fc.constantFrom(...words.split(' ')), value, { maxKeys: 3, noNullPrototype: true })
  let plain = 0
  const property = fc.property(schema, (each) => {
    if (!isPlain(each)) return
    plain++
    assert.equal(ajv.validateSchema({ ...each }), true, JSON.stringify(each))
  })
  fc.assert(property, { numRuns: 2_000 })
  assert.ok(plain > 100)
})

test('every keyword of the meta-schema is known', () => {
  // A keyword that means nothing accepts anything: one that the meta-schema refuses a value for must not be among
  // those.
  const vocabularies = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content']
  for (const name of vocabularies) {
    const meta = ajv.getSchema(`https://json-schema.org/draft/2020-12/meta/${name}`)?.schema as { properties: object }
    for (const keyword of Object.keys(meta.properties)) {
      const undecided = [3.5, 'x', {}, [], [3], { a: 3 }, null, false].every((each) => isPlain({ [keyword]: each }))
      assert.ok(!undecided || keyword === 'default' || keyword === 'const', keyword)
    }
  }
})
