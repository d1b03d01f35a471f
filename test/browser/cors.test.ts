/** OPT-3 to OPT-6 in a real browser: pages of other origins. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { studio } from '../declarations.ts'
import { browser, noBrowser, serveSite } from './browser.ts'

/** What the page found: one line for each step, in order. */
type Found = Readonly<Record<string, string>>

/** Runs in the page. A step that the browser forbids shows the name of its error. */
const script = `async (api, key, credentials) => {
  const found = {}
  const headers = { Authorization: 'Bearer ' + key, 'Content-Type': 'application/json' }
  const step = async (name, path, init, read) => {
    try {
      const answer = await fetch(api + path, { credentials, ...init, headers: { ...headers, ...init.headers } })
      found[name] = answer.status + ' ' + (await read(answer))
      return answer
    } catch (error) {
      found[name] = error.name
    }
  }
  let location, etag
  await step('post', '/projects', { method: 'POST', body: JSON.stringify({ name: 'From a page ' + credentials }) }, (answer) => {
    location = answer.headers.get('Location')
    return location === null ? 'no Location' : 'Location'
  })
  const path = location ? location.slice('/v1'.length) : '/projects/00000000-0000-7000-8000-000000000000'
  await step('get', path, {}, (answer) => {
    etag = answer.headers.get('ETag')
    return etag === null ? 'no ETag' : 'ETag'
  })
  await step('stale patch', path, { method: 'PATCH', headers: { 'If-Match': '"other"' }, body: '{"name":"x"}' }, async (answer) => (await answer.json()).code)
  await step('patch', path, { method: 'PATCH', headers: { 'If-Match': etag || '"x"' }, body: JSON.stringify({ name: 'Changed ' + credentials }) }, async (answer) => (await answer.json()).name)
  await step('unauthenticated', '/projects', { headers: { Authorization: 'Bearer nothing' } }, async (answer) => (await answer.json()).code + ' ' + (answer.headers.get('WWW-Authenticate') !== null))
  await step('delete', path, { method: 'DELETE' }, () => '')
  return found
}`

/** Serves an empty page from an origin of its own. */
async function emptyPage(context: TestContext): Promise<string> {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html>'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs the steps in a page of an origin. */
async function visit(origin: string, api: string, key: string, credentials: string): Promise<Found> {
  const page = await (await browser()).newPage()
  try {
    await page.goto(origin)
    return await page.evaluate<Found>(`(${script})(${JSON.stringify(api)}, ${JSON.stringify(key)}, '${credentials}')`)
  } finally {
    await page.close()
  }
}

const done: Found = {
  post: '201 Location',
  get: '200 ETag',
  'stale patch': '412 PRECONDITION_FAILED',
  unauthenticated: '401 UNAUTHENTICATED true',
  delete: '204 ',
}
const forbidden = ['post', 'get', 'stale patch', 'patch', 'unauthenticated', 'delete']

for (const credentials of ['omit', 'include']) {
  const title = `OPT-3, OPT-4, OPT-6: pages of allowed origins work, others do not; credentials: ${credentials}`
  test(title, { skip: noBrowser }, async (context) => {
    const [allowed, foreign] = [await emptyPage(context), await emptyPage(context)]
    const cors = { corsOrigin: [allowed], corsCredentials: credentials === 'include' }
    const site = await serveSite(context, studio, cors)
    const key = await site.keyFor('page', ['admin'])
    assert.deepEqual(await visit(allowed, site.url, key, credentials), { ...done, patch: `200 Changed ${credentials}` })
    const refused = await visit(foreign, site.url, key, credentials)
    assert.deepEqual(refused, Object.fromEntries(forbidden.map((name) => [name, 'TypeError'])))
  })
}

const without = 'OPT-4: if credentials are not configured, a page that sends them reads nothing'
test(without, { skip: noBrowser }, async (context) => {
  const site = await serveSite(context, studio, { corsOrigin: ['*'] })
  const found = await visit(await emptyPage(context), site.url, 'x', 'include')
  assert.deepEqual(found, Object.fromEntries(forbidden.map((name) => [name, 'TypeError'])))
})
