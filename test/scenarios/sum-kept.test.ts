/** SUM-3: kept summaries are what a summary of all records finds, after changes of every kind. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { administer } from '../../packages/server/src/server/open-database.ts'
import { pick, randomFrom } from '../durability/random.ts'
import { engine, type TrialDatabase } from '../engine.ts'
import { purgeAt, type Trial, trial, trialFor } from '../harness.ts'
import { fill, nowhere } from '../steps.ts'

const market: InterfaceDeclaration = {
  name: 'market',
  limits: { pageSize: { default: 100, max: 100 } },
  versions: { v1: {}, v2: {} },
  changes: [
    {
      version: 'v2',
      resource: 'orders',
      was: 'sales',
      rename: { state: 'status', cost: 'price' },
      remove: { fee: { schema: { type: 'integer' }, value: 2 } },
    },
  ],
  resources: {
    shops: { fields: { name: { type: 'string' } }, access: { read: 'anyone' } },
    orders: {
      fields: {
        shop_id: { reference: 'shops', onDelete: 'cascade' },
        buyer_id: { reference: 'shops', onDelete: 'clear', optional: true },
        status: { enum: ['open', 'paid', 'sent'], optional: true },
        gift: { type: 'boolean', optional: true },
        price: { type: 'decimal', precision: 38, scale: 3, optional: true },
        pieces: { type: 'integer', optional: true },
        paid_at: { type: 'string', format: 'date-time', optional: true },
        due: { type: 'string', format: 'date', optional: true },
        note: { type: 'string', optional: true, filter: true },
      },
      summaries: {
        by_status: { group: ['status', 'gift'], sum: ['price', 'pieces'] },
        by_shop: { group: ['shop_id', 'buyer_id'], sum: ['price'] },
        by_month: { group: ['paid_at:day', 'due:week', 'created_at:month'], sum: ['pieces'] },
      },
      access: { read: 'anyone' },
      deletion: { byFilter: true, gracePeriod: 'P1D' },
    },
  },
}

const questions = [
  'sum=price,pieces&avg=price',
  'group=status,gift&sum=price,pieces&avg=pieces',
  'group=gift&sum=price&sort=-sum.price&per_page=50',
  'group=status&status[not]=open&sum=pieces',
  'group=gift&where={"or":[{"status":"open"},{"gift":{"null":true}}]}',
  'group=shop_id&sum=price&avg=price',
  'group=buyer_id,shop_id',
  'group=paid_at:year&sum=pieces',
  'group=paid_at:week,due:week,created_at:year&avg=pieces',
  'group=paid_at:day&sort=-count&per_page=100',
]

/** A condition that all records meet, and that no kept summary has. */
const counted = '&created_at[gte]=2000-01-01T00:00:00Z'

async function compare({ send }: Trial, path = '/v2/orders/summary', asked = questions): Promise<void> {
  for (const question of asked) {
    const target = `${path}?${question.replace(/\{.*\}/, encodeURIComponent)}`
    const [kept, all] = await Promise.all([send({ path: target, as: 'ann' }), send({ path: `${target}${counted}` })])
    assert.equal(kept.status, 200, kept.text)
    assert.deepEqual(kept.json.data, all.json.data, question)
    assert.equal(kept.json.pagination.total_count, all.json.pagination.total_count, question)
  }
}

const random = randomFrom(Number(process.env['SEED'] ?? 11))

function order(shops: readonly string[]) {
  const instant = new Date(Date.parse('2025-12-20') + Math.floor(random() * 30) * 86_400_000 + 86_399_000).toISOString()
  const digits = pick(random, [3, 12, 34])
  const whole = String(
    BigInt(Math.floor(random() * 9) + 1) * 10n ** BigInt(digits) + BigInt(Math.floor(random() * 1e9)),
  )
  return {
    shop_id: pick(random, shops),
    buyer_id: pick(random, [...shops, null]),
    status: pick(random, ['open', 'paid', 'sent', null]),
    gift: pick(random, [true, false, null]),
    price: pick(random, [null, `${pick(random, ['', '-'])}${whole.slice(0, 35)}.${Math.floor(random() * 900) + 100}`]),
    pieces: pick(random, [null, Math.trunc((random() - 0.5) * 2 * Number.MAX_SAFE_INTEGER), 3]),
    paid_at: pick(random, [null, instant, instant.replace('Z', '+14:00')]),
    due: pick(random, [null, instant.slice(0, 10)]),
    note: pick(random, [null, 'a', 'b']),
  }
}

