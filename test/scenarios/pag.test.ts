/** Pages against a model: an array, sorted and cut in JavaScript (PAG-1 to PAG-7). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { defineInterface, reference } from '../../src/model/declaration.ts'
import { instantKey } from '../../src/model/instant.ts'
import { compareText } from '../../src/model/text.ts'
import { places, type Received, type Trial, trial, trialFor } from '../harness.ts'

const shop = defineInterface({
  name: 'shop',
  limits: { pageSize: { default: 4, max: 7 } },
  resources: {
    shelves: { fields: { name: Type.String() }, access: { read: 'anyone' } },
    goods: {
      fields: {
        name: Type.Optional(Type.String({ filter: true, sort: true, search: true })),
        grade: Type.Optional(Type.Enum(['a', 'b', 'c'], { sort: true })),
        size: Type.Optional(Type.Integer({ filter: true, sort: true })),
        weight: Type.Optional(Type.Number({ sort: true })),
        fresh: Type.Optional(Type.Boolean({ sort: true })),
        due: Type.Optional(Type.String({ format: 'date-time', sort: true })),
        rank: Type.Integer({ sort: true, default: 0 }),
        shelf_id: Type.Optional(reference('shelves', { sort: true })),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      within: 'shelf_id',
      access: { read: ['role:admin', 'owner', { where: { grade: 'a' } }], create: 'anyone' },
    },
  },
})

type Good = Readonly<Record<string, unknown>> & { readonly id: string }
interface Term {
  readonly field: string
  readonly descending: boolean
}

/** The order of the interface: null after every value ascending, texts by code point, the id at the end. */
function inOrder(goods: readonly Good[], terms: readonly Term[]): Good[] {
  const all = [...terms, { field: 'id', descending: terms.at(-1)?.descending ?? false }]
  const key = (good: Good, field: string) => (field === 'due' ? (instantKey(String(good[field])) ?? null) : good[field])
  const compare = (left: unknown, right: unknown) => {
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return typeof left === 'string' ? compareText(left, String(right)) : Number(left) - Number(right)
  }
  return goods.toSorted((left, right) => {
    for (const { field, descending } of all) {
      const order = compare(key(left, field), key(right, field))
      if (order !== 0) return descending ? -order : order
    }
    return 0
  })
}

const few = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { freq: 4 })
const good = fc.record({
  name: few('', 'a', 'A', 'ä', '\uffff', '\u{10000}', 'a b'),
  grade: few('a', 'b', 'c'),
  size: few(-1, 0, 1, 9_007_199_254_740_991, -9_007_199_254_740_991),
  weight: fc.option(
    fc.oneof(
      fc.constantFrom(0, 0.1, 0.1 + 0.2, 1e300, -5e-324),
      fc.double({ min: -(2 ** 53), max: 2 ** 53, minExcluded: true, maxExcluded: true, noNaN: true }),
    ),
  ),
  fresh: few(true, false),
  due: few('2026-01-01T00:00:00Z', '2026-01-01T01:00:00.0+01:00', '2026-01-01T00:00:00.5Z', '2025-12-31T23:59:59Z'),
  rank: fc.integer({ min: 0, max: 2 }),
  shelf: fc.nat({ max: 2 }),
  by: fc.constantFrom('ann', 'bob', 'root'),
})
const sortable = ['name', 'grade', 'size', 'weight', 'fresh', 'due', 'rank', 'shelf_id', 'created_at', 'updated_at']
const order = fc
  .uniqueArray(fc.constantFrom(...sortable), { maxLength: 3 })
  .chain((names) =>
    fc.tuple(...names.map((field) => fc.record({ field: fc.constant(field), descending: fc.boolean() }))),
  )
const asked = fc.record({
  terms: order as fc.Arbitrary<Term[]>,
  filter: fc.constantFrom(
    '',
    'grade=a',
    'grade=a&grade=b',
    'size[gte]=0',
    'name[not]=a',
    'fresh[null]=true',
    'q=a',
    'size[lt]=-5',
  ),
  as: fc.constantFrom('root', 'ann', 'eve'),
  nested: fc.boolean(),
  limit: fc.integer({ min: 1, max: 7 }),
})

const filters: Readonly<Record<string, (each: Good) => boolean>> = {
  '': () => true,
  'grade=a': (each) => each['grade'] === 'a',
  'grade=a&grade=b': (each) => each['grade'] === 'a' || each['grade'] === 'b',
  'size[gte]=0': (each) => each['size'] !== null && Number(each['size']) >= 0,
  'name[not]=a': (each) => each['name'] !== 'a',
  'fresh[null]=true': (each) => each['fresh'] === null,
  'q=a': (each) => /^(a|A|ä|a b)$/.test(String(each['name'])),
  'size[lt]=-5': (each) => each['size'] !== null && Number(each['size']) < -5,
}
const sees = (as: string, each: Good) => as === 'root' || each['owner_id'] === as || each['grade'] === 'a'

