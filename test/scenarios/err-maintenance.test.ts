/** ERR-6: maintenance. Every request gets 503, no request uses the database, and running requests finish. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCors } from '../../packages/server/src/http/cors.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import { logTo } from '../../packages/server/src/server/observe/log.ts'
import { collectMetrics } from '../../packages/server/src/server/observe/metrics.ts'
import type { Observation } from '../../packages/server/src/server/observe/observe.ts'
import type { Storage } from '../../packages/server/src/storage/storage.ts'
import { studio } from '../declarations.ts'
import { company } from '../declarations-company.ts'
import { type Sent, type Trial, trialFor } from '../harness.ts'
import { ask, nowhere } from '../steps.ts'

const since = '2026-11-21T12:00:00.000Z'
const told = { since, message: 'Back at noon, “déjà vu”.', retryAfter: 600 }

/** Turns maintenance on as the command does, and lets the server notice. */
async function turnOn({ app }: Pick<Trial, 'app'>, maintenance = told): Promise<void> {
  await app.storage.maintenance.begin(maintenance)
  await app.maintenance.poll()
}

async function turnOff({ app }: Pick<Trial, 'app'>): Promise<void> {
  await app.storage.maintenance.end()
  await app.maintenance.poll()
}

const record = `/v1/projects/${nowhere}`
const asked: readonly Sent[] = [
  { path: '/v1/projects' },
  { path: record },
  { method: 'HEAD', path: '/v1/projects' },
  { path: '/v1/projects', body: { name: 'One' } },
  { method: 'PUT', path: record, body: { name: 'One' } },
  { method: 'PATCH', path: record, body: { name: 'One' } },
  { method: 'DELETE', path: record },
  { method: 'QUERY', path: '/v1/projects', body: {} },
  { method: 'OPTIONS', path: '/v1/projects' },
  { method: 'OPTIONS', path: '*' },
  { path: '/v1/openapi.json' },
  { path: '/v1/jobs' },
  { path: '/v1/exports', body: { collection: 'projects' } },
  { path: '/v1/api-keys', body: { subject: 'ann' } },
  // What is wrong about these is not looked at.
  { path: '/v1/projects', body: '{"name":' },
  { path: '/v1/projects?colour=red' },
  { path: `/v1/projects?access_token=${'a'.repeat(40)}` },
  { path: '/v1/nothing' },
  { path: '/v1/%zz' },
  { path: '/' },
  { method: 'BREW', path: '/v1/projects' },
  { path: '/v1/projects', headers: { accept: 'text/html', range: 'bytes=0-1', 'if-none-match': '*', expect: 'tea' } },
]

it('ERR-6: during maintenance every request gets 503, with the message and Retry-After', async (context) => {
  const current = await trialFor(context, studio)
  await turnOn(current)
  for (const sent of asked) {
    for (const as of ['root', 'ann', 'wrong', null]) {
      const what = `${sent.method ?? 'GET'} ${sent.path} as ${as}`
      const { status, headers, json } = await current.send({ ...sent, as })
      assert.deepEqual([status, json.code, json.detail], [503, 'MAINTENANCE', told.message], what)
      assert.deepEqual([headers['retry-after'], headers['cache-control']], ['600', 'no-store'], what)
      assert.ok(headers['x-request-id'] === json.request_id, what)
      assert.equal(headers['www-authenticate'], undefined, 'nobody was asked for a credential')
    }
  }
  await turnOff(current)
  const after = await current.send({ path: '/v1/projects' })
  assert.deepEqual([after.status, after.json.data], [200, []], 'nothing was made')
})

it('ERR-6: a path that is too long and plain HTTP are refused before the 503 of maintenance', async (context) => {
  const current = await trialFor(context, studio, { requireHttps: true })
  await turnOn(current)
  const codeOf = async (sent: Sent) => (await current.send(sent)).json.code
  assert.equal(await codeOf({ path: '/v1/projects', secure: false }), 'HTTPS_REQUIRED')
  assert.equal(await codeOf({ path: `/v1/${'a'.repeat(8_000)}` }), 'URL_TOO_LONG')
  assert.equal(await codeOf({ path: '/v1/projects' }), 'MAINTENANCE')
})

