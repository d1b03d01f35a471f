import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldLabel, isNumeric, labelOf } from './catalog.ts'

test('a label is the name in words, with the capitals that people write', () => {
  const labels = [
    'due_on',
    'line-items',
    'id',
    'vat_id',
    'api-keys',
    'image_urls',
    'paid',
    'is_valid',
    'sku',
    'ids',
    's',
  ]
  const expected = [
    'Due on',
    'Line items',
    'ID',
    'VAT ID',
    'API keys',
    'Image URLs',
    'Paid',
    'Is valid',
    'SKU',
    'IDs',
    'S',
  ]
  assert.deepEqual(labels.map(labelOf), expected)
})

test('only the label of a reference leaves out _id', () => {
  assert.equal(fieldLabel({ name: 'project_id', reference: 'projects' }), 'Project')
  assert.equal(fieldLabel({ name: 'project_id' }), 'Project ID')
  assert.equal(fieldLabel({ name: 'vat_id' }), 'VAT ID')
})

test('decimals are numbers, and texts of digits are not', () => {
  assert.ok(isNumeric({ type: ['string', 'null'], format: 'decimal' }))
  assert.ok(isNumeric({ type: ['integer', 'null'] }))
  assert.ok(!isNumeric({ type: 'string', pattern: '^\\d+$' }))
})
