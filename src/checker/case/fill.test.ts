import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CollectionProfile, usualNames } from '../profile/profile.ts'
import type { CaseState, CreatedRecord } from './case-state.ts'
import { fill } from './fill.ts'
import { NotSetUp } from './not-judged.ts'
import { nestedList, parent, parentCollection, references } from './references.ts'

const [one, list] = references('one', 'list')

const usual: CollectionProfile = {
  ...{ name: 'cities', path: '/cities', operations: [], id: 'id', references: { country_id: 'countries' } },
  ...{ unique: [], required: [], change: {}, optional: {}, invalid: {}, filters: [], sorts: [], children: {} },
  ...{ deletion: 'soft', pages: [], conditional: false },
}

function knownOf(made: Readonly<Record<string, CreatedRecord>>): CaseState {
  const countries = { ...usual, name: 'countries', path: '/countries', references: {}, children: { towns: 'cities' } }
  return {
    profile: { base: 'https://a.example/v1', names: usualNames, open: [], collections: [usual, countries] },
    ...{ collection: usual, mark: 'm', exchanges: new Map(), made: new Map(Object.entries(made)) },
  }
}

test('An identifier that never was is of the same kind, and no server reads a number of its own from it', () => {
  const others: Readonly<Record<string, string>> = {
    '17': '17000000',
    '01a201d2-9150-79e5-91de-3d34e5696a39': 'ffffffff-ffff-7fff-9fff-ffffffffffff',
    '507f1f77bcf86cd799439011': 'f'.repeat(24),
    usr_8sKd2: 'usr_zsKdz',
    ab1: 'abz',
    oslo: 'osloz',
  }
  for (const [id, other] of Object.entries(others)) {
    assert.equal(fill(one.otherId, knownOf({ one: { id, path: `/v1/cities/${id}` } })), other)
  }
})

test('What a record refers to has places, and the list below it', () => {
  const known = knownOf({ 'parent countries': { id: '7', path: '/v1/countries/7' } })
  assert.equal(
    fill(`${parent} ${parent.id} ${parentCollection} ${nestedList}`, known),
    '/v1/countries/7 7 /v1/countries /v1/countries/7/towns',
  )
})

test('What was only found to be referred to is not given away', () => {
  const known = knownOf({ 'parent countries': { id: '7', path: '/v1/countries/7', isExisting: true } })
  for (const place of [parent.path, parent.id, nestedList]) assert.throws(() => fill(place, known), NotSetUp)
})

test('A place in a list gives away what was made for the case, and nothing else', () => {
  const answer = { status: 200, version: '1.1', fields: [], body: '{"data":[{"id":"7"},{"id":"8"}]}' }
  const exchange = { step: 'list', asked: { method: 'GET', url: 'https://a.example/v1/cities', fields: [] }, answer }
  const known = {
    ...knownOf({ one: { id: '8', path: '/v1/cities/8' } }),
    exchanges: new Map([['list', [{ ...exchange, milliseconds: 1 }]]]),
  }
  assert.equal(fill(list.item(1), known), '8')
  assert.throws(() => fill(list.item(0), known), NotSetUp)
})
