/** DOC-4: the console works wherever a server is reached: behind prefixes, in every carrier of versions, by HTTP/2. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { notebooks } from '../declarations-versions.ts'
import { noBrowser, openPage, type Site, serveSite } from './browser.ts'
import { signedInAs, signInWith } from './console.ts'

const skip = noBrowser

/** Signs in, creates a note, and finds it in the list. */
async function makesAndLists(page: Page, site: Site): Promise<void> {
  await signInWith(page, await site.keyFor('ann', ['admin']))
  assert.equal(await signedInAs(page), 'ann')
  await page.getByRole('link', { name: 'Notes', exact: true }).first().click()
  await page.getByRole('link', { name: 'New', exact: true }).click()
  await page.getByLabel('Text', { exact: true }).fill('A first note')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Created.').waitFor()
  await page.getByRole('link', { name: 'Notes', exact: true }).first().click()
  await page.getByRole('cell', { name: 'A first note' }).waitFor()
  await page.reload()
  await page.getByLabel('API key or token').waitFor()
}

/** A proxy that takes a prefix off, and gives everything else a 404. */
async function prefixed(context: TestContext, origin: string, prefix: string): Promise<string> {
  const { hostname, port } = new URL(origin)
  const proxy = createServer((asked, answer) => {
    const { url = '', method, headers } = asked
    if (!url.startsWith(`${prefix}/`)) return answer.writeHead(404).end()
    const passed = request({ hostname, port, method, headers, path: url.slice(prefix.length) }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers)
      given.pipe(answer)
    })
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  context.after(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`
}

const declaration = notebooks({ v1: {}, v2: {} })

test('behind a proxy that strips a prefix', { skip }, async (context) => {
  const site = await serveSite(context, declaration)
  const at = await prefixed(context, site.origin, '/admin')
  const page = await openPage(context, site, '/console', { at })
  await makesAndLists(page, site)
  assert.equal(new URL(page.url()).pathname, '/admin/console')
})

test('under a base path', { skip }, async (context) => {
  const site = await serveSite(context, declaration, { basePath: '/api/tools' })
  const page = await openPage(context, site, '/api/tools/console')
  await makesAndLists(page, site)
})

for (const carrier of ['header', 'query', 'media-type'] as const) {
  test(`where the version is carried by ${carrier}, and is not the current one`, { skip }, async (context) => {
    const carried: InterfaceDeclaration = notebooks({ v1: {}, v2: {} }, [carrier])
    const site = await serveSite(context, carried)
    const page = await openPage(context, site, '/console')
    await makesAndLists(page, site)
    await signInWith(page, await site.keyFor('bob', ['admin']))
    await page.getByLabel('Version').selectOption('v1')
    await page.getByRole('cell', { name: 'A first note' }).waitFor()
    assert.equal(await page.getByLabel('Version').inputValue(), 'v1')
  })
}

test('on 320 pixels, the header is one line, and the version can be read', { skip }, async (context) => {
  const site = await serveSite(context, declaration)
  const key = await site.keyFor('ann', ['admin'])
  const page = await openPage(context, site, '/console', { key, width: 320 })
  const version = await page.getByLabel('Version').boundingBox()
  const header = await page.getByRole('banner').boundingBox()
  assert.ok(version !== null && version.width >= 45, `the version has ${version?.width} pixels`)
  // The menu and the requests begin below 52 pixels.
  assert.ok(header !== null && header.height <= 52, `the header has ${header?.height} pixels`)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
})

test('by HTTPS and HTTP/2, with a local certificate', { skip }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'resourced-console-'))
  context.after(() => rm(folder, { recursive: true }))
  const site = await serveSite(context, declaration, { http: false, folder })
  const page = await openPage(context, site, '/console')
  await makesAndLists(page, site)
  const protocols = await page.evaluate(
    '[...new Set(performance.getEntries().map((entry) => entry.nextHopProtocol).filter(Boolean))]',
  )
  assert.deepEqual(protocols, ['h2'])
})
