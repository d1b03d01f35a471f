/** The console as a visitor meets it who has never seen it, on the way from the sign-in to a restored record. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { studio } from '../declarations.ts'
import { noBrowser, openConsole, openPage, serveSite } from './browser.ts'
import { keyboard, mouse, type TakeHands } from './hands.ts'
import { askAs, fillStudio } from './studio-records.ts'

const skip = noBrowser

for (const take of [mouse, keyboard] as readonly TakeHands[]) {
  const { name } = take({} as never)
  test(`by ${name} alone: make, find, change, delete and restore a record`, { skip }, async (context) => {
    const site = await serveSite(context, studio)
    const key = await site.keyFor('ann', ['admin'])
    const ask = askAs(site.url, key)
    await fillStudio(ask)
    const page = await openPage(context, site, '/console')
    const hands = take(page)
    const main = page.getByRole('main')

    await hands.type('API key or token', key)
    await hands.press('Sign in')
    await main.getByRole('heading', { name: 'Studio' }).waitFor()

    await hands.press('Projects')
    await main.getByRole('heading', { name: 'Projects' }).waitFor()
    await hands.press('New')
    await hands.type('Name', 'Attic')
    await hands.press('Create')
    await main.getByRole('heading', { name: 'Attic' }).waitFor()

    await hands.press('Projects')
    await hands.enter('Search', 'atti')
    await main.getByText('1 record', { exact: true }).waitFor()
    await hands.press('Attic')

    await hands.type('Description', 'Insulate the roof.')
    await hands.press('Save')
    await page.getByText('Saved.').waitFor()
    const changed = await ask('GET', '/projects?q=attic')
    const [record] = changed.body['data'] as { id: string; description: string }[]
    assert.equal(record?.description, 'Insulate the roof.')

    await hands.press('Delete')
    await page.getByRole('dialog').getByText('Can be restored').waitFor()
    // What is read of the record after the change is 404 if the deletion overtakes it, which the page logs.
    await page.waitForLoadState('networkidle')
    await hands.press('Delete')
    // The list is opened after the response to the deletion.
    await page.waitForURL(/#\/projects$/)
    await main.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.equal((await ask('GET', `/projects/${record?.id}`)).status, 404)

    await hands.press('Recycle bin')
    await main.getByText('Attic').waitFor()
    await hands.press('Restore Attic')
    await page.getByText('Restored').waitFor()
    assert.equal((await ask('GET', `/projects/${record?.id}`)).status, 200)
  })
}

test('a view is opened by its link, and the back button leads to the view before', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const { busy } = await fillStudio(askAs(site.url, key))
  const page = await openConsole(context, site, '/tasks?status=done&sort=-title&columns=title,estimate', { key })
  await page.getByText('11 records').waitFor()
  await page.getByRole('cell', { name: 'Task 8', exact: true }).waitFor()
  assert.equal(await page.getByRole('columnheader', { name: 'Due on' }).count(), 0)

  await page.getByRole('button', { name: 'Remove the filter Status' }).click()
  await page.getByText('32 records').waitFor()
  await page.getByRole('link', { name: 'Task 9', exact: true }).click()
  await page.getByRole('heading', { name: 'Task 9' }).waitFor()
  await page.goBack()
  await page.getByText('32 records').waitFor()
  await page.goBack()
  await page.getByText('11 records').waitFor()
  await page.goForward()
  await page.getByText('32 records').waitFor()

  await page.goto(`${site.origin}/console#/projects/${busy}`)
  await page.getByRole('heading', { name: 'Kitchen' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Kitchen' }).waitFor()
  assert.match(await page.title(), /Studio/)
})

test('the console works below a path prefix', { skip }, async (context) => {
  const site = await serveSite(context, studio, { basePath: '/shop/api' })
  const key = await site.keyFor('ann', ['admin'])
  const page = await openPage(context, site, '/shop/api/console')
  const hands = mouse(page)
  await hands.type('API key or token', key)
  await hands.press('Sign in')
  await hands.press('Projects')
  await page.getByText('0 records').waitFor()
})
