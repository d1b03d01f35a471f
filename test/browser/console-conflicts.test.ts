/** Several people and one record: the console compares what they typed, and loses nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { studio } from '../declarations.ts'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openConsole, serveSite } from './browser.ts'
import { hasSaved, type RecordJson, requestsOf, save } from './console.ts'

const skip = noBrowser

test('two people change one record: what both typed is compared, as often as it happens', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const [ann, bea] = [await site.keyFor('ann', ['admin']), await site.keyFor('bea', ['admin'])]
  const { id } = await requestsOf(site, ann)('POST', '/projects', { name: 'Kitchen', description: 'Old' })
  const mine = await openConsole(context, site, `/projects/${id}`, { key: ann, refusals: [412] })
  const theirs = await openConsole(context, site, `/projects/${id}`, { key: bea })
  const change = async (page: Page, name: string, text: string) => page.getByLabel(name, { exact: true }).fill(text)
  await change(mine, 'Name', 'Kitchen of mine')
  await change(mine, 'Description', 'Mine')
  await change(theirs, 'Name', 'Kitchen of theirs')
  await save(theirs).click()
  await theirs.getByText('Saved.').waitFor()

  await save(mine).click()
  const dialog = mine.getByRole('dialog', { name: 'Somebody else has changed this record' })
  const row = dialog.getByRole('row', { name: /^Name/ })
  await row.waitFor()
  assert.deepEqual(await row.getByRole('cell').allInnerTexts(), ['Kitchen', 'Kitchen of theirs', 'Kitchen of mine'])
  assert.deepEqual(await axeFindingsEverywhere(mine), [])
  // They save again while I compare.
  await change(theirs, 'Description', 'Theirs')
  await save(theirs).click()
  await hasSaved(theirs)
  await dialog.getByRole('radio', { name: 'Name: keep theirs' }).check()
  await dialog.getByRole('button', { name: 'Continue with these values' }).click()
  await save(mine).click()
  const again = dialog.getByRole('row', { name: /^Description/ })
  await again.waitFor()
  assert.deepEqual(await again.getByRole('cell').allInnerTexts(), ['Old', 'Theirs', 'Mine'])
  await dialog.getByRole('button', { name: 'Continue with these values' }).click()
  await save(mine).click()
  await mine.getByText('Saved.').waitFor()
  const saved = await requestsOf(site, ann)('GET', `/projects/${id}`)
  assert.deepEqual([saved['name'], saved['description']], ['Kitchen of theirs', 'Mine'])
})

test('a draft that was left stays a change of the record that it began with', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const send = requestsOf(site, key)
  const { id } = await send('POST', '/projects', { name: 'Kitchen' })
  const page = await openConsole(context, site, `/projects/${id}`, { key, refusals: [412] })
  await page.getByLabel('Name', { exact: true }).fill('Mine')
  await page.getByRole('link', { name: 'Users' }).click()
  await send('PATCH', `/projects/${id}`, { name: 'Theirs' })
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 5100))')
  await page.goBack()
  await page.getByText('Somebody has changed this record meanwhile.').waitFor()
  await save(page).click()
  await page.getByRole('dialog', { name: 'Somebody else has changed this record' }).waitFor()
})

test('a record that was deleted meanwhile can be made again from what was typed', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const send = requestsOf(site, key)
  const { id } = await send('POST', '/projects', { name: 'Kitchen', description: 'Old' })
  const page = await openConsole(context, site, `/projects/${id}`, { key, refusals: [404] })
  await page.getByLabel('Description', { exact: true }).fill('Typed for an hour')
  await send('DELETE', `/projects/${id}`)
  await save(page).click()
  await page.getByRole('button', { name: 'Copy what you typed into a new record' }).click()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Created.').waitFor()
  const { data } = (await send('GET', '/projects')) as unknown as { data: RecordJson[] }
  assert.deepEqual(
    data.map((each) => [each['name'], each['description']]),
    [['Kitchen', 'Typed for an hour']],
  )
})
