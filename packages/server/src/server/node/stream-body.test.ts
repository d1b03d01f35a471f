/** Bodies without an end of their own, on every kind of connection. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from 'resourced-contract/spec/faults'
import { becomes } from '../../../../../test/open-files.ts'
import { openAnswer } from '../../../../../test/wire/open-stream.ts'
import { type Transport, transports } from '../../../../../test/wire/transports.ts'
import type { HttpResponse, StreamBody, StreamSink } from '../../http/message.ts'
import { toFetchHandler } from '../fetch/fetch.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer, toNodeHandler } from './listener.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-stream-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)
const problem = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })

/** A body that does what a test tells it, and counts what it is told. */
class TrialBody implements StreamBody {
  readonly kind = 'stream'
  sink: StreamSink | undefined
  drainings = 0
  closings = 0

  open(sink: StreamSink): void {
    this.sink = sink
    sink.write(Buffer.from('first\n'))
  }

  drained(): void {
    this.drainings++
  }

  closed(): void {
    this.closings++
  }

  /** Writes until the client should take something. Returns the number of bytes. */
  fill(): number {
    const piece = Buffer.alloc(65_536, 'x')
    let bytes = piece.length
    while (this.sink?.write(piece)) bytes += piece.length
    return bytes
  }
}

/** What a server answers with one body. */
const answering = (body: TrialBody) => ({
  respond: async (): Promise<HttpResponse> => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body }),
  problem,
})

async function serve(context: TestContext, transport: Transport, body: TrialBody) {
  const server = createNodeServer({ ...answering(body), ...(transport === 'HTTP/1.1' ? {} : { tls }) })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  return { server, origin }
}

for (const transport of transports) {
  test(`${transport}: pieces arrive when they are written, and the end ends the response`, async (context) => {
    const body = new TrialBody()
    const { origin } = await serve(context, transport, body)
    const { text, ended, headers } = await openAnswer(origin, '/', transport)
    assert.equal(headers['content-length'], undefined)
    assert.ok(await becomes(() => text() === 'first\n'))
    body.sink?.write(Buffer.from('second\n'))
    assert.ok(await becomes(() => text() === 'first\nsecond\n'))
    assert.equal(body.closings, 0)
    body.sink?.end()
    assert.equal(await ended, true)
    assert.equal(body.closings, 1)
  })

  test(`${transport}: a client that leaves closes the body once`, async (context) => {
    const body = new TrialBody()
    const { origin } = await serve(context, transport, body)
    const { leave } = await openAnswer(origin, '/', transport)
    leave()
    assert.ok(await becomes(() => body.closings === 1))
    assert.equal(body.sink?.write(Buffer.from('late\n')), true, 'what is written then goes nowhere')
    body.sink?.end()
    assert.equal(body.closings, 1)
  })

  test(`${transport}: a body is told when a slow client has taken what was written, and may give it up`, async (context) => {
    const body = new TrialBody()
    const { origin } = await serve(context, transport, body)
    const { stream, ended } = await openAnswer(origin, '/', transport)
    stream.pause()
    body.fill()
    assert.equal(body.drainings, 0)
    stream.resume()
    assert.ok(await becomes(() => body.drainings > 0))
    stream.pause()
    for (let more = 0; more < 300; more++) body.fill()
    body.sink?.abort()
    stream.resume()
    assert.equal(await ended, false)
    assert.equal(body.closings, 1)
  })

  test(`${transport}: closing the server ends open streams at once`, async (context) => {
    const body = new TrialBody()
    const { server, origin } = await serve(context, transport, body)
    const { ended } = await openAnswer(origin, '/', transport)
    const began = performance.now()
    const [, isWhole] = await Promise.all([server.close(120_000), ended])
    assert.deepEqual([isWhole, body.closings], [true, 1])
    assert.ok(performance.now() - began < 60_000)
  })

  test(`${transport}: HEAD has the header fields, and opens nothing`, async (context) => {
    const body = new TrialBody()
    const { origin } = await serve(context, transport, body)
    const { headers, text, ended } = await openAnswer(origin, '/', transport, { method: 'HEAD' })
    assert.equal(await ended, true)
    assert.deepEqual([headers['content-type'], text(), body.closings], ['text/plain', '', 1])
    assert.equal(body.sink, undefined)
  })
}

test('a client that closes its side only is disconnected', async (context) => {
  const body = new TrialBody()
  const { origin } = await serve(context, 'HTTP/1.1', body)
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  socket.end()
  assert.ok(await becomes(() => body.closings === 1))
})

test('a connection carries requests after a stream has ended', async (context) => {
  const bodies = [new TrialBody(), new TrialBody()]
  const server = createNodeServer({
    problem,
    respond: async ({ target }) => ({ status: 200, headers: {}, body: bodies[Number(target.slice(1))] }),
  })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1' })
  let text = ''
  socket.on('data', (piece) => {
    text += piece
  })
  for (const [index, body] of bodies.entries()) {
    socket.write(`GET /${index} HTTP/1.1\r\nHost: a\r\n\r\n`)
    assert.ok(await becomes(() => body.sink !== undefined))
    body.sink?.end()
    assert.ok(await becomes(() => text.split('0\r\n\r\n').length === index + 2))
  }
  socket.destroy()
})

test('a handler in a server of its own streams, and the client that leaves is noticed', async (context) => {
  const body = new TrialBody()
  const { respond } = answering(body)
  const server = createServer(toNodeHandler({ respond, refuse: problem })).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const stop = new AbortController()
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: stop.signal })
  const reader = response.body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first\n')
  stop.abort()
  assert.ok(await becomes(() => body.closings === 1))
})

test('the fetch API gets a stream with back pressure', async () => {
  const body = new TrialBody()
  const { respond } = answering(body)
  const handle = toFetchHandler({ respond, refuse: problem }, { address: () => '' })
  const response = await handle(new Request('https://a.test/'))
  const reader = response.body?.getReader()
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first\n')
  assert.equal(response.headers.get('content-length'), null)
  const written = body.fill()
  assert.ok(written <= 2 * 65_536, `${written} bytes`)
  await sleep(5)
  assert.equal(body.drainings, 0)
  for (let read = 0; read < written; ) read += (await reader?.read())?.value?.length ?? 0
  assert.ok(await becomes(() => body.drainings === 1))
  await reader?.cancel()
  assert.equal(body.closings, 1)
})

test('the fetch API: the body ends, is given up, is not opened for HEAD, and closes with its request', async () => {
  const handle = (body: TrialBody, init?: RequestInit) =>
    toFetchHandler({ ...answering(body), refuse: problem }, { address: () => '' })(new Request('https://a.test/', init))
  const ending = new TrialBody()
  const whole = await handle(ending)
  ending.sink?.end()
  assert.equal(await whole.text(), 'first\n')
  assert.equal(ending.closings, 1)
  const aborted = new TrialBody()
  const broken = await handle(aborted)
  aborted.sink?.abort()
  await assert.rejects(broken.text())
  const head = new TrialBody()
  assert.equal(await (await handle(head, { method: 'HEAD' })).text(), '')
  assert.deepEqual([head.sink, head.closings], [undefined, 1])
  const left = new TrialBody()
  const stop = new AbortController()
  await handle(left, { signal: stop.signal })
  stop.abort()
  assert.equal(left.closings, 1)
})
