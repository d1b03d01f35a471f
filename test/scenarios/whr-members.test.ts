/** WHR-4: arrays of scalars, and members of objects, as filters and in conditions. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { market } from '../declarations-market.ts'
import { places, type Received, type Sent, type Trial, trial, trialFor } from '../harness.ts'

const long = `long ${'ü'.repeat(4_000)}`
const goods = [
  { title: 'Alpha', labels: ['red', 'blue', 'open'], sizes: [1, 2.5], flags: [true], kinds: ['new'], attributes: { size: 3, ok: true, color: { name: 'Dark Red', shade: 1 }, made_at: '2026-01-01T00:30:00+01:00' } },
  { title: 'Beta', labels: ['red', 'a,b', 'open'], sizes: [0.1 + 0.2, 1e21], flags: [true, false], attributes: { size: 5, ok: false, color: { name: 'blue', shade: 2 } } },
  { title: 'Gamma', labels: [], sizes: [-0], attributes: { size: -7, color: { shade: 3 } } },
  { title: 'Delta', labels: [long, 'RED', '3', 'true'], sizes: [3], attributes: {} },
  { title: 'Epsilon' },
] // biome-ignore format: a record a line

const titlesOf = (answer: Received): string[] => {
  assert.equal(answer.status, 200, answer.text)
  const { data, pagination } = answer.json
  if (pagination.next_cursor === null) assert.equal(pagination.total_count, data.length, answer.text)
  return data.map(({ title }: { title: string }) => title[0])
}

describe('filters by arrays and members', () => {
  let current: Trial
  before(async () => {
    current = await trial(market, { memory: true })
    for (const each of goods) await current.make('goods', each)
  })
  after(() => current.close())

  const table: readonly (readonly [query: string, found: string])[] = [
    ['labels[has]=red', 'AB'],
    ['labels[has]=RED', 'D'],
    ['labels[has]=re', ''],
    ['labels[has]=a,b', 'B'],
    ['labels[has]=blue&labels[has]=RED', 'AD'],
    ['labels[has_any]=blue,RED', 'AD'],
    ['labels[has_any]=blue&labels[has_any]=RED', 'AD'],
    ['labels[has_all]=blue,red', 'A'],
    ['labels[has_all]=blue,red,RED', ''],
    ['labels[has]=red&labels[has_any]=blue,x', 'A'],
    ['labels[has]=3', 'D'],
    ['labels[has]=true', 'D'],
    ['labels[has]=', ''],
    ['labels[null]=true', 'E'],
    ['labels[null]=false', 'ABGD'],
    ['sizes[has]=2.5', 'A'],
    ['sizes[has]=0.30000000000000004', 'B'],
    ['sizes[has]=0.3', ''],
    ['sizes[has]=1e21', 'B'],
    ['sizes[has]=0', 'G'],
    ['sizes[has_any]=1,3', 'AD'],
    ['flags[has]=false', 'B'],
    ['flags[has_all]=true,false', 'B'],
    ['kinds[has]=new', 'A'],
    ['attributes.size=3', 'A'],
    ['attributes.size[gte]=3', 'AB'],
    ['attributes.size[lt]=0', 'G'],
    ['attributes.size[in]=3,5', 'AB'],
    ['attributes.size[not]=3', 'BGDE'],
    ['attributes.size[null]=true', 'DE'],
    ['attributes.ok=false', 'B'],
    ['attributes.ok[null]=true', 'GDE'],
    ['attributes.color.name=blue', 'B'],
    ['attributes.color.name=Blue', ''],
    ['attributes.color.name[contains]=RED', 'A'],
    ['attributes.color.name[starts_with]=dark', 'A'],
    ['attributes.made_at=2025-12-31T23:30:00Z', 'A'],
    ['attributes.made_at=2025-12-31', 'A'],
    ['attributes.made_at=2026-01-01&timezone=Europe/Berlin', 'A'],
    ['attributes.size[gte]=3&labels[has]=red&sort=-title', 'BA'],
    ['attributes.size[gte]=-100&sort=-title', 'GBA'],
    ['labels[has]=red&q=be', 'B'],
    ['labels[has]=red&page=2&per_page=1', 'B'],
  ]
  for (const [query, found] of table) {
    it(`WHR-4: ${query.slice(0, 60)} finds ${found || 'nothing'}`, async () => {
      const answer = await current.send({ path: `/v2/goods?${query}` })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.json.data.map(({ title }: { title: string }) => title[0]).join(''), found)
      if (!query.includes('page=')) assert.equal(answer.json.pagination.total_count, found.length)
      const head = await current.send({ method: 'HEAD', path: `/v2/goods?${query}` })
      assert.equal(head.headers.etag, answer.headers.etag)
    })
  }

  const refused: readonly (readonly [query: string, place: string])[] = [
    ['labels=red', 'INVALID_OPERATOR labels'],
    ['labels[gt]=red', 'INVALID_OPERATOR labels[gt]'],
    ['labels[in]=red', 'INVALID_OPERATOR labels[in]'],
    ['sizes[has]=x', 'INVALID_VALUE sizes[has]'],
    ['kinds[has_any]=new,other', 'INVALID_VALUE kinds[has_any]'],
    ['title[has]=x', 'UNKNOWN_PARAMETER title[has]'],
    ['attributes=1', 'UNKNOWN_PARAMETER attributes'],
    ['attributes.color=1', 'UNKNOWN_PARAMETER attributes.color'],
    ['attributes.color.shade=1', 'UNKNOWN_PARAMETER attributes.color.shade'],
    ['attributes.size=1.5', 'INVALID_VALUE attributes.size'],
    ['attributes.size[has]=1', 'INVALID_OPERATOR attributes.size[has]'],
    ['attributes.ok[gt]=true', 'INVALID_OPERATOR attributes.ok[gt]'],
    ['attributes.made_at=x', 'INVALID_VALUE attributes.made_at'],
    ['labels[has]=%00', 'INVALID_TEXT labels[has]'],
  ]
  for (const [query, place] of refused) {
    it(`WHR-4: ${query} is refused`, async () => {
      const answer = await current.send({ path: `/v2/goods?${query}` })
      assert.deepEqual([answer.status, places(answer)], [400, [place]], answer.text)
    })
  }

  it('WHR-4: QUERY takes arrays of items, and items with commas', async () => {
    const ask = async (body: object) => current.send({ method: 'QUERY', path: '/v2/goods', body })
    assert.deepEqual(titlesOf(await ask({ 'labels[has_any]': ['a,b', 'blue'] })), ['A', 'B'])
    assert.deepEqual(titlesOf(await ask({ 'labels[has_all]': ['red', 'blue'] })), ['A'])
    assert.deepEqual(titlesOf(await ask({ 'sizes[has]': 2.5, 'attributes.size[gte]': 3 })), ['A'])
    assert.deepEqual(titlesOf(await ask({ 'attributes.size': null })), ['D', 'E'])
    assert.deepEqual(titlesOf(await ask({ 'labels[has]': long })), ['D'])
    assert.deepEqual(titlesOf(await ask({ 'labels[has]': `${long}!` })), [])
    assert.deepEqual(places(await ask({ 'labels[has_all]': ['a,b', 'red'] })), ['INVALID_VALUE /labels[has_all]'])
    assert.deepEqual(places(await ask({ 'labels[has_any]': ['a,b'], 'labels[has]': 'x' })), ['INVALID_VALUE /labels[has_any]']) // biome-ignore format: a line
    const many = Array.from({ length: 1_000 }, (_, number) => `label ${number}`)
    assert.deepEqual(titlesOf(await ask({ 'labels[has_any]': [...many.slice(1), 'blue'] })), ['A'])
    assert.equal((await ask({ 'labels[has_any]': [...many, 'blue'] })).status, 400)
  })

  it('WHR-4: an older version filters by its own names, and errors have them', async () => {
    const send = (query: string) => current.send({ path: `/v1/articles?${query}` })
    assert.deepEqual(titlesOf(await send('tags[has_all]=red,blue')), ['A'])
    assert.deepEqual(titlesOf(await send('props.color.name[contains]=red&props.size=3')), ['A'])
    assert.deepEqual(places(await send('labels[has]=red')), ['UNKNOWN_PARAMETER labels[has]'])
    assert.deepEqual(places(await send('attributes.size=3')), ['UNKNOWN_PARAMETER attributes.size'])
    const newer = await current.send({ path: '/v2/goods?labels[has_all]=red,blue' })
    assert.deepEqual(titlesOf(newer), ['A'])
  })

  it('WHR-4: where takes items and members, and refuses others', async () => {
    const ask = (where: object, address = '/v2/goods') =>
      current.send({ path: `${address}?where=${encodeURIComponent(JSON.stringify(where))}` })
    assert.deepEqual(titlesOf(await ask({ labels: { has: 'red' } })), ['A', 'B'])
    assert.deepEqual(titlesOf(await ask({ labels: { hasAll: ['a,b', 'red'] } })), ['B'])
    assert.deepEqual(titlesOf(await ask({ labels: { has: 'red', hasAny: ['blue', 'x'] } })), ['A'])
    assert.deepEqual(titlesOf(await ask({ not: { labels: { has: 'red' } } })), ['G', 'D'])
    assert.deepEqual(titlesOf(await ask({ attributes: { size: { gte: 3 }, color: { name: { contains: 'red' } } } })), [
      'A',
    ])
    assert.deepEqual(titlesOf(await ask({ or: [{ attributes: { ok: true } }, { sizes: { has: 3 } }] })), ['A', 'D'])
    assert.deepEqual(titlesOf(await ask({ attributes: { made_at: '2025-12-31' } })), ['A'])
    assert.deepEqual(titlesOf(await ask({ props: { size: 5 }, tags: { has: 'red' } }, '/v1/articles')), ['B'])
    const refused: [where: object, place: string][] = [
      [{ labels: { contains: 'x' } }, 'INVALID_OPERATOR /labels/contains'],
      [{ labels: 'x' }, 'INVALID_TYPE /labels'],
      // Only parameters have dots.
      [{ 'attributes.size': 3 }, 'UNKNOWN_FIELD /attributes.size'],
      [{ not: { 'attributes.color.name': 'red' } }, 'UNKNOWN_FIELD /not/attributes.color.name'],
      [{ attributes: { null: true } }, 'UNKNOWN_FIELD /attributes/null'],
      [{ attributes: { color: { shade: 1 } } }, 'UNKNOWN_FIELD /attributes/color/shade'],
      [{ attributes: { size: { in: Array(1_001).fill(1) } } }, 'TOO_MANY_ITEMS'],
      [
        { attributes: { size: Object.fromEntries(Array.from({ length: 51 }, (_, each) => [`x${each}`, 1])) } },
        'TOO_MANY_ITEMS',
      ],
    ]
    for (const [where, place] of refused) {
      const answer = await ask(where)
      assert.deepEqual([answer.status, places(answer)], [400, [place]], answer.text)
    }
  })

  it('WHR-4: summaries are about the records that items and members select', async () => {
    const { json } = await current.send({ path: '/v2/goods/summary?labels[has]=red&attributes.size[gte]=5' })
    assert.equal(json.data[0].count, 1)
  })

  it('WHR-4: no search finds a record by its items', async () => {
    for (const word of ['red', 'blue', '\u2170', 'i', long]) {
      const { json } = await current.send({ path: `/v2/goods?q=${encodeURIComponent(word.slice(0, 200))}` })
      assert.equal(json.pagination.total_count, 0, word)
    }
  })
})

it('WHR-4: access rules compare items and members, of lists and of single records', async (context) => {
  const current = await trialFor(context, market)
  const { send, make } = current
  const open = await make('goods', { title: 'Open', labels: ['open'], attributes: { size: 3 } })
  const mine = await make('goods', { title: 'Mine', labels: ['mine', 'open'], attributes: { size: 12 } })
  const done = await make('goods', { title: 'Done', attributes: { state: 'done', size: 1 } })
  const hidden = await make('goods', { title: 'Hidden', labels: ['closed'], attributes: { state: 'raw' } })
  assert.deepEqual(titlesOf(await send({ path: '/v2/goods', as: 'bob' })), ['O', 'M', 'D'])
  assert.deepEqual(titlesOf(await send({ path: '/v2/goods?sort=title', as: 'bob' })), ['D', 'M', 'O'])
  const statuses = async (method: string, body?: object) => {
    const found: number[] = []
    for (const { id } of [open, mine, done, hidden]) {
      found.push((await send({ method, path: `/v2/goods/${id}`, as: 'bob', ...(body && { body }) })).status)
    }
    return found
  }
  assert.deepEqual(await statuses('GET'), [200, 200, 200, 403])
  assert.deepEqual(await statuses('PATCH', { title: 'New' }), [403, 200, 403, 403])
  // A change must be permitted before and after it (AUT-8).
  const left = await send({ method: 'PATCH', path: `/v2/goods/${mine.id}`, body: { labels: ['open'] }, as: 'bob' })
  assert.equal(left.status, 403)
  assert.deepEqual(await statuses('DELETE'), [204, 403, 204, 403])
})

it('WHR-4: a field that the caller may not read in a record has neither items nor members for them', async (context) => {
  const current = await trialFor(context, market)
  const { send, make } = current
  await make('goods', { title: 'Secret', labels: ['x'], notes: ['n'], attributes: { state: 'done', size: 4 } })
  await make('goods', { title: 'Public', labels: ['open', 'public'], notes: ['n'], attributes: { size: 4 } })
  const find = async (query: string, as: string) => titlesOf(await send({ path: `/v2/goods?${query}`, as }))
  assert.deepEqual(await find('', 'bob'), ['S', 'P'])
  for (const query of ['notes[has]=n', 'notes[has_all]=n', 'notes[null]=false', 'attributes.size=4']) {
    assert.deepEqual(await find(query, 'bob'), ['P'], query)
  }
  assert.deepEqual(await find('attributes.size[null]=true', 'bob'), ['S'])
  assert.deepEqual(await find('attributes.size[not]=4', 'bob'), ['S'])
  assert.deepEqual(await find('attributes.size=4', 'root'), ['S', 'P'])
  // Not even administrators may read these notes.
  assert.deepEqual(await find('notes[has]=n', 'root'), ['P'])
})

it('WHR-4: business rules compare items and members, of the record and of others', async (context) => {
  const { send } = await trialFor(context, market)
  const post = async (body: object) => (await send({ method: 'POST', path: '/v2/goods', body })).json.code
  assert.equal(await post({ title: 'a', labels: ['letter'], attributes: { size: 100 } }), undefined)
  assert.equal(await post({ title: 'b', labels: ['letter'], attributes: { size: 101 } }), 'TOO_LARGE_FOR_A_LETTER')
  assert.equal(await post({ title: 'c', labels: ['letter'] }), 'TOO_LARGE_FOR_A_LETTER')
  assert.equal(await post({ title: 'd', labels: ['reserved'] }), undefined)
  assert.equal(await post({ title: 'e', labels: ['reserver'] }), undefined)
  assert.equal(await post({ title: 'f', labels: ['reserved'] }), 'LABEL_RESERVED')
})

it('WHR-4: filters follow every change: updates, deletions, restorations and purges', async (context) => {
  const current = await trialFor(context, market)
  const { send, make } = current
  const one = await make('goods', { title: 'One', labels: ['a'], attributes: { size: 1 } })
  const path = `/v2/goods/${one.id}`
  const found = async () => {
    const queries = ['labels[has]=a', 'labels[has]=b', 'attributes.size=1', 'attributes.size=2']
    const answers = await Promise.all(queries.map((query) => send({ path: `/v2/goods?${query}` })))
    return answers.map((answer) => titlesOf(answer).length).join('')
  }
  assert.equal(await found(), '1010')
  await send({ method: 'PATCH', path, body: { labels: ['b', 'b'] } })
  assert.equal(await found(), '0110')
  await send({ method: 'PATCH', path, body: { attributes: { size: 2 } } })
  assert.equal(await found(), '0101')
  const patch = [{ op: 'add', path: '/labels/0', value: 'a' }, { op: 'replace', path: '/attributes/size', value: 1 }] // biome-ignore format: a line
  await send({ method: 'PATCH', path, headers: { 'content-type': 'application/json-patch+json' }, body: patch })
  assert.equal(await found(), '1110')
  await send({ method: 'PATCH', path, body: { title: 'Other' } })
  assert.equal(await found(), '1110')
  await send({ method: 'DELETE', path })
  assert.equal(await found(), '0000')
  const bin = await send({ path: '/v2/goods?labels[has]=a&attributes.size=1&include_deleted=only' })
  assert.deepEqual(titlesOf(bin), ['O'])
  await send({ method: 'POST', path: `${path}/restore` })
  assert.equal(await found(), '1110')
  await send({ method: 'PUT', path, body: { title: 'One' } })
  assert.equal(await found(), '0000')
})

it('WHR-4: deletions by filter and exports take items and members', async (context) => {
  const current = await trialFor(context, market)
  const { send, app, make } = current
  for (const [title, label, size] of [
    ['A', 'x', 1],
    ['B', 'y', 2],
    ['C', 'x', 3],
  ] as const) {
    // biome-ignore format: a line
    await make('goods', { title, labels: [label, 'all'], attributes: { size } })
  }
  const exported = async (filter: object, version = 'v2/goods') => {
    const [name, collection] = version.split('/')
    const accepted = await send({ path: `/${name}/exports`, body: { collection, format: 'json', filter } })
    if (accepted.status !== 202) return places(accepted)
    await app.runner.idle()
    const { json } = await send({ path: accepted.json.status_url })
    return JSON.parse((await send({ path: json.result.content_url })).text).map(({ title }: { title: string }) => title)
  }
  assert.deepEqual(await exported({ labels: { has: 'x' } }), ['A', 'C'])
  assert.deepEqual(await exported({ labels: { hasAny: ['y', 'z'] } }), ['B'])
  assert.deepEqual(await exported({ labels: { hasAll: ['x', 'all'] }, attributes: { size: { gte: 2 } } }), ['C'])
  assert.deepEqual(await exported({ not: { labels: { has: 'x' } } }), ['B'])
  assert.deepEqual(await exported({ or: [{ attributes: { size: 1 } }, { attributes: { color: { name: 'x' } } }] }), [
    'A',
  ])
  assert.deepEqual(await exported({ attributes: { null: true } }), [])
  assert.deepEqual(await exported({ tags: { has: 'x' }, props: { size: 3 } }, 'v1/articles'), ['C'])
  const refused: [filter: object, place: string][] = [
    [{ labels: 'x' }, 'INVALID_TYPE /filter/labels'],
    [{ labels: { gt: 'x' } }, 'INVALID_OPERATOR /filter/labels/gt'],
    [{ labels: { has: 3 } }, 'INVALID_TYPE /filter/labels/has'],
    [{ labels: { hasAll: 'x' } }, 'INVALID_TYPE /filter/labels/hasAll'],
    [{ labels: { has_all: ['x'] } }, 'INVALID_OPERATOR /filter/labels/has_all'],
    [{ title: { has: 'x' } }, 'INVALID_OPERATOR /filter/title/has'],
    [{ attributes: { shade: 1 } }, 'UNKNOWN_FIELD /filter/attributes/shade'],
    [{ attributes: { color: { shade: 1 } } }, 'UNKNOWN_FIELD /filter/attributes/color/shade'],
    [{ attributes: { color: 1 } }, 'INVALID_TYPE /filter/attributes/color'],
    [{ attributes: { size: { gte: 'x' } } }, 'INVALID_TYPE /filter/attributes/size/gte'],
    [{ attributes: {} }, 'INVALID_VALUE /filter/attributes'],
    [{ attributes: 1 }, 'INVALID_OPERATOR /filter/attributes'],
  ]
  for (const [filter, place] of refused) assert.deepEqual(await exported(filter), [place], JSON.stringify(filter))
  const remove = async (query: string): Promise<Received> => send({ method: 'DELETE', path: `/v2/goods?${query}` })
  assert.deepEqual((await remove('labels[has]=x&attributes.size[gt]=1')).json, { deleted_count: 1 })
  assert.deepEqual(titlesOf(await send({ path: '/v2/goods' })), ['A', 'B'])
  assert.deepEqual((await remove('labels[has_all]=x,all')).json, { deleted_count: 1 })
})

it('WHR-4: events obey rules about items and members, for the record as it was and as it is', async (context) => {
  const { send, make } = await trialFor(context, market)
  const one = await make('goods', { title: 'One', labels: ['closed'], attributes: { size: 1 } })
  await send({ method: 'PATCH', path: `/v2/goods/${one.id}`, body: { labels: ['open'] } })
  const two = await make('goods', { title: 'Two', attributes: { state: 'done' } })
  await make('goods', { title: 'Three', attributes: { state: 'raw' } })
  const read = async (path: string) =>
    (await send({ path, as: 'bob' })).json.data.map(({ record, kind }: Record<string, string>) => [record, kind])
  const expected = [[one.id, 'updated'], [two.id, 'created']] // biome-ignore format: a line
  assert.deepEqual(await read('/v2/events'), expected)
  assert.deepEqual(await read('/v1/events'), expected)
  await send({ method: 'PATCH', path: `/v2/goods/${two.id}`, body: { attributes: { state: 'raw' } } })
  assert.deepEqual(await read('/v2/events'), expected.slice(0, 1))
})

it('LIM-3: a text of a member that no index holds is refused at its place', async (context) => {
  const { send } = await trialFor(context, market)
  const post = (name: string): Promise<Received> => {
    const sent: Sent = { path: '/v2/goods', body: { title: 'x', attributes: { color: { name, shade: 1 } } } }
    return send({ method: 'POST', ...sent })
  }
  assert.equal((await post('x'.repeat(2_500))).status, 201)
  const answer = await post('x'.repeat(2_501))
  assert.deepEqual([answer.status, places(answer)], [400, ['TOO_LONG /attributes/color/name']], answer.text)
})
