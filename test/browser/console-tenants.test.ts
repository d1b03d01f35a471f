/** Operators manage tenants in the console, and members see nothing of it (TEN-3). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { noBrowser, openConsole, openPage, serveSite } from './browser.ts'
import { requestsOf, signedInAs, signInWith } from './console.ts'

const skip = noBrowser

const shop: InterfaceDeclaration = {
  name: 'shop',
  tenants: { caller: 'claims.team' },
  resources: { products: { fields: { sku: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } } },
}

test('TEN-3: an operator creates, deletes and restores tenants', { skip }, async (context) => {
  const site = await serveSite(context, shop)
  const key = await site.keyFor('ops', ['operator'])
  // The server refuses to say who an operator is.
  const page = await openPage(context, site, '/console', { refusals: [403, 409] })
  await signInWith(page, key)
  await page.getByText('You manage tenants').waitFor()
  assert.equal(await signedInAs(page), 'operator')
  const menu = page.getByRole('navigation')
  assert.deepEqual(await menu.getByRole('link').allInnerTexts(), ['Jobs', 'Tenants', 'Versions', 'Health', 'API page'])
  await menu.getByRole('link', { name: 'Tenants' }).click()
  await page.getByText('No tenants yet').waitFor()
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  for (const name of ['acme', 'globex']) {
    await page.getByRole('button', { name: 'New tenant' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill(name)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await row(name).waitFor()
  }
  await page.getByRole('button', { name: 'New tenant' }).click()
  await page.getByRole('dialog').getByRole('textbox').fill('acme')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('name is taken by another record').waitFor()
  await page.keyboard.press('Escape')
  await row('acme').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await row('acme').getByText('deleted', { exact: true }).waitFor()
  await row('acme').getByRole('button', { name: 'Restore' }).click()
  await row('acme').getByText('active', { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('glob')
  await row('acme').waitFor({ state: 'detached' })
  await row('globex').waitFor()
  const { data } = (await requestsOf(site, key)('GET', '/tenants?sort=name')) as never
  const found = (data as { readonly name: string; readonly state: string }[]).map(({ name, state }) => [name, state])
  assert.deepEqual(found, [
    ['acme', 'active'],
    ['globex', 'active'],
  ])
})

test('TEN-3: a member sees nothing of tenants, and a caller without one is told so', { skip }, async (context) => {
  const site = await serveSite(context, shop)
  const operator = await site.keyFor('ops', ['operator'])
  await requestsOf(site, operator)('POST', '/tenants', { name: 'acme' })
  const key = await site.keyFor('ann', [], { claims: { team: 'acme' } })
  const page = await openConsole(context, site, '/', { key, refusals: [403] })
  const menu = page.getByRole('navigation')
  await menu.getByRole('link', { name: 'Products' }).waitFor()
  assert.equal(await menu.getByRole('link', { name: 'Tenants' }).count(), 0)
  await page.goto(`${site.origin}/console#/-/tenants`)
  await page.getByText('Only callers with the role operator').waitFor()
  const other = await openPage(context, site, '/console', { refusals: [403] })
  await signInWith(other, await site.keyFor('root', ['admin']))
  await other.getByText('Use one that names your tenant').waitFor()
})
