/** HIS-4: kept responses show nothing of erased records, and all of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { trialFor } from '../harness.ts'

const all = 'anyone' as const
const access = { read: all, create: all, update: all, delete: all, restore: all, readHistory: all } as const
const fields = { title: { type: 'string' }, data: { type: 'object', optional: true } } as const

const library = defineInterface({
  name: 'library',
  resources: {
    books: { fields, access, history: true },
    pages: { fields, access, deletion: { variant: 'hard' }, history: true },
    notes: { fields, access },
  },
})

const keyed = (key: string, path: string, body: unknown) => ({
  ...{ method: 'POST', path, body },
  headers: { 'idempotency-key': `"${key}"` },
})

test('HIS-4: an erased record takes the body of each kept response that shows it, and of no other', async (context) => {
  const { send, database } = await trialFor(context, library)
  const titles = (...names: string[]) => names.map((title) => ({ title, data: { deep: [1.5, 'ü'] } }))
  const array = keyed('array', '/v1/books', titles('zebra', 'giraffe'))
  const made = await send(array)
  const [zebra, giraffe] = made.json.data
  const operations = [
    { method: 'POST', path: '/notes', body: { title: 'note' } },
    { method: 'PATCH', path: `/books/${giraffe.id}`, body: { title: 'lion' } },
  ]
  const transaction = keyed('transaction', '/v1/transactions', { operations })
  const done = await send(transaction)
  const one = keyed('one', '/v1/books', titles('tiger')[0])
  const other = await send(one)
  const note = keyed('note', '/v1/notes', { title: 'note' })
  const plain = await send(note)
  // A replayed response is the first one, to the byte.
  for (const [sent, first] of [[array, made], [transaction, done], [one, other], [note, plain]] as const) {
    assert.equal((await send(sent)).text, first.text)
  } // biome-ignore format: a line
  assert.equal((await send({ method: 'DELETE', path: `/v1/books/${zebra.id}/revisions` })).status, 204)
  const erased = await send(array)
  assert.deepEqual([erased.status, erased.text], [201, ''])
  assert.deepEqual([(await send(transaction)).text, (await send(one)).text], [done.text, other.text])
  assert.equal((await send({ method: 'DELETE', path: `/v1/books/${giraffe.id}/revisions` })).status, 204)
  const results = (await send(transaction)).json.results
  assert.deepEqual(results.map(({ status, body }: Record<string, unknown>) => [status, body]), [[201, undefined], [204, undefined]]) // biome-ignore format: a line
  assert.deepEqual([(await send(one)).text, (await send(note)).text], [other.text, plain.text])
  const kept = JSON.stringify([
    await database.rows('select * from resourced_idempotency'),
    await database.rows('select * from resourced_answers'),
  ])
  assert.equal(/zebra|giraffe|lion/.test(kept), false)
  assert.match(kept, /tiger/)
})

test('HIS-4: a hard deletion erases kept responses, and those that have expired are deleted whole', async (context) => {
  const { send, database, app } = await trialFor(context, library)
  const page = keyed('page', '/v1/pages', [{ title: 'zebra' }, { title: 'tiger' }])
  const [{ id }] = (await send(page)).json.data
  assert.equal((await send({ method: 'DELETE', path: `/v1/pages/${id}` })).status, 204)
  assert.equal((await send(page)).text, '')
  const kept = () => database.rows('select * from resourced_answers')
  assert.equal(/zebra/.test(JSON.stringify(await kept())), false)
  await send(
    keyed(
      'many',
      '/v1/books',
      Array.from({ length: 900 }, () => ({ title: 'a' })),
    ),
  )
  await send(
    keyed(
      'more',
      '/v1/books',
      Array.from({ length: 900 }, () => ({ title: 'b' })),
    ),
  )
  assert.ok((await kept()).length >= 1_800)
  await app.storage.jobs.deleteExpired(Date.now() + 25 * 3_600_000)
  assert.deepEqual([(await kept()).length, (await database.rows('select * from resourced_idempotency')).length], [0, 0])
})
