import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ajv } from '../schema.ts'
import { parts } from '../structure/declaration-schema.ts'
import { checkDeclaration } from './check-declaration.ts'

/** Whether the checks find something in a schema that is the schema of the items of a field. */
function isRefused(schema: unknown): boolean {
  const fields = { all: { type: 'array', items: schema } }
  return checkDeclaration({ name: 'a', resources: { notes: { fields } } }).length > 0
}

// An unknown dialect is an error of the compiler.
const keywords = Object.keys(parts['schema']?.properties ?? {}).filter((each) => each !== '$schema')
const values: readonly unknown[] = [
  ...['string', 'object', 'text', '', '#/a', 'a#', 'a b', '1a', 'http://[', -1, 0, 1.5, 7, true, null],
  ...[[], {}, ['a'], ['a', 'a'], [1], { a: {} }, { a: 1 }, { type: 'string' }, { type: 1 }],
  ...[['string'], ['string', 'string'], [{}], [true], { a: ['b'] }, { a: ['b', 'b'] }],
]

test('the meta-schema accepts every keyword with a value that the checks accept', () => {
  const missed = keywords
    .flatMap((keyword) => values.map((value) => ({ [keyword]: value })))
    .filter((schema) => !isRefused(schema) && ajv.validateSchema({ ...schema }) !== true)
  assert.deepEqual(missed, [])
})

test('the meta-schema accepts every schema that the checks accept', () => {
  const value = fc.constantFrom(...values)
  const schema = fc.dictionary(fc.constantFrom(...keywords), value, { maxKeys: 3, noNullPrototype: true })
  let accepted = 0
  const property = fc.property(schema, (each) => {
    if (isRefused(each)) return
    accepted++
    assert.equal(ajv.validateSchema({ ...each }), true, JSON.stringify(each))
  })
  fc.assert(property, { numRuns: 2_000 })
  assert.ok(accepted > 100)
})

test('every keyword of the meta-schema is known', () => {
  const vocabularies = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content']
  const unused = ['$vocabulary']
  for (const name of vocabularies) {
    const meta = ajv.getSchema(`https://json-schema.org/draft/2020-12/meta/${name}`)?.schema as { properties: object }
    for (const keyword of Object.keys(meta.properties).filter((each) => !unused.includes(each))) {
      assert.ok(Object.hasOwn(parts['schema']?.properties ?? {}, keyword), keyword)
    }
  }
})
