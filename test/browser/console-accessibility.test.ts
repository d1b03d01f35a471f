/** Every view of the console passes the rules of axe-core, in both themes and at three widths. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { studio } from '../declarations.ts'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openPage, serveSite } from './browser.ts'
import { screensOf } from './console-screens.ts'
import { askAs, fillStudio } from './studio-records.ts'

const skip = noBrowser

test('the sign-in page passes', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const page = await openPage(context, site, '/console', { refusals: [401] })
  await page.getByLabel('API key or token').fill('wrong')
  assert.deepEqual(await axeFindingsEverywhere(page), [])
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  assert.deepEqual(await axeFindingsEverywhere(page), [])
})

test('every view and every dialog passes', { skip }, async (context) => {
  const site = await serveSite(context, studio, { rateLimit: 'off' })
  const key = await site.keyFor('ann', ['admin'])
  const screens = screensOf(await fillStudio(askAs(site.url, key)))
  const page = await openPage(context, site, '/console', { key, refusals: [400, 404, 409, 422] })
  for (const { name, view, steps } of screens) {
    await context.test(name, async () => {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(`${site.origin}/console#${view}`)
      // A new address with another fragment alone loads nothing: dialogs and forms of the last screen would stay.
      await page.reload()
      await page.locator('h1').first().waitFor()
      await steps(page)
      assert.deepEqual(await axeFindingsEverywhere(page), [])
    })
  }
})
