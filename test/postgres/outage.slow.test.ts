/** ERR-6: a database that fails in different ways while requests run. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import sql from 'sql-template-tag'
import { Database } from '../../packages/server/src/storage/postgres/database.ts'
import { usualLimits } from '../../packages/server/src/storage/postgres/settings.ts'
import type { Transaction } from '../../packages/server/src/storage/transaction.ts'
import { until } from '../until.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { startProxy } from './proxy.ts'
import { query } from './query.ts'
import { type Served, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? false

// Whatever nobody awaits must not fail.
const unhandled: unknown[] = []
process.on('unhandledRejection', (error) => unhandled.push(error))

async function clusterFor(context: TestContext): Promise<Cluster> {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  return cluster
}

/** How far creations by their titles have come, and the statuses of all answers. */
interface Load {
  readonly acknowledged: Set<string>
  readonly uncertain: Set<string>
  readonly refused: Set<string>
  readonly statuses: Set<number>
  end(): Promise<void>
}

/** Clients that create, read and list until they are told to stop. */
function load({ send }: Served, clients: number): Load {
  const made = { acknowledged: new Set<string>(), uncertain: new Set<string>(), refused: new Set<string>() }
  const statuses = new Set<number>()
  let going = true
  const client = async (number: number) => {
    for (let turn = 0; going; turn++) {
      const title = `${number} ${turn}`
      const { status, json } = await send('POST', '/v1/notes', { title })
      statuses.add(status)
      if (status === 201) made.acknowledged.add(title)
      else if (/it was made, or it was not/.test(json.detail)) made.uncertain.add(title)
      else made.refused.add(title)
      const answers = [await send('GET', `/v1/notes?title=${number}%20${turn}`), await send('GET', '/v1/notes?limit=3')]
      for (const answer of answers) statuses.add(answer.status)
      if (status !== 201) await sleep(20)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    ...{ ...made, statuses },
    async end() {
      going = false
      await running
    },
  }
}

/** Milliseconds until something is answered well. */
async function untilWell(served: Served, method: string, path: string, body?: unknown): Promise<number> {
  const began = performance.now()
  while ((await served.send(method, path, body)).status >= 300) await sleep(20)
  return performance.now() - began
}

/** Each change that was acknowledged was made once, none that was refused, and of the others none twice. */
async function judge(url: string, { acknowledged, uncertain, refused, statuses }: Load): Promise<void> {
  const rows = await query(url, 'select title, count(*)::int as times from notes group by title')
  const times = new Map(rows.map((row) => [row['title'] as string, row['times'] as number]))
  for (const title of acknowledged) assert.equal(times.get(title), 1, `${title} was acknowledged`)
  for (const title of refused) assert.equal(times.get(title), undefined, `${title} was refused`)
  for (const title of uncertain) assert.ok((times.get(title) ?? 0) <= 1, `${title} was made twice`)
  assert.deepEqual(
    [...statuses].filter((status) => ![200, 201, 502, 503].includes(status)),
    [],
  )
  assert.deepEqual(unhandled, [])
}

async function connectionsOf(url: string): Promise<number> {
  const [row] = await query(
    url,
    "select count(*)::int as number from pg_stat_activity where application_name = 'resourced'",
  )
  return row?.['number'] as number
}

const ways: Readonly<Record<string, (cluster: Cluster) => Promise<unknown>>> = {
  'starts again': (cluster) => cluster.restart(),
  'is killed': async (cluster) => {
    await cluster.kill()
    await sleep(300)
    await cluster.restart()
  },
  'ends every connection': (cluster) =>
    query(
      cluster.adminUrl,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'resourced'",
    ),
}

for (const [way, goAway] of Object.entries(ways)) {
  test(`ERR-6: a database that ${way} while requests run loses nothing, and is served again at once`, {
    skip,
  }, async (context) => {
    const cluster = await clusterFor(context)
    const served = await servedFor(context, { url: cluster.url })
    const running = load(served, 24)
    for (let round = 0; round < 3; round++) {
      await sleep(400)
      await goAway(cluster)
      const waits = await Promise.all([
        untilWell(served, 'GET', '/v1/notes'),
        untilWell(served, 'POST', '/v1/notes', { title: 'after' }),
        untilWell(served, 'GET', '/health/ready'),
        served.app.maintenance.poll(),
        served.app.runner.idle(),
      ])
      // Nothing is waited for that the limits would end.
      for (const wait of waits) assert.ok((wait ?? 0) < usualLimits.connect, `recovered after ${wait} ms`)
    }
    await until(() => running.acknowledged.size > 100)
    await running.end()
    await judge(cluster.url, running)
    // Ten for transactions, four for single reads, one for what must not wait.
    assert.ok((await connectionsOf(cluster.adminUrl)) <= 25)
    await served.close()
    assert.equal(await connectionsOf(cluster.adminUrl), 0)
  })
}

test('ERR-6: without the database every request gets 502 and readiness 503, and begun work continues afterwards', {
  skip,
}, async (context) => {
  const cluster = await clusterFor(context)
  const served = await servedFor(context, { url: cluster.url })
  await Promise.all(
    Array.from({ length: 300 }, (_, number) => served.send('POST', '/v1/notes', { title: 'old', number })),
  )
  const begun = await served.send('DELETE', '/v1/notes?title=old', undefined, { prefer: 'respond-async' })
  assert.equal(begun.status, 202)
  await cluster.kill()
  for (const [method, path, body] of [
    ['GET', '/v1/notes'],
    ['POST', '/v1/notes', { title: 'new' }],
    ['GET', '/health/ready'],
  ] as const) {
    const { status, json } = await served.send(method, path, body)
    const expected = path === '/health/ready' ? [503, 'NOT_READY'] : [502, 'STORAGE_FAILED']
    assert.deepEqual([status, json.code], expected, `${method} ${path}`)
    assert.doesNotMatch(JSON.stringify(json), /ECONN|127\.0\.0\.1|postgres/i)
  }
  assert.equal((await served.send('GET', '/health/live')).status, 200)
  await sleep(1_500)
  await cluster.restart()
  await served.app.runner.idle()
  const job = await served.send('GET', begun.json.status_url)
  assert.deepEqual([job.json.status, job.json.result.deleted_count], ['succeeded', 300])
  assert.deepEqual(unhandled, [])
})

// What a server waits for, in milliseconds, is more.
const limits = { connect: 400, ping: 200, statement: 600, read: 600, long: 800, lock: 500, idle: 600, grace: 200 }

test('ERR-6: if the network drops all packets, requests end within the time limits, and connections are discarded', {
  skip,
}, async (context) => {
  const cluster = await clusterFor(context)
  const proxy = await startProxy(cluster.port)
  context.after(() => proxy.stop())
  const served = await servedFor(context, { url: proxy.through(cluster.url), limits, poolSize: 4 })
  const ask = () =>
    [
      served.send('GET', '/v1/notes'),
      served.send('POST', '/v1/notes', { title: 'swallowed' }),
      served.send('GET', '/v1/notes/0190c0c0-0000-7000-8000-000000000000'),
    ] as const
  // Every connection is there before.
  await Promise.all([1, 2, 3].flatMap(ask))
  proxy.swallow('everything')
  for (let round = 0; round < 2; round++) {
    const began = performance.now()
    const answers = await Promise.all([1, 2, 3, 4, 5].flatMap(ask))
    // A slow machine takes longer, but not as long as the usual limits.
    assert.ok(performance.now() - began < 10_000, `${performance.now() - began} ms`)
    assert.deepEqual(
      [...new Set(answers.map(({ status }) => status))].filter((status) => status < 500),
      [],
    )
    const reading = served.send('GET', '/v1/notes').then(() => 'a read')
    const probing = served.send('GET', '/health/ready').then(({ status }) => status)
    assert.equal(await Promise.race([probing, reading]), 503)
    await reading
  }
  proxy.swallow('nothing')
  for (const [method, path, body] of [
    ['GET', '/v1/notes'],
    ['POST', '/v1/notes', { title: 'after' }],
    ['GET', '/health/ready'],
  ] as const) {
    assert.ok((await untilWell(served, method, path, body)) < 5_000)
  }
  proxy.swallow('everything')
  const closing = performance.now()
  await served.close()
  assert.ok(performance.now() - closing < 10_000, 'nobody hears that it is over')
  assert.deepEqual(unhandled, [])
})

test('ERR-6: if one connection is found dead, the others of its age are not tried', {
  skip,
}, async (context) => {
  const cluster = await clusterFor(context)
  const proxy = await startProxy(cluster.port)
  context.after(() => proxy.stop())
  const served = await servedFor(context, { url: proxy.through(cluster.url), limits, poolSize: 6 })
  const create = (title: string) => served.send('POST', '/v1/notes', { title })
  // A busy machine may answer some before it opens a connection for the next.
  for (let turn = 0; proxy.count <= 6 && turn < 100; turn++) {
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(create))
  }
  assert.ok(proxy.count > 6)
  proxy.forget()
  assert.equal((await create('lost')).status, 502)
  let slow = 0
  for (let time = 0; time < 10; time++) {
    const began = performance.now()
    assert.equal((await create(`found ${time}`)).status, 201)
    if (performance.now() - began >= limits.statement) slow++
  }
  // Each of the five others would have taken as long.
  assert.ok(slow < 5, `${slow} were slow`)
})

