/** AUT-2, AUT-4, SEC-3: API keys over HTTP: who may create a key, and that a key is shown once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { assemble } from '../../packages/server/src/server/app.ts'
import { studio } from '../declarations.ts'
import { newDatabase } from '../engine.ts'
import { places, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'
import { ask } from '../steps.ts'

const path = '/v1/api-keys'
const soon = () => new Date(Date.now() + 3_600_000).toISOString()

/** Makes a key and gives the answer's body; fails where it is not a 201. */
async function madeBy({ send }: Trial, as: string, body: object = {}) {
  const answer = await send({ path, as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

describe('creating a key', () => {
  it('AUT-2: the response shows the record and, only once, the key, which works at once', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const expires_at = soon()
    const answer = await current.send({ path, body: { subject: 'zoe', roles: ['editor'], expires_at } })
    assert.equal(answer.status, 201)
    const { key, ...record } = answer.json
    assert.match(key, /^rsk_[0-9A-Za-z]{49}$/)
    const { id, created_at } = record
    assert.deepEqual(record, {
      ...{ id, subject: 'zoe', roles: ['editor'], claims: null, hint: key.slice(0, 8), expires_at, last_used_at: null },
      ...{ revoked_at: null, made_by: record.made_by, created_at, updated_at: created_at },
    })
    assert.deepEqual([answer.headers['location'], answer.headers['cache-control']], [`${path}/${id}`, 'no-store'])
    const seen = await current.send({ path: `${path}/${id}`, as: key })
    assert.deepEqual([seen.status, seen.json, seen.headers.etag], [200, record, answer.headers.etag])
    assert.equal((await current.send({ path: '/v1/projects', as: key })).status, 200)
    current.clock.ahead = 3_700_000
    assert.equal((await current.send({ path: '/v1/projects', as: key })).status, 401)
  })

  it('AUT-4: callers who are not administrators create keys for themselves, with no more rights than they have', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const own = await madeBy(current, 'eve')
    assert.deepEqual([own.subject, own.roles, own.expires_at], ['eve', ['editor'], null])
    const fewer = await madeBy(current, 'eve', { subject: 'eve', roles: [] })
    assert.deepEqual(fewer.roles, [])
    // Nor do the keys of keys.
    const refused = await current.send({ path, as: fewer.key, body: { roles: ['editor'] } })
    assert.deepEqual([refused.status, places(refused)], [403, ['FORBIDDEN /roles/0']])
    assert.deepEqual((await madeBy(current, fewer.key)).roles, [])
  })

  it('AUT-4: a key that an administrator creates for another subject without roles has none', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    assert.deepEqual((await madeBy(current, 'root', { subject: 'bob' })).roles, [])
    assert.deepEqual((await madeBy(current, 'root')).roles, ['admin'])
  })

  it('AUT-4: a key with an expiry creates no key that expires later, with or without expires_at', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const expires_at = soon()
    const { key } = await madeBy(current, 'root', { subject: 'ann', expires_at })
    for (const body of [{}, { expires_at: null }, { expires_at }]) {
      assert.equal((await madeBy(current, key, body)).expires_at, expires_at)
    }
    const later = new Date(Date.parse(expires_at) + 1).toISOString()
    const refused = await current.send({ path, as: key, body: { expires_at: later } })
    assert.deepEqual([refused.status, places(refused)], [403, ['FORBIDDEN /expires_at']])
    const child = (await madeBy(current, key)).key
    assert.equal((await madeBy(current, child)).expires_at, expires_at)
  })

  it('AUT-1: requires a valid credential', async (t) => {
    const current = await trialFor(t, studio, { memory: true })
    const ended = await madeBy(current, 'root', { expires_at: soon() })
    const revoked = await madeBy(current, 'root')
    await current.send({ method: 'DELETE', path: `${path}/${revoked.id}` })
    current.clock.ahead = 3_700_000
    for (const as of [null, ended.key, revoked.key, newKey()]) {
      assert.equal((await current.send({ path, as, body: {} })).status, 401)
    }
  })
})

const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`x${index}`, 1]))

