import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Schema } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'
import { firstValue, inputKind, simplified } from './input-kind.ts'

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })
const kindOf = (schema: Schema, value?: JsonValue) => inputKind(simplified(schema), value)

const schemas: readonly (readonly [string, Schema, string])[] = [
  ['a text', { type: 'string' }, 'text'],
  ['a text or null', { type: ['string', 'null'], pattern: '^a' }, 'text'],
  ['an e-mail address', { type: 'string', format: 'email' }, 'text'],
  ['a time', { type: 'string', format: 'time' }, 'text'],
  ['a duration', { type: 'string', format: 'duration' }, 'text'],
  ['a date', { type: ['string', 'null'], format: 'date' }, 'date'],
  ['a moment', { type: 'string', format: 'date-time' }, 'moment'],
  ['a decimal', { type: ['string', 'number', 'null'], format: 'decimal' }, 'decimal'],
  ['a listed decimal', { type: 'string', format: 'decimal', enum: ['1.00', '2.50'] }, 'choice'],
  ['an integer', { type: 'integer' }, 'number'],
  ['a number', { type: ['number', 'null'] }, 'number'],
  ['a truth value', { type: 'boolean' }, 'yes-no'],
  ['an enum of texts, numbers and null', { enum: ['a', 1, true, null] }, 'choice'],
  ['an enum with an object', { enum: [{ a: 1 }] }, 'json'],
  ['a constant', { const: 5 }, 'choice'],
  ['a constant or null', orNull({ const: 'x' }), 'choice'],
  ['constants', { anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] }, 'choice'],
  ['one alternative and null', { oneOf: [{ type: 'null' }, { type: 'string', format: 'date' }] }, 'date'],
  ['several alternatives', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'json'],
  ['texts and numbers', { type: ['string', 'number'] }, 'json'],
  ['a list of texts', { type: 'array', items: { type: 'string' } }, 'list'],
  ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'integer' } } }, 'list'],
  ['a list of objects', { type: 'array', items: { type: 'object', properties: { a: {} } } }, 'list'],
  ['a list of anything', { type: 'array', items: {} }, 'json'],
  ['a list without items', { type: 'array' }, 'json'],
  ['a tuple', { type: 'array', items: { type: 'string' }, prefixItems: [{ type: 'integer' }] }, 'json'],
  ['declared members', { type: ['object', 'null'], properties: { a: { type: 'string' } } }, 'members'],
  ['an open object', { type: 'object' }, 'json'],
  ['all of', { allOf: [{ type: 'string' }] }, 'json'],
  ['a reference to a schema', { $ref: '#/$defs/a' }, 'json'],
  ['anything', {}, 'json'],
]

for (const [title, schema, kind] of schemas) {
  test(`${title}: ${kind}`, () => {
    assert.equal(kindOf(schema), kind)
    assert.equal(kindOf(schema, null), kind)
  })
}

test('a value that its input could not show is edited as what it is', () => {
  assert.equal(kindOf({ type: 'string' }, 5), 'json')
  assert.equal(kindOf({ type: 'integer' }, '5'), 'json')
  assert.equal(kindOf({ enum: ['a', 'b'] }, 'c'), 'json')
  assert.equal(kindOf({ type: 'array', items: { type: 'string' } }, 'a'), 'json')
  assert.equal(kindOf({ type: 'object', properties: { a: {} } }, ['a']), 'json')
  assert.equal(kindOf({ type: 'string', format: 'date' }, '12027-01-01'), 'text')
  assert.equal(kindOf({ type: 'string', format: 'date-time' }, '2016-12-31T23:59:60Z'), 'text')
  assert.equal(kindOf({ type: 'string', format: 'date-time' }, '2026-03-29T01:30:00.123456+02:00'), 'moment')
})

test('a new entry of a list begins with a value of its type', () => {
  assert.equal(firstValue({ type: 'string' }), '')
  assert.equal(firstValue({ type: 'integer', 'x-default': 3 }), 3)
  assert.equal(firstValue({ enum: ['b', 'a'] }), 'b')
  assert.deepEqual(firstValue({ type: 'object', properties: { a: {} } }), {})
  assert.deepEqual(firstValue({ type: 'array', items: { type: 'string' } }), [])
})

test('an object begins with the lists that have to be sent and may be empty', () => {
  const list = { type: 'array', items: { type: 'string' } }
  const properties = { a: list, b: { ...list, minItems: 1 }, c: { ...list, type: ['array', 'null'] }, d: list, e: {} }
  assert.deepEqual(firstValue({ type: 'object', properties, required: ['a', 'b', 'c', 'e', 'f'] }), { a: [] })
})
