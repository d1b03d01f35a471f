/** OPS-1: the listener that serves metrics. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { it, type TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { makeKey } from '../../../packages/server/src/cli/keys.ts'
import { createApp } from '../../../packages/server/src/server/create-app.ts'
import { toFetchHandler } from '../../../packages/server/src/server/fetch/fetch.ts'
import type { Observation } from '../../../packages/server/src/server/observe/observe.ts'
import { openKeys } from '../../../packages/server/src/server/open-database.ts'
import { type ServeOptions, type Serving, serve } from '../../../packages/server/src/server/serve.ts'
import { studio } from '../../declarations.ts'
import { newDatabase } from '../../engine.ts'

const catalog = completeCatalog(studio)

/** Serves with metrics on a free port. */
async function served(context: TestContext, options: Partial<ServeOptions> = {}): Promise<Serving> {
  const { address } = await newDatabase({ memory: true })
  const usual = { catalog, database: address, host: '127.0.0.1', port: 0, http: true, metricsPort: 0 }
  const serving = await serve({ ...usual, ...options })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= serving.close()
    return closed
  }
  context.after(close)
  return { ...serving, close }
}

it('OPS-1: metrics have their own listener, on loopback', async (context) => {
  const { url, metricsUrl = '' } = await served(context)
  assert.match(metricsUrl, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  assert.equal((await fetch(new URL('/health/live', url))).status, 200)
  const answer = await fetch(metricsUrl)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(await answer.text(), /^resourced_requests_total\{method="GET",route="\/health\/live",status="200"\} 1$/m)
  const head = await fetch(metricsUrl, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
  assert.ok(Number(head.headers.get('content-length')) > 1_000)
})

it('OPS-1: that listener serves nothing else, and changes nothing', async (context) => {
  const { url, metricsUrl = '' } = await served(context)
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const refused = await fetch(metricsUrl, { method })
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD'])
  }
  for (const path of ['/', '/metrics/', '/v1/projects', '/health/live']) {
    assert.equal((await fetch(new URL(path, metricsUrl))).status, 404, path)
  }
  assert.equal((await fetch(`${metricsUrl}?collect=all`)).status, 200)
  assert.equal((await fetch(new URL('/metrics', url))).status, 401, 'nor are metrics elsewhere')
})

it('OPS-1: the commits of a server are counted', async (context) => {
  const { metricsUrl = '', app } = await served(context)
  const commits = async () => {
    const text = await (await fetch(metricsUrl)).text()
    return Number(/^resourced_commits_total (\d+)$/m.exec(text)?.[1])
  }
  const before = await commits()
  for (let time = 0; time < 3; time++) await app.storage.keys.add(makeKey('ann', [], null).stored)
  // What is done at a start commits too.
  assert.ok((await commits()) >= before + 3)
})

it('OPS-1: an application with an observer reports its commits', async () => {
  const { address: database } = await newDatabase()
  const { key, stored } = makeKey('ann', ['admin'], null)
  const { keys, close } = await openKeys({ database })
  await keys.add(stored)
  await close()
  const commits: number[] = []
  const observe = (seen: Observation) => void (seen.kind === 'commit' && commits.push(seen.changes))
  const app = createApp(studio, { database, observe })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = new Request('https://studio.example/v1/projects', { method: 'POST', headers, body: '{"name":"A"}' })
  assert.equal((await toFetchHandler(app, { address: () => '192.0.2.1' })(request)).status, 201)
  // What is done at a start commits too, perhaps together with the record.
  assert.ok(commits.length > 0 && commits.every((changes) => changes > 0), String(commits))
  await app.close()
})

it('OPS-1: a request that could not be parsed is counted by its code', async (context) => {
  const { url, metricsUrl = '' } = await served(context)
  const answer = await fetch(`${url}/projects`, { headers: { 'x-long': 'x'.repeat(40_000) } })
  assert.equal(answer.status, 431)
  const text = await (await fetch(metricsUrl)).text()
  assert.match(text, /^resourced_unreadable_requests_total\{code="HEADERS_TOO_LARGE"\} 1$/m)
})

it('OPS-1: without a port there is no listener for metrics', async (context) => {
  const serving = await served(context, { metricsPort: undefined })
  assert.equal(serving.metricsUrl, undefined)
})

it('OPS-1: if the port for metrics is in use, the server says so and does not start', async (context) => {
  const other = createServer().listen(0, '127.0.0.1')
  context.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const expected = new ConfigurationError(
    `Metrics cannot be served on 127.0.0.1, port ${port}: the port is in use. Choose others with --metrics-port and --metrics-host.`,
  )
  await assert.rejects(served(context, { metricsPort: port }), expected)
})

it('OPS-2: metrics are served until the server has stopped', async (context) => {
  const seen: string[] = []
  const { close, metricsUrl = '' } = await served(context, { observe: ({ kind }) => void seen.push(kind) })
  assert.equal((await fetch(metricsUrl)).status, 200)
  await close()
  await assert.rejects(fetch(metricsUrl))
  assert.deepEqual(seen, ['metrics', 'listening', 'stopped'])
})
