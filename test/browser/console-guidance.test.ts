/** Where people would not know how to go on: empty views, refused forms, addresses of what is gone, new entries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'
import { studio } from '../declarations.ts'
import { noBrowser, openConsole, serveSite } from './browser.ts'
import { requestsOf } from './console.ts'

const skip = noBrowser

/** The name or the text of what has the focus. */
const focused = '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.id)'

test('an empty view says what to do next', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/users', { key })
  await page.getByRole('link', { name: 'Create the first one' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Ann Lee')
  await page.getByLabel('Email', { exact: true }).fill('ann@example.org')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Created.').waitFor()
  await page.goto(`${site.origin}/console#/users?q=nobody&sort=-name`)
  await page.getByText('Nothing here matches.').waitFor()
  await page.getByRole('button', { name: 'Show all records' }).click()
  await page.getByRole('link', { name: 'Ann Lee' }).waitFor()
  assert.equal(new URL(page.url()).hash, '#/users?sort=-name')
  await page.getByRole('link', { name: 'Recycle bin' }).click()
  await page.getByText('The recycle bin is empty.').waitFor()
})

test('a record that is gone leads to the recycle bin', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const send = requestsOf(site, key)
  const { id } = await send('POST', '/users', { name: 'Ann Lee', email: 'ann@example.org' })
  await send('DELETE', `/users/${id}`)
  const page = await openConsole(context, site, `/users/${id}`, { key, refusals: [404] })
  await page.getByRole('link', { name: 'Look in the recycle bin' }).click()
  await page.getByRole('button', { name: 'Restore Ann Lee' }).waitFor()
})

test('a view begins at its top, with the keyboard, and the menu shows where it belongs', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const { id } = await requestsOf(site, key)('POST', '/users', { name: 'Ann Lee', email: 'ann@example.org' })
  const page = await openConsole(context, site, `/users/${id}`, { key, height: 300 })
  const current = page.getByRole('navigation', { name: 'Collections' }).locator('[aria-current]')
  assert.equal(await current.innerText(), 'Users')
  await page.evaluate('scrollTo(0, 1000)')
  assert.notEqual(await page.evaluate('scrollY'), 0)
  await page.locator('h1').getByRole('link', { name: 'Users', exact: true }).press('Enter')
  await page.getByRole('link', { name: 'New' }).waitFor()
  assert.equal(await page.evaluate('scrollY'), 0)
  assert.equal(await page.evaluate('document.activeElement.id'), 'main')
  await page.goto(`${site.origin}/console#/-/bin/users`)
  await page.getByText('The recycle bin is empty.').waitFor()
  assert.equal(await current.innerText(), 'Users')
})

const tours = defineInterface({
  name: 'tours',
  resources: {
    tours: {
      fields: {
        name: Type.String({ minLength: 1, maxLength: 50 }),
        guide_id: Type.String({ minLength: 3, maxLength: 50 }),
        stops: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { default: [] }),
      },
    },
  },
})

test('a refused form names its fields as it labels them, and leads to each', { skip }, async (context) => {
  const site = await serveSite(context, tours)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/-/new/tours', { key, refusals: [400] })
  await page.getByLabel('Guide ID', { exact: true }).fill('No')
  await page.getByRole('button', { name: 'Add to stops' }).click()
  await page.waitForFunction(`${focused} === 'Stops 1'`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('Name is required.').waitFor()
  await page.getByText('Guide ID must have at least 3 characters.').waitFor()
  await page.getByText('Stops 1 must have at least 1 character.').waitFor()
  await page.getByRole('alert').getByRole('button', { name: 'Go to Stops' }).click()
  assert.equal(await page.evaluate(focused), 'Stops 1')
  // Everything of a new record is new: nothing is there to go back to.
  assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0)
})

test('the list of columns closes with Escape, and when something else has the focus', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/users', { key })
  const columns = page.locator('summary', { hasText: 'Columns' })
  const email = page.getByRole('checkbox', { name: 'Email' })
  await columns.click()
  // A click on the text of a choice is a click on the choice.
  await page.locator('.panel').getByText('Email', { exact: true }).click()
  await page.getByRole('columnheader', { name: 'Email' }).waitFor({ state: 'detached' })
  assert.ok(await email.isVisible())
  await page.keyboard.press('Escape')
  assert.ok(await email.isHidden())
  await columns.click()
  await page.getByRole('searchbox', { name: 'Search' }).click()
  assert.ok(await email.isHidden())
})

test('the focus goes where people type next', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openConsole(context, site, '/-/keys', { key })
  await page.getByRole('button', { name: 'New key' }).click()
  await page.waitForFunction(`${focused}.endsWith('-subject')`)
  await page.goto(`${site.origin}/console#/tasks`)
  await page.getByRole('button', { name: 'Add filter' }).click()
  await page.waitForFunction(`${focused} === 'Field'`)
  await page.getByRole('button', { name: 'Apply' }).click()
  // Without a value there is no filter: the first choice has the focus, with a message.
  await page.waitForFunction('document.activeElement.name === "value"')
  await page.keyboard.press('Escape')
  await page.waitForFunction('document.activeElement.textContent === "Add filter"')
})

test('a click anywhere in a row opens its record', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  await requestsOf(site, key)('POST', '/users', { name: 'Ann Lee', email: 'ann@example.org' })
  const page = await openConsole(context, site, '/users', { key })
  const email = page.getByRole('cell', { name: 'ann@example.org' })
  // A selected text stays selected.
  const box = (await email.boundingBox()) ?? assert.fail('no cell')
  const middle = box.y + box.height / 2
  await page.mouse.move(box.x + 13, middle)
  await page.mouse.down()
  await page.mouse.move(box.x + 90, middle)
  await page.mouse.up()
  assert.notEqual(await page.evaluate('String(getSelection())'), '')
  assert.equal(new URL(page.url()).hash, '#/users')
  await email.click()
  await page.locator('h1', { hasText: 'Ann Lee' }).waitFor()
})

test('a search begins when somebody stops typing, and what is typed stays', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const send = requestsOf(site, key)
  for (const name of ['Ann Lee', 'Bob Stone']) {
    await send('POST', '/users', { name, email: `${name.charAt(0)}@example.org` })
  }
  const page = await openConsole(context, site, '/users', { key })
  const search = page.getByRole('searchbox', { name: 'Search' })
  await page.getByText('2 records').waitFor()
  await search.pressSequentially('ann')
  await page.getByText('1 record', { exact: true }).waitFor()
  await search.press('End')
  await search.pressSequentially(' lee')
  await page.waitForURL(/q=ann\+lee/)
  assert.equal(await search.inputValue(), 'ann lee')
  // Both were one search: the back button leads to the view before it.
  await page.goBack()
  await page.getByText('2 records').waitFor()
  assert.equal(await search.inputValue(), '')
})
