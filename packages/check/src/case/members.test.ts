import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CollectionProfile } from '../profile/profile.ts'
import { memberOf, twoValuesOf } from './members.ts'

const cities: CollectionProfile = {
  ...{ name: 'cities', path: '/cities', operations: [], id: 'id', required: [], invalid: {}, children: {} },
  ...{ deletion: 'soft', pages: [], conditional: false, marker: 'name' },
  example: { name: 'Bern', code: 'CH-1', state: 'open', people: 130, land_id: 5, note: 'small' },
  references: { land_id: 'lands' },
  unique: ['code'],
  change: { state: 'closed' },
  optional: { people: 130 },
  filters: ['name', 'code', 'land_id', 'people'],
  sorts: ['name', 'code', 'land_id', 'state', 'people'],
}

test('two values come from the example and the change, the lesser first; of a number the next is as good', () => {
  assert.deepEqual(twoValuesOf(cities, 'state'), { less: 'closed', more: 'open' })
  assert.deepEqual(twoValuesOf(cities, 'people'), { less: 130, more: 131 })
})

test('what differs in each record, refers to another or marks records has no two values', () => {
  for (const name of ['code', 'land_id', 'name', 'note']) assert.equal(twoValuesOf(cities, name), undefined, name)
})

test('members are found by what can be done with them, numbers first', () => {
  assert.equal(memberOf(cities, 'ranked'), 'people')
  assert.equal(memberOf({ ...cities, sorts: ['state'] }, 'ranked'), 'state')
  assert.equal(memberOf(cities, 'measured'), 'people')
  assert.equal(memberOf(cities, 'emptied'), 'people')
  assert.equal(memberOf(cities, 'undeclared'), 'note')
  assert.equal(memberOf({ ...cities, sorts: [] }, 'undeclared'), undefined)
})
