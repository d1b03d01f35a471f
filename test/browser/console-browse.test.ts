/** The console's tables in a real browser: long lists, filters, sorts, selection, and keys. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { library } from '../declarations-library.ts'
import { shop } from '../declarations-shop.ts'
import { noBrowser, openConsole, type Site, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'

const skip = noBrowser

const items = defineInterface({
  name: 'items',
  resources: {
    items: {
      fields: {
        name: Type.String({ search: true, sort: true, filter: true }),
        number: Type.Integer({ sort: true, filter: true }),
        price: Type.Optional(Type.Decimal({ precision: 10, scale: 2, filter: true })),
        kind: Type.Enum(['odd', 'even'], { sort: true }),
        seen_at: Type.Optional(Type.String({ format: 'date-time', filter: true })),
      },
      deletion: { byFilter: true },
    },
  },
})

async function fill(site: Site, key: string, count: number): Promise<void> {
  const send = requestsOf(site, key)
  let next = 0
  const lane = async () => {
    for (let number = next++; number < count; number = next++) {
      await send('POST', '/items', { name: `Item ${number}`, number, kind: number % 2 ? 'odd' : 'even' })
    }
  }
  await Promise.all(Array.from({ length: 20 }, lane))
}

async function siteWith(context: TestContext, count: number) {
  const site = await serveSite(context, items, { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  await fill(site, key, count)
  return { site, key }
}

const row = (page: Page, index: number) => page.locator(`tr[aria-rowindex="${index + 2}"]`)
const scrollTo = (page: Page, index: number) =>
  page.locator('.records').evaluate((element, top) => {
    element.scrollTop = top
  }, index * 38)

/** Scrolls to a row, as far as rows are known, until it is there. */
async function seeRow(page: Page, index: number, name: string): Promise<void> {
  const wanted = row(page, index).getByText(name, { exact: true })
  for (let times = 0; times < 300 && !(await wanted.isVisible()); times++) {
    await scrollTo(page, index - 5)
    await page.waitForTimeout(20)
  }
  await wanted.waitFor()
}

test('ten thousand rows down and up again: every row is there, and few are in the page', { skip }, async (context) => {
  const { site, key } = await siteWith(context, 10_000)
  const page = await openConsole(context, site, '/items?sort=number', { key })
  await page.getByText('10,000 records').waitFor()
  for (let index = 0; index <= 9_960; index += 83) {
    await seeRow(page, index + 5, `Item ${index + 5}`)
  }
  await seeRow(page, 9_999, 'Item 9999')
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  for (const index of [8_000, 4_321, 9_000, 100, 0]) {
    await seeRow(page, index + 3, `Item ${index + 3}`)
  }
  assert.ok(requests.length < 30, 'a place that was passed is read again without the pages between')
  assert.ok((await page.locator('.records tr').count()) < 100)
})

test('decimals stand right, as numbers do, and a name of capitals is one', { skip }, async (context) => {
  const prices = defineInterface({
    name: 'prices',
    resources: {
      prices: {
        fields: {
          name: Type.String(),
          vat_id: Type.Optional(Type.String()),
          net: Type.Optional(Type.Decimal({ precision: 10, scale: 2 })),
          count: Type.Optional(Type.Integer()),
        },
      },
    },
  })
  const site = await serveSite(context, prices, { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  await requestsOf(site, key)('POST', '/prices', { name: 'Tea', vat_id: 'DE1', net: '1234.50', count: 3 })
  const page = await openConsole(context, site, '/prices', { key })
  const right: string[] = []
  for (const text of ['1234.50', '3', 'Net', 'Count', 'DE1', 'VAT ID']) {
    const cell = page
      .locator('td, th')
      .filter({ hasText: new RegExp(`^\\s*${text}\\s*$`) })
      .first()
    await cell.waitFor()
    if (
      (await cell.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).textAlign)) ===
      'right'
    )
      right.push(text)
  }
  assert.deepEqual(right, ['1234.50', '3', 'Net', 'Count'])
})

