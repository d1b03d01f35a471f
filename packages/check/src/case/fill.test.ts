import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CollectionProfile, type Profile, usualNames } from '../profile/profile.ts'
import { type CaseState, type CreatedRecord, NotApplicable, NotSetUp } from './case.ts'
import { areSequential, choosableIdentifier, fill, forgedCursor, isSequential, wordOf } from './fill.ts'
import { nestedList, parent, parentCollection, Reference } from './references.ts'

const [one, list] = Reference.named('one', 'list')

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

const random = [
  '01a201d2-9150-79e5-91de-3d34e5696a39',
  '123e4567-e89b-12d3-a456-426614174000',
  '507f1f77bcf86cd799439011',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'V1StGXR8_Z5jdHi6B-myT',
  'oslo',
]
const sequential = ['7', '190000000000000001', 'ORD-000123', 'INV-2026-11-22-000001', 'c12']

test('Integers and texts that end with a number are sequential; UUIDs and other random texts are not', () => {
  assert.deepEqual(random.filter(isSequential), [])
  assert.deepEqual(sequential.filter(isSequential), sequential)
})

test('Short random texts that end with a digit by chance are not sequential', () => {
  assert.equal(areSequential(['4e12', '83b3', 'b18f']), false)
  assert.equal(areSequential(['6118', '03e3', '97b8']), false)
  assert.equal(areSequential(['c12', 'c13', 'c14']), true)
  assert.equal(areSequential(['7', '8', '10']), true)
  assert.equal(areSequential(['ORD-0001', 'INV-0001', 'ORD-0002']), true)
  assert.equal(areSequential(['4e12']), true)
  assert.equal(areSequential(['oslo', 'rome', 'bern']), false)
  assert.equal(areSequential(['4Ar9SS0eb25Yt_1', 'x_DISr_NyZGIF72', '-O6EtgHJMKwVbm6']), false)
  assert.equal(areSequential(['A-7', 'A-8', 'B-7']), true)
})

test('A sequential identifier is chosen only where the profile allows it, and then close to those in use', () => {
  const chosen = (id: string, allowChosenIds: boolean) => {
    const profile: Profile = { base: 'https://a.example', names: usualNames, open: [], collections: [], allowChosenIds }
    return choosableIdentifier({
      profile,
      mark: 'checked-0a',
      collection: { sequential: undefined },
      made: new Map([['one', { id, path: `/x/${id}` }]]),
    } as unknown as CaseState)
  }
  for (const id of sequential) assert.throws(() => chosen(id, false), NotApplicable)
  const number = Number(chosen('7', true))
  assert.ok(number > 1_000 && number < 11_000)
  assert.equal(chosen('190000000000000001', true)?.length, 18)
  for (const id of random) {
    const fresh = chosen(id, false)
    assert.equal(fresh?.length, id.length)
    assert.notEqual(fresh, id)
  }
})

test('a forged cursor that can be read once decoded stays readable, and says something else', () => {
  const cursor = Buffer.from('{"id":"a7","at":12}').toString('base64url')
  const forged = Buffer.from(forgedCursor(cursor), 'base64url').toString()
  assert.notEqual(forgedCursor(cursor), cursor)
  assert.deepEqual(Object.keys(JSON.parse(forged)), ['id', 'at'])
})

test('a forged cursor that cannot be read differs in one character', () => {
  for (const cursor of ['Ab-9_zQ77y1kX', '8d1f-44', '17', 'b', '1']) {
    const forged = forgedCursor(cursor)
    assert.equal(forged.length, cursor.length)
    assert.equal([...forged].filter((letter, index) => letter !== cursor[index]).length, 1, cursor)
  }
})

test('the word of a mark has letters alone, and another for each mark', () => {
  assert.match(wordOf('checked-0a1b2c3d4e'), /^[a-z]{12}$/)
  assert.notEqual(wordOf('checked-0a1b2c3d4e'), wordOf('checked-0a1b2c3d4f'))
})
