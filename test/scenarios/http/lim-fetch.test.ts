/** LIM-1: which clients share a limit for failed authentications behind a fetch handler or a proxy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it, type TestContext } from 'node:test'
import { createApp } from '../../../packages/server/src/server/create-app.ts'
import { toFetchHandler } from '../../../packages/server/src/server/fetch/fetch.ts'
import { toNodeHandler } from '../../../packages/server/src/server/node/listener.ts'
import { studio } from '../../declarations.ts'
import { newDatabase } from '../../engine.ts'

const declaration = { ...studio, limits: { rate: { address: '2/minute' } } } as const

async function application(context: TestContext) {
  const { address: database } = await newDatabase()
  const app = createApp(declaration, { database })
  context.after(() => app.close())
  await app.ready()
  return app
}

const wrong = () => new Request('https://studio.example/v1/projects', { headers: { authorization: 'Bearer wrong' } })

/** The codes of the warnings that `work` emits. They are not printed, because the tests expect them. */
function warningsOf(context: TestContext, work: () => void): unknown[] {
  const codes: unknown[] = []
  const { mock } = context.mock.method(process, 'emitWarning', (_: string, options: { code?: string }) => {
    codes.push(options.code)
  })
  work()
  mock.restore()
  return codes
}

it('LIM-1: without addresses, all clients of a fetch handler share one limit, and a warning says so', async (context) => {
  const app = await application(context)
  let handler = async (_: Request) => new Response()
  assert.deepEqual(
    warningsOf(context, () => {
      handler = toFetchHandler(app)
    }),
    ['RESOURCED_NO_ADDRESS'],
  )
  const found: number[] = []
  for (let time = 0; time < 4; time++) found.push((await handler(wrong())).status)
  assert.deepEqual(found, [401, 401, 429, 429])
})

it('LIM-1: with addresses, each client of a fetch handler has a limit of its own', async (context) => {
  const app = await application(context)
  interface Platform {
    readonly peer: string | undefined
  }
  const made: ((request: Request, platform: Platform) => Promise<Response>)[] = []
  const warnings = warningsOf(context, () => {
    made.push(toFetchHandler(app, { address: (_, { peer }: Platform) => peer }))
  })
  assert.deepEqual(warnings, [])
  const found: number[] = []
  for (const peer of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', undefined, undefined, undefined])
    found.push((await made[0]!(wrong(), { peer })).status)
  assert.deepEqual(found, [401, 401, 429, 401, 401, 401, 429])
})

it('LIM-1: if a proxy names no client, failures count for the address of the proxy', async (context) => {
  const app = await application(context)
  const server = createServer(toNodeHandler(app, { trustProxy: true })).listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (headers: Readonly<Record<string, string>>) => {
    const sent = { authorization: 'Bearer wrong', connection: 'close', ...headers }
    return (await fetch(`http://127.0.0.1:${port}/v1/projects`, { headers: sent })).status
  }
  const found: number[] = []
  // Contradicting header fields name no client either: an invented address must not begin a new count.
  for (const headers of [
    {},
    { 'x-forwarded-for': 'unknown' },
    { forwarded: 'for=192.0.2.9', 'x-forwarded-for': '192.0.2.8' },
  ])
    found.push(await ask(headers as Record<string, string>))
  assert.deepEqual(found, [401, 401, 429])
  assert.equal(await ask({ 'x-forwarded-for': '192.0.2.7' }), 401)
})