it('ERR-6: preflights are answered as usual, and pages of allowed origins can read the 503', async (context) => {
  const cors = readCors(['https://app.example']) ?? assert.fail()
  const current = await trialFor(context, studio, { cors })
  const origin = 'https://app.example'
  const preflight = { origin, 'access-control-request-method': 'PUT' }
  const ahead = { method: 'OPTIONS', path: record, as: null, headers: preflight }
  const before = await current.send(ahead)
  await turnOn(current)
  const during = await current.send(ahead)
  assert.equal(during.status, 204)
  const withoutId = ({ 'x-request-id': _, ...rest }: typeof before.headers) => rest
  assert.deepEqual(withoutId(during.headers), withoutId(before.headers))
  const refused = await current.send({ path: record, headers: { origin } })
  assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [503, origin])
  assert.match(String(refused.headers['access-control-expose-headers']), /Retry-After/)
  const stranger = await current.send({ path: record, headers: { origin: 'https://else.example' } })
  assert.deepEqual([stranger.status, stranger.headers['access-control-allow-origin']], [503, undefined])
})

it('ERR-6: if no page is allowed, a request that looks like a preflight gets 503 too', async (context) => {
  const current = await trialFor(context, studio)
  await turnOn(current)
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'PUT' }
  assert.equal((await current.send({ method: 'OPTIONS', path: record, as: null, headers })).status, 503)
})

/** A storage of which nothing but the switch may be used. */
function awayBut({ maintenance }: Storage): { readonly storage: Storage; readonly used: string[] } {
  const used: string[] = []
  const nothing = (name: string): never =>
    new Proxy({}, { get: (_, member) => () => Promise.reject(used.push(`${name}.${String(member)}`)) }) as never
  const storage = {
    ...{ maintenance, maintenanceFound: undefined, cursorSecret: new Uint8Array(32) },
    ...{
      exportsFolder: undefined,
      pieces: undefined,
      events: undefined,
      deliveries: undefined,
      jobs: nothing('jobs'),
      purgeClock: nothing('purgeClock'),
      keys: nothing('keys'),
    },
    run: async () => Promise.reject(used.push('run')),
    load: async () => Promise.reject(used.push('load')),
    loadAll: async () => Promise.reject(used.push('loadAll')),
    ping: async () => Promise.reject(used.push('ping')),
    close: async () => {},
  }
  return { storage, used }
}

it('ERR-6: only the maintenance switch is read from the database', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  await app.storage.maintenance.begin(told)
  const { storage, used } = awayBut(app.storage)
  const other = assemble(app.catalog, { ...storage, maintenanceFound: told })
  for (const sent of asked.filter(({ body }) => typeof body !== 'string')) {
    const { received } = await ask(other, sent, keys.get('root'))
    assert.equal(received.status, 503)
  }
  const { received } = await ask(other, { path: '/health/ready' }, keys.get('root'))
  assert.deepEqual([received.status, received.json], [200, { status: 'maintenance' }])
  await other.runner.maintain()
  await other.runner.idle()
  await other.close()
  assert.deepEqual(used, [])
})

it('ERR-6: during maintenance a server is live, and ready to send its 503', async (context) => {
  const current = await trialFor(context, studio)
  await turnOn(current)
  for (const as of ['root', 'wrong', null]) {
    for (const secure of [true, false]) {
      const ready = await current.send({ path: '/health/ready', as, secure })
      assert.deepEqual([ready.status, ready.json], [200, { status: 'maintenance' }])
      const live = await current.send({ path: '/health/live', as, secure })
      assert.deepEqual([live.status, live.json], [200, { status: 'live' }])
    }
  }
  assert.equal((await current.send({ method: 'HEAD', path: '/health/ready' })).status, 200)
  assert.equal((await current.send({ method: 'OPTIONS', path: '/health/ready' })).status, 204)
  assert.equal((await current.send({ path: '/health/ready', body: {} })).status, 405)
  await turnOff(current)
  assert.deepEqual((await current.send({ path: '/health/ready' })).json, { status: 'ready' })
  await turnOn(current)
  current.app.stop()
  assert.equal((await current.send({ path: '/health/ready' })).json.code, 'SHUTTING_DOWN')
})

