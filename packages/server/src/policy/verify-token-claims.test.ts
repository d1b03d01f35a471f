import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerOfClaims, rolesOf } from './verify-token.ts'

const subjects: readonly [name: string, sub: unknown, accepted: boolean][] = [
  ['a text', 'ann', true],
  ['what providers make', 'auth0|6f0c…', true],
  ['200 characters, each of four bytes', '😀'.repeat(200), true],
  ['201 characters', 'a'.repeat(201), false],
  ['the empty text', '', false],
  ['nothing', undefined, false],
  ['null', null, false],
  ['a number', 7, false],
  ['an array', ['ann'], false],
  ['an object', { id: 'ann' }, false],
  ['a text with U+0000', 'a\0', false],
  ['half a surrogate pair', 'a\ud83d', false],
]
for (const [name, sub, accepted] of subjects) {
  test(`AUT-2: ${name} as sub is ${accepted ? 'the id of the caller' : 'nobody'}`, () => {
    assert.equal(callerOfClaims({ sub }, 'roles')?.id, accepted ? sub : undefined)
  })
}

test('access rules get all claims, frozen', () => {
  const caller = callerOfClaims({ sub: 'ann', team: { name: 'red' } }, 'roles')
  assert.deepEqual(caller, {
    id: 'ann',
    roles: [],
    claims: { sub: 'ann', team: { name: 'red' } },
    credential: 'jwt',
    expiresAt: 0,
  })
  assert.ok(caller !== undefined)
  const team = caller.claims['team'] as { name: string }
  assert.throws(() => (team.name = 'blue'), TypeError)
  assert.throws(() => (caller.roles as string[]).push('admin'), TypeError)
})

test('an inherited sub does not count', () => {
  assert.equal(callerOfClaims(Object.create({ sub: 'ann' }), 'roles'), undefined)
})

const roles: readonly [claims: unknown, claim: string, roles: readonly string[]][] = [
  [{ roles: ['editor', 'admin'] }, 'roles', ['editor', 'admin']],
  [{ roles: 'editor  admin ' }, 'roles', ['editor', 'admin']],
  [{ roles: ['editor', 7, null, ['admin'], { name: 'admin' }] }, 'roles', ['editor']],
  [{ roles: { admin: true } }, 'roles', []],
  [{ roles: 7 }, 'roles', []],
  [{ roles: null }, 'roles', []],
  [{}, 'roles', []],
  [{ scope: 'read write' }, 'scope', ['read', 'write']],
  [{ realm_access: { roles: ['editor'] } }, 'realm_access.roles', ['editor']],
  [{ realm_access: ['roles'] }, 'realm_access.roles', []],
  [{ realm_access: null }, 'realm_access.roles', []],
  [{ 'https://a.example/roles': ['editor'] }, 'https://a.example/roles', ['editor']],
  [{ 'a.b': ['whole'], a: { b: ['path'] } }, 'a.b', ['whole']],
  [{}, 'constructor.name', []],
  [{}, '__proto__', []],
  [{ roles: ['editor'] }, 'roles.length', []],
]
for (const [claims, claim, expected] of roles) {
  test(`AUT-2: the roles at ${claim} of ${JSON.stringify(claims)}`, () => {
    assert.deepEqual(rolesOf(claims as Record<string, unknown>, claim), expected)
  })
}
