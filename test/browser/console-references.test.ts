/** The console's names of referenced records in a real browser: they come with a page of a list (REL-2). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { noBrowser, openConsole, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'

const skip = noBrowser
const { reference } = Type

const orders = defineInterface({
  name: 'orders',
  resources: {
    customers: {
      fields: { name: Type.String({ search: true }), secret: Type.Boolean({ default: false }) },
      access: { read: ['role:admin', { where: { secret: false } }] },
    },
    shops: { fields: { name: Type.String() }, access: { read: 'anyone' } },
    orders: {
      fields: {
        number: Type.Integer({ sort: true }),
        customer_id: reference('customers'),
        seller_id: Type.Optional(reference('customers')),
        shop_id: reference('shops'),
      },
      access: { read: 'anyone' },
    },
  },
})

/** Orders of as many customers; every tenth customer is secret. */
async function siteWith(context: TestContext, count: number, declaration: InterfaceDeclaration = orders) {
  const site = await serveSite(context, declaration, { rateLimit: 'off' })
  const send = requestsOf(site, await site.keyFor('root', ['admin']))
  const customers: string[] = []
  const shops = await Promise.all(['North', 'South'].map(async (name) => (await send('POST', '/shops', { name })).id))
  for (let number = 0; number < count; number++) {
    const { id } = await send('POST', '/customers', { name: `Customer ${number}`, secret: number % 10 === 9 })
    customers.push(id)
    const seller_id = number === 0 ? null : customers[number - 1]
    await send('POST', '/orders', { number, customer_id: id, seller_id, shop_id: shops[number % 2] })
  }
  return { site, send, customers, shops }
}

/** Serves the document of a server that includes no related records. */
async function withoutRelations(page: Page): Promise<void> {
  await page.route('**/openapi.json', async (route) => {
    const response = await route.fetch()
    const document = await response.json()
    for (const { 'x-collection': collection } of document.tags) delete collection?.relations
    delete document.components.parameters.ApiInclude
    await route.fulfill({ response, json: document })
  })
}

/** Notes the reads of each collection: the ids of each request, or none for a list and a record. */
function readsOf(page: Page): Record<string, string[][]> {
  const reads: Record<string, string[][]> = { customers: [], shops: [], orders: [] }
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    const [, collection = ''] = /^\/v1\/(\w+)/.exec(pathname) ?? []
    reads[collection]?.push(searchParams.get('id[in]')?.split(',') ?? [])
  })
  return reads
}

const row = (page: Page, index: number) => page.locator(`tr[aria-rowindex="${index + 2}"]`)

test('REL-2: the names of a page are read with the page', { skip }, async (context) => {
  const { site, customers } = await siteWith(context, 30)
  const key = await site.keyFor('ann', [])
  const page = await openConsole(context, site, '/', { key })
  const reads = readsOf(page)
  await page.locator('nav a', { hasText: 'Orders' }).click()
  await row(page, 5).getByText('Customer 5', { exact: true }).waitFor()
  await row(page, 5).getByText('South', { exact: true }).waitFor()
  // A record that the caller may not read is shown by its id.
  await row(page, 9)
    .getByText(`…${customers[9]?.slice(-8)}`, { exact: true })
    .waitFor()
  await row(page, 10)
    .getByText(`…${customers[9]?.slice(-8)}`, { exact: true })
    .waitFor()
  assert.deepEqual([reads['orders']?.length, reads['customers']?.length, reads['shops']?.length], [1, 0, 0])
})

test('WHR-5: without included records, names are read by one request for each collection', {
  skip,
}, async (context) => {
  const { site, customers, shops } = await siteWith(context, 30)
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', []) })
  await withoutRelations(page)
  await page.reload()
  await page.waitForLoadState('networkidle')
  const reads = readsOf(page)
  await page.locator('nav a', { hasText: 'Orders' }).click()
  await row(page, 5).getByText('Customer 5', { exact: true }).waitFor()
  await row(page, 5).getByText('South', { exact: true }).waitFor()
  assert.deepEqual([reads['orders']?.length, reads['customers']?.length, reads['shops']?.length], [1, 1, 1])
  assert.deepEqual(reads['customers']?.[0]?.toSorted(), customers.toSorted())
  assert.deepEqual(reads['shops']?.[0]?.toSorted(), shops.toSorted())
})

test('REL-5: where included records are too many, names are read by themselves', { skip }, async (context) => {
  const few = { ...orders, limits: { include: { records: 1 }, pageSize: { default: 20, max: 30 } } }
  const { site } = await siteWith(context, 30, few)
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', []), refusals: [400] })
  await page.locator('nav a', { hasText: 'Orders' }).click()
  await row(page, 5).getByText('Customer 5', { exact: true }).waitFor()
  await row(page, 15).getByText('South', { exact: true }).waitFor()
})

test('REL-3: what refers to a record is counted by one request', { skip }, async (context) => {
  const { site, customers, shops } = await siteWith(context, 3)
  const page = await openConsole(context, site, `/shops/${shops[0]}`, { key: await site.keyFor('ann', []) })
  const reads = readsOf(page)
  await page.getByRole('link', { name: 'Orders 2' }).waitFor()
  assert.equal(reads['orders']?.length, 0)
  // Two fields of orders refer to customers: neither has a relation from there.
  await page.evaluate(`location.hash = '#/customers/${customers[1]}'`)
  await page.getByRole('link', { name: 'Orders (seller) 1' }).waitFor()
})

test('names are there while somebody scrolls', { skip }, async (context) => {
  const { site } = await siteWith(context, 420)
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', []) })
  const reads = readsOf(page)
  await page.locator('nav a', { hasText: 'Orders' }).click()
  await row(page, 5).getByText('Customer 5', { exact: true }).waitFor()
  // It never rests: each frame moves the list by some rows.
  await page.evaluate(`(async () => {
    const list = document.querySelector('.records')
    for (let top = 0; top < 400 * 38; top += 95) {
      list.scrollTop = top
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    window.ended = true
  })()`)
  await page.waitForFunction('window.ended')
  await row(page, 405).getByText('Customer 405', { exact: true }).waitFor()
  await row(page, 405).getByText('Customer 404', { exact: true }).waitFor()
  assert.deepEqual([reads['customers']?.length, reads['shops']?.length], [0, 0])
})

test('a filter of no UUID, and one of a record that is gone, leave the other names as they are', {
  skip,
}, async (context) => {
  const { site, customers } = await siteWith(context, 3)
  const page = await openConsole(context, site, '/', { key: await site.keyFor('ann', []), refusals: [400] })
  await page.evaluate(`location.hash = '#/orders?customer_id=${customers[1]}'`)
  await row(page, 0).getByText('Customer 1', { exact: true }).waitFor()
  await page.getByText('1 record', { exact: true }).waitFor()
  await page.evaluate(`location.hash = '#/orders?customer_id=junk'`)
  await page
    .getByText(/must be the id of one of the customers/)
    .first()
    .waitFor()
  await page.evaluate(`location.hash = '#/orders'`)
  await row(page, 2).getByText('Customer 2', { exact: true }).first().waitFor()
})