type Made = typeof good extends fc.Arbitrary<infer T> ? T : never
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

describe('pages', () => {
  let current: Trial
  let shelves: string[]
  let goods: Map<string, Good>

  before(async () => {
    current = await trial(shop, { memory: true })
    shelves = []
    for (const name of ['x', 'y']) shelves.push((await current.make('shelves', { name })).id)
    goods = new Map()
    for (const each of fc.sample(good, 45)) await make(each)
  })
  after(() => current.close())

  async function make({ shelf, by, ...values }: Made): Promise<Good> {
    const made = await current.make('goods', { ...values, shelf_id: shelves[shelf] ?? null }, by)
    goods.set(made.id, made)
    return made
  }

  async function remove(id: string): Promise<void> {
    assert.equal((await current.send({ method: 'DELETE', path: `/v1/goods/${id}` })).status, 204)
    goods.delete(id)
  }

  /** What the model says: every record of the list, in order. */
  function listed({ terms, filter, as, nested }: Asked): Good[] {
    const held = [...goods.values()].filter((each) => filters[filter]?.(each) && sees(as, each))
    return inOrder(nested ? held.filter((each) => each['shelf_id'] === shelves[0]) : held, terms)
  }

  async function page(of: Asked, style: string): Promise<Received> {
    const base = of.nested ? `/v1/shelves/${shelves[0]}/goods` : '/v1/goods'
    const sort = of.terms.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join()
    const query = [of.filter, sort && `sort=${sort}`, style].filter((part) => part !== '').join('&')
    const answer = await current.send({ path: `${base}?${query}`, as: of.as })
    assert.equal(answer.status, 200, `${query} ${answer.text}`)
    assert.equal(answer.headers['x-total-count'], String(answer.json.pagination.total_count))
    return answer
  }
  const cursorPage = (of: Asked, cursor?: string | null) =>
    page(of, `limit=${of.limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`)
  const ids = (answer: Received): string[] => answer.json.data.map((each: Good) => each.id)
  const idsOf = (records: readonly Good[]) => records.map((each) => each.id)

  it('PAG-4: offsets and pages cut the same list as the model, with the exact total', async () => {
    const property = fc.asyncProperty(asked, fc.nat({ max: 50 }), async (of, start) => {
      const expected = listed(of)
      const total_count = expected.length
      const byOffset = await page(of, `offset=${start}&limit=${of.limit}`)
      assert.deepEqual(ids(byOffset), idsOf(expected.slice(start, start + of.limit)))
      assert.deepEqual(byOffset.json.pagination, { total_count, offset: start, limit: of.limit })
      const number = (start % 9) + 1
      const byPage = await page(of, `page=${number}&per_page=${of.limit}`)
      assert.deepEqual(ids(byPage), idsOf(expected.slice((number - 1) * of.limit, number * of.limit)))
      const total_pages = Math.ceil(total_count / of.limit)
      assert.deepEqual(byPage.json.pagination, { total_count, page: number, per_page: of.limit, total_pages })
    })
    await fc.assert(property, { numRuns: 300 })
  })

  it('PAG-6: a walk to the end and back shows the pages of the model, each with the cursors that belong to it', async () => {
    const property = fc.asyncProperty(asked, async (of) => {
      const expected = idsOf(listed(of))
      const pages: string[][] = []
      for (let at = 0; at < expected.length || at === 0; at += of.limit) pages.push(expected.slice(at, at + of.limit))
      let answer = await cursorPage(of)
      for (const [index, content] of pages.entries()) {
        const { next_cursor, previous_cursor, ...rest } = answer.json.pagination
        assert.deepEqual(ids(answer), content)
        assert.deepEqual(rest, { total_count: expected.length, limit: of.limit })
        assert.equal(previous_cursor === null, index === 0, 'previous_cursor')
        assert.equal(next_cursor === null, index === pages.length - 1, 'next_cursor')
        if (next_cursor !== null) answer = await cursorPage(of, next_cursor)
      }
      for (const [index, content] of [...pages.entries()].reverse()) {
        const { next_cursor, previous_cursor } = answer.json.pagination
        assert.deepEqual(ids(answer), content)
        assert.equal(previous_cursor === null, index === 0, 'previous_cursor on the way back')
        assert.equal(next_cursor === null, index === pages.length - 1, 'next_cursor on the way back')
        if (previous_cursor !== null) answer = await cursorPage(of, previous_cursor)
      }
    })
    await fc.assert(property, { numRuns: 250 })
  })

  it('PAG-6: whatever comes and goes meanwhile, a walk shows what was there throughout exactly once', async () => {
    const change = fc.oneof(
      good.map((added) => ({ added, removed: undefined })),
      fc.nat().map((removed) => ({ added: undefined, removed })),
    )
    const changes = fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 30 })
    const property = fc.asyncProperty(asked, changes, fc.boolean(), async (of, rounds, backward) => {
      const throughout = new Set(idsOf(listed(of)))
      const seen: string[] = []
      let answer = await cursorPage(of)
      if (backward) {
        // To the end first: the walk to be judged is the one back.
        while (answer.json.pagination.next_cursor !== null)
          answer = await cursorPage(of, answer.json.pagination.next_cursor)
      }
      for (let round = 0; ; round++) {
        seen.push(...(backward ? ids(answer).reverse() : ids(answer)))
        for (const { added, removed } of rounds[round % rounds.length] ?? []) {
          if (added !== undefined && goods.size < 60) await make(added)
          const victim = removed === undefined ? undefined : [...goods.keys()][removed % goods.size]
          if (victim !== undefined && goods.size > 30) {
            await remove(victim)
            throughout.delete(victim)
          }
        }
        const { next_cursor, previous_cursor } = answer.json.pagination
        // What lay at the end when its page was read may lie before it now: what matters is what the page said.
        const cursor = backward ? previous_cursor : next_cursor
        if (cursor === null) break
        answer = await cursorPage(of, cursor)
      }
      assert.equal(new Set(seen).size, seen.length, 'nothing twice')
      for (const id of throughout) assert.ok(seen.includes(id), `${id} is missing`)
      const expected = idsOf(listed(of)).filter((id) => throughout.has(id))
      const walked = seen.filter((id) => throughout.has(id))
      assert.deepEqual(backward ? walked.reverse() : walked, expected, 'in order')
    })
    await fc.assert(property, { numRuns: 150 })
  })

  it('PAG-6: a page whose records all went still leads on and back', async () => {
    const of: Asked = { terms: [{ field: 'rank', descending: true }], filter: '', as: 'root', nested: false, limit: 3 }
    const first = await cursorPage(of)
    const second = await cursorPage(of, first.json.pagination.next_cursor)
    for (const id of ids(second)) await remove(id)
    const again = await cursorPage(of, first.json.pagination.next_cursor)
    assert.deepEqual(ids(again), idsOf(listed(of)).slice(3, 6))
    assert.deepEqual(ids(await cursorPage(of, second.json.pagination.previous_cursor)), ids(first))
    for (const id of [...goods.keys()]) if (!ids(first).includes(id)) await remove(id)
    const past = await cursorPage(of, second.json.pagination.next_cursor)
    assert.deepEqual([ids(past), past.json.pagination.next_cursor], [[], null])
    assert.deepEqual(ids(await cursorPage(of, past.json.pagination.previous_cursor)), ids(first))
    for (const id of [...goods.keys()]) await remove(id)
    const empty = await cursorPage(of, second.json.pagination.next_cursor)
    assert.deepEqual(empty.json, {
      data: [],
      pagination: { total_count: 0, limit: 3, next_cursor: null, previous_cursor: null },
    })
  })
})

