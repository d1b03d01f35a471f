/** DOC-1, DOC-4: the API page in a real browser. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { studio } from '../declarations.ts'
import { notebooks } from '../declarations-versions.ts'
import { noBrowser, openPage, type Site, serveSite } from './browser.ts'

const skip = noBrowser

async function signIn(page: Page, key: string, keep = false): Promise<void> {
  await page.getByLabel('API key or token').fill(key)
  if (keep) await page.getByLabel('Keep me signed in').check()
  await page.getByRole('button', { name: 'Show the API' }).click()
}

/** What the page keeps, in this tab and beyond it. */
function kept(page: Page): Promise<{ session: string[]; local: number; cookie: string }> {
  return page.evaluate(
    '({ session: Object.values(sessionStorage), local: localStorage.length, cookie: document.cookie })',
  )
}

const tries = 'DOC-4: the API page asks for a key, shows the interface, and tries requests with the key'
test(tries, { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openPage(context, site, '/docs')
  await signIn(page, key)
  await page.locator('#operations-projects-listProjects').getByRole('button').first().click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table').getByText('total_count').waitFor()

  const snippets = page.locator('.request-snippets')
  assert.match(await snippets.innerText(), new RegExp(`curl -X GET '${site.url}/projects'`))
  await snippets.getByText('TypeScript').click()
  assert.match(await snippets.innerText(), /await fetch\('http.*process\.env\.KEY/s)
  await snippets.getByText('Python').click()
  assert.match(await snippets.innerText(), /requests\.request\(.*os\.environ\['KEY'\]/s)

  assert.deepEqual(await kept(page), { session: [], local: 0, cookie: '' })
  assert.ok(!(await page.content()).includes(key), 'the key is not on the page')
  assert.ok(!page.url().includes(key), 'nor in its address')
})

const typed = 'DOC-4: the code of an open operation has what is typed in, and nothing is sent'
test(typed, { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const page = await openPage(context, site, '/docs')
  await signIn(page, await site.keyFor('ann', ['admin']))
  const open = (operation: string) => page.locator(`#operations-projects-${operation}`)
  await open('listProjects').getByRole('button').first().click()
  const sent: string[] = []
  // The images of the page's own style sheet are loaded when they are first drawn.
  const isImage = (url: string) => url.startsWith(`${site.origin}/docs/assets/image-`)
  page.on('request', (request) => !isImage(request.url()) && sent.push(request.url()))
  const code = (operation: string) => open(operation).locator('.request-snippets')
  await code('listProjects').getByText(`curl -X GET '${site.url}/projects'`).waitFor()
  await open('listProjects').getByPlaceholder('limit', { exact: true }).fill('7')
  await code('listProjects').getByText(`${site.url}/projects?limit=7`).waitFor()

  await open('getProject').getByRole('button').first().click()
  await code('getProject').getByText(`${site.url}/projects/ID'`).waitFor()
  await open('getProject').getByPlaceholder('id', { exact: true }).fill('a/b')
  await code('getProject').getByText(`${site.url}/projects/a%2Fb'`).waitFor()
  assert.match(await code('listProjects').innerText(), /limit=7/, 'another open operation keeps its own code')

  await open('createProject').getByRole('button').first().click()
  await code('createProject').getByText('Python').click()
  await open('createProject').locator('textarea').first().fill('{ "name": "O\'Neill" }')
  await code('createProject').getByText(`O'Neill`).waitFor()
  await code('createProject').getByText('"Content-Type"').waitFor()
  assert.deepEqual(sent, [])
})

/** Opens the list of a collection, tries it, and returns the text of the response. */
async function tryList(page: Page, collection: string): Promise<string> {
  await page.locator(`[id^="operations-${collection}-list"]`).first().getByRole('button').first().click()
  await page.getByRole('button', { name: 'Execute' }).click()
  const response = page.locator('.live-responses-table')
  await response.getByText('total_count').waitFor()
  return response.innerText()
}

test('AUT-1: a key that the server refuses shows nothing but that', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const page = await openPage(context, site, '/docs', { refusals: [401] })
  await signIn(page, 'rsk_wrong', true)
  await page.getByRole('alert').getByText('does not accept this key').waitFor()
  assert.ok(!(await page.content()).includes('/projects'))
  assert.deepEqual(await kept(page), { session: [], local: 0, cookie: '' })
  await signIn(page, await site.keyFor('ann'))
  await page.getByText('/projects', { exact: true }).first().waitFor()
  assert.equal(await page.getByRole('alert').isVisible(), false)
})

test('DOC-4: a key that is kept is in sessionStorage alone, until sign-out', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann')
  const page = await openPage(context, site, '/docs')
  await signIn(page, key, true)
  await page.getByText('/projects', { exact: true }).first().waitFor()
  assert.deepEqual(await kept(page), { session: [key], local: 0, cookie: '' })
  await page.reload()
  await page.getByText('/projects', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key or token').waitFor()
  assert.deepEqual(await kept(page), { session: [], local: 0, cookie: '' })
})

test('DOC-4: a page of a version begins with it, and another version can be chosen', { skip }, async (context) => {
  const site = await serveSite(context, notebooks({ v1: {}, v2: {} }))
  const page = await openPage(context, site, '/v1/docs')
  await signIn(page, await site.keyFor('ann'))
  await page.locator('.info').getByText('v1', { exact: true }).waitFor()
  await page.getByLabel('Version').selectOption('v2')
  await page.locator('.info').getByText('v2', { exact: true }).waitFor()
  await tryList(page, 'books')
  assert.match(await page.locator('.request-url').innerText(), /\/v2\/books$/)
})

for (const [carrier, sent] of [
  ['header', /api-version: v1/i],
  ['query', /\?version=v1'/],
  ['media-type', /accept: application\/vnd\.notebooks\.v1\+json/i],
] as const) {
  test(`VER-1: the page names the version by ${carrier}, and so does its code`, { skip }, async (context) => {
    const site = await serveSite(context, notebooks({ v1: {}, v2: {} }, [carrier]))
    const page = await openPage(context, site, '/docs')
    await page.getByLabel('Version').selectOption('v1')
    await signIn(page, await site.keyFor('ann'))
    assert.match(await tryList(page, 'books'), /api-version:\s*v1/i)
    assert.match(await page.locator('.request-snippets').innerText(), sent)
  })
}

test('DOC-4: the content of a response is text', { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const key = await site.keyFor('ann', ['admin'])
  const name = '<img src="/x" onerror="document.title = 1"><script>document.title = 1</script>'
  const made = await fetch(`${site.url}/projects`, {
    ...{ method: 'POST', body: JSON.stringify({ name }) },
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  })
  assert.equal(made.status, 201)
  const page = await openPage(context, site, '/docs')
  await signIn(page, key)
  assert.ok((await tryList(page, 'projects')).includes('<script>'))
  assert.equal(await page.title(), 'Studio API')
})

const narrow = 'DOC-4: the page works behind a proxy that removes a prefix, in the dark and on 360 pixels'
test(narrow, { skip }, async (context) => {
  const site = await serveSite(context, studio)
  const proxied = await behindPrefix(context, site, '/tools')
  const page = await openPage(context, proxied, '/docs', { at: `${proxied.origin}/tools`, dark: true, width: 360 })
  await signIn(page, await site.keyFor('ann'))
  assert.ok((await tryList(page, 'projects')).includes('"data"'))
  assert.match(await page.locator('.request-url').innerText(), /\/tools\/v1\/projects$/)
  assert.equal(await page.evaluate('document.documentElement.className'), 'dark-mode')
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
})

/** Puts a proxy in front of a site, which removes a prefix from every address. */
async function behindPrefix(context: TestContext, site: Site, prefix: string): Promise<Site> {
  const proxy = createServer(({ url = '', method, headers }, response) => {
    const path = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : '/outside'
    request(`${site.origin}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }).end()
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  context.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { ...site, origin }
}
