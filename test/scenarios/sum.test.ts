/** SUM-1, SUM-2: summaries of the records of a collection. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference, Type } from 'resourced-contract/model/type'
import { type Received, type Sent, type Trial, trialFor } from '../harness.ts'

const library = defineInterface({
  name: 'library',
  limits: { pageSize: { default: 50, max: 100 } },
  versions: { v1: {}, v2: {} },
  changes: [
    {
      version: 'v2',
      resource: 'books',
      was: 'volumes',
      rename: { state: 'status', writer_id: 'author_id', cost: 'price' },
      remove: {
        shelf: { schema: { type: 'string', enum: ['a', 'b'] }, value: 'a' },
        weightless: { schema: { type: 'boolean' }, value: false },
        fee: { schema: { type: 'decimal', precision: 5, scale: 2, filter: true }, value: '2.50' },
        stars: { schema: { type: 'integer', optional: true, sort: true }, value: null },
        bought_at: { schema: { type: 'string', format: 'date-time', filter: true }, value: '2025-12-31T23:30:00Z' },
      },
      convert: {
        status: {
          schema: { type: 'string', enum: ['free', 'taken'] },
          older: (value: string) => (value === 'open' ? 'free' : 'taken'),
          newer: (value: string) => (value === 'free' ? 'open' : 'lent'),
        },
        pages: {
          schema: { type: 'integer' },
          older: (value: number) => value * 2,
          newer: (value: number) => Math.floor(value / 2),
        },
      },
    },
  ],
  resources: {
    authors: { fields: { name: Type.String() }, access: { read: 'anyone' } },
    books: {
      fields: {
        title: Type.String({ search: true, filter: true }),
        status: Type.Optional(Type.Enum(['open', 'lent', 'lost'])),
        rare: Type.Optional(Type.Boolean()),
        author_id: Type.Optional(reference('authors')),
        price: { type: 'decimal', precision: 12, scale: 2, optional: true, filter: true },
        pages: Type.Optional(Type.Integer({ sort: true })),
        weight: Type.Optional(Type.Number({ filter: true })),
        printed_on: Type.Optional(Type.String({ format: 'date', filter: true })),
        sold_at: Type.Optional(Type.String({ format: 'date-time', filter: true })),
        secret: Type.Optional(Type.Enum(['x', 'y'], { writeOnly: true })),
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      deletion: { byFilter: true },
    },
  },
})

async function filled(trial: Trial): Promise<void> {
  const books = [
    { title: 'Alpha one', status: 'open', rare: true, price: '12.50', pages: 100, printed_on: '2026-01-01' },
    { title: 'Beta one', status: 'open', rare: false, price: '0.10', pages: 101, printed_on: '2025-12-29' },
    { title: 'Gamma two', status: 'lent', rare: true, price: '-3.33', printed_on: '2024-12-30' },
    { title: 'Delta two', status: 'lost', price: '99.99', pages: 9007199254740991, weight: 1.5 },
    { title: 'Epsilon two', price: '7.00', pages: 9007199254740991, weight: 0.1 },
  ]
  for (const book of books) await trial.make('books', book)
}

const reader =
  (trial: Trial) =>
  async (query: string, more: Partial<Sent> = {}) => {
    const answer = await trial.send({ path: `/v2/books/summary${query}`, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

describe('summaries', () => {
  it('SUM-1: one row without groups, and one for each group', async (context) => {
    const trial = await trialFor(context, library)
    const read = reader(trial)
    const empty = await read('?sum=price,pages&avg=price&min=title&max=sold_at')
    assert.deepEqual(empty.json, {
      data: [
        {
          ...{ group: {}, count: 0, sum: { price: null, pages: null }, avg: { price: null } },
          ...{ min: { title: null }, max: { sold_at: null } },
        },
      ],
      pagination: { total_count: 1, limit: 50, next_cursor: null, previous_cursor: null },
    })
    assert.deepEqual((await read('?group=status')).json.data, [])
    await filled(trial)
    const whole = (await read('?sum=price,pages&avg=price,pages&min=price,weight,rare&max=pages,title,created_at')).json
    const { created_at } = whole.data[0].max
    assert.deepEqual(whole.data, [
      {
        ...{ group: {}, count: 5, sum: { price: '116.26', pages: '18014398509482183' } },
        avg: { price: '23.25200000', pages: '4503599627370545.750000' },
        min: { price: '-3.33', weight: 0.1, rare: false },
        max: { pages: 9007199254740991, title: 'Gamma two', created_at },
      },
    ])
    assert.match(created_at, /^\d{4}-.*Z$/)
    assert.deepEqual((await read('?group=status&sum=price')).json.data, [
      { group: { status: 'lent' }, count: 1, sum: { price: '-3.33' } },
      { group: { status: 'lost' }, count: 1, sum: { price: '99.99' } },
      { group: { status: 'open' }, count: 2, sum: { price: '12.60' } },
      { group: { status: null }, count: 1, sum: { price: '7.00' } },
    ])
  })

  it('SUM-1: filters, search and deletion select the records that count', async (context) => {
    const trial = await trialFor(context, library)
    const read = reader(trial)
    await filled(trial)
    const counted = async (query: string) => (await read(`?${query}`)).json.data[0].count
    assert.equal(await counted('price[gte]=7'), 3)
    assert.equal(await counted('q=two&price[gte]=7'), 2)
    assert.equal(await counted('q=!'), 0)
    const either = { or: [{ status: 'lost' }, { price: { lt: 0 } }] }
    assert.equal(await counted(`where=${encodeURIComponent(JSON.stringify(either))}`), 2)
    const body = { group: 'status', where: either, 'price[gte]': 0 }
    const { json } = await trial.send({ method: 'QUERY', path: '/v2/books/summary', body })
    assert.deepEqual(json.data, [{ group: { status: 'lost' }, count: 1 }])
    assert.equal((await trial.send({ method: 'DELETE', path: '/v2/books?status=open' })).status, 200)
    assert.equal(await counted(''), 3)
    assert.deepEqual((await read('?group=status&status[not]=lent&sum=price')).json.data, [
      { group: { status: 'lost' }, count: 1, sum: { price: '99.99' } },
      { group: { status: null }, count: 1, sum: { price: '7.00' } },
    ])
  })

  it('SUM-1: sort orders by groups and figures, and null is after every value', async (context) => {
    const trial = await trialFor(context, library)
    const read = reader(trial)
    await filled(trial)
    const statuses = async (query: string) =>
      (await read(`?group=status&${query}`)).json.data.map(({ group }: { group: { status: string } }) => group.status)
    assert.deepEqual(await statuses('sort=-status'), [null, 'open', 'lost', 'lent'])
    assert.deepEqual(await statuses('sort=-count'), ['open', 'lent', 'lost', null])
    assert.deepEqual(await statuses('sum=price&sort=sum.price'), ['lent', null, 'open', 'lost'])
    assert.deepEqual(await statuses('avg=price&sort=-avg.price'), ['lost', null, 'open', 'lent'])
    assert.deepEqual(await statuses('max=weight&sort=max.weight'), [null, 'lost', 'lent', 'open'])
    assert.deepEqual(await statuses('min=price&sort=-count,-min.price'), ['open', 'lost', null, 'lent'])
    const several = (await read('?group=rare,status&sort=-rare')).json.data
    assert.deepEqual(
      several.map(({ group }: { group: object }) => group),
      [
        { rare: null, status: 'lost' },
        { rare: null, status: null },
        { rare: true, status: 'lent' },
        { rare: true, status: 'open' },
        { rare: false, status: 'open' },
      ],
    )
  })

  it('SUM-1: pages of every style have exact totals, and cursors lead forward and backward', async (context) => {
    const trial = await trialFor(context, library)
    const read = reader(trial)
    await filled(trial)
    const found = ({ json }: Received) => json.data.map(({ group }: { group: { status: string } }) => group.status)
    const numbered = await read('?group=status&page=2&per_page=3')
    assert.deepEqual(found(numbered), [null])
    assert.deepEqual(numbered.json.pagination, { total_count: 4, page: 2, per_page: 3, total_pages: 2 })
    assert.equal(numbered.headers['x-total-count'], '4')
    assert.match(String(numbered.headers['link']), /<\/v2\/books\/summary\?group=status&page=1&per_page=3>; rel="prev"/)
    assert.deepEqual(found(await read('?group=status&offset=1&limit=2')), ['lost', 'open'])
    assert.deepEqual(found(await read('?group=status&page=9')), [])
    // Without cursors, `limit` alone is the first page of the style of offsets.
    assert.deepEqual((await read('?group=status&sort=-count&limit=1')).json.pagination, {
      ...{ total_count: 4, offset: 0, limit: 1 },
    })
    for (const order of ['status', '-status']) {
      const first = await read(`?group=status&sort=${order}&limit=2`)
      const next = (cursor: string) => read(`?group=status&sort=${order}&limit=2&cursor=${cursor}`)
      assert.equal(first.json.pagination.previous_cursor, null)
      const second = await next(first.json.pagination.next_cursor)
      assert.equal(second.json.pagination.next_cursor, null)
      const all = [...found(first), ...found(second)]
      assert.deepEqual(all, order === 'status' ? ['lent', 'lost', 'open', null] : [null, 'open', 'lost', 'lent'])
      const back = await next(second.json.pagination.previous_cursor)
      assert.deepEqual([found(back), back.json.pagination.previous_cursor], [found(first), null])
      assert.deepEqual(back.json.pagination.next_cursor, first.json.pagination.next_cursor)
    }
    const { next_cursor } = (await read('?group=status&limit=2')).json.pagination
    for (const query of ['group=status,rare', 'group=status&rare=true', 'group=status&sort=-status'])
      assert.equal((await trial.send({ path: `/v2/books/summary?${query}&limit=2&cursor=${next_cursor}` })).status, 400)
    // A sum is no part of the order, so the cursor stays good.
    assert.deepEqual(found(await read(`?group=status&sum=price&limit=2&cursor=${next_cursor}`)), ['open', null])
  })

  it('SUM-1: dates and date-times by year, month, week and day, in a zone', async (context) => {
    const trial = await trialFor(context, library)
    const instants = [
      ['2025-12-31T22:59:59.999Z', '2024-12-30'],
      ['2025-12-31T23:00:00Z', '2025-12-28'],
      ['2026-01-01T00:30:00+01:00', '2025-12-29'],
      ['2026-03-28T23:00:00Z', '2026-01-01'],
      ['2026-03-29T21:59:59Z', '0000-01-01'],
      ['2026-03-29T22:00:00Z', '9999-12-31'],
      ['2026-10-24T22:00:00Z', null],
      ['2026-10-25T22:59:59Z', null],
      ['2011-12-30T09:59:59Z', null],
      ['2011-12-30T10:00:00Z', null],
      ['0000-01-01T00:00:00Z', null],
      ['9999-12-31T23:59:59.5Z', null],
      [null, null],
    ]
    for (const [sold_at, printed_on] of instants) await trial.make('books', { title: 'x', sold_at, printed_on })
    const by = async (group: string, more = '') => {
      const { json } = await reader(trial)(`?group=${group}${more}`)
      return json.data.map((row: { group: Record<string, string | null>; count: number }) => [
        row.group[group],
        row.count,
      ])
    }
    assert.deepEqual(await by('printed_on:week'), [
      ...[['0000-W52', 1], ['2025-W01', 1], ['2025-W52', 1], ['2026-W01', 2], ['9999-W52', 1], [null, 7]],
    ].map(([week, count]) => [week === '0000-W52' ? '-000001-W52' : week, count])) // biome-ignore format: rows read best
    assert.deepEqual(await by('printed_on:month'), [
      ...[['0000-01', 1], ['2024-12', 1], ['2025-12', 2], ['2026-01', 1], ['9999-12', 1], [null, 7]],
    ]) // biome-ignore format: rows read best
    assert.deepEqual(await by('sold_at:year'), [
      ...[['0000', 1], ['2011', 2], ['2025', 3], ['2026', 5], ['9999', 1], [null, 1]],
    ]) // biome-ignore format: rows read best
    const berlin = '&timezone=europe/berlin'
    assert.deepEqual(await by('sold_at:year', berlin), [
      ...[['+010000', 1], ['0000', 1], ['2011', 2], ['2025', 1], ['2026', 7], [null, 1]],
    ]) // biome-ignore format: rows read best
    assert.deepEqual(await by('sold_at:day', `${berlin}&sold_at[gte]=2025-12-31&sold_at[lt]=2027-01-01`), [
      ...[['2025-12-31', 1], ['2026-01-01', 2], ['2026-03-29', 2], ['2026-03-30', 1], ['2026-10-25', 2]],
    ]) // biome-ignore format: rows read best
    assert.deepEqual(await by('sold_at:day', '&timezone=Pacific/Apia&sold_at[lt]=2012-01-01T00:00:00Z&sold_at[gte]=2011-01-01T00:00:00Z'), [
      ...[['2011-12-29', 1], ['2011-12-31', 1]],
    ]) // biome-ignore format: rows read best
    assert.deepEqual(await by('sold_at:month', '&timezone=America/New_York&sold_at[lt]=2026-01-01T00:00:00Z&sold_at[gte]=2000-01-01T00:00:00Z'), [
      ...[['2011-12', 2], ['2025-12', 3]],
    ]) // biome-ignore format: rows read best
    const today = new Date().toISOString()
    assert.deepEqual(await by('created_at:month'), [[today.slice(0, 7), 13]])
    assert.deepEqual((await by('created_at:week', '&timezone=Asia/Tokyo'))[0][0].slice(4, 6), '-W')
  })
})

describe('requests for summaries', () => {
  it('SUM-1: HEAD and QUERY are as GET, other methods are 405, and other addresses 404', async (context) => {
    const trial = await trialFor(context, library)
    await filled(trial)
    const get = await reader(trial)('?group=status,rare&sum=price&price[gte]=0&sort=-count')
    const head = await trial.send({
      method: 'HEAD',
      path: '/v2/books/summary?group=status,rare&sum=price&price[gte]=0',
    })
    assert.deepEqual([head.status, head.headers['x-total-count']], [200, '4'])
    const body = { group: ['status', 'rare'], sum: 'price', 'price[gte]': 0, sort: ['-count'] }
    const query = await trial.send({ method: 'QUERY', path: '/v2/books/summary', body })
    assert.deepEqual([query.status, query.json], [200, get.json])
    assert.equal(query.headers['link'], undefined)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await trial.send({ method, path: '/v2/books/summary', body: {} })
      assert.deepEqual([refused.status, refused.headers['allow']], [405, 'GET, HEAD, QUERY, OPTIONS'], method)
    }
    const options = await trial.send({ method: 'OPTIONS', path: '/v2/books/summary' })
    assert.deepEqual([options.status, options.headers['allow']], [204, 'GET, HEAD, QUERY, OPTIONS'])
    const author = (await trial.make('authors', { name: 'Ann' })).id
    for (const path of [`/authors/${author}/books/summary`, '/jobs/summary', '/books/summary/x', '/nothing/summary'])
      assert.equal((await trial.send({ path: `/v2${path}` })).status, 404, path)
  })

  it('SUM-1: the entity tag changes with the records, and If-None-Match gives 304', async (context) => {
    const trial = await trialFor(context, library)
    await filled(trial)
    for (const as of ['root', 'ann']) {
      const { headers } = await reader(trial)('?group=status', { as })
      const again = (tag = headers['etag']) =>
        trial.send({ path: '/v2/books/summary?group=status', as, headers: { 'if-none-match': String(tag) } })
      assert.deepEqual([(await again()).status, (await again()).text], [304, ''])
      const failed = await trial.send({ path: '/v2/books/summary', as, headers: { 'if-match': '"other"' } })
      assert.equal(failed.status, 412)
      await trial.make('books', { title: 'More', status: 'open' })
      assert.equal((await again()).status, 200)
    }
  })

  it('SUM-1, QRY-8: one response names every mistake', async (context) => {
    const trial = await trialFor(context, library)
    const table: [query: string, refused: (readonly [code: string, parameter: string])[]][] = [
      ['group=title', [['UNKNOWN_FIELD', 'group']]],
      ['group=secret', [['UNKNOWN_FIELD', 'group']]],
      ['group=sold_at', [['UNKNOWN_FIELD', 'group']]],
      ['group=sold_at:hour', [['UNKNOWN_FIELD', 'group']]],
      ['group=status,status', [['INVALID_VALUE', 'group']]],
      ['group=status&group=rare', [['DUPLICATE_PARAMETER', 'group']]],
      ['group=status,rare,author_id,sold_at:day', [['TOO_MANY_ITEMS', 'group']]],
      ['sum=weight&avg=title', [['UNKNOWN_FIELD', 'sum'], ['UNKNOWN_FIELD', 'avg']]],
      ['min=author&max=printed', [['UNKNOWN_FIELD', 'min'], ['UNKNOWN_FIELD', 'max']]],
      ['sort=sum.price', [['UNKNOWN_FIELD', 'sort']]],
      ['sort=status', [['UNKNOWN_FIELD', 'sort']]],
      ['sort=count,-count', [['INVALID_VALUE', 'sort']]],
      ['include=author', [['UNKNOWN_PARAMETER', 'include']]],
      ['where={"nothing":1}', [['UNKNOWN_FIELD', 'where']]],
      ['fields=title&include_deleted=true', [['UNKNOWN_PARAMETER', 'fields'], ['UNKNOWN_PARAMETER', 'include_deleted']]],
      ['group=status&timezone=Europe/Berlin', [['UNKNOWN_PARAMETER', 'timezone']]],
      ['group=sold_at:day&timezone=Mars', [['INVALID_VALUE', 'timezone']]],
      ['group=status&sort=-count&cursor=x', [['INVALID_PAGE', 'cursor']]],
      ['group=x&colour=red&limit=0', [['UNKNOWN_FIELD', 'group'], ['UNKNOWN_PARAMETER', 'colour'], ['INVALID_PAGE', 'limit']]],
    ] // biome-ignore format: rows read best
    for (const [query, refused] of table) {
      const { status, json, text } = await trial.send({ path: `/v2/books/summary?${query}` })
      assert.equal(status, 400, text)
      assert.deepEqual(
        json.errors.map(({ code, parameter }: Record<string, string>) => [code, parameter]),
        refused,
        query,
      )
    }
  })

  it('SUM-1, VER-2: an older version has its own names and values, and equal values are one group', async (context) => {
    const trial = await trialFor(context, library)
    await filled(trial)
    const read = async (query: string) => (await trial.send({ path: `/v1/volumes/summary?${query}` })).json
    assert.deepEqual((await read('group=state&sum=cost&sort=-sum.cost')).data, [
      { group: { state: 'taken' }, count: 2, sum: { cost: '96.66' } },
      { group: { state: 'free' }, count: 2, sum: { cost: '12.60' } },
      { group: { state: null }, count: 1, sum: { cost: '7.00' } },
    ])
    assert.deepEqual((await read('group=writer_id&cost[gte]=0')).data, [{ group: { writer_id: null }, count: 4 }])
    const first = await read('group=state&limit=1')
    const second = await read(`group=state&limit=1&cursor=${first.pagination.next_cursor}`)
    assert.deepEqual([first.data[0].group, second.data[0].group], [{ state: 'free' }, { state: 'taken' }])
    // A field that is not stored has the same value in every record.
    assert.deepEqual(
      (await read('group=shelf,weightless,bought_at:year&timezone=Europe/Berlin&sum=fee,stars&avg=fee&max=fee,stars'))
        .data,
      [
        {
          ...{ group: { shelf: 'a', weightless: false, 'bought_at:year': '2026' }, count: 5 },
          ...{ sum: { fee: '12.50', stars: null }, avg: { fee: '2.50000000' }, max: { fee: '2.50', stars: null } },
        },
      ],
    )
    assert.deepEqual((await read('min=bought_at&sort=min.bought_at')).data[0].min, {
      bought_at: '2025-12-31T23:30:00Z',
    })
    // What a function converts cannot be added up.
    for (const query of ['sum=pages', 'group=status', 'sum=price'])
      assert.equal((await read(query)).errors[0].code, 'UNKNOWN_FIELD', query)
  })
})
