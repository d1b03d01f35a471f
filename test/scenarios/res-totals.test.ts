/** RES-17: a field holds the sum of a field of the records that refer to its record. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { administer } from '../../packages/server/src/server/open-database.ts'
import { pick, randomFrom } from '../durability/random.ts'
import { places, purgeAt, type Trial, trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const billing: InterfaceDeclaration = {
  name: 'billing',
  resources: {
    invoices: {
      fields: {
        name: { type: 'string' },
        total: { type: 'decimal', precision: 8, scale: 2, sumOf: 'lines.amount', filter: true, sort: true },
        pieces: { sumOf: 'lines.pieces', filter: true, sort: true },
      },
      events: true,
      history: true,
      access: anyone,
    },
    lines: {
      fields: {
        invoice_id: { reference: 'invoices', onDelete: 'cascade' },
        amount: { type: 'decimal', precision: 8, scale: 2, optional: true },
        pieces: { type: 'integer', optional: true },
      },
      within: 'invoice_id',
      access: { ...anyone, read: { through: 'invoice_id', action: 'read' } },
      deletion: { byFilter: true },
      updates: { byFilter: true },
    },
  },
}

interface Recorded {
  readonly kind: string
  readonly request_id: string
  readonly data?: unknown
  readonly record?: unknown
}

async function pagesOf({ send }: Trial, path: string): Promise<Recorded[]> {
  const found: Recorded[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await send({ path: `${path}limit=100${cursor === '' ? '' : `&cursor=${cursor}`}` })
    found.push(...json.data)
    cursor = json.pagination.next_cursor
  }
  return found
}

/** The last event and the last state of each invoice are as it is, and each request has made one of each kind. */
async function compareRecorded(current: Trial): Promise<void> {
  for (const invoice of (await current.send({ path: '/v1/invoices?limit=100' })).json.data) {
    const events = await pagesOf(current, `/v1/events?record=${invoice.id}&`)
    const states = await pagesOf(current, `/v1/invoices/${invoice.id}/revisions?`)
    assert.deepEqual([events.at(-1)?.data, states[0]?.record], [invoice, invoice])
    assert.deepEqual(
      events.map(({ kind }) => kind),
      states.map(({ kind }) => kind).reverse(),
    )
    for (const each of [events, states]) {
      const made = each.map(({ request_id, kind }) => `${kind} by ${request_id}`)
      assert.deepEqual(made, [...new Set(made)])
    }
  }
}

const random = randomFrom(Number(process.env['SEED'] ?? 5))

function line(invoices: readonly string[]) {
  return {
    invoice_id: pick(random, invoices),
    amount: pick(random, [
      null,
      '0.00',
      `${pick(random, ['', '-'])}${Math.floor(random() * 90)}.${10 + Math.floor(random() * 90)}`,
    ]),
    pieces: pick(random, [null, 0, Math.floor(random() * 200) - 100]),
  }
}

async function compare({ send }: Trial): Promise<void> {
  const invoices = (await send({ path: '/v1/invoices?limit=100&include_deleted=true' })).json.data
  const lines = (await send({ path: '/v1/lines?limit=100' })).json.data
  const cents = (text: string) => Math.round(Number(text) * 100)
  for (const { id, total, pieces, deleted_at } of invoices) {
    // biome-ignore lint/suspicious/noExplicitAny: a record
    const own = lines.filter((each: any) => each.invoice_id === id)
    // biome-ignore lint/suspicious/noExplicitAny: a record
    const sum = (value: (each: any) => number) => own.reduce((before: number, each: any) => before + value(each), 0)
    const where = `${id} ${deleted_at}`
    assert.equal(
      cents(total),
      sum(({ amount }) => cents(amount ?? '0')),
      where,
    )
    assert.equal(
      pieces,
      sum((each) => each.pieces ?? 0),
      where,
    )
  }
  const sorted = (await send({ path: '/v1/invoices?sort=total&limit=100' })).json.data.map((each: { total: string }) =>
    cents(each.total),
  )
  assert.deepEqual(
    sorted,
    sorted.toSorted((one: number, other: number) => one - other),
  )
  const few = (await send({ path: '/v1/invoices?total[gt]=1&limit=100' })).json.data.length
  assert.equal(few, sorted.filter((each: number) => each > 100).length)
}