test('records that are made and deleted meanwhile neither repeat nor hide others', { skip }, async (context) => {
  const { site, key } = await siteWith(context, 600)
  const send = requestsOf(site, key)
  const page = await openConsole(context, site, '/items?sort=number', { key, refusals: [404] })
  await row(page, 5).getByText('Item 5', { exact: true }).waitFor()
  for (const index of [80, 160, 240, 300]) {
    await seeRow(page, index + 1, `Item ${index + 1}`)
  }
  const { data } = (await send('GET', '/items?sort=number&limit=3')) as unknown as { data: { id: string }[] }
  for (const { id } of data) await send('DELETE', `/items/${id}`)
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 11000))')
  await seeRow(page, 0, 'Item 3')
  for (let index = 0; index < 560; index += 20) {
    await seeRow(page, index, `Item ${index + 3}`)
  }
})

test('of filters that change fast, only the last one is shown, and the others are ended', { skip }, async (context) => {
  const { site, key } = await siteWith(context, 40)
  const page = await openConsole(context, site, '/items', { key })
  await page.getByText('40 records').waitFor()
  const ended: string[] = []
  page.on('requestfailed', (request) => ended.push(new URL(request.url()).searchParams.get('kind') ?? ''))
  await page.route(/kind=odd/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await route.continue().catch(() => {})
  })
  await page.evaluate(`location.hash = '#/items?kind=odd'`)
  await page.waitForRequest(/kind=odd/)
  await page.evaluate(`location.hash = '#/items?kind=even&sort=number'`)
  await row(page, 0).getByText('Item 0', { exact: true }).waitFor()
  const shown = await page.locator('.records').innerText()
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 1700))')
  assert.equal(await page.locator('.records').innerText(), shown)
  assert.ok(!/Item \d*[13579]\b/.test(shown))
  assert.deepEqual(ended, ['odd'])
})

test('rows are reached, opened and selected with the keyboard', { skip }, async (context) => {
  const { site, key } = await siteWith(context, 300)
  const page = await openConsole(context, site, '/items?sort=number', { key })
  await row(page, 0).getByRole('link').first().focus()
  const reached = page.locator(':focus', { hasText: /^Item 60$/ })
  // A key that is pressed before the next row is drawn moves nothing.
  for (let times = 0; times < 600 && !(await reached.isVisible()); times++) await page.keyboard.press('ArrowDown')
  await reached.waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Space')
  await page.getByText('1 record selected').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByText('2 records selected').waitFor()
  // The selection stays while its rows are not drawn.
  await scrollTo(page, 250)
  await row(page, 252).getByRole('checkbox').click()
  await row(page, 255)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await page.getByText('6 records selected').waitFor()
  await scrollTo(page, 0)
  await row(page, 1).getByRole('link').first().focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Item 1' }).waitFor()
  await page.goBack()
  await row(page, 1).waitFor()
})

test('the address has the whole view: another browser shows the same', { skip }, async (context) => {
  const { site, key } = await siteWith(context, 60)
  const page = await openConsole(context, site, '/items', { key })
  await page.getByRole('button', { name: /^Kind/ }).click()
  await page.getByRole('button', { name: /^Number/ }).click({ modifiers: ['Shift'] })
  await page.getByRole('button', { name: /^Number/ }).click({ modifiers: ['Shift'] })
  await page.locator('summary', { hasText: 'Columns' }).click()
  await page.getByRole('group', { name: 'Columns' }).getByLabel('Created at').uncheck()
  await page.getByRole('searchbox', { name: 'Search' }).fill('item')
  await page.keyboard.press('Enter')
  await page.getByText('60 records').waitFor()
  await row(page, 0).getByText('Item 58', { exact: true }).waitFor()
  const address = new URL(page.url()).hash.slice(1)
  assert.match(address, /sort=kind%2C-number/)
  const other = await openConsole(context, site, address, { key })
  await row(other, 0).getByText('Item 58', { exact: true }).waitFor()
  assert.equal(await other.locator('.records').innerText(), await page.locator('.records').innerText())
})

