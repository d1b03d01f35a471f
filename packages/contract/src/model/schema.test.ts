import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countErrors, issue, textOf } from '../spec/faults.ts'
import { compileField, compileSchema } from './schema.ts'

type Case = [name: string, schema: Record<string, unknown>, value: unknown, ...issues: [string, string, string][]]

const items = { type: 'array', items: { type: 'string' }, maxItems: 2 }
const address = {
  type: 'object',
  properties: { street: { type: 'string' }, 'a/b~c': { type: 'integer' } },
  required: ['street'],
  additionalProperties: false,
}
const cases: Case[] = [
  ['a number for a text', { type: 'string' }, 7, ['INVALID_TYPE', '/f', 'must be a string']],
  ['two types', { type: ['string', 'integer'] }, true, ['INVALID_TYPE', '/f', 'must be a string or an integer']],
  ['a text for a boolean', { type: 'boolean' }, 'true', ['INVALID_TYPE', '/f', 'must be true or false']],
  ['half an integer', { type: 'integer' }, 1.5, ['INVALID_TYPE', '/f', 'must be an integer']],
  ['5.0 is an integer', { type: 'integer' }, 5.0],
  ['too short', { type: 'string', minLength: 1 }, '', ['TOO_SHORT', '/f', 'must have at least 1 character']],
  ['code points are counted', { type: 'string', maxLength: 2 }, '😀😀'],
  ['too long', { type: 'string', maxLength: 1 }, '😀😀', ['TOO_LONG', '/f', 'must have at most 1 character']],
  ['too small', { type: 'number', minimum: 0 }, -1, ['TOO_SMALL', '/f', 'must be at least 0']],
  ['not above', { type: 'number', exclusiveMinimum: 0 }, 0, ['TOO_SMALL', '/f', 'must be greater than 0']],
  ['too large', { type: 'number', maximum: 3 }, 4, ['TOO_LARGE', '/f', 'must be at most 3']],
  ['not below', { type: 'number', exclusiveMaximum: 3 }, 3, ['TOO_LARGE', '/f', 'must be less than 3']],
  ['no multiple', { type: 'number', multipleOf: 5 }, 7, ['INVALID_VALUE', '/f', 'must be a multiple of 5']],
  ['enum', { enum: ['open', 'doing', 'done'] }, 'x', ['NOT_IN_ENUM', '/f', 'must be one of open, doing, done']],
  ['const', { const: 'a' }, 'b', ['NOT_IN_ENUM', '/f', 'must be a']],
  ['consts', { anyOf: [{ const: 'a' }, { const: 'b' }] }, 'c', ['NOT_IN_ENUM', '/f', 'must be one of a, b']],
  ['no date', { type: 'string', format: 'date' }, '2026-02-30', ['INVALID_FORMAT', '/f', 'must be a date such as 2026-11-21']],
  ['a space for the T', { type: 'string', format: 'date-time' }, '2026-11-21 08:30:00Z',
    ['INVALID_FORMAT', '/f', 'must be a date and time with its zone, such as 2026-11-21T08:30:00Z']],
  ['a UUID in capitals', { type: 'string', format: 'uuid' }, '0190F0A0-0000-7000-8000-0000000000AB'],
  ['a URN is no UUID', { type: 'string', format: 'uuid' }, 'urn:uuid:0190f0a0-0000-7000-8000-0000000000ab', ['INVALID_FORMAT', '/f', 'must be a UUID']],
  ['pattern', { type: 'string', pattern: '^\\p{Lu}$' }, 'a', ['INVALID_VALUE', '/f', 'must match the pattern ^\\p{Lu}$']],
  ['patterns see characters, not UTF-16 units', { type: 'string', pattern: '^.$' }, '😀'],
  ['too few items', { type: 'array', minItems: 1 }, [], ['TOO_FEW_ITEMS', '/f', 'must have at least 1 item']],
  ['everything wrong at once', items, [1, 'a', 2],
    ['TOO_MANY_ITEMS', '/f', 'must have at most 2 items'],
    ['INVALID_TYPE', '/f/0', 'must be a string'],
    ['INVALID_TYPE', '/f/2', 'must be a string']],
  ['the same item twice', { type: 'array', uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }],
    ['INVALID_VALUE', '/f', 'must not have the same item twice']],
  ['different items', { type: 'array', uniqueItems: true }, [{ a: 1 }, [['a', 1]], 1, '1', null]],
  ['inside an object', address, { street: 1, 'a/b~c': 'x', town: 'y' },
    ['UNKNOWN_FIELD', '/f/town', 'is not a known key; known are street and a/b~c'],
    ['INVALID_TYPE', '/f/street', 'must be a string'],
    ['INVALID_TYPE', '/f/a~1b~0c', 'must be an integer']],
  ['a missing key', address, {}, ['REQUIRED', '/f/street', 'is required']],
  ['an inherited key is not there', { type: 'object', required: ['constructor'] }, {}, ['REQUIRED', '/f/constructor', 'is required']],
  ['no alternative', { anyOf: [{ type: 'string', maxLength: 1 }, { type: 'integer' }] }, 'ab',
    ['INVALID_VALUE', '/f', 'must fit one of the declared alternatives']],
  ['no type among alternatives', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, true,
    ['INVALID_TYPE', '/f', 'must be a string or an integer']],
  ['an alternative inside items', { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } }, [true],
    ['INVALID_TYPE', '/f/0', 'must be a string or an integer']],
  ['conditional', { type: 'string', if: { maxLength: 2 }, else: { maxLength: 4 } }, 'abcde', ['TOO_LONG', '/f', 'must have at most 4 characters']],
  ['not', { type: 'string', not: { const: 'a' } }, 'a', ['INVALID_VALUE', '/f', 'must not be a value of the kind excluded']],
  ['key names', { type: 'object', propertyNames: { type: 'string', maxLength: 1 } }, { ab: 1 }, ['INVALID_VALUE', '/f/ab', 'is not an allowed key']],
  ['contains', { type: 'array', contains: { const: 1 } }, [2, 3], ['INVALID_VALUE', '/f', 'must have at least 1 item of the kind declared']],
] // biome-ignore format: one row a case

