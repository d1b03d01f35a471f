/** RES: decimals, which are stored and compared exactly, and multiples of decimal fractions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import { places, scenarios, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const { Decimal, Optional } = Type

const shop = defineInterface({
  name: 'shop',
  resources: {
    items: {
      fields: {
        name: Type.String({ filter: true }),
        price: Optional(Decimal({ precision: 12, scale: 2, filter: true, sort: true })),
        code: Optional(Decimal({ precision: 38, scale: 18, unique: true, filter: true, sort: true })),
        rate: Optional(Decimal({ precision: 4, scale: 4 })),
        pieces: Decimal({ precision: 38, scale: 0, default: 1, minimum: 0 }),
        fee: Optional(Decimal({ precision: 6, scale: 2, minimum: '0.10', exclusiveMaximum: 100, multipleOf: '0.05' })),
        tier: Optional(Decimal({ precision: 3, scale: 1, enum: ['1', '2.5', 10] })),
        fixed: Optional(Decimal({ precision: 5, scale: 2, immutable: true })),
        weight: Optional(Type.Number({ multipleOf: 0.01, filter: true })),
        parts: Optional(Type.Object({ net: Type.Number({ multipleOf: 0.01 }) })),
      },
      access: anyone,
      rules: [
        {
          on: 'delete',
          code: 'ITEM_IS_DEAR',
          message: 'Dear items stay.',
          unless: { where: { or: [{ price: { lt: '1000' } }, { price: { null: true } }] } },
        },
        {
          on: 'create',
          code: 'PRICE_TAKEN',
          message: 'Another item costs as much.',
          unless: { none: 'items', where: { price: { record: 'price' }, name: 'single' } },
        },
      ],
    },
    secrets: {
      fields: { limit: Decimal({ precision: 12, scale: 2 }) },
      access: { ...anyone, read: { where: { limit: { lte: { caller: 'claims.limit' } } } } },
    },
    cheap: {
      fields: { price: Decimal({ precision: 12, scale: 2, filter: true }) },
      access: { ...anyone, read: { where: { price: { gte: 9.5, not: '10.0' } } } },
    },
  },
})

const stored: readonly (readonly [sent: string, field: string, answered: string])[] = [
  ['"19.99"', 'price', '19.99'], ['19.99', 'price', '19.99'], ['"19.9"', 'price', '19.90'], ['20', 'price', '20.00'], ['"-0"', 'price', '0.00'],
  ['-0', 'price', '0.00'], ['-0.0', 'price', '0.00'], ['1e2', 'price', '100.00'], ['1.5e-1', 'price', '0.15'], ['"-0.05"', 'price', '-0.05'],
  ['"9999999999.99"', 'price', '9999999999.99'], ['9999999999.99', 'price', '9999999999.99'], ['19.990', 'price', '19.99'],
  ['"12345678901234567890.123456789012345678"', 'code', '12345678901234567890.123456789012345678'], ['"-1"', 'code', '-1.000000000000000000'],
  ['"0.1234"', 'rate', '0.1234'], ['0.5', 'rate', '0.5000'], ['"99999999999999999999999999999999999999"', 'pieces', '99999999999999999999999999999999999999'],
  ['null', 'pieces', '1'], ['0.1', 'fee', '0.10'], ['"99.95"', 'fee', '99.95'], ['"1.0"', 'tier', '1.0'], ['2.5', 'tier', '2.5'], ['10', 'tier', '10.0'],
] // biome-ignore format: one row reads best

const refused: readonly (readonly [sent: string, field: string, code: string])[] = [
  ['"19.999"', 'price', 'TOO_PRECISE'], ['19.999', 'price', 'TOO_PRECISE'], ['"19.990"', 'price', 'TOO_PRECISE'], ['1e-7', 'price', 'TOO_PRECISE'],
  ['"10000000000"', 'price', 'TOO_LARGE'], ['1e300', 'price', 'TOO_LARGE'], ['-1e300', 'price', 'TOO_SMALL'], ['1', 'rate', 'TOO_LARGE'],
  ['"0019.9"', 'price', 'INVALID_FORMAT'], ['"+5"', 'price', 'INVALID_FORMAT'], ['"1e2"', 'price', 'INVALID_FORMAT'], ['" 5"', 'price', 'INVALID_FORMAT'],
  ['".5"', 'price', 'INVALID_FORMAT'], ['"5."', 'price', 'INVALID_FORMAT'], ['""', 'price', 'INVALID_FORMAT'], ['"1,5"', 'price', 'INVALID_FORMAT'],
  ['"٣"', 'price', 'INVALID_FORMAT'], ['"NaN"', 'price', 'INVALID_FORMAT'], ['"1\\n"', 'price', 'INVALID_FORMAT'], ['true', 'price', 'INVALID_TYPE'], ['["1"]', 'price', 'INVALID_TYPE'],
  ['{"a":1}', 'price', 'INVALID_TYPE'], ['-1', 'pieces', 'TOO_SMALL'], ['"0.05"', 'fee', 'TOO_SMALL'], ['100', 'fee', 'TOO_LARGE'],
  ['"0.11"', 'fee', 'INVALID_VALUE'], ['2', 'tier', 'NOT_IN_ENUM'],
] // biome-ignore format: one row reads best

it('RES-11: a decimal is returned with all digits of its scale, in any spelling of the request', async (context) => {
  const { send } = await trialFor(context, shop)
  for (const [sent, field, answered] of stored) {
    const created = await send({ path: '/v1/items', body: `{"name":"a","${field}":${sent}}` })
    assert.equal(created.status, 201, created.text)
    assert.equal(created.json[field], answered, sent)
    const path = `/v1/items/${created.json.id}`
    assert.equal((await send({ path })).json[field], answered)
    // The same value in another spelling changes nothing.
    const again = await send({ method: 'PATCH', path, body: `{"${field}":${sent}}` })
    assert.deepEqual([again.status, again.headers.etag], [200, created.headers.etag])
    const deleted = await send({ method: 'DELETE', path })
    assert.equal(deleted.status, answered.length > 9 && field === 'price' ? 409 : 204)
  }
})

it('RES-11: an invalid decimal is a 400 with its pointer, in every body', async (context) => {
  const { send, make } = await trialFor(context, shop)
  const { id } = await make('items', { name: 'a' })
  const path = `/v1/items/${id}`
  for (const [sent, field, code] of refused) {
    const json = (name: string) => `{"name":"${name}","${field}":${sent}}`
    const headers = { 'content-type': 'application/json-patch+json' }
    for (const each of [
      { path: '/v1/items', body: json('b') },
      { method: 'PUT', path, body: json('b') },
      { method: 'PATCH', path, body: json('b') },
      { method: 'PATCH', path, headers, body: `[{"op":"replace","path":"/${field}","value":${sent}}]` },
    ]) {
      const answer = await send(each)
      assert.deepEqual([answer.status, ...places(answer)], [400, `${code} /${field}`], `${sent} ${answer.text}`)
    }
  }
  assert.equal((await send({ path })).json.name, 'a')
  const inexact = await send({ path: '/v1/items', body: '{"name":"b","code":12345678901234567890.5}' })
  assert.deepEqual([inexact.status, ...places(inexact)], [400, 'NUMBER_NOT_EXACT /code'], 'never through a double')
})

const prices = [
  '-100',
  '-19.99',
  '-19.9',
  '-2',
  '-0.01',
  '0',
  '0.01',
  '0.1',
  '2',
  '9.99',
  '10',
  '19.9',
  '19.99',
  '100',
  '999.99',
]

it('RES-11: filters compare numbers, in any spelling', async (context) => {
  const { send, make } = await trialFor(context, shop)
  for (const price of [...prices].sort()) await make('items', { name: 'a', price })
  await make('items', { name: 'none' })
  const pricesOf = async (query: string) => {
    const answer = await send({ path: `/v1/items?limit=100&sort=price&${query}` })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.data.map(({ price }: { price: string | null }) => price)
  }
  const canonical = (list: readonly string[]) => list.map((each) => Number(each).toFixed(2))
  assert.deepEqual(await pricesOf(''), [...canonical(prices), null])
  assert.deepEqual((await pricesOf('sort=-price').catch(() => [])).length, 0, 'sort twice is refused')
  for (const text of ['19.9', '19.90', '19.900000']) assert.deepEqual(await pricesOf(`price=${text}`), ['19.90'], text)
  assert.deepEqual(await pricesOf('price=-0'), ['0.00'])
  assert.deepEqual(await pricesOf('price=19.999'), [])
  assert.deepEqual(await pricesOf('price[in]=2,10.0,7'), ['2.00', '10.00'])
  assert.deepEqual(await pricesOf('price=2&price=9.990'), ['2.00', '9.99'])
  assert.deepEqual(await pricesOf('price[gt]=9.991'), canonical(['10', '19.9', '19.99', '100', '999.99']))
  assert.deepEqual(await pricesOf('price[gte]=19.9&price[lt]=100'), canonical(['19.9', '19.99']))
  assert.deepEqual(await pricesOf('price[lte]=-19.90'), canonical(['-100', '-19.99', '-19.9']))
  assert.deepEqual(await pricesOf('price[lt]=99999999999999999999999999999999999999999'), canonical(prices))
  assert.deepEqual(await pricesOf('price[null]=true'), [null])
  assert.equal((await pricesOf('price[not]=2.0')).length, prices.length)
  for (const text of ['0019.9', '%2B5', '1e2', '', 'x', '5.', '.5', `1${'0'.repeat(99)}`]) {
    const answer = await send({ path: `/v1/items?price=${text}` })
    assert.deepEqual([answer.status, ...places(answer)], [400, 'INVALID_VALUE price'], text)
  }
  for (const operator of ['contains', 'starts_with'])
    assert.deepEqual(places(await send({ path: `/v1/items?price[${operator}]=1` })), [
      `INVALID_OPERATOR price[${operator}]`,
    ])
  const queried = await send({ method: 'QUERY', path: '/v1/items', body: { price: 19.9, sort: '-price' } })
  assert.deepEqual(
    queried.json.data.map(({ price }: { price: string }) => price),
    ['19.90'],
  )
})

it('RES-11: cursors follow the order of decimals, forward and backward', async (context) => {
  const { send, make } = await trialFor(context, shop)
  for (const price of [...prices, ...prices].sort()) await make('items', { name: 'a', price })
  await make('items', { name: 'none' })
  for (const sort of ['price', '-price']) {
    const seen: unknown[] = []
    let cursor = ''
    let last = ''
    do {
      const { json, text } = await send({ path: `/v1/items?limit=4&sort=${sort}${cursor}` })
      assert.ok(json.data, text)
      seen.push(...json.data.map(({ price }: { price: unknown }) => price))
      last = json.pagination.previous_cursor
      cursor = json.pagination.next_cursor === null ? '' : `&cursor=${json.pagination.next_cursor}`
    } while (cursor !== '')
    const expected = prices.flatMap((each) => [Number(each).toFixed(2), Number(each).toFixed(2)])
    // Null is last in ascending order, and first in descending order.
    assert.deepEqual(seen, sort === 'price' ? [...expected, null] : [null, ...expected.reverse()])
    const back = await send({ path: `/v1/items?limit=4&sort=${sort}&cursor=${last}` })
    assert.deepEqual(
      back.json.data.map(({ price }: { price: unknown }) => price),
      seen.slice(-7, -3),
    )
  }
})

it('RES-11: unique, immutable and JSON Patch treat all spellings of a number as equal', async (context) => {
  const { send, make } = await trialFor(context, shop)
  const { id } = await make('items', { name: 'a', code: '1.5', fixed: '2.5', price: 19.9 })
  const path = `/v1/items/${id}`
  for (const code of ['"1.50"', '1.5', '"1.500000000000000000"']) {
    const again = await send({ path: '/v1/items', body: `{"name":"b","code":${code}}` })
    assert.deepEqual([again.status, ...places(again)], [409, 'DUPLICATE_VALUE /code'])
  }
  const same = await send({ method: 'PUT', path, body: { name: 'a', code: 1.5, fixed: 2.5, price: '19.9' } })
  assert.equal(same.status, 200, same.text)
  assert.deepEqual(places(await send({ method: 'PATCH', path, body: { fixed: '2.51' } })), ['IMMUTABLE /fixed'])
  const patch = (value: unknown) =>
    send({
      method: 'PATCH',
      path,
      headers: { 'content-type': 'application/json-patch+json' },
      body: [
        { op: 'test', path: '/price', value },
        { op: 'replace', path: '/name', value: 'p' },
      ],
    })
  for (const value of ['19.90', '19.9', 19.9]) assert.equal((await patch(value)).status, 200, String(value))
  for (const value of ['19.91', 19, null, 'x', '19.900']) assert.equal((await patch(value)).status, 409, String(value))
})

it('RES-11: business rules and access rules compare decimals exactly', async (context) => {
  const { send, make } = await trialFor(context, shop)
  const remove = async (price: unknown) => {
    const { id } = await make('items', { name: 'a', price })
    return (await send({ method: 'DELETE', path: `/v1/items/${id}` })).status
  }
  // As texts "999.99" would be the larger one.
  assert.deepEqual(
    [await remove('999.99'), await remove('1000'), await remove(-5), await remove(null)],
    [204, 409, 204, 204],
  )
  await make('items', { name: 'single', price: '7.5' })
  const taken = await send({ path: '/v1/items', body: { name: 'b', price: 7.5 } })
  assert.deepEqual([taken.status, taken.json.code], [409, 'PRICE_TAKEN'])
  for (const price of ['9.49', '9.5', '10', '10.01', '100']) await make('cheap', { price })
  const visible = await send({ path: '/v1/cheap', as: 'ann' })
  assert.deepEqual(visible.json.data.map(({ price }: { price: string }) => price).sort(), ['10.01', '100.00', '9.50'])
  assert.equal((await send({ path: '/v1/cheap?price[gt]=10', as: 'ann' })).json.pagination.total_count, 2)
  await make('secrets', { limit: 5 })
  assert.deepEqual((await send({ path: '/v1/secrets', as: 'ann' })).json.data ?? [], [], 'no claim, nothing to read')
})

it('RES-11: the document says that requests take texts and numbers, and responses have texts', async (context) => {
  const { send } = await trialFor(context, shop)
  const { components, paths } = (await send({ path: '/v1/openapi.json' })).json
  const { Item, ItemCreate } = components.schemas
  assert.deepEqual(Item.properties.pieces.type, 'string')
  assert.deepEqual(Item.properties.price.type, ['string', 'null'])
  assert.equal(Item.properties.price.pattern, '^-?(?:0|[1-9]\\d{0,9})\\.\\d{2}$')
  assert.equal(Item.properties.price.format, 'decimal')
  const { fee } = ItemCreate.properties
  assert.deepEqual(
    [fee.type, fee.minimum, fee.exclusiveMaximum, fee.multipleOf],
    [['string', 'number', 'null'], 0.1, 100, 0.05],
  )
  assert.equal(Item.properties.fee.minimum, undefined)
  assert.match(fee.description, /at least 0\.10, less than 100, a multiple of 0\.05/)
  assert.deepEqual(ItemCreate.properties.tier.enum, ['1.0', '2.5', '10.0', null])
  const example = ItemCreate.examples[0]
  assert.deepEqual([example.price, example.rate, example.pieces], ['0.00', '0.0000', '1'])
  const price = paths['/v1/items']?.get ?? paths['/items'].get
  // A parameter of several operations is written once.
  const parameters = price.parameters.map(({ $ref, ...own }: { $ref?: string }) =>
    $ref === undefined ? own : components.parameters[$ref.split('/').at(-1) as string],
  )
  assert.ok(
    parameters.some(
      (each: { name: string; schema: { format: string } }) =>
        each.name === 'price[gt]' && each.schema.format === 'decimal',
    ),
  )
})

scenarios(shop, [
  ...['0.01', '0.29', '0.57', '1.15', '4.35', '19.99', '-19.99', '0', '1e-2', '1e15', '9007199254740991'].map(
    (weight) => ({
      name: `${weight} is a multiple of 0.01`,
      rule: 'RES-12',
      send: { path: '/v1/items', body: `{"name":"a","weight":${weight},"parts":{"net":${weight}}}` },
      status: 201,
    }),
  ),
  ...['0.001', '19.995', '1e-7', '-0.015'].map((weight) => ({
    name: `${weight} is no multiple of 0.01`,
    rule: 'RES-12',
    send: { path: '/v1/items', body: `{"name":"a","weight":${weight},"parts":{"net":${weight}}}` },
    status: 400,
    errors: ['INVALID_VALUE /weight', 'INVALID_VALUE /parts/net'],
  })),
])
