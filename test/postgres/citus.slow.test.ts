/** TEN-5 on Citus: tenants on several nodes have everything that they have on one PostgreSQL. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { newKey } from '../../packages/server/src/policy/api-keys.ts'
import type { Host } from '../../packages/server/src/storage/administration/administration.ts'
import { postgresHost } from '../../packages/server/src/storage/postgres/administration.ts'
import { schemaOf } from '../../packages/server/src/storage/postgres/tenant-schema.ts'
import { query } from './query.ts'
import { addKey, type Served, serve } from './served.ts'

const url = process.env['CITUS_URL'] ?? ''
const skip = url === '' && 'CITUS_URL names no coordinator of Citus with schema-based sharding'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

/** @param added further fields of items */
const declared = (added: InterfaceDeclaration['resources'][string]['fields'] = {}) =>
  completeCatalog({
    name: 'shop',
    resources: {
      orders: {
        fields: { name: { type: 'string', unique: true }, total: { type: 'integer', sumOf: 'items.price' } },
        access: everybody,
      },
      items: {
        fields: {
          title: { type: 'string', search: true, filter: true },
          state: { enum: ['open', 'paid'], default: 'open' },
          price: { type: 'integer', default: 0, sort: true },
          number: { sequence: {} },
          order_id: { reference: 'orders', onDelete: 'cascade' },
          ...added,
        },
        access: everybody,
        events: true,
        history: true,
        summaries: { by_state: { group: ['state'], sum: ['price'] } },
      },
    },
  })
const catalog = declared()

/** A server of a host that is closed when the test ends. */
function hostFor(context: TestContext): Host {
  const host = postgresHost({ url, unsafe: true })
  context.after(() => host.close())
  return host
}

async function tenantsOn(context: TestContext, host: Host, count: number) {
  const tenants = Array.from({ length: count }, () => uuidv7())
  context.after(() => Promise.all(tenants.map((tenant) => hostFor(context).remove(tenant))))
  return Promise.all(
    tenants.map(async (tenant) => {
      const storage = await host.administer(tenant).open(catalog, {})
      const key = newKey()
      await addKey(storage, key)
      return { tenant, schema: schemaOf(tenant), ...serve(context, catalog, storage, key) }
    }),
  )
}

/** The port of the node that a schema is on. */
async function nodeOf(schema: string): Promise<unknown> {
  const text = `select distinct nodeport as port from citus_shards where table_name::text like '${schema}.%'`
  const found = await query(url, text)
  assert.equal(found.length, 1)
  return found[0]?.['port']
}

interface Event {
  readonly id: string
  readonly kind: string
  readonly record: string
}

/** The events after an event; left out: all of them, from the first. */
async function eventsAfter({ send }: Pick<Served, 'send'>, after?: string): Promise<Event[]> {
  const { status, json } = await send('GET', `/v1/events?limit=100${after === undefined ? '' : `&after=${after}`}`)
  assert.equal(status, 200, JSON.stringify(json))
  return json.data
}

/** Follows events until so many have come. */
async function follow(served: Pick<Served, 'send'>, count: number): Promise<Event[]> {
  const events: Event[] = []
  const until = Date.now() + 120_000
  while (events.length < count && Date.now() < until) {
    events.push(...(await eventsAfter(served, events.at(-1)?.id)))
  }
  return events
}

/** Serves a tenant that others have opened, by another server. */
async function servedBesides(context: TestContext, { tenant, key }: { readonly tenant: string; readonly key: string }) {
  const storage = await hostFor(context).administer(tenant).open(catalog, { isCurrent: true })
  return serve(context, catalog, storage, key)
}

test('TEN-5: tenants on several nodes have totals, sums, summaries, searches, events and histories', {
  skip,
}, async (context) => {
  const tenants = await tenantsOn(context, hostFor(context), 4)
  const nodes = new Set(await Promise.all(tenants.map(({ schema }) => nodeOf(schema))))
  assert.ok(nodes.size > 1)
  for (const tenant of tenants) {
    const { send } = tenant
    const order = (await send('POST', '/v1/orders', { name: 'first' })).json
    assert.equal((await send('POST', '/v1/orders', { name: 'first' })).status, 409)
    const items = []
    for (const price of [1, 2, 3]) {
      const made = await send('POST', '/v1/items', { title: 'Blue Anvil', price, order_id: order.id })
      assert.equal(made.status, 201)
      items.push(made.json)
    }
    assert.deepEqual(
      items.map(({ number }) => number),
      [1, 2, 3],
    )
    const path = `/v1/items/${items[0].id}`
    assert.equal((await send('PATCH', path, { price: 10 })).status, 200)
    assert.equal((await send('GET', `/v1/orders/${order.id}`)).json.total, 15)
    assert.equal((await send('GET', '/v1/items?q=anvil&title=Blue%20Anvil')).json.pagination.total_count, 3)
    const { json: summary } = await send('GET', '/v1/items/summary?group=state&sum=price')
    assert.deepEqual(summary.data, [{ group: { state: 'open' }, count: 3, sum: { price: '15' } }])
    assert.equal((await send('DELETE', `/v1/orders/${order.id}`)).status, 204)
    assert.equal((await send('POST', `/v1/orders/${order.id}/restore`)).status, 200)
    assert.equal((await send('GET', `/v1/orders/${order.id}`)).json.total, 15)
    const { json: history } = await send('GET', `${path}/revisions`)
    assert.deepEqual(
      history.data.map(({ kind, caller }: { kind: string; caller: string | null }) => `${kind} by ${caller}`),
      ['restored by root', 'deleted by root', 'updated by root', 'created by root'],
    )
    const events = await eventsAfter(tenant)
    const three = (kind: string) => Array(3).fill(kind)
    assert.deepEqual(
      events.map(({ kind }) => kind),
      [...three('created'), 'updated', ...three('deleted'), ...three('restored')],
    )
  }
})

