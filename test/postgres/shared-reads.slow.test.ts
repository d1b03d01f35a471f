/** Reads that begin together share one statement, and none sees a state from before it began. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FairTurns } from '../../packages/server/src/storage/fair-turns.ts'
import { Client } from '../../packages/server/src/storage/postgres/client.ts'
import { Database } from '../../packages/server/src/storage/postgres/database.ts'
import { constant, type Statement, type Transaction } from '../../packages/server/src/storage/transaction.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'
import { servedFor } from './served.ts'

const skip = whyNoDatabase ?? false

/** Counts the statements with a text that connections of this process run from now on. */
function counted(context: TestContext, text: RegExp): () => number {
  const spied = context.mock.method(Client.prototype, 'prepareAndRun')
  return () => spied.mock.calls.filter(({ arguments: [statement] }) => text.test(String(statement?.text))).length
}

test('CON-4: many 304s that are asked for together take one statement', { skip }, async (context) => {
  const { send } = await servedFor(context, { url: await databaseFor(context) })
  await send('POST', '/v1/notes', { title: 'first' })
  const { headers } = await send('GET', '/v1/notes')
  const tag = { 'if-none-match': String(headers['ETag']) }
  const clocks = counted(context, /from resourced_clocks/)
  const paths = Array.from({ length: 40 }, (_, page) => `/v1/notes?per_page=${(page % 3) + 1}`)
  const asked = [...paths, ...Array<string>(60).fill('/v1/notes')].map((path) => send('GET', path, undefined, tag))
  for (const { status } of await Promise.all(asked)) assert.equal(status, 304)
  assert.equal(clocks(), 1)
})

test('CON-4: a 304 of a slow list is no slow read: it waits for no turn', { skip }, async (context) => {
  const { send } = await servedFor(context, { url: await databaseFor(context) })
  await send('POST', '/v1/notes', { title: 'first' })
  const path = '/v1/notes?title[contains]=i'
  const { headers } = await send('GET', path)
  const turns = context.mock.method(FairTurns.prototype, 'run')
  const tag = { 'if-none-match': String(headers['ETag']) }
  assert.equal((await send('GET', path, undefined, tag)).status, 304)
  assert.equal(turns.mock.callCount(), 0)
  assert.equal((await send('GET', path, undefined, { 'if-none-match': '"other"' })).status, 200)
  assert.ok(turns.mock.callCount() > 0)
})

test('the same page that is asked for together is read once; callers of other pages get theirs', {
  skip,
}, async (context) => {
  const { send } = await servedFor(context, { url: await databaseFor(context) })
  for (const title of ['b', 'a']) await send('POST', '/v1/notes', { title })
  const paths = ['/v1/notes?sort=title', '/v1/notes?sort=-title']
  for (const path of paths) await send('GET', path)
  const pages = counted(context, /from \(select sum\(revision\)/)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send('GET', paths[n % 2]!)))
  const orders = answers.map(({ json }) => json.data.map((note: { title: string }) => note.title).join(''))
  assert.deepEqual(
    orders,
    Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? 'ab' : 'ba')),
  )
  assert.equal(pages(), 2)
})

test('a read that begins after a change was acknowledged shows the change, whatever reads are on their way', {
  skip,
}, async (context) => {
  const { send } = await servedFor(context, { url: await databaseFor(context) })
  let tag = ''
  let going = true
  const read = () => send('GET', '/v1/notes', undefined, { 'if-none-match': tag })
  const others = Array.from({ length: 24 }, async () => {
    while (going) await read()
  })
  for (let round = 1; round <= 100; round++) {
    assert.equal((await send('POST', '/v1/notes', { title: 'more' })).status, 201)
    const { status, json, headers } = await read()
    assert.deepEqual([status, json.pagination.total_count], [200, round])
    tag = String(headers['ETag'])
  }
  going = false
  await Promise.all(others)
})

const sleepAndGive = constant({ text: 'select pg_sleep(0.2), 1 as one', sql: '', values: [] })

function* reading(statement: Statement): Transaction<unknown> {
  return (yield statement)[0]?.['one']
}

test('a statement that was sent is shared no more', { skip }, async (context) => {
  const database = new Database({ url: await databaseFor(context) })
  context.after(() => database.close())
  const one = () => database.readPipelined(() => reading(sleepAndGive))
  assert.equal(await one(), 1)
  const runs = counted(context, /pg_sleep/)
  const early = [one(), one()]
  // Two turns later it is on its way.
  await turn()
  await turn()
  const late = [one(), one()]
  assert.deepEqual(await Promise.all([...early, ...late]), [1, 1, 1, 1])
  assert.equal(runs(), 2)
})

test('if a shared statement fails, all of its reads fail, and the next ones succeed', { skip }, async (context) => {
  const url = await databaseFor(context)
  const database = new Database({ url })
  context.after(() => database.close())
  const statement = constant({ text: 'select one from missing', sql: '', values: [] })
  const one = () => database.readPipelined(() => reading(statement))
  const failed = await Promise.allSettled([one(), one(), one()])
  assert.deepEqual(
    failed.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  await query(url, 'create table missing as select 7 as one')
  assert.deepEqual(await Promise.all([one(), one()]), [7, 7])
})
