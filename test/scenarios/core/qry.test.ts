/** QRY-1 to QRY-7: filters, sorts, fields and search of collections. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { library } from '../../declarations-library.ts'
import { type Received, type Trial, trial } from '../../harness.ts'

const books = [
  { title: 'Alpha', kind: 'novel', year: 1900, price: 9.5, printed: true, acquired: '2020-01-31', pin: 'x' },
  { title: 'beta', kind: 'poetry', year: 1950, price: 10, printed: false, released: '2020-01-01T12:00:00+02:00' },
  { title: 'ÉTÉ', kind: 'drama', year: 2000, price: -1, released: '2020-01-01T10:00:00.000Z', summary: 'Łódź in Ærø' },
  {
    title: 'straße 50% _off_',
    kind: 'novel',
    year: null,
    price: null,
    printed: true,
    summary: 'Cafe\u0301 "noir" NEAR',
  },
  { title: 'Zeta', kind: 'poetry', year: 1950, price: 0.1, acquired: '2020-02-01', summary: '東京都 渋谷' },
  { title: '\u{10428} Deseret', kind: 'drama', year: -5, price: 1e15, released: '2020-01-01T10:00:00.0001Z' },
]
const all = ['Alpha', 'beta', 'ÉTÉ', 'straße 50% _off_', 'Zeta', '\u{10428} Deseret']

describe('queries', () => {
  let current: Trial
  let authors: Record<string, string>

  before(async () => {
    current = await trial(library, { memory: true })
    const made = {
      ann: await current.make('authors', { name: 'Ann' }),
      bea: await current.make('authors', { name: 'Bea' }),
    }
    authors = { ann: made.ann.id, bea: made.bea.id }
    for (const [index, book] of books.entries()) {
      await current.make('books', {
        ...book,
        ...(index < 4 && { author_id: index % 2 === 0 ? authors['ann'] : authors['bea'] }),
      })
    }
  })
  after(() => current.close())

  const get = (query: string, path = '/v1/books') => current.send({ path: `${path}?${query}`, as: 'bob' })
  const titles = (answer: Received) => {
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.pagination.total_count, answer.json.data.length)
    return answer.json.data.map((each: { title: string }) => each.title)
  }

  const finds: readonly (readonly [rule: string, query: string, found: readonly string[]])[] = [
    ['QRY-1', 'title=beta', ['beta']],
    ['QRY-1', 'title=Beta', []],
    ['QRY-1', 'title=', []],
    ['QRY-1', 'title=%C3%89T%C3%89', ['ÉTÉ']],
    ['QRY-1', 'title=stra%C3%9Fe+50%25+_off_', ['straße 50% _off_']],
    ['QRY-1', 'kind=novel', ['Alpha', 'straße 50% _off_']],
    ['QRY-1', 'kind=novel&kind=drama', ['Alpha', 'ÉTÉ', 'straße 50% _off_', '\u{10428} Deseret']],
    ['QRY-1', 'kind=novel&year=1900', ['Alpha']],
    ['QRY-1', 'year=1950&year=-5', ['beta', 'Zeta', '\u{10428} Deseret']],
    ['QRY-1', 'price=10.0', ['beta']],
    ['QRY-1', 'price=1e15', ['\u{10428} Deseret']],
    ['QRY-1', 'printed=true', ['Alpha', 'straße 50% _off_']],
    ['QRY-1', 'printed=false', ['beta']],
    ['QRY-1', 'acquired=2020-01-31', ['Alpha']],
    ['QRY-1', 'released=2020-01-01T11:00:00%2B01:00', ['beta', 'ÉTÉ']],
    ['QRY-2', 'year[gt]=1950', ['ÉTÉ']],
    ['QRY-2', 'year[gte]=1950', ['beta', 'ÉTÉ', 'Zeta']],
    ['QRY-2', 'year[lt]=1900', ['\u{10428} Deseret']],
    ['QRY-2', 'year[lte]=1900', ['Alpha', '\u{10428} Deseret']],
    ['QRY-2', 'year[gte]=1900&year[lt]=2000', ['Alpha', 'beta', 'Zeta']],
    ['QRY-2', 'year[not]=1950', ['Alpha', 'ÉTÉ', 'straße 50% _off_', '\u{10428} Deseret']],
    ['QRY-2', 'kind[not]=novel&kind[not]=drama', ['beta', 'Zeta']],
    ['QRY-2', 'kind[in]=novel,drama', ['Alpha', 'ÉTÉ', 'straße 50% _off_', '\u{10428} Deseret']],
    ['QRY-2', 'kind[in]=novel&kind[in]=drama', ['Alpha', 'ÉTÉ', 'straße 50% _off_', '\u{10428} Deseret']],
    ['QRY-2', 'price[in]=0.1,-1', ['ÉTÉ', 'Zeta']],
    ['QRY-2', 'printed[not]=true', ['beta', 'ÉTÉ', 'Zeta', '\u{10428} Deseret']],
    ['QRY-2', 'title[contains]=%C3%A9t', ['ÉTÉ']],
    ['QRY-2', 'title[contains]=TA', ['beta', 'Zeta']],
    ['QRY-2', 'title[contains]=50%25', ['straße 50% _off_']],
    ['QRY-2', 'title[contains]=%25', ['straße 50% _off_']],
    ['QRY-2', 'title[contains]=', all],
    ['QRY-2', 'title[starts_with]=AL', ['Alpha']],
    ['QRY-2', 'title[starts_with]=stra%E1%BA%9E', ['straße 50% _off_']],
    ['QRY-2', 'title[starts_with]=%F0%90%90%80', ['\u{10428} Deseret']],
    ['QRY-2', 'title[starts_with]=_', []],
    ['QRY-2', 'title[starts_with]=', all],
    ['QRY-2', 'title[gt]=Zeta', ['beta', 'ÉTÉ', 'straße 50% _off_', '\u{10428} Deseret']],
    ['QRY-2', 'year[null]=true', ['straße 50% _off_']],
    ['QRY-2', 'year[null]=false', ['Alpha', 'beta', 'ÉTÉ', 'Zeta', '\u{10428} Deseret']],
    ['QRY-2', 'year[null]=false&year[null]=true', all],
    ['QRY-2', 'author_id[null]=true', ['Zeta', '\u{10428} Deseret']],
    ['QRY-2', 'acquired[gt]=2020-01-31', ['Zeta']],
    ['QRY-2', 'released[gt]=2020-01-01T10:00:00Z', ['\u{10428} Deseret']],
    ['QRY-2', 'created_at[gt]=2020-01-01T00:00:00Z', all],
    ['QRY-2', 'created_at[lt]=2020-01-01T00:00:00Z', []],
    ['QRY-3', 'sort=title', ['Alpha', 'Zeta', 'beta', 'straße 50% _off_', 'ÉTÉ', '\u{10428} Deseret']],
    ['QRY-3', 'sort=-title', ['\u{10428} Deseret', 'ÉTÉ', 'straße 50% _off_', 'beta', 'Zeta', 'Alpha']],
    ['QRY-3', 'sort=year', ['\u{10428} Deseret', 'Alpha', 'beta', 'Zeta', 'ÉTÉ', 'straße 50% _off_']],
    ['QRY-3', 'sort=-year', ['straße 50% _off_', 'ÉTÉ', 'Zeta', 'beta', 'Alpha', '\u{10428} Deseret']],
    ['QRY-3', 'sort=kind,-price', ['\u{10428} Deseret', 'ÉTÉ', 'straße 50% _off_', 'Alpha', 'beta', 'Zeta']],
    ['QRY-3', 'sort=released', ['beta', 'ÉTÉ', '\u{10428} Deseret', 'Alpha', 'straße 50% _off_', 'Zeta']],
    ['QRY-3', 'sort=-created_at', all.toReversed()],
    ['QRY-3', 'sort=-year&kind=poetry', ['Zeta', 'beta']],
    ['QRY-3', '', all],
    ['QRY-5', 'q=lodz', ['ÉTÉ']],
    ['QRY-5', 'q=ETE+AERO', ['ÉTÉ']],
    ['QRY-5', 'q=aero+lod', ['ÉTÉ']],
    ['QRY-5', 'q=lod+aero', []],
    ['QRY-5', 'q=strasse+caf%C3%A9', ['straße 50% _off_']],
    ['QRY-5', 'q=%E6%9D%B1%E4%BA%AC', ['Zeta']],
    ['QRY-5', 'q=noir%22+NEAR', ['straße 50% _off_']],
    ['QRY-5', 'q=!!!', []],
    ['QRY-5', 'q=%20', all],
    ['QRY-5', 'q=', all],
    ['QRY-5', 'q=a&kind=novel', ['Alpha']],
    ['QRY-6', 'include_deleted=false', all],
    ['QRY-7', 'updated_at[gte]=2020-01-01T00:00:00Z&printed=true', ['Alpha', 'straße 50% _off_']],
  ]
  for (const [rule, query, found] of finds) {
    it(`${rule}: ?${decodeURIComponent(query)} finds ${found.length}`, async () =>
      assert.deepEqual(titles(await get(query)), found))
  }

  it('QRY-1: a reference is filtered by id, and nested lists take the same parameters', async () => {
    assert.deepEqual(titles(await get(`author_id=${authors['ann']}`)), ['Alpha', 'ÉTÉ'])
    assert.deepEqual(titles(await get(`author_id[in]=${authors['ann']},${authors['bea']}`)), all.slice(0, 4))
    assert.deepEqual(titles(await get('sort=-title&kind[not]=poetry', `/v1/authors/${authors['ann']}/books`)), [
      'ÉTÉ',
      'Alpha',
    ])
    assert.deepEqual(titles(await get('q=beta', `/v1/authors/${authors['ann']}/books`)), [])
  })

  it('QRY-3: the id breaks ties, in the direction of the last term', async () => {
    const ids = async (query: string) => (await get(query)).json.data.map((each: { id: string }) => each.id)
    const [upward, downward] = [await ids('sort=kind'), await ids('sort=-kind')]
    assert.deepEqual(downward, upward.toReversed())
    const novels = (await get('kind=novel&sort=kind')).json.data
    assert.ok(novels[0].id < novels[1].id)
  })

  it('QRY-4: fields limits the fields of a list and a record, and id is always included', async () => {
    const page = await get('fields=title,year&sort=title&limit=1')
    assert.deepEqual(Object.keys(page.json.data[0]).sort(), ['id', 'title', 'year'])
    const { id } = page.json.data[0]
    const whole = await current.send({ path: `/v1/books/${id}` })
    for (const [fields, keys] of [
      ['created_at', ['created_at', 'id']],
      ['id', ['id']],
      ['title,title', ['id', 'title']],
      ['tags,author_id', ['author_id', 'id', 'tags']],
    ] as const) {
      const answer = await get(`fields=${fields}`, `/v1/books/${id}`)
      assert.deepEqual(Object.keys(answer.json).sort(), keys)
      for (const key of keys) assert.deepEqual(answer.json[key], whole.json[key])
    }
    assert.ok(!('pin' in whole.json))
  })
})

it('QRY-6: include_deleted adds deleted records that are still retained, for callers who may see them', async (t) => {
  const current = await trial(library, { memory: true })
  t.after(() => current.close())
  const [first, second, third] = [
    await current.make('authors', { name: 'Ann' }),
    await current.make('authors', { name: 'Bea' }),
    await current.make('authors', { name: 'Cy' }),
  ]
  await current.send({ method: 'DELETE', path: `/v1/authors/${first.id}` })
  const list = (query: string, as = 'root') => current.send({ path: `/v1/authors?${query}`, as })
  const names = (answer: Received) => answer.json.data.map((each: { name: string }) => each.name)
  assert.deepEqual(names(await list('')), ['Bea', 'Cy'])
  const shown = await list('include_deleted=true&sort=-name')
  assert.deepEqual(names(shown), ['Cy', 'Bea', 'Ann'])
  assert.equal(shown.json.pagination.total_count, 3)
  assert.match(shown.json.data[2].deleted_at, /^\d{4}-.*Z$/)
  assert.ok(!('deleted_at' in shown.json.data[0]))
  assert.deepEqual(names(await list('include_deleted=true&q=ann')), ['Ann'])
  assert.deepEqual(Object.keys((await list('include_deleted=true&q=ann&fields=name')).json.data[0]).sort(), [
    'deleted_at',
    'id',
    'name',
  ])
  await current.send({ method: 'DELETE', path: `/v1/authors/${third.id}` })
  const bin = await list('include_deleted=only&sort=-deleted_at&limit=1')
  assert.deepEqual([names(bin), bin.json.pagination.total_count], [['Cy'], 2])
  const cursor = encodeURIComponent(bin.json.pagination.next_cursor)
  assert.deepEqual(names(await list(`include_deleted=only&sort=-deleted_at&limit=1&cursor=${cursor}`)), ['Ann'])
  assert.deepEqual(names(await list('include_deleted=only')), ['Ann', 'Cy'])
  assert.deepEqual(names(await list('include_deleted=only&q=cy&fields=name')), ['Cy'])
  assert.deepEqual(names(await list('include_deleted=only&q=bea')), [])
  for (const refused of ['include_deleted=true&sort=deleted_at', 'sort=deleted_at', 'include_deleted=Only']) {
    assert.equal((await list(refused)).status, 400, refused)
  }
  await current.send({ method: 'POST', path: `/v1/authors/${third.id}/restore` })
  assert.deepEqual(names(await list('include_deleted=only')), ['Ann'])
  for (const as of ['ann', 'eve']) {
    for (const value of ['true', 'only']) {
      const answer = await list(`include_deleted=${value}`, as)
      assert.deepEqual([answer.status, answer.json.code], [403, 'FORBIDDEN'])
    }
    assert.equal((await list('include_deleted=false', as)).status, 200)
  }
  // The grace period is over: gone to everybody, purged or not (DEL-7).
  current.clock.ahead = 31 * 86_400_000
  const late = await list('include_deleted=true')
  assert.deepEqual(names(late), ['Bea', 'Cy'])
  assert.equal(late.json.pagination.total_count, 2)
  assert.deepEqual(names(await list('include_deleted=only')), [])
  assert.ok(second.id < third.id)
})