describe('a value against its schema', () => {
  for (const [name, schema, value, ...issues] of cases) {
    test(name, () => {
      const found = compileSchema('f', schema)(value)
      assert.deepEqual(
        found.map((issue) => [issue.code, issue.pointer, textOf(issue)]),
        issues,
      )
    })
  }
})

test('valid values share one empty array', () => {
  const validate = compileSchema('f', { type: 'string' })
  assert.equal(validate('a'), validate('b'))
  assert.throws(() => validate('a').push(issue('required')))
})

test('pointers begin with the field, escaped', () => {
  assert.equal(compileSchema('a/b', items)([1])[0]?.pointer, '/a~1b/0')
})

test('schemas with the same $id are independent', () => {
  compileSchema('a', { $id: 'https://example.org/a', type: 'string' })
  const validate = compileSchema('b', { $id: 'https://example.org/a', type: 'integer' })
  assert.deepEqual(validate(1), [])
})

test('strict: keywords that do not apply do not compile', () => {
  assert.throws(() => compileSchema('f', { type: 'string', minimum: 3 }), /minimum/)
  assert.throws(() => compileSchema('f', { type: 'string', colour: 3 }), /colour/)
})

test('a hundred thousand items are compared in a moment, a hundred thousand errors are bounded', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ index }))
  const begun = performance.now()
  assert.deepEqual(compileSchema('f', { type: 'array', uniqueItems: true })(many), [])
  const issues = compileSchema('f', { type: 'array', items: { type: 'string' } })(many)
  assert.equal(issues.length, 1_001)
  assert.deepEqual(issues.at(-1), issue('more', { pointer: '/f', more: 99_000 }))
  assert.equal(countErrors(issues), 100_000)
  assert.ok(performance.now() - begun < 5_000)
})

