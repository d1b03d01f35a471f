/** LIM-6: the limit on the bytes of a page. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { places, type Received, type Trial, trial, trialFor } from '../harness.ts'

const bound = 65_536

const papers = defineInterface({
  name: 'papers',
  limits: { pageBytes: bound },
  resources: {
    shelves: { fields: { name: Type.String({ maxLength: 20 }) }, access: { read: 'anyone' } },
    papers: {
      fields: {
        title: Type.String({ maxLength: 20, search: true }),
        rank: Type.Optional(Type.Integer({ sort: true, filter: true })),
        text: Type.Optional(Type.String()),
        more: Type.Optional(Type.Object({})),
        shelf_id: Type.Optional(reference('shelves', { onDelete: 'clear' })),
      },
      within: 'shelf_id',
      access: { read: 'anyone', readDeleted: 'role:admin' },
    },
  },
})

/** The bytes of a page's records. */
function bytesOf(answer: Received): number {
  const records: unknown[] = answer.json.data
  return records.reduce((sum: number, record) => sum + Buffer.byteLength(JSON.stringify(record)) + 2, 0)
}

const titles = (answer: Received): string[] => answer.json.data.map(({ title }: { title: string }) => title)

// Plain text, text that JSON makes six times as long, text of three bytes a character, and a nested value; some larger
// than a page.
const values: readonly object[] = Array.from({ length: 30 }, (_, index) => {
  const size = [10, 100, 40_000, 2_000, 9_000, 10, 70_000, 20_000, 500, 30_000][index % 10] as number
  const kinds = [{ text: 'x'.repeat(size) }, { text: '\u0001'.repeat(size / 5) }, { text: '€'.repeat(size / 3) }]
  return { ...(kinds[index % 3] ?? {}), ...(index % 7 === 3 ? { more: { a: 'y'.repeat(size) } } : {}) }
})

