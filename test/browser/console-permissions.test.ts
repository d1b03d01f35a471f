/** The console offers each caller what `GET /caller` says that the caller may do, and nothing else (AUT-11, AUT-13, AUT-14). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { noBrowser, openConsole, openPage, type Site, serveSite } from './browser.ts'
import { hasSaved, save } from './console.ts'
import { type Ask, askAs } from './studio-records.ts'

const skip = noBrowser

const library = defineInterface({
  name: 'library',
  resources: {
    books: {
      fields: { title: Type.String({ search: true, sort: true }), author_id: Type.Optional(reference('authors')) },
      access: {
        read: 'anyone',
        create: ['role:editor', 'role:admin'],
        update: ['role:editor', 'role:admin'],
        delete: 'role:admin',
        restore: 'role:admin',
        readDeleted: 'role:admin',
      },
    },
    authors: { fields: { name: Type.String() }, access: { read: 'anyone', update: ['role:editor', 'role:admin'] } },
    members: {
      fields: { name: Type.String(), fine: Type.Integer({ filter: true }), card: Type.String() },
      access: {
        ...{ read: 'anyone', create: 'role:admin', update: 'anyone' },
        fields: { fine: { read: 'role:admin', write: 'role:admin' }, card: { write: 'role:admin' } },
      },
    },
    loans: { fields: { reader: Type.String() }, access: { read: 'role:admin', create: ['role:editor', 'role:admin'] } },
  },
})

type Permissions = Readonly<Record<string, Readonly<Record<string, { readonly granted: string }>>>>

interface Caller {
  readonly subject: string
  readonly roles: readonly string[]
}

const callers: readonly Caller[] = [
  { subject: 'admin', roles: ['admin'] },
  { subject: 'editor', roles: ['editor'] },
  { subject: 'reader', roles: [] },
]

for (const { subject, roles } of callers) {
  test(`a caller sees what they may do: ${subject}`, { skip }, async (context) => {
    const site = await serveSite(context, library)
    const records = await fill(askAs(site.url, await site.keyFor('root', ['admin'])))
    const key = await site.keyFor(subject, roles)
    const { body } = await askAs(site.url, key)('GET', '/caller')
    const permissions = body['permissions'] as Permissions
    const may = (collection: string, action: string) =>
      (permissions[collection]?.[action]?.granted ?? 'none') !== 'none'
    const page = await openConsole(context, site, '/', { key, refusals: [403] })
    const menu = page.getByRole('navigation')
    for (const [collection, id] of Object.entries(records)) {
      const label = `${collection.charAt(0).toUpperCase()}${collection.slice(1)}`
      assert.equal((await menu.getByRole('link', { name: label, exact: true }).count()) > 0, may(collection, 'read'))
      if (!may(collection, 'read')) continue
      await show(page, site, `/${collection}`)
      await page.getByText('1 record', { exact: true }).waitFor()
      await offers(page, 'link', 'New', may(collection, 'create'))
      await offers(page, 'link', 'Import', may(collection, 'create'))
      await offers(page, 'link', 'Recycle bin', may(collection, 'read_deleted'))
      const selects = may(collection, 'delete') || may(collection, 'update')
      await offers(page, 'checkbox', 'Select all loaded records', selects)
      await show(page, site, `/${collection}/${id}`)
      await page.getByRole('complementary').waitFor()
      await offers(page, 'button', 'Delete', may(collection, 'delete'))
      await offers(page, 'button', 'Save', may(collection, 'update'))
    }
    await offers(page, 'link', 'API keys', may('api-keys', 'read'))
  })
}

for (const { subject, roles } of callers.filter(({ subject }) => subject !== 'editor')) {
  const isAdmin = roles.includes('admin')
  test(`AUT-13, AUT-14: a caller sees the fields that they may read, and inputs of those they may write: ${subject}`, {
    skip,
  }, async (context) => {
    const site = await serveSite(context, library)
    const root = askAs(site.url, await site.keyFor('root', ['admin']))
    const { id } = (await root('POST', '/members', { name: 'Ann', fine: 71_234, card: 'Gold' })).body
    const page = await openConsole(context, site, '/members', { key: await site.keyFor(subject, roles) })
    await page.getByText('Gold').waitFor()
    assert.equal(await page.getByRole('columnheader', { name: 'Fine' }).count(), Number(isAdmin))
    await show(page, site, `/members/${id}`)
    await page.getByRole('textbox', { name: 'Name' }).fill('Ann Lee')
    assert.equal(await page.getByLabel('Fine', { exact: true }).count(), Number(isAdmin))
    assert.equal(await page.getByLabel('Card', { exact: true }).count(), Number(isAdmin))
    assert.equal((await page.content()).includes('Fine'), isAdmin)
    await save(page).click()
    await hasSaved(page)
    const { name, fine, card } = (await root('GET', `/members/${id}`)).body
    assert.deepEqual({ name, fine, card }, { name: 'Ann Lee', fine: 71_234, card: 'Gold' })
    // A value that may only be read is shown beside the form.
    assert.equal(await page.locator('.read-only').getByText('Gold').count(), Number(!isAdmin))
  })
}

test('a link to a view that the caller may not open says why', { skip }, async (context) => {
  const site = await serveSite(context, library)
  const key = await site.keyFor('reader')
  const page = await openConsole(context, site, '/-/new/books', { key, refusals: [403] })
  await page
    .getByText(/editor/)
    .first()
    .waitFor()
  assert.equal(await page.getByRole('button', { name: 'Create' }).count(), 0)
})

test('a wrong key is refused, and nothing else is asked with it', { skip }, async (context) => {
  const site = await serveSite(context, library)
  const page = await openPage(context, site, '/console', { refusals: [401] })
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  // What no header field can carry is not sent at all.
  await page.getByLabel('API key or token').fill('rsk_\u202E key')
  await page.getByRole('button', { name: 'Sign in' }).click()
  assert.equal(await page.locator('input:invalid').count(), 1)
  await page.getByLabel('API key or token').fill('rsk_nothing')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  assert.deepEqual(
    asked.filter((path) => !path.startsWith('/console/')),
    ['/v1/caller'],
  )
})

/** One record in each collection. */
async function fill(ask: Ask): Promise<Readonly<Record<string, string>>> {
  const bodies = { authors: { name: 'Ursula' }, books: { title: 'Emma' }, loans: { reader: 'Ann' } }
  const made: Record<string, string> = {}
  for (const [collection, body] of Object.entries(bodies)) {
    const { status, body: record } = await ask('POST', `/${collection}`, body)
    assert.equal(status, 201)
    made[collection] = record.id
  }
  return made
}

async function show(page: Page, site: Site, view: string): Promise<void> {
  await page.goto(`${site.origin}/console#${view}`)
}

async function offers(
  page: Page,
  role: 'link' | 'button' | 'checkbox',
  name: string,
  isOffered: boolean,
): Promise<void> {
  const count = await page.getByRole(role, { name, exact: true }).count()
  assert.equal(count > 0, isOffered, `${name} at ${page.url()}`)
}
