/** OPS-5: a PostgreSQL server that is read-only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'
import { servedFor } from './served.ts'

const skip = whyNoDatabase ?? false

/** Sets whether sessions begin read-only, and ends those that are there. */
async function setReadOnly(url: string, state: 'on' | 'off'): Promise<void> {
  const [row] = await query(url, 'select current_database() as name')
  await query(
    url,
    `begin read write; alter database "${row?.['name']}" set default_transaction_read_only = ${state}; commit`,
  )
  await query(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
}

test('OPS-5: a server whose database became read-only is not ready, and is ready again once writes succeed', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const { send } = await servedFor(context, { url })
  const ready = async () => {
    const { status, headers, json } = await send('GET', '/health/ready')
    return [status, headers['Retry-After'], json?.code]
  }
  const until = async (expected: readonly unknown[]) => {
    let last: unknown[] = []
    for (let turn = 0; turn < 100 && last[0] !== expected[0]; turn++) {
      if (turn > 0) await sleep(100)
      last = await ready()
    }
    assert.deepEqual(last, expected)
  }
  assert.equal((await send('POST', '/v1/notes', { title: 'one' })).status, 201)
  assert.deepEqual(await ready(), [200, undefined, undefined])
  await setReadOnly(url, 'on')
  // Nobody writes: that nothing can be written is found out all the same.
  await until([503, '5', 'NOT_READY'])
  const refused = await send('POST', '/v1/notes', { title: 'two' })
  assert.deepEqual([refused.status, refused.json.code], [502, 'STORAGE_FAILED'])
  // Reads succeed again once the pool has noticed which connections the server ended.
  let read = await send('GET', '/v1/notes')
  for (let turn = 0; turn < 100 && read.status === 502; turn++) read = await send('GET', '/v1/notes')
  assert.equal(read.status, 200)
  assert.deepEqual(await ready(), [503, '5', 'NOT_READY'])
  await setReadOnly(url, 'off')
  await until([200, undefined, undefined])
  assert.equal((await send('POST', '/v1/notes', { title: 'three' })).status, 201)
})

test('OPS-5: a server starts on a database that is read-only: it answers reads, and is not ready', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const first = await servedFor(context, { url })
  assert.equal((await first.send('POST', '/v1/notes', { title: 'one' })).status, 201)
  await setReadOnly(url, 'on')
  const { send } = await servedFor(context, { url }, { key: first.key })
  assert.equal((await send('GET', '/v1/notes')).status, 200)
  const { status, json } = await send('GET', '/health/ready')
  assert.deepEqual([status, json.code], [503, 'NOT_READY'])
  await setReadOnly(url, 'off')
})

test('OPS-5: readiness does not wait for a lock on the row of the probe', { skip }, async (context) => {
  const url = await databaseFor(context)
  const { send } = await servedFor(context, { url })
  assert.equal((await send('GET', '/health/ready')).status, 200)
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query("begin; select 1 from resourced_meta where key = 'write_probe' for update")
  await sleep(1_100)
  const began = performance.now()
  assert.equal((await send('GET', '/health/ready')).status, 200)
  assert.ok(performance.now() - began < 8_000, `${performance.now() - began} ms`)
  await other.end()
})