test('a value that no alternative fits is one error, however many each alternative has', () => {
  const branch = {
    type: 'object',
    required: ['a', 'b', 'c'],
    additionalProperties: false,
    properties: { a: {}, b: {}, c: {} },
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const validate = compileSchema('f', {
      type: 'array',
      items: { [keyword]: [branch, { type: 'string' }, { $ref: '#/$defs/n' }] },
      $defs: { n: branch },
    })
    const issues = validate(Array(3_000).fill({ d: 1, e: 2 }))
    assert.equal(countErrors(issues), 3_000, keyword)
    assert.deepEqual(
      issues.slice(0, 2).map(({ pointer }) => pointer),
      ['/f/0', '/f/1'],
    )
  }
  const names = compileSchema('f', { type: 'object', propertyNames: { pattern: '^[a-z]{2}$', minLength: 2 } })
  assert.deepEqual(
    names({ a: 1, bb: 2, ccc: 3 }).map(({ pointer }) => pointer),
    ['/f/a', '/f/ccc'],
  )
  const contains = compileSchema('f', { type: 'array', contains: { type: 'object', required: ['a', 'b'] } })
  assert.equal(contains([{}, 1, 'x']).length, 1)
})

/** An expression, with the operator after its operands: each alternative validates all of them before it is given up. */
const operation = (operator: string) => ({
  ...{ type: 'object', required: ['of', 'by'] },
  properties: { of: { $ref: '#/$defs/node' }, with: { $ref: '#/$defs/node' }, by: { const: operator } },
})

for (const keyword of ['anyOf', 'oneOf']) {
  test(`alternatives that refer to themselves are tried so often and no more: ${keyword}`, () => {
    const node = { [keyword]: [{ type: 'integer' }, ...['and', 'or', 'xor'].map(operation)] }
    const validate = compileSchema('f', { $defs: { node }, $ref: '#/$defs/node' })
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { of: nested(depth - 1), by: 'xor' })
    assert.deepEqual(validate(nested(3)), [])
    assert.deepEqual(validate(nested(31)), [issue('tooAmbiguous', { pointer: '/f' })])
    assert.deepEqual(validate(nested(3)), [], 'the next value is checked as before')
  })
}

test('a large value whose schema refers to itself without alternatives is checked whole', () => {
  const node = { type: 'object', properties: { below: { type: 'array', items: { $ref: '#/$defs/node' } } } }
  const validate = compileSchema('f', { $defs: { node }, $ref: '#/$defs/node' })
  const wide = { below: Array.from({ length: 500 }, () => ({ below: Array.from({ length: 600 }, () => ({})) })) }
  assert.deepEqual(validate(wide), [])
  wide.below[499]?.below.push(1 as never)
  assert.deepEqual(
    validate(wide).map(({ pointer }) => pointer),
    ['/f/below/499/below/600'],
  )
})

test('a reference is the id of a record, in lower case', () => {
  const validate = compileField(
    'project_id',
    { type: 'string', schema: { type: 'string', format: 'uuid' } },
    'projects',
  )
  assert.deepEqual(validate('0190f0a0-0000-7000-8000-0000000000ab'), [])
  for (const text of ['0190F0A0-0000-7000-8000-0000000000AB', 'x', '']) {
    assert.deepEqual(validate(text), [issue('id', { pointer: '/project_id', target: 'projects' })])
  }
  assert.equal(validate(7)[0]?.code, 'INVALID_TYPE')
})

test('integers must be exact', () => {
  const validate = compileField('n', { type: 'integer', schema: { type: 'integer' } })
  assert.deepEqual(validate(Number.MAX_SAFE_INTEGER), [])
  assert.equal(validate(2 ** 53)[0]?.code, 'TOO_LARGE')
  assert.equal(validate(-1e300)[0]?.code, 'TOO_SMALL')
  assert.equal(validate(0.5)[0]?.code, 'INVALID_TYPE')
})