test('TEN-5: two servers write, and a third follows each event once, in order', { skip }, async (context) => {
  const [tenant] = await tenantsOn(context, hostFor(context), 1)
  const writers = [await servedBesides(context, tenant!), await servedBesides(context, tenant!)]
  const order = (await tenant!.send('POST', '/v1/orders', { name: 'all' })).json.id
  const rounds = 40
  const following = follow(tenant!, 2 * rounds)
  const written = await Promise.all(
    writers.map(async ({ send }, writer) => {
      const made: string[] = []
      for (let round = 0; round < rounds; round += 10) {
        const batch = Array.from({ length: 10 }, (_, index) =>
          send('POST', '/v1/items', { title: `${writer} ${round + index}`, price: 1, order_id: order }),
        )
        for (const { status, json } of await Promise.all(batch)) {
          assert.equal(status, 201, JSON.stringify(json))
          made.push(json.id)
        }
      }
      return made
    }),
  )
  const events = await following
  assert.deepEqual(events.map(({ record }) => record).toSorted(), written.flat().toSorted())
  assert.deepEqual(await follow(tenant!, 2 * rounds), events)
  assert.equal((await tenant!.send('GET', `/v1/orders/${order}`)).json.total, 2 * rounds)
  const numbers = await tenant!.send('GET', '/v1/items?per_page=1&sort=-created_at')
  assert.equal(numbers.json.pagination.total_count, 2 * rounds)
})

test('TEN-5: a tenant is deleted, restored and migrated on its node, for every server at once', {
  skip,
}, async (context) => {
  const [tenant] = await tenantsOn(context, hostFor(context), 1)
  const { send, schema } = tenant!
  const other = await servedBesides(context, tenant!)
  const order = (await send('POST', '/v1/orders', { name: 'one' })).json.id
  await send('POST', '/v1/items', { title: 'kept', price: 3, order_id: order })
  await query(url, `alter schema ${schema} rename to ${schema}_deleted`)
  for (const each of [send, other.send]) {
    assert.equal((await each('GET', `/v1/orders/${order}`)).json.code, 'UNKNOWN_TENANT')
    assert.equal((await each('POST', '/v1/orders', { name: 'lost' })).json.code, 'UNKNOWN_TENANT')
  }
  assert.ok((await hostFor(context).size(tenant!.tenant)) > 0)
  await query(url, `alter schema ${schema}_deleted rename to ${schema}`)
  assert.equal((await other.send('GET', `/v1/orders/${order}`)).json.name, 'one')
  const newer = declared({ colour: { type: 'string', default: 'red', filter: true } })
  const storage = await hostFor(context).administer(tenant!.tenant).open(newer, {})
  const migrated = serve(context, newer, storage, tenant!.key)
  const { json } = await migrated.send('GET', '/v1/items?colour=red')
  assert.deepEqual(
    json.data.map(({ title, colour }: { title: string; colour: string }) => [title, colour]),
    [['kept', 'red']],
  )
  await migrated.send('POST', '/v1/items', { title: 'new', colour: 'blue', price: 1, order_id: order })
  assert.deepEqual(
    (await eventsAfter(migrated)).map(({ kind }) => kind),
    ['created', 'created'],
  )
})

// A request that is refused meanwhile has changed nothing.
test('TEN-5: servers follow a tenant that Citus moves to another node and back', {
  skip,
}, async (context) => {
  const host = hostFor(context)
  const [first, last] = (
    await query(url, 'select nodeport as port from pg_dist_node where shouldhaveshards order by groupid')
  ).map(({ port }) => Number(port))
  const move = (schema: string, port: unknown) =>
    query(
      url,
      `select citus_schema_move('${schema}', nodename, nodeport, shard_transfer_mode := 'block_writes')
      from pg_dist_node where nodeport = ${port}`,
    )
  const tenants = await tenantsOn(context, host, 2)
  const homes = await Promise.all(tenants.map(({ schema }) => nodeOf(schema)))
  const tenant = tenants[homes.indexOf(first)]!
  const order = (await tenant.send('POST', '/v1/orders', { name: 'one' })).json.id
  let made = 0
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const { status, json } = await tenant.send('POST', '/v1/items', {
        title: String(made),
        price: 1,
        order_id: order,
      })
      if (status === 201) made++
      else assert.ok(status === 502 || status === 503, JSON.stringify(json))
      await sleep(20)
    }
  })()
  await sleep(300)
  await move(tenant.schema, last)
  const before = made
  for (let attempt = 0; made < before + 10; attempt++) {
    assert.ok(attempt < 300)
    await sleep(50)
  }
  isOver = true
  await writing
  const events = await follow(tenant, made)
  assert.equal(new Set(events.map(({ record }) => record)).size, made)
  const { json } = await tenant.send('GET', `/v1/orders/${order}`)
  assert.equal(json.total, made)
  const item = events.at(-1)!.record
  const { json: history } = await tenant.send('GET', `/v1/items/${item}/revisions`)
  assert.equal(history.data[0].caller, 'root')
  await move(tenant.schema, first)
  const back = await servedBesides(context, tenant)
  const { json: latest } = await back.send('POST', '/v1/items', { title: 'back', price: 1, order_id: order })
  const [event, ...others] = await eventsAfter(tenant, events.at(-1)!.id)
  assert.deepEqual([event?.record, others], [latest.id, []])
})
