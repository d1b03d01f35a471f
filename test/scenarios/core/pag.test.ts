/** PAG-1 to PAG-5, PAG-7: parameters and responses of pages. (`pag-walk.test.ts` reads all pages of a list.) */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { shop } from '../../declarations-shop.ts'
import { places, type Received, type Trial, trial, trialFor } from '../../harness.ts'

describe('page parameters', () => {
  let current: Trial
  before(async () => {
    current = await trial(shop, { memory: true })
    for (let number = 0; number < 10; number++) await current.make('goods', { rank: number, grade: 'a' })
  })
  after(() => current.close())
  const get = (query: string, as = 'root') => current.send({ path: `/v1/goods?${query}`, as })
  const ranks = (answer: Received) => answer.json.data.map((each: { rank: number }) => each.rank)

  it('PAG-1: a collection is always paginated, with the declared sizes', async () => {
    assert.deepEqual(ranks(await get('')), [0, 1, 2, 3])
    assert.deepEqual(ranks(await get('limit=7')), [0, 1, 2, 3, 4, 5, 6])
    assert.deepEqual((await get('page=2')).json.pagination, { total_count: 10, page: 2, per_page: 4, total_pages: 3 })
    assert.deepEqual((await get('offset=9')).json.pagination, { total_count: 10, offset: 9, limit: 4 })
  })

  for (const [query, errors] of [
    ['limit=8', ['INVALID_PAGE limit']],
    ['limit=0', ['INVALID_PAGE limit']],
    ['limit=-1', ['INVALID_PAGE limit']],
    ['limit=1.5', ['INVALID_PAGE limit']],
    ['limit=1e1', ['INVALID_PAGE limit']],
    ['limit=', ['INVALID_PAGE limit']],
    ['limit=%D9%A3', ['INVALID_PAGE limit']],
    ['limit=99999999999999999999', ['INVALID_PAGE limit']],
    ['per_page=8', ['INVALID_PAGE per_page']],
    ['page=0', ['INVALID_PAGE page']],
    ['page=9007199254740991', ['INVALID_PAGE page']],
    ['offset=-1', ['INVALID_PAGE offset']],
    ['offset=9007199254740992', ['INVALID_PAGE offset']],
    ['page=1&limit=2', ['INVALID_PAGE limit']],
    ['page=1&offset=2', ['INVALID_PAGE offset']],
    ['offset=1&cursor=x', ['INVALID_PAGE cursor']],
    ['per_page=1&cursor=x', ['INVALID_PAGE cursor']],
    ['offset=1&per_page=1', ['INVALID_PAGE offset']],
    ['page=x&per_page=y&limit=3', ['INVALID_PAGE limit', 'INVALID_PAGE per_page', 'INVALID_PAGE page']],
  ] as const) {
    it(`PAG-2: ?${query} is refused`, async () => {
      const answer = await get(query)
      assert.deepEqual([answer.status, answer.json.code, places(answer)], [400, 'INVALID_QUERY', errors])
    })
  }

  it('PAG-3: the envelope has data and pagination, with the members of its style', async () => {
    const shapes: Record<string, string[]> = {
      'page=1': ['page', 'per_page', 'total_count', 'total_pages'],
      'offset=0': ['limit', 'offset', 'total_count'],
      '': ['limit', 'next_cursor', 'previous_cursor', 'total_count'],
    }
    for (const [query, members] of Object.entries(shapes)) {
      const { json } = await get(query)
      assert.deepEqual(Object.keys(json), ['data', 'pagination'])
      assert.deepEqual(Object.keys(json.pagination).sort(), members)
    }
  })

  const linksOf = (answer: Received) =>
    Object.fromEntries(
      [...(answer.headers['link'] ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g)].map(([, target, rel]) => [
        rel,
        target as string,
      ]),
    )

  it('PAG-7: links lead to the pages that they name, with the query unchanged', async () => {
    const walk = async (query: string, rel: string) => {
      const shown: number[] = []
      let answer = await get(query)
      for (;;) {
        shown.push(...ranks(answer))
        const target = linksOf(answer)[rel]
        if (target === undefined) return shown
        answer = await current.send({ path: target })
        assert.equal(answer.status, 200)
      }
    }
    const downward = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    for (const query of ['sort=-rank&limit=3', 'sort=-rank&page=1&per_page=3', 'sort=-rank&offset=0&limit=3']) {
      assert.deepEqual(await walk(query, 'next'), downward, query)
      const first = linksOf(await get(query))['first'] ?? ''
      assert.deepEqual(ranks(await current.send({ path: first })), [9, 8, 7])
    }
    for (const query of ['sort=-rank&page=1&per_page=3', 'sort=-rank&offset=0&limit=3']) {
      const last = await current.send({ path: linksOf(await get(query))['last'] ?? '' })
      assert.deepEqual(ranks(last), [0])
      assert.deepEqual(Object.keys(linksOf(last)).sort(), ['first', 'last', 'prev'])
    }
    const filtered = await get('grade=a&name[null]=true&limit=3&fields=rank&sort=rank')
    const next = await current.send({ path: linksOf(filtered)['next'] ?? '' })
    assert.deepEqual(ranks(next), [3, 4, 5])
    assert.deepEqual(Object.keys(next.json.data[0]).sort(), ['id', 'rank'])
  })

  it('PAG-7: a page past the end is 200 and empty, and links back', async () => {
    for (const query of [
      'page=99&per_page=3',
      'offset=1000&limit=3',
      'offset=9007199254740991',
      'page=2&per_page=7&size=5',
    ]) {
      const answer = await get(query)
      assert.deepEqual([answer.status, answer.json.data], [200, []], answer.text)
      const links = linksOf(answer)
      assert.equal(links['next'], undefined)
      assert.equal((await current.send({ path: links['prev'] ?? '' })).status, 200)
    }
    assert.deepEqual(ranks(await current.send({ path: linksOf(await get('page=99&per_page=3'))['prev'] ?? '' })), [9])
    assert.deepEqual(
      ranks(await current.send({ path: linksOf(await get('offset=1000&limit=3'))['prev'] ?? '' })),
      [7, 8, 9],
    )
  })

  it('PAG-5: a cursor belongs to its sort, filters and search; limit and fields may change', async () => {
    const cursor = (await get('sort=-rank&grade=a&size[null]=true&limit=3')).json.pagination.next_cursor
    const use = async (query: string, as?: string) => (await get(`${query}&cursor=${cursor}`, as)).status
    assert.equal(await use('sort=-rank&grade=a&size[null]=true&limit=7'), 200)
    assert.equal(await use('fields=rank&limit=1&sort=-rank&grade=a&size[null]=true'), 200)
    assert.equal(await use('size[null]=true&sort=-rank&grade=a'), 200, 'filters in another order')
    for (const other of [
      ...[
        '',
        'sort=-rank',
        'sort=rank&grade=a&size[null]=true',
        'sort=-rank&grade=b&size[null]=true',
        'grade=a&size[null]=true',
      ],
      ...[
        'sort=-rank&grade=a&size[null]=true&q=a',
        'sort=-rank,name&grade=a&size[null]=true',
        'sort=-rank&grade=a&size[null]=false',
      ],
      'sort=-rank&grade=a&size[null]=true&include_deleted=true',
    ]) {
      assert.equal(await use(other), 400, other)
    }
  })

  it('PAG-5: forged, shortened, extended or foreign cursors are refused', async () => {
    const cursor: string = (await get('limit=3')).json.pagination.next_cursor
    const refused = async (text: string, path = '/v1/goods') => {
      const answer = await current.send({ path: `${path}?limit=3&cursor=${encodeURIComponent(text)}` })
      assert.equal(answer.status, 400, `${text} ${answer.text}`)
      assert.equal(answer.json.code, 'INVALID_CURSOR')
      assert.deepEqual(places(answer), ['INVALID_CURSOR cursor'])
    }
    for (let at = 0; at < cursor.length; at++) {
      await refused(cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1))
      await refused(cursor.slice(0, at))
    }
    const [{ id }] = (await get('limit=1')).json.data
    const shelf = await current.make('shelves', { name: 'x' })
    for (const forged of [`${cursor}A`, `${cursor}=`, ` ${cursor}`, '', 'null', '🚀', cursor + cursor, id])
      await refused(forged)
    await refused(Buffer.from(JSON.stringify([0, id])).toString('base64url'))
    await refused(Buffer.concat([Buffer.alloc(16), Buffer.from(JSON.stringify([0, id]))]).toString('base64url'))
    await refused(cursor, '/v1/shelves')
    await refused(cursor, `/v1/shelves/${shelf.id}/goods`)
    const elsewhere = await trial(shop, { memory: true })
    assert.equal((await elsewhere.send({ path: `/v1/goods?limit=3&cursor=${cursor}` })).status, 400)
    await elsewhere.close()
  })
})

