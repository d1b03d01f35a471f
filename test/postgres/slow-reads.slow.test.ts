/** Slow reads: they end at their limit, callers share their connections, and nobody else waits for them (LIM-7). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { assemble } from '../../packages/server/src/server/app.ts'
import { Database } from '../../packages/server/src/storage/postgres/database.ts'
import { ReadTime } from '../../packages/server/src/storage/postgres/read-time.ts'
import { openPostgres, type PostgresOptions } from '../../packages/server/src/storage/postgres/storage.ts'
import type { Transaction } from '../../packages/server/src/storage/transaction.ts'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { startCluster } from './cluster.ts'
import { databaseFor, versionAsked, whyNoDatabase } from './database.ts'
import { query } from './query.ts'

const skip = whyNoDatabase ?? false

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const
const fields = { title: { type: 'string', filter: true, sort: true, search: true } } as const

/** Two collections, of which the test makes one slow. */
const shelves = (readTime: number) =>
  defineInterface({
    name: 'shelves',
    title: 'Shelves',
    limits: { readTime },
    resources: { quick: { fields, access: everybody }, slow: { fields, access: everybody } },
  })

const patient = 60_000

interface Answer {
  readonly status: number
  readonly code: string | undefined
}

interface Trial {
  /** Sends a request of a caller. */
  send(caller: string, method: string, path: string, abandoned?: AbortSignal): Promise<Answer>
  /** How many reads of the slow collection the database works on. */
  working(): Promise<number>
  /** Waits until the database works on so many of them. */
  untilWorking(count: number): Promise<void>
  /** Lets the slow reads go on. */
  release(): Promise<void>
}

/** Serves the shelves. Whoever reads the slow collection waits in the database for a lock. */
async function trialFor(
  context: TestContext,
  options: Partial<PostgresOptions> & { readonly readTime?: number; readonly directUrl?: string } = {},
): Promise<Trial> {
  const { readTime = patient, directUrl = await databaseFor(context), ...given } = options
  const catalog = completeCatalog(shelves(readTime))
  await (await openPostgres(catalog, { url: directUrl, unsafe: true })).close()
  const storage = await openPostgres(catalog, { url: directUrl, unsafe: true, ...given })
  const app = assemble(catalog, storage, { observe: () => {}, rateLimit: 'off' })
  const blocker = new pg.Client({ connectionString: directUrl })
  // The database of a test that failed is dropped before it ends.
  blocker.on('error', () => {})
  await blocker.connect()
  await blocker.query('begin; lock table slow in access exclusive mode')
  let released: Promise<void> | undefined
  const release = () => (released ??= blocker.end())
  context.after(async () => {
    await release()
    await app.close()
  })
  const working = async () => {
    const waiting = "wait_event_type = 'Lock' and datname = current_database()"
    return (await query(directUrl, `select 1 from pg_stat_activity where ${waiting}`)).length
  }
  return {
    working,
    release,
    async send(caller, method, path, abandoned) {
      const body = method === 'POST' ? new TextEncoder().encode(JSON.stringify({ title: 'one' })) : new Uint8Array()
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      const response = await app.respond(
        {
          ...{ method, target: `/v1/${path}`, secure: true, address: '127.0.0.1', readBody: async () => body },
          headers: method === 'POST' ? headers : {},
          abandoned: abandoned && (() => abandoned),
        },
        { id: caller, roles: [], claims: {}, credential: 'own', expiresAt: Number.POSITIVE_INFINITY },
      )
      const text = typeof response.body === 'string' ? response.body : ''
      const code = response.status >= 400 ? String(JSON.parse(text).code) : undefined
      return { status: response.status, code }
    },
    async untilWorking(count) {
      for (const began = performance.now(); ; await sleep(10)) {
        const found = await working()
        if (found === count) return
        assert.ok(performance.now() - began < 25_000, `${found} reads run instead of ${count}`)
      }
    },
  }
}

const scan = 'slow?title[contains]=e'

test('short reads and changes are served while slow reads use all of their connections', { skip }, async (context) => {
  const { send, untilWorking, working, release } = await trialFor(context, { poolSize: 4 })
  const slow = [send('greedy', 'GET', scan), send('other', 'GET', scan)]
  await untilWorking(2)
  // More of each than there are connections of any kind.
  for (let round = 0; round < 8; round++) {
    const asked = await Promise.all([send('greedy', 'POST', 'quick'), send('modest', 'GET', 'quick')])
    assert.deepEqual(
      asked.map(({ status }) => status),
      [201, 200],
    )
  }
  assert.equal(await working(), 2, 'the slow ones go on')
  await release()
  assert.deepEqual(await Promise.all(slow), Array(2).fill({ status: 200, code: undefined }))
})

test('small lists and searches are read after a change while slow reads use all of their connections', {
  skip,
}, async (context) => {
  const { send, untilWorking, release } = await trialFor(context, { poolSize: 4, limits: { connect: 200 } })
  const pages = ['quick?title=one', 'quick?q=on'].map((path) => () => send('greedy', 'GET', path))
  // On a busy machine a new connection takes longer than a turn may take to come.
  for (const page of pages) while ((await page()).status !== 200) await sleep(10)
  const slow = [send('greedy', 'GET', scan), send('other', 'GET', scan)]
  await untilWorking(2)
  for (let round = 0; round < 3; round++) {
    assert.equal((await send('greedy', 'POST', 'quick')).status, 201)
    for (const page of pages) assert.equal((await page()).status, 200)
  }
  await release()
  assert.deepEqual(await Promise.all(slow), Array(2).fill({ status: 200, code: undefined }))
})

