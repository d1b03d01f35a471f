/** OPS-1: the content of metrics. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { isStream } from '../../../packages/server/src/http/message.ts'
import { hashOfKey, hintOfKey, newKey } from '../../../packages/server/src/policy/api-keys.ts'
import { audience, claimsAt, issuer, pairOf, sign } from '../../../packages/server/src/policy/jwt.fixture.ts'
import { readJwt } from '../../../packages/server/src/server/jwt.ts'
import { type LogLevel, logTo } from '../../../packages/server/src/server/observe/log.ts'
import { collectMetrics } from '../../../packages/server/src/server/observe/metrics.ts'
import type { Observation } from '../../../packages/server/src/server/observe/observe.ts'
import { StorageFault } from '../../../packages/server/src/storage/storage.ts'
import { studio } from '../../declarations.ts'
import { company } from '../../declarations-company.ts'
import { type Sent, type Trial, trialFor } from '../../harness.ts'
import { failing, nowhere } from '../../steps.ts'

/**
 * The series of this program among metrics, without what they are called in common: `requests_total{method="GET",…}`.
 */
function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith('resourced_'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice('resourced_'.length, end), Number(line.slice(end))]
    }),
  )
}

/** What metrics are after all that was seen. */
async function metricsAfter(seen: readonly Observation[]): Promise<string> {
  const metrics = await collectMetrics()
  for (const each of seen) metrics.observe(each)
  return metrics.read()
}

/** The series of one metric. */
async function counted({ seen }: Pick<Trial, 'seen'>, name: string): Promise<Record<string, number>> {
  const series = [...seriesOf(await metricsAfter(seen))]
  return Object.fromEntries(
    series.flatMap(([key, value]) => (key.startsWith(`${name}{`) ? [[key.slice(name.length), value]] : [])),
  )
}

it('OPS-1: requests are counted by method, route and status', async (context) => {
  const current = await trialFor(context, studio)
  const { id } = await current.make('projects', { name: 'A' })
  const sent: readonly Sent[] = [
    { path: '/v1/projects?q=a' },
    { path: '/v1/projects?sort=-name' },
    { path: `/v1/projects/${id}` },
    { path: `/v1/projects/${nowhere}` },
    { path: `/v1/projects/${id}/tasks` },
    { method: 'PATCH', path: `/v1/projects/${id}`, body: { name: 'B' } },
    { path: '/v1/projects', as: null },
    { method: 'POST', path: `/v1/projects/${id}` },
    { method: 'BREW', path: `/v1/projects/${id}` },
    { path: '/v1/pots' },
    { path: '/health/live', as: null },
  ]
  for (const each of sent) await current.send(each)
  assert.deepEqual(await counted(current, 'requests_total'), {
    '{method="POST",route="/v1/projects",status="201"}': 1,
    '{method="GET",route="/v1/projects",status="200"}': 2,
    '{method="GET",route="/v1/projects/{id}",status="200"}': 1,
    '{method="GET",route="/v1/projects/{id}",status="404"}': 1,
    '{method="GET",route="/v1/projects/{id}/tasks",status="200"}': 1,
    '{method="PATCH",route="/v1/projects/{id}",status="200"}': 1,
    '{method="GET",route="/v1/projects",status="401"}': 1,
    '{method="POST",route="/v1/projects/{id}",status="405"}': 1,
    '{method="other",route="/v1/projects/{id}",status="405"}': 1,
    '{method="GET",route="other",status="404"}': 1,
    '{method="GET",route="/health/live",status="200"}': 1,
  })
})

it('OPS-1: durations are reported by class of status, in seconds', async (context) => {
  const current = await trialFor(context, studio)
  for (const path of ['/v1/projects', '/v1/projects', `/v1/projects/${nowhere}`]) await current.send({ path })
  const took = current.seen.flatMap((each) => (each.kind === 'request' ? [each.duration] : []))
  const counts = await counted(current, 'request_duration_seconds_count')
  assert.deepEqual(counts, {
    '{method="GET",route="/v1/projects",status="2xx"}': 2,
    '{method="GET",route="/v1/projects/{id}",status="4xx"}': 1,
  })
  const sums = Object.values(await counted(current, 'request_duration_seconds_sum'))
  const seconds = took.reduce((sum, each) => sum + each, 0) / 1_000
  assert.ok(Math.abs(sums.reduce((sum, each) => sum + each, 0) - seconds) < 1e-6)
  const buckets = await counted(current, 'request_duration_seconds_bucket')
  assert.equal(buckets['{le="+Inf",method="GET",route="/v1/projects",status="2xx"}'], 2)
})

