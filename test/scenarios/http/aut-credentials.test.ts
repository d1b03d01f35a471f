/** AUT-1, AUT-2, AUT-7: credentials, and the owner field that is set from the authenticated caller. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { hashOfKey, hintOfKey, newKey } from '../../../packages/server/src/policy/api-keys.ts'
import { studio } from '../../declarations.ts'
import { places, type Trial, trial, trialFor } from '../../harness.ts'

describe('authentication', () => {
  const cases: readonly (readonly [name: string, authorization: string | undefined])[] = [
    ['no Authorization at all', undefined],
    ['an empty field', ''],
    ['a scheme and nothing else', 'Bearer'],
    ['another scheme', 'Basic cm9vdDpyb290'],
    ['what is no key', 'Bearer nonsense'],
    ['a key nobody gave out', `Bearer ${newKey()}`],
    ['a key in quotes', `Bearer "${newKey()}"`],
    ['two keys', `Bearer ${newKey()}, Bearer ${newKey()}`],
  ]
  for (const [name, authorization] of cases) {
    it(`AUT-1: ${name} is 401 at every path`, async (t) => {
      const current = await trialFor(t, studio, { memory: true })
      for (const path of ['/v1/projects', '/v1/nothing', '/nothing', '/v1/openapi.json', '/v1/projects/1']) {
        const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
        const answer = await current.send({ path, as: null, headers })
        assert.deepEqual([answer.status, answer.json.code], [401, 'UNAUTHENTICATED'])
        assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer realm="[^"]+"/)
        assert.equal(answer.headers['cache-control'], 'no-store')
      }
    })
  }

  it('AUT-1: no cookie is set or read; the scheme is case-insensitive', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const key = current.keys.get('ann')
    const answer = await current.send({
      path: '/v1/projects',
      as: null,
      headers: { cookie: `session=${key}; token=${key}` },
    })
    assert.equal(answer.status, 401)
    assert.ok(!('set-cookie' in answer.headers))
    const other = await current.send({ path: '/v1/projects', as: null, headers: { authorization: `bearer ${key}` } })
    assert.equal(other.status, 200)
    for (const path of ['/health/live', '/health/ready'])
      assert.equal((await current.send({ path, as: null })).status, 200)
  })

  it('AUT-2: a key is stored as its hash only, and ends by expiry or revocation', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const { keys } = current.app.storage
    const key = newKey()
    assert.match(key, /^rsk_[0-9A-Za-z]{49}$/)
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const created_at = new Date().toISOString()
    await keys.add({
      ...{ id: 'k', hash: hashOfKey(key), hint: hintOfKey(key), subject: 'zoe', roles: ['admin'] },
      ...{ expires_at, created_at, revoked_at: null },
    })
    for (const stored of await keys.list()) assert.ok(!JSON.stringify(stored).includes(key.slice(10)))
    const status = async (as: string) => (await current.send({ path: '/v1/projects', as })).status
    assert.equal(await status(key), 200)
    current.clock.ahead = 61_000
    assert.equal(await status(key), 401)
    const ann = current.keys.get('ann') ?? ''
    const id = (await keys.list()).find(({ subject }) => subject === 'ann')?.id ?? ''
    assert.equal(await status(ann), 200)
    assert.deepEqual(await keys.revoke(id, new Date().toISOString()), { count: 1, remaining: 0 })
    current.clock.ahead += 2_000
    assert.equal(await status(ann), 401)
    assert.deepEqual(await keys.revoke(id, new Date().toISOString()), undefined)
    assert.equal(await status(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`), 401)
  })
})

describe('the owner', () => {
  let current: Trial
  before(async () => {
    current = await trial(studio, { memory: true })
  })
  after(() => current.close())

  it('AUT-7: is set from the caller, and only administrators may send it', async () => {
    const made = await current.make('projects', { name: 'one' }, 'ann')
    assert.equal(made.owner_id, 'ann')
    for (const owner_id of ['bob', 'ann']) {
      const answer = await current.send({ path: '/v1/projects', as: 'ann', body: { name: 'two', owner_id } })
      assert.deepEqual([answer.status, places(answer)], [400, ['READ_ONLY /owner_id']])
    }
    assert.equal((await current.make('projects', { name: 'three', owner_id: 'bob' }, 'root')).owner_id, 'bob')
    assert.equal((await current.make('projects', { name: 'four' }, 'root')).owner_id, 'root')
    const wrong = await current.send({ path: '/v1/projects', body: { name: 'five', owner_id: 5 } })
    assert.deepEqual([wrong.status, places(wrong)], [400, ['INVALID_TYPE /owner_id']])
  })

  it('AUT-7: is not changed by its owner; an administrator may change it', async () => {
    const { id } = await current.make('projects', { name: 'six' }, 'ann')
    const path = `/v1/projects/${id}`
    const write = (method: string, body: object, as = 'ann') => current.send({ method, path, as, body })
    for (const [method, body] of [
      ['PATCH', { owner_id: 'bob' }],
      ['PATCH', { owner_id: null }],
      ['PUT', { name: 'six', owner_id: 'bob' }],
    ] as const) {
      const answer = await write(method, body)
      assert.deepEqual([answer.status, places(answer)], [400, ['READ_ONLY /owner_id']], JSON.stringify(body))
    }
    assert.equal((await write('PATCH', { owner_id: 'ann', description: 'x' })).status, 200)
    assert.equal((await write('PUT', { name: 'six', owner_id: 'ann' })).status, 200)
    assert.equal((await write('PUT', { name: 'six' })).json.owner_id, 'ann')
    assert.equal((await write('PUT', { name: 'six' }, 'root')).json.owner_id, 'ann')
    const cleared = await write('PATCH', { owner_id: null }, 'root')
    assert.deepEqual([cleared.status, places(cleared)], [400, ['REQUIRED /owner_id']])
    assert.equal((await write('PATCH', { owner_id: 'bob' }, 'root')).json.owner_id, 'bob')
    assert.equal((await current.send({ path, as: 'ann' })).status, 403)
    assert.equal((await current.send({ path, as: 'bob' })).status, 200)
  })
})

it('AUT-4: the response to a change shows the record only to callers who may read it', async (t) => {
  const box = defineInterface({
    name: 'box',
    resources: {
      tips: {
        fields: {
          text: Type.String(),
          level: Type.Enum(['open', 'closed'], { default: 'open' }),
          verdict: Type.Optional(Type.String()),
        },
        access: { read: ['role:editor', { where: { level: 'open' } }], create: 'anyone', update: 'anyone' },
      },
    },
  })
  const current = await trialFor(t, box, { memory: true })
  const { id } = await current.make('tips', { text: 'x', level: 'closed' }, 'eve')
  const path = `/v1/tips/${id}`
  assert.equal((await current.send({ path, as: 'ann' })).status, 403)
  for (const [method, body] of [
    ['PATCH', { text: 'y' }],
    ['PATCH', {}],
    ['PUT', { text: 'z', level: 'closed' }],
  ] as const) {
    const answer = await current.send({ method, path, body, as: 'ann' })
    assert.deepEqual([answer.status, answer.text], [204, ''])
  }
  const seen = await current.send({ method: 'PATCH', path, body: { verdict: 'true' }, as: 'eve' })
  assert.deepEqual([seen.status, seen.json.text, seen.json.verdict], [200, 'z', 'true'])
  // What counts is whether the record may be read as it is now.
  assert.equal((await current.send({ method: 'PATCH', path, body: { level: 'open' }, as: 'ann' })).json.level, 'open')
  assert.equal((await current.send({ method: 'PATCH', path, body: { level: 'closed' }, as: 'ann' })).text, '')
})