async function change(trial: Trial, shops: readonly string[]): Promise<void> {
  const { send } = trial
  const { data } = (await send({ path: '/v2/orders?include_deleted=true&limit=100' })).json
  const { id, shop_id } = data.length === 0 ? { id: nowhere, shop_id: nowhere } : pick<(typeof data)[0]>(random, data)
  const body = order(shops)
  const { status, price } = body
  const record = `/v2/orders/${id}`
  const requests = [
    { method: 'POST', path: '/v2/orders', body },
    {
      method: 'POST',
      path: '/v1/sales',
      body: { ...body, status: undefined, price: undefined, state: status, cost: price },
    },
    { method: 'PUT', path: record, body },
    { method: 'PATCH', path: record, body: { status } },
    { method: 'PATCH', path: record, body: { price, gift: true } },
    { method: 'PATCH', path: record, body: { note: body.note } },
    { method: 'DELETE', path: record },
    { method: 'POST', path: `${record}/restore` },
    { method: 'DELETE', path: `/v2/shops/${shop_id}` },
    { method: 'POST', path: `/v2/shops/${shop_id}/restore` },
    { method: 'POST', path: '/v2/orders/bulk-delete', body: { ids: [id] } },
    { method: 'DELETE', path: `/v2/orders?status=${status}&gift=true` },
  ] as const
  const answer = await send(pick(random, requests))
  assert.ok(answer.status < 500, answer.text)
}

