/** HIS-4: former states are erased, and HIS-1: a history begins with the first change, and ends by age. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { newDatabase } from '../engine.ts'
import { type Trial, trial } from '../harness.ts'

const all = 'anyone' as const
const access = {
  ...{ read: all, create: all, update: all, restore: all, readDeleted: all, readHistory: all },
  delete: ['role:admin', 'role:editor'],
} as const

const declarationWith = (history: boolean | { keep: string }, more = {}) =>
  defineInterface({
    name: 'library',
    resources: {
      books: { fields: { title: { type: 'string' }, ...more }, access, events: true, history },
      pages: { fields: { text: { type: 'string' } }, access, deletion: { variant: 'hard' }, history: true },
    },
  })

const library = declarationWith(true)

const titles = async ({ send }: Trial, path: string, query = '') => {
  const { json } = await send({ path: `${path}/revisions${query}` })
  return json.data.map(({ kind, record }: { kind: string; record: { title: string } }) => [kind, record?.title])
}

const retitle = (trial_: Trial, path: string, title: string) =>
  trial_.send({ method: 'PATCH', path, body: { title }, as: 'ann' })

describe('HIS-4: erasure', () => {
  test('HIS-4: DELETE leaves the present state and the tag, and erases events and kept responses', async () => {
    const books = await trial(library)
    const { send, database } = books
    const headers = { 'idempotency-key': '"one"', 'content-type': 'application/json' }
    const create = () => send({ method: 'POST', path: '/v1/books', body: { title: 'first title' }, headers })
    const made = await create()
    const path = `/v1/books/${made.json.id}`
    const other = await books.make('books', { title: 'other' })
    await retitle(books, path, 'second title')
    const { headers: shown } = await retitle(books, path, 'third')
    const erase = (more: object = {}) => send({ method: 'DELETE', path: `${path}/revisions`, ...more })
    assert.equal((await erase({ as: 'ann' })).status, 403)
    assert.equal((await erase({ headers: { 'if-match': String(made.headers['etag']) } })).status, 412)
    assert.equal((await erase({ headers: { 'if-match': String(shown['etag']) } })).status, 204)
    assert.deepEqual(await titles(books, path), [['updated', 'third']])
    assert.equal((await send({ path })).headers['etag'], shown['etag'])
    assert.equal((await titles(books, `/v1/books/${other.id}`)).length, 1)
    const { json } = await send({ path: '/v1/events' })
    assert.deepEqual(
      [json.data.map(({ data }: { data: { title: string } }) => data.title), json.pagination.total_count],
      [['other', 'third'], 2],
    )
    const repeated = await create()
    assert.deepEqual([repeated.status, repeated.text, repeated.headers['location']], [201, '', path])
    for (const table of ['revisions', 'events', 'resourced_idempotency', 'books']) {
      const text = JSON.stringify(await database.rows(`select * from ${table}`))
      assert.equal(/first title|second title/.test(text), false, table)
    }
    // There is nothing more to erase, and the history goes on.
    assert.equal((await erase()).status, 204)
    await retitle(books, path, 'fourth')
    assert.deepEqual(await titles(books, path), [
      ['updated', 'fourth'],
      ['updated', 'third'],
    ])
    await books.close()
  })

  test('HIS-4, PAG-4: totals of events stay exact after an erasure and what follows', async () => {
    const books = await trial(library)
    const { send } = books
    const { id } = await books.make('books', { title: 'A' })
    const path = `/v1/books/${id}`
    for (const title of ['B', 'C']) await retitle(books, path, title)
    const totals: number[] = []
    const count = async () => {
      const { json } = await send({ path: `/v1/events?record=${id}` })
      assert.equal(json.pagination.total_count, json.data.length)
      totals.push(json.data.length)
    }
    await count()
    for (const deleted of ['', '?include_deleted=true']) {
      await send({ method: 'DELETE', path: `${path}/revisions${deleted}` })
      await count()
      await send({ method: 'DELETE', path })
      await count()
      await send({ method: 'POST', path: `${path}/restore` })
      await count()
    }
    await send({ method: 'DELETE', path })
    await purge(books)
    await count()
    assert.deepEqual(totals.slice(0, 4), [3, 1, 2, 3])
    await books.close()
  })

  test('HIS-4: a hard deletion and a purge leave nothing', async () => {
    const books = await trial(library)
    const { send, database } = books
    const page = await books.make('pages', { text: 'secret' })
    await send({ method: 'PATCH', path: `/v1/pages/${page.id}`, body: { text: 'hidden' } })
    assert.equal((await send({ method: 'DELETE', path: `/v1/pages/${page.id}` })).status, 204)
    assert.equal((await database.rows('select * from revisions')).length, 0)
    const book = await books.make('books', { title: 'A' })
    const path = `/v1/books/${book.id}`
    await retitle(books, path, 'B')
    await send({ method: 'DELETE', path })
    assert.equal((await send({ method: 'DELETE', path: `${path}/revisions` })).status, 404)
    assert.equal((await titles(books, path, '?include_deleted=true')).length, 3)
    const erased = await send({ method: 'DELETE', path: `${path}/revisions?include_deleted=true` })
    assert.equal(erased.status, 204)
    assert.deepEqual(await titles(books, path, '?include_deleted=true'), [['deleted', undefined]])
    await purge(books)
    assert.equal((await database.rows('select * from revisions')).length, 0)
    await books.close()
  })

  test('HIS-4: a purge erases very many events of a record in parts', async () => {
    const books = await trial(library)
    const { send, database } = books
    const path = `/books/${(await books.make('books', { title: 'A' })).id}`
    const operations = Array.from({ length: 50 }, (_, at) => ({ method: 'PATCH', path, body: { title: `${at}` } }))
    for (let round = 0; round < 21; round++) {
      assert.equal((await send({ path: '/v1/transactions', body: { operations } })).status, 200)
    }
    await send({ method: 'DELETE', path: `/v1${path}` })
    const left = async () => {
      const [row] = await database.rows(`select count(*) as count from events where data is not null`)
      return Number(row?.['count'])
    }
    const counts = [await left()]
    await books.app.runner.close()
    await purge(books, async () => void counts.push(await left()))
    // First the revisions. The events of the deletion and of the purge keep what access rules compare.
    assert.deepEqual([...counts, await left()], [1_052, 1_052, 52, 2, 2])
    await books.close()
  })
})

test('HIS-4: what was kept before events and history were turned off goes with the record', async () => {
  const recorded = (isOn: boolean) => {
    const kept = { fields: { title: { type: 'string' } }, access, events: isOn, history: isOn } as const
    const pages = { ...kept, events: true, history: true }
    return defineInterface({
      name: 'library',
      resources: { books: kept, drafts: { ...kept, deletion: { variant: 'hard' } }, pages },
    })
  }
  const database = await newDatabase()
  const on = await trial(recorded(true), { database })
  const paths: string[] = []
  for (const collection of ['books', 'drafts', 'pages']) {
    paths.push(`/v1/${collection}/${(await on.make(collection, { title: 'first' })).id}`)
    await retitle(on, String(paths.at(-1)), 'second')
  }
  const off = await trial(recorded(false), { database })
  for (const path of paths.slice(0, 2)) assert.equal((await off.send({ method: 'DELETE', path })).status, 204)
  await purge(off)
  for (const kept of ['revisions', 'events where data is not null']) {
    const rows = await database.rows(`select collection from ${kept}`)
    assert.deepEqual(
      rows.map(({ collection }) => collection),
      ['pages', 'pages'],
    )
  }
  for (const each of [on, off]) await each.close()
})

async function purge({ app }: Trial, between = async () => {}): Promise<void> {
  const now = Date.now() + 40 * 86_400_000
  const { jobs, purgeClock } = app.storage
  await purgeClock.confirm(now)
  assert.equal(await jobs.beginPurge({ id: '0190f0a0-0000-7000-8000-000000000001', statusUrl: '/x' }, now), true)
  for (const job of await jobs.open()) while ((await jobs.step(job, now)) === 'more') await between()
}

describe('HIS-1: where a history begins and ends', () => {
  test('HIS-1: the first change keeps the state before it, also after the history was off', async () => {
    const database = await newDatabase()
    const before = await trial(declarationWith(false), { database })
    const book = await before.make('books', { title: 'A' })
    const path = `/v1/books/${book.id}`
    const at = { 'accept-datetime': new Date(Date.now() + 5_000).toUTCString() }
    const first = await trial(library, { database })
    assert.deepEqual(await titles(first, path), [])
    // What has not changed since is as it is.
    const present = await first.send({ path, headers: at })
    assert.deepEqual([present.status, present.json], [200, book])
    await retitle(first, path, 'B')
    assert.deepEqual(await titles(first, path), [
      ['updated', 'B'],
      ['created', 'A'],
    ])
    // Another declaration: the first one would leave the history of the second alone.
    const note = { note: { type: 'string', optional: true } } as const
    const off = await trial(declarationWith(false, note), { database })
    await retitle(off, path, 'C')
    const again = await trial(declarationWith(true, note), { database })
    assert.deepEqual((await again.send({ path, headers: at })).json.title, 'C')
    await retitle(again, path, 'D')
    assert.deepEqual(await titles(again, path), [
      ['updated', 'D'],
      ['updated', 'C'],
      ['updated', 'B'],
      ['created', 'A'],
    ])
    for (const each of [before, first, off, again]) await each.close()
  })

  test('HIS-1: the state before is whole, also of records that exchange unique values in one request', async () => {
    const database = await newDatabase()
    const place = { place: { type: 'integer', unique: true } } as const
    const before = await trial(declarationWith(false, place), { database })
    const [one, other] = [
      await before.make('books', { title: 'A', place: 1 }),
      await before.make('books', { title: 'B', place: 2 }),
    ]
    const first = await trial(declarationWith(true, place), { database })
    for (const [here, there] of [[1, 2], [2, 1]]) {
      const body = [{ id: one.id, place: there }, { id: other.id, place: here }]
      assert.equal((await first.send({ method: 'PATCH', path: '/v1/books', body })).status, 200)
    } // biome-ignore format: a line each
    for (const { id, place } of [one, other]) {
      const { json } = await first.send({ path: `/v1/books/${id}/revisions` })
      const places = json.data.map(({ kind, record }: { kind: string; record: { place: number } }) => [
        kind,
        record.place,
      ])
      assert.deepEqual(places, [['updated', place], ['updated', 3 - place], ['created', place]]) // biome-ignore format: a line
    }
    for (const each of [before, first]) await each.close()
  })
})

describe('HIS-1: keep', () => {
  test('HIS-1: a state goes when its successor is old enough; the state at the horizon and the present one stay', async () => {
    const books = await trial(declarationWith({ keep: 'P1Y' }))
    const { app, send } = books
    const { id } = await books.make('books', { title: 'A' })
    const untouched = await books.make('books', { title: 'Z' })
    const path = `/v1/books/${id}`
    await retitle(books, path, 'B')
    await retitle(books, path, 'C')
    const { jobs } = app.storage
    const day = 86_400_000
    await jobs.deleteExpired(Date.now() + 364 * day)
    assert.equal((await titles(books, path)).length, 3)
    await jobs.deleteExpired(Date.now() + 367 * day)
    assert.deepEqual(await titles(books, path), [['updated', 'C']])
    assert.equal((await titles(books, `/v1/books/${untouched.id}`)).length, 1)
    // The history goes on, and what is not old enough stays.
    await retitle(books, path, 'D')
    await jobs.deleteExpired(Date.now() + 364 * day)
    assert.deepEqual(await titles(books, path), [
      ['updated', 'D'],
      ['updated', 'C'],
    ])
    const at = { 'accept-datetime': new Date(Date.now() + 5_000).toUTCString() }
    assert.equal((await send({ path, headers: at })).json.title, 'D')
    await books.close()
  })
})
