/** What the trial finds out about the records of servers of other makes. No record of the checker stays. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cases } from '../cases/cases.ts'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { Ledger } from '../run/ledger.ts'
import { discover } from './discover.ts'
import { type Make, serveOther } from './other-servers.fixture.ts'
import { tryCollections } from './try-collections.ts'

const usual = cases.filter(({ id }) => id === 'CON-2/etag')
// A case that needs a collection with a reference.
const referring = cases.filter(({ id }) => id === 'DEL-5/no-dangling')

async function found(context: TestContext, url: string, only: readonly string[] = ['books'], chosen = usual) {
  const client = new Client()
  context.after(() => client.close())
  const requester = { client, credential: [] }
  const ledger = new Ledger().watch(client)
  const discovered = await discover(requester, { url, only })
  const { profile, notices, remains } = await tryCollections(requester, { ...discovered, cases: chosen, ledger })
  return { collection: profile.collections.find(({ name }) => name === 'books'), profile, notices, remains, ledger }
}

const books = Array.from({ length: 9 }, (_, index) => ({
  id: index + 1,
  title: `Title ${index % 4}`,
  isbn: `b${index}x`,
  lent: index % 2 === 0,
}))

const isTaken: Make['faults'] = ({ isbn }, others): Record<string, string> =>
  others.some((each) => each['isbn'] === isbn) ? { isbn: 'taken' } : {}

test('a statement of a database names no unique member, but a value that it quotes does', async (context) => {
  let last = ''
  const { origin, all } = await serveOther(context, {
    records: books,
    faults(body, others) {
      last = String(body['isbn'])
      return isTaken(body, others)
    },
    refusal: () => ({
      status: 500,
      body: { message: `Unique index violation: (ISBN) VALUES ( '${last}' ); insert into book (lent, title, isbn)` },
    }),
  })
  const { collection, notices } = await found(context, origin)
  assert.deepEqual([collection?.unique, notices, all.size], [['isbn'], [], books.length])
})

test('where a refusal names no member, texts are tried one after the other', async (context) => {
  const { origin } = await serveOther(context, {
    records: books,
    faults: isTaken,
    refusal: () => ({ status: 409, body: { error: 'A record with this value already exists' } }),
  })
  const { collection } = await found(context, origin)
  assert.deepEqual([collection?.unique, collection?.marker], [['isbn'], 'title'])
})

test('a failure that does not come again says nothing about unique members', async (context) => {
  let count = 0
  const { origin } = await serveOther(context, {
    records: books,
    faults: (): Record<string, string> => (++count % 3 === 0 ? { title: 'failed' } : {}),
    refusal: () => ({ status: 500, body: { error: 'failed' } }),
  })
  const { collection } = await found(context, origin)
  assert.deepEqual([collection?.unique, collection?.marker], [[], 'title'])
})

test('a collection in which no second record can be created is not used', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: (_, others): Record<string, string> => (others.length > books.length ? { any: 'full' } : {}),
    refusal: () => ({ status: 409, body: { error: 'no more' } }),
  })
  const { collection, notices } = await found(context, origin)
  assert.equal(collection?.operations.includes('create'), false)
  assert.match(notices.join(), /A second record of books is refused .*collections\.books\.unique/)
  assert.equal(all.size, books.length)
})

test('texts that all have the shape of a code get values of this shape, and no mark', async (context) => {
  const records = books.map((each, index) => ({ ...each, code: `AK-10${index}` }))
  const { origin, all } = await serveOther(context, {
    records,
    faults: ({ code }): Record<string, string> =>
      /^[A-Z]{2}-\d{3}$/.test(String(code)) ? {} : { code: 'must look like AB-123' },
    find: (known, query) => known.filter((each) => (query.get('code') ?? each['code']) === each['code']),
  })
  const { collection, notices } = await found(context, origin)
  assert.deepEqual([notices, all.size], [[], records.length])
  assert.notEqual(collection?.marker, 'code')
})

test('a filter by a text that takes no mark is no marker', async (context) => {
  const records = books.map((each, index) => ({ ...each, place: ['Rome', 'Oslo', 'Bern', 'Wien', 'Prag'][index % 5] }))
  const { origin, all } = await serveOther(context, {
    records: records.slice(0, 4),
    faults: ({ place }): Record<string, string> => (String(place).length < 9 ? {} : { place: 'is no place' }),
    find: (known, query) => known.filter((each) => (query.get('place') ?? each['place']) === each['place']),
  })
  const { collection } = await found(context, origin)
  assert.deepEqual([collection?.filters, collection?.marker, all.size], [['place'], undefined, 4])
})

test('the words of an error about itself are no members of records', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: ({ title }): Record<string, string> => (typeof title === 'string' ? {} : { title: 'bad' }),
    refusal: () => ({
      status: 400,
      body: { message: 'Missing data for every required attribute. See the `details` for more info.' },
    }),
  })
  const { collection } = await found(context, origin)
  assert.ok(!Object.hasOwn(collection?.example ?? {}, 'details'))
  assert.equal(all.size, books.length)
})

test('a change by PUT is tried, and what it refuses is no change', async (context) => {
  const { origin } = await serveOther(context, {
    records: books.map((each) => ({ ...each, title: `${each.title} of ${each.isbn}` })),
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    faults: ({ title }): Record<string, string> =>
      /^Other/.test(String(title)) ? { title: 'Input should be another text' } : {},
  })
  const { collection } = await found(context, origin)
  assert.deepEqual(Object.keys(collection?.change ?? {}).sort(), ['isbn', 'lent'])
})

test('what a server shows of a reference is sent as its identifier, and records of others are not sent', async (context) => {
  const author = { id: 3, name: 'Ann' }
  const sent: unknown[] = []
  const { origin } = await serveOther(context, {
    records: books.map((each) => ({ ...each, author, loans: [{ id: 8, days: 1 }] })),
    faults(body): Record<string, string> {
      sent.push(body)
      return typeof body['author'] === 'number' && body['loans'] === undefined ? {} : { author: 'an id is expected' }
    },
  })
  const { collection, notices } = await found(context, origin)
  assert.deepEqual([notices, collection?.example?.['author']], [[], 3])
  assert.doesNotMatch(JSON.stringify(sent), /loans/)
})

test('a reference is an object with an identifier where the bare one is refused', async (context) => {
  const authors = new Map<string, unknown>([['3', { id: 3, name: 'Ann' }]])
  const kept = new Map<string, Record<string, unknown>>([
    ['1', { id: 1, title: 'Left', author: { id: 3, name: 'Ann' } }],
  ])
  let last = 50
  const origin = await served(context, ({ method, url = '' }, response, text) => {
    const [, name = '', id] = new URL(url, 'http://x').pathname.split('/')
    const all: Map<string, unknown> = name === 'authors' ? authors : kept
    const answer = (status: number, body?: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
    if (!['authors', 'books'].includes(name)) return answer(404, { error: 'nothing' })
    if (method === 'POST') {
      const body = JSON.parse(text)
      if (name === 'books' && typeof body.author?.id !== 'number') return answer(400, { error: 'author: no object' })
      const record = { ...body, id: ++last }
      all.set(String(last), record)
      return answer(201, record)
    }
    if (id === undefined) return answer(200, [...all.values()])
    if (!all.has(id)) return answer(404, { error: 'nothing' })
    if (method === 'DELETE') all.delete(id)
    return method === 'DELETE' ? answer(204) : answer(200, all.get(id))
  })
  const { collection, notices, remains } = await found(context, origin, ['books', 'authors'], referring)
  assert.deepEqual([collection?.references, collection?.referenceForms], [{ author: 'authors' }, { author: 'object' }])
  assert.deepEqual([notices, remains, kept.size, authors.size], [[], [], 1, 1])
})

test('the responses of the trial are kept for cases about the whole run', async (context) => {
  const { origin } = await serveOther(context, {
    records: books,
    faults: ({ title }): Record<string, string> => (title === undefined ? { title: 'failed' } : {}),
    refusal: () => ({ status: 500, body: { error: 'failed' } }),
  })
  const { ledger } = await found(context, origin)
  assert.ok(ledger.kept.some(({ answer, step }) => answer?.status === 500 && step === ''))
})

/** A server whose records have a number, and another member in their addresses. */
async function serveByKey(context: TestContext, records: number, isThere = true) {
  let last = 0
  const make = (title = '') => ({ id: ++last, handle: `h${last}-${title.length}q`, title })
  const all = new Map(
    Array.from({ length: records }, (_, index) => make(`T${index}`)).map((each) => [each.handle, each]),
  )
  const origin = await served(context, ({ method, url = '' }, response, text) => {
    const [, name, key] = new URL(url, 'http://x').pathname.split('/')
    const answer = (status: number, body?: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body && JSON.stringify(body))
    if (name !== 'books') return answer(404, { error: 'nothing' })
    if (method === 'POST' && key === undefined) {
      const { handle, ...body } = JSON.parse(text)
      if (handle !== undefined) return answer(400, { error: 'handle: unknown' })
      const made = make(body.title)
      all.set(made.handle, made)
      return answer(201, made)
    }
    if (key === undefined) return answer(200, [...all.values()])
    if (!all.has(key) || !isThere) return answer(404, { error: 'nothing' })
    if (method === 'DELETE') all.delete(key)
    return method === 'DELETE' ? answer(204) : answer(200, all.get(key))
  })
  return { origin, all }
}

test('the member that addresses have is found, by an existing record or by a new one', async (context) => {
  for (const count of [3, 0]) {
    const { origin, all } = await serveByKey(context, count)
    const { collection, notices, remains } = await found(context, origin)
    assert.deepEqual([collection?.id, notices, remains, all.size], ['handle', [], [], count])
  }
})

test('a new record that is nowhere is reported, and no other one is created', async (context) => {
  const { origin, all } = await serveByKey(context, 1, false)
  const { notices } = await found(context, origin)
  assert.match(notices.join(), /it was created, but it is not at \/books\/2; .*collections\.books\.id/)
  assert.equal(all.size, 2)
})