it('ERR-6: a request that was accepted before finishes', async (context) => {
  const current = await trialFor(context, studio)
  const { app, keys } = current
  let sendBody = (_: Uint8Array) => {}
  const body = new Promise<Uint8Array>((resolve) => {
    sendBody = resolve
  })
  let reads = () => {}
  const reading = new Promise<void>((resolve) => {
    reads = resolve
  })
  const answer = app.respond({
    method: 'POST',
    target: '/v1/projects',
    headers: { authorization: `Bearer ${keys.get('root')}`, 'content-type': 'application/json' },
    secure: true,
    address: '127.0.0.1',
    async readBody() {
      reads()
      return body
    },
  })
  await reading
  await turnOn(current)
  assert.equal((await current.send({ path: '/v1/projects' })).status, 503)
  sendBody(Buffer.from('{"name":"Begun"}'))
  assert.equal((await answer).status, 201)
  await turnOff(current)
  assert.deepEqual((await current.send({ path: '/v1/projects' })).json.data.length, 1)
})

/** A company that a deletion has to go through in several batches. */
async function longWork(current: Trial): Promise<string> {
  const { id } = await current.make('companies', { name: 'Acme' })
  const names = Array.from({ length: 1_200 }, (_, number) => `Department ${number}`)
  await Promise.all(names.map((name) => current.make('departments', { name, company_id: id })))
  return id
}

it('ERR-6: jobs begin no batch during maintenance, finish the running one, and continue afterwards', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const id = await longWork(current)
  const { step } = app.storage.jobs
  let batches = 0
  const answered = Promise.withResolvers<void>()
  Object.assign(app.storage.jobs, {
    step: async (...given: Parameters<typeof step>) => {
      // Until then the request holds the work, and a step does nothing.
      await answered.promise
      batches++
      // It comes in the middle of the first batch.
      if (batches === 1) await turnOn(current)
      return step(...given)
    },
  })
  const { json } = await send({ method: 'DELETE', path: `/v1/companies/${id}` })
  answered.resolve()
  while (batches === 0) await sleep(1)
  await app.runner.idle()
  await app.runner.idle()
  assert.equal(batches, 1)
  await turnOff(current)
  const half = (await send({ path: json.status_url })).json
  assert.equal(half.status, 'running', 'the batch that ran is kept')
  await app.runner.idle()
  const job = (await send({ path: json.status_url })).json
  assert.deepEqual([job.status, job.progress], ['succeeded', { done: 1_201, total: 1_201 }])
  assert.ok(batches > 2)
})

it('ERR-6: if maintenance begins during any step of the jobs, the next step does not begin', async (context) => {
  const current = await trialFor(context, company)
  const { app } = current
  const { jobs } = app.storage
  const done: string[] = []
  let last = ''
  const open = [
    { id: 'one', task: 'deletion' },
    { id: 'two', task: 'deletion' },
  ] as const
  const doing = async (what: string) => {
    done.push(what)
    if (what === last) await turnOn(current)
  }
  Object.assign(jobs, {
    open: async () => open,
    countTotal: async ({ id }: { id: string }) => doing(`measure ${id}`),
    step: async ({ id }: { id: string }) => doing(`step ${id}`),
    deleteExpired: async (_: number, goesOn: () => boolean) => {
      await doing('forget')
      assert.equal(goesOn(), last !== 'forget')
      return 0
    },
    beginPurge: async () => doing('purge'),
  })
  const doneUntil = async (end: string) => {
    last = end
    done.length = 0
    await turnOff(current)
    app.runner.wake()
    while (!done.includes(end)) await sleep(1)
    await app.runner.idle()
    return done.at(-1)
  }
  assert.equal(await doneUntil('measure one'), 'measure one')
  assert.equal(await doneUntil('step one'), 'step one')
  assert.equal(await doneUntil('step two'), 'step two')
  await app.runner.maintain()
  assert.equal(await doneUntil('forget'), 'forget')
  // Nothing is open any more, and what was interrupted is done from its beginning.
  Object.assign(jobs, { open: async () => [] })
  assert.equal(await doneUntil('purge'), 'purge')
  assert.deepEqual(done, ['forget', 'purge'])
})

