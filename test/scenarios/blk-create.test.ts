/** BLK-1: POST of a collection with an array creates all of its records, or none. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { depot } from '../declarations-depot.ts'
import { desk } from '../declarations-desk.ts'
import { places, type Sent, trialFor } from '../harness.ts'
import { countOf, nowhere } from '../steps.ts'

const post = (collection: string, body: unknown, more: Partial<Sent> = {}): Sent => {
  return { method: 'POST', path: `/v1/${collection}`, body, ...more }
}
const itemsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ sku: `sku-${n}`, title: `Item ${n}` }))

it('BLK-1: the records are created in the order of the request, and returned in it', async (context) => {
  const current = await trialFor(context, depot)
  const { send, make } = current
  const shelf = await make('shelves', { name: 'A' })
  const bodies = itemsOf(3).map((each, n) => ({ ...each, shelf_id: n === 1 ? shelf.id : null, pin: `${n}` }))
  const answer = await send(post('items', bodies))
  assert.equal(answer.status, 201, answer.text)
  assert.equal(answer.headers['location'], undefined)
  const { data } = answer.json
  assert.deepEqual(data.map((each: { sku: string }) => each.sku), ['sku-0', 'sku-1', 'sku-2']) // biome-ignore format: a line
  assert.deepEqual(data.map((each: { number: number }) => each.number), [1, 2, 3]) // biome-ignore format: a line
  assert.equal('pin' in data[0], false)
  for (const record of data) {
    const { json } = await send({ path: `/v1/items/${record.id}` })
    assert.deepEqual(json, record)
  }
  assert.equal((await send({ path: '/v1/items?q=sku-2' })).json.data[0]?.id, data[2].id)
  const events = await send({ path: '/v1/events' })
  assert.deepEqual(events.json.data.map((each: { kind: string }) => each.kind), ['created', 'created', 'created']) // biome-ignore format: a line
  assert.equal(await countOf(current, 'items'), 3)
})

it('BLK-1: nested, the records belong to the record of the address', async (context) => {
  const { send, make } = await trialFor(context, depot)
  const shelf = await make('shelves', { name: 'A' })
  const answer = await send(post(`shelves/${shelf.id}/items`, itemsOf(2)))
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(new Set(answer.json.data.map((each: { shelf_id: string }) => each.shelf_id)), new Set([shelf.id]))
  const none = await send(post(`shelves/${nowhere}/items`, itemsOf(2)))
  assert.deepEqual([none.status, none.json.code], [404, 'NOT_FOUND'])
  const other = await send(post(`shelves/${shelf.id}/items`, [{ sku: 'other', title: 'x', shelf_id: nowhere }]))
  assert.deepEqual([other.status, places(other)], [400, ['INVALID_VALUE /0/shelf_id']])
})

it('BLK-1: one response has every error of every record, with its place, and nothing is created', async (context) => {
  const current = await trialFor(context, depot)
  const { send } = current
  const bodies = [
    { sku: 'fine', title: 'x' },
    { sku: 'x', title: '' },
    'text',
    { sku: 'other', title: 'x', colour: 'red', shelf_id: nowhere },
    {},
  ]
  const answer = await send(post('items', bodies))
  assert.equal(answer.status, 400, answer.text)
  assert.deepEqual(places(answer).sort(), [
    'INVALID_REFERENCE /3/shelf_id', 'INVALID_TYPE /2', 'REQUIRED /2/sku', 'REQUIRED /2/title', 'REQUIRED /4/sku',
    'REQUIRED /4/title', 'TOO_SHORT /1/sku', 'TOO_SHORT /1/title', 'UNKNOWN_FIELD /3/colour',
  ]) // biome-ignore format: one row reads best
  assert.equal(answer.json.error_count, 9)
  assert.equal(await countOf(current, 'items'), 0)
  assert.equal((await send(post('items', { sku: 'one', title: 'x' }))).json.number, 1, 'no number is used up')
})

it('BLK-1: at most limits.errors entries are listed, and error_count has the number of all', async (context) => {
  const { send } = await trialFor(context, { ...depot, limits: { errors: 10, bulk: 50 } })
  const answer = await send(
    post(
      'items',
      Array.from({ length: 50 }, () => ({})),
    ),
  )
  assert.deepEqual([answer.status, answer.json.errors.length, answer.json.error_count], [400, 10, 100])
})

it('BLK-1: a unique value that two records share is reported at both, and one that is taken at its record', async (context) => {
  const current = await trialFor(context, depot)
  const { send, make } = current
  const shelf = await make('shelves', { name: 'A' })
  await make('items', { sku: 'taken', title: 'x', slot: 7, price: '1.50' })
  const answer = await send(
    post('items', [
      { sku: 'same', title: '0' },
      { sku: 'taken', title: '1' },
      { sku: 'same', title: '2', slot: 7 },
      { sku: 'three', title: 'T', shelf_id: shelf.id, price: 1.5 },
      { sku: 'four', title: 'T', shelf_id: shelf.id },
      { sku: 'five', title: 'T' },
    ]),
  )
  assert.deepEqual([answer.status, answer.json.code], [409, 'DUPLICATE_VALUE'])
  assert.deepEqual(places(answer).sort(), [
    'DUPLICATE_VALUE /0/sku', 'DUPLICATE_VALUE /1/sku', 'DUPLICATE_VALUE /2/sku', 'DUPLICATE_VALUE /2/slot',
    'DUPLICATE_VALUE /3/price', 'DUPLICATE_VALUE /3/shelf_id', 'DUPLICATE_VALUE /4/shelf_id',
  ]) // biome-ignore format: one row reads best
  assert.equal(await countOf(current, 'items'), 1)
  // A deleted record keeps no value.
  const [taken] = (await send({ path: '/v1/items' })).json.data
  assert.equal((await send({ method: 'DELETE', path: `/v1/items/${taken.id}` })).status, 204)
  assert.equal((await send(post('items', [{ sku: 'taken', title: 'x' }]))).status, 201)
})

it('BLK-1: two records may not break together what they may not break one after the other', async (context) => {
  const current = await trialFor(context, depot)
  const { send } = current
  const day = '2026-12-01'
  const answer = await send(
    post('bookings', [
      { room: 'A', day },
      { room: 'B', day },
      { room: 'A', day },
    ]),
  )
  assert.deepEqual([answer.status, answer.json.code, places(answer)], [409, 'ROOM_TAKEN', ['ROOM_TAKEN /2']])
  assert.equal(await countOf(current, 'bookings'), 0)
  assert.equal(
    (
      await send(
        post('bookings', [
          { room: 'A', day },
          { room: 'A', day, kept: false },
        ]),
      )
    ).status,
    201,
  )
})

it('BLK-1: an empty array, one that is too long, and an array for the server are refused', async (context) => {
  const { send } = await trialFor(context, depot)
  const cases: [collection: string, body: unknown, errors: string[]][] = [
    ['items', [], ['TOO_FEW_ITEMS']],
    ['items', itemsOf(51), ['TOO_MANY_ITEMS']],
    ['api-keys', [{}], ['INVALID_TYPE']],
  ]
  for (const [collection, body, errors] of cases) {
    const answer = await send(post(collection, body))
    assert.deepEqual([answer.status, places(answer)], [400, errors], answer.text)
  }
  assert.equal((await send(post('items', itemsOf(50)))).status, 201)
})

it('BLK-1: who may not create gets 403, and the refusals come in one order for the whole', async (context) => {
  const { send } = await trialFor(context, {
    ...depot,
    resources: {
      ...depot.resources,
      marks: { ...depot.resources['marks'], access: { create: { where: { name: 'own' } } } } as never,
    },
  })
  const answer = await send(post('marks', [{ name: 'own' }, { name: 'other' }, {}], { as: 'ann' }))
  assert.deepEqual([answer.status, places(answer)], [403, ['FORBIDDEN /1']], answer.text)
  const invalid = await send(post('marks', [{ name: 'own' }, {}], { as: 'ann' }))
  assert.deepEqual([invalid.status, places(invalid)], [400, ['REQUIRED /1/name']], invalid.text)
})

it('BLK-1: a repeated request with its key has no second effect', async (context) => {
  const current = await trialFor(context, depot)
  const headers = { 'idempotency-key': '"many"' }
  const first = await current.send(post('items', itemsOf(3), { headers }))
  const again = await current.send(post('items', itemsOf(3), { headers }))
  assert.deepEqual([again.status, again.text], [201, first.text])
  assert.equal(await countOf(current, 'items'), 3)
  const other = await current.send(post('items', itemsOf(2), { headers }))
  assert.deepEqual([other.status, other.json.code], [422, 'IDEMPOTENCY_KEY_REUSED'])
})

it('BLK-1: with return=minimal the response has no body', async (context) => {
  const { send } = await trialFor(context, depot)
  const answer = await send(post('items', itemsOf(3), { headers: { prefer: 'return=minimal' } }))
  assert.deepEqual([answer.status, answer.text], [201, ''])
})

it('BLK-1: an older version creates in its own terms', async (context) => {
  const { send, make } = await trialFor(context, desk)
  const person = (await send({ method: 'POST', path: '/v3/people', body: { name: 'Ann' } })).json
  assert.notEqual(person.id, undefined, String(make))
  const tickets = [
    { subject: 'One', price: 1.5, code: 'a', asker_id: person.id },
    { subject: 'Two', state: 'done', asker_id: person.id, colour: null },
  ]
  const answer = await send({ method: 'POST', path: '/v1/tickets', body: tickets })
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(answer.json.data.map((each: { price: number }) => each.price), [1.5, 0]) // biome-ignore format: a line
  const { json } = await send({ path: `/v3/cases/${answer.json.data[0].id}` })
  assert.deepEqual([json.headline, json.cents], ['One', 150])
  const wrong = [
    { subject: 'x', code: 'a', asker_id: nowhere },
    { subject: 'Two', code: 'a', asker_id: person.id },
  ]
  const invalid = await send({ method: 'POST', path: '/v1/tickets', body: wrong })
  assert.deepEqual(
    [invalid.status, places(invalid).sort()],
    [400, ['INVALID_REFERENCE /0/asker_id', 'TOO_SHORT /0/subject']],
  )
  const taken = await send({ method: 'POST', path: '/v1/tickets', body: wrong.slice(1) })
  assert.deepEqual([taken.status, places(taken)], [409, ['DUPLICATE_VALUE /0/code']])
})
