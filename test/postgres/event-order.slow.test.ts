/**
 * EVT-1, EVT-2: positions and the horizon on PostgreSQL, where a transaction with a smaller position may commit later.
 * `SECONDS=60 node --test test/postgres/event-order.slow.test.ts`
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { uuidv7 } from 'uuidv7'
import { horizon as horizonSql } from '../../packages/server/src/storage/postgres/event-triggers.ts'
import { openPostgres } from '../../packages/server/src/storage/postgres/storage.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { databaseFor } from './database.ts'

const seconds = Number(process.env.SECONDS ?? 5)

const { stored: catalog } = completeVersions({
  name: 'counters',
  resources: { counters: { fields: { count: { type: 'integer' } }, events: true } },
})

async function counters(context: TestContext) {
  const url = await databaseFor(context)
  const storage = await openPostgres(catalog, { url, unsafe: true, limits: { connect: 60_000 } })
  await storage.close()
  const connect = async () => {
    const client = new pg.Client(url)
    // The database is dropped while it is connected.
    client.on('error', () => {})
    await client.connect()
    context.after(() => client.end().catch(() => {}))
    return client
  }
  return connect
}

const now = '2026-11-21T08:00:00.000Z'

async function insert(client: pg.Client, id = uuidv7()): Promise<string> {
  const columns = 'id, count, created_at, updated_at, _revision'
  await client.query(`insert into counters (${columns}) values ($1, 0, $2, $2, 1)`, [id, now])
  return id
}

async function horizonOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query(horizonSql.text)
  return Number(rows[0].horizon)
}

async function positionsOf(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query('select _row from events order by _row')
  return rows.map((row) => Number(row._row))
}

test('EVT-2: the horizon stays before the positions of a transaction that is open, whoever commits meanwhile', async (context) => {
  const connect = await counters(context)
  const [first, second, reader] = [await connect(), await connect(), await connect()]
  assert.equal(await horizonOf(reader), 0)
  await first.query('begin')
  // Nothing is announced before the first event.
  await first.query('select 1')
  await insert(second)
  assert.equal(await horizonOf(reader), 1)
  await insert(first)
  for (let count = 0; count < 3; count++) await insert(second)
  assert.deepEqual(await positionsOf(reader), [1, 3, 4, 5])
  assert.equal(await horizonOf(reader), 1)
  await first.query('commit')
  assert.equal(await horizonOf(reader), 5)
  assert.deepEqual(await positionsOf(reader), [1, 2, 3, 4, 5])
  await first.query('begin')
  await insert(first)
  await insert(second)
  assert.equal(await horizonOf(reader), 5)
  await first.query('rollback')
  assert.equal(await horizonOf(reader), 7)
})

test('EVT-2: a transaction that rolls back to a savepoint announces its next positions anew', async (context) => {
  const connect = await counters(context)
  const [first, second, reader] = [await connect(), await connect(), await connect()]
  await first.query('begin; savepoint a')
  await insert(first)
  await first.query('rollback to savepoint a')
  await insert(second)
  assert.equal(await horizonOf(reader), 2)
  await insert(first)
  await insert(second)
  assert.equal(await horizonOf(reader), 2)
  await first.query('commit')
  assert.equal(await horizonOf(reader), 4)
  assert.deepEqual(await positionsOf(reader), [2, 3, 4])
})

test('EVT-2: positions have more than 32 bits', async (context) => {
  const connect = await counters(context)
  const [first, second, reader] = [await connect(), await connect(), await connect()]
  const last = 3 * 2 ** 32 - 2
  await first.query(`select setval('events__row_seq', ${last})`)
  await first.query('begin')
  await insert(first)
  for (let count = 0; count < 4; count++) await insert(second)
  // The position of the open transaction and those of the others have different upper bits.
  assert.equal(await horizonOf(reader), last)
  await first.query('commit')
  assert.equal(await horizonOf(reader), last + 5)
})

test('EVT-1: a transaction of thousands of records has one lock', async (context) => {
  const connect = await counters(context)
  const [first, reader] = [await connect(), await connect()]
  await first.query('begin')
  await first.query(`insert into counters (id, count, created_at, updated_at, _revision)
    select 'c' || n, 0, '${now}', '${now}', 1 from generate_series(1, 10000) n`)
  await first.query(`update counters set count = 1, _revision = 2; delete from counters`)
  // Of this transaction: the locks of other databases are shown, too.
  const { pid } = (await first.query('select pg_backend_pid() pid')).rows[0]
  const { rows } = await reader.query("select 1 from pg_locks where locktype = 'advisory' and pid = $1", [pid])
  assert.equal(rows.length, 1)
  assert.equal(await horizonOf(reader), 0)
  await first.query('commit')
  assert.equal(await horizonOf(reader), 30_000)
  const kinds = await reader.query(
    'select kind, count(*)::int as count, count(data)::int as data from events group by kind order by kind',
  )
  assert.deepEqual(kinds.rows, [
    { kind: 'created', count: 10_000, data: 0 },
    { kind: 'deleted', count: 10_000, data: 10_000 },
    { kind: 'updated', count: 10_000, data: 0 },
  ])
})

test(`EVT-1, EVT-2: a reader up to the horizon gets every committed event once, in order, in ${seconds} s of random transactions`, async (context) => {
  const connect = await counters(context)
  const reader = await connect()
  const shared: string[] = []
  for (let count = 0; count < 100; count++) shared.push(await insert(reader))

  const end = performance.now() + seconds * 1_000
  const writers = await Promise.all(Array.from({ length: 16 }, connect))
  let isOver = false
  const seen: { position: number; record: string; count: number }[] = []
  let last = 0
  let overtaken = 0
  const read = async () => {
    const horizon = await horizonOf(reader)
    const { rows } = await reader.query(
      "select _row, record, (data->>'count')::int as count from events where _row > $1 and _row <= $2 order by _row",
      [last, horizon],
    )
    for (const row of rows) seen.push({ position: Number(row._row), record: row.record, count: row.count })
    const newest = await reader.query('select max(_row) as newest from events')
    if (Number(newest.rows[0].newest) > horizon) overtaken++
    last = Math.max(last, horizon)
  }
  const reading = (async () => {
    while (!isOver) await read()
  })()
  let committed = 0
  await Promise.all(
    writers.map(async (client) => {
      while (performance.now() < end) {
        await client.query('begin')
        try {
          for (let left = randomInt(1, 5); left > 0; left--) {
            if (randomInt(4) === 0) await insert(client)
            else {
              const id = shared[randomInt(shared.length)]
              await client.query('update counters set count = count + 1, _revision = _revision + 1 where id = $1', [id])
            }
            if (randomInt(3) === 0) await client.query('savepoint a')
            else if (randomInt(4) === 0) await client.query('savepoint b; rollback to savepoint b')
            if (randomInt(4) === 0) await sleep(randomInt(20))
          }
          await client.query(randomInt(4) === 0 ? 'rollback' : 'commit')
          committed++
        } catch (error) {
          // A deadlock.
          assert.match(String((error as { code?: string }).code), /^40/)
          await client.query('rollback')
        }
      }
    }),
  )
  isOver = true
  await reading
  await read()
  assert.deepEqual(
    seen.map(({ position }) => position),
    await positionsOf(reader),
  )
  for (const [record, events] of Map.groupBy(seen, ({ record }) => record)) {
    const counts = events.map(({ count }) => count)
    assert.deepEqual(
      counts,
      Array.from(counts, (_, index) => index),
      record,
    )
  }
  assert.ok(overtaken > 0, 'the reader met transactions whose positions were not settled')
  context.diagnostic(`${committed} transactions, ${seen.length} events, ${overtaken} reads before unsettled positions`)
})
