/** HIS-4: on SQLite, the bytes of erased states are gone from the file, its log and the search index. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { newDatabase, sqliteOnly } from '../engine.ts'
import { trial } from '../harness.ts'
import { until } from '../until.ts'

const all = 'anyone' as const
const declaration = defineInterface({
  name: 'library',
  resources: {
    books: {
      fields: { title: { type: 'string', search: true, filter: true, sort: true }, text: { type: 'string' } },
      access: { read: all, create: all, update: all, readHistory: all },
      updates: { byFilter: true, above: 2 },
      events: true,
      history: true,
    },
  },
})

const skip = sqliteOnly('PostgreSQL removes bytes with a vacuum')

test('HIS-4: nothing of erased and purged states is left in the files', { skip }, async () => {
  const database = await newDatabase({ memory: false })
  const { send, make, close, app } = await trial(declaration, { database })
  const filler = 'x'.repeat(3_000)
  const ids: string[] = []
  for (let number = 0; number < 60; number++) {
    const { id } = await make('books', { title: `zebra${number}`, text: `giraffe${number} ${filler}` })
    ids.push(id)
    await send({ method: 'PATCH', path: `/v1/books/${id}`, body: { title: `lion${number}`, text: filler } })
  }
  const headers = { 'idempotency-key': '"one"', 'content-type': 'application/json' }
  const kept = await send({ method: 'POST', path: '/v1/books', body: { title: 'zebra', text: 'giraffe' }, headers })
  await send({ method: 'PATCH', path: `/v1/books/${kept.json.id}`, body: { title: 'tiger', text: '' } })
  const isLeft = async (words: RegExp) => words.test(await database.contents())
  assert.ok(await isLeft(/zebra/i))
  for (const id of [...ids, kept.json.id]) {
    assert.equal((await send({ method: 'DELETE', path: `/v1/books/${id}/revisions` })).status, 204)
  }
  await until(async () => !(await isLeft(/zebra|giraffe/i)))
  assert.ok(await isLeft(/lion/i))
  for (const id of ids) assert.equal((await send({ method: 'DELETE', path: `/v1/books/${id}` })).status, 204)
  const now = Date.now() + 40 * 86_400_000
  const { jobs, purgeClock } = app.storage
  await purgeClock.confirm(now)
  await jobs.beginPurge({ id: '0190f0a0-0000-7000-8000-000000000001', statusUrl: '/x' }, now)
  for (const job of await jobs.open()) while ((await jobs.step(job, now)) === 'more');
  await until(async () => !(await isLeft(/lion\d/i)))
  await close()
})

test('HIS-4, BLK-3: nothing of what a change by filter has replaced is left in the files', { skip }, async () => {
  const database = await newDatabase({ memory: false })
  const { send, make, close, app } = await trial(declaration, { database })
  const { step } = app.storage.jobs
  let windows = 0
  Object.assign(app.storage.jobs, {
    step: async (...given: Parameters<typeof step>) => (windows-- > 0 ? step(...given) : 'elsewhere'),
  })
  const ids: string[] = []
  for (let number = 0; number < 30; number++) {
    ids.push((await make('books', { title: `zebra${number}`, text: 'giraffe' })).id)
  }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const path = '/v1/books?title[starts_with]=zebra'
  const job = await send({ method: 'PATCH', path, headers, body: { title: 'lion', text: 'tiger' } })
  assert.equal(job.status, 202, job.text)
  windows = 1
  await app.runner.idle()
  const erase = (id: string) => send({ method: 'DELETE', path: `/v1/books/${id}/revisions` })
  const whileItRuns = await erase(ids[0]!)
  assert.deepEqual([whileItRuns.status, whileItRuns.json.code], [409, 'BEING_CHANGED'])
  windows = Number.POSITIVE_INFINITY
  await app.runner.idle()
  for (const id of ids) assert.equal((await erase(id)).status, 204)
  await until(async () => !/zebra|giraffe/i.test(await database.contents()))
  assert.match(await database.contents(), /lion/i)
  await close()
})
