/** LIM-4 on sockets: every accepted request gets its response, and every other request a 503. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { connect as connectSession } from 'node:http2'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from 'resourced-contract/spec/faults'
import { sendRaw } from '../../../../../test/raw-client.ts'
import { type Transport, transports } from '../../../../../test/wire/transports.ts'
import type { HttpResponse } from '../../http/message.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer, type NodeServerOptions } from './listener.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-overload-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)

const problem = (error: Fault): HttpResponse => ({
  status: error.status,
  headers: { 'Content-Type': 'application/problem+json', ...error.details.headers },
  body: JSON.stringify({ status: error.status, code: error.code }),
})

/** A server to which each request is two milliseconds of work. */
async function serve(context: TestContext, transport: Transport = 'HTTP/1.1', more: Partial<NodeServerOptions> = {}) {
  const worked: string[] = []
  let turnedAway = 0
  const server = createNodeServer({
    async respond(request) {
      worked.push(request.target)
      for (const until = performance.now() + 2; performance.now() < until; );
      const body = request.target === '/body' ? String((await request.readBody(1_048_576)).length) : request.target
      return { status: 200, headers: {}, body }
    },
    problem,
    onRejected: () => turnedAway++,
    overloadLimits: { wait: 30, burst: 30 },
    ...(transport === 'HTTP/1.1' ? {} : { tls }),
    ...more,
  })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  return { server, origin, worked, turnedAway: () => turnedAway }
}

interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: string
}

/** Asks for so many paths at once. */
type AskAll = (count: number, pathOf: (index: number) => string) => Promise<Answer[]>

/** Connections that are open, on which so many requests can be sent at once, each on one, or one stream, of its own. */
async function clientsOf(context: TestContext, origin: string, transport: Transport, count: number): Promise<AskAll> {
  const askAll =
    transport === 'HTTP/2' ? overSessions(context, origin, count) : overMessages(context, origin, transport)
  // This is no load, and answered at once.
  await askAll(count, () => '/health/live')
  return askAll
}

function overSessions(context: TestContext, origin: string, count: number): AskAll {
  const sessions = Array.from({ length: count / 50 }, () => connectSession(origin, { rejectUnauthorized: false }))
  context.after(() => sessions.forEach((session) => void session.destroy()))
  const ask = async (path: string, index: number) => {
    const stream = sessions[index % sessions.length]!.request({ ':path': path })
    let status = 0
    let retryAfter: string | undefined
    let body = ''
    stream.on('response', (headers) => {
      status = Number(headers[':status'])
      retryAfter = headers['retry-after']
    })
    for await (const chunk of stream) body += chunk
    return { status, retryAfter, body }
  }
  return (count, pathOf) => Promise.all(Array.from({ length: count }, (_, index) => ask(pathOf(index), index)))
}

function overMessages(context: TestContext, origin: string, transport: Transport): AskAll {
  const options = { keepAlive: true, maxFreeSockets: 1_000 }
  const agent = transport === 'HTTP/1.1' ? new PlainAgent(options) : new TlsAgent(options)
  context.after(() => agent.destroy())
  const request = transport === 'HTTP/1.1' ? plainRequest : tlsRequest
  const ask = (path: string) =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request(origin + path, { agent, rejectUnauthorized: false }, async (answer) => {
        let body = ''
        for await (const chunk of answer) body += chunk
        resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'], body })
      })
      sent.on('error', reject).end()
    })
  return (count, pathOf) => Promise.all(Array.from({ length: count }, (_, index) => ask(pathOf(index))))
}

for (const transport of transports) {
  test(`LIM-4: ${transport}: under overload some requests are served, the others get 503 with Retry-After, and the server recovers`, async (context) => {
    const { origin, worked, turnedAway } = await serve(context, transport)
    const askAll = await clientsOf(context, origin, transport, 600)
    worked.length = 0
    const answers = await askAll(600, (index) => `/${index}`)
    const served = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status === 503)
    assert.equal(served.length + refused.length, 600)
    // A hundred may always wait.
    assert.ok(served.length >= 100, `${served.length} were served`)
    assert.ok(refused.length >= 100, `${refused.length} were turned away`)
    for (const { retryAfter, body } of refused) {
      assert.match(retryAfter ?? '', /^[123]$/)
      assert.deepEqual(JSON.parse(body), { status: 503, code: 'OVERLOADED' })
    }
    assert.deepEqual(worked.toSorted(), served.map(({ body }) => body).toSorted())
    assert.equal(turnedAway(), refused.length)
    // Not all at once do they come again.
    assert.equal(new Set(refused.map(({ retryAfter }) => retryAfter)).size, 3)
    const again = await askAll(50, () => '/again')
    assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([200]))
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** So many connections, open and silent. */
async function crowd(context: TestContext, origin: string, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {})
    socket.write(get('/health/live'))
    return socket
  })
  context.after(() => sockets.forEach((socket) => void socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'data')))
  return sockets
}

