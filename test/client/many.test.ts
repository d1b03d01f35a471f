/** BLK-1, BLK-2, BLK-3: the calls of the client that create, change and replace many records by one request. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it, type TestContext } from 'node:test'
import { type ClientOptions, createClient, etagOf, Job } from '../../packages/client/src/index.ts'
import { createApp, defineInterface, reference, Type, toNodeHandler } from '../../packages/server/src/index.ts'
import { newDatabase } from '../engine.ts'

const access = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

const library = defineInterface({
  name: 'library',
  resources: {
    books: {
      fields: {
        isbn: Type.String({ unique: true, maxLength: 13 }),
        title: Type.String({ minLength: 1, sort: true }),
        copies: Type.Integer({ default: 0, filter: true }),
      },
      updates: { byFilter: true, above: 2 },
      access,
    },
    pages: {
      fields: { text: Type.String(), book_id: reference('books', { onDelete: 'cascade' }) },
      within: 'book_id',
      access,
    },
  },
})

/** A client of a new library, and the requests that it sends. */
async function libraryClient(context: TestContext, options: Partial<ClientOptions> = {}) {
  const database = await newDatabase()
  const authenticate = () => ({ id: 'ann', roles: [] })
  const app = createApp(library, { database: database.address, log: false, authenticate })
  const server = createServer(toNodeHandler(app))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
    await database.remove()
  })
  const requests: string[] = []
  const client = createClient<typeof library>({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    fetch(url, init) {
      requests.push(`${init.method} ${new URL(url).pathname}${new URL(url).search}`)
      return fetch(url, init)
    },
    ...options,
  })
  return { client, requests }
}

it('BLK-1: createMany creates all or none, also within a record', async (context) => {
  const { client, requests } = await libraryClient(context)
  const made = await client.books.createMany([
    { isbn: '1', title: 'One' },
    { isbn: '2', title: 'Two', copies: 3 },
  ])
  assert.deepEqual(
    made.map(({ title, copies }) => [title, copies]),
    [
      ['One', 0],
      ['Two', 3],
    ],
  )
  const wrong = [
    { isbn: '3', title: 'Three' },
    { isbn: '4', title: '' },
  ]
  await assert.rejects(client.books.createMany(wrong), (error: { code: string; errorsAt: (at: string) => [] }) => {
    assert.deepEqual([error.code, error.errorsAt('/1/title').length], ['VALIDATION_FAILED', 1])
    return true
  })
  assert.equal((await client.books.list()).pagination.total_count, 2)
  const [page] = await client.books.within(made[0] ?? '').pages.createMany([{ text: 'A' }, { text: 'B' }])
  assert.equal(page?.book_id, made[0]?.id)
  assert.deepEqual(requests.slice(0, 2), ['POST /v1/books', 'POST /v1/books'])
})

it('MET-9: createMany creates nothing twice when a response is lost', async (context) => {
  let isLost = true
  const { client } = await libraryClient(context, {
    retry: { pause: 1 },
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (!isLost || init.method !== 'POST') return response
      isLost = false
      throw new TypeError('fetch failed')
    },
  })
  const made = await client.books.createMany([{ isbn: '1', title: 'One' }])
  assert.deepEqual((await client.books.list()).data, made)
})

it('BLK-2: updateMany merges each, or none', async (context) => {
  const { client } = await libraryClient(context)
  const [one, two] = await client.books.createMany([
    { isbn: '1', title: 'One' },
    { isbn: '2', title: 'Two' },
  ])
  assert.ok(one && two)
  const changed = await client.books.updateMany([
    { id: two.id, copies: 2 },
    { id: one.id, title: 'First' },
  ])
  assert.deepEqual(
    changed.map(({ title, copies }) => [title, copies]),
    [
      ['Two', 2],
      ['First', 0],
    ],
  )
  const unknown = { id: one.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), copies: 9 }
  await assert.rejects(client.books.updateMany([{ id: one.id, copies: 9 }, unknown]), { status: 404 })
  assert.equal((await client.books.get(one.id)).copies, 0)
})

it('BLK-2: upsert replaces the record with a unique value, or creates it', async (context) => {
  const { client, requests } = await libraryClient(context)
  const first = await client.books.upsert({ isbn: '1' }, { title: 'One', copies: 1 })
  const second = await client.books.upsert({ isbn: '1' }, { title: 'First' })
  assert.deepEqual([second.id, second.title, second.copies], [first.id, 'First', 0])
  assert.deepEqual(requests, ['PUT /v1/books?isbn=1', 'PUT /v1/books?isbn=1'])
  const refused = { status: 412, code: 'PRECONDITION_FAILED' }
  await assert.rejects(client.books.upsert({ isbn: '1' }, { title: 'x' }, { ifNoneMatch: '*' }), refused)
  await assert.rejects(client.books.upsert({ isbn: '1' }, { title: 'x' }, { ifMatch: etagOf(first) }), refused)
  await assert.rejects(client.books.upsert({ isbn: '2' }, { title: 'x' }, { ifMatch: '*' }), refused)
  const third = await client.books.upsert({ isbn: '1' }, { title: 'Third' }, { ifMatch: etagOf(second) })
  assert.equal(third.title, 'Third')
  const all = await client.books.upsertMany('isbn', [
    { isbn: '2', title: 'Two' },
    { isbn: '1', title: 'One' },
  ])
  assert.deepEqual(
    all.map(({ title }) => title),
    ['Two', 'One'],
  )
  assert.equal(all[1]?.id, first.id)
})

it('BLK-3: updateMatching changes what matches a filter, at once or by a job', async (context) => {
  const { client, requests } = await libraryClient(context)
  await client.books.createMany(['1', '2', '3'].map((isbn) => ({ isbn, title: isbn, copies: Number(isbn) })))
  assert.equal(await client.books.updateMatching({ 'copies[lt]': 3 }, { copies: 7 }), 2)
  assert.equal(requests.at(-1), 'PATCH /v1/books?copies%5Blt%5D=3')
  const refused = client.books.updateMatching({ where: { copies: { gt: 1 } } }, { copies: 8 }, { maxAffected: 2 })
  await assert.rejects(refused, { status: 409, code: 'TOO_MANY_AFFECTED' })
  const job = await client.books.updateMatching({ 'copies[gt]': 1 }, { copies: 8 })
  assert.ok(job instanceof Job)
  assert.deepEqual((await job.finished()).result, { updated_count: 3 })
  const preferred = await client.books.updateMatching({ copies: 8 }, { copies: 9 }, { respondAsync: true })
  assert.ok(preferred instanceof Job)
  await preferred.finished()
  assert.equal((await client.books.list({ copies: 9 })).pagination.total_count, 3)
})
