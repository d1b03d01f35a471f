/** REL-5: the limits of related records. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { places, type Received, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const most = 12
const bytes = 65_536

const archive = defineInterface({
  name: 'archive',
  limits: { pageBytes: bytes, include: { paths: 3, records: most } },
  resources: {
    boxes: {
      fields: { name: Type.String({ sort: true }), rank: Type.Optional(Type.Integer({ sort: true })) },
      access: { read: 'anyone' },
    },
    papers: {
      fields: {
        title: Type.String({ sort: true }),
        text: Type.Optional(Type.String()),
        box_id: reference('boxes'),
        copy_id: Type.Optional({ ...reference('papers', { onDelete: 'clear' }), as: 'original', inverse: 'copies' }),
      },
      within: 'box_id',
      access: { read: 'anyone' },
    },
  },
})

// biome-ignore lint/suspicious/noExplicitAny: records of every collection
type Json = any

/** Boxes with so many papers each. */
async function fill({ make }: Trial, counts: readonly number[], text?: string): Promise<Json[]> {
  const boxes: Json[] = []
  for (const [index, count] of counts.entries()) {
    const box = await make('boxes', { name: `b${index}`, rank: index % 3 === 0 ? null : index % 3 })
    boxes.push(box)
    for (let number = 0; number < count; number++) await make('papers', { title: `p${number}`, text, box_id: box.id })
  }
  return boxes
}

const countOf = ({ json }: Received): number =>
  Object.values<object>(json.included).reduce((sum, each) => sum + Object.keys(each).length, 0)