test("a caller's fifty slow reads leave turns for the slow read of another caller", { skip }, async (context) => {
  const { send, untilWorking, working, release } = await trialFor(context, {
    ...{ poolSize: 8, limits: { connect: patient } },
  })
  const many = Array.from({ length: 50 }, () => send('greedy', 'GET', scan))
  await untilWorking(2)
  assert.equal((await send('modest', 'GET', 'quick?title[contains]=o')).status, 200)
  const own = send('modest', 'GET', scan)
  await untilWorking(3)
  assert.equal((await send('third', 'GET', 'quick?title[contains]=o')).status, 200)
  assert.equal(await working(), 3)
  await release()
  assert.equal((await own).status, 200)
  assert.deepEqual(await Promise.all(many), Array(50).fill({ status: 200, code: undefined }))
})

test('a slow read that gets no turn in time is 503', { skip }, async (context) => {
  const { send, untilWorking, release } = await trialFor(context, { poolSize: 2, limits: { connect: 1_000 } })
  // On a busy machine a new connection may take longer than a turn may take to come.
  while ((await send('a', 'GET', 'quick?title[contains]=o')).status !== 200) await sleep(10)
  const running = send('a', 'GET', scan)
  await untilWorking(1)
  assert.deepEqual(await send('a', 'GET', scan), { status: 503, code: 'OVERLOADED' })
  await release()
  assert.equal((await running).status, 200)
})

test('a slow read ends at limits.readTime, and its connection serves the next', { skip }, async (context) => {
  const { send, release } = await trialFor(context, { poolSize: 2, readTime: 200 })
  const tooLong = { status: 503, code: 'READ_TOO_LONG' }
  assert.deepEqual(await send('a', 'GET', scan), tooLong)
  assert.deepEqual(await send('a', 'GET', 'slow?title=one&limit=1&offset=1001'), tooLong)
  assert.deepEqual(await send('a', 'GET', 'slow'), tooLong, 'a short read too, whatever holds it up')
  await release()
  for (let round = 0; round < 4; round++) assert.equal((await send('a', 'GET', scan)).status, 200)
})

test('the time in the queue does not count: every read has the whole limit of the database', {
  skip,
}, async (context) => {
  const { send, untilWorking } = await trialFor(context, {
    ...{ poolSize: 2, readTime: 400, limits: { connect: patient } },
  })
  // One after the other: the last one waits three times as long as it may run.
  const began = performance.now()
  const all = [1, 2, 3, 4].map(() => send('a', 'GET', scan))
  await untilWorking(1)
  for (const each of await Promise.all(all)) assert.deepEqual(each, { status: 503, code: 'READ_TOO_LONG' })
  assert.ok(performance.now() - began >= 4 * 400 - 50)
})

test('waiting reads of a client that has gone never reach the database', { skip }, async (context) => {
  const { send, untilWorking, release } = await trialFor(context, { poolSize: 2, limits: { connect: patient } })
  const leaving = new AbortController()
  const running = send('a', 'GET', scan)
  await untilWorking(1)
  const waiting = Array.from({ length: 20 }, () => send('a', 'GET', scan, leaving.signal))
  const last = send('a', 'GET', scan)
  leaving.abort()
  await Promise.all(waiting)
  await release()
  assert.deepEqual([(await running).status, (await last).status], [200, 200])
})

test('the statements of a read share its limit', { skip }, async (context) => {
  const database = new Database({ url: await databaseFor(context), limits: { read: 2_000 } })
  context.after(() => database.close())
  const statement = (text: string) => ({ text, sql: text, values: [] })
  const limit = "select extract(epoch from current_setting('statement_timeout')::interval)::float8 * 1000 as rest"
  const reading = function* (): Transaction<number[]> {
    const rests = [Number((yield statement(limit))[0]?.['rest'])]
    yield statement('select pg_sleep(0.3)')
    rests.push(Number((yield statement(limit))[0]?.['rest']))
    return rests
  }
  const [whole = 0, rest = 0] = await database.readSlow(reading, { isSnapshot: true })
  assert.equal(whole, 2_000)
  assert.ok(rest > 0 && rest <= 1_700, `${rest} ms are left`)
  const time = new ReadTime(2_000)
  await database.readSlow(reading, { isSnapshot: true, time })
  const [later = 0] = await database.readSlow(reading, { isSnapshot: true, time })
  assert.ok(later <= 1_700, `${later} ms are left for the second transaction`)
  // Nothing of it stays with the connection.
  assert.equal((await database.readSlow(reading))[0], 2_000)
})

const noBouncer = skip || (whyNoBouncer ?? false)

test('behind a pooler, a slow read ends at its limit, and leaves no limit behind', {
  skip: noBouncer,
}, async (context) => {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const bouncer = await startBouncer(cluster, { default_pool_size: 4 })
  context.after(() => bouncer.stop())
  const directUrl = await cluster.createDatabase()
  const url = bouncer.through(directUrl)
  const { send, release } = await trialFor(context, { directUrl, url, session: 'off', readTime: 200 })
  assert.deepEqual(await send('a', 'GET', scan), { status: 503, code: 'READ_TOO_LONG' })
  assert.equal((await send('a', 'GET', 'quick?title[contains]=o')).status, 200)
  const [left] = await query(url, "select current_setting('statement_timeout') as timeout")
  assert.equal(left?.['timeout'], '0')
  await release()
  assert.equal((await send('a', 'GET', scan)).status, 200)
})
