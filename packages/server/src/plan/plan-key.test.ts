import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Resource } from 'resourced-contract/model/resource'
import { countErrors, sentenceOf } from 'resourced-contract/spec/faults'
import { readKeyRequest } from './plan-key.ts'

const keys = completeCatalog({ name: 'x', resources: {} }).system.get('api-keys') as Resource
const now = Date.UTC(2026, 10, 21)
const nothing = { subject: undefined, roles: undefined, claims: undefined, expires_at: undefined, issues: [] }

test('every member may be missing or null', () => {
  assert.deepEqual(readKeyRequest(keys, {}, now), nothing)
  assert.deepEqual(readKeyRequest(keys, { subject: null, roles: null, claims: null, expires_at: null }, now), nothing)
})

test('all members are read', () => {
  const attributes = { subject: 'a b', roles: ['x', 'y z'], claims: { team: 'a', all: [1, { b: null }] } }
  const body = { ...attributes, expires_at: '2027-01-01t02:00:00.5+02:00' }
  assert.deepEqual(readKeyRequest(keys, body, now), { ...body, expires_at: '2027-01-01T00:00:00.500Z', issues: [] })
  assert.deepEqual(readKeyRequest(keys, { roles: [] }, now), { ...nothing, roles: [] })
  const longest = { subject: '😀'.repeat(200), roles: Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(100, 'é')) }
  assert.deepEqual(readKeyRequest(keys, longest, now), { ...nothing, ...longest })
})

const wrong: readonly (readonly [body: unknown, ...issues: string[]])[] = [
  ['text', 'INVALID_TYPE '],
  [[], 'INVALID_TYPE '],
  [{ subject: '' }, 'TOO_SHORT /subject'],
  [{ subject: 'x'.repeat(201) }, 'TOO_LONG /subject'],
  [{ subject: 'x'.repeat(1_000_000) }, 'TOO_LONG /subject'],
  [{ subject: 'a\nb' }, 'INVALID_VALUE /subject'],
  [{ subject: 'a\u0085b' }, 'INVALID_VALUE /subject'],
  [{ subject: ' ann' }, 'INVALID_VALUE /subject'],
  [{ subject: 5 }, 'INVALID_TYPE /subject'],
  [{ roles: 'editor' }, 'INVALID_TYPE /roles'],
  [{ roles: { length: 1 } }, 'INVALID_TYPE /roles'],
  [
    { roles: ['x', null, 'x', '', 'a,b'] },
    'INVALID_TYPE /roles/1',
    'INVALID_VALUE /roles/2',
    'TOO_SHORT /roles/3',
    'INVALID_VALUE /roles/4',
  ],
  [{ roles: ['x'.repeat(101)] }, 'TOO_LONG /roles/0'],
  [{ roles: Array(51).fill('x') }, 'TOO_MANY_ITEMS /roles'],
  [{ claims: ['team'] }, 'INVALID_TYPE /claims'],
  [{ claims: 'team' }, 'INVALID_TYPE /claims'],
  [{ claims: { team: 'x'.repeat(2_000) } }, 'TOO_LONG /claims'],
  [{ expires_at: 1 }, 'INVALID_TYPE /expires_at'],
  [{ expires_at: '2027-01-01' }, 'INVALID_FORMAT /expires_at'],
  [{ expires_at: '2027-02-30T00:00:00Z' }, 'INVALID_FORMAT /expires_at'],
  [{ expires_at: '2027-01-01T00:00:00' }, 'INVALID_FORMAT /expires_at'],
  [{ expires_at: '2026-12-31T23:59:60Z' }, 'INVALID_FORMAT /expires_at'],
  [{ expires_at: '2026-11-21T00:00:00Z' }, 'INVALID_VALUE /expires_at'],
  [{ id: 'x', created_at: 'x', revoked_at: null }, 'READ_ONLY /id', 'READ_ONLY /created_at', 'READ_ONLY /revoked_at'],
  [{ hash: 'x', key: 'x', 'a/b': 1 }, 'UNKNOWN_FIELD /hash', 'UNKNOWN_FIELD /key', 'UNKNOWN_FIELD /a~1b'],
  [{ constructor: 1, subject: 7 }, 'UNKNOWN_FIELD /constructor', 'INVALID_TYPE /subject'],
]

for (const [body, ...expected] of wrong) {
  test(`wrong: ${JSON.stringify(body).slice(0, 60)}`, () => {
    const { issues } = readKeyRequest(keys, body, now)
    assert.deepEqual(
      issues.map(({ code, pointer }) => `${code} ${pointer}`),
      expected,
    )
    for (const issue of issues) assert.match(sentenceOf(issue), /^[A-Za-z].*[.?]$/)
  })
}

test('a wrong member is not read as a missing one', () => {
  const { subject, roles, issues } = readKeyRequest(keys, { subject: 'ann', roles: ['x', 'x'] }, now)
  assert.deepEqual([subject, roles, issues.length], ['ann', undefined, 1])
})

test('so many errors are made, and all are counted', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, i]))
  const { issues } = readKeyRequest(keys, many, now)
  assert.deepEqual([issues.length, countErrors(issues)], [1_001, 5_000])
})
