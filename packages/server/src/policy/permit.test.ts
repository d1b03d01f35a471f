import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { AccessRule, Condition } from 'resourced-contract/model/declaration'
import { always, never } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { permit } from './permit.ts'

const team = { type: 'string', optional: true } as const

function grantOf(rule: AccessRule, claims: Readonly<Record<string, unknown>> = {}) {
  const catalog = completeCatalog({ name: 'x', resources: { notes: { fields: { team }, access: { read: rule } } } })
  return permit(catalog, { id: 'ann', roles: [], claims }, 'read', catalog.resources.get('notes') as Resource)
}

test('AUT-6: a comparison with a missing value allows no record, under not too', () => {
  const claim = { caller: 'claims.team' }
  const mine = { kind: 'compare', field: 'team', operator: 'eq', value: 'ann' }
  assert.equal(grantOf({ where: { team: claim } }), never)
  assert.equal(grantOf({ where: { not: { team: claim } } }), never)
  assert.equal(grantOf({ where: { not: { not: { team: claim } } } }), never)
  assert.equal(grantOf({ where: { team: { not: claim } } }), never)
  assert.equal(grantOf({ where: { not: { team: { in: ['a', claim] } } } }), never)
  assert.equal(grantOf({ where: { not: { or: [{ team: claim }, { team: 'a' }] } } }), never)
  assert.deepEqual(grantOf({ where: { or: [{ team: claim }, { team: { caller: 'id' } }] } }), mine)
  assert.deepEqual(grantOf({ where: { not: { and: [{ team: claim }, { not: { team: 'ann' } }] } } }), mine)
  assert.deepEqual(grantOf({ where: { team: { in: [claim, 'ann'] } } }, { team: null }), { kind: 'in', field: 'team', values: ['ann'] })
  assert.deepEqual(grantOf({ where: { team: { in: [claim] } } }, { team: ['ann', 7] }), { kind: 'in', field: 'team', values: ['ann'] })
}) // biome-ignore format: one row reads best

test('AUT-15: a lookup compares two records; none is never true where its condition is unknown', () => {
  const claim = { caller: 'claims.team' }
  const link = { kind: 'outer', field: 'id', operator: 'eq', outer: 'team' } as const
  const some = (predicate: object) => ({ kind: 'some', collection: 'notes', predicate })
  const where = { id: { record: 'team' }, team: claim }
  const both = { kind: 'and', terms: [link, { kind: 'compare', field: 'team', operator: 'eq', value: 'a' }] }
  assert.deepEqual(grantOf({ some: 'notes', where }, { team: 'a' }), some(both))
  assert.deepEqual(grantOf({ none: 'notes', where }, { team: 'a' }), { kind: 'not', term: some(both) })
  for (const team of [undefined, null, 7]) {
    assert.equal(grantOf({ some: 'notes', where }, { team }), never)
    assert.equal(grantOf({ none: 'notes', where }, { team }), never)
    assert.equal(grantOf({ none: 'notes', where: { not: where } }, { team }), never)
  }
  // Nobody is in none of no teams, and who is in none has no such record.
  assert.equal(grantOf({ some: 'notes', where: { team: { in: [claim] } } }, { team: [] }), never)
  const any: Condition = { or: [{ id: { in: [{ record: 'team' }] } }, { team: claim }] }
  assert.deepEqual(grantOf({ some: 'notes', where: any }), some(link))
  assert.equal(grantOf({ none: 'notes', where: any }), never)
})

test('AUT-15: of all rules each must permit, and after one that permits nothing none is asked', () => {
  const open = { where: { team: 'a' } }
  assert.deepEqual(grantOf({ all: ['anyone', open] }), { kind: 'compare', field: 'team', operator: 'eq', value: 'a' })
  assert.equal(grantOf({ all: ['anyone', { all: ['anyone'] }] }), always)
  let asked = 0
  const count = () => ++asked > 0
  assert.equal(grantOf({ all: [open, 'nobody', count] }), never)
  assert.equal(asked, 0)
  assert.equal(grantOf([{ all: [open, 'role:x'] }, { all: [count] }] as never), always)
})

test('AUT-6: a time is compared with timestamps to its last digit', () => {
  const grant = (operator: string, since: string) =>
    grantOf({ where: { created_at: { [operator]: { caller: 'claims.since' } } } }, { since })
  const compare = (operator: string, value: string) => ({ kind: 'compare', field: 'created_at', operator, value })
  const exact = compare('gte', '2026-11-21T08:00:00.500Z')
  assert.deepEqual(grant('gte', '2026-11-21T09:00:00.500000+01:00'), exact)
  // After the timestamp with the same milliseconds, and before the next one.
  const next = '2026-11-21T08:00:00.500Z~'
  for (const operator of ['gt', 'gte']) {
    assert.deepEqual(grant(operator, '2026-11-21T08:00:00.5001Z'), compare('gte', next))
  }
  for (const operator of ['lt', 'lte']) {
    assert.deepEqual(grant(operator, '2026-11-21T08:00:00.5001Z'), compare('lt', next))
  }
  const equal = { where: { created_at: { not: { caller: 'claims.since' } } } }
  assert.equal(grantOf(equal, { since: '2026-11-21T08:00:00.5001Z' }), always)
})

test('a function returns true, false or a condition, and no promise', () => {
  assert.equal(
    grantOf(() => true),
    always,
  )
  assert.equal(
    grantOf(() => false),
    never,
  )
  assert.throws(() => grantOf((() => null) as never), /neither true, false nor a condition/)
  assert.throws(() => grantOf((() => 'yes') as never), /neither true, false nor a condition/)
  assert.equal(
    grantOf(({ claims }) => ({ team: (claims['team'] ?? null) as null })),
    never,
  )
  assert.throws(() => grantOf((async () => false) as never), /promise/i)
})
