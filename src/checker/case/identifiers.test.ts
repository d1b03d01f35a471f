import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Profile, usualNames } from '../profile/profile.ts'
import type { CaseState } from './case-state.ts'
import { choosableIdentifier, isSequential } from './identifiers.ts'
import { NotApplicable } from './not-judged.ts'

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

test('A sequential identifier is chosen only where the profile allows it, and then close to those in use', () => {
  const chosen = (id: string, allowChosenIds: boolean) => {
    const profile: Profile = { base: 'https://a.example', names: usualNames, open: [], collections: [], allowChosenIds }
    return choosableIdentifier({
      profile,
      mark: 'checked-0a',
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
