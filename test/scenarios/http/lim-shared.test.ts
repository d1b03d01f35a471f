/** LIM: rate limits that several servers share, in a Redis or Valkey that the tests start. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RateDeclaration } from 'resourced-contract/model/limits'
import type { RateOptions } from '../../../packages/server/src/server/rates/rate-limiter.ts'
import { studio } from '../../declarations.ts'
import { type Received, type Trial, trialFor } from '../../harness.ts'
import { redisFor, whyNoRedis } from '../../redis/server.ts'
import { until } from '../../until.ts'

/** A scenario that needs a Redis. */
function onRedis(title: string, scenario: (context: TestContext) => Promise<void>): void {
  it(title, async (context) => {
    if (whyNoRedis === undefined) return scenario(context)
    context.diagnostic(`not run here: ${whyNoRedis}`)
  })
}

const projects = { path: '/v1/projects' }

function serverOn(context: TestContext, redis: string, rate: RateDeclaration, more: RateOptions = {}): Promise<Trial> {
  return trialFor(context, { ...studio, limits: { rate } }, { memory: true, rates: { redis, ...more } })
}

const passed = (answers: readonly Received[], status = 200) => answers.filter((each) => each.status === status).length

/** What was said of Redis so far. */
const said = ({ seen }: Trial) => seen.flatMap((each) => (each.kind === 'redis' ? [each.state] : []))

onRedis('LIM-1: of 500 requests at once to two servers exactly so many pass together as may', async (context) => {
  const { url } = await redisFor(context)
  const servers = [
    await serverOn(context, url, { caller: '100/minute' }),
    await serverOn(context, url, { caller: '100/minute' }),
  ]
  // What is done for the first time takes longest, and Redis is waited for a tenth of a second only.
  for (const { send } of servers) await send({ ...projects, as: 'bob' })
  const answers = await Promise.all(Array.from({ length: 500 }, (_, at) => servers[at % 2]!.send(projects)))
  assert.deepEqual([passed(answers), passed(answers, 429)], [100, 400])
  const left = answers.flatMap(({ headers }) => Number(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1]))
  assert.deepEqual([Math.min(...left), Math.max(...left)], [0, 99])
})

onRedis('LIM-1, BLK-1: records of arrays are counted together exactly, whole arrays or none', async (context) => {
  const { url } = await redisFor(context)
  const rate = { changes: '100/minute' }
  const servers = [await serverOn(context, url, rate), await serverOn(context, url, rate)]
  for (const { send } of servers) await send({ ...projects, as: 'bob' })
  const sent = (at: number) => {
    const body = Array.from({ length: 7 }, (_, index) => ({ name: `${at} ${index}` }))
    return servers[at % 2]!.send({ ...projects, body })
  }
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => sent(at)))
  assert.deepEqual([passed(answers, 201), passed(answers, 429)], [14, 26])
  const one = await servers[0]!.send({ ...projects, body: { name: 'One' } })
  assert.deepEqual([one.status, /"changes";r=(\d+)/.exec(one.headers['ratelimit'] ?? '')?.[1]], [201, '1'])
  const refused = await servers[1]!.send({ ...projects, body: [{ name: 'Two' }, { name: 'Three' }] })
  const seconds = Number(refused.headers['retry-after'])
  assert.deepEqual([refused.status, seconds > 0 && seconds <= 60], [429, true])
})

onRedis('LIM-1: what a filter has changed counts beyond the rate too, on all servers', async (context) => {
  const { url } = await redisFor(context)
  const { projects: declared } = studio.resources
  const resources = { ...studio.resources, projects: { ...declared, deletion: { byFilter: true } } } as const
  const rate = { changes: '7/minute' }
  const limits = { rate }
  const start = () => trialFor(context, { ...studio, resources, limits }, { memory: true, rates: { redis: url } })
  const servers = [await start(), await start()]
  const body = Array.from({ length: 6 }, (_, index) => ({ name: `A ${index}` }))
  assert.equal((await servers[0]!.send({ ...projects, body })).status, 201)
  const gone = await servers[0]!.send({ method: 'DELETE', path: '/v1/projects?created_at[gt]=2000-01-01T00:00:00Z' })
  assert.deepEqual([gone.status, gone.json.deleted_count], [200, 6])
  assert.match(gone.headers['ratelimit'] ?? '', /"changes";r=0/)
  assert.equal((await servers[1]!.send({ ...projects, body: { name: 'B' } })).status, 429)
})