it('OPS-1: commits are reported with their number of changes and their duration in seconds', async () => {
  const [alone, together] = [1, 3].map((changes) => ({ kind: 'commit', changes, duration: 4 * changes }) as const)
  const series = seriesOf(await metricsAfter([alone!, together!]))
  assert.equal(series.get('commits_total'), 2)
  const sums = ['commit_changes_sum', 'commit_duration_seconds_sum'].map((name) => series.get(name))
  assert.deepEqual(sums, [4, 0.016])
  const upTo = (name: string, ...bounds: string[]) => bounds.map((bound) => series.get(`${name}_bucket{le="${bound}"}`))
  assert.deepEqual(upTo('commit_changes', '1', '2', '4', '256'), [1, 1, 2, 2])
  assert.deepEqual(upTo('commit_duration_seconds', '0.0025', '0.005', '0.025'), [0, 1, 2])
})

it('OPS-1: refused credentials are counted by reason, which the log has with the request_id', async (context) => {
  const file = join(mkdtempSync(join(tmpdir(), 'resourced-')), 'keys.json')
  context.after(() => rmSync(dirname(file), { recursive: true }))
  const [pair, claims] = [await pairOf('k'), claimsAt(Date.now())]
  writeFileSync(file, JSON.stringify({ keys: [pair.jwk] }))
  const jwt = readJwt({ issuer, audience, jwks: file })
  const current = await trialFor(context, studio, { memory: true, jwt })
  const refused: readonly (readonly [as: string, reason: string])[] = [
    [await sign(pair, { ...claims, aud: 'https://other.example' }), 'audience'],
    [await sign(pair, { ...claims, exp: 1 }), 'expired'],
    [`${await sign(pair, claims)}AAAA`, 'signature'],
    ['hunter2', 'malformed'],
    [newKey(), 'unknown'],
  ]
  const ids: unknown[] = []
  for (const [as] of refused) ids.push((await current.send({ path: '/v1/projects', as })).json.request_id)
  for (const as of [null, 'ann', await sign(pair, claims)]) await current.send({ path: '/v1/projects', as })
  assert.deepEqual(await counted(current, 'credentials_refused_total'), {
    '{credential="token",reason="audience"}': 1,
    '{credential="token",reason="expired"}': 1,
    '{credential="token",reason="signature"}': 1,
    '{credential="token",reason="malformed"}': 1,
    '{credential="key",reason="unknown"}': 1,
  })
  const linesAt = (level: LogLevel) => {
    const lines: string[] = []
    const log = logTo(level, { write: (line: string) => void lines.push(line) })
    for (const each of current.seen) log(each)
    return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'credential-refused')
  }
  assert.deepEqual(
    linesAt('debug').map(({ time: _, ...line }) => line),
    refused.map(([as, reason], index) => {
      const credential = as.startsWith('rsk_') ? 'key' : 'token'
      return { level: 20, request_id: ids[index], credential, reason, msg: 'credential-refused' }
    }),
  )
  assert.deepEqual(linesAt('info'), [])
})

it('OPS-1: the number of time series is bounded for any requests', async (context) => {
  const current = await trialFor(context, studio)
  const random = () => Math.random().toString(36).slice(2)
  const strays = async (times: number) => {
    for (let time = 0; time < times; time++) {
      await current.send({ path: `/${random()}` })
      await current.send({ path: `/v1/${random()}/${random()}?${random()}` })
      await current.send({ path: `/v1/projects/${random()}` })
      await current.send({ path: `/v1/projects/${random()}/${random()}` })
      await current.send({ path: `/v1/projects/${random()}/tasks`, as: random() })
      await current.send({ path: '/v1/projects', method: random().toUpperCase() })
      await current.send({ path: '/v1/%zz' })
    }
    return seriesOf(await metricsAfter(current.seen)).size
  }
  const few = await strays(1)
  assert.equal(await strays(60), few)
})

