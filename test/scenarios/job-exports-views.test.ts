/** JOB-6, QRY-1, QRY-2: the console exports what its list shows, whatever the list is filtered by. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { conditionOf, listQuery } from '../../packages/console/src/console/collections/filters.ts'
import { type OpenApiDocument, readCatalog } from '../../packages/console/src/console/interface/catalog.ts'
import { type Trial, trialFor } from '../harness.ts'

const stock = defineInterface({
  name: 'stock',
  resources: {
    items: {
      fields: {
        name: { type: 'string', filter: true },
        kind: { enum: ['bolt', 'nut', 'in, or out'] },
        size: { type: 'integer', optional: true, filter: true },
        weight: { type: 'number', optional: true, filter: true },
        price: { type: 'decimal', precision: 20, scale: 2, optional: true, filter: true },
        sold: { type: 'boolean', optional: true },
        made_on: { type: 'string', format: 'date', optional: true, filter: true },
      },
    },
  },
})

type Sent = Readonly<Record<string, unknown>>

const records = [
  { name: 'Iron bolt', kind: 'bolt', size: 5, weight: 0.5, price: '1.50', sold: true, made_on: '2026-01-01' },
  { name: 'iron nut', kind: 'nut', size: 5, weight: 1.25, price: '999999999999999999.99', sold: false },
  { name: 'Brass bolt', kind: 'bolt', size: 7, price: '2.00', made_on: '2026-06-30' },
  { name: '7', kind: 'in, or out', size: -7, weight: 0, sold: true, made_on: '2027-01-01' },
  { name: 'true', kind: 'nut' },
]

/** The addresses of views, and how many records they show. */
const views: readonly (readonly [string, number])[] = [
  ['', 5],
  ['kind=bolt', 2],
  ['kind=bolt&kind=nut', 4],
  ['kind=bolt&size=7', 1],
  ['kind[in]=bolt,nut', 4],
  ['kind[not]=bolt', 3],
  ['kind[not]=bolt&kind[not]=nut', 1],
  ['size=5', 2],
  ['size=-7&size=7', 2],
  ['size[gt]=5', 1],
  ['size[gte]=5&size[lt]=7', 2],
  ['size[lt]=0&size[lt]=6', 3],
  ['size[null]=true', 1],
  ['size[null]=false', 4],
  ['size[not]=5', 3],
  ['weight[lte]=0.5', 2],
  ['price[gt]=999999999999999999.98', 1],
  ['price=1.5', 1],
  ['sold=true', 2],
  ['sold=false&sold=true', 3],
  ['sold[not]=true', 3],
  ['sold[null]=true', 2],
  ['made_on[lt]=2026-12-31', 2],
  ['name[contains]=BOLT', 2],
  ['name[starts_with]=iron&name[starts_with]=b', 3],
  ['name[contains]=bolt&name[starts_with]=iron', 1],
  ['name=7', 1],
  ['name=true', 1],
  ['name[in]=7,true', 2],
  ['created_at[gte]=2020-01-01T00:00:00Z', 5],
]

/** The records of an export, once its file is there. */
async function exportedIn({ send, app }: Trial, job: string): Promise<readonly { readonly id: string }[]> {
  for (;;) {
    await app.runner.idle()
    const { status, result, error } = (await send({ path: job })).json
    assert.notEqual(status, 'failed', JSON.stringify(error))
    if (status === 'succeeded') return JSON.parse((await send({ path: result.content_url })).text)
    await sleep(20)
  }
}

it('JOB-6: the export of a view has the records of its list', async (context) => {
  const trial = await trialFor(context, stock)
  const { send, make } = trial
  for (const record of records) await make('items', record)
  const document = (await send({ path: '/v1/openapi.json' })).json as OpenApiDocument
  const items = readCatalog(document).collections.get('items')
  assert.ok(items !== undefined)
  for (const [address, count] of views) {
    const view = new URLSearchParams(address)
    const listed = await send({ path: `/v1/items?${listQuery(items, view)}` })
    assert.equal(listed.json.pagination?.total_count, count, `${address}: ${listed.text}`)
    const body: Sent = { collection: 'items', filter: conditionOf(items, view), format: 'json', fields: ['id'] }
    const started = await send({ path: '/v1/exports', body })
    assert.equal(started.status, 202, `${address}: ${started.text}`)
    const exported = await exportedIn(trial, started.json.status_url)
    const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).sort()
    assert.deepEqual(idsOf(exported), idsOf(listed.json.data), address)
    await send({ method: 'DELETE', path: `/v1/exports/${started.json.job_id}` })
  }
})

it('JOB-6: a view that the list refuses is refused as an export, too', async (context) => {
  const { send } = await trialFor(context, stock)
  const document = (await send({ path: '/v1/openapi.json' })).json as OpenApiDocument
  const items = readCatalog(document).collections.get('items')
  assert.ok(items !== undefined)
  for (const address of ['size=big', 'sold=maybe', 'kind=screw', 'price=much', 'made_on=today']) {
    const view = new URLSearchParams(address)
    assert.equal((await send({ path: `/v1/items?${listQuery(items, view)}` })).status, 400, address)
    const body: Sent = { collection: 'items', filter: conditionOf(items, view), format: 'json' }
    assert.equal((await send({ path: '/v1/exports', body })).status, 400, address)
  }
})