test('ERR-6: if the result of a commit is lost, the response leaves it open, and nothing happens twice', {
  skip,
}, async (context) => {
  const cluster = await clusterFor(context)
  const proxy = await startProxy(cluster.port)
  context.after(() => proxy.stop())
  const served = await servedFor(context, { url: proxy.through(cluster.url), limits })
  const made = await served.send('POST', '/v1/notes', { title: 'first' })
  const id = made.json.id
  const changes = [
    ['POST', '/v1/notes', { title: 'second' }, 'insert into', "title = 'second'"],
    ['PATCH', `/v1/notes/${id}`, { number: 7 }, 'update ', 'number = 7 and _revision & 1048575 = 2'],
    ['DELETE', `/v1/notes/${id}`, undefined, 'update resourced_clocks', "title = 'first' and deleted_at is not null"],
  ] as const
  for (const [method, path, body, last, done] of changes) {
    // On new connections, on which statements are sent as texts.
    proxy.cut()
    await sleep(50)
    proxy.swallowAnswersOnce(last)
    const { status, json } = await served.send(method, path, body)
    proxy.swallow('nothing')
    assert.equal(status, 502, JSON.stringify(json))
    assert.match(json.detail, /it was made, or it was not/, method)
    assert.equal((await query(cluster.url, `select 1 from notes where ${done}`)).length, 1, `${method} was done once`)
  }
  assert.deepEqual(unhandled, [])
})

test('ERR-6: if a connection is lost before the commit, the response says that nothing happened', {
  skip,
}, async (context) => {
  const cluster = await clusterFor(context)
  await query(cluster.url, 'create table held as select 1 as number')
  // Serializable changes lock it.
  await query(cluster.url, 'create table resourced_meta (key text, value text)')
  const database = new Database({ url: cluster.url })
  context.after(() => database.close())
  const holder = new pg.Client({ connectionString: cluster.url })
  await holder.connect()
  await holder.query('begin; lock table held in access exclusive mode')
  const change = function* (): Transaction<void> {
    yield sql`update held set number = number + 1`
  }
  for (const isolation of ['serializable', 'read committed'] as const) {
    const changing = database.write(change, () => true, { isolation })
    const ending = (async () => {
      for (;;) {
        const own = "application_name = 'resourced' and wait_event_type = 'Lock'"
        const ended = await query(
          cluster.adminUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity where ${own}`,
        )
        if (ended.length > 0) return
        await sleep(10)
      }
    })()
    await assert.rejects(changing, { name: 'StorageFault', kind: 'failed' })
    await ending
  }
  await holder.end()
  assert.deepEqual(await query(cluster.url, 'select number from held'), [{ number: 1 }])
})