function bytesOf({ json }: Received): number {
  const records: unknown[] = [
    ...json.data,
    ...Object.values<object>(json.included).flatMap((each) => Object.values(each)),
  ]
  return records.reduce((sum: number, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0)
}

describe('limits of related records', () => {
  /** Walks forward to the end, then back to the beginning. */
  async function walk(
    { send }: Trial,
    query: string,
  ): Promise<{ forward: Json[]; backward: Json[]; pages: Received[] }> {
    const pages: Received[] = []
    const go = async (member: 'next_cursor' | 'previous_cursor', from: string | undefined) => {
      const records: Json[][] = []
      for (let cursor: string | null | undefined = from; cursor !== null; ) {
        const page = await send({
          path: `/v1/boxes?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
          as: 'ann',
        })
        assert.equal(page.status, 200, page.text.slice(0, 500))
        assert.ok(page.json.data.length > 0)
        pages.push(page)
        records.push(page.json.data)
        cursor = page.json.pagination[member]
      }
      return records
    }
    const forward = await go('next_cursor', undefined)
    const last = pages.at(-1)?.json.pagination.previous_cursor
    const backward = last === null ? [] : await go('previous_cursor', last)
    return { forward: forward.flat(), backward: [...backward.toReversed(), forward.at(-1) as Json[]].flat(), pages }
  }

  for (const sort of ['', '&sort=-rank', '&sort=rank,-name'])
    it(`REL-5: a page by cursor ends before the record that would pass the number of records${sort}`, async (context) => {
      const current = await trialFor(context, archive)
      const boxes = await fill(current, [5, 5, 5, 0, 12, 0, 3, 9, 1])
      const { forward, backward, pages } = await walk(current, `limit=9&include=papers${sort}`)
      const plain = (await current.send({ path: `/v1/boxes?limit=9${sort}` })).json.data
      assert.deepEqual(forward, plain)
      assert.deepEqual(backward, plain)
      for (const page of pages) {
        assert.ok(countOf(page) <= most, `${countOf(page)} records`)
        assert.equal(page.json.pagination.total_count, boxes.length)
        assert.equal(page.json.pagination.limit, 9)
        assert.deepEqual(Object.keys(page.json.related.papers).sort(), page.json.data.map(({ id }: Json) => id).sort())
      }
      assert.ok(pages.length > 2)
    })

  it('REL-5: a page by cursor ends before the record that would pass the bytes of a page', async (context) => {
    const current = await trialFor(context, archive)
    await fill(current, [1, 2, 0, 3, 1, 1], '\u0001'.repeat(3_000))
    const { forward, backward, pages } = await walk(current, 'limit=6&include=papers')
    assert.deepEqual([forward.length, backward.length], [6, 6])
    for (const page of pages) assert.ok(bytesOf(page) <= bytes, `${bytesOf(page)} bytes`)
    assert.ok(pages.length > 2)
  })

  it('REL-5: pages by number and offset are refused, with the number that fits', async (context) => {
    const current = await trialFor(context, archive)
    await fill(current, [1, 5, 1, 6, 6, 2])
    for (const [query, parameter] of [
      ['page=1&per_page=6', 'per_page'],
      ['offset=0&limit=6', 'limit'],
    ] as const) {
      const path = `/v1/boxes?include=papers&${query}`
      const refused = await current.send({ path })
      assert.deepEqual([refused.status, refused.json.code], [400, 'INCLUDE_TOO_LARGE'])
      assert.deepEqual(places(refused), [`INCLUDE_TOO_LARGE ${parameter}`])
      const fits = /=(\d+)\./.exec(refused.json.errors[0].message)?.[1]
      const lowered = await current.send({ path: path.replace(`${parameter}=6`, `${parameter}=${fits}`) })
      assert.equal(lowered.status, 200, lowered.text)
      const next = lowered.headers['link']?.match(/<([^>]*)>; rel="next"/)?.[1]
      if (parameter === 'per_page') assert.equal((await current.send({ path: String(next) })).status, 200)
    }
  })

  it('REL-5: a single record is refused, with the limits of paths that fit', async (context) => {
    const current = await trialFor(context, archive)
    const { make, send } = current
    const [box] = await fill(current, [4])
    const originals: Json[] = (await send({ path: '/v1/papers' })).json.data
    for (const [index, { id }] of originals.entries()) {
      for (let copy = 0; copy < 4; copy++)
        await make('papers', { title: `${index}${copy}`, box_id: box.id, copy_id: id })
    }
    for (const paths of ['papers', 'papers.copies', 'papers.original', 'papers.copies,papers.original']) {
      const path = `/v1/boxes/${box.id}?include=${paths}`
      let answer = await send({ path })
      let query = ''
      if (answer.status !== 200) {
        assert.equal(answer.json.code, 'INCLUDE_TOO_LARGE', answer.text)
        for (const { parameter, message } of answer.json.errors)
          query += `&${parameter}=${/=(\d+)\./.exec(message)?.[1]}`
        answer = await send({ path: `${path}${query}` })
      }
      assert.equal(answer.status, 200, `${paths} ${query} ${answer.text}`)
      assert.ok(countOf(answer) <= most && countOf(answer) > 0, `${paths} ${query}`)
    }
    const first = await send({ path: '/v1/boxes?include=papers' })
    assert.deepEqual([first.status, places(first)], [400, ['INCLUDE_TOO_LARGE include[papers][limit]']])
  })

  it('REL-5: what no limit can lower is answered', async (context) => {
    const current = await trialFor(context, archive)
    const { make, send } = current
    const box = await make('boxes', { name: 'b' })
    const text = 'x'.repeat(60_000)
    const original = await make('papers', { title: 'o', text, box_id: box.id })
    const copy = await make('papers', { title: 'c', text, box_id: box.id, copy_id: original.id })
    const answer = await send({ path: `/v1/papers/${copy.id}?include=original` })
    assert.deepEqual([answer.status, answer.json.included.papers[original.id]], [200, original])
    const refused = await send({ path: `/v1/boxes/${box.id}?include=papers` })
    assert.deepEqual(places(refused), ['INCLUDE_TOO_LARGE include[papers][limit]'])
    const list = await send({ path: '/v1/papers?include=original' })
    assert.deepEqual([list.status, list.json.data.length], [200, 1])
    assert.ok(list.json.pagination.next_cursor)
  })

  it('REL-1: the most paths, as declared', async (context) => {
    const { send } = await trialFor(context, archive)
    const { json } = await send({ path: '/v1/papers?include=box,original,copies,copies.box' })
    assert.deepEqual([json.code, json.errors[0].code], ['INVALID_QUERY', 'TOO_MANY_ITEMS'])
    assert.equal((await send({ path: '/v1/papers?include=box,original,copies' })).status, 200)
  })

  it('REL-3, LIM-5: a condition leaves room for the filter of the address of further records', async (context) => {
    const { send, make } = await trialFor(context, archive)
    const box = await make('boxes', { name: 'b' })
    const paper = await make('papers', { title: 'p', box_id: box.id })
    const ask = (comparisons: number) => {
      const and = Array.from({ length: comparisons }, () => ({ created_at: { gte: '2020-01-01T00:00:00Z' } }))
      const where = encodeURIComponent(JSON.stringify({ and }))
      return send({
        path: `/v1/papers/${paper.id}?include=copies&include[copies][limit]=1&include[copies][where]=${where}`,
      })
    }
    // Whether or not there are further records.
    for (let copies = 0; copies < 3; copies++) {
      const refused = await ask(50)
      assert.deepEqual([refused.status, places(refused)], [400, ['TOO_MANY_ITEMS include[copies][where]']])
      const { status, json } = await ask(49)
      assert.equal(status, 200)
      const { next, total_count } = json.related.copies[paper.id]
      assert.equal(total_count, copies)
      assert.equal(next !== null, copies > 1)
      if (next !== null) assert.equal((await send({ path: next })).status, 200)
      await make('papers', { title: 'c', box_id: box.id, copy_id: paper.id })
    }
  })

  it('REL-5: ids and the addresses of further records count too', async (context) => {
    const current = await trialFor(context, archive)
    await fill(current, Array(30).fill(1))
    const condition = { not: { id: { in: Array(75).fill(nowhere) } } }
    const body = { include: 'papers', 'include[papers][limit]': 0, 'include[papers][where]': condition, limit: 30 }
    const { json, text } = await current.send({ method: 'QUERY', path: '/v1/boxes', body })
    assert.ok(text.length <= bytes && json.data.length > 10, `${text.length} bytes, ${json.data.length} records`)
    assert.ok(json.pagination.next_cursor)
  })
})