scenarios(studio, [
  {
    ...{
      rule: 'AUT-4',
      name: 'a key for somebody else is refused, whatever else is wrong',
      status: 403,
      code: 'FORBIDDEN',
    },
    send: { path, as: 'ann', body: { subject: 'bob', expires_at: 'tomorrow', colour: 1 } },
    errors: ['FORBIDDEN /subject'],
  },
  {
    ...{
      rule: 'AUT-4',
      name: 'an escalation is refused, and the refusal says which role',
      status: 403,
      code: 'FORBIDDEN',
    },
    send: { path, as: 'eve', body: { roles: ['editor', 'admin'] } },
    errors: ['FORBIDDEN /roles/1'],
    check: ({ json }) => assert.match(json.detail, /"admin"/),
  },
  {
    ...{ rule: 'ERR-3', name: 'everything that is wrong with a key is said at once', status: 400 },
    send: {
      path,
      body: { subject: 'a\u0007', roles: ['x', 'x', 5, 'a,b'], expires_at: '2020-01-01T00:00:00Z', Roles: [] },
    },
    errors: [
      ...['UNKNOWN_FIELD /Roles', 'INVALID_VALUE /subject', 'INVALID_VALUE /roles/1', 'INVALID_TYPE /roles/2'],
      ...['INVALID_VALUE /roles/3', 'INVALID_VALUE /expires_at'],
    ],
  },
  {
    ...{ rule: 'SEC-3', name: 'what the server sets cannot be sent', status: 400, code: 'VALIDATION_FAILED' },
    send: {
      path,
      body: {
        ...{ id: 'mine', hash: hashOfKey('x'), key: 'rsk_x', hint: 'rsk_', revoked_at: null, last_used_at: null },
        ...{ created_at: '2020-01-01T00:00:00Z', updated_at: null, deleted_at: null },
      },
    },
    errors: [
      ...['READ_ONLY /id', 'UNKNOWN_FIELD /hash', 'UNKNOWN_FIELD /key', 'READ_ONLY /hint', 'READ_ONLY /revoked_at'],
      ...['READ_ONLY /last_used_at', 'READ_ONLY /created_at', 'READ_ONLY /updated_at', 'READ_ONLY /deleted_at'],
    ],
  },
  {
    ...{ rule: 'SEC-3', name: 'a prototype cannot be sent', status: 400, code: 'MALFORMED_JSON' },
    send: { path, as: 'ann', body: '{"__proto__":{"roles":["admin"],"subject":"root"}}' },
    errors: ['UNSAFE_KEY /__proto__'],
  },
  {
    ...{ rule: 'ERR-3', name: 'a huge array is one mistake', status: 400, errors: ['TOO_MANY_ITEMS /roles'] },
    send: { path, as: 'ann', body: { roles: Array(19_000).fill('admin') } },
  },
  {
    ...{ rule: 'ERR-3', name: 'thousands of members are a hundred', status: 400 },
    send: { path, body: many },
    check: ({ json }) => assert.equal(json.errors.length, 100),
  },
  {
    ...{ rule: 'ERR-3', name: 'a key is an object', status: 400, errors: ['INVALID_TYPE'] },
    send: { path, body: '[]' },
  },
  {
    ...{ rule: 'MET-8', name: 'a key is shown even to who prefers no body', status: 201 },
    send: { path, body: {}, headers: { prefer: 'return=minimal' } },
    headers: { 'preference-applied': undefined },
    check: ({ json }) => assert.match(json.key, /^rsk_/),
  },
  {
    ...{ rule: 'MET-8', name: 'who insists on no body gets no key', status: 400, code: 'UNKNOWN_PREFERENCE' },
    send: { path, body: {}, headers: { prefer: 'return=minimal, handling=strict' } },
  },
  {
    ...{ rule: 'QRY-8', name: 'making a key takes no parameters', status: 400, code: 'INVALID_QUERY' },
    send: { path: `${path}?subject=ann`, body: {} },
  },
  ...(['PUT', 'PATCH', 'DELETE'] as const).map((method) => ({
    ...{ rule: 'MET-6', name: `the collection has no ${method}`, status: 405, code: 'METHOD_NOT_ALLOWED' },
    send: { method, path, body: {} },
    headers: { allow: 'GET, HEAD, POST, QUERY, OPTIONS' },
  })),
  {
    ...{ rule: 'OPT-1', name: 'OPTIONS says what can be done with keys', status: 204 },
    send: { method: 'OPTIONS', path, as: 'ann' },
    headers: { allow: 'GET, HEAD, POST, QUERY, OPTIONS', 'accept-post': 'application/json' },
  },
  {
    ...{ rule: 'RES-3', name: 'keys are not deleted in bulk', status: 405 },
    send: { method: 'POST', path: `${path}/bulk-delete`, body: { ids: [] } },
  },
  {
    ...{ rule: 'SEC-3', name: 'keys are not exported', status: 400, errors: ['NOT_IN_ENUM /collection'] },
    send: { path: '/v1/exports', body: { collection: 'api-keys', format: 'json' } },
  },
])

