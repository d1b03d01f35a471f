/** SEC: security header fields, and secrets. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { hashOfKey, hintOfKey, isKey, newKey } from '../../../packages/server/src/policy/api-keys.ts'
import { logTo } from '../../../packages/server/src/server/observe/log.ts'
import { studio } from '../../declarations.ts'
import { newDatabase } from '../../engine.ts'
import { type Sent, trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

/** Requests of every outcome. */
const everyKind: readonly Sent[] = [
  { path: '/v1/projects' },
  { path: '/v1/projects', body: { name: 'One' } },
  { path: '/v1/projects', body: { name: 5 } },
  { path: '/v1/projects', as: null },
  { path: '/v1/projects', as: 'rsk_wrong' },
  { path: '/v1/nothing' },
  { path: '/v1/%zz' },
  { path: '/v1/openapi.json' },
  { path: '/health/live', as: null },
  { path: '/health/ready', as: null },
  { method: 'DELETE', path: `/v1/projects/${nowhere}` },
  { method: 'TRACE', path: '/v1/projects' },
  { path: `/v1/projects?q=${'x'.repeat(9_000)}` },
]

it('SEC-2: every response has nosniff, and with HTTPS Strict-Transport-Security', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const sent of everyKind) {
    const { headers, status } = await send(sent)
    assert.equal(headers['x-content-type-options'], 'nosniff', `${sent.path} ${status}`)
    assert.match(String(headers['strict-transport-security']), /^max-age=\d{8}/)
    assert.ok(Number(String(headers['strict-transport-security']).slice('max-age='.length)) >= 31_536_000)
  }
})

it('SEC-2: over plain HTTP Strict-Transport-Security is not sent (RFC 6797 section 7.2)', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const sent of everyKind) {
    const { headers } = await send({ ...sent, secure: false })
    assert.equal(headers['strict-transport-security'], undefined)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

it('SEC-2: responses do not name the software of the server', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const sent of everyKind) {
    const { headers } = await send(sent)
    for (const name of ['server', 'x-powered-by', 'via', 'server-timing', 'set-cookie'])
      assert.equal(headers[name], undefined)
  }
})

it('SEC-3: a key is in no file, response, observation or log line', async (context) => {
  const database = await newDatabase()
  const key = newKey()
  const stored = await database.open(completeCatalog(studio))
  await stored.keys.add({
    ...{ id: 'k', hash: hashOfKey(key), hint: hintOfKey(key), subject: 'ann', roles: [] },
    ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
  })
  assert.ok(!JSON.stringify(await stored.keys.list()).includes(key))
  const kept = await database.contents()
  assert.ok(kept.includes(hashOfKey(key)), 'its hash is kept')
  assert.ok(!kept.includes(key.slice(8)), 'and nothing of it beyond the hint')
  await stored.close()

  const { send, seen, keys } = await trialFor(context, studio)
  const lines: string[] = []
  const log = logTo('trace', { write: (line: string) => void lines.push(line) })
  const secrets = [...keys.values(), newKey(), 'rsk_short', 'hunter2']
  const answers: string[] = []
  for (const secret of secrets) {
    for (const path of [
      '/v1/projects',
      '/v1/nothing',
      `/v1/projects?token=${secret}`,
      `/v1/projects?api_key=${secret}&q=1`,
      `/v1/projects?password=${secret}`,
    ]) {
      const { text, headers } = await send({ path, as: secret })
      answers.push(text + JSON.stringify(headers))
    }
  }
  for (const each of seen) log(each)
  const linesOf = (name: string) => lines.filter((line) => JSON.parse(line).msg === name).length
  assert.equal(linesOf('request'), answers.length)
  assert.ok(linesOf('credential-refused') > 0)
  const told = [...answers, ...lines, JSON.stringify(seen)].join('\n')
  for (const secret of secrets) {
    assert.ok(!told.includes(secret), 'the secret')
    assert.ok(!told.includes(hashOfKey(secret)), 'and its hash')
  }
})

it('SEC-3: every refused credential gets the same response', async (context) => {
  const { send, keys } = await trialFor(context, studio)
  const right = String(keys.get('root'))
  const flip = (index: number) => right.slice(0, index) + (right[index] === 'a' ? 'b' : 'a') + right.slice(index + 1)
  const wrong = [
    newKey(),
    flip(4),
    flip(20),
    flip(right.length - 1),
    right.slice(0, -1),
    `${right}a`,
    right.toLowerCase(),
    'x',
    `${right} `.repeat(2),
  ]
  const answers = new Set<string>()
  for (const credential of wrong) {
    const { status, json, headers } = await send({
      path: '/v1/projects',
      headers: { authorization: `Bearer ${credential}` },
    })
    assert.equal(status, 401, credential)
    const { request_id, ...rest } = json
    answers.add(JSON.stringify([rest, headers['www-authenticate']]))
  }
  assert.equal(answers.size, 1)
})

it('SEC-3: keys have 256 random bits, and a typing error is reported without a look-up', () => {
  const made = new Set(Array.from({ length: 1_000 }, () => newKey()))
  assert.equal(made.size, 1_000)
  for (const key of made) {
    assert.ok(isKey(key))
    assert.ok(!isKey(key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')))
  }
  assert.ok(62 ** 43 >= 2 ** 256)
})
