/** Discovery of servers of other makes without a profile. No record of the checker stays. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Case } from '../case/case.ts'
import { cases } from '../cases/cases.ts'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import { CannotCheck } from '../profile/profile.ts'
import { discover } from './discover.ts'
import type { DiscoveryOptions } from './open-server.ts'
import { serveOther } from './other-servers.fixture.ts'
import { tryCollections } from './try-collections.ts'

// A case that needs a collection in which records can be created.
const usual = cases.filter(({ id }) => id === 'CON-2/etag')

async function found(context: TestContext, options: DiscoveryOptions, chosen: readonly Case[] = usual) {
  const client = new Client()
  context.after(() => client.close())
  const requester = { client, credential: [] }
  const discovered = await discover(requester, options)
  const tried = await tryCollections(requester, { ...discovered, cases: chosen })
  return { ...tried, discovered, client }
}

const books = [
  { id: 1, title: 'Left', isbn: 'a', pages: 5, created_at: '2026-01-01T00:00:00Z' },
  { id: 2, title: 'Right', isbn: 'b', pages: 6, created_at: '2026-01-02T00:00:00Z' },
]

test('a server without a document is discovered from its root, its lists and a record', async (context) => {
  const { origin, all } = await serveOther(context, {
    pages: { '/': '<ul><li><a href="/books">books</a><li><a href="/about">about</a></ul>', '/about': 'No list.' },
    records: books,
    headers: (known) => ({ 'X-Total-Count': String(known.length) }),
  })
  const { profile, remains } = await found(context, { url: origin })
  const [collection] = profile.collections
  assert.equal(profile.collections.length, 1)
  assert.deepEqual([profile.names.items, profile.names.total], ['', 'header:X-Total-Count'])
  assert.deepEqual([profile.names.code, profile.names.message], ['/error', '/message'])
  assert.deepEqual(collection?.example, { title: 'Left', isbn: 'a', pages: 5 })
  assert.deepEqual(collection?.operations, ['list', 'create', 'read', 'replace', 'update', 'delete'])
  assert.deepEqual(collection?.filters, ['title', 'isbn', 'pages'])
  assert.equal(collection?.marker, 'title')
  assert.deepEqual(Object.keys(collection?.change ?? {}), ['title', 'isbn', 'pages'])
  assert.deepEqual([[...all.keys()], remains], [['1', '2'], []])
})

test('required members are learnt from error responses, in an empty collection too', async (context) => {
  const { origin, all } = await serveOther(context, {
    faults: ({ title, pages, mail }) => ({
      ...(title === undefined && { title: 'Field required' }),
      ...(typeof pages !== 'number' && {
        pages: pages === undefined ? 'Field required' : 'Input should be a valid integer',
      }),
      ...(typeof mail === 'string' && mail.includes('@')
        ? {}
        : { mail: mail === undefined ? 'Field required' : 'must be a valid email' }),
    }),
    refusal: (faults) => ({
      status: 422,
      body: { detail: Object.entries(faults).map(([name, msg]) => ({ loc: ['body', name], msg, type: 'x' })) },
    }),
    list: (known) => ({ results: known, count: known.length, next: null, previous: null }),
  })
  const { profile, notices, remains } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual(notices, [])
  assert.deepEqual([profile.names.items, profile.names.total], ['/results', '/count'])
  assert.deepEqual(new Set(collection?.required), new Set(['title', 'pages', 'mail']))
  assert.equal(typeof collection?.example?.['pages'], 'number')
  assert.match(String(collection?.example?.['mail']), /@/)
  assert.deepEqual([all.size, remains], [0, []])
})

test('a unique member is learnt from a second creation that the server refuses', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: ({ isbn }, others): Record<string, string> =>
      others.some((each) => each['isbn'] === isbn) ? { isbn: 'has already been taken' } : {},
    refusal: (faults) => ({ status: 422, body: { errors: faults } }),
  })
  const { profile, notices } = await found(context, { url: origin, only: ['books'] })
  assert.deepEqual([profile.collections[0]?.unique, notices, all.size], [['isbn'], [], 2])
})

test('a pattern that an error states is met, in every further record', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books.map((each, index) => ({ ...each, isbn: `old ${index}` })),
    faults: ({ isbn }): Record<string, string> =>
      /^[A-Z]{2}-\d{4}$/.test(String(isbn)) ? {} : { isbn: 'Invalid string: must match pattern /^[A-Z]{2}-\\d{4}$/' },
  })
  const { profile, notices } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual([collection?.schemas?.['isbn']?.['pattern'], notices, all.size], ['^[A-Z]{2}-\\d{4}$', [], 2])
})

test('a value of the form of a code gets another value of this form', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books.map((each, index) => ({ ...each, isbn: `978030640615${index === 0 ? 7 : 4}` })),
    faults: ({ isbn }, others): Record<string, string> => ({
      ...(/^\d{13}$/.test(String(isbn)) ? {} : { isbn: 'wrong' }),
      ...(others.some((each) => each['isbn'] === isbn) ? { isbn: 'exists' } : {}),
    }),
    refusal: () => ({ status: 400, body: { error: 'bad request' } }),
  })
  const { notices } = await found(context, { url: origin, only: ['books'] })
  assert.deepEqual([notices, all.size], [[], 2])
})

test('a text that the server refuses with the mark in it has a value of the records, and another one the mark', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: Array.from({ length: 9 }, (_, index) => ({
      id: index,
      region: index % 2 === 0 ? 'north' : 'south',
      title: `T ${index}`,
    })),
    faults: ({ region }): Record<string, string> =>
      ['north', 'south'].includes(String(region)) ? {} : { region: 'bad' },
    refusal: () => ({ status: 500, body: { error: 'failed' } }),
    find: (known) => known,
  })
  const { profile, notices } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual([collection?.label, collection?.example?.['region'], notices, all.size], ['title', 'north', [], 9])
})

test('a member of which nothing says that it is unique is found, also if the server fails', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: ({ title }, others): Record<string, string> =>
      others.some((each) => each['title'] === title) ? { title: 'taken' } : {},
    refusal: () => ({ status: 500, body: { error: 'failed' } }),
  })
  const { profile, notices } = await found(context, { url: origin, only: ['books'] })
  assert.ok(profile.collections[0]?.unique.includes('title'))
  assert.deepEqual([notices, all.size], [[], 2])
})

test('a collection in which no record can be created is reported, with the profile entry to write', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: () => ({ title: 'is wrong in a way that nobody can guess' }),
  })
  const { profile, notices, remains } = await found(context, { url: origin, only: ['books'] })
  assert.match(notices.join(), /No record of books can be created \(400: .*\)\. Write .*collections\.books\.example/)
  assert.ok(!profile.collections[0]?.operations.includes('create'))
  assert.deepEqual([all.size, remains], [2, []])
})

test('no record is created where none can be deleted', async (context) => {
  const document = (methods: readonly string[]) => ({
    openapi: '3.0.3',
    paths: {
      '/books': {
        get: {
          responses: {
            200: { content: { 'application/json': { schema: { type: 'array', items: { type: 'object' } } } } },
          },
        },
        post: {
          requestBody: { content: { 'application/json': { schema: { properties: { title: { type: 'string' } } } } } },
        },
      },
      '/books/{id}': Object.fromEntries(methods.map((each) => [each, {}])),
    },
  })
  const { origin, asked } = await serveOther(context, { records: books, pages: { '/openapi.json': document(['get']) } })
  await found(context, { url: origin })
  assert.deepEqual(
    asked.filter((each) => !/^(?:GET|OPTIONS)/.test(each)),
    [],
  )
})

test('addresses with a slash at the end are learnt from links and redirects, and used', async (context) => {
  const { origin, asked } = await serveOther(context, {
    pages: { '/': { books: '/books/' } },
    records: books,
    hasSlashes: true,
  })
  const { profile, notices, remains } = await found(context, { url: origin })
  const [collection] = profile.collections
  assert.deepEqual(
    [collection?.path, collection?.slashes, notices, remains],
    ['/books', ['collection', 'record'], [], []],
  )
  const changes = asked.filter((each) => /^(?:POST|PATCH|DELETE)/.test(each))
  assert.ok(changes.length > 3 && changes.every((each) => each.endsWith('/')), changes.join('\n'))
})

test('a redirect to another server is not followed', async (context) => {
  const other = await serveOther(context, { records: books })
  const moved = await served(context, (_, response) =>
    response.writeHead(302, { Location: `${other.origin}/books` }).end(),
  )
  await assert.rejects(found(context, { url: moved, only: ['books'] }), CannotCheck)
  assert.deepEqual(other.asked, [])
})

test('a document is found in a variable of a page, behind other objects of that name', async (context) => {
  const document = { openapi: '3.0.0', paths: { '/books': { get: {}, post: {} }, '/books/{id}': { get: {} } } }
  const { origin } = await serveOther(context, {
    pages: { '/': `<script>const a = { spec: { "x": 1 } }\nlet spec = ${JSON.stringify(document)}</script>` },
    records: books,
  })
  const { discovered } = await found(context, { url: origin })
  assert.deepEqual(
    discovered.profile.collections.map(({ name }) => name),
    ['books'],
  )
  assert.ok(discovered.profile.document?.startsWith(origin))
})

test('a page for people leads to the document, also if its script contains it', async (context) => {
  const { origin } = await serveOther(context, {
    pages: {
      '/docs': '<html><script src="/docs/swagger-ui-init.js"></script>',
      '/docs/swagger-ui-init.js': `<!-- --> SwaggerUIBundle({ "swaggerDoc": ${JSON.stringify({
        openapi: '3.0.0',
        paths: { '/books': { get: {}, post: {} }, '/books/{id}': { get: {} } },
        info: { title: 'Braces } in "texts"' },
      })}, "customOptions": {} })`,
    },
    records: books,
  })
  const { discovered } = await found(context, { url: origin })
  assert.equal(discovered.profile.document, `${origin}/docs/swagger-ui-init.js`)
})

for (const path of ['/doc', '/schema/openapi.json']) {
  test(`the document is found at ${path}`, async (context) => {
    const document = {
      openapi: '3.1.0',
      info: {},
      paths: { '/books': { get: {}, post: {} }, '/books/{id}': { get: {} } },
    }
    const { origin } = await serveOther(context, { pages: { [path]: JSON.stringify(document) }, records: books })
    const { discovered } = await found(context, { url: origin })
    assert.equal(discovered.profile.document, origin + path)
  })
}

test('the envelope of responses is sent where bodies without it are refused, and only there', async (context) => {
  const list = (known: readonly object[]) => ({ data: known })
  const strict = await serveOther(context, { records: books, envelope: 'data', list })
  const inEnvelope = await found(context, { url: strict.origin, only: ['books'] })
  const [one] = inEnvelope.profile.collections
  assert.deepEqual(
    [one?.names, one?.example, inEnvelope.notices],
    [{ body: '/data' }, { title: 'Left', isbn: 'a', pages: 5 }, []],
  )
  assert.deepEqual([Object.keys(one?.change ?? {}), strict.all.size], [['title', 'isbn', 'pages'], 2])
  const plain = await serveOther(context, {
    records: books,
    list,
    faults: ({ isbn, ...body }): Record<string, string> =>
      'data' in body ? { data: 'is unknown' } : isbn === undefined ? {} : { isbn: 'is unknown' },
  })
  const [other] = (await found(context, { url: plain.origin, only: ['books'] })).profile.collections
  assert.deepEqual([other?.names, plain.all.size], [undefined, 2])
})

test('members that a server sets whatever a body says are not sent, and bear no mark', async (context) => {
  const fixed = { book_kind: 'paper', shelf: 7 }
  const { origin, all } = await serveOther(context, {
    records: books.map(({ id, title, pages }) => ({ id, ...fixed, title, pages })),
    fixed,
  })
  const { profile, remains } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual(
    Object.keys(collection?.example ?? {}).filter((name) => name in fixed),
    [],
  )
  assert.deepEqual(Object.keys(collection?.change ?? {}), ['title', 'pages'])
  assert.deepEqual([[...all.keys()], remains], [['1', '2'], []])
})

test('members without which a server fails are not taken for optional ones', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: ({ title }): Record<string, string> => (title === undefined ? { title: 'null' } : {}),
    refusal: () => ({ status: 500, body: {} }),
  })
  const { profile, remains } = await found(context, { url: origin, only: ['books'] })
  assert.deepEqual(Object.keys(profile.collections[0]?.optional ?? {}), ['isbn', 'pages'])
  assert.deepEqual([[...all.keys()], remains], [['1', '2'], []])
})

test('a path that a profile names is one collection, under the name of the profile', async (context) => {
  const { origin } = await serveOther(context, {
    pages: { '/': { records: '/library/records' } },
    records: books,
    path: '/library/records',
  })
  const given = { collections: { books: { path: '/library/records' } } }
  const { profile } = await found(context, { url: origin, given })
  assert.deepEqual(
    profile.collections.map(({ name, path, example }) => [name, path, example]),
    [['books', '/library/records', { title: 'Left', isbn: 'a', pages: 5 }]],
  )
})

test('a profile file overrides what was found, and adds collections', async (context) => {
  const { origin } = await serveOther(context, { records: books, path: '/hidden/books' })
  const given = {
    collections: { books: { path: '/hidden/books', example: { title: 'Mine' }, unique: ['title'] } },
    names: { total: '/n' },
  }
  const { discovered } = await found(context, { url: origin, given })
  const [collection] = discovered.profile.collections
  assert.deepEqual(collection?.example, { title: 'Mine' })
  assert.deepEqual([collection?.path, collection?.id, discovered.profile.names.total], ['/hidden/books', 'id', '/n'])
})

test('a server without collections is reported with the options to give', async (context) => {
  const { origin } = await serveOther(context, {})
  await assert.rejects(found(context, { url: `${origin}/nothing` }), (error: Error) => {
    assert.ok(error instanceof CannotCheck)
    assert.match(error.message, /No OpenAPI document was found .* --openapi .* --collection cities/)
    return true
  })
})

test('what a body may leave out, and which values are refused, is tried where no document says it', async (context) => {
  const { origin, all } = await serveOther(context, {
    records: books,
    faults: ({ title, pages }): Record<string, string> => ({
      ...(title === undefined && { title: 'Field required' }),
      ...(pages !== undefined && typeof pages !== 'number' && { pages: 'Input should be a valid integer' }),
    }),
  })
  const { profile, remains } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual(collection?.required, ['title'])
  assert.deepEqual(Object.keys(collection?.optional ?? {}), ['isbn', 'pages'])
  assert.deepEqual(Object.keys(collection?.invalid ?? {}), ['pages'])
  assert.deepEqual([[...all.keys()], remains], [['1', '2'], []])
})

test('short random identifiers that end with a digit by chance are no sequence', async (context) => {
  const random = Array.from({ length: 40 }, (_, index) => `${'abcdef'[index % 6]}${index + 10}4`)
  const { origin } = await serveOther(context, { records: books, identifiers: random })
  const { profile } = await found(context, { url: origin, only: ['books'] })
  assert.equal(profile.collections[0]?.sequential, false)
  const { origin: counting } = await serveOther(context, { records: books })
  const counted = await found(context, { url: counting, only: ['books'] })
  assert.equal(counted.profile.collections[0]?.sequential, true)
})

test('a member that takes only some texts marks no records, and a status of an error is no unique member', async (context) => {
  const { origin } = await serveOther(context, {
    records: books.map((each, index) => ({
      id: each.id,
      state: 'open',
      title: `Book ${index}`,
      status: 'new',
      shelf: 1,
    })),
    faults: ({ state, title, shelf }, others): Record<string, string> => ({
      ...(state !== 'open' && state !== 'shut' && { state: 'must be one of these' }),
      ...(others.some((each) => each['title'] === title && each['shelf'] === shelf) && { title: 'is taken' }),
    }),
    refusal: (faults) =>
      'state' in faults
        ? { status: 400, body: { status: 400, message: 'state is wrong' } }
        : { status: 409, body: { status: 409, message: 'title is taken' } },
  })
  const { profile, notices } = await found(context, { url: origin, only: ['books'] })
  const [collection] = profile.collections
  assert.deepEqual(collection?.unique, ['title'])
  assert.equal(collection?.marker, 'status')
  assert.deepEqual(notices, [])
})

test('a media type that the user names is kept, and counts more than that of a profile', async (context) => {
  const { origin } = await serveOther(context, { records: books })
  const client = new Client()
  context.after(() => client.close())
  const accepted = new Set<string | undefined>()
  client.watch(({ asked }) => accepted.add(asked.fields.find(([name]) => name === 'Accept')?.[1]))
  client.mediaType = 'application/vnd.shop+json'
  const given = { mediaType: 'application/vnd.other+json' }
  await discover({ client, credential: [] }, { url: origin, only: ['books'], given })
  assert.ok(accepted.has('application/vnd.shop+json'))
  assert.ok(![...accepted].some((each) => each === 'application/json' || each === given.mediaType))
})

test('what a profile says of pages and filters is not tried anew', async (context) => {
  const { origin } = await serveOther(context, { records: books })
  const given = { collections: { books: { pages: ['page' as const], filters: ['isbn'] } } }
  const { profile } = await found(context, { url: origin, only: ['books'], given })
  assert.deepEqual([profile.collections[0]?.pages, profile.collections[0]?.filters], [['page'], ['isbn']])
})
