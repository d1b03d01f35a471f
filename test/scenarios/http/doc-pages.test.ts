/** DOC-4: the console and the API page, as every client gets them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it, type TestContext } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { readCors } from '../../../packages/server/src/http/cors.ts'
import type { HttpRequest, HttpResponse } from '../../../packages/server/src/http/message.ts'
import { studio } from '../../declarations.ts'
import { day, dayFromNow, notebooks } from '../../declarations-versions.ts'
import { type Sent, scenarios, trialFor } from '../../harness.ts'

const pages = ['/console', '/docs', '/v1/docs']

scenarios(studio, [
  ...pages.map((path) => ({
    name: `${path} needs no credential`,
    rule: 'AUT-1',
    send: { path, as: null },
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', vary: 'Accept-Encoding' },
  })),
  ...pages.map((path) => ({
    name: `${path} is served with a wrong credential too`,
    rule: 'AUT-1',
    send: { path, as: 'wrong' },
    status: 200,
  })),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'TRACE', 'BREW'].map((method) => ({
    name: `/console does not support ${method}`,
    rule: 'DOC-4',
    send: { method, path: '/console', as: null },
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS' },
  })),
  {
    name: 'OPTIONS lists the methods of a page',
    rule: 'DOC-4',
    send: { method: 'OPTIONS', path: '/docs', as: null },
    status: 204,
    headers: { allow: 'GET, HEAD, OPTIONS' },
  },
  {
    name: 'a secret in the query is refused, on a page too',
    rule: 'QRY-9',
    send: { path: '/console?api_key=rsk_x', as: null },
    status: 400,
  },
  {
    name: 'by plain HTTP a page is served where HTTP is',
    rule: 'SEC-1',
    send: { path: '/docs', secure: false },
    status: 200,
  },
  // Only names that the build has written lead to files.
  ...[
    '/console/assets/nothing.js',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/%2e%2e',
    '/console/assets/%00',
    '/docs/assets/__proto__',
    '/docs/assets/constructor',
    `/docs/assets/${'a'.repeat(7_000)}`,
  ].map((path) => ({ name: `there is no ${path.slice(0, 60)}`, rule: 'DOC-4', send: { path, as: null }, status: 404 })),
  ...[
    '/console/',
    '/console/x',
    '/console/assets',
    '/console/assets/a/b',
    '/console/assets/../../etc',
    '/v1/console',
  ].map((path) => ({ name: `${path} is nothing`, rule: 'RES-10', send: { path, as: null }, status: 401 })),
  { name: 'an unknown version has no page', rule: 'DOC-4', send: { path: '/v9/docs', as: null }, status: 401 },
])

it('SEC-2: pages allow no code, style, image, frame or connection of others', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const path of pages) {
    const { headers } = await send({ path, as: null })
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

/** The files that a page names, as its addresses. */
function filesOf(page: string, html: string): string[] {
  const found = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file ?? '')
  assert.ok(found.length >= 2, html)
  return found.map((file) => new URL(file, `https://localhost${page}`).pathname)
}

it('DOC-4: every file of a page is beside it, and may be cached forever', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const page of pages) {
    for (const path of filesOf(page, (await send({ path: page, as: null })).text)) {
      const { status, headers } = await send({ path, as: null })
      assert.equal(status, 200, path)
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.match(String(headers['content-type']), /^text\/(?:css|javascript); charset=utf-8$/)
      assert.match(path, /-[\w-]{8}\.(?:js|css)$/)
    }
  }
})

it('DOC-4: a page and its files come as the client accepts them', async (context) => {
  const { send, app } = await trialFor(context, studio)
  const [file = ''] = filesOf('/console', (await send({ path: '/console', as: null })).text)
  const encodings: readonly (readonly [accepted: string | undefined, encoding: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['zstd', undefined],
    [`br, ${'x, '.repeat(4_000)}`, undefined],
    ['br;q=nonsense, ;;,', undefined],
  ]
  for (const path of ['/console', file]) {
    const whole = (await send({ path, as: null })).text
    const tags = new Set<unknown>()
    for (const [accepted, encoding] of encodings) {
      const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await app.respond(asked(path, headers))
      assert.equal(response.status, 200)
      assert.equal(response.headers['Content-Encoding'], encoding, `${accepted}`)
      const bytes = await bytesOf(response)
      const text = encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes
      assert.equal(text.toString(), whole)
      tags.add(response.headers['ETag'])
    }
    assert.equal(tags.size, 3, 'each encoding has a strong tag of its own')
  }
})

it('CON-4, HED-1, HED-3: pages and files have conditions, HEAD and ranges', async (context) => {
  const { send } = await trialFor(context, studio)
  const [file = ''] = filesOf('/docs', (await send({ path: '/docs', as: null })).text)
  for (const path of ['/docs', file]) {
    const ask = (headers: Sent['headers'], method = 'GET') => send({ method, path, headers, as: null })
    const whole = await ask({})
    const etag = String(whole.headers['etag'])
    const unchanged = await ask({ 'if-none-match': etag })
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers['etag']], [304, '', etag])
    assert.equal((await ask({ 'if-none-match': '"other"' })).status, 200)
    assert.equal((await ask({ 'if-match': '"other"' })).status, 412)
    assert.equal((await ask({ 'if-match': 'x' })).status, 400)
    const part = await ask({ range: 'bytes=2-9', 'if-range': etag })
    assert.deepEqual([part.status, part.text], [206, whole.text.slice(2, 10)])
    assert.equal((await ask({ range: 'bytes=99999999-' })).status, 416)
    const head = await ask({}, 'HEAD')
    assert.deepEqual([head.status, head.headers['etag']], [200, etag])
  }
})

