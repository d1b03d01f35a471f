/** DOC-4: the pages over every kind of connection, in an application, and with an OpenID provider. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { studio } from '../../../../../test/declarations.ts'
import { newDatabase } from '../../../../../test/engine.ts'
import { download } from '../../../../../test/wire/download.ts'
import { transports } from '../../../../../test/wire/transports.ts'
import { readJwtSettings } from '../../policy/jwt-settings.ts'
import { createApp } from '../create-app.ts'
import { toFetchHandler } from '../fetch/fetch.ts'
import { serve } from '../serve.ts'
import { readConsole } from './console-settings.ts'
import { providerOf } from './openid-provider.ts'

async function folderFor(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'resourced-pages-'))
  context.after(() => rm(folder, { recursive: true }))
  return folder
}

for (const transport of transports) {
  test(`a page and its files arrive whole over ${transport}`, async (context) => {
    const serving = await serve({
      ...{ catalog: completeCatalog(studio), database: (await newDatabase()).address, host: '127.0.0.1', port: 0 },
      ...{ http: transport === 'HTTP/1.1', folder: await folderFor(context) },
    })
    context.after(() => serving.close())
    const ask = (path: string, method = 'GET', headers = {}) =>
      download(serving.origin, path, transport, { method, headers })
    const take = (path: string, method?: string, headers?: Record<string, string>) => {
      const asked = ask(path, method, headers)
      asked.stream.resume()
      return asked.ended
    }
    const page = await take('/docs', 'GET', { 'accept-encoding': 'br' })
    const html = brotliDecompressSync(page.body).toString()
    for (const [, file = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
      const whole = await take(`/${file}`)
      assert.equal(whole.status, 200, file)
      const small = await take(`/${file}`, 'GET', { 'accept-encoding': 'br' })
      assert.deepEqual(brotliDecompressSync(small.body), whole.body)
      const head = await take(`/${file}`, 'HEAD', { 'accept-encoding': 'br' })
      assert.deepEqual([head.status, head.size], [200, 0])
    }
  })
}

test('an application serves its pages under its base path, and without the console if it is off', async () => {
  const options = { database: (await newDatabase()).address, basePath: '/api' }
  const both = createApp(studio, options)
  const handle = toFetchHandler(both, { address: () => '' })
  const page = await handle(new Request('http://localhost/api/console'))
  assert.equal(page.status, 200)
  const [, file = ''] = /src="([^"]+)"/.exec(await page.text()) ?? []
  const script = await handle(new Request(new URL(file, 'http://localhost/api/console')))
  assert.equal(script.status, 200)
  assert.equal(
    Buffer.byteLength(await script.arrayBuffer().then(Buffer.from)),
    Number(script.headers.get('content-length')),
  )
  assert.equal((await handle(new Request('http://localhost/console'))).status, 401)
  await both.close()

  const off = createApp(studio, { ...options, console: false })
  const handleOff = toFetchHandler(off, { address: () => '' })
  assert.equal((await handleOff(new Request('http://localhost/api/console'))).status, 404)
  assert.equal((await handleOff(new Request('http://localhost/api/docs'))).status, 200)
  await off.close()
})

test('style sheets contain no images: they are files, and complete', async () => {
  const folder = new URL('../../../pages/docs/assets/', import.meta.url)
  const names = await readdir(folder)
  for (const name of names.filter((each) => each.endsWith('.css'))) {
    const text = await readFile(new URL(name, folder), 'utf8')
    assert.ok(!text.includes('data:'))
    const images = [...text.matchAll(/url\(["']?([^"')]+)/g)].map(([, image = '']) => image)
    assert.ok(images.length > 5)
    for (const image of images) assert.ok(names.includes(image), image)
  }
  for (const name of names.filter((each) => each.endsWith('.svg'))) {
    assert.match(await readFile(new URL(name, folder), 'utf8'), /^<svg [^\\]*<\/svg>$/, name)
  }
})

const jwt = readJwtSettings({
  issuer: 'https://login.example/realm',
  audience: 'https://api.example',
  jwks: 'keys.json',
})

test('the options of the console are read, and refused where nobody could sign in', () => {
  assert.deepEqual(readConsole(undefined, undefined), { isServed: true, openid: undefined })
  assert.deepEqual(readConsole(false, jwt), { isServed: false, openid: undefined })
  assert.deepEqual(readConsole({ openid: { client: ' c ' } }, jwt), {
    isServed: true,
    openid: { issuer: jwt?.issuer, audience: jwt?.audience, client: 'c', scope: 'openid' },
  })
  assert.throws(() => readConsole({ openid: { client: 'c' } }, undefined), /add --jwt-issuer/)
  assert.throws(() => readConsole({ openid: { client: '', scope: 'openid' } }, jwt), /needs --console-openid-client/)
  const named = readJwtSettings({ issuer: 'javascript:alert(1)', audience: 'a', jwks: 'keys.json' })
  assert.throws(() => readConsole({ openid: { client: 'c' } }, named), /an issuer with an address/)
})

/** A provider that answers with a configuration, or with an error. */
async function provider(context: TestContext, answer: () => unknown): Promise<{ issuer: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const content = answer()
    response.statusCode = content === undefined ? 500 : 200
    response.end(typeof content === 'string' ? content : JSON.stringify(content ?? {}))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  context.after(() => server.close())
  return { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}/realm`, asked }
}

test('a page may reach the origins that the provider names, and is served if the provider is down', async (context) => {
  let configuration: unknown
  const { issuer, asked } = await provider(context, () => configuration)
  const { origin } = new URL(issuer)
  let now = 0
  const find = providerOf({ issuer, audience: 'a', client: 'c', scope: 'openid' }, () => now)
  assert.deepEqual((await find()).origins, [origin], 'it answers with 500')
  configuration = { token_endpoint: 'https://tokens.example/t', revocation_endpoint: 'https://x.example; script-src *' }
  assert.deepEqual((await find()).origins, [origin], 'it is not asked again at once')
  now += 11_000
  const { origins, described } = await find()
  assert.deepEqual(origins, [origin, 'https://tokens.example'])
  assert.deepEqual(described, { issuer, audience: 'a', client_id: 'c', scope: 'openid' })
  await find()
  assert.deepEqual(asked, ['/realm/.well-known/openid-configuration', '/realm/.well-known/openid-configuration'])
  now += 3_700_000
  configuration = 'not JSON'
  assert.deepEqual((await find()).origins, [origin])
})

test('the policy of a page names the origin of the provider', async (context) => {
  const { issuer } = await provider(context, () => ({ token_endpoint: 'https://tokens.example/t' }))
  const app = createApp(studio, {
    database: (await newDatabase()).address,
    jwt: { issuer, audience: 'a', jwks: 'https://login.example/keys' },
    console: { openid: { client: 'c' } },
  })
  const page = await toFetchHandler(app, { address: () => '' })(new Request('http://localhost/console'))
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.ok(policy.includes(`connect-src 'self' ${new URL(issuer).origin} https://tokens.example;`), policy)
  assert.match(await page.text(), /client_id&quot;:&quot;c&quot;/)
  await app.close()
})
