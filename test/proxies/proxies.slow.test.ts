/** CON-3, CON-4, HED-1: entity tags behind proxies that compress, or that could, with the configurations of the page. */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { describe, type TestContext, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { newDatabase } from '../engine.ts'
import { freePort } from '../postgres/free-port.ts'
import { type ProxyKind, proxies, proxyFor, whyNo } from './proxy.ts'

const notes = defineInterface({
  name: 'notes',
  resources: {
    notes: {
      fields: { text: { type: 'string', maxLength: 10_000 }, state: { type: 'string', optional: true } },
      access: { read: 'anyone', create: 'anyone', update: 'anyone' },
    },
  },
})
const key = newKey()

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: number
  readonly text: string
}

type Send = (method: string, path: string, headers?: Record<string, string>, body?: object) => Promise<Answer>

/** Serves the notes behind a proxy, and makes one of them. */
async function behind(context: TestContext, proxy: ProxyKind, change?: (configuration: string) => string) {
  const { address } = await newDatabase({ memory: true })
  const catalog = completeCatalog(notes)
  const port = await freePort()
  const place = { host: '127.0.0.1', port, trustProxy: true, rateLimit: 'off', databaseUnsafe: true } as const
  const serving = await serve({ catalog, database: address, ...place })
  context.after(() => serving.close())
  await serving.app.storage.keys.add({
    ...{ id: 'k', hash: hashOfKey(key), hint: hintOfKey(key), subject: 'root', roles: ['admin'] },
    ...{ expires_at: null, created_at: new Date().toISOString(), revoked_at: null },
  })
  const send = clientOf(context, await proxyFor(context, proxy, port, change))
  // A proxy that checks whether the server works may not have done so yet.
  for (let attempt = 0; (await send('GET', '/health/ready')).status !== 200; attempt++) assert.ok(attempt < 5_000)
  const made = await send('POST', '/v1/notes', {}, { text: 'a long text '.repeat(200), state: 'new' })
  assert.equal(made.status, 201, made.text)
  return { send, path: `/v1/notes/${JSON.parse(made.text).id}` }
}

function clientOf(context: TestContext, origin: string): Send {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  context.after(() => agent.destroy())
  return (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
      const fields = { Authorization: `Bearer ${key}`, ...type, ...headers }
      const sent = request(origin + path, { method, headers: fields, agent }, async (received) => {
        const whole = Buffer.concat(await received.toArray())
        const decode = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }[
          String(received.headers['content-encoding'])
        ]
        const text = (decode === undefined || whole.length === 0 ? whole : decode(whole)).toString()
        resolve({ status: Number(received.statusCode), headers: received.headers, bytes: whole.length, text })
      })
      sent.on('error', reject).end(body && JSON.stringify(body))
    })
}

/** Reads, validates and changes a record by the tags that arrive through the proxy. */
async function editsByTags(send: Send, path: string, accepted: string): Promise<Answer> {
  const read = await send('GET', path, { 'Accept-Encoding': accepted })
  const tag = String(read.headers.etag)
  const same = await send('GET', path, { 'Accept-Encoding': accepted, 'If-None-Match': tag })
  assert.equal(same.status, 304, `${tag} is still current`)
  assert.equal(same.bytes, 0)
  const change = { 'If-Match': tag }
  const changed = await send('PATCH', path, change, { state: 'changed' })
  assert.equal(changed.status, 200, `${tag}: ${changed.text}`)
  assert.equal((await send('PATCH', path, change, { state: 'lost' })).status, 412, 'the tag is of an earlier state')
  const again = await send('GET', path, { 'Accept-Encoding': accepted, 'If-None-Match': tag })
  assert.deepEqual([again.status, JSON.parse(again.text).state], [200, 'changed'])
  const written = String(changed.headers.etag)
  assert.equal((await send('PATCH', path, { 'If-Match': written }, { state: 'new' })).status, 200, written)
  return read
}

for (const proxy of proxies) {
  describe(`behind ${proxy.name}`, { skip: whyNo(proxy) }, () => {
    for (const coding of ['zstd', 'br', 'gzip']) {
      test(`CON-3: as on the page, the server compresses (${coding}), and tags stay strong`, async (context) => {
        const { send, path } = await behind(context, proxy)
        const read = await editsByTags(send, path, coding)
        assert.equal(read.headers['content-encoding'], coding)
        assert.match(String(read.headers.etag), new RegExp(`^"[^"]+-${coding}"$`))
        assert.match(String(read.headers.vary), /Accept-Encoding/)
        assert.equal(Number(read.headers['content-length']), read.bytes)
        assert.ok(read.bytes < 1_000 && read.text.length > 2_000)
      })
    }

    test('HED-1, HED-3: HEAD has the header fields of GET, and ranges are of the uncompressed bytes', async (context) => {
      const { send, path } = await behind(context, proxy)
      const headers = { 'Accept-Encoding': 'gzip' }
      const got = await send('GET', path, headers)
      const head = await send('HEAD', path, headers)
      for (const name of ['content-length', 'content-encoding', 'etag', 'vary', 'last-modified', 'cache-control']) {
        assert.equal(head.headers[name], got.headers[name], name)
      }
      const part = await send('GET', path, { ...headers, Range: 'bytes=1-4' })
      assert.deepEqual([part.status, part.text, part.headers['content-encoding']], [206, '"id"', undefined])
    })

    test('CON-3: a proxy that would compress too leaves compressed responses as they are', async (context) => {
      const { send, path } = await behind(context, proxy, proxy.compressing['beside the server'])
      const read = await editsByTags(send, path, 'gzip')
      assert.equal(read.headers['content-encoding'], 'gzip')
      assert.match(String(read.headers.etag), /^"[^"]+-gzip"$/)
    })

    test('CON-3: where the proxy alone compresses, the tags that it changes are accepted', async (context) => {
      const { send, path } = await behind(context, proxy, proxy.compressing.alone)
      const read = await editsByTags(send, path, 'gzip')
      assert.equal(read.headers['content-encoding'], 'gzip')
      context.diagnostic(`the tag is ${read.headers.etag}`)
    })
  })
}
