/** OPS: health checks, the log, and Server-Timing. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { assemble } from '../../packages/server/src/server/app.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import { type Storage, StorageFault } from '../../packages/server/src/storage/storage.ts'
import { studio } from '../declarations.ts'
import { type Sent, scenarios, type Trial, trialFor } from '../harness.ts'

scenarios(studio, [
  ...['live', 'ready'].flatMap((probe) => [
    {
      name: `/health/${probe} answers anybody`,
      rule: 'OPS-1',
      send: { path: `/health/${probe}`, as: null },
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      check: (answer: { json: unknown }) => assert.deepEqual(answer.json, { status: probe }),
    },
    {
      name: `/health/${probe} answers a wrong credential too`,
      rule: 'OPS-1',
      send: { path: `/health/${probe}`, as: 'wrong' },
      status: 200,
    },
    {
      name: `/health/${probe} answers by plain HTTP`,
      rule: 'OPS-1',
      send: { path: `/health/${probe}`, secure: false },
      status: 200,
    },
    {
      name: `/health/${probe} answers HEAD`,
      rule: 'OPS-1',
      send: { method: 'HEAD', path: `/health/${probe}`, as: null },
      status: 200,
    },
    {
      name: `/health/${probe} is only read`,
      rule: 'OPS-1',
      send: { path: `/health/${probe}`, body: {}, as: null },
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    },
  ]),
  {
    name: '/health alone is nothing, and needs a credential to say so',
    rule: 'OPS-1',
    send: { path: '/health', as: null },
    status: 401,
  },
  { name: 'there is no other probe', rule: 'OPS-1', send: { path: '/health/dead' }, status: 404 },
  { name: 'nor one below', rule: 'OPS-1', send: { path: '/health/live/x' }, status: 404 },
  { name: 'nor under the version', rule: 'OPS-1', send: { path: '/v1/health/live' }, status: 404 },
])

it('OPS-1: without its database a server is live and not ready', async (context) => {
  const { app } = await trialFor(context, studio)
  const storage: Storage = { ...app.storage, ping: () => Promise.reject(new StorageFault('failed', 'gone')) }
  const broken = assemble(app.catalog, storage)
  const ask = (target: string) =>
    broken.respond({
      method: 'GET',
      target,
      headers: {},
      secure: true,
      address: '127.0.0.1',
      readBody: async () => new Uint8Array(),
    })
  assert.equal((await ask('/health/live')).status, 200)
  const ready = await ask('/health/ready')
  assert.deepEqual([ready.status, ready.headers['Retry-After']], [503, '5'])
})

/** What a trial's observations are as lines of the log. */
function logged({ seen }: Trial): Record<string, unknown>[] {
  const lines: string[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(line) })
  for (const each of seen) log(each)
  for (const line of lines) assert.match(line, /^\{.*\}\n$/, 'one line each')
  return lines.map((line) => JSON.parse(line))
}

it('OPS-1: the log has one line of JSON for each request', async (context) => {
  const current = await trialFor(context, studio)
  const sent: (Sent & { log: Record<string, unknown> })[] = [
    { path: '/v1/projects?q=private+words', log: { method: 'GET', path: '/v1/projects', status: 200, caller: 'root' } },
    { path: '/v1/projects', body: { name: 'A' }, as: 'ann', log: { method: 'POST', status: 201, caller: 'ann' } },
    { path: '/v1/projects', body: { name: 'A' }, log: { status: 409, code: 'DUPLICATE_VALUE' } },
    { path: '/v1/projects', as: null, log: { status: 401, code: 'UNAUTHENTICATED', caller: undefined } },
    { path: '/v1/users', body: {}, as: 'ann', log: { status: 403, code: 'FORBIDDEN', caller: 'ann' } },
    { path: '/v1/a"b\n\u001b[31m{}', log: { status: 404, path: '/v1/a"b\n\u001b[31m{}' } },
    { path: '/v1/projects?access_token=abc', log: { status: 400, code: 'CREDENTIAL_IN_QUERY', path: '/v1/projects' } },
  ]
  const ids: unknown[] = []
  for (const { log: _, ...request } of sent) ids.push((await current.send(request)).headers['x-request-id'])
  const lines = logged(current)
  assert.equal(lines.length, sent.length)
  for (const [index, line] of lines.entries()) {
    assert.equal(line.msg, 'request')
    assert.equal(line.request_id, ids[index])
    assert.ok(typeof line.duration === 'number' && line.duration >= 0)
    assert.ok(!Number.isNaN(Date.parse(String(line.time))))
    for (const [name, value] of Object.entries(sent[index]?.log ?? {})) assert.equal(line[name], value, name)
  }
  assert.ok(!JSON.stringify(lines).includes('private'), 'what people search for is not logged')
})

it('OPS-1: Server-Timing reports durations, in development only', async (context) => {
  const development = await trialFor(context, studio, { development: true })
  const production = await trialFor(context, studio)
  const metric = /^[a-z]+;dur=\d+\.\d{3}(, [a-z]+;dur=\d+\.\d{3})*$/
  for (const sent of [
    { path: '/v1/projects' },
    { path: '/v1/projects', body: { name: 'A' } },
    { path: '/v1/projects', as: null },
  ]) {
    assert.match(String((await development.send(sent)).headers['server-timing']), metric)
    assert.equal((await production.send(sent)).headers['server-timing'], undefined)
  }
  const whole = String((await development.send({ path: '/v1/projects' })).headers['server-timing'])
  for (const stage of ['auth', 'read', 'plan', 'db', 'reply']) assert.match(whole, new RegExp(`\\b${stage};`))
})