it('OPS-1: running requests are counted until they have their response', async (context) => {
  const { send, seen } = await trialFor(context, studio)
  const inFlight = async () => seriesOf(await metricsAfter([...seen])).get('requests_in_flight')
  const running = [send({ path: '/v1/projects' }), send({ path: '/v1/nothing' })]
  assert.equal(await inFlight(), 2)
  await Promise.all(running)
  assert.equal(await inFlight(), 0)
})

it('OPS-1: responses of 500 and above are counted by their code', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const seen: Observation[] = []
  const errors = [new Error('a bug'), new StorageFault('failed', 'gone'), new StorageFault('busy', 'later')]
  const broken = failing(app, () => errors.pop(), seen)
  for (let time = 0; time < 3; time++) {
    await broken.respond({
      method: 'GET',
      target: '/v1/projects',
      headers: { authorization: `Bearer ${keys.get('root')}` },
      secure: true,
      address: '127.0.0.1',
      readBody: async () => new Uint8Array(),
    })
  }
  assert.deepEqual(await counted({ seen }, 'failures_total'), {
    '{code="OVERLOADED"}': 1,
    '{code="STORAGE_FAILED"}': 1,
    '{code="INTERNAL_ERROR"}': 1,
  })
  assert.deepEqual(await counted({ seen }, 'job_batch_failures_total'), {}, 'no job has failed')
})

it('OPS-1: jobs are counted by task and result, and failed batches are counted too', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const { jobs } = app.storage
  const { step } = jobs
  const { id } = await make('companies', { name: 'Acme' })
  const failOnce: typeof step = async () => {
    Object.assign(jobs, { step })
    throw new StorageFault('failed', 'gone')
  }
  Object.assign(jobs, { step: failOnce })
  const options = { headers: { prefer: 'respond-async' } }
  const answer = await send({ method: 'DELETE', path: `/v1/companies/${id}`, ...options })
  assert.equal(answer.status, 202, answer.text)
  while (!current.seen.some(({ kind }) => kind === 'job')) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(await counted(current, 'jobs_total'), { '{task="deletion",status="succeeded"}': 1 })
  assert.deepEqual(await counted(current, 'job_batch_failures_total'), { '{task="deletion"}': 1 })
})

