/** SEC-1: HTTPS, on sockets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { hashOfKey, hintOfKey, newKey } from '../../../packages/server/src/policy/api-keys.ts'
import { type ServeOptions, type Serving, serve } from '../../../packages/server/src/server/serve.ts'
import { studio } from '../../declarations.ts'
import { newDatabase } from '../../engine.ts'

const catalog = completeCatalog(studio)

/** Serves with options of its own, and makes a key. */
async function served(context: TestContext, options: Partial<ServeOptions>): Promise<Serving & { key: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const { address } = await newDatabase({ memory: true })
  const serving = await serve({ catalog, database: address, host: '127.0.0.1', port: 0, folder, ...options })
  context.after(() => serving.close())
  const key = newKey()
  await serving.app.storage.keys.add({
    id: 'one',
    hash: hashOfKey(key),
    hint: hintOfKey(key),
    subject: 'root',
    roles: ['admin'],
    expires_at: null,
    created_at: new Date().toISOString(),
    revoked_at: null,
  })
  return { ...serving, key }
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
}

function ask(url: string, headers: Record<string, string>, ca?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const sent = send(url, { headers, ca, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

it('SEC-1: without a certificate a local one is created, which clients can verify, for HTTP/1.1 and HTTP/2', async (context) => {
  const { url, caFile, key } = await served(context, {})
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+\/v1$/)
  const ca = readFileSync(String(caFile), 'utf8')
  const authorization = `Bearer ${key}`
  assert.equal((await ask(`${url}/projects`, { authorization }, ca)).status, 200)
  await assert.rejects(ask(`${url}/projects`, { authorization }), /certificate/)
  const session = connect(url, { ca })
  const stream = session.request({ ':path': '/v1/projects', authorization })
  const [headers] = await once(stream, 'response')
  session.destroy()
  assert.equal(headers[':status'], 200)
})

it('SEC-1: --http is plain HTTP, on loopback only', async (context) => {
  const { url, key } = await served(context, { http: true })
  assert.equal((await ask(`${url}/projects`, { authorization: `Bearer ${key}` })).status, 200)
  await assert.rejects(served(context, { http: true, host: '0.0.0.0' }), ConfigurationError)
})

it('SEC-1: behind a proxy, a request that did not use HTTPS gets 403 HTTPS_REQUIRED, before any other error', async (context) => {
  const { url, key } = await served(context, { trustProxy: true })
  const authorization = `Bearer ${key}`
  const table: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{}, 403],
    [{ 'x-forwarded-proto': 'http' }, 403],
    [{ forwarded: 'for=192.0.2.1;proto=http' }, 403],
    [{ 'x-forwarded-proto': 'https' }, 200],
    [{ forwarded: 'for=192.0.2.1;proto=https' }, 200],
  ]
  for (const [headers, status] of table) {
    const answer = await ask(`${url}/projects`, { authorization, ...headers })
    assert.equal(answer.status, status, JSON.stringify(headers))
    if (status === 403) assert.equal(JSON.parse(answer.body).code, 'HTTPS_REQUIRED')
  }
  assert.equal((await ask(`${url}/projects`, { 'x-forwarded-proto': 'http' })).status, 403)
  const live = url.replace('/v1', '/health/live')
  assert.equal((await ask(live, {})).status, 200)
})

it('SEC-1: options that contradict each other are refused', async (context) => {
  await assert.rejects(served(context, { tlsCert: 'a.pem' }), ConfigurationError)
  await assert.rejects(served(context, { http: true, tlsCert: 'a.pem', tlsKey: 'b.pem' }), ConfigurationError)
  await assert.rejects(served(context, { tlsCert: '/nowhere/a.pem', tlsKey: '/nowhere/b.pem' }), ConfigurationError)
})
