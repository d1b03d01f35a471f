/** HIS-1, HIS-3: states are in the order of the changes, whatever clocks say, and however many servers write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { newDatabase } from '../engine.ts'
import { trial, trialFor } from '../harness.ts'

const all = 'anyone' as const
const access = {
  ...{ read: all, create: all, update: all, delete: all, restore: all, readDeleted: all, readHistory: all },
} as const

const library = defineInterface({
  name: 'library',
  resources: { books: { fields: { title: { type: 'string' } }, access, events: true, history: true } },
})

const shop = defineInterface({
  name: 'shop',
  resources: {
    carts: { fields: { total: { type: 'integer', sumOf: 'lines.amount' } }, access },
    lines: {
      fields: {
        amount: { type: 'integer' },
        cart_id: { reference: 'carts', onDelete: 'cascade', optional: true },
        other_id: { reference: 'carts', onDelete: 'clear', optional: true, inverse: 'others' },
      },
      access,
    },
  },
})

interface Revision {
  readonly kind: string
  readonly created_at: string
  readonly record: { readonly title: string } | null
}

const hour = 3_600_000
const isOrdered = (states: readonly Revision[]) =>
  states.every(({ created_at }, index) => index === 0 || created_at <= (states[index - 1]?.created_at ?? ''))

test('HIS-1, HIS-3: after a clock was set back, states stay in order, and each time has one state', async (context) => {
  const { send, make, clock } = await trialFor(context, library)
  const { id } = await make('books', { title: 'A' })
  const path = `/v1/books/${id}`
  const retitle = (title: string) => send({ method: 'PATCH', path, body: { title } })
  const began = Date.now()
  clock.ahead = hour
  await retitle('B')
  clock.ahead = 0
  await retitle('C')
  await send({ method: 'DELETE', path })
  clock.ahead = -hour
  assert.equal((await send({ method: 'POST', path: `${path}/restore` })).status, 200)
  clock.ahead = 2 * hour
  await retitle('D')
  const states: Revision[] = (await send({ path: `${path}/revisions` })).json.data
  assert.deepEqual(
    states.map(({ kind, record }) => `${kind} ${record?.title}`),
    ['updated D', 'restored C', 'deleted undefined', 'updated C', 'updated B', 'created A'],
  )
  assert.ok(isOrdered(states), JSON.stringify(states.map((each) => each.created_at)))
  const pages: Revision[] = []
  for (let query = '?limit=1'; query !== ''; ) {
    const { data, pagination } = (await send({ path: `${path}/revisions${query}` })).json
    pages.push(...data)
    query = pagination.next_cursor === null ? '' : `?limit=1&cursor=${pagination.next_cursor}`
  }
  assert.deepEqual(pages, states)
  const at = async (time: number) => {
    const headers = { 'accept-datetime': new Date(time).toUTCString() }
    const { status, json, headers: given } = await send({ path, headers })
    return [status, json.title, given['memento-datetime']]
  }
  clock.ahead = 3 * hour
  assert.deepEqual((await at(began - 10_000))[0], 404)
  const headers = { 'accept-datetime': new Date(began - 10_000).toUTCString() }
  assert.match((await send({ path, headers })).json.detail, /^There was no such record in \w+ at that time\.$/)
  assert.equal((await at(began + hour / 2))[1], 'A')
  // All that happened while the clock was behind is of the last time before: its last state counts.
  assert.equal((await at(began + hour + hour / 2))[1], 'C')
  const [status, title, memento] = await at(began + 2 * hour + 10_000)
  assert.deepEqual([status, title], [200, 'D'])
  assert.equal((await at(Date.parse(String(memento))))[1], 'D')
})

test('RES-5, RES-17: a change by a server whose clock is behind sets no time back', async (context) => {
  const { send, make, clock } = await trialFor(context, shop)
  clock.ahead = hour
  const { id } = await make('carts', {})
  const line = await make('lines', { cart_id: id, amount: 1 })
  const other = await make('lines', { other_id: id, amount: 1 })
  const timesOf = async () => {
    const found = [`carts/${id}`, `lines/${line.id}`, `lines/${other.id}`].map((path) => send({ path: `/v1/${path}` }))
    return (await Promise.all(found)).map(({ json }) => json.updated_at)
  }
  const before = await timesOf()
  clock.ahead = 0
  const change = { method: 'PATCH', path: `/v1/lines/${line.id}`, body: { amount: 2 } }
  const restore = { method: 'POST', path: `/v1/carts/${id}/restore` }
  for (const each of [change, { method: 'DELETE', path: `/v1/carts/${id}` }, restore]) {
    const { status } = await send(each)
    assert.ok(status === 200 || status === 204, `${each.method} ${each.path} ${status}`)
  }
  assert.equal((await send({ path: `/v1/lines/${other.id}` })).json.other_id, null)
  assert.deepEqual(await timesOf(), before)
  await make('lines', { cart_id: id, amount: 1 })
  assert.equal((await send({ method: 'DELETE', path: `/v1/lines/${line.id}` })).status, 204)
  const { total, updated_at } = (await send({ path: `/v1/carts/${id}` })).json
  assert.deepEqual([total, updated_at], [1, before[0]])
})

test('HIS-1: two servers that change one record at the same time keep each state once, in order', async () => {
  const database = await newDatabase({ memory: false })
  const servers = [await trial(library, { database }), await trial(library, { database })] as const
  const { id } = await servers[0].make('books', { title: 'start' })
  const path = `/v1/books/${id}`
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      servers[index % 2 === 0 ? 0 : 1].send({ method: 'PATCH', path, body: { title: `${index}` } }),
    ),
  )
  const changed = answers.filter(({ status }) => status === 200)
  assert.ok(changed.length > 20, answers.map(({ status }) => status).join())
  const { json } = await servers[0].send({ path: `${path}/revisions?limit=100` })
  const states: Revision[] = json.data
  assert.equal(states.length, changed.length + 1)
  assert.ok(isOrdered(states))
  assert.deepEqual(states[0]?.record, (await servers[1].send({ path })).json)
  assert.equal(new Set(states.map(({ record }) => record?.title)).size, states.length)
  // Events and states are of one order.
  const events: { readonly data: unknown }[] = (await servers[0].send({ path: '/v1/events?limit=100' })).json.data
  assert.deepEqual(events.map(({ data }) => data).reverse(), states.map(({ record }) => record)) // biome-ignore format: a line
  for (const each of servers) await each.close()
})