describe('page parameters', () => {
  let current: Trial
  before(async () => {
    current = await trial(shop, { memory: true })
    for (let number = 0; number < 10; number++) await current.make('goods', { rank: number, grade: 'a' })
  })
  after(() => current.close())
  const get = (query: string, as = 'root') => current.send({ path: `/v1/goods?${query}`, as })
  const ranks = (answer: Received) => answer.json.data.map((each: { rank: number }) => each.rank)

  it('PAG-1: a collection is always paginated, by the declared sizes', async () => {
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

  it('PAG-7: links lead to the pages that they name, with the query as it was', async () => {
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

  it('PAG-7: a page past the end is 200 and empty, and leads back', async () => {
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

  it('PAG-5: a cursor goes with its sort, filters and search; its limit and fields may change', async () => {
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

  it('PAG-5: forged, cut, lengthened or foreign cursors are refused', async () => {
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

it('PAG-5: a cursor grants nothing to another caller', async (t) => {
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

it('PAG-4: totals of two collections that look alike are kept apart', async (t) => {
  const fields = { kind: Type.Enum(['a', 'b']) }
  const twins = defineInterface({ name: 'twins', resources: { lefts: { fields }, rights: { fields } } })
  const current = await trialFor(t, twins, { memory: true })
  for (const kind of ['a', 'a']) await current.make('lefts', { kind })
  for (const kind of ['a', 'b']) await current.make('rights', { kind })
  const total = async (collection: string) =>
    (await current.send({ path: `/v1/${collection}?kind=a` })).json.pagination.total_count
  assert.deepEqual([await total('lefts'), await total('rights')], [2, 1])
})
