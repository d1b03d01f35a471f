/** How the lists of servers without a document can be queried is found out by what parameters do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cases } from '../cases/cases.ts'
import { Client } from '../client/client.ts'
import { discover } from './discover.ts'
import { serveOther } from './other-servers.fixture.ts'
import { documentedPages } from './query-names.ts'
import { tryCollections } from './try-collections.ts'

type Thing = Readonly<Record<string, unknown>>

const books = ['Left', 'Right', 'Up', 'Down'].map((title, index) => ({ id: index + 1, title, pages: 50 - index }))

const usual = cases.filter(({ id }) => id === 'CON-2/etag')

/** The collection of a server whose list is queried in a manner of its own. */
async function tried(context: TestContext, find: (all: readonly Thing[], query: URLSearchParams) => readonly Thing[]) {
  const { origin, all } = await serveOther(context, { records: books, find })
  const client = new Client()
  context.after(() => client.close())
  const requester = { client, credential: [] }
  const { profile } = await tryCollections(requester, {
    ...(await discover(requester, { url: origin, only: ['books'] })),
    cases: usual,
  })
  assert.equal(all.size, books.length)
  const [collection] = profile.collections
  assert.ok(collection)
  return collection
}

/** A part of a list by parameters for its beginning and its size. */
function part(all: readonly Thing[], begin: number, size: string | null): readonly Thing[] {
  return size === null ? all : all.slice(begin, begin + Number(size))
}

test('pages are found under other names, counted from 0 or from 1', async (context) => {
  const fromZero = await tried(context, (all, query) => {
    const size = query.get('size')
    return part(all, Number(query.get('page') ?? 0) * Number(size ?? 0), size)
  })
  assert.deepEqual([fromZero.pages, fromZero.query], [['page'], { per_page: 'size', firstPage: 0 }])
  const fromOne = await tried(context, (all, query) => {
    const size = query.get('pageSize')
    return part(all, (Number(query.get('pageNumber') ?? 1) - 1) * Number(size ?? 0), size)
  })
  assert.deepEqual([fromOne.pages, fromOne.query], [['page'], { page: 'pageNumber', per_page: 'pageSize' }])
  const skipped = await tried(context, (all, query) => part(all, Number(query.get('$skip') ?? 0), query.get('$limit')))
  assert.deepEqual([skipped.pages, skipped.query], [['offset'], { offset: '$skip', limit: '$limit' }])
  const none = await tried(context, (all) => all)
  assert.deepEqual([none.pages, none.query, none.sorts, none.filters], [[], undefined, [], []])
})

test('the form in which a list is sorted is found by the order of its records', async (context) => {
  const collection = await tried(context, (all, query) => {
    const [, member, sign] = /^(\w+),(asc|desc)$/.exec(query.get('sort') ?? '') ?? []
    if (member === undefined) return all
    const sorted = all.toSorted((left, right) => ((left[member] as number) < (right[member] as number) ? -1 : 1))
    return sign === 'asc' ? sorted : sorted.toReversed()
  })
  assert.deepEqual(collection.query, { ascending: 'sort={},asc', descending: 'sort={},desc' })
  assert.deepEqual(collection.sorts.toSorted(), ['id', 'pages', 'title'])
})

test('an order is found by a member by which lists can be sorted, whatever the identifier does', async (context) => {
  const collection = await tried(context, (all, query) => {
    const [, member = '', sign] = /^(\w+),(ASC|DESC)$/.exec(query.get('sort') ?? '') ?? []
    if (member !== 'pages') return all
    const sorted = all.toSorted((left, right) => Number(left['pages']) - Number(right['pages']))
    return sign === 'ASC' ? sorted : sorted.toReversed()
  })
  assert.deepEqual([collection.sorts, collection.query?.ascending], [['pages'], 'sort={},ASC'])
})

test('filters with their value in an expression are used only if two of them restrict a list together', async (context) => {
  const filtered = (isTogether: boolean) => (all: readonly Thing[], query: URLSearchParams) => {
    const filters = query.getAll('{}').concat(
      [...query].flatMap(([name, value]) => {
        const [, wanted] = /^eq\.(.*)$/.exec(value) ?? []
        return wanted === undefined ? [] : [`${name}=${wanted}`]
      }),
    )
    return all.filter((each) =>
      (isTogether ? filters : filters.slice(0, 1)).every((each2) => {
        const [name = '', value] = each2.split('=')
        return String(each[name]) === value
      }),
    )
  }
  const together = await tried(context, filtered(true))
  assert.deepEqual([together.filters, together.query?.filter], [['title', 'pages'], '{}=eq.{value}'])
  const alone = await tried(context, filtered(false))
  assert.deepEqual([alone.filters, alone.query?.filter], [[], undefined])
})

test('a search is found by its words, beside a filter', async (context) => {
  const collection = await tried(context, (all, query) =>
    all.filter(
      (each) =>
        String(each['title']).includes(query.get('search') ?? '') &&
        [null, String(each['pages'])].includes(query.get('pages')),
    ),
  )
  assert.deepEqual([collection.search, collection.query?.q, collection.filters], ['title', 'search', ['pages']])
})

test('records are found by a search for their mark, which changes then keep', async (context) => {
  const collection = await tried(context, (all, query) =>
    all.filter((each) => String(each['title']).includes(query.get('search') ?? '')),
  )
  assert.equal(collection.query?.finder, 'search={mark}')
  assert.deepEqual([collection.marker, Object.keys(collection.change)], [undefined, ['pages']])
})

test('a search that finds other records, too, is not used', async (context) => {
  const collection = await tried(context, (all, query) => {
    const words = (query.get('search') ?? '').split('-')
    return all.filter((each) => words.some((word) => String(each['title']).includes(word)))
  })
  assert.equal(collection.query?.finder, undefined)
})

test('filters in brackets are found, and so is the marker', async (context) => {
  const collection = await tried(context, (all, query) =>
    all.filter((each) =>
      ['title', 'pages'].every((name) => [null, String(each[name])].includes(query.get(`filter[${name}]`))),
    ),
  )
  assert.deepEqual([collection.filters, collection.query], [['title', 'pages'], { filter: 'filter[{}]' }])
  assert.equal(collection.marker, 'title')
})

test('documented parameters are known under the names of many kinds of servers', () => {
  const all: readonly (readonly [names: readonly string[], pages: readonly string[], query: object])[] = [
    [['page', 'per_page', 'offset', 'limit', 'cursor'], ['page', 'offset', 'cursor'], {}],
    [['page', 'limit'], ['page'], { per_page: 'limit' }],
    [['skip', 'take'], ['offset'], { offset: 'skip', limit: 'take' }],
    [['$skip', '$top', '$orderby'], ['offset'], { offset: '$skip', limit: '$top' }],
    [['page[number]', 'page[size]'], ['page'], { page: 'page[number]', per_page: 'page[size]' }],
    [['pageToken', 'limit'], ['cursor'], { cursor: 'pageToken' }],
    [['start', 'title'], [], {}],
    [['size', 'color'], [], {}],
  ]
  for (const [names, pages, query] of all) assert.deepEqual(documentedPages(names), { pages, query }, names.join())
})
