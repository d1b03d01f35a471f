/** LIM: whose failed authentications count together behind a fetch handler and a proxy. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it, type TestContext } from 'node:test'
import { createApp } from '../../src/server/create-app.ts'
import { toFetchHandler } from '../../src/server/fetch/fetch.ts'
import { toNodeHandler } from '../../src/server/node/listener.ts'
import { studio } from '../declarations.ts'
import { newDatabase } from '../engine.ts'

const declaration = { ...studio, limits: { rate: { address: '2/minute' } } } as const

async function application(context: TestContext) {
  const { address: database } = await newDatabase()
  const app = createApp(declaration, { database })
  context.after(() => app.close())
  await app.ready()
  return app
}

const wrong = () => new Request('https://studio.example/v1/projects', { headers: { authorization: 'Bearer wrong' } })

/** The warnings that a piece of work leaves, by code. */
async function warningsOf(work: () => void): Promise<unknown[]> {
  const codes: unknown[] = []
  const note = (warning: Error) => void codes.push(Reflect.get(warning, 'code'))
  process.on('warning', note)
  work()
  // Node tells of warnings in the next tick.
  await new Promise(setImmediate)
  process.off('warning', note)
  return codes
}

it('LIM-1: a fetch handler without addresses counts all its clients as one, and warns at the start', async (context) => {
  const app = await application(context)
  let handler = async (_: Request) => new Response()
  assert.deepEqual(
    await warningsOf(() => {
      handler = toFetchHandler(app)
    }),
    ['RESOURCED_NO_ADDRESS'],
  )
  const found: number[] = []
  for (let time = 0; time < 4; time++) found.push((await handler(wrong())).status)
  assert.deepEqual(found, [401, 401, 429, 429])
})

it('LIM-1: a fetch handler with addresses counts each of its clients, by what the platform passes on', async (context) => {
  const app = await application(context)
  interface Platform {
    readonly peer: string | undefined
  }
  const made: ((request: Request, platform: Platform) => Promise<Response>)[] = []
  const warnings = await warningsOf(() => {
    made.push(toFetchHandler(app, { address: (_, { peer }: Platform) => peer }))
  })
  assert.deepEqual(warnings, [])
  const found: number[] = []
  for (const peer of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', undefined, undefined, undefined])
    found.push((await made[0]!(wrong(), { peer })).status)
  assert.deepEqual(found, [401, 401, 429, 401, 401, 401, 429])
})

it('LIM-1: behind a proxy that names no client, failures count for the address of the proxy', async (context) => {
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
  // What contradicts itself names nobody either: an invented address must not begin a new count.
  for (const headers of [
    {},
    { 'x-forwarded-for': 'unknown' },
    { forwarded: 'for=192.0.2.9', 'x-forwarded-for': '192.0.2.8' },
  ])
    found.push(await ask(headers as Record<string, string>))
  assert.deepEqual(found, [401, 401, 429])
  assert.equal(await ask({ 'x-forwarded-for': '192.0.2.7' }), 401)
})