describe('kept summaries', () => {
  it('SUM-3: they are exact after random changes of every kind', async (context) => {
    const trial = await trialFor(context, market)
    await compare(trial)
    for (let round = 0; round < Number(process.env['ROUNDS'] ?? 4); round++) {
      const shops = await fill(trial, 'shops', [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
      await fill(
        trial,
        'orders',
        Array.from({ length: 12 }, () => order(shops)),
      )
      for (let step = 0; step < 15; step++) await change(trial, shops)
      await compare(trial)
      await compare(trial, '/v1/sales/summary', ['group=state&sum=cost', 'avg=cost&sum=fee', 'group=created_at:year'])
      if (round % 4 === 2) await purgeAt(trial.app, Date.now() + 2 * 86_400_000)
    }
  })

  it('SUM-3: a group without records vanishes, and a new one is there at once', async (context) => {
    const trial = await trialFor(context, market)
    const groups = async () =>
      (await trial.send({ path: '/v2/orders/summary?group=status&sum=pieces' })).json.data.map(
        // biome-ignore lint/suspicious/noExplicitAny: a row
        ({ group, count, sum }: any) => [group.status, count, sum.pieces],
      )
    const [shop_id] = await fill(trial, 'shops', [{ name: 'a' }])
    const { id } = await trial.make('orders', { shop_id, status: 'open', pieces: 2 })
    assert.deepEqual(await groups(), [['open', 1, '2']])
    await trial.send({ method: 'PATCH', path: `/v2/orders/${id}`, body: { status: 'paid', pieces: null } })
    assert.deepEqual(await groups(), [['paid', 1, null]])
    await trial.send({ method: 'DELETE', path: `/v2/orders/${id}` })
    assert.deepEqual(await groups(), [])
    await trial.send({ method: 'POST', path: `/v2/orders/${id}/restore` })
    assert.deepEqual(await groups(), [['paid', 1, null]])
  })

  it('SUM-3: they are counted where records are there before, and when they are declared otherwise', async () => {
    const { orders, shops } = market.resources as Required<typeof market.resources>
    const { summaries: _, ...without } = orders!
    const declared = (summaries?: object) =>
      ({
        ...market,
        resources: { shops, orders: { ...without, ...(summaries && { summaries }) } },
      }) as InterfaceDeclaration
    const before = await trial(declared())
    const ids = await fill(before, 'shops', [{ name: 'a' }, { name: 'b' }])
    await fill(
      before,
      'orders',
      Array.from({ length: 40 }, () => order(ids)),
    )
    const { database } = before
    await before.app.close()
    for (const summaries of [orders?.summaries, { by_gift: { group: ['gift'], sum: ['price'] } }, undefined]) {
      const later = await trial(declared(summaries), { database })
      for (let step = 0; step < 10; step++) await change(later, ids)
      await compare(later)
      await later.app.close()
    }
    await database.remove()
  })

  it('SUM-3: they follow collections and fields that get other names', async () => {
    const { orders, shops } = market.resources as Required<typeof market.resources>
    const { status, price, ...others } = orders!.fields
    const summaries = { by_state: { group: ['state', 'shop_id'], sum: ['cost'] } }
    const sales = { ...orders!, fields: { ...others, state: status, cost: price }, summaries }
    const before = await trial({ name: 'market', resources: { shops, sales } } as InterfaceDeclaration)
    const ids = await fill(before, 'shops', [{ name: 'a' }, { name: 'b' }])
    const sold = Array.from({ length: 20 }, () => order(ids)).map(({ status: state, price: cost, ...rest }) => ({
      ...{ ...rest, state, cost },
    }))
    await fill(before, 'sales', sold)
    await before.app.close()
    const later = await trial(market, { database: before.database })
    for (let step = 0; step < 10; step++) await change(later, ids)
    await compare(later)
    await later.close()
  })

  it('SUM-3: callers who may read a part of the records get the figures of that part', async (context) => {
    const own = {
      ...market.resources['orders'],
      owner: 'note',
      access: { read: ['owner', 'role:admin'], create: 'anyone' },
    }
    const { changes: _, versions: __, ...rest } = market
    const trial = await trialFor(context, { ...rest, resources: { ...market.resources, orders: own } } as never)
    const [shop_id] = await fill(trial, 'shops', [{ name: 'a' }])
    for (const as of ['ann', 'bob', 'bob'])
      await trial.send({ path: '/v1/orders', method: 'POST', body: { shop_id, status: 'open', pieces: 1 }, as })
    const counted = async (as: string) =>
      (await trial.send({ path: '/v1/orders/summary?group=status&sum=pieces', as })).json.data[0]
    assert.deepEqual(await counted('bob'), { group: { status: 'open' }, count: 2, sum: { pieces: '2' } })
    assert.deepEqual(await counted('root'), { group: { status: 'open' }, count: 3, sum: { pieces: '3' } })
  })

  it('SUM-3: doctor compares them with the records, and requests read them', async () => {
    const made = await trial(market)
    const shops = await fill(made, 'shops', [{ name: 'a' }, { name: 'b' }])
    await fill(
      made,
      'orders',
      Array.from({ length: 20 }, () => order(shops)),
    )
    for (let step = 0; step < 30; step++) await change(made, shops)
    await purgeAt(made.app, Date.now() + 2 * 86_400_000)
    await made.app.storage.jobs.deleteExpired(Date.now())
    await compare(made)
    const administration = await administer({ database: made.database.address })
    const exact = async () => [...((await administration.examine(made.app.catalog))?.summaries ?? [])]
    const names = ['orders/by_status', 'orders/by_shop', 'orders/by_month']
    assert.deepEqual(
      await exact(),
      names.map((name) => [name, true]),
    )
    await fill(made, 'orders', [
      { shop_id: (await fill(made, 'shops', [{ name: 'c' }]))[0], pieces: 3, due: '2020-01-01' },
    ])
    await spoil(
      made.database,
      "update resourced_summaries set total = '4' where total = '3' and group1 = '=2020-01-01'",
    )
    assert.deepEqual(
      await exact(),
      names.map((name) => [name, name !== 'orders/by_month']),
    )
    const read = await made.send({ path: '/v2/orders/summary?group=due:year&sum=pieces' })
    assert.deepEqual(read.json.data[0], { group: { 'due:year': '2020' }, count: 1, sum: { pieces: '4' } })
    await made.close()
  })
})

/** Changes a database past the server. */
async function spoil({ address, rows }: TrialDatabase, statement: string): Promise<void> {
  if (engine === 'postgres') {
    await rows(statement)
    return
  }
  const file = new DatabaseSync(address.slice('sqlite:'.length))
  file.exec(statement)
  file.close()
}