async function addFilter(page: Page, field: string, condition: string, value: (form: Page) => Promise<unknown>) {
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.getByLabel('Field', { exact: true }).selectOption({ label: field })
  await page.getByLabel('Condition', { exact: true }).selectOption({ label: condition })
  await value(page)
  await page.getByRole('button', { name: 'Apply' }).click()
}

test('every kind of filter can be made, is shown in words, and is sent as the interface wants it', {
  skip,
}, async (context) => {
  const site = await serveSite(context, library)
  const key = await site.keyFor('ann', ['admin'])
  const send = requestsOf(site, key)
  const author = await send('POST', '/authors', { name: 'Ann Lee' })
  const book = { kind: 'poetry', year: 1999, price: 1.5, printed: true, acquired: '2020-02-29' }
  await send('POST', '/books', { title: 'One', ...book, released: '2020-01-01T00:00:00Z', author_id: author.id })
  await send('POST', '/books', { title: 'Two' })
  const page = await openConsole(context, site, '/books', { key })
  const value = (text: string) => (form: Page) => form.getByLabel('Value').fill(text)
  await addFilter(page, 'Kind', 'is', async (form) => {
    await form.getByLabel('poetry').check()
    await form.getByLabel('drama').check()
  })
  await addFilter(page, 'Year', 'is one of', value('1999,2000'))
  await addFilter(page, 'Price', 'is at most', value('1.50'))
  await addFilter(page, 'Printed', 'is', (form) => form.getByLabel('Value').selectOption({ label: 'yes' }))
  await addFilter(page, 'Acquired', 'is on or before', value('2020-02-29'))
  await addFilter(page, 'Released', 'is before', value('2020-06-01T12:30'))
  await addFilter(page, 'Author', 'is', async (form) => {
    await form.getByRole('combobox', { name: 'Value' }).fill('lee')
    await form.getByRole('option', { name: 'Ann Lee' }).click()
  })
  await addFilter(page, 'Title', 'starts with', value('on'))
  await addFilter(page, 'Created at', 'is null', (form) => form.getByLabel('Value').selectOption({ label: 'no' }))
  await page.getByText('1 record', { exact: true }).waitFor()
  const view = new URLSearchParams(new URL(page.url()).hash.split('?')[1])
  assert.deepEqual(
    [...view],
    [
      ['kind', 'poetry'],
      ['kind', 'drama'],
      ['year[in]', '1999,2000'],
      ['price[lte]', '1.50'],
      ['printed', 'true'],
      ['acquired[lte]', '2020-02-29'],
      ['released[lt]', new Date('2020-06-01T12:30').toISOString()],
      ['author_id', author.id],
      ['title[starts_with]', 'on'],
      ['created_at[null]', 'false'],
    ],
  )
  const chips = (await page.locator('.chip').allInnerTexts()).map((text) =>
    text
      .replaceAll(/\s*✕?\s+/g, ' ')
      .replace(/ ?✕/, '')
      .trim(),
  )
  assert.deepEqual(chips.slice(0, 4), [
    'Kind is poetry or drama',
    'Year is one of 1999, 2000',
    'Price is at most 1.50',
    'Printed is yes',
  ])
  assert.ok(chips.includes('Author is Ann Lee'))
  await page.getByRole('button', { name: 'Remove the filter Kind' }).click()
  await page.getByRole('button', { name: 'Remove the filter Kind' }).waitFor({ state: 'detached' })
})

test('a list whose pages are short is read to its end', { skip }, async (context) => {
  const site = await serveSite(context, shop, { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  const shelf = await requestsOf(site, key)('POST', '/shelves', { name: 'Top' })
  for (let rank = 0; rank < 60; rank++) {
    await requestsOf(site, key)('POST', '/goods', { name: `Good ${rank}`, rank, shelf_id: shelf.id })
  }
  const page = await openConsole(context, site, `/shelves/${shelf.id}`, { key })
  await page.getByRole('link', { name: 'Goods 60' }).click()
  await seeRow(page, 59, 'Top')
})
