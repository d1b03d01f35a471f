/** BLK-2: PUT of a collection replaces the record that has a unique value, or creates it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ResourceDeclaration } from 'resourced-contract/model/declaration'
import { depot } from '../declarations-depot.ts'
import { desk } from '../declarations-desk.ts'
import { places, type Sent, trialFor } from '../harness.ts'
import { countOf, stateOf } from '../steps.ts'

const put = (path: string, body: unknown, more: Partial<Sent> = {}): Sent => ({
  method: 'PUT',
  path: `/v1/${path}`,
  body,
  ...more,
})

it('BLK-2: the record with the value is created at first, and replaced afterwards', async (context) => {
  const current = await trialFor(context, depot)
  const first = await current.send(put('items?sku=ABC', { title: 'One', slot: 3, count: 4 }))
  assert.equal(first.status, 201, first.text)
  assert.equal(first.headers['location'], `/v1/items/${first.json.id}`)
  assert.deepEqual([first.json.sku, first.json.number], ['ABC', 1])
  const again = await current.send(put('items?sku=ABC', { title: 'Two', sku: 'ABC' }))
  assert.equal(again.status, 200, again.text)
  const { id, title, slot, count, number } = again.json
  assert.deepEqual([id, title, slot, count, number], [first.json.id, 'Two', null, 0, 1])
  assert.notEqual(again.headers['etag'], first.headers['etag'])
  assert.equal(await countOf(current, 'items'), 1)
  assert.equal((await current.send({ method: 'DELETE', path: `/v1/items/${id}` })).status, 204)
  const new_ = await current.send(put('items?sku=ABC', { title: 'Three' }))
  assert.deepEqual([new_.status, new_.json.id === id], [201, false], 'a deleted record does not count')
})

it('BLK-2: values of other types are read as filters read them', async (context) => {
  const current = await trialFor(context, depot)
  const cases: [query: string, body: object][] = [
    ['slot=12', { sku: 'sku-1', title: '1' }],
    ['price=19.9', { sku: 'sku-2', title: '2' }],
  ]
  for (const [query, body] of cases) {
    const first = await current.send(put(`items?${query}`, body))
    const again = await current.send(put(`items?${query}`, { ...body, count: 1 }))
    assert.deepEqual([first.status, again.status, again.json.id], [201, 200, first.json.id], again.text)
  }
  const wrong = await current.send(put('items?slot=x', { sku: 'sku-3', title: '3' }))
  assert.deepEqual([wrong.status, places(wrong)], [400, ['INVALID_TYPE /slot']])
})

it('BLK-2: an array with key replaces or creates each record, all or none', async (context) => {
  const current = await trialFor(context, depot)
  const bodies = ['a', 'b', 'c'].map((name) => ({ sku: `sku-${name}`, title: name }))
  const first = await current.send(put('items?key=sku', bodies.slice(0, 2)))
  assert.equal(first.status, 201, first.text)
  const [a, b] = first.json.data
  const mixed = await current.send(put('items?key=sku', [bodies[2], { ...bodies[1], count: 7 }, bodies[0]]))
  assert.equal(mixed.status, 200, mixed.text)
  assert.deepEqual([mixed.json.data[1].id, mixed.json.data[1].count, mixed.json.data[2].id], [b.id, 7, a.id])
  const before = await stateOf(current, ['items'])
  const cases: [body: unknown, status: number, errors: string[]][] = [
    [[{ title: 'x' }, { sku: null, title: 'x' }], 400, ['REQUIRED /0/sku', 'REQUIRED /1/sku']],
    [[{ sku: 'sku-a', title: '' }, { sku: 'sku-n', count: 'x' }], 400, ['INVALID_TYPE /1/count', 'REQUIRED /1/title', 'TOO_SHORT /0/title']],
    [[{ sku: 'sku-a', title: 'x' }, { sku: 'sku-a', title: 'y' }], 409, ['DUPLICATE_VALUE /0/sku', 'DUPLICATE_VALUE /1/sku']],
    [[{ sku: 'sku-n', title: 'x' }, { sku: 'sku-n', title: 'y' }], 409, ['DUPLICATE_VALUE /0/sku', 'DUPLICATE_VALUE /1/sku']],
    [[], 400, ['TOO_FEW_ITEMS']],
  ] // biome-ignore format: a line each
  for (const [body, status, errors] of cases) {
    const answer = await current.send(put('items?key=sku', body))
    assert.deepEqual([answer.status, places(answer).sort()], [status, errors], answer.text)
    assert.deepEqual(await stateOf(current, ['items']), before)
  }
  const keyless = await current.send(put('items?key=slot', [{ sku: 'sku-n', title: '' }, { sku: 'sku-o', slot: null, title: 'x' }])) // biome-ignore format: a line
  const errors = ['REQUIRED /0/slot', 'REQUIRED /1/slot', 'TOO_SHORT /0/title']
  assert.deepEqual([keyless.status, places(keyless).sort()], [400, errors], keyless.text)
})

it('BLK-2: conditions choose between creation and replacement', async (context) => {
  const current = await trialFor(context, depot)
  const onlyNew = { headers: { 'if-none-match': '*' } }
  const missing = await current.send(put('items?sku=ABC', { title: 'x' }, { headers: { 'if-match': '*' } }))
  assert.deepEqual([missing.status, places(missing)], [412, ['PRECONDITION_FAILED If-Match']])
  assert.match(missing.json.detail, /there is no such record/)
  const first = await current.send(put('items?sku=ABC', { title: 'x' }, onlyNew))
  assert.equal(first.status, 201, first.text)
  const there = await current.send(put('items?sku=ABC', { title: 'y' }, onlyNew))
  assert.equal(there.status, 412)
  assert.match(there.json.detail, /^If-None-Match does not hold: there is such a record already/)
  const match = { headers: { 'if-match': first.headers['etag'] ?? '' } }
  assert.equal((await current.send(put('items?sku=ABC', { title: 'z' }, match))).status, 200)
  assert.equal((await current.send(put('items?sku=ABC', { title: 'z' }, match))).status, 412)
  // Required conditions.
  assert.equal((await current.send(put('rates?code=a', { value: 1 }))).status, 201)
  assert.equal((await current.send(put('rates?code=a', { value: 2 }))).status, 428)
  assert.equal((await current.send(put('rates?code=a', { value: 2 }, onlyNew))).status, 412)
  const array = await current.send(put('rates?key=code', [{ code: 'b', value: 1 }]))
  assert.deepEqual([array.status, /\/transactions/.test(array.json.detail)], [428, true])
})

it('BLK-2: a value in the body that differs from the address is refused, and so is anything but a unique field', async (context) => {
  const current = await trialFor(context, depot)
  const other = await current.send(put('items?sku=ABC', { title: 'x', sku: 'other' }))
  assert.deepEqual([other.status, places(other)], [400, ['INVALID_VALUE /sku']])
  const equal = await current.send(put('items?price=1.5', { title: 'x', sku: 'sku-1', price: '1.50' }))
  assert.equal(equal.status, 201, equal.text)
  const refused: [path: string, body: unknown, errors: string[]][] = [
    ['items', { title: 'x' }, ['UNKNOWN_PARAMETER sku']],
    ['items?title=x', { sku: 'sku-2' }, ['UNKNOWN_PARAMETER title']],
    ['items?pin=1', { sku: 'sku-2', title: 'x' }, ['UNKNOWN_PARAMETER pin']],
    ['items?number=1', { sku: 'sku-2', title: 'x' }, ['UNKNOWN_PARAMETER number']],
    ['items?key=title', [{ title: 'x' }], ['NOT_IN_ENUM key']],
    ['items?sku=x', [{ title: 'x' }], ['UNKNOWN_PARAMETER sku']],
    ['items', [{ title: 'x' }], ['UNKNOWN_PARAMETER key']],
    ['items?sku=x&slot=1', { title: 'x' }, ['UNKNOWN_PARAMETER slot']],
    ['items?sku=a%00b', { title: 'x' }, ['INVALID_TEXT sku']],
    ['items?sku=%00', [{ title: 'x' }], ['INVALID_TEXT sku']],
  ]
  for (const [path, body, errors] of refused) {
    const answer = await current.send(put(path, body))
    assert.deepEqual([answer.status, places(answer)], [400, errors], answer.text)
  }
  assert.equal((await current.send(put('bookings?room=x', {}))).status, 405)
})

it('BLK-2: a number of the address is written as in a body, and none is taken for another', async (context) => {
  const current = await trialFor(context, depot)
  const made = await current.send(put('items?slot=16', { sku: 'sku-1', title: 'x' }))
  assert.equal(made.status, 201, made.text)
  for (const slot of ['0x10', '016', '16%20', '16.0000000000000000001', '%2B16', '1_6', '']) {
    const answer = await current.send(put(`items?slot=${slot}`, { sku: 'sku-2', title: 'other' }))
    assert.deepEqual([answer.status, places(answer)], [400, ['INVALID_TYPE /slot']], slot)
  }
  assert.equal((await current.send({ path: `/v1/items/${made.json.id}` })).json.title, 'x')
  const zero = await current.send(put('items?slot=-0', { sku: 'sku-3', title: 'x', slot: 0 }))
  assert.deepEqual([zero.status, zero.json.slot], [201, 0], zero.text)
})

it('BLK-2: who may create and not update gets 403 where the record is, whether or not they may read it', async (context) => {
  const current = await trialFor(context, depot)
  await current.make('notes', { code: 'a', text: 'x' }, 'ann')
  for (const body of [{ text: 'y' }, {}]) {
    const answer = await current.send(put('notes?code=a', body, { as: 'bob' }))
    assert.deepEqual([answer.status, answer.json.code, places(answer)], [403, 'FORBIDDEN', []])
  }
  const many = await current.send(
    put(
      'notes?key=code',
      [
        { code: 'b', text: 'x' },
        { code: 'a', text: 'y' },
      ],
      { as: 'bob' },
    ),
  )
  assert.deepEqual([many.status, places(many)], [403, ['FORBIDDEN /1']])
  assert.equal((await current.send(put('notes?code=b', { text: 'y' }, { as: 'bob' }))).status, 201)
  const editor = await current.send(put('notes?code=a', { text: 'z' }, { as: 'eve' }))
  assert.deepEqual([editor.status, editor.text], [204, ''])
  const onlyCreates = { ...depot.resources['notes'], access: { read: 'anyone', create: 'anyone' } } as never
  const other = await trialFor(context, { ...depot, resources: { ...depot.resources, notes: onlyCreates } })
  assert.equal((await other.send(put('notes?code=a', { text: 'y' }, { as: 'bob' }))).status, 201)
  assert.equal((await other.send(put('notes?code=a', { text: 'y' }, { as: 'bob' }))).status, 403)
})

it('BLK-2: an older version identifies records by its own name of the field', async (context) => {
  const { send } = await trialFor(context, desk)
  const person = (await send({ method: 'POST', path: '/v3/people', body: { name: 'Ann' } })).json
  const body = { subject: 'One', price: 1.5, asker_id: person.id }
  const first = await send({ method: 'PUT', path: '/v1/tickets?code=a', body })
  assert.equal(first.status, 201, first.text)
  const again = await send({ method: 'PUT', path: '/v1/tickets?code=a', body: { ...body, price: 2.5 } })
  assert.deepEqual([again.status, again.json.id, again.json.price], [200, first.json.id, 2.5], again.text)
  const many = await send({
    method: 'PUT',
    path: '/v1/tickets?key=code',
    body: [
      { ...body, code: 'a' },
      { ...body, code: 'b' },
    ],
  })
  assert.deepEqual([many.status, many.json.data?.[0].id], [200, first.json.id], many.text)
  assert.equal((await send({ path: `/v3/cases/${first.json.id}` })).json.cents, 150)
  const keyless = await send({ method: 'PUT', path: '/v1/tickets?key=code', body: [body, { ...body, code: 5 }] })
  assert.deepEqual([keyless.status, places(keyless)], [400, ['REQUIRED /0/code', 'INVALID_TYPE /1/code']])
})

it('BLK-2: a value that `prepare` changes to a taken one is 409', async (context) => {
  const { items } = depot.resources as Record<string, ResourceDeclaration>
  const prepare: ResourceDeclaration['prepare'] = ({ next }) => ({ ...next, sku: String(next['sku']).toUpperCase() })
  const resources = { ...depot.resources, items: { ...items, prepare } } as never
  const { send } = await trialFor(context, { ...depot, resources })
  assert.equal((await send(put('items?sku=abc', { title: 'One' }))).json.sku, 'ABC')
  assert.equal((await send(put('items?sku=ABC', { title: 'Two' }))).status, 200)
  const taken = await send(put('items?sku=abc', { title: 'Three' }))
  assert.deepEqual([taken.status, places(taken)], [409, ['DUPLICATE_VALUE /sku']])
  const many = await send(put('items?key=sku', [{ title: 'Three', sku: 'abc' }]))
  assert.deepEqual([many.status, places(many)], [409, ['DUPLICATE_VALUE /0/sku']])
})
