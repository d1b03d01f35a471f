/** OPS-7: metrics at an address of the interface, for administrators. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { makeKey } from '../../../packages/server/src/cli/keys.ts'
import { createApp } from '../../../packages/server/src/server/create-app.ts'
import { toFetchHandler } from '../../../packages/server/src/server/fetch/fetch.ts'
import { collectMetrics } from '../../../packages/server/src/server/observe/metrics.ts'
import { openKeys } from '../../../packages/server/src/server/open-database.ts'
import { type ServeOptions, serve } from '../../../packages/server/src/server/serve.ts'
import { studio } from '../../declarations.ts'
import { notebooks } from '../../declarations-versions.ts'
import { newDatabase } from '../../engine.ts'
import { trialFor } from '../../harness.ts'

const path = '/health/metrics'
const readMetrics = async () => 'resourced_workers 1\n'

it('OPS-7: administrators read the metrics, and nobody keeps them', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true, readMetrics })
  const { status, headers, text } = await send({ path })
  assert.deepEqual([status, text], [200, 'resourced_workers 1\n'])
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  const scraper = 'application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
  for (const accept of ['text/plain', 'text/*', '*/*', scraper]) {
    assert.equal((await send({ path, headers: { accept } })).status, 200, accept)
  }
  assert.equal((await send({ path, method: 'HEAD' })).status, 200)
})

it('OPS-7, CON-6: others get 401 and 403, and the address takes nothing but GET', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true, readMetrics })
  const codeOf = async (sent: object) => {
    const { status, json } = await send({ path, ...sent })
    return [status, json.code]
  }
  assert.deepEqual(await codeOf({ as: null }), [401, 'UNAUTHENTICATED'])
  assert.deepEqual(await codeOf({ as: 'eve' }), [403, 'FORBIDDEN'])
  assert.deepEqual(await codeOf({ method: 'POST', body: {} }), [405, 'METHOD_NOT_ALLOWED'])
  assert.deepEqual(await codeOf({ path: `${path}?collect=all` }), [400, 'INVALID_QUERY'])
  assert.deepEqual(await codeOf({ path: `${path}/more` }), [404, 'NOT_FOUND'])
  assert.deepEqual(await codeOf({ headers: { accept: 'application/json' } }), [406, 'NOT_ACCEPTABLE'])
})

it('OPS-7, SEC-1: a credential that did not come by HTTPS is refused', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true, readMetrics, requireHttps: true })
  assert.equal((await send({ path, secure: false })).status, 403)
  assert.equal((await send({ path })).status, 200)
})

it('OPS-7: the address is that of the server, whichever versions it has', async (context) => {
  const declaration = notebooks({ v1: { deprecated: '2026-01-01' }, v2: {} }, ['path', 'header'])
  const { send } = await trialFor(context, declaration, { memory: true, readMetrics })
  assert.equal((await send({ path })).status, 200)
  assert.equal((await send({ path: `/v2${path}` })).status, 404)
})

it('OPS-7: where no metrics are collected, there is no such address', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true })
  assert.deepEqual((await send({ path })).json.code, 'NOT_FOUND')
  assert.equal((await send({ path, as: null })).status, 401)
})

/** Serves, and gives what reads the metrics there. */
async function served(context: TestContext, options: Partial<ServeOptions>) {
  const { address: database } = await newDatabase()
  const usual = { catalog: completeCatalog(studio), database, host: '127.0.0.1', port: 0, http: true }
  const serving = await serve({ ...usual, ...options })
  context.after(() => serving.close())
  const { key, stored } = makeKey('ann', ['admin'], null)
  await serving.app.storage.keys.add(stored)
  const headers = { authorization: `Bearer ${key}` }
  const get = async (address: string) => (await fetch(new URL(address, serving.origin), { headers })).text()
  return { get, serving }
}

/** How many requests of a collection metrics have counted. */
function listed(text: string): number {
  const line = /^resourced_requests_total\{method="GET",route="\/v1\/users",status="200"\} (\d+)$/m
  return Number(line.exec(text)?.[1] ?? 0)
}

it('OPS-7: a server collects them from its start on, with and without a port for them', async (context) => {
  for (const options of [{}, { metricsPort: 0 }]) {
    const { get, serving } = await served(context, options)
    for (let time = 0; time < 3; time++) await get('/v1/users')
    const text = await get(path)
    assert.equal(listed(text), 3)
    // The request that reads them.
    assert.match(text, /^resourced_requests_in_flight 1$/m)
    assert.match(text, /^resourced_maintenance 0$/m)
    if (serving.metricsUrl !== undefined) assert.equal(listed(await (await fetch(serving.metricsUrl)).text()), 3)
  }
})

it('OPS-7: an embedded application serves the metrics that it is given', async () => {
  const { address: database } = await newDatabase()
  const { key, stored } = makeKey('ann', ['admin'], null)
  const { keys, close } = await openKeys({ database })
  await keys.add(stored)
  await close()
  const app = createApp(studio, { database, metrics: await collectMetrics() })
  const handler = toFetchHandler(app, { address: () => '192.0.2.1' })
  const headers = { authorization: `Bearer ${key}` }
  const get = (address: string) => handler(new Request(`https://studio.example${address}`, { headers }))
  await get('/v1/users')
  assert.equal(listed(await (await get(path)).text()), 1)
  await app.close()
})