describe('pages of large records', () => {
  let current: Trial
  let shelf: string
  before(async () => {
    current = await trial(papers, { memory: true })
    shelf = (await current.make('shelves', { name: 'One' })).id
    for (const [index, value] of values.entries()) {
      const rank = index % 4 === 0 ? null : index % 5
      await current.make('papers', { title: `p${String(index).padStart(2, '0')}`, rank, shelf_id: shelf, ...value })
    }
  })
  after(() => current.close())

  /** Walks from one page to the next, by GET or QUERY. */
  async function walk(path: string, query: Record<string, unknown>, by: 'GET' | 'QUERY' = 'GET'): Promise<Received[]> {
    const pages: Received[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const asked = { ...query, ...(cursor === undefined ? {} : { cursor }) }
      const address = `${path}?${new URLSearchParams(asked as Record<string, string>)}`
      const page = await current.send(by === 'GET' ? { path: address } : { method: 'QUERY', path, body: asked })
      assert.equal(page.status, 200, page.text.slice(0, 500))
      assert.ok(bytesOf(page) <= bound || page.json.data.length === 1, `${bytesOf(page)} bytes`)
      assert.ok(page.json.data.length > 0)
      assert.equal(page.json.pagination.total_count, 30)
      pages.push(page)
      cursor = page.json.pagination.next_cursor
      assert.ok(pages.length <= 31)
    }
    return pages
  }

  const walks: readonly (readonly [string, Record<string, unknown>])[] = [
    ['in the usual order', { limit: 30 }],
    ['sorted, with unset values last', { sort: 'rank', limit: 30 }],
    ['sorted downward, with unset values first', { sort: '-rank', limit: 25 }],
    ['filtered', { 'created_at[gte]': '2020-01-01T00:00:00Z', sort: 'rank', limit: 30 }],
    ['searched', { q: 'p', limit: 30 }],
    ['with deleted records', { include_deleted: 'true', limit: 30 }],
  ]
  for (const [what, query] of walks) {
    for (const by of ['GET', 'QUERY'] as const) {
      it(`LIM-6: by cursor, ${what}, by ${by}: pages end early when their bytes are used up, with each record once`, async () => {
        const paths = ['/v1/papers', ...(what === 'with deleted records' ? [] : [`/v1/shelves/${shelf}/papers`])]
        for (const path of paths) {
          const asked =
            by === 'GET' || query['include_deleted'] === undefined ? query : { ...query, include_deleted: true }
          const pages = await walk(path, asked, by)
          assert.ok(pages.length > 3, `${pages.length} pages`)
          const all = pages.flatMap(titles)
          assert.equal(new Set(all).size, 30)
          assert.equal(all.length, 30)
          // Back again: nothing is left out, and each page is within the bound.
          const back: string[] = [...titles(pages.at(-1) as Received)]
          let cursor = pages.at(-1)?.json.pagination.previous_cursor
          while (cursor !== null) {
            const body = { ...asked, cursor }
            const address = `${path}?${new URLSearchParams(body as Record<string, string>)}`
            const page = await current.send(by === 'GET' ? { path: address } : { method: 'QUERY', path, body })
            assert.ok(bytesOf(page) <= bound || page.json.data.length === 1)
            back.unshift(...titles(page))
            cursor = page.json.pagination.previous_cursor
          }
          assert.deepEqual(back, all)
        }
      })
    }
  }

  it('LIM-6: by cursor: a page has as many records as the limit allows', async () => {
    const pages = await walk('/v1/papers', { limit: 30 })
    for (const [index, page] of pages.slice(0, -1).entries()) {
      const [next] = (pages[index + 1] as Received).json.data
      assert.ok(bytesOf(page) + Buffer.byteLength(JSON.stringify(next)) + 2 > bound)
    }
  })

  for (const [style, query, parameter] of [
    ['number', (size: number) => `page=1&per_page=${size}`, 'per_page'],
    ['offset', (size: number) => `offset=3&limit=${size}`, 'limit'],
    ['offset among unset values', (size: number) => `sort=rank&offset=14&limit=${size}`, 'limit'],
  ] as const) {
    it(`LIM-6: by ${style}: a page with too many bytes is refused, and the suggested size works`, async () => {
      for (const path of ['/v1/papers', `/v1/shelves/${shelf}/papers`]) {
        const refused = await current.send({ path: `${path}?${query(16)}` })
        assert.deepEqual([refused.status, refused.json.code], [400, 'PAGE_TOO_LARGE'], refused.text.slice(0, 300))
        assert.deepEqual(places(refused), [`PAGE_TOO_LARGE ${parameter}`])
        const fits = Number(/=(\d+)/.exec(refused.json.errors[0].message)?.[1])
        const answer = await current.send({ path: `${path}?${query(fits)}` })
        assert.equal(answer.status, 200)
        assert.equal(answer.json.data.length, fits)
        assert.ok(bytesOf(answer) <= bound || fits === 1)
      }
    })
  }

  it('LIM-6: by number: every record can be read with a page size of 1', async () => {
    const seen: string[] = []
    for (let page = 1; page <= 30; page++) {
      const answer = await current.send({ path: `/v1/papers?page=${page}&per_page=1` })
      assert.equal(answer.status, 200)
      seen.push(...titles(answer))
    }
    assert.equal(new Set(seen).size, 30)
  })

  it('LIM-6: only requested fields count', async () => {
    const answer = await current.send({ path: '/v1/papers?page=1&per_page=30&fields=title,rank' })
    assert.equal(answer.status, 200)
    assert.equal(answer.json.data.length, 30)
    const cursor = await current.send({ path: '/v1/papers?limit=30&fields=title,rank' })
    assert.deepEqual([cursor.json.data.length, cursor.json.pagination.next_cursor], [30, null])
  })

  it('LIM-6: HEAD has the same length, and the tag of a page that ended early works as a condition', async () => {
    const path = '/v1/papers?limit=30'
    const got = await current.send({ path })
    const head = await current.send({ method: 'HEAD', path })
    assert.equal(head.text, got.text)
    assert.equal(head.headers.etag, got.headers.etag)
    const again = await current.send({ path, headers: { 'if-none-match': String(got.headers.etag) } })
    assert.equal(again.status, 304)
    assert.match(String(got.headers.link), /rel="next"/)
    assert.equal((await current.send({ method: 'HEAD', path: '/v1/papers?page=1&per_page=30' })).status, 400)
  })
})

it('LIM-6: the default limit is 4 MiB, and a page of large records within it is complete', async (context) => {
  const { limits: _, ...usual } = papers
  const { make, send } = await trialFor(context, usual)
  for (let index = 0; index < 5; index++) await make('papers', { title: `${index}`, text: 'x'.repeat(1_000_000) })
  const four = await send({ path: '/v1/papers?page=1&per_page=4' })
  assert.deepEqual([four.status, four.json.data.length], [200, 4])
  const five = await send({ path: '/v1/papers?page=1&per_page=5' })
  assert.match(five.json.errors[0].message, /per_page=4/)
  const early = await send({ path: '/v1/papers?limit=100' })
  assert.equal(early.json.data.length, 4)
  assert.deepEqual(titles(early), ['0', '1', '2', '3'])
})
