import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from 'resourced-contract/spec/faults'
import { hashOfKey, newKey } from './api-keys.ts'
import { authenticator, type KnownKey, Revocations, type VerifyToken } from './authenticate.ts'
import { refusalIn } from './caller.ts'

function known(key: string, more: Partial<KnownKey> = {}): KnownKey {
  return {
    id: 'k',
    hash: hashOfKey(key),
    subject: 'ann',
    roles: [],
    claims: null,
    expires_at: null,
    revoked_at: null,
    ...more,
  }
}

test('a key is cached for a second, and never after forget()', async () => {
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

test('a key that was looked up before a revocation is not cached after it', async () => {
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

test('used() is called for accepted keys only', async () => {
  const key = newKey()
  const used: string[] = []
  let stored = known(key, { expires_at: 'never heard of' })
  const authenticate = authenticator({ findKey: async () => stored, now: () => 0, used: (id) => void used.push(id) })
  await assert.rejects(authenticate(`Bearer ${key}`), { code: 'UNAUTHENTICATED' }, 'an end that is no moment is past')
  stored = known(key)
  const { credential, expiresAt } = await authenticate(`Bearer ${key}`)
  assert.deepEqual([used, credential, expiresAt], [['k'], 'k', Number.POSITIVE_INFINITY])
})

test('the reason of a refusal is attached to the error, and no response contains it', async () => {
  const key = newKey()
  const past = '1969-11-21T12:00:00.000Z'
  const refusal = async (sent: string | undefined, found?: Partial<KnownKey>, verifyToken?: VerifyToken) => {
    const findKey = async () => (found === undefined ? undefined : known(key, found))
    try {
      await authenticator({ findKey, verifyToken, now: () => 0 })(sent)
    } catch (error) {
      assert.ok(error instanceof Fault)
      const { credential, reason } = refusalIn(error) ?? {}
      if (credential !== undefined) assert.equal(error.details.detail, oneForAll)
      return `${credential} ${reason}`
    }
    return 'accepted'
  }
  const oneForAll = 'The credential is not valid: it is unknown, expired or revoked.'
  assert.equal(await refusal(`Bearer ${key}`), 'key unknown')
  assert.equal(await refusal(`Bearer ${key}`, { hash: hashOfKey('other') }), 'key unknown')
  assert.equal(await refusal(`Bearer ${key}`, { expires_at: past }), 'key expired')
  assert.equal(await refusal(`Bearer ${key}`, { expires_at: past, revoked_at: past }), 'key revoked')
  assert.equal(await refusal('Bearer a.b.c'), 'token not-accepted')
  assert.equal(await refusal('Bearer a.b.c', {}, async () => 'audience'), 'token audience')
  assert.equal(await refusal('Basic YTpi'), 'other malformed')
  assert.equal(await refusal(undefined), 'undefined undefined', 'nothing was refused where nothing was sent')
  assert.equal(refusalIn(new Error('x')), undefined)
})

test('a request with a key waits for the revocation of that key that began before it, and for no other', async () => {
  const revocations = new Revocations()
  assert.equal(revocations.running(), undefined)
  const before = revocations.running()
  let over = false
  const end = revocations.begin('k')
  const after = revocations.running()
  assert.equal(before, undefined)
  assert.equal(await after?.('another'), false)
  const waiting = after?.('k').then((was) => {
    assert.ok(over)
    return was
  })
  over = true
  end()
  assert.equal(await waiting, true)
  assert.equal(revocations.running(), undefined)
})

test("two requests that revoke each other's key do not wait for one another", async () => {
  const revocations = new Revocations()
  const revoke = async (key: string, own: string) => {
    const running = revocations.running()
    const end = revocations.begin(key)
    const waited = (await running?.(own)) ?? false
    end()
    return waited
  }
  assert.deepEqual(await Promise.all([revoke('a', 'b'), revoke('b', 'a')]), [false, true])
})
