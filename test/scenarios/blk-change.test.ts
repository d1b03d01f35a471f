/** BLK-2: PATCH of a collection with an array changes all of its records, or none. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ResourceDeclaration } from 'resourced-contract/model/declaration'
import { depot } from '../declarations-depot.ts'
import { desk } from '../declarations-desk.ts'
import { places, type Sent, type Trial, trialFor } from '../harness.ts'
import { nowhere, stateOf } from '../steps.ts'

const patch = (collection: string, body: unknown, more: Partial<Sent> = {}): Sent => {
  return { method: 'PATCH', path: `/v1/${collection}`, body, ...more }
}

async function made({ send }: Trial, bodies: readonly object[]): Promise<string[]> {
  const answer = await send({ method: 'POST', path: '/v1/items', body: bodies })
  assert.equal(answer.status, 201, answer.text)
  return answer.json.data.map(({ id }: { id: string }) => id)
}

const three = ['a', 'b', 'c'].map((name, slot) => ({ sku: `sku-${name}`, title: name, slot }))

it('BLK-2: each record is changed by its id, in the order of the request', async (context) => {
  const current = await trialFor(context, depot)
  const [a, b, c] = await made(current, three)
  const answer = await current.send(patch('items', [{ id: c, title: 'C' }, { id: a, count: 5 }, { id: b }]))
  assert.equal(answer.status, 200, answer.text)
  const { data } = answer.json
  assert.deepEqual(data.map((each: { id: string }) => each.id), [c, a, b]) // biome-ignore format: a line
  assert.deepEqual([data[0].title, data[0].slot, data[1].count, data[2].title], ['C', 2, 5, 'b'])
  for (const record of data) assert.deepEqual((await current.send({ path: `/v1/items/${record.id}` })).json, record)
  const events = (await current.send({ path: '/v1/events?kind=updated' })).json.data
  assert.deepEqual(events.map((each: { record: string }) => each.record).sort(), [a, c].sort()) // biome-ignore format: a line
  assert.equal((await current.send({ path: '/v1/items?q=sku-c' })).json.data[0].id, c)
  const minimal = await current.send(patch('items', [{ id: a, count: 6 }], { headers: { prefer: 'return=minimal' } }))
  assert.deepEqual([minimal.status, minimal.text], [204, ''])
})

it('BLK-2: records may exchange unique values, in a pair and in a circle', async (context) => {
  const current = await trialFor(context, depot)
  const shelf = await current.make('shelves', { name: 'A' })
  const [a, b, c] = await made(current, three.map((each) => ({ ...each, shelf_id: shelf.id }))) // biome-ignore format: a line
  const pair = await current.send(
    patch('items', [
      { id: a, slot: 1 },
      { id: b, slot: 0 },
    ]),
  )
  assert.deepEqual(pair.json.data?.map((each: { slot: number }) => each.slot), [1, 0], pair.text) // biome-ignore format: a line
  const circle = [
    { id: a, sku: 'sku-b', title: 'b' },
    { id: b, sku: 'sku-c', title: 'c' },
    { id: c, sku: 'sku-a', title: 'a' },
  ]
  const answer = await current.send(patch('items', circle))
  assert.deepEqual(answer.json.data?.map((each: { sku: string }) => each.sku), ['sku-b', 'sku-c', 'sku-a'], answer.text) // biome-ignore format: a line
  // A record takes the value that another one leaves, whichever comes first.
  const chain = await current.send(
    patch('items', [
      { id: a, sku: 'sku-a' },
      { id: c, sku: 'new' },
    ]),
  )
  assert.deepEqual(chain.json.data?.map((each: { sku: string }) => each.sku), ['sku-a', 'new'], chain.text) // biome-ignore format: a line
  const freed = await current.send({ path: '/v1/events?kind=updated' })
  assert.equal(freed.json.pagination.total_count, 7, 'one event for each changed record')
  const kept = await current.send({ path: `/v1/items/${b}` })
  assert.deepEqual([kept.json.sku, kept.json.title, kept.json.slot, kept.json.shelf_id], ['sku-c', 'c', 0, shelf.id])
})

it('BLK-2: a clash inside the request is reported at both records, with all other errors, and nothing changes', async (context) => {
  const current = await trialFor(context, depot)
  const [a, b, c] = await made(current, three)
  await made(current, [{ sku: 'other', title: 'x', slot: 9 }])
  const before = await stateOf(current, ['items'])
  const cases: [body: unknown, status: number, errors: string[]][] = [
    [[{ id: a, sku: 'n' }], 400, ['TOO_SHORT /0/sku']],
    [[{ id: a, slot: 7 }, { id: b, slot: 7 }], 409, ['DUPLICATE_VALUE /0/slot', 'DUPLICATE_VALUE /1/slot']],
    [[{ id: a, slot: 2 }, { id: c, title: 'C' }], 409, ['DUPLICATE_VALUE /0/slot', 'DUPLICATE_VALUE /1/slot']],
    [[{ id: a, slot: 9 }, { id: b, title: 'B' }], 409, ['DUPLICATE_VALUE /0/slot']],
    [[{ id: a, slot: 9 }, { id: b, slot: 0 }], 409, ['DUPLICATE_VALUE /0/slot']],
    [[{ id: a, slot: 7 }, { id: b, slot: 0 }, { id: c, slot: 7 }], 409, ['DUPLICATE_VALUE /0/slot', 'DUPLICATE_VALUE /2/slot']],
    [[{ id: a, title: '' }, { id: b, count: 'x' }, { id: c, nothing: 1 }], 400, ['INVALID_TYPE /1/count', 'TOO_SHORT /0/title', 'UNKNOWN_FIELD /2/nothing']],
    [[{ id: a, title: '' }, { id: nowhere, title: 'x' }, { id: 'text' }], 404, ['NOT_FOUND /1/id', 'NOT_FOUND /2/id']],
    [[{ id: a }, { title: 'x' }, { id: a }, { id: 1 }, 'x'], 400, ['INVALID_TYPE /3/id', 'INVALID_TYPE /4', 'INVALID_VALUE /2/id', 'REQUIRED /1/id']],
    [[], 400, ['TOO_FEW_ITEMS']],
    [{ id: a }, 405, []],
  ] // biome-ignore format: a line each
  for (const [body, status, errors] of cases) {
    const answer = await current.send(patch('items', body))
    assert.deepEqual([answer.status, places(answer).sort()], [status, errors], answer.text)
    assert.deepEqual(await stateOf(current, ['items']), before)
  }
})

it('BLK-2: business rules see the changes of the records before', async (context) => {
  const current = await trialFor(context, depot)
  const day = '2026-12-01'
  const body = [
    { room: 'A', day },
    { room: 'B', day },
    { room: 'C', day },
  ]
  const { data } = (await current.send({ method: 'POST', path: '/v1/bookings', body })).json
  const [a, b, c] = data.map(({ id }: { id: string }) => id)
  const both = await current.send(
    patch('bookings', [
      { id: a, room: 'D' },
      { id: b, room: 'D' },
    ]),
  )
  assert.deepEqual([both.status, places(both)], [409, ['ROOM_TAKEN /1']])
  const after = await current.send(
    patch('bookings', [
      { id: c, kept: false },
      { id: a, room: 'C' },
    ]),
  )
  assert.equal(after.status, 200, after.text)
})

it('BLK-2: a caller changes only what they may, and sees only what they may read', async (context) => {
  const current = await trialFor(context, depot)
  const own = await current.make('notes', { code: 'own', text: 'x' }, 'eve')
  const foreign = await current.make('notes', { code: 'foreign', text: 'x' }, 'ann')
  const changes = [
    { id: own.id, text: 'y' },
    { id: foreign.id, text: 'y' },
  ]
  const editor = await current.send(patch('notes', changes, { as: 'eve' }))
  assert.equal(editor.status, 200, editor.text)
  assert.deepEqual([editor.json.data[0].text, editor.json.data[1]], ['y', null])
  const before = await stateOf(current, ['notes'])
  const other = await current.send(patch('notes', [...changes, { id: nowhere, text: 'y' }], { as: 'ann' }))
  assert.deepEqual([other.status, places(other)], [403, ['FORBIDDEN /0']])
  assert.deepEqual(await stateOf(current, ['notes']), before)
})

it('BLK-2: where conditions are required, an array is 428 and names /transactions; no tag fits an array', async (context) => {
  const current = await trialFor(context, depot)
  const rate = await current.make('rates', { code: 'a', value: 1 })
  const answer = await current.send(patch('rates', [{ id: rate.id, value: 2 }], { headers: { 'if-match': '*' } }))
  assert.deepEqual([answer.status, answer.json.code], [428, 'PRECONDITION_REQUIRED'])
  assert.match(answer.json.detail, /\/transactions/)
  const [a] = await made(current, three)
  const { headers } = await current.send({ path: `/v1/items/${a}` })
  const tagged = await current.send(
    patch('items', [{ id: a, count: 1 }], { headers: { 'if-match': headers['etag'] ?? '' } }),
  )
  assert.deepEqual([tagged.status, places(tagged)], [412, ['PRECONDITION_FAILED If-Match']])
})

it('CON-6, BLK-2: 403 and 404 of a record come before the 428 and 412 of an array', async (context) => {
  const notes = { ...(depot.resources['notes'] as ResourceDeclaration), preconditions: 'required' } as const
  const current = await trialFor(context, { ...depot, resources: { ...depot.resources, notes } })
  const note = await current.make('notes', { code: 'a', text: 'x' }, 'ann')
  const all = (as: string, ...ids: string[]) => current.send(patch('notes', ids.map((id) => ({ id, text: 'y' })), { as })) // biome-ignore format: a line
  const said = ({ status, ...answer }: Awaited<ReturnType<typeof all>>) => [status, ...places(answer as never)]
  assert.deepEqual(said(await all('ann', note.id, nowhere)), [404, 'NOT_FOUND /1/id'])
  assert.deepEqual(said(await all('eve', note.id)), [428])
  assert.deepEqual(said(await all('bob', note.id, nowhere)), [403, 'FORBIDDEN /0'])
  assert.deepEqual(said(await all('ann', note.id)), [428])
  const [a] = await made(current, three)
  const tagged = { headers: { 'if-match': '"1"' } }
  const missing = await current.send(patch('items', [{ id: a }, { id: nowhere }], tagged))
  assert.deepEqual(said(missing), [404, 'NOT_FOUND /1/id'])
  assert.deepEqual(said(await current.send(patch('items', [{ id: a }], tagged))), [412, 'PRECONDITION_FAILED If-Match'])
})

it('BLK-2: a JSON Patch is no array of records, and nested collections have no PATCH', async (context) => {
  const current = await trialFor(context, depot)
  const shelf = await current.make('shelves', { name: 'A' })
  const type = { 'content-type': 'application/json-patch+json' }
  assert.equal((await current.send(patch('items', [], { headers: type }))).status, 415)
  const nested = await current.send(patch(`shelves/${shelf.id}/items`, []))
  assert.deepEqual([nested.status, nested.headers['allow']], [405, 'GET, HEAD, POST, QUERY, OPTIONS'])
  const allowed = async (path: string) => (await current.send({ method: 'OPTIONS', path })).headers['allow']
  assert.equal(await allowed('/v1/items'), 'GET, HEAD, POST, PUT, PATCH, QUERY, OPTIONS')
  assert.equal(await allowed('/v1/bookings'), 'GET, HEAD, POST, PATCH, QUERY, OPTIONS')
})

it('BLK-2: an older version changes in its own terms', async (context) => {
  const { send } = await trialFor(context, desk)
  const person = (await send({ method: 'POST', path: '/v3/people', body: { name: 'Ann' } })).json
  const body = ['One', 'Two'].map((headline) => ({ headline, person_id: person.id, cents: 250, labels: ['x'] }))
  const { data } = (await send({ method: 'POST', path: '/v3/cases', body })).json
  const changes = [
    { id: data[1].id, price: 3.5, state: 'done' },
    { id: data[0].id, subject: 'First' },
  ]
  const answer = await send({ method: 'PATCH', path: '/v1/tickets', body: changes })
  assert.deepEqual(answer.json.data?.map((each: { price: number }) => each.price), [3.5, 2.5], answer.text) // biome-ignore format: a line
  const { json } = await send({ path: `/v3/cases/${data[1].id}` })
  assert.deepEqual([json.cents, json.state, json.labels], [350, 'closed', ['x']])
  const wrong = await send({ method: 'PATCH', path: '/v1/tickets', body: [{ id: data[0].id, subject: 'x' }] })
  assert.deepEqual([wrong.status, places(wrong)], [400, ['TOO_SHORT /0/subject']])
})
