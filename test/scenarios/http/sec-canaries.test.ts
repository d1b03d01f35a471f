/** SEC-3: secrets in every part of a request that can contain one. No response, log line or file repeats them. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { hashOfKey, newKey } from '../../../packages/server/src/policy/api-keys.ts'
import { assemble } from '../../../packages/server/src/server/app.ts'
import { logTo } from '../../../packages/server/src/server/observe/log.ts'
import type { Observation } from '../../../packages/server/src/server/observe/observe.ts'
import { type Storage, StorageFault } from '../../../packages/server/src/storage/storage.ts'
import { type Sent, type Trial, trialFor } from '../../harness.ts'
import { ask } from '../../steps.ts'

const canary = 'canary-7f3a91'
const token = `eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJjYW5hcnkifQ.${'c2lnbmF0dXJl'.repeat(3)}`

/** A collection with a secret in each record, and a rule that gives it away. */
const vaults = defineInterface({
  name: 'vaults',
  resources: {
    vaults: {
      fields: {
        name: Type.String({ sort: true, search: true, filter: true }),
        pin: Type.Optional(Type.String({ writeOnly: true, minLength: 4, maxLength: 40 })),
        keys: Type.Optional(Type.Object({ inner: Type.Array(Type.String()) }, { writeOnly: true })),
        count: Type.Optional(Type.Integer()),
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
      rules: [
        {
          on: ['create', 'update', 'delete'],
          check: ({ current, next }) => {
            const { pin, count } = next ?? current ?? {}
            if (count !== 666) return undefined
            const cause = new AggregateError([new Error(`first ${pin}`), pin], `and ${pin}`)
            throw Object.assign(new Error(`The pin ${pin} is wrong.`, { cause }), { record: { pin } })
          },
        },
      ],
    },
  },
})

/** A trial that keeps all that anybody is told. */
async function listening(context: TestContext) {
  const trial = await trialFor(context, vaults, {
    development: true,
    cors: { origins: new Set(['https://app.example']), credentials: true },
  })
  const told: string[] = []
  const say = async (sent: Sent) => {
    const answer = await trial.send(sent)
    told.push(`${sent.method} ${answer.status} ${answer.text}\n${JSON.stringify(answer.headers)}`)
    return answer
  }
  return { ...trial, told, say }
}

/** Fails where a secret is in anything that was told, or in the log of it at its most talkative. */
function assertSilent(told: readonly string[], seen: readonly Observation[], secrets: readonly string[]): void {
  const lines: string[] = []
  const log = logTo('trace', { write: (line: string) => void lines.push(line) })
  for (const each of seen) log(each)
  assert.ok(lines.length > 0 && told.length > 0)
  for (const text of [...told, ...lines]) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} in ${text}`)
  }
}

/** All that can be read of an interface: lists, records, jobs, exports in each format, keys, the OpenAPI document. */
async function readAll({ say, app }: Pick<Trial, 'app'> & Awaited<ReturnType<typeof listening>>): Promise<void> {
  const list = await say({ path: '/v1/vaults?limit=100' })
  for (const { id } of list.json.data) await say({ path: `/v1/vaults/${id}` })
  for (const format of ['json', 'ndjson', 'csv']) {
    const { json } = await say({ path: '/v1/exports', body: { collection: 'vaults', format } })
    await app.runner.idle()
    assert.equal((await say({ path: `/v1/exports/${json.job_id}/content` })).status, 200)
    assert.equal((await say({ path: `/v1/jobs/${json.job_id}` })).json.status, 'succeeded')
  }
  for (const path of ['jobs', 'api-keys', 'openapi.json'])
    assert.equal((await say({ path: `/v1/${path}` })).status, 200)
}

it('SEC-3: a credential anywhere in a request is never repeated', async (context) => {
  const trial = await listening(context)
  const { say, told, seen, keys } = trial
  const secrets = [String(keys.get('ann')), newKey(), token]
  for (const secret of secrets) {
    const bearer = { authorization: `Bearer ${secret}` }
    await say({ path: '/v1/vaults', headers: bearer })
    await say({ path: '/v1/nothing', headers: bearer, method: 'DELETE' })
    for (const wrong of [
      secret,
      `Basic ${secret}`,
      `Bearer ${secret} x`,
      `Bearer "${secret}"`,
      `Token token=${secret}`,
    ])
      assert.equal((await say({ path: '/v1/vaults', headers: { authorization: wrong } })).status, 401, wrong)
    const encoded = secret.replace('_', '%5F').replace(/^./, (first) => `%${first.charCodeAt(0).toString(16)}`)
    for (const spelt of [secret, encoded]) {
      for (const name of ['access_token', 'api_key', 'token', 'password', 'secret', 'TOKEN', 'token[in]', '%74oken'])
        assert.equal((await say({ path: `/v1/vaults?${name}=${spelt}` })).json.code, 'CREDENTIAL_IN_QUERY', name)
      for (const name of ['q', 'name', 'name[in]', 'colour', 'sort', 'fields', 'page', 'cursor', 'limit', 'name[gt]'])
        assert.equal((await say({ path: `/v1/vaults?${name}=${spelt}` })).json.code, 'CREDENTIAL_IN_QUERY', name)
      assert.equal((await say({ path: `/v1/vaults?${spelt}` })).status, 400)
      assert.equal((await say({ path: `/v1/vaults?name[${spelt}]=x`, as: null })).status, 400)
      for (const path of [`/v1/${spelt}`, `/v1/vaults/${spelt}`, `/v1/vaults/${spelt}/x`, `/v1/jobs/${spelt}`])
        for (const method of ['GET', 'DELETE']) assert.ok((await say({ path, method })).status >= 400)
      await say({ path: `/${spelt}/%zz`, as: null })
    }
    for (const body of [{ [secret]: 1 }, { name: { [secret]: secret } }, `{"name": ${secret}`, [secret], secret]) {
      assert.equal((await say({ path: '/v1/vaults', body })).status, 400)
    }
    for (const body of [{ sort: secret }, { fields: [secret] }, { [secret]: 'x' }, { name: 5, sort: [secret] }])
      assert.equal((await say({ method: 'QUERY', path: '/v1/vaults', body })).status, 400)
    for (const body of [{ collection: secret }, { collection: 'vaults', format: secret }])
      assert.equal((await say({ path: '/v1/exports', body })).status, 400)
    await say({ path: '/v1/vaults/bulk-delete', body: { ids: [secret] } })
    for (const body of [
      { subject: 'x', roles: 5, note: secret },
      { subject: 'x', expires_at: secret },
    ])
      assert.equal((await say({ path: '/v1/api-keys', body })).status, 400)
  }
  await readAll(trial)
  assertSilent(told, seen, [...secrets, ...[...keys.values()], ...secrets.map(hashOfKey)])
})

it('SEC-3: the value of a refused header field is not repeated', async (context) => {
  const trial = await listening(context)
  const { say, told, seen } = trial
  const { id } = await trial.make('vaults', { name: 'one' })
  for (const secret of [canary, newKey(), token]) {
    for (const name of [
      'If-Match',
      'If-None-Match',
      'If-Range',
      'If-Modified-Since',
      'Range',
      'Cookie',
      'Origin',
      'Accept',
      'Content-Type',
      'Idempotency-Key',
      'X-Request-Id',
      'API-Version',
      'Expect',
      'Forwarded',
      'Host',
    ]) {
      // biome-ignore format: a list
      for (const value of [secret, `"${secret}"`, `"${secret}`]) {
        const headers = { [name.toLowerCase()]: value }
        await say({ path: `/v1/vaults/${id}`, headers })
        await say({ path: '/v1/vaults', headers, body: { name: 'two' } })
        await say({ path: '/v1/vaults', headers, body: { name: 5 } })
        await say({ path: `/v1/vaults/${id}`, headers, method: 'PATCH', body: { name: 'three' } })
      }
    }
    const preflight = { origin: `https://${canary}`, 'access-control-request-method': secret }
    await say({ method: 'OPTIONS', path: '/v1/vaults', headers: preflight, as: null })
    for (const prefer of [`return=${secret}`, `handling=strict, wait="${secret}"`, `handling=strict, return=${secret}`])
      await say({ path: '/v1/vaults', headers: { prefer }, body: { name: 'four' } })
    await say({ method: 'DELETE', path: '/v1/vaults?name=x', headers: { prefer: `max-affected=${secret}` } })
    assertSilent(told, seen, [secret])
  }
})

