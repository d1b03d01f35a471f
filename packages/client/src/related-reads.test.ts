/** Related records of responses, joined into records, without a server. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createClient, etagOf, type RelatedList } from './index.ts'

const relations = {
  books: {
    // Declared as `writer`: nothing in a response says that `author_id` is its field.
    writer: { to: 'one', collection: 'authors', field: 'author_id' },
    critic: { to: 'one', collection: 'authors', field: 'critic' },
    chapters: { to: 'many', collection: 'chapters', field: 'book_id' },
  },
  authors: { books: { to: 'many', collection: 'books', field: 'author_id' } },
  chapters: { book: { to: 'one', collection: 'books', field: 'book_id' } },
}
const document = {
  tags: Object.entries(relations).map(([name, each]) => ({ name, 'x-collection': { relations: each } })),
}

/** A client of a server that has these responses by address, and the requests that it sends. */
function clientOf(responses: Readonly<Record<string, object>>) {
  const sent: { readonly url: string; readonly method: string; readonly init: RequestInit }[] = []
  const client = createClient({
    url: 'http://api.test/prefix/v1',
    retry: false,
    fetch: async (address, init) => {
      const url = decodeURIComponent(address.slice('http://api.test/prefix/v1'.length).replaceAll('+', ' '))
      sent.push({ url, method: String(init.method), init })
      const body = { '/openapi.json': document, ...responses }[url]
      assert.ok(body, url)
      return Response.json(body, { headers: { ETag: '"1"' } })
    },
  })
  const urls = () => sent.map(({ url }) => url)
  return { client, sent, urls }
}

const pagination = { total_count: 2 }
const le_guin = { id: 'a1', name: 'Le Guin' }
const books = [
  { id: 'b1', title: 'Lathe', author_id: 'a1', critic: 'a1' },
  { id: 'b2', title: 'Wind', author_id: 'a2', critic: null },
]
const chapters = [
  { id: 'c1', book_id: 'b1', number: 1 },
  { id: 'c2', book_id: 'b1', number: 2 },
]
const included = {
  authors: { a1: le_guin },
  books: { b1: books[0] },
  chapters: { c1: chapters[0] },
}

it('REL-2: joins the records of each path; without the record there is null, or an empty list', async () => {
  const { client, urls } = clientOf({
    '/books?include=writer,critic,chapters.book&sort=title': {
      ...{ data: books, pagination, included },
      related: { chapters: { b1: { ids: ['c1'], total_count: 2, next: '/v1/books/b1/chapters?cursor=x' } } },
    },
  })
  const query = { include: ['writer', 'critic', 'chapters.book'], sort: 'title' }
  const page = await client['books']!.list(query)
  const [first, second] = page.data
  assert.deepEqual(page.pagination, pagination)
  assert.deepEqual(
    { ...first, chapters: undefined },
    { ...books[0], writer: le_guin, critic: le_guin, chapters: undefined },
  )
  assert.deepEqual([...(first!['chapters'] as object[])], [{ ...chapters[0], book: books[0] }])
  assert.equal((first!['chapters'] as RelatedList).total, 2)
  assert.deepEqual({ ...second, chapters: undefined }, { ...books[1], writer: null, critic: null, chapters: undefined })
  assert.deepEqual({ ...(second!['chapters'] as object) }, { total: 0, next: null })
  // The document is read once.
  await client['books']!.list(query)
  assert.equal(urls().filter((url) => url === '/openapi.json').length, 1)
})

it('REL-3: reads the rest of a list that was cut, with what is included from there', async () => {
  const { client } = clientOf({
    '/authors?include=books.chapters&include[books][limit]=1&fields[books.chapters]=number': {
      ...{
        data: [le_guin],
        pagination,
        included: { books: { b1: books[0] }, chapters: { c1: { id: 'c1', number: 1 } } },
      },
      related: {
        books: { a1: { ids: ['b1'], total_count: 3, next: '/other/v1/authors/a1/books?limit=1&cursor=x' } },
        'books.chapters': { b1: { ids: ['c1'], total_count: 1, next: null } },
      },
    },
    '/authors/a1/books?limit=1&cursor=x&fields[chapters]=number&include=chapters': {
      ...{
        data: [books[1]],
        pagination: { total_count: 3, next_cursor: 'y' },
        included: { chapters: { c2: chapters[1] } },
      },
      related: { chapters: { b2: { ids: ['c2'], total_count: 1, next: null } } },
    },
    '/authors/a1/books?limit=1&cursor=y&fields[chapters]=number&include=chapters': {
      ...{ data: [{ id: 'b3' }], pagination: { total_count: 3, next_cursor: null }, included: {}, related: {} },
    },
  })
  const query = { include: 'books.chapters', 'include[books][limit]': 1, 'fields[books.chapters]': 'number' }
  const [author] = (await client['authors']!.list(query)).data
  const all = await Array.fromAsync((author!['books'] as RelatedList<{ id: string; chapters: object[] }>).all())
  assert.deepEqual(
    all.map(({ id, chapters: each }) => [id, each.length]),
    [
      ['b1', 1],
      ['b2', 1],
      ['b3', 0],
    ],
  )
})

it('REL-6: a single record has its tag, and joined records are no part of what it is compared with', async () => {
  const { client, sent } = clientOf({
    '/books/b1?fields=title,author_id&include=writer': { data: books[0], included, related: {} },
    '/books?include=critic': { data: books, pagination, included, related: {} },
    '/books/b1': books[0]!,
  })
  const book = await client['books']!.get('b1', { fields: ['title'], include: 'writer' })
  // The reference was read to join the records, and was not asked for.
  assert.deepEqual(book, { id: 'b1', title: 'Lathe', critic: 'a1', writer: le_guin })
  assert.equal(etagOf(book), '"1"')
  await client['books']!.update(book, { title: 'x' })
  assert.equal(new Headers(sent.at(-1)?.init.headers).get('if-match'), '"1"')
  // A record of a list has no tag: it is compared with what is there now.
  const [listed] = (await client['books']!.list({ include: 'critic' })).data
  assert.equal(typeof listed!['critic'], 'object')
  await client['books']!.update(listed!, { title: 'x' })
  // A copy is compared without what is no field.
  const { critic: _, ...copy } = listed!
  await client['books']!.update({ ...copy, writer: le_guin }, { title: 'x' })
  assert.deepEqual(
    sent.slice(-4).map(({ method }) => method),
    ['GET', 'PATCH', 'GET', 'PATCH'],
  )
})

it('SUM-1, WHR-1: sends names as lists, conditions as JSON, and what is too long by QUERY', async () => {
  const where = { writer: { name: 'é&' } }
  const { client, sent } = clientOf({
    '/books/summary?group=status,printed_on:month&sum=price&where={"writer":{"name":"é&"}}': { data: [] },
    '/books?group=a&group=b': { data: [] },
    '/books': { data: [] },
  })
  await client['books']!.summary({ group: ['status', 'printed_on:month'], sum: 'price', where })
  // Elsewhere it may be the name of a field.
  await client['books']!.list({ group: ['a', 'b'] })
  const long = { title: { in: Array.from({ length: 1000 }, () => 'a title') } }
  await client['books']!.list({ where: long, sort: 'title' })
  const { method, init } = sent.at(-1) ?? {}
  assert.equal(method, 'QUERY')
  assert.deepEqual(JSON.parse(String(init?.body)), { where: long, sort: 'title' })
})