describe('sums of children', () => {
  it('RES-17: they are exact after random changes of every kind', async (context) => {
    const trial = await trialFor(context, billing)
    const { send } = trial
    for (let round = 0; round < Number(process.env['ROUNDS'] ?? 4); round++) {
      const invoices = await fill(trial, 'invoices', [{ name: 'a' }, { name: 'b' }, { name: 'c' }])
      await fill(
        trial,
        'lines',
        Array.from({ length: 8 }, () => line(invoices)),
      )
      await compare(trial)
      for (let step = 0; step < 25; step++) {
        const { data } = (await send({ path: '/v1/lines?include_deleted=true&limit=100' })).json
        // biome-ignore lint/suspicious/noExplicitAny: a record
        const { id, invoice_id } = pick<any>(
          random,
          data.length > 0 ? data : [{ id: invoices[0], invoice_id: invoices[0] }],
        )
        const body = line(invoices)
        const { amount, pieces } = body
        const answer = await send(
          pick(random, [
            { path: '/v1/lines', method: 'POST', body },
            { path: `/v1/invoices/${invoice_id}/lines`, method: 'POST', body: { amount, pieces } },
            { path: `/v1/lines/${id}`, method: 'PUT', body },
            { path: `/v1/lines/${id}`, method: 'PATCH', body: { amount } },
            { path: `/v1/lines/${id}`, method: 'PATCH', body: { invoice_id: body.invoice_id } },
            { path: `/v1/lines/${id}`, method: 'DELETE' },
            { path: `/v1/lines/${id}/restore`, method: 'POST' },
            { path: `/v1/invoices/${invoice_id}`, method: 'DELETE' },
            { path: `/v1/invoices/${invoice_id}/restore`, method: 'POST' },
            { path: `/v1/invoices/${invoice_id}`, method: 'PATCH', body: { name: 'x' } },
            { path: `/v1/lines?invoice_id[in]=${invoices.join()}`, method: 'DELETE' },
            { path: '/v1/lines', method: 'POST', body: [line(invoices), line(invoices), line(invoices)] },
            { path: `/v1/lines?invoice_id[in]=${invoices.join()}`, method: 'PATCH', body: { amount, pieces } },
            {
              path: '/v1/transactions',
              body: {
                operations: [
                  { method: 'POST', path: '/lines', body: line(invoices) },
                  { method: 'PATCH', path: `/lines/${id}`, body: { amount } },
                  { method: 'POST', path: '/lines', body: line(invoices) },
                ],
              },
            },
          ]),
        )
        assert.ok(answer.status < 500, answer.text)
      }
      await compare(trial)
      await compareRecorded(trial)
      if (round === 1) await purgeAt(trial.app, Date.now() + 40 * 86_400_000)
    }
  })

  it('RES-17: a change of a child is one of its parent: tag, time and event', async (context) => {
    const { send, make } = await trialFor(context, billing)
    const { id } = await make('invoices', { name: 'a' })
    const path = `/v1/invoices/${id}`
    const before = await send({ path })
    assert.equal(before.json.total, '0.00')
    assert.equal(before.json.pieces, 0)
    const { id: child } = await make('lines', { invoice_id: id, amount: '12.50', pieces: 2 })
    const after = await send({ path, headers: { 'if-none-match': String(before.headers['etag']) } })
    assert.equal(after.status, 200)
    assert.equal(after.json.total, '12.50')
    const stale = await send({
      path,
      method: 'PATCH',
      body: { name: 'b' },
      headers: { 'if-match': String(before.headers['etag']) },
    })
    assert.equal(stale.status, 412)
    await send({ path: `/v1/lines/${child}`, method: 'PATCH', body: { amount: '0.10' } })
    const events = (await send({ path: '/v1/events?collection=invoices' })).json.data
    assert.deepEqual(
      // biome-ignore lint/suspicious/noExplicitAny: an event
      events.map(({ kind, data }: any) => [kind, data.total, data.pieces]),
      [
        ['created', '0.00', 0],
        ['updated', '12.50', 2],
        ['updated', '0.10', 2],
      ],
    )
    const sent = await send({ path, method: 'PATCH', body: { total: '1.00' } })
    assert.equal(sent.json.errors[0].code, 'READ_ONLY')
  })

  it('RES-17: without a type a sum has that of what it adds up, and room for all', async (context) => {
    const total = { sumOf: 'lines.amount', filter: true, readOnly: true } as const
    const { invoices, lines } = billing.resources as Required<typeof billing.resources>
    const fields = { name: { type: 'string' }, total } as const
    const current = await trial({ ...billing, resources: { lines: lines!, invoices: { ...invoices, fields } } })
    context.after(() => current.close())
    const { id } = await current.make('invoices', { name: 'large' })
    const body = Array.from({ length: 3 }, () => ({ invoice_id: id, amount: '999999.99' }))
    assert.equal((await current.send({ path: '/v1/lines', body })).status, 201)
    const { json } = await current.send({ path: '/v1/invoices?total[gt]=2999999.5' })
    assert.deepEqual(
      json.data.map((each: { total: string }) => each.total),
      ['2999999.97'],
    )
  })

  it('RES-17: writers at the same time lose nothing', async (context) => {
    const trial = await trialFor(context, billing)
    const { send, make } = trial
    const invoices = await fill(trial, 'invoices', [{ name: 'a' }, { name: 'b' }])
    const ids = await fill(
      trial,
      'lines',
      Array.from({ length: 20 }, () => ({ ...line(invoices), amount: '1.00' })),
    )
    await Promise.all([
      ...Array.from({ length: 30 }, () => make('lines', { ...line(invoices), amount: '0.01' })),
      ...ids.flatMap((id, index) => [
        send({ method: 'PATCH', path: `/v1/lines/${id}`, body: { amount: `${index}.50` } }),
        send({ method: 'PATCH', path: `/v1/lines/${id}`, body: { invoice_id: invoices[index % 2] } }),
        ...(index % 4 === 0 ? [send({ method: 'DELETE', path: `/v1/lines/${id}` })] : []),
        send({ method: 'PATCH', path: `/v1/invoices/${invoices[index % 2]}`, body: { name: `${index}` } }),
      ]),
    ])
    await compare(trial)
  })

  it('RES-17: a sum that has no room is refused, and nothing is changed', async (context) => {
    const { send, make } = await trialFor(context, billing)
    const { id } = await make('invoices', { name: 'a' })
    await make('lines', { invoice_id: id, amount: '999999.99', pieces: Number.MAX_SAFE_INTEGER })
    for (const [body, pointer] of [
      [{ amount: '0.01' }, '/amount'],
      [{ pieces: 1 }, '/pieces'],
    ] as const) {
      const refused = await send({ path: '/v1/lines', method: 'POST', body: { invoice_id: id, ...body } })
      assert.equal(refused.status, 409, refused.text)
      assert.equal(refused.json.errors[0].pointer, pointer)
      const array = [{ invoice_id: id, ...body }]
      const operations = [{ method: 'POST', path: '/lines', body: array[0] }]
      for (const [path, many] of [['lines', array], ['transactions', { operations }]] as const) {
        const whole = await send({ path: `/v1/${path}`, method: 'POST', body: many })
        assert.deepEqual([whole.status, whole.json.errors[0].pointer], [409, ''], whole.text)
        assert.equal(whole.json.detail, 'A sum that the server keeps would become too large.')
      } // biome-ignore format: a line
    }
    const older: InterfaceDeclaration = {
      ...billing,
      versions: { v1: {}, v2: {} },
      changes: [{ version: 'v2', resource: 'lines', rename: { cost: 'amount' } }],
    }
    const current = await trialFor(context, older)
    const invoice = await current.make('invoices', { name: 'b' })
    const line = { invoice_id: invoice.id, cost: '999999.99' }
    assert.equal((await current.send({ path: '/v1/lines', method: 'POST', body: line })).status, 201)
    const refused = await current.send({ path: '/v1/lines', method: 'POST', body: line })
    assert.deepEqual([refused.status, places(refused)], [409, ['TOO_LARGE /cost']])
    assert.equal((await send({ path: '/v1/lines' })).json.pagination.total_count, 1)
  })

  it('RES-17: a deletion may make a sum too large on its way, but not in the end', async (context) => {
    const { send, make } = await trialFor(context, billing)
    const { id } = await make('invoices', { name: 'a' })
    const path = `/v1/invoices/${id}`
    const pieces = Number.MAX_SAFE_INTEGER
    const first = await make('lines', { invoice_id: id, amount: '-500000.00', pieces: -pieces })
    const second = { invoice_id: id, amount: '600000.00', pieces }
    const third = { invoice_id: id, amount: '600000.00', pieces: 1 }
    const others = [(await make('lines', second)).id, (await make('lines', third)).id]
    const refused = await send({ path: `/v1/lines/${first.id}`, method: 'DELETE' })
    assert.deepEqual([refused.status, refused.json.errors[0].code], [409, 'TOO_LARGE'])
    assert.equal((await send({ path, method: 'DELETE' })).status, 204)
    const restored = await send({ path: `${path}/restore`, method: 'POST' })
    assert.deepEqual([restored.status, restored.json.total, restored.json.pieces], [200, '700000.00', 1])
    const ids = [first.id, ...others]
    assert.equal((await send({ path: '/v1/lines/bulk-delete', method: 'POST', body: { ids } })).status, 200)
    const { total, pieces: left } = (await send({ path })).json
    assert.deepEqual([total, left], ['0.00', 0])
  })

  it('RES-17, DEL-8: a job deletes and restores a record whose sum is too large on the way', async (context) => {
    const trial = await trialFor(context, billing)
    const { send, make, app } = trial
    const { id } = await make('invoices', { name: 'a' })
    const amounts = ['-12000.00', '12000.00', '12000.00']
    const lines = amounts.flatMap((amount) => Array(60).fill({ invoice_id: id, amount }))
    await fill(trial, 'lines', lines)
    const path = `/v1/invoices/${id}`
    const headers = { prefer: 'respond-async' }
    const restore = { path: `${path}/restore`, method: 'POST', headers }
    for (const [asked, live] of [
      [{ path, method: 'DELETE', headers }, 0],
      [restore, 180],
    ] as const) {
      const { json } = await send(asked)
      await app.runner.idle()
      assert.equal((await send({ path: json.status_url })).json.status, 'succeeded')
      assert.equal((await send({ path: '/v1/lines' })).json.pagination.total_count, live)
    }
    assert.equal((await send({ path })).json.total, '720000.00')
  })

  it('RES-17, JOB-2: a job that makes a sum too large fails at once, with the reason', async (context) => {
    const { send, make, app } = await trialFor(context, billing)
    const { id } = await make('invoices', { name: 'a' })
    const path = `/v1/lines?invoice_id=${id}`
    for (const amount of ['-999999.99', '999999.99', '999999.99']) await make('lines', { invoice_id: id, amount })
    const headers = { 'content-type': 'application/merge-patch+json', prefer: 'respond-async' }
    const accepted = await send({ path, method: 'PATCH', body: { amount: '999999.99' }, headers })
    assert.equal(accepted.status, 202)
    await app.runner.idle()
    const { status, error } = (await send({ path: accepted.json.status_url })).json
    assert.deepEqual([status, error.status, error.code], ['failed', 409, 'CONFLICT'])
    assert.match(error.detail, /^A sum that the server keeps would become too large\. .* nothing has changed\.$/)
    assert.equal((await send({ path: `/v1/invoices/${id}` })).json.total, '999999.99')
  })

  it('RES-17: a record holds a sum of records of its own collection', async (context) => {
    const fields: InterfaceDeclaration['resources'][string]['fields'] = {
      amount: { type: 'integer', default: 0 },
      total: { type: 'integer', sumOf: 'nodes.amount' },
      parent_id: { reference: 'nodes', onDelete: 'cascade', optional: true },
    }
    const { send, make } = await trialFor(context, { name: 'tree', resources: { nodes: { fields, access: anyone } } })
    const root = await make('nodes', { amount: 1 })
    const child = await make('nodes', { amount: 2, parent_id: root.id })
    await make('nodes', { amount: 4, parent_id: child.id })
    const path = `/v1/nodes/${child.id}`
    assert.equal((await send({ path, method: 'PATCH', body: { amount: 8 } })).json.total, 4)
    const totals = async () =>
      (await send({ path: '/v1/nodes' })).json.data.map(({ total }: { total: number }) => total)
    assert.deepEqual(await totals(), [8, 4, 0])
    assert.equal((await send({ path, method: 'DELETE' })).status, 204)
    assert.deepEqual(await totals(), [0])
  })

  it('RES-17: what is there before is added up, and doctor adds up again', async () => {
    const { invoices, lines } = billing.resources as Required<typeof billing.resources>
    const { total: _, pieces: __, ...fields } = invoices!.fields
    const before = await trial({ ...billing, resources: { invoices: { ...invoices!, fields }, lines: lines! } })
    const ids = await fill(before, 'invoices', [{ name: 'a' }, { name: 'b' }])
    await fill(
      before,
      'lines',
      Array.from({ length: 20 }, () => line(ids)),
    )
    await before.app.close()
    const later = await trial(billing, { database: before.database })
    await compare(later)
    const administration = await administer({ database: before.database.address })
    const found = await administration.examine(later.app.catalog)
    assert.deepEqual(
      [...(found?.summaries ?? [])],
      [
        ['invoices.total', true],
        ['invoices.pieces', true],
      ],
    )
    await later.close()
  })
})