it('SEC-3: a writeOnly value is accepted by every method, and never returned', async (context) => {
  const trial = await listening(context)
  const { say, told, seen } = trial
  const secret = { pin: canary, keys: { inner: [canary] } }
  const bad = { pin: canary.repeat(9), keys: { inner: canary, [canary.slice(0, 3)]: 1 } }
  const idempotent = { 'idempotency-key': '"one"' }
  for (const _ of 'ab')
    assert.equal((await say({ path: '/v1/vaults', body: { name: 'a', ...secret }, headers: idempotent })).status, 201)
  const other = { name: 'b', ...secret, pin: `${canary}2` }
  assert.equal((await say({ path: '/v1/vaults', body: other, headers: idempotent })).status, 422)
  const { id } = (await say({ path: '/v1/vaults', body: { name: 'b', ...secret } })).json
  const path = `/v1/vaults/${id}`
  const patch = { 'content-type': 'application/json-patch+json' }
  const operations = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  const changes = (values: Readonly<Record<string, unknown>>): Sent[] => [
    { path: '/v1/vaults', body: { name: 'c', ...values } },
    { method: 'PUT', path, body: { name: 'c', ...values } },
    { method: 'PATCH', path, body: values },
    { method: 'PATCH', path, headers: patch, body: operations(values) },
  ]
  for (const sent of changes(secret)) assert.ok((await say(sent)).status < 300)
  for (const sent of changes(bad)) assert.equal((await say(sent)).status, 400)
  for (const sent of changes({ ...secret, name: 5 })) assert.equal((await say(sent)).status, 400)
  const tests = [
    [{ op: 'test', path: '/pin', value: `${canary}x` }],
    [{ op: 'copy', from: '/pin', path: '/name' }],
    [{ op: 'move', from: '/pin', path: '/name' }],
    [{ op: 'move', from: '/keys/inner/0', path: '/name' }],
  ]
  for (const body of tests) await say({ method: 'PATCH', path, headers: patch, body })
  for (const query of [`pin=${canary}`, 'fields=pin', 'sort=pin', 'pin[gt]=a'])
    assert.equal((await say({ path: `/v1/vaults?${query.replace(canary, 'x')}` })).status, 400)
  assert.equal((await say({ path: `/v1/vaults?q=${canary.slice(0, 6)}` })).json.pagination.total_count, 0)
  await say({ path: '/v1/vaults/bulk-delete', body: { ids: [canary, { pin: canary }], pin: canary } })
  assert.equal((await say({ path: '/v1/exports', body: { collection: 'vaults', fields: ['pin'] } })).status, 400)
  await readAll(trial)
  assert.equal((await say({ method: 'DELETE', path })).status, 204)
  assert.equal((await say({ method: 'POST', path: `${path}/restore` })).status, 200)
  assertSilent(told, seen, [canary])
})

