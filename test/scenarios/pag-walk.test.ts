/** PAG-1 to PAG-7: pages compared with a model, which is an array that JavaScript sorts and slices. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { compareText } from 'resourced-contract/model/text'
import { instantKey } from 'resourced-contract/model/time'
import { shop } from '../declarations-shop.ts'
import { type Received, type Trial, trial } from '../harness.ts'

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

  it('PAG-4: offsets and page numbers return the slices of the model, with the exact total', async () => {
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

  it('PAG-6: cursors forward and back return the pages of the model, each with its own cursors', async () => {
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

  it('PAG-6: while records are created and deleted, pagination by cursor returns every lasting record exactly once', async () => {
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
          // A walk towards ever newer records would never end.
          if (added !== undefined && goods.size < 60 && round < 60) await make(added)
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

  it('PAG-6: a page whose records were all deleted still has cursors forward and back', async () => {
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
