import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOfKey, newKey } from './api-keys.ts'
import { authenticator, type KnownKey } from './authenticate.ts'

function known(key: string, more: Partial<KnownKey> = {}): KnownKey {
  return { id: 'k', hash: hashOfKey(key), subject: 'ann', roles: [], expires_at: null, revoked_at: null, ...more }
}

test('a key is taken as it was found for a second, and by nobody once it is to be forgotten', async () => {
  const key = newKey()
  let stored = known(key)
  let now = 0
  const authenticate = authenticator({ findKey: async () => stored, now: () => now })
  assert.equal((await authenticate(`Bearer ${key}`)).id, 'ann')
  stored = known(key, { revoked_at: '2026-11-21T12:00:00.000Z' })
  assert.equal((await authenticate(`Bearer ${key}`)).id, 'ann')
  now = 1_000
  await assert.rejects(authenticate(`Bearer ${key}`), { code: 'UNAUTHENTICATED' })
  stored = known(key)
  assert.equal((await authenticate(`Bearer ${key}`)).id, 'ann')
  stored = known(key, { revoked_at: '2026-11-21T12:00:00.000Z' })
  authenticate.forget()
  await assert.rejects(authenticate(`Bearer ${key}`), { code: 'UNAUTHENTICATED' })
})

test('what was found before a revocation is not remembered after it', async () => {
  const key = newKey()
  let find = (_: KnownKey) => {}
  const authenticate = authenticator({ findKey: () => new Promise((resolve) => void (find = resolve)), now: () => 0 })
  const first = authenticate(`Bearer ${key}`)
  authenticate.forget()
  find(known(key))
  assert.equal((await first).id, 'ann')
  const second = authenticate(`Bearer ${key}`)
  find(known(key, { revoked_at: '2026-11-21T12:00:00.000Z' }))
  await assert.rejects(second, { code: 'UNAUTHENTICATED' })
})

test('uses are told of keys that were taken, and of no others', async () => {
  const key = newKey()
  const used: string[] = []
  let stored = known(key, { expires_at: 'never heard of' })
  const authenticate = authenticator({ findKey: async () => stored, now: () => 0, used: (id) => void used.push(id) })
  await assert.rejects(authenticate(`Bearer ${key}`), { code: 'UNAUTHENTICATED' }, 'an end that is no moment is past')
  stored = known(key)
  const { credential, expiresAt } = await authenticate(`Bearer ${key}`)
  assert.deepEqual([used, credential, expiresAt], [['k'], 'k', Number.POSITIVE_INFINITY])
})
