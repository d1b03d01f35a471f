import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv, type AnySchema } from 'ajv'
import addFormats from 'ajv-formats'
import {
  addDecimalMultiples,
  generate,
  invalidValue,
  isNarrow,
  isUnmade,
  otherValue,
  type Schema,
  takesMark,
  uniqueValue,
} from './generate.ts'
import { textMatching } from './pattern.ts'

const ajv = new Ajv({ strict: false })
addFormats.default(ajv)
ajv.addFormat('decimal', true)
addDecimalMultiples(ajv)

const schemas: readonly (readonly [name: string, schema: Schema])[] = [
  ['name', { type: 'string', minLength: 3, maxLength: 8 }],
  ['a_very_long_name_of_a_member', { type: 'string', maxLength: 4 }],
  ['code', { type: 'string', pattern: '^[A-Z]{2}$' }],
  ['slug', { type: 'string', pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$', minLength: 20 }],
  ['isbn', { type: 'string', pattern: '^(97(8|9))?\\d{9}(\\d|X)$' }],
  ['plate', { type: 'string', pattern: '^\\p{Lu}{1,3} [1-9]\\d{0,3}$' }],
  ['email', { type: 'string', format: 'email' }],
  ['when', { type: 'string', format: 'date-time' }],
  ['on', { type: 'string', format: 'date' }],
  ['address', { type: 'string', format: 'ipv6' }],
  ['id', { type: ['string', 'null'], format: 'uuid' }],
  ['link', { type: 'string', format: 'uri' }],
  ['count', { type: 'integer', minimum: 7, maximum: 9 }],
  ['ratio', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ['dozens', { type: 'integer', multipleOf: 12, minimum: 13 }],
  ['price', { type: 'number', multipleOf: 0.01, minimum: 0.29 }],
  [
    'fee',
    {
      type: ['string', 'number'],
      format: 'decimal',
      pattern: '^-?\\d{1,4}(?:\\.\\d{1,2})?$',
      minimum: 0.1,
      exclusiveMaximum: 100,
      multipleOf: 0.05,
    },
  ],
  ['below', { type: 'number', maximum: -5 }],
  ['kind', { enum: ['a', 'b', null] }],
  ['tags', { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true }],
  ['place', { type: 'object', properties: { x: { type: 'integer' }, y: { type: 'integer' } }, required: ['x', 'y'] }],
  ['always', { const: 5 }],
]

for (const [name, schema] of schemas) {
  test(`values for ${JSON.stringify(schema)} are valid, invalid ones are not`, () => {
    const fits = ajv.compile(schema as AnySchema)
    for (let turn = 0; turn < 5; turn++) {
      const value = generate(schema, name, turn)
      assert.ok(fits(value), `${JSON.stringify(value)}: ${ajv.errorsText(fits.errors)}`)
    }
    const bad = invalidValue(schema)
    if (bad !== undefined) assert.ok(!fits(bad), JSON.stringify(bad))
    const value = generate(schema, name)
    const other = otherValue(value, schema, name)
    if (other !== undefined) {
      assert.notDeepEqual(other, value)
      assert.ok(fits(other))
    }
  })
}

test('a pattern without a matching text is reported', () => {
  const value = generate({ type: 'string', pattern: '^(?=a)b$' }, 'odd')
  assert.ok(isUnmade(value))
  assert.match(value.unmade, /\^\(\?=a\)b\$/)
  assert.equal(textMatching('('), undefined)
  assert.equal(textMatching('^(a)\\1$'), undefined)
})

test('no pattern takes long to generate', () => {
  const began = process.cpuUsage()
  for (const pattern of ['^((((a*)*)*)*)*$', '^(a|b|c){1000}(x{50}){50}$', '['.repeat(100), '('.repeat(10_000)]) {
    textMatching(pattern, { most: 100 })
  }
  assert.ok(process.cpuUsage(began).user < 3_000_000)
})

test('unique values differ, and stay valid', () => {
  assert.match(String(uniqueValue('ann@example.org', 1)), /^ann\+\w+@example\.org$/)
  assert.match(String(uniqueValue('Some name', 1, { maxLength: 10 })), /^\S.{9}$/)
  assert.match(String(uniqueValue('AA', 1, { pattern: '^[A-Z]{2}$' })), /^[A-Z]{2}$/)
  assert.ok(Number(uniqueValue(1, 1, { minimum: 5, maximum: 50 })) >= 5)
  assert.notEqual(uniqueValue('a', 1), uniqueValue('a', 2))
  assert.deepEqual(
    [isNarrow({ pattern: '^[A-Z]{2}$' }), isNarrow({ pattern: '^[A-Z]{9}$' }), isNarrow({})],
    [true, false, false],
  )
})

test('decimals have all of their fraction digits', () => {
  const schema = { type: ['string', 'number'], format: 'decimal', pattern: '^-?(?:0|[1-9]\\d{0,9})(?:\\.\\d{1,2})?$' }
  for (let turn = 0; turn < 20; turn++) {
    assert.match(String(generate(schema, 'price', turn)), /^-?\d+\.\d\d$/)
    assert.match(String(uniqueValue('1.00', turn, schema)), /^-?\d+\.\d\d$/)
  }
  assert.equal(generate({ ...schema, minimum: 0 }, 'price'), '0.00')
  const codes = Array.from({ length: 30 }, (_, turn) => uniqueValue('1.00', turn, { ...schema, minimum: 1 }))
  assert.equal(new Set(codes).size, 30)
})

test('decimals have digits, although their pattern needs none', () => {
  // The pattern of drf-spectacular.
  const schema = { type: 'string', format: 'decimal', pattern: '^-?\\d{0,5}(?:\\.\\d{0,2})?$' }
  assert.deepEqual([generate(schema, 'price'), generate(schema, 'price', 1)], ['1.00', '2.00'])
  for (let turn = 0; turn < 20; turn++) assert.match(String(uniqueValue('1.00', turn, schema)), /^-?\d+\.\d\d$/)
})

test('a pattern that any text meets leaves texts as they are', () => {
  const schema = { type: 'string', pattern: '\\S', minLength: 2 }
  assert.equal(generate(schema, 'region'), 'Some region')
  assert.match(String(uniqueValue('Some region', 0, schema)), /^Some region-/)
  assert.deepEqual([isNarrow(schema), takesMark(schema), takesMark({ pattern: '^[A-Z]{2}$' })], [false, true, false])
})

test('an article number gets another one, with its check digit', () => {
  const other = String(uniqueValue('9780306406157', 0))
  assert.match(other, /^978\d{10}$/)
  const sum = [...other].reduce((all, digit, index) => all + Number(digit) * (index % 2 === 0 ? 1 : 3), 0)
  assert.equal(sum % 10, 0)
})
