/** HIS-2: the history of a record in the console, in a real browser. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { axeFindingsEverywhere } from './axe.ts'
import { noBrowser, openConsole, serveSite } from './browser.ts'
import { hasSaved, requestsOf, save } from './console.ts'
import { keyboard } from './hands.ts'

const skip = noBrowser
const everybody = {
  read: 'anyone',
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
  readHistory: 'role:auditor',
} as const

const shop = defineInterface({
  name: 'shop',
  resources: {
    makers: { fields: { name: Type.String({ search: true }) }, access: everybody },
    goods: {
      fields: {
        title: Type.String({ search: true, sort: true }),
        stock: Type.Optional(Type.Integer()),
        maker_id: Type.Optional(reference('makers')),
        origin: Type.Optional(Type.String({ immutable: true })),
        cost: Type.Optional(Type.Integer()),
        pin: Type.Optional(Type.String({ writeOnly: true })),
      },
      history: true,
      access: { ...everybody, fields: { cost: { read: 'role:buyer' } } },
    },
  },
})

/** The console at a record with a history of four states. */
async function desk(context: TestContext, refusals: readonly number[] = [], roles: readonly string[] = ['auditor']) {
  const site = await serveSite(context, shop)
  const send = requestsOf(site, await site.keyFor('ann', ['admin', 'buyer']))
  const beside = requestsOf(site, await site.keyFor('bob', []))
  const maker = await send('POST', '/makers', { name: 'Smith' })
  const { id } = await send('POST', '/goods', { title: 'Ax', stock: 1, origin: 'here', cost: 5, pin: '1234' })
  await beside('PATCH', `/goods/${id}`, { title: 'Axe', maker_id: maker.id })
  await send('PATCH', `/goods/${id}`, { cost: 6 })
  await send('PATCH', `/goods/${id}`, { stock: null })
  const key = await site.keyFor('eve', roles)
  const page = await openConsole(context, site, `/goods/${id}`, { key, refusals })
  return { page, beside, id, path: `/goods/${id}` }
}

test('HIS-2: the states of a record are a timeline with what each change has made different', {
  skip,
}, async (context) => {
  const { page } = await desk(context)
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await page.getByText('4 states, newest first').waitFor()
  await page.getByRole('link', { name: 'Smith' }).waitFor()
  const states = await page.locator('.timeline > li').allInnerTexts()
  const words = states.map((text) => text.replace(/\s+/g, ' ').replace(/ [A-Z][a-z]{2} \d.*?[AP]M/, ''))
  assert.deepEqual(words, [
    'Updated by ann now Stock 1 → became null',
    'Updated by ann Restore Nothing that you may read is different.',
    'Updated by bob Restore Title Ax → became Axe Maker null → became Smith',
    'Created by ann Restore Title Ax Stock 1 Origin here',
  ])
  assert.deepEqual(await axeFindingsEverywhere(page), [])
})

test('CON-3: a state is restored by the form of the record, with the keyboard', { skip }, async (context) => {
  const { page, beside, path } = await desk(context, [412])
  const hands = keyboard(page)
  await hands.press('History')
  await page.getByText('4 states').waitFor()
  await page
    .getByRole('button', { name: /^Restore the state of/ })
    .last()
    .focus()
  await page.keyboard.press('Enter')
  await page.getByText('Save it to restore them').waitFor()
  assert.equal(await page.getByLabel('Title', { exact: true }).inputValue(), 'Ax')
  assert.equal(await page.getByLabel('Stock', { exact: true }).inputValue(), '1')
  // Somebody else is faster.
  await beside('PATCH', path, { stock: 9 })
  await save(page).click()
  await page.getByText('Somebody else has changed this record').waitFor()
  await page.getByRole('button', { name: 'Continue with these values' }).click()
  await save(page).click()
  await hasSaved(page)
  const { title, stock, maker_id } = await beside('GET', path)
  assert.deepEqual([title, stock, maker_id], ['Ax', 1, null])
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await page.getByText('6 states').waitFor()
  // The state that the record was created with is the present one again.
  await page.locator('.timeline > li').last().getByText('The same as now').waitFor()
})

test('HIS-2: the history of a deleted record is found from the recycle bin', { skip }, async (context) => {
  const { page, beside, path } = await desk(context)
  await beside('DELETE', path)
  await page.evaluate(`location.hash = '/-/bin/goods'`)
  await page.getByRole('link', { name: 'Axe', exact: true }).click()
  await page.getByText('5 states').waitFor()
  await page.getByRole('heading', { name: /^Deleted/ }).waitFor()
  assert.equal(await page.getByRole('button', { name: /^Restore/ }).count(), 0)
})

test('HIS-4: former states are erased after a confirmation', { skip }, async (context) => {
  const { page, path } = await desk(context)
  await page.evaluate(`location.hash = '/-/history${path}'`)
  await page.getByText('4 states, newest first').waitFor()
  await page.getByRole('button', { name: 'Erase former states' }).click()
  const erase = page.getByRole('button', { name: 'Erase', exact: true })
  assert.equal(await erase.isDisabled(), true)
  await page.getByLabel('I know that this cannot be undone').check()
  assert.deepEqual(await axeFindingsEverywhere(page), [])
  await erase.click()
  await page.getByText('1 state, newest first').waitFor()
  await page.getByText('Nothing older is kept.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Erase former states' }).count(), 0)
})

test('AUT-11: who may not read the history is not offered it', { skip }, async (context) => {
  const { page, path } = await desk(context, [403], [])
  await page.getByLabel('Title', { exact: true }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'History', exact: true }).count(), 0)
  await page.evaluate(`location.hash = '/-/history${path}'`)
  await page.getByText('only if you have the role auditor').waitFor()
})