it('OPS-1: streams, deliveries and webhooks that are turned off are counted, and logged where they fail', async (context) => {
  let isBroken = true
  const created = () => {
    if (isBroken) throw new Error('not now')
  }
  const tasks = { fields: { title: { type: 'string' } }, events: true, on: { created } } as const
  const current = await trialFor(context, { name: 'office', resources: { tasks } })
  const { app, send, make, keys, seen } = current
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${keys.get('root')}` }
  const asked = { method: 'GET', target: '/v1/events', headers, secure: true, address: '127.0.0.1' }
  const open = async (mayWrite: boolean) => {
    const { body } = await app.respond({ ...asked, readBody: async () => new Uint8Array() })
    assert.ok(isStream(body))
    body.open({ write: () => mayWrite, end() {}, abort() {} })
    return body
  }
  const [left, slow] = [await open(true), await open(false)]
  const metrics = async (name: string) => seriesOf(await metricsAfter(seen)).get(name)
  assert.equal(await metrics('event_streams_open'), 2)
  const { key, id } = await make('api-keys', { subject: 'root', roles: ['admin'] })
  const callers = keys as Map<string, string>
  callers.set('guest', key)
  const webhook = await make('webhooks', { url: 'https://receiver.example.com/' }, 'guest')
  await send({ method: 'DELETE', path: `/v1/api-keys/${id}` })
  await make('tasks', { title: 'a' })
  await app.deliveries?.settle()
  assert.equal((await counted(current, 'delivery_attempts_total'))['{to="function",outcome="repeated"}'], 1)
  isBroken = false
  await make('tasks', { title: 'b' })
  await app.deliveries?.settle()
  assert.equal((await counted(current, 'delivery_attempts_total'))['{to="function",outcome="succeeded"}'], 1)
  assert.equal(await metrics('webhooks_disabled_total'), 1)
  for (let turn = 0; (await metrics('events_sent_total')) !== 2; turn++) {
    assert.ok(turn < 500, 'events are counted')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  left.closed()
  assert.ok('abort' in slow)
  ;(slow as { abort(): void }).abort()
  assert.deepEqual(await counted(current, 'event_streams_ended_total'), {
    '{reason="client"}': 1,
    '{reason="slow"}': 1,
  })
  assert.equal(await metrics('event_streams_open'), 0)
  const failed = { kind: 'delivery', delivery: 'd', to: 'function', consumer: 'tasks.on', reason: 'no' } as const
  const lines: Record<string, unknown>[] = []
  const log = logTo('info', { write: (line) => void lines.push(JSON.parse(line)) })
  for (const each of [...seen, { ...failed, outcome: 'failed' } as const]) if (each.kind !== 'request') log(each)
  const linesOf = (message: string) =>
    lines.flatMap(({ msg, level: _level, time: _time, ...line }) => (msg === message ? [line] : []))
  assert.deepEqual(linesOf('stream cut off'), [{ reason: 'slow', caller: 'root' }])
  assert.deepEqual(linesOf('delivery failed'), [{ delivery: 'd', consumer: 'tasks.on', reason: 'no' }])
  const reason = 'The credential that made the webhook has expired, or was revoked.'
  assert.deepEqual(linesOf('webhook disabled'), [{ webhook: webhook.id, reason }])
})

it('OPS-1: rejected requests are counted by the exceeded limit', async (context) => {
  const rate = { caller: '3/hour', address: '1/hour', actions: { 'projects.create': '1/hour' } } as const
  const current = await trialFor(context, { ...studio, limits: { rate } }, { rates: { rateLimit: 'declared' } })
  const sent: readonly Sent[] = [
    { path: '/v1/projects', body: { name: 'A' } },
    { path: '/v1/projects', body: { name: 'B' } },
    ...Array<Sent>(4).fill({ path: '/v1/projects' }),
    ...Array<Sent>(4).fill({ path: '/v1/projects', as: null }),
  ]
  for (const each of sent) await current.send(each)
  assert.deepEqual(await counted(current, 'rate_limit_refusals_total'), {
    '{quota="projects.create"}': 1,
    '{quota="caller"}': 2,
    '{quota="address"}': 3,
  })
})

it('SEC-3: no metric contains data that a client sent', async (context) => {
  const { app, send, seen } = await trialFor(context, studio)
  const canary = 'canary'
  const key = newKey()
  await app.storage.keys.add({
    id: `${canary}-key`,
    hash: hashOfKey(key),
    hint: hintOfKey(key),
    subject: canary,
    roles: ['admin', canary],
    expires_at: null,
    created_at: new Date().toISOString(),
    revoked_at: null,
  })
  const names = ['accept', 'cookie', 'host', 'idempotency-key', 'if-match', 'prefer', 'range', 'referer', 'traceparent']
  const fields = [...names, 'user-agent', 'x-forwarded-for', 'x-request-id', `x-${canary}`]
  const { id } = (await send({ path: '/v1/projects', body: { name: canary, description: canary }, as: key })).json
  const sent: readonly Sent[] = [
    { path: `/v1/projects/${id}` },
    { path: `/${canary}` },
    { path: `/v1/${canary}` },
    { path: `/v1/projects/${canary}` },
    { path: `/v1/projects/${canary}/${canary}` },
    { path: `/v1/projects?q=${canary}&sort=${canary}&${canary}=1` },
    { path: `/v1/projects?access_token=${canary}` },
    { path: '/v1/projects', body: { [canary]: canary } },
    { path: '/v1/projects', body: canary },
    { path: '/v1/projects/bulk-delete', body: { ids: [canary] } },
    { path: '/v1/projects', method: canary.toUpperCase() },
    { path: '/v1/projects', as: canary },
    { path: '/v1/projects', from: canary },
    ...fields.map((name) => ({ path: '/v1/projects', headers: { [name]: canary } })),
  ]
  for (const each of sent) await send({ as: key, ...each })
  const text = await metricsAfter(seen)
  assert.ok(text.includes('route="/v1/projects"'))
  for (const secret of [canary, id, key, hashOfKey(key), hintOfKey(key)]) {
    assert.ok(!text.toLowerCase().includes(String(secret).toLowerCase()), secret)
  }
})

it('OPS-1: metrics report the process, its event loop and its version too', async () => {
  const text = await metricsAfter([])
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds', 'nodejs_gc_duration']) {
    assert.match(text, new RegExp(`^# TYPE ${name}`, 'm'))
  }
  assert.match(text, /^resourced_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
})