/** The statuses of the answers on each connection, once there are so many, or once the connection has ended. */
function statusesOn(sockets: readonly Socket[], count: number): Promise<string[][]> {
  const statusesOf = (socket: Socket) =>
    new Promise<string[]>((resolve) => {
      let text = ''
      const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!)
      socket.on('data', (chunk) => {
        text += chunk
        if (statuses().length === count) resolve(statuses())
      })
      socket.on('end', () => resolve(statuses())).on('close', () => resolve(statuses()))
    })
  return Promise.all(sockets.map(statusesOf))
}

test('LIM-4: a connection stays usable after a 503, even if the body was never read', async (context) => {
  const { origin } = await serve(context)
  const sockets = await crowd(context, origin, 500)
  const statuses = statusesOn(sockets, 2)
  const post = 'POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde'
  for (const socket of sockets) socket.write(post + post)
  const kinds = (await statuses).map((each) => each.join(' then '))
  assert.deepEqual(new Set(kinds.map((kind) => kind.replaceAll('503', '200'))), new Set(['200 then 200']))
  assert.ok(kinds.includes('503 then 503') || kinds.includes('503 then 200'), kinds.join(', '))
})

const patient = { wait: 10_000, burst: 10_000 }

test('LIM-4: health checks do not wait', async (context) => {
  const { origin, worked } = await serve(context, 'HTTP/1.1', { overloadLimits: patient })
  const sockets = await crowd(context, origin, 300)
  const [probe] = await crowd(context, origin, 1)
  worked.length = 0
  const statuses = statusesOn(sockets, 1)
  for (const socket of sockets) socket.write(get('/'))
  await sleep(20)
  probe!.write(get('/health/live'))
  await once(probe!, 'data')
  const before = worked.length
  assert.ok(before < 200, `${before} of 300 were served before`)
  assert.deepEqual(new Set((await statuses).flat()), new Set(['200']))
})

test('LIM-4: requests of clients that have gone are dropped; clients that only closed their side get a response', async (context) => {
  const { origin, worked } = await serve(context, 'HTTP/1.1', { overloadLimits: patient })
  const first = await crowd(context, origin, 100)
  const going = await crowd(context, origin, 50)
  const closing = await crowd(context, origin, 50)
  const ending = await crowd(context, origin, 50)
  const told = statusesOn(ending, 3)
  const served = statusesOn(first, 1)
  for (const socket of first) socket.write(get('/first'))
  await sleep(20)
  for (const socket of [...going, ...closing]) socket.write(get('/gone'))
  for (const socket of ending) socket.end(get('/ended'))
  await sleep(20)
  for (const socket of going) socket.resetAndDestroy()
  for (const socket of closing) socket.destroy()
  assert.deepEqual(new Set((await told).map(String)), new Set(['102,102,200']))
  assert.deepEqual((await served).flat(), new Array(100).fill('200'))
  const count = (path: string) => worked.filter((target) => target === path).length
  assert.deepEqual([count('/first'), count('/ended')], [100, 50])
  assert.ok(count('/gone') < 20, `work was done for ${count('/gone')} of 100 who had gone`)
})

test('LIM-4: a server that stops under overload answers every accepted request', async (context) => {
  const { server, origin, worked } = await serve(context, 'HTTP/1.1', { overloadLimits: { wait: 500, burst: 500 } })
  const sockets = await crowd(context, origin, 600)
  worked.length = 0
  const statuses = statusesOn(sockets, 1)
  for (const socket of sockets) socket.write(get('/'))
  while (worked.length < 20) await sleep(1)
  await server.close(20_000)
  const seen = await statuses
  assert.equal(seen.flat().filter((status) => status === '200').length, worked.length)
  assert.ok(worked.length > 100, `${worked.length} were served`)
  assert.ok(seen.every((each) => each.length <= 1 && each[0] !== '500'))
})

test('LIM-4: all bodies together have a limit; requests beyond it are refused, and the others continue', async (context) => {
  const { origin } = await serve(context)
  const size = 1_048_576
  const head = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`
  const sockets: Socket[] = []
  const results = Array.from({ length: 80 }, () =>
    sendRaw(origin, head + 'a'.repeat(size - 1), {
      ...{ answers: 1, patience: 20_000 },
      afterwards: (socket) => void sockets.push(socket),
    }),
  )
  const refused: number[] = []
  for (const result of results) void result.then(({ answers }) => refused.push(answers[0]?.status ?? 0))
  while (refused.length < 80 - 64) await sleep(5)
  await sleep(100)
  assert.deepEqual(refused, new Array(16).fill(503))
  for (const socket of sockets) if (!socket.destroyed) socket.write('a')
  const statuses = (await Promise.all(results)).map(({ answers }) => answers[0]?.status)
  assert.equal(statuses.filter((status) => status === 200).length, 64)
  const { answers } = await sendRaw(origin, head + 'a'.repeat(size), { answers: 1 })
  assert.deepEqual([answers[0]?.status, answers[0]?.body], [200, String(size)])
})