it('SEC-3: an error of a business rule or a storage is logged without the writeOnly values in its message', async (context) => {
  const trial = await listening(context)
  const { say, told, seen, app, keys } = trial
  const body = { name: 'a', pin: canary, keys: { inner: [canary] }, count: 666 }
  assert.equal((await say({ path: '/v1/vaults', body })).status, 500)
  const { id } = await trial.make('vaults', { ...body, count: 1 })
  const path = `/v1/vaults/${id}`
  assert.equal((await say({ method: 'PATCH', path, body: { count: 666 } })).status, 500, 'the stored value')
  const patch = [{ op: 'add', path: '/count', value: 666 }]
  const headers = { 'content-type': 'application/json-patch+json' }
  assert.equal((await say({ method: 'PATCH', path, headers, body: patch })).status, 500)
  assert.equal(seen.filter(({ kind }) => kind === 'failure').length, 3)

  const address = 'postgres://ann:hunt/er2@db.example/app'
  const credential = newKey()
  const thrown = [
    () => new Error(`no ${canary}, ${credential}, ${token}, ${address}`),
    () => new StorageFault('failed', `no ${canary}`, new Error(`${canary} at ${address}`)),
    () => Object.assign(new Error('no', { cause: `${canary} ${credential}` }), { config: { password: 'hunt/er2' } }),
    () => `no ${canary} ${address}`,
    () => new AggregateError([new Error(`${canary} ${token}`)], credential),
  ]
  for (const make of thrown) {
    const storage: Storage = { ...app.storage, run: () => Promise.reject(make()) }
    const broken = assemble(app.catalog, storage, { observe: (each) => seen.push(each), rateLimit: 'off' })
    const added = [{ op: 'add', path: '/pin', value: canary }]
    for (const sent of [
      { path: '/v1/vaults', body },
      { method: 'PUT', path, body },
      { method: 'PATCH', path, body },
      { method: 'PATCH', path, headers, body: added },
    ]) {
      const { received, whole } = await ask(broken, sent, keys.get('root'))
      assert.ok(received.status >= 500)
      told.push(whole)
    }
  }
  assertSilent(told, seen, [canary, credential, token, 'hunt/er2'])
})