it('PAG-5: a cursor grants no access to another caller', async (t) => {
  const current = await trialFor(t, shop, { memory: true })
  for (let rank = 0; rank < 9; rank++) await current.make('goods', { rank }, rank % 3 === 0 ? 'ann' : 'bob')
  const list = (query: string, as: string) => current.send({ path: `/v1/goods?sort=rank&limit=2${query}`, as })
  const { next_cursor } = (await list('', 'bob')).json.pagination
  const answer = await list(`&cursor=${next_cursor}`, 'ann')
  assert.equal(answer.status, 200)
  assert.deepEqual(
    answer.json.data.map((each: { rank: number }) => each.rank),
    [3, 6],
  )
  assert.equal(answer.json.pagination.total_count, 3)
  const nothing = await list(`&cursor=${next_cursor}`, 'eve')
  assert.deepEqual([nothing.json.data, nothing.json.pagination.total_count], [[], 0])
  assert.equal((await list(`&cursor=${next_cursor}`, 'nobody')).status, 401)
})

it('PAG-4: totals of two similar collections are kept separately', async (t) => {
  const fields = { kind: Type.Enum(['a', 'b']) }
  const twins = defineInterface({ name: 'twins', resources: { lefts: { fields }, rights: { fields } } })
  const current = await trialFor(t, twins, { memory: true })
  for (const kind of ['a', 'a']) await current.make('lefts', { kind })
  for (const kind of ['a', 'b']) await current.make('rights', { kind })
  const total = async (collection: string) =>
    (await current.send({ path: `/v1/${collection}?kind=a` })).json.pagination.total_count
  assert.deepEqual([await total('lefts'), await total('rights')], [2, 1])
})