onRedis('LIM-1, BLK-4: operations of transactions are counted together for their actions', async (context) => {
  const { url } = await redisFor(context)
  const rate = { changes: '50/minute', actions: { 'projects.create': '5/minute' } }
  const servers = [await serverOn(context, url, rate), await serverOn(context, url, rate)]
  for (const { send } of servers) await send({ ...projects, as: 'bob' })
  const run = (at: number) => {
    const operations = [0, 1].map((index) => ({ method: 'POST', path: '/projects', body: { name: `${at} ${index}` } }))
    return servers[at % 2]!.send({ path: '/v1/transactions', body: { operations } })
  }
  const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => run(at)))
  assert.deepEqual([passed(answers), passed(answers, 429)], [2, 8])
  const one = await servers[0]!.send({ ...projects, body: { name: 'One' } })
  assert.equal(one.status, 201, one.text)
  // What the rate of an action refuses counts for no other rate.
  assert.match(one.headers['ratelimit'] ?? '', /"projects.create";r=0;t=\d+, "changes";r=45;/)
})

onRedis('LIM-1: failures from an address are counted together too', async (context) => {
  const { url } = await redisFor(context)
  const servers = [
    await serverOn(context, url, { address: '3/hour' }),
    await serverOn(context, url, { address: '3/hour' }),
  ]
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => servers[at % 2]!.send({ ...projects, as: null })),
  )
  assert.deepEqual([passed(answers, 401), passed(answers, 429)], [3, 17])
  assert.equal((await servers[0]!.send(projects)).status, 200)
})

onRedis('LIM-1: Retry-After is true there too, and what one quota refuses counts against none', async (context) => {
  const { url } = await redisFor(context)
  const rate = { caller: '5/hour', actions: { 'projects.create': '1/second' } }
  const { send } = await serverOn(context, url, rate)
  const create = (name: string) => send({ ...projects, body: { name } })
  assert.equal((await create('one')).status, 201)
  const refused = await create('two')
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '1'])
  assert.match(refused.headers['ratelimit'] ?? '', /^"caller";r=4;t=\d+, "projects.create";r=0;t=1$/)
  await sleep(1_000)
  const again = await create('two')
  assert.equal(again.status, 201, again.text)
  assert.match(again.headers['ratelimit'] ?? '', /^"caller";r=3;/)
})

onRedis('LIM-1: while Redis is down each server counts alone, and says so once', async (context) => {
  const redis = await redisFor(context)
  const trial = await serverOn(context, redis.url, { caller: '3/hour' })
  assert.equal((await trial.send(projects)).status, 200)
  await redis.stop()
  const answers = []
  for (let time = 0; time < 4; time++) answers.push(await trial.send(projects))
  assert.deepEqual([passed(answers), passed(answers, 429)], [3, 1])
  assert.deepEqual(said(trial), ['connected', 'lost'])
  await redis.start()
  await until(() => said(trial).length === 3)
  assert.deepEqual(said(trial), ['connected', 'lost', 'connected'])
  assert.match((await trial.send(projects)).headers['ratelimit'] ?? '', /r=2/)
})

onRedis('LIM-1, ERR-6: where it is told to, a server refuses requests while Redis is down', async (context) => {
  const redis = await redisFor(context)
  const trial = await serverOn(context, redis.url, {}, { rateLimitOnFailure: 'closed' })
  assert.equal((await trial.send(projects)).status, 200)
  await redis.stop()
  for (const as of ['root', null]) {
    const { status, headers, json } = await trial.send({ ...projects, as })
    assert.deepEqual([status, json.code, headers['retry-after']], [502, 'RATE_LIMIT_FAILED', '5'])
  }
  assert.equal((await trial.send({ path: '/health/ready', as: null })).status, 200)
})

onRedis('LIM-1: a Redis that hangs holds a request up for a tenth of a second, and not every one', async (context) => {
  const redis = await redisFor(context)
  const trial = await serverOn(context, redis.url, {})
  await trial.send(projects)
  redis.hang()
  const times: number[] = []
  for (let time = 0; time < 20; time++) {
    const began = performance.now()
    assert.equal((await trial.send(projects)).status, 200)
    times.push(performance.now() - began)
  }
  assert.ok(times.filter((took) => took >= 100).length < 10, `${times} ms`)
  assert.deepEqual(said(trial), ['connected', 'lost'])
})

onRedis('LIM-1: a password in the address of Redis is told to nobody', async (context) => {
  const redis = await redisFor(context, 'hunter2')
  const good = await serverOn(context, redis.url, {})
  assert.equal((await good.send(projects)).status, 200)
  assert.deepEqual(said(good), ['connected'])
  const wrong = await serverOn(context, redis.url.replace('hunter2', 'hunter3'), {})
  assert.equal((await wrong.send(projects)).status, 200)
  await redis.stop()
  await until(() => said(good).length === 2)
  assert.deepEqual(said(wrong), ['lost'])
  assert.doesNotMatch(JSON.stringify([...good.seen, ...wrong.seen]), /hunter/)
})
