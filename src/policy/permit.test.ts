import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from '../model/catalog.ts'
import type { AccessRule } from '../model/declaration.ts'
import { always, never } from '../model/predicate.ts'
import type { Resource } from '../model/resource.ts'
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
