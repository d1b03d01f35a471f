/** Summaries of collections in the console, and filters and sorts through references (SUM-1, WHR-2). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openConsole, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'

const skip = noBrowser
const { reference } = Type

const library = defineInterface({
  name: 'library',
  resources: {
    authors: {
      fields: { name: Type.String({ search: true, sort: true }), born: Type.Integer({ filter: true }) },
      access: { read: 'anyone', create: 'anyone' },
    },
    books: {
      fields: {
        title: Type.String({ search: true, sort: true }),
        status: Type.Optional(Type.Enum(['open', 'lent'])),
        rare: Type.Boolean({ default: false }),
        price: Type.Decimal({ precision: 9, scale: 2 }),
        author_id: reference('authors'),
      },
      access: { read: 'anyone', create: 'anyone' },
    },
    notes: { fields: { text: Type.String() }, access: { read: 'anyone' } },
  },
})

/** Five open books of Ada, and three others of Bea, one of which has no status. */
async function filled(context: TestContext) {
  const site = await serveSite(context, library, { rateLimit: 'off' })
  const send = requestsOf(site, await site.keyFor('root', ['admin']))
  const ada = await send('POST', '/authors', { name: 'Ada', born: 1900 })
  const bea = await send('POST', '/authors', { name: 'Bea', born: 1950 })
  for (let index = 0; index < 8; index++) {
    const isAdas = index < 5
    await send('POST', '/books', {
      ...{ title: `Book ${index}`, price: '1.10', author_id: isAdas ? ada.id : bea.id },
      ...{ status: isAdas ? 'open' : index === 7 ? null : 'lent', rare: index === 0 },
    })
  }
  return { site, key: await site.keyFor('ann', []) }
}

test('SUM-1: a summary has the numbers of each group, and leads to its records', { skip }, async (context) => {
  const { site, key } = await filled(context)
  const page = await openConsole(context, site, '/books', { key })
  await page.getByRole('button', { name: 'Summary' }).click()
  const summary = page.getByRole('region', { name: 'Summary of Books' })
  const rows = async () =>
    (await summary.getByRole('row').allInnerTexts()).map((text) => text.split(/\s+/).join(' ').trim())
  await summary.getByRole('link', { name: 'lent' }).waitFor()
  assert.deepEqual(await rows(), ['Status Records', 'open 5', 'lent 2', 'null 1'])
  const widths = await summary.locator('.bar > div').evaluateAll((bars) => bars.map((bar) => bar.clientWidth))
  assert.ok(widths[0]! > 2 * widths[1]! && widths[1]! > 1.5 * widths[2]!, String(widths))
  await summary.getByLabel('Sum of').selectOption('Price')
  await summary.getByText('5.50').waitFor()
  await summary.getByLabel('Group by').selectOption('Author')
  await summary.getByRole('link', { name: 'Bea' }).waitFor()
  assert.deepEqual(await rows(), ['Author Records Sum of price', 'Ada 5 5.50', 'Bea 3 3.30'])
  assert.deepEqual(await axeFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  // The address has it all, and filters hold for it.
  await page.reload()
  await summary.getByText('3.30').waitFor()
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Field').selectOption('Rare')
  await page.getByRole('button', { name: 'Apply' }).click()
  await summary.getByText('1.10').waitFor()
  assert.deepEqual(await rows(), ['Author Records Sum of price', 'Ada 1 1.10'])
  await page.getByRole('button', { name: 'Remove the filter Rare' }).click()
  await summary.getByRole('link', { name: 'Bea' }).click()
  await page.getByText('3 records', { exact: true }).waitFor()
  await page.getByText('Author is Bea').waitFor()
  assert.equal(await summary.count(), 0)
})

test('a collection with nothing to group by, and an older server, have no summary', { skip }, async (context) => {
  const { site, key } = await filled(context)
  const page = await openConsole(context, site, '/notes', { key })
  await page.getByText('Nothing here yet.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Summary' }).count(), 0)
  await page.route('**/openapi.json', async (route) => {
    const response = await route.fetch()
    const document = await response.json()
    for (const { 'x-collection': collection } of document.tags) delete collection?.summary
    await route.fulfill({ response, json: document })
  })
  await page.goto(`${site.origin}/console#/books?group-by=status`)
  await page.reload()
  await page.getByText('8 records', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Summary' }).count(), 0)
})

test('WHR-2: a list is filtered and sorted by the records that it refers to', { skip }, async (context) => {
  const { site, key } = await filled(context)
  const page = await openConsole(context, site, '/books', { key })
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Field').selectOption('Author: Born')
  await page.getByLabel('Condition').selectOption('is at least')
  await page.getByLabel('Value').fill('1920')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('3 records', { exact: true }).waitFor()
  await page.getByText('Author: Born is at least 1920').waitFor()
  await page.getByRole('button', { name: 'Remove the filter Author: Born' }).click()
  await page.getByText('8 records', { exact: true }).waitFor()
  const header = page.getByRole('columnheader', { name: 'Author' })
  await header.getByRole('button').click()
  await header.and(page.locator('[aria-sort="ascending"]')).waitFor()
  await page.locator('tr[aria-rowindex="2"]').getByText('Ada', { exact: true }).waitFor()
  await header.getByRole('button').click()
  await page.locator('tr[aria-rowindex="2"]').getByText('Bea', { exact: true }).waitFor()
})
