import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Collection, Field, Schema } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'
import { bodyOf, cellValue, type EmptyCell, guessMapping, importableFields } from './mapping.ts'

const text: Schema = { type: 'string' }

function field(name: string, input: Schema | undefined, more: Partial<Field> = {}): Field {
  return { name, schema: input ?? text, input, required: false, ...more }
}

const fields = [
  field('id', undefined, { read_only: true }),
  field('title', text, { required: true }),
  field('project_id', { type: 'string', format: 'uuid' }, { reference: 'projects' }),
  field('due_on', { type: ['string', 'null'], format: 'date' }),
  field('estimate', { type: ['integer', 'null'] }),
  field('owner_id', text, { read_only: true }),
]
const collection = { fields, field: new Map(fields.map((each) => [each.name, each])) } as unknown as Collection

test('columns are mapped by name, each field once, and only to fields that can be sent', () => {
  const columns = ['id', 'TITLE', 'Project', 'dueOn', 'Due on', 'unknown', 'owner_id']
  assert.deepEqual(
    [...guessMapping(columns, importableFields(collection)).values()],
    ['', 'title', 'project_id', 'due_on', '', '', ''],
  )
})

const decimal: Schema = { type: ['string', 'number'] }
const values: readonly (readonly [string, Schema, JsonValue])[] = [
  [' keeps spaces ', text, ' keeps spaces '],
  ['007', text, '007'],
  ['42', { type: 'integer' }, 42],
  [' -1.5e3 ', { type: ['number', 'null'] }, -1500],
  // None of these is a number of JSON: the server says so.
  ['007', { type: 'integer' }, '007'],
  ['1,5', { type: 'number' }, '1,5'],
  ['12345678901234567890', { type: 'integer' }, '12345678901234567890'],
  ['19.90', decimal, '19.90'],
  ['Yes', { type: 'boolean' }, true],
  ['0', { type: ['boolean', 'null'] }, false],
  ['maybe', { type: 'boolean' }, 'maybe'],
  ['DONE', { enum: ['open', 'done', null] }, 'done'],
  ['2', { enum: [1, 2] }, 2],
  ['gone', { enum: ['open', 'done'] }, 'gone'],
  ['["a"]', { type: 'array', items: text }, ['a']],
  ['a, b', { type: 'array', items: text }, 'a, b'],
  ['{"a":1}', { type: 'object' }, { a: 1 }],
  ['2026-12-31', { type: 'string', format: 'date' }, '2026-12-31'],
  ['31.12.2026', { type: 'string', format: 'date' }, '2026-12-31'],
  ['1.2.2026', { type: 'string', format: 'date' }, '2026-02-01'],
  ['2026/12/31', { type: 'string', format: 'date' }, '2026-12-31'],
  ['2026-12-31 08:00', { type: 'string', format: 'date' }, '2026-12-31'],
  // The first of December, or the twelfth of January?
  ['12/01/2026', { type: 'string', format: 'date' }, '12/01/2026'],
  ['2026-12-31T08:00:00+02:00', { type: 'string', format: 'date-time' }, '2026-12-31T08:00:00+02:00'],
  ['2026-12-31 08:00', { type: 'string', format: 'date-time' }, new Date(2026, 11, 31, 8).toISOString()],
  ['31.12.2026 08:00', { type: 'string', format: 'date-time' }, new Date(2026, 11, 31, 8).toISOString()],
  ['2026-12-31', { type: 'string', format: 'date-time' }, new Date(2026, 11, 31).toISOString()],
  ['2026-99-31', { type: 'string', format: 'date-time' }, '2026-99-31'],
]
for (const [cell, input, expected] of values) {
  test(`a cell as ${JSON.stringify(input)}: ${JSON.stringify(cell)}`, () => {
    assert.deepEqual(cellValue(cell, { input }), expected)
  })
}

test('an id of a reference is written as the server writes ids', () => {
  assert.equal(cellValue(' 01A2-B ', { input: text, reference: 'projects' }), '01a2-b')
})

function body(values: Record<string, JsonValue>, empty: EmptyCell, isCsv: boolean) {
  const content = isCsv ? [] : ''
  const mapping = guessMapping(['title', 'due_on', 'estimate', 'left out'], importableFields(collection))
  return bodyOf({ line: 1, content, values: new Map(Object.entries(values)) }, collection, mapping, empty)
}

test('empty cells are left out, null or an empty text', () => {
  const cells = { title: '', due_on: '', estimate: '', 'left out': 'x' }
  assert.deepEqual(body(cells, 'omit', true), {})
  assert.deepEqual(body(cells, 'null', true), { title: null, due_on: null, estimate: null })
  assert.deepEqual(body(cells, 'text', true), { title: '', due_on: '', estimate: null })
})

test('values of JSON stay what they are, and unknown members reach the server', () => {
  const record = { title: '', due_on: '31.12.2026', estimate: '7', 'left out': 1, later: true, __proto__: null }
  assert.deepEqual(body(record, 'omit', false), { title: '', due_on: '31.12.2026', estimate: 7, later: true })
})