describe('a repetition', () => {
  const keyed = (body: object, as = 'ann'): Sent => ({ path, as, body, headers: { 'idempotency-key': '"once"' } })

  it('MET-9, SEC-3: creates no second key, and says that the first cannot be shown again', async (t) => {
    const current = await trialFor(t, studio)
    const first = await current.send(keyed({}))
    assert.equal(first.status, 201)
    const again = await current.send(keyed({}))
    assert.deepEqual([again.status, again.json.code], [409, 'KEY_SHOWN_ONCE'])
    assert.ok(again.json.detail.includes(first.headers['location']))
    assert.ok(!again.text.includes(first.json.key))
    assert.equal((await current.send(keyed({ roles: [] }))).json.code, 'IDEMPOTENCY_KEY_REUSED')
    assert.equal((await current.send(keyed({}, 'bob'))).status, 201, 'the key of somebody else is another')
    assert.equal((await current.send({ path: `${path}?subject=ann`, as: 'ann' })).json.pagination.total_count, 2)
    current.clock.ahead = 25 * 3_600_000
    assert.equal((await current.send(keyed({}))).status, 201)
  })

  it('MET-9: concurrent repetitions create one key', async (t) => {
    const current = await trialFor(t, studio)
    const answers = await Promise.all(Array.from({ length: 20 }, () => current.send(keyed({}))))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(409)])
  })
})

it('SEC-3: a created key is in one response, and in no file, log, list or error', async (_t) => {
  const database = await newDatabase()
  const seen: unknown[] = []
  const storage = await database.open(completeCatalog(studio))
  const app = assemble(completeCatalog(studio), storage, { observe: (each) => seen.push(each) })
  const root = newKey()
  await storage.keys.add({
    ...{ id: 'root', hash: hashOfKey(root), hint: hintOfKey(root), subject: 'root', roles: ['admin'] },
    ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
  })
  const headers = { 'idempotency-key': '"k"' }
  const { received } = await ask(app, { path, body: { subject: 'zoe' }, headers }, root)
  const { id, key } = received.json
  const told: string[] = []
  for (const [sent, as] of [
    [{ path, body: { subject: 'zoe' }, headers }, root],
    [{ path: `${path}/${id}` }, key],
    [{ path: `${path}/${id}?fields=hash` }, root],
    [{ path: `${path}?fields=hash` }, root],
    [{ path: `${path}?sort=hash` }, root],
    [{ path: `${path}?hash=${hashOfKey(key)}` }, root],
    [{ path: `${path}?hint[contains]=rsk` }, root],
    [{ path: `${path}?limit=100` }, root],
    [{ method: 'QUERY', path, body: { subject: 'zoe' } }, root],
    // Whoever takes the key for its id.
    [{ path: `${path}/${key}` }, root],
    [{ method: 'PUT', path: `/v1/${key}`, body: {} }, root],
    [{ path, body: { subject: 5, key } }, root],
  ] as const) {
    told.push((await ask(app, sent, as)).whole)
  }
  await app.keyUses.keep()
  const kept = await database.contents()
  await app.close()
  assert.ok(kept.includes(hashOfKey(key)), 'its hash is kept')
  for (const text of [...told, JSON.stringify(seen), kept]) assert.ok(!text.includes(key.slice(8)), text.slice(0, 300))
  for (const text of [...told, JSON.stringify(seen)]) assert.ok(!text.includes(hashOfKey(key)), text.slice(0, 300))
})
