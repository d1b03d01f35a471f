/** AUT-10: API keys that are created with other credentials: origin, lifetime, number and revocation. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { places, type Trial, trialFor } from '../harness.ts'

const path = '/v1/api-keys'
const box = defineInterface({
  name: 'box',
  resources: { notes: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
  limits: { keys: { perSubject: 4, lastingRoles: ['operator'] } },
})
const start = (t: Parameters<typeof trialFor>[0]) => trialFor(t, box, { memory: true })
const hour = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * hour).toISOString()

async function made({ send }: Trial, as: string, body: object = {}) {
  const answer = await send({ path, as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const revoke = ({ send }: Trial, id: string, as: string, query = '') =>
  send({ method: 'DELETE', path: `${path}/${id}${query}`, as })

const worksFor = async ({ send }: Trial, keys: readonly { readonly key: string }[]) =>
  Promise.all(keys.map(async ({ key }) => (await send({ path: '/v1/notes', as: key })).status))

describe('the origin of a key', () => {
  it('AUT-10: a key names the key that created it, and lists can be filtered by it', async (t) => {
    const current = await start(t)
    const first = await made(current, 'ann')
    const second = await made(current, first.key)
    assert.equal(second.made_by, first.id)
    const listed = await current.send({ path: `${path}?made_by=${first.id}`, as: 'ann' })
    assert.deepEqual(
      listed.json.data.map(({ id }: { id: string }) => id),
      [second.id],
    )
    const sent = await current.send({ path, as: 'ann', body: { made_by: 'me' } })
    assert.deepEqual([sent.status, places(sent)], [400, ['READ_ONLY /made_by']])
  })
})

describe('the lifetime of a key', () => {
  it('AUT-10: ends no later than that of the credential that created the key, for administrators too', async (t) => {
    const current = await start(t)
    const expires_at = inHours(1)
    const administrator = await made(current, 'root', { roles: ['admin'], expires_at })
    assert.equal((await made(current, administrator.key, { subject: 'zoe' })).expires_at, expires_at)
    const refused = await current.send({ path, as: administrator.key, body: { expires_at: inHours(2) } })
    assert.deepEqual([refused.status, places(refused)], [403, ['FORBIDDEN /expires_at']])
    assert.ok(refused.json.errors[0].message.includes(expires_at))
  })

  it('AUT-10: is longer only if the declaration lets a role of the caller create lasting keys', async (t) => {
    const current = await start(t)
    const operator = await made(current, 'root', { roles: ['admin', 'operator'], expires_at: inHours(1) })
    assert.equal((await made(current, operator.key, { roles: ['admin'] })).expires_at, null)
    const later = inHours(2)
    assert.equal((await made(current, operator.key, { roles: ['admin'], expires_at: later })).expires_at, later)
  })
})

describe('the number of keys of a subject', () => {
  it('AUT-10: valid keys are limited, for concurrent requests too', async (t) => {
    const current = await start(t)
    // One is the key that the caller came with.
    const answers = await Promise.all(Array.from({ length: 8 }, () => current.send({ path, as: 'ann', body: {} })))
    const created = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409)
    assert.deepEqual([created.length, refused.length], [3, 5])
    assert.deepEqual([refused[0]?.json.code, refused[0] && places(refused[0])], ['KEY_QUOTA', ['KEY_QUOTA /subject']])
    assert.match(refused[0]?.json.errors[0].message, /"ann" has 4 keys, and 4 are allowed/)
    assert.equal((await revoke(current, created[0]?.json.id, 'ann')).status, 204)
    await made(current, 'ann', { expires_at: inHours(1) })
    assert.equal((await current.send({ path, as: 'ann', body: {} })).status, 409)
    current.clock.ahead = 2 * hour
    await made(current, 'ann')
  })
})

describe('the revocation of a key', () => {
  it('AUT-10: requires all roles of the key, or an administrator', async (t) => {
    const current = await start(t)
    const strong = await made(current, 'root', { subject: 'ann', roles: ['editor'] })
    const refused = await revoke(current, strong.id, 'ann')
    assert.equal(refused.status, 403, refused.text)
    assert.deepEqual(await worksFor(current, [strong]), [200])
    assert.equal((await revoke(current, strong.id, strong.key)).status, 204)
    const other = await made(current, 'root', { subject: 'ann', roles: ['editor', 'auditor'] })
    assert.equal((await revoke(current, other.id, 'root')).status, 204)
  })

  it('AUT-10: descendants=true revokes the keys created with it too, and those created with them', async (t) => {
    const current = await start(t)
    const first = await made(current, 'ann')
    const second = await made(current, first.key)
    const third = await made(current, second.key)
    assert.equal((await revoke(current, second.id, 'ann')).status, 204)
    assert.deepEqual(await worksFor(current, [first, second, third]), [200, 401, 200], 'without it, only the key')
    assert.equal((await revoke(current, first.id, 'ann', '?descendants=true')).status, 204)
    assert.deepEqual(await worksFor(current, [first, second, third]), [401, 401, 401])
    assert.equal((await current.send({ path: '/v1/notes', as: 'ann' })).status, 200)
    assert.equal((await revoke(current, first.id, 'ann', '?descendants=true')).status, 404)
  })

  it('AUT-10: descendants of a revoked key can still be revoked', async (t) => {
    const current = await start(t)
    const first = await made(current, 'ann')
    const second = await made(current, first.key)
    assert.equal((await revoke(current, first.id, 'ann')).status, 204)
    assert.equal((await revoke(current, first.id, 'ann')).status, 404)
    assert.equal((await revoke(current, first.id, 'ann', '?descendants=true')).status, 204)
    assert.deepEqual(await worksFor(current, [second]), [401])
  })

  it('AUT-10: if the caller may not revoke one of the keys, none is revoked', async (t) => {
    const current = await start(t)
    const first = await made(current, 'ann')
    const second = await made(current, first.key)
    // A key that its maker could not have made: rights may have changed since.
    const { key, stored } = makeKey('bob', [], null)
    await current.app.storage.keys.add({ ...stored, made_by: second.id })
    const all = [first, second, { key }]
    assert.equal((await revoke(current, first.id, 'ann', '?descendants=true')).status, 403)
    assert.deepEqual(await worksFor(current, all), [200, 200, 200])
    assert.equal((await revoke(current, first.id, 'root', '?descendants=true')).status, 204)
    assert.deepEqual(await worksFor(current, all), [401, 401, 401])
  })

  it('AUT-10: descendants is true or false, given once, and the only parameter', async (t) => {
    const current = await start(t)
    const { id } = await made(current, 'ann')
    for (const [query, error] of [
      ['?descendants=yes', 'INVALID_VALUE descendants'],
      ['?descendants=true&descendants=true', 'DUPLICATE_PARAMETER descendants'],
      ['?children=true', 'UNKNOWN_PARAMETER children'],
    ] as const) {
      const refused = await revoke(current, id, 'ann', query)
      assert.deepEqual([refused.status, places(refused)], [400, [error]])
    }
    assert.equal((await revoke(current, id, 'ann', '?descendants=false')).status, 204)
  })
})