it('ERR-6: an export pauses and continues, and its file is complete', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  await longWork(current)
  await Promise.all(Array.from({ length: 1_200 }, (_, number) => current.make('companies', { name: `C ${number}` })))
  const { readExport } = app.storage.jobs
  let pieces = 0
  Object.assign(app.storage.jobs, {
    readExport: async (...given: Parameters<typeof readExport>) => {
      pieces++
      if (pieces === 1) await turnOn(current)
      return readExport(...given)
    },
  })
  const { json } = await send({ path: '/v1/exports', body: { collection: 'companies', format: 'ndjson' } })
  while (pieces === 0) await sleep(1)
  await app.runner.idle()
  await app.runner.idle()
  assert.equal(pieces, 1)
  await turnOff(current)
  await app.runner.idle()
  assert.equal((await send({ path: json.status_url })).json.status, 'succeeded')
  const file = await send({ path: `/v1/exports/${json.job_id}/content` })
  assert.equal(file.text.trim().split('\n').length, 1_201)
})

it('ERR-6: expired data is removed after maintenance', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, clock } = current
  const { id } = await current.make('companies', { name: 'Acme' })
  await send({ method: 'DELETE', path: `/v1/companies/${id}` })
  await app.runner.idle()
  clock.ahead = 400 * 86_400_000
  await app.storage.purgeClock.confirm(Date.now() + clock.ahead)
  const purges = async () => (await send({ path: '/v1/jobs?kind=purge' })).json.pagination.total_count
  await turnOn(current)
  await app.runner.maintain()
  await app.runner.idle()
  await turnOff(current)
  assert.equal(await purges(), 0)
  await app.runner.idle()
  await app.runner.idle()
  assert.equal(await purges(), 1)
})

/** Another server on the database of a trial, which looks at the switch every few milliseconds. */
async function besides(context: TestContext, { app, database }: Trial): Promise<Application> {
  const options = { rateLimit: 'off', maintenanceInterval: 5 } as const
  const other = assemble(app.catalog, await database.open(app.catalog), options)
  context.after(() => other.close())
  return other
}

it('ERR-6: every server on the database notices maintenance, and one that starts then knows at once', async (context) => {
  const current = await trialFor(context, studio)
  const key = current.keys.get('root')
  const [one, two] = [await besides(context, current), await besides(context, current)]
  const statuses = async (...apps: readonly Application[]) =>
    Promise.all(apps.map(async (app) => (await ask(app, { path: '/v1/projects' }, key)).received.status))
  assert.deepEqual(await statuses(one, two), [200, 200])
  await current.app.storage.maintenance.begin(told)
  while ((await statuses(one, two)).includes(200)) await sleep(5)
  const late = await besides(context, current)
  assert.deepEqual(await statuses(late), [503], 'from its first request on')
  await current.app.storage.maintenance.begin({ ...told, message: 'Later.', retryAfter: 7 })
  for (const app of [one, two, late]) {
    while (app.maintenance.current?.retryAfter !== 7) await sleep(5)
    const { received } = await ask(app, { path: '/v1/projects' }, key)
    assert.deepEqual([received.json.detail, received.headers['retry-after']], ['Later.', '7'])
  }
  await current.app.storage.maintenance.end()
  while ((await statuses(one, two, late)).includes(503)) await sleep(5)
})

it('ERR-6: the log and the metrics report maintenance, and no failures', async (context) => {
  const current = await trialFor(context, studio)
  const metrics = await collectMetrics()
  const gauge = async () => /^resourced_maintenance (\d)$/m.exec(await metrics.read())?.[1]
  const lines: Record<string, unknown>[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(JSON.parse(line)) })
  const tell = (seen: readonly Observation[]) => {
    for (const each of seen) {
      log(each)
      metrics.observe(each)
    }
    current.seen.length = 0
  }
  assert.equal(await gauge(), '0')
  await turnOn(current)
  await current.app.maintenance.poll()
  await current.send({ path: '/v1/projects', as: null })
  tell(current.seen)
  assert.equal(await gauge(), '1')
  await turnOff(current)
  tell(current.seen)
  assert.equal(await gauge(), '0')
  assert.deepEqual(
    lines.map(({ msg, status, code }) => [msg, status, code]),
    [
      ['maintenance on', undefined, undefined],
      ['request', 503, 'MAINTENANCE'],
      ['maintenance off', undefined, undefined],
    ],
  )
  const { level, message, retry_after } = lines[0] ?? {}
  assert.deepEqual([level, lines[0]?.['since'], message, retry_after], [30, since, told.message, 600])
  const counted = 'resourced_requests_total{method="GET",route="/v1/projects",status="503"} 1'
  assert.ok((await metrics.read()).includes(counted))
})
