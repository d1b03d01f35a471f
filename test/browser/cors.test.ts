/**
 * OPT-3 to OPT-6 in a real browser: `npm run test:browser`, with Chromium installed (`CHROMIUM` names it, else
 * `chromium`). `npm test` leaves this test out, because `npm test` needs Node only.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from '../../src/model/catalog.ts'
import { hashOfKey, hintOfKey, newKey } from '../../src/policy/api-keys.ts'
import { serve } from '../../src/server/serve.ts'
import { studio } from '../declarations.ts'

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

async function pageServer(context: TestContext, html: () => string): Promise<string> {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(html()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function visit(url: string): Promise<Found> {
  const profile = mkdtempSync(join(tmpdir(), 'resourced-browser-'))
  const options = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`]
  const child = spawn(
    process.env.CHROMIUM ?? 'chromium',
    [...options, '--virtual-time-budget=10000', '--dump-dom', url],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await once(child, 'close')
  rmSync(profile, { recursive: true, force: true, maxRetries: 3 })
  const found = /<pre>(.*)<\/pre>/s.exec(text)?.[1]
  assert.ok(found !== undefined, text)
  return JSON.parse(found.replaceAll('&amp;', '&').replaceAll('&lt;', '<').replaceAll('&gt;', '>'))
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
  test(`OPT-3, OPT-4, OPT-6: pages of allowed origins work, others do not; credentials: ${credentials}`, async (context) => {
    let api = ''
    let key = ''
    const html = () =>
      `<!doctype html><pre></pre><script>(${script})(${JSON.stringify(api)}, ${JSON.stringify(key)}, '${credentials}').then((found) => { document.querySelector('pre').textContent = JSON.stringify(found) })</script>`
    const [allowed, foreign] = [await pageServer(context, html), await pageServer(context, html)]
    const serving = await serve({
      ...{ catalog: completeCatalog(studio), database: 'sqlite::memory:', host: '127.0.0.1', port: 0, http: true },
      ...{ corsOrigin: [allowed], corsCredentials: credentials === 'include' },
    })
    context.after(() => serving.close())
    api = serving.url
    key = newKey()
    await serving.app.storage.keys.add({
      ...{ id: 'page', hash: hashOfKey(key), hint: hintOfKey(key), subject: 'page', roles: ['admin'] },
      ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
    })
    assert.deepEqual(await visit(allowed), { ...done, patch: `200 Changed ${credentials}` })
    const refused = await visit(foreign)
    assert.deepEqual(refused, Object.fromEntries(forbidden.map((name) => [name, 'TypeError'])))
  })
}

test('OPT-4: if credentials are not configured, a page that sends them reads nothing', async (context) => {
  let api = ''
  const html = () =>
    `<!doctype html><pre></pre><script>(${script})(${JSON.stringify(api)}, 'x', 'include').then((found) => { document.querySelector('pre').textContent = JSON.stringify(found) })</script>`
  const allowed = await pageServer(context, html)
  const serving = await serve({
    ...{ catalog: completeCatalog(studio), database: 'sqlite::memory:', host: '127.0.0.1', port: 0, http: true },
    corsOrigin: ['*'],
  })
  context.after(() => serving.close())
  api = serving.url
  assert.deepEqual(await visit(allowed), Object.fromEntries(forbidden.map((name) => [name, 'TypeError'])))
})
