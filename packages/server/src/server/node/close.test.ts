import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSession } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { sendRaw } from '../../../../../test/raw-client.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer } from './listener.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-close-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)

const megabytes = 'x'.repeat(8_000_000)
const problem = (): HttpResponse => ({ status: 500, headers: {}, body: 'problem' })
/** Emits the target of each request when its processing begins. */
const begun = new EventEmitter()
async function respond(request: HttpRequest): Promise<HttpResponse> {
  begun.emit(request.target)
  if (request.target === '/slow') await sleep(200)
  if (request.target === '/endless') await sleep(5000, undefined, { ref: false })
  return { status: 200, headers: {}, body: request.target === '/large' ? megabytes : 'done' }
}
const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`

async function timed(work: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work
  return performance.now() - started
}

test('closing finishes running requests with Connection: close, and refuses new connections', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const isRunning = once(begun, '/slow')
  const running = sendRaw(origin, get('/slow'))
  await isRunning
  const closing = server.close()
  // Connections that come before an empty turn of the event loop are still accepted.
  while ((await sendRaw(origin, get('/'))).answers.length > 0);
  const { answers, closed } = await running
  assert.equal(answers[0]!.body, 'done')
  assert.equal(answers[0]!.headers.connection, 'close')
  assert.equal(closed, true)
  await closing
})

test('closing resets no connection that waits to be accepted', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  // The system connects all of them before the server's event loop turns.
  const results = Array.from({ length: 50 }, () => sendRaw(origin, get('/')))
  await server.close()
  for (const { answers, reset } of await Promise.all(results)) assert.deepEqual([answers.length, reset], [1, false])
})

test('closing waits at most half a second for idle connections and for connections without a request', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const idle = sendRaw(origin, get('/'))
  const silent = sendRaw(origin, '')
  await sleep(50)
  assert.ok((await timed(server.close())) < 5_000)
  assert.equal((await idle).answers.length, 1)
  assert.equal((await silent).closed, true)
})

test('a request that arrives on an idle connection while the server closes gets its response, which ends the connection', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  let closing: Promise<void> | undefined
  const { answers, closed, reset } = await sendRaw(origin, get('/'), {
    async afterwards(socket) {
      await once(socket, 'data')
      closing = server.close()
      await sleep(50)
      socket.write(get('/'))
    },
  })
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.connection]),
    [
      [200, 'keep-alive'],
      [200, 'close'],
    ],
  )
  assert.deepEqual([closed, reset], [true, false])
  await closing
})

test('a request that arrived while the server had no processor gets its response', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  let closing: Promise<void> | undefined
  const { answers, reset } = await sendRaw(origin, get('/'), {
    async afterwards(socket) {
      await once(socket, 'data')
      closing = server.close()
      await sleep(50)
      // After it, timers run before what has arrived is read.
      await new Promise(setImmediate)
      socket.write(get('/'))
      // Until idle connections are to be closed.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    },
  })
  assert.deepEqual([answers.length, reset], [2, false])
  await closing
})

test('a response that is being written is completed', async () => {
  const server = createNodeServer({ respond, problem })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const isRunning = once(begun, '/large')
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(get('/large'))
  await isRunning
  const closing = server.close()
  let size = 0
  for await (const piece of socket) size += (piece as Buffer).length
  assert.ok(size > megabytes.length)
  await closing
})

test('at the deadline, remaining connections are destroyed', async () => {
  const server = createNodeServer({ respond, problem })
  const origin = await server.listen('127.0.0.1', 0)
  const isRunning = once(begun, '/endless')
  const running = sendRaw(origin, get('/endless'))
  await isRunning
  const took = await timed(server.close(200))
  assert.ok(took >= 150 && took < 5_000, `${took} ms`)
  assert.deepEqual((await running).answers, [])
})

test('closing twice, or before listening, works', async () => {
  const server = createNodeServer({ respond, problem })
  await server.close()
  const other = createNodeServer({ respond, problem })
  await other.listen('127.0.0.1', 0)
  await Promise.all([other.close(), other.close()])
})

test('an HTTP/2 session gets GOAWAY, and its streams are finished', async () => {
  const server = createNodeServer({ respond, problem, tls })
  const origin = await server.listen('127.0.0.1', 0)
  const session = connectSession(origin, { ca: tls.cert })
  const idle = connectSession(origin, { ca: tls.cert })
  const away = new Promise<number>((resolve) => session.once('goaway', resolve))
  const isRunning = once(begun, '/slow')
  const stream = session.request({ ':path': '/slow' })
  await isRunning
  const closing = server.close()
  let body = ''
  for await (const piece of stream.setEncoding('utf8')) body += piece
  assert.equal(body, 'done')
  assert.equal(await away, 0)
  assert.ok((await timed(closing)) < 5_000)
  idle.destroy()
})

/** A frame of HTTP/2 (RFC 9113 section 4.1). */
function frame(type: number, flags: number, stream: number, content: readonly number[] = []): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(content.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(content)])
}

/** The frames in the bytes so far: type, stream and content. */
function framesIn(bytes: Buffer): { type: number; stream: number; content: Buffer }[] {
  const frames = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    frames.push({
      type: bytes.readUInt8(at + 3),
      stream: bytes.readUInt32BE(at + 5),
      content: bytes.subarray(at + 9, end),
    })
    at = end
  }
  return frames
}

test('GOAWAY names the last processed stream: later streams are never started', async () => {
  const processed: string[] = []
  const slowly = async (request: HttpRequest) => {
    processed.push(request.target)
    return await respond(request)
  }
  const server = createNodeServer({ respond: slowly, problem, tls })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const socket = connectTls({ port: Number(port), host: '127.0.0.1', ca: tls.cert, ALPNProtocols: ['h2'] })
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  const [headers, settings, goaway] = [1, 4, 7]
  // GET / and GET /slow at https://a, by the static table (RFC 7541 appendix A).
  const get = [0x82, 0x87, 0x84, 0x41, 1, 0x61]
  const getSlow = [0x82, 0x87, 0x04, 5, ...Buffer.from('/slow'), 0x41, 1, 0x61]
  socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(settings, 0, 0)]))
  const isRunning = once(begun, '/slow')
  socket.write(frame(headers, 5, 1, getSlow))
  await isRunning
  const closing = server.close()
  await sleep(20)
  socket.write(frame(headers, 5, 3, get))
  await closing
  const frames = framesIn(Buffer.concat(pieces))
  const answered = frames.filter(({ type }) => type === headers).map(({ stream }) => stream)
  const last = frames.filter(({ type }) => type === goaway).map(({ content }) => content.readUInt32BE(0))
  assert.deepEqual([answered, new Set(last), processed], [[1], new Set([1]), ['/slow']])
  socket.destroy()
})