/** What a page learns before sign-in. */
function settingsOf(html: string): Record<string, unknown> {
  const [, content = ''] = /<meta name="resourced" content="([^"]*)">/.exec(html) ?? []
  const text = content.replace(/&(quot|lt|gt|amp);/g, (_, name: 'quot' | 'lt' | 'gt' | 'amp') => characters[name])
  return JSON.parse(text) as Record<string, unknown>
}
const characters = { quot: '"', lt: '<', gt: '>', amp: '&' }

async function settings(context: TestContext, declaration: InterfaceDeclaration, path = '/docs', basePath?: string) {
  const { send } = await trialFor(context, declaration, { basePath })
  const { status, text } = await send({ path, as: null })
  assert.equal(status, 200, text)
  return settingsOf(text)
}

it('DOC-4: a page learns the versions and their addresses, relative to itself', async (context) => {
  const one = { name: 'v1', base: 'v1', current: true }
  const expected = { name: 'studio', title: 'Studio', version: 'v1', carrier: 'path', openid: null }
  assert.deepEqual(await settings(context, studio), { ...expected, versions: [one] })
  assert.deepEqual(await settings(context, studio, '/v1/docs'), { ...expected, versions: [{ ...one, base: '../v1' }] })
  const moved = await settings(context, studio, '/api/tools/console', '/api/tools')
  assert.deepEqual(moved, { ...expected, versions: [one] }, 'a base path changes nothing of it')
})

it('DOC-4: a page of an older version begins with it, until the version is retired', async (context) => {
  const versions = { v1: { deprecated: dayFromNow(-9), sunset: dayFromNow(5) }, v2: {} }
  const { send, clock } = await trialFor(context, notebooks(versions))
  const settings = async () => settingsOf((await send({ path: '/v1/docs', as: null })).text)
  const v2 = { name: 'v2', base: '../v2', current: true }
  const [deprecated_at, sunset] = [versions.v1.deprecated, versions.v1.sunset].map((date) => `${date}T00:00:00.000Z`)
  const v1 = { name: 'v1', base: '../v1', current: false, deprecated_at, sunset }
  assert.deepEqual((await settings())['versions'], [v1, v2])
  assert.equal((await settings())['version'], 'v1')
  clock.ahead += 6 * day
  assert.deepEqual((await settings())['versions'], [v2])
  assert.equal((await settings())['version'], 'v2')
})

for (const carrier of ['header', 'media-type', 'query'] as const) {
  it(`DOC-4: where ${carrier} carries the version, all versions have the same addresses`, async (context) => {
    const found = await settings(context, notebooks({ v1: {}, v2: {} }, [carrier]))
    assert.equal(found['carrier'], carrier)
    const addresses = (found['versions'] as { base: string }[]).map(({ base }) => base)
    assert.deepEqual(addresses, ['', ''])
  })
}

it('DOC-4: a title is text, whatever it is', async (context) => {
  const title = `</title><script>alert("1")</script>'&amp; $& $1 \u2028`
  const { send } = await trialFor(context, { ...studio, title })
  const { text } = await send({ path: '/console', as: null })
  assert.equal(settingsOf(text)['title'], title)
  assert.ok(!text.includes('<script>'))
})

it('ERR-6: pages are served during maintenance, so that they can show it', async (context) => {
  const { send, app } = await trialFor(context, studio)
  await app.storage.maintenance.begin({ since: '2026-11-21T12:00:00.000Z', message: 'Back soon.', retryAfter: 60 })
  await app.maintenance.poll()
  assert.equal((await send({ path: '/console', as: null })).status, 200)
  assert.equal((await send({ path: '/v1/projects' })).status, 503)
})

it('OPT-3: a preflight for a page is answered as for every address', async (context) => {
  const cors = readCors(['https://app.example'], false)
  const { send } = await trialFor(context, studio, { cors })
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  const response = await send({ method: 'OPTIONS', path: '/console', headers, as: null })
  assert.equal(response.status, 204)
  assert.equal(response.headers['access-control-allow-origin'], 'https://app.example')
})

it('DOC-4: without the console, its page and files are not there; the API page is', async (context) => {
  const off = { isServed: false, openid: undefined }
  const { send } = await trialFor(context, studio, { console: off })
  const on = await trialFor(context, studio)
  const [file = ''] = filesOf('/console', (await on.send({ path: '/console', as: null })).text)
  for (const path of ['/console', file]) {
    const { status, json } = await send({ path, as: null })
    assert.deepEqual([status, json.code], [404, 'NOT_FOUND'])
  }
  assert.equal((await send({ path: '/docs', as: null })).status, 200)
})

function asked(path: string, headers: Record<string, string>): HttpRequest {
  return { method: 'GET', target: path, headers, secure: true, address: '', readBody: async () => new Uint8Array(0) }
}

async function bytesOf({ body }: HttpResponse): Promise<Buffer> {
  if (typeof body === 'object' && 'path' in body) {
    const bytes = await readFile(body.path)
    assert.equal(bytes.length, body.length)
    return bytes
  }
  return Buffer.from((body ?? '') as string)
}
