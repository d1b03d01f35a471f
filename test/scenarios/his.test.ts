/** HIS-1 to HIS-4: each state of each record is kept, listed, read at a time, and erased. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { type Trial, trial } from '../harness.ts'

const everybody = {
  read: 'anyone',
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
  readHistory: 'anyone',
} as const

const library = defineInterface({
  name: 'library',
  resources: {
    authors: { fields: { name: { type: 'string' } }, access: everybody },
    books: {
      fields: {
        title: { type: 'string', sort: true, search: true },
        pages: { type: 'integer', optional: true },
        price: { type: 'decimal', precision: 12, scale: 2, optional: true },
        size: { type: 'number', optional: true },
        open: { type: 'boolean', optional: true },
        data: { type: 'object', optional: true },
        pin: { type: 'string', writeOnly: true, optional: true },
        author_id: { reference: 'authors', onDelete: 'cascade', optional: true },
      },
      deletion: { byFilter: true },
      updates: { byFilter: true },
      access: everybody,
      history: true,
    },
    loans: {
      fields: { book_id: { reference: 'books', onDelete: 'clear', optional: true } },
      access: everybody,
      history: true,
    },
    notes: { fields: { text: { type: 'string' } }, access: everybody },
  },
})

async function revisionsOf({ send }: Trial, path: string, query = '') {
  const { status, json } = await send({ path: `${path}/revisions${query}` })
  assert.equal(status, 200)
  return json.data
}

const kinds = (revisions: readonly { kind: string }[]) => revisions.map(({ kind }) => kind)

const shop = defineInterface({
  name: 'shop',
  resources: {
    carts: {
      fields: { total: { type: 'integer', sumOf: 'lines.amount' } },
      access: everybody,
      events: true,
      history: true,
    },
    lines: {
      fields: { amount: { type: 'integer', filter: true }, cart_id: { reference: 'carts', onDelete: 'cascade' } },
      access: everybody,
      deletion: { byFilter: true },
      updates: { byFilter: true },
    },
  },
})

describe('HIS-1: each state is kept in the transaction of its change', () => {
  test('HIS-1, RES-17: a deleted record whose sum changes stays in the same state', async () => {
    const carts = await trial(shop)
    const { id } = await carts.make('carts', {})
    await carts.make('lines', { amount: 3, cart_id: id })
    const path = `/v1/carts/${id}`
    // The job deletes the lines after the cart.
    const gone = await carts.send({ method: 'DELETE', path, headers: { prefer: 'respond-async' } })
    assert.equal(gone.status, 202)
    await carts.app.runner.idle()
    assert.equal((await carts.send({ method: 'POST', path: `${path}/restore` })).status, 200)
    const revisions = await revisionsOf(carts, path)
    assert.deepEqual(kinds(revisions.slice(-3)), ['deleted', 'updated', 'created'])
    assert.deepEqual(kinds(revisions).filter((kind) => kind === 'deleted').length, 1)
    // Its deletion is its present state, which an erasure leaves.
    assert.equal((await carts.send({ method: 'DELETE', path })).status, 204)
    const query = '?include_deleted=true'
    assert.equal((await carts.send({ method: 'DELETE', path: `${path}/revisions${query}` })).status, 204)
    assert.deepEqual(kinds(await revisionsOf(carts, path, query)), ['deleted'])
    await carts.close()
  })

  test('HIS-1, EVT-1, RES-17: what one request changes of a sum is one state and one event', async () => {
    const carts = await trial(shop)
    const { id } = await carts.make('carts', {})
    const path = `/v1/carts/${id}`
    const line = (amount: number) => ({ amount, cart_id: id })
    const states = [0]
    const expectState = async (total: number, ...requests: readonly { readonly status: number }[]) => {
      for (const { status } of requests) assert.ok(status < 300, String(status))
      states.unshift(total)
      const revisions = await revisionsOf(carts, path)
      assert.deepEqual(
        revisions.map(({ record }: { record: { total: number } }) => record.total),
        states,
      )
      const { json } = await carts.send({ path: `/v1/events?record=${id}&limit=100` })
      assert.deepEqual(
        json.data.map(({ data }: { data: { total: number } }) => data.total),
        states.toReversed(),
      )
      const present = await carts.send({ path })
      assert.deepEqual([revisions[0].record, json.data.at(-1).data], [present.json, present.json])
    }
    const made = await carts.send({ method: 'POST', path: '/v1/lines', body: [1, 2, 3, 4, 5].map(line) })
    await expectState(15, made)
    const ids = made.json.data.map((each: { id: string }) => each.id)
    await expectState(41, await carts.send({ method: 'PATCH', path: '/v1/lines?amount[gt]=1', body: { amount: 10 } }))
    const operations = [
      ...ids.slice(0, 2).map((of: string) => ({ method: 'PATCH', path: `/lines/${of}`, body: { amount: 7 } })),
      { method: 'DELETE', path: `/lines/${ids[2]}` },
      { method: 'POST', path: '/lines', body: line(1) },
    ]
    await expectState(35, await carts.send({ method: 'POST', path: '/v1/transactions', body: { operations } }))
    await expectState(0, await carts.send({ method: 'DELETE', path: `/v1/lines?cart_id=${id}` }))
    // Requests that commit together are changes of their own.
    const body = line(1)
    const sent = Array.from({ length: 12 }, () => carts.send({ method: 'POST', path: '/v1/lines', body }))
    const requests = (await Promise.all(sent)).map(({ headers }) => headers['x-request-id'])
    const later = (await revisionsOf(carts, path, '?limit=100')).slice(0, -states.length)
    const known = later.map((each: { request_id: string }) => each.request_id)
    assert.deepEqual(known.sort(), requests.sort())
    // A restoration is one state too, with what is restored below.
    assert.equal((await carts.send({ method: 'DELETE', path })).status, 204)
    const restored = await carts.send({ method: 'POST', path: `${path}/restore` })
    const [last, before] = await revisionsOf(carts, path)
    assert.deepEqual(
      [last.kind, before.kind, last.record, restored.json.total],
      ['restored', 'deleted', restored.json, 12],
    )
    await carts.close()
  })

  test('HIS-1: a record is created, updated, deleted and restored', async () => {
    const books = await trial(library)
    const made = await books.make('books', {
      ...{ title: 'A', pages: 3, price: '12.50', size: 0.1, open: true, data: { b: [1, null], a: 'ü' }, pin: 'secret' },
    })
    const path = `/v1/books/${made.id}`
    const changed = await books.send({ method: 'PATCH', path, body: { title: 'B', open: null }, as: 'ann' })
    assert.equal(changed.status, 200)
    assert.equal((await books.send({ method: 'DELETE', path, as: 'bob' })).status, 204)
    const restored = await books.send({ method: 'POST', path: `${path}/restore`, as: 'eve' })
    const revisions = await revisionsOf(books, path)
    assert.deepEqual(kinds(revisions), ['restored', 'deleted', 'updated', 'created'])
    const [back, gone, updated, created] = revisions
    assert.deepEqual(created.record, made)
    assert.deepEqual(updated.record, changed.json)
    assert.deepEqual([gone.record, back.record], [null, restored.json])
    assert.deepEqual([created.caller, updated.caller, gone.caller, back.caller], ['root', 'ann', 'bob', 'eve'])
    assert.equal(updated.request_id, changed.headers['x-request-id'])
    assert.deepEqual([created.version, created.created_at], ['v1', made.created_at])
    assert.equal(JSON.stringify(revisions).includes('secret'), false)
    // One of them has its own address.
    const one = await books.send({ path: `/v1/revisions/${updated.id}` })
    assert.deepEqual([one.status, one.json], [200, updated])
    await books.close()
  })

  test('HIS-1: cascades, cleared references and deletions by filter keep states too; refused changes none', async () => {
    const books = await trial(library)
    const author = await books.make('authors', { name: 'X' })
    const book = await books.make('books', { title: 'A', author_id: author.id })
    const loan = await books.make('loans', { book_id: book.id })
    assert.equal((await books.send({ method: 'DELETE', path: `/v1/authors/${author.id}`, as: 'ann' })).status, 204)
    const path = `/v1/books/${book.id}`
    const [gone] = await revisionsOf(books, path, '?include_deleted=true')
    assert.deepEqual([gone.kind, gone.caller], ['deleted', 'ann'])
    const [cleared] = await revisionsOf(books, `/v1/loans/${loan.id}`)
    assert.deepEqual([cleared.kind, cleared.record.book_id, cleared.caller], ['updated', null, 'ann'])
    const other = await books.make('books', { title: 'B' })
    const stale = { 'if-match': '"no"' }
    const refused = await books.send({
      method: 'PATCH',
      path: `/v1/books/${other.id}`,
      body: { title: 'C' },
      headers: stale,
    })
    assert.equal(refused.status, 412)
    assert.deepEqual(kinds(await revisionsOf(books, `/v1/books/${other.id}`)), ['created'])
    assert.equal((await books.send({ method: 'DELETE', path: '/v1/books?title=B', as: 'eve' })).status, 400)
    assert.equal((await books.send({ method: 'DELETE', path: `/v1/books?id=${other.id}`, as: 'eve' })).status, 200)
    const [filtered] = await revisionsOf(books, `/v1/books/${other.id}`, '?include_deleted=true')
    assert.deepEqual([filtered.kind, filtered.caller], ['deleted', 'eve'])
    await books.close()
  })

  test('HIS-1: arrays, changes by filter and transactions keep a state for each record, with caller and request', async () => {
    const books = await trial(library)
    const { send } = books
    const made = await send({ method: 'POST', path: '/v1/books', body: [{ title: 'A' }, { title: 'B' }], as: 'ann' })
    assert.equal(made.status, 201)
    const [a, b] = made.json.data
    const changed = await send({
      ...{ method: 'PATCH', path: `/v1/books?id[in]=${a.id},${b.id}`, body: { pages: 7 }, as: 'bob' },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    assert.deepEqual([changed.status, changed.json.updated_count], [200, 2])
    const operations = [
      { method: 'PATCH', path: `/books/${a.id}`, body: { title: 'C' } },
      { method: 'DELETE', path: `/books/${b.id}` },
      { method: 'POST', path: '/books', body: { title: 'D' } },
    ]
    const done = await send({ method: 'POST', path: '/v1/transactions', body: { operations }, as: 'eve' })
    assert.equal(done.status, 200)
    const ofA = await revisionsOf(books, `/v1/books/${a.id}`)
    assert.deepEqual(
      ofA.map(({ kind, caller, record }: Record<string, Record<string, unknown>>) => [kind, caller, record?.['title']]),
      [
        ['updated', 'eve', 'C'],
        ['updated', 'bob', 'A'],
        ['created', 'ann', 'A'],
      ],
    )
    assert.equal(ofA[0].request_id, done.headers['x-request-id'])
    assert.equal(ofA[1].request_id, changed.headers['x-request-id'])
    assert.equal(ofA[2].request_id, made.headers['x-request-id'])
    const [gone] = await revisionsOf(books, `/v1/books/${b.id}`, '?include_deleted=true')
    assert.deepEqual([gone.kind, gone.caller], ['deleted', 'eve'])
    await books.close()
  })
})
