/** The console with content that is hostile, huge or plentiful, and without a part of itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { studio } from '../declarations.ts'
import { browser, noBrowser, openConsole, serveSite } from './browser.ts'
import { askAs, fillStudio, hostileText } from './studio-records.ts'

const skip = noBrowser

test('hostile text is shown as text in lists, records, menus and the title', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const { hostile } = await fillStudio(askAs(site.url, key))
  const page = await openConsole(context, site, '/projects', { key })
  const link = page.getByRole('link', { name: 'onerror' })
  await link.waitFor()
  // Control characters, and marks that change the direction of writing, are named.
  const shown = hostileText.replace('\u202E', '␣U+202E').replace('\u0007', '␣U+0007')
  assert.equal(await link.innerText(), shown)
  await link.click()
  await page.getByRole('heading', { name: 'onerror' }).waitFor()
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), hostileText)
  assert.equal(await page.locator('img').count(), 0)
  assert.equal(await page.title(), 'Projects · Studio')
  assert.ok(page.url().endsWith(hostile))
})

const wide = defineInterface({
  name: 'wide',
  limits: { bodyBytes: 4_194_304 },
  resources: {
    ...Object.fromEntries(
      Array.from({ length: 499 }, (_, number) => [`things-${number}`, { fields: { name: Type.String() } }]),
    ),
    texts: { fields: { title: Type.String(), text: Type.String() } },
  },
})

test('a text of a megabyte and 500 collections are shown', { skip }, async (context) => {
  const site = await serveSite(context, wide)
  const key = await site.keyFor('ann', ['admin'])
  const text = 'word '.repeat(200_000)
  const { status, body } = await askAs(site.url, key)('POST', '/texts', { title: 'Long', text })
  assert.equal(status, 201)
  // The document of 500 collections costs so much that the server slows the caller down.
  const page = await openConsole(context, site, `/texts/${body.id}`, { key, refusals: [429] })
  assert.equal((await page.getByLabel('Text', { exact: true }).inputValue()).length, 1_000_000)
  await page.getByLabel('Find a collection').fill('things 49')
  await page.getByRole('navigation').getByRole('link', { name: 'Things 498' }).click()
  await page.getByText('0 records').waitFor()
})

test('a newer server without this file of the page is said so, and loads the page again', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const page = await (await browser()).newPage()
  context.after(() => page.close())
  await page.addInitScript(`sessionStorage.setItem('resourced.credential', '${key}')`)
  const gone = '**/assets/signed-in-*'
  await page.route(gone, (route) => route.fulfill({ status: 404 }))
  await page.goto(`${site.origin}/console`)
  await page.getByText('This part of the page failed').waitFor()
  await page.unroute(gone)
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('heading', { name: 'Studio' }).waitFor()
})
