/** Statements, locks and transactions have time limits, and readiness checks wait for none of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Database } from '../../packages/server/src/storage/postgres/database.ts'
import { usualLimits } from '../../packages/server/src/storage/postgres/settings.ts'
import type { Row, Transaction } from '../../packages/server/src/storage/transaction.ts'
import { until } from '../until.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'
import { servedFor } from './served.ts'

const skip = whyNoDatabase ?? false

/** Locks all notes against whoever reads them, until it is told to end. */
async function lockNotes(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin; lock table notes in access exclusive mode')
  return () => client.end()
}

const settings = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
  current_setting('idle_in_transaction_session_timeout') as idle, current_setting('jit') as jit`
const asked = { text: settings, sql: settings, values: [] }

test('sessions have time limits from the start; long work has longer ones', { skip }, async (context) => {
  const database = new Database({ url: await databaseFor(context) })
  context.after(() => database.close())
  const usual = { statement: '30s', lock: '10s', idle: '30s', jit: 'off' }
  const single = function* (): Transaction<Row | undefined> {
    return (yield asked)[0]
  }
  const ofReads = { ...usual, statement: '10s' }
  assert.deepEqual(await database.readPipelined(single), ofReads)
  assert.deepEqual(await database.readSlow(single), ofReads)
  assert.deepEqual(await database.readSlow(single, { isSnapshot: true }), ofReads)
  assert.deepEqual(await database.read(single), usual)
  assert.deepEqual(await database.write(single), usual)
  assert.deepEqual(await database.write(single, () => true, { isLong: true }), { ...usual, statement: '10min' })
  assert.deepEqual(await database.write(single), usual)
})

test('if sessions are shared, each transaction sets its limits', { skip }, async (context) => {
  const url = await databaseFor(context)
  const database = new Database({ url, session: 'off' })
  context.after(() => database.close())
  const single = function* (): Transaction<Row | undefined> {
    return (yield asked)[0]
  }
  const usual = { statement: '30s', lock: '10s', idle: '30s', jit: 'off' }
  assert.deepEqual(await database.read(single), usual)
  assert.deepEqual(await database.write(single), usual)
  assert.deepEqual(await database.write(single, () => true, { isLong: true }), { ...usual, statement: '10min' })
  assert.deepEqual(await database.readSlow(single), { ...usual, statement: '10s' })
  assert.deepEqual(await database.readSlow(single, { isSnapshot: true }), { ...usual, statement: '10s' })
  // Nothing of it stays for whoever has the session next.
  const left = await database.readPipelined(single)
  assert.deepEqual([left?.['statement'], left?.['lock'], left?.['idle']], ['0', '0', '0'])
})

test('a statement that takes too long ends, in a read and in a change, and readiness does not wait for it', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url, limits: { statement: 2_000, read: 2_000 } })
  const made = await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(url)
  const reads = [
    served.send('GET', '/v1/notes'),
    served.send('GET', '/v1/notes?title[contains]=first'),
    ...Array.from({ length: 8 }, () => served.send('GET', `/v1/notes/${made.json.id}`)),
  ]
  const change = served.send('PATCH', `/v1/notes/${made.json.id}`, { number: 1 })
  let ended = 0
  for (const each of [...reads, change]) each.then(() => ended++)
  // By then they are on their way.
  await sleep(100)
  const ready = await served.send('GET', '/health/ready')
  assert.equal(ended, 0, 'readiness waits for nobody')
  assert.equal(ready.status, 200)
  for (const { status, json, headers } of await Promise.all(reads))
    assert.deepEqual([status, json.code, headers['Retry-After']], [503, 'READ_TOO_LONG', '10'])
  const { status, json, headers } = await change
  assert.deepEqual([status, json.code, headers['Retry-After']], [503, 'OVERLOADED', '1'])
  await unlock()
  assert.equal((await served.send('PATCH', `/v1/notes/${made.json.id}`, { number: 2 })).status, 200)
})

test('a statement that fails while it is prepared does not affect the statements behind it', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url, limits: { read: 600 } })
  const made = await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(url)
  const failed = Promise.withResolvers<void>()
  const reads = Promise.all(
    Array.from({ length: 40 }, async () => {
      const answer = await served.send('GET', `/v1/notes/${made.json.id}`)
      if (answer.status === 503) failed.resolve()
      return answer
    }),
  )
  await failed.promise
  await unlock()
  const statuses = (await reads).map(({ status }) => status)
  assert.deepEqual([...new Set(statuses)].sort(), [200, 503])
  // One on each connection.
  assert.ok(statuses.filter((status) => status === 503).length <= 8)
})

test('a lock that is not granted in time ends a change without effect', { skip }, async (context) => {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url, limits: { lock: 300 } })
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  const unlock = await lockNotes(url)
  const began = performance.now()
  assert.equal((await served.send('PATCH', `/v1/notes/${json.id}`, { number: 1 })).status, 503)
  // Others wait for ten seconds.
  assert.ok(performance.now() - began < 9_000)
  await unlock()
  assert.equal((await served.send('GET', `/v1/notes/${json.id}`)).json.number, 0)
})

test('PostgreSQL ends an idle transaction, and its connection is replaced', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const database = new Database({ url, limits: { idle: 200 }, poolSize: 1 })
  context.after(() => database.close())
  const idle = function* () {
    yield { text: 'select 1', sql: 'select 1', values: [] }
    // A process that is stopped, or busy, for too long.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    yield { text: 'select 2', sql: 'select 2', values: [] }
  }
  await assert.rejects(database.write(idle), { name: 'StorageFault' })
  const well = function* (): Transaction<unknown> {
    return (yield { text: 'select 3 as three', sql: 'select 3 as three', values: [] })[0]?.['three']
  }
  assert.equal(await database.write(well), 3)
})

test('if all connections are in use, a request waits for a limited time and is then rejected as overload', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url, poolSize: 2, limits: { connect: 300 } })
  const unlock = await lockNotes(url)
  const change = (title: string) => served.send('POST', '/v1/notes', { title })
  const held = [change('first'), change('second')]
  const waiting = "from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  await until(async () => (await query(url, `select 1 ${waiting}`)).length === 2)
  const { status, json } = await change('third')
  assert.deepEqual([status, json.code], [503, 'OVERLOADED'])
  await unlock()
  for (const answer of await Promise.all(held)) assert.equal(answer.status, 201)
})

test('no time limit is longer than a minute, except for long work', () => {
  const { long, ...others } = usualLimits
  assert.ok(Math.max(...Object.values(others)) <= 60_000)
  assert.ok(long <= 600_000)
})

test('a server leaves no connection open after it is closed or fails to open', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const served = await servedFor(context, { url })
  await served.close()
  await assert.rejects(servedFor(context, { url: url.replace(/\/[^/]*$/, '/none') }), /There is no database none/)
  const left = await query(
    url,
    "select 1 from pg_stat_activity where application_name = 'resourced' and datname = current_database()",
  )
  assert.equal(left.length, 0)
})
