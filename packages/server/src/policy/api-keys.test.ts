import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { grantKey, type KeyWish } from './api-keys.ts'
import type { Caller } from './caller.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const later = '2026-11-21T13:00:00.000Z'
const nothing: KeyWish = { subject: undefined, roles: undefined, claims: undefined, expires_at: undefined }

function caller(more: Partial<Caller> = {}): Caller {
  return {
    id: 'ann',
    roles: ['editor', 'reader'],
    claims: {},
    credential: 'k',
    expiresAt: Number.POSITIVE_INFINITY,
    ...more,
  }
}

const administrator = caller({ id: 'root', roles: ['admin'] })

const granted: readonly (readonly [string, Caller, Partial<KeyWish>, object])[] = [
  ['nothing said', caller(), {}, { subject: 'ann', roles: ['editor', 'reader'], expires_at: null }],
  ['fewer roles', caller(), { roles: ['reader'] }, { subject: 'ann', roles: ['reader'], expires_at: null }],
  ['no role', caller(), { subject: 'ann', roles: [] }, { subject: 'ann', roles: [], expires_at: null }],
  ['an end', caller(), { expires_at: later }, { subject: 'ann', roles: ['editor', 'reader'], expires_at: later }],
  [
    ...(['no end, by a credential that has one', caller({ expiresAt: noon }), { roles: [] }] as const),
    { subject: 'ann', roles: [], expires_at: '2026-11-21T12:00:00.000Z' },
  ],
  [
    ...(['the same end', caller({ expiresAt: noon }), { roles: [], expires_at: '2026-11-21T12:00:00.000Z' }] as const),
    { subject: 'ann', roles: [], expires_at: '2026-11-21T12:00:00.000Z' },
  ],
  [
    ...([
      'own claims',
      caller({ claims: { team: 'a', x: { b: [1], c: 2 } } }),
      { claims: { x: { c: 2, b: [1] } } },
    ] as const),
    { subject: 'ann', roles: ['editor', 'reader'], claims: { x: { c: 2, b: [1] } }, expires_at: null },
  ],
  [
    ...(['any claims, by an administrator', administrator, { subject: 'bob', claims: { team: 'a' } }] as const),
    { subject: 'bob', roles: [], claims: { team: 'a' }, expires_at: null },
  ],
  ['administrators for themselves', administrator, {}, { subject: 'root', roles: ['admin'], expires_at: null }],
  [
    'and for others, who get no role unsaid',
    administrator,
    { subject: 'bob' },
    { subject: 'bob', roles: [], expires_at: null },
  ],
  [
    ...(['nor fewer than were said', administrator, { subject: 'bob', roles: ['x'], expires_at: later }] as const),
    { subject: 'bob', roles: ['x'], expires_at: later },
  ],
]

for (const [name, asks, wish, grant] of granted) {
  test(`granted: ${name}`, () =>
    assert.deepEqual(grantKey(asks, { ...nothing, ...wish }), { grant: { claims: null, ...grant } }))
}

const refused: readonly (readonly [string, Caller, Partial<KeyWish>, readonly string[]])[] = [
  ['somebody else', caller(), { subject: 'bob' }, ['/subject']],
  ['the same name in another case', caller(), { subject: 'Ann' }, ['/subject']],
  ['a role that the caller does not have', caller(), { roles: ['reader', 'admin'] }, ['/roles/1']],
  [
    'a claim that the caller does not have',
    caller({ claims: { team: 'a' } }),
    { claims: { 'te/am': 'a' } },
    ['/claims/te~1am'],
  ],
  ['a claim of another value', caller({ claims: { n: 1, t: 'a' } }), { claims: { n: '1', t: 'a' } }, ['/claims/n']],
  ['a claim that every object has', caller(), { claims: { toString: null } }, ['/claims/toString']],
  ['a role in another case', caller(), { roles: ['Editor'] }, ['/roles/0']],
  [
    ...([
      'a later end, by an administrator',
      caller({ roles: ['admin'], expiresAt: noon }),
      { expires_at: later },
    ] as const),
    ['/expires_at'],
  ],
  ['a later end', caller({ expiresAt: noon }), { expires_at: later }, ['/expires_at']],
  [
    ...(['all at once', caller({ expiresAt: noon }), { subject: 'x', roles: ['a', 'b'], expires_at: later }] as const),
    ['/subject', '/roles/0', '/roles/1', '/expires_at'],
  ],
]

for (const [name, asks, wish, pointers] of refused) {
  test(`refused: ${name}`, () => {
    const decided = grantKey(asks, { ...nothing, ...wish })
    assert.ok('refusals' in decided)
    assert.deepEqual(
      decided.refusals.map(({ pointer }) => pointer),
      pointers,
    )
  })
}

test('the issue names the role', () => {
  const decided = grantKey(caller(), { ...nothing, roles: ['admin'] })
  assert.ok('refusals' in decided)
  assert.equal(decided.refusals.map(sentenceOf)[0], 'You do not have the role "admin", so your keys cannot have it.')
})

test('a role of lastingRoles removes the limit on the expiry, and nothing else', () => {
  const operator = caller({ roles: ['operator'], expiresAt: noon })
  const decided = grantKey(operator, nothing, ['operator'])
  assert.deepEqual(decided, { grant: { subject: 'ann', roles: ['operator'], claims: null, expires_at: null } })
  assert.ok('refusals' in grantKey(operator, { ...nothing, subject: 'bob' }, ['operator']))
  assert.ok('refusals' in grantKey(operator, { ...nothing, expires_at: later }, ['auditor']))
})
