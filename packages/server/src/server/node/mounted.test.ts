import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Fault } from 'resourced-contract/spec/faults'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { createApp } from '../create-app.ts'
import { toNodeHandler } from './listener.ts'

const failures: string[] = []
const app = {
  basePath: '/api',
  async respond(request: HttpRequest): Promise<HttpResponse> {
    const body = Buffer.from(await request.readBody(40)).toString()
    return { status: 200, headers: {}, body: `${request.target} ${body}` }
  },
  refuse(error: Fault): HttpResponse {
    failures.push(error.message)
    return { status: error.status, headers: {}, body: error.code }
  },
}

/** What middleware before the handler does, as frameworks do it. */
type Middleware = (request: IncomingMessage & Record<string, unknown>) => unknown

async function serverWith(context: TestContext, middleware: Middleware, options?: { readonly next: boolean }) {
  const handler = toNodeHandler(app, options)
  const server = createServer(async (request, response: ServerResponse) => {
    await middleware(request as IncomingMessage & Record<string, unknown>)
    handler(request, response, () => response.end(`next ${request.url}`))
  }).listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (path: string, body?: string) => {
    const sent = body === undefined ? {} : { method: 'POST', body }
    const response = await fetch(`${origin}${path}`, { ...sent, headers: { connection: 'close' } })
    return `${response.status} ${await response.text()}`
  }
}

const express: Middleware = (request) => {
  request['originalUrl'] = request.url
  request['baseUrl'] = '/api'
  request.url = request.url?.slice(4) || '/'
}
const connect: Middleware = (request) => {
  request['originalUrl'] = request.url
  request.url = request.url?.slice(4) || '/'
}

test('a router may remove its path: the address is the one that the client sent', async (context) => {
  for (const middleware of [express, connect, () => {}]) {
    const ask = await serverWith(context, middleware, { next: true })
    assert.equal(await ask('/api/v1/tasks?a=/api'), '200 /api/v1/tasks?a=/api ')
    assert.equal(await ask('/api/api/x'), '200 /api/api/x ')
  }
})

test('requests outside the base path go to next(), if there is one', async (context) => {
  const passing = await serverWith(context, () => {}, { next: true })
  for (const path of ['/', '/apiary', '/API/v1', '/%61pi/v1', '//api/v1', '/other?/api/v1'])
    assert.equal(await passing(path), `200 next ${path}`)
  const keeping = await serverWith(context, () => {})
  assert.equal(await keeping('/other'), '200 /other ')
})

test('passing requests on needs a base path', () => {
  assert.throws(() => toNodeHandler({ ...app, basePath: '' }, { next: true }), ConfigurationError)
})

test('a rewritten address counts as rewritten', async (context) => {
  const ask = await serverWith(context, (request) => {
    Object.assign(request, { originalUrl: request.url, baseUrl: '', url: '/api/v2/tasks' })
  })
  assert.equal(await ask('/tasks'), '200 /api/v2/tasks ')
})

test('a handler that is mounted elsewhere warns once', async (context) => {
  const warned: string[] = []
  context.mock.method(process, 'emitWarning', (message: string) => void warned.push(message))
  const ask = await serverWith(context, (request) => void Object.assign(request, { baseUrl: '/v1' }))
  await ask('/tasks')
  await ask('/tasks')
  assert.equal(warned.length, 1)
  assert.match(warned[0] ?? '', /mounted at "\/v1", and the basePath of the application is "\/api"/)
  const other = await serverWith(context, (request) => void Object.assign(request, { baseUrl: '/API' }))
  await other('/tasks')
  assert.equal(warned.length, 1)
})

test('a body that was read before is taken from its bytes', async (context) => {
  for (const name of ['rawBody', 'body']) {
    const ask = await serverWith(context, async (request) => {
      request[name] = Buffer.concat(await request.toArray())
      if (name === 'rawBody') request['body'] = { parsed: true }
    })
    assert.equal(await ask('/api', '{"a":1.0}'), '200 /api {"a":1.0}')
    assert.equal(await ask('/api', 'x'.repeat(41)), '413 BODY_TOO_LARGE')
  }
})

test('a body of which only the parsed value is left fails at once, and says what to change', async (context) => {
  const ask = await serverWith(context, async (request) => {
    request['body'] = await json(request)
  })
  assert.equal(await ask('/api', '{"a":1.0}'), '500 INTERNAL_ERROR')
  assert.match(failures.at(-1) ?? '', /was read before toNodeHandler\(\) ran, by a parser such as express.json\(\)/)
})

test('the response and the log of an application name the remedy for a parser before the handler', async (context) => {
  const logged: unknown[] = []
  const notes = { fields: { text: { type: 'string' } }, access: { create: 'anyone' } } as const
  const served = createApp(
    { name: 'notes', resources: { notes } },
    {
      ...{ database: 'sqlite::memory:', log: (line) => void logged.push(line) },
      authenticate: () => ({ id: 'ann', roles: [] }),
    },
  )
  context.after(() => served.close())
  const handler = toNodeHandler(served)
  const server = createServer(async (request, response) => {
    Object.assign(request, { body: await json(request) })
    handler(request, response)
  }).listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/notes`, {
    ...{ method: 'POST', body: '{"text":"a"}' },
    headers: { 'content-type': 'application/json', connection: 'close' },
  })
  const problem = (await response.json()) as Record<string, unknown>
  assert.deepEqual([response.status, problem['code']], [500, 'INTERNAL_ERROR'])
  const remedy = /express\.json\(\).*Mount the handler before the parser, or keep the bytes/
  assert.match(String(problem['detail']), remedy)
  assert.match(JSON.stringify(logged), remedy)
  assert.ok(!JSON.stringify(problem).includes('node:'))
})

test('an empty body needs no bytes', async (context) => {
  const ask = await serverWith(context, async (request) => {
    await request.toArray()
    request['body'] = {}
  })
  assert.equal(await ask('/api', ''), '200 /api ')
})
