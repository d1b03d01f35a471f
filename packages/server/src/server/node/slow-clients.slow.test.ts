/** LIM-3: clients that send too slowly are disconnected, on every kind of connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { connect as connectSession } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { Fault, fault } from 'resourced-contract/spec/faults'
import { openFiles } from '../../../../../test/open-files.ts'
import { until } from '../../../../../test/until.ts'
import { download, takeSteadily } from '../../../../../test/wire/download.ts'
import { transports } from '../../../../../test/wire/transports.ts'
import type { HttpResponse } from '../../http/message.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer, type NodeServerOptions } from './listener.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-slow-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)

/** A tenth of the patience that users meet, and as many bytes a second. */
const timeouts = { head: 800, interval: 400, bytes: 400, idle: 1_000 }
const problem = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })
const respond: NodeServerOptions['respond'] = async (request) => {
  try {
    const body = await request.readBody(100_000)
    return { status: 200, headers: {}, body: `${body.length} bytes` }
  } catch (error) {
    return problem(error instanceof Fault ? error : fault('INTERNAL_ERROR'))
  }
}

async function serve(context: TestContext, secure: boolean): Promise<{ origin: string; port: number }> {
  const server = createNodeServer({ respond, problem, timeouts, ...(secure ? { tls } : {}) })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(500))
  return { origin, port: Number(new URL(origin).port) }
}

/** Sends bytes one after the other until the server ends the connection. */
function trickle(port: number, secure: boolean, head: string, piece: string, every: number) {
  return new Promise<{ text: string; after: number }>((resolve) => {
    const started = performance.now()
    const options = { port, host: '127.0.0.1' }
    const socket: Socket = secure
      ? connectTls({ ...options, ca: tls.cert, ALPNProtocols: ['http/1.1'] })
      : connect(options)
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', () => {})
    socket.write(head)
    const timer = setInterval(() => socket.writable && socket.write(piece), every)
    socket.once('close', () => {
      clearInterval(timer)
      resolve({ text, after: performance.now() - started })
    })
  })
}

const put = 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n'

for (const secure of [false, true]) {
  const kind = secure ? 'TLS' : 'plain'
  test(`LIM-3: ${kind}: a slow head gets 408, and the connection ends`, async (context) => {
    const { port } = await serve(context, secure)
    const { text, after: took } = await trickle(port, secure, 'GET / HTTP/1.1\r\nHost: a\r\nX: ', 'x', 50)
    assert.match(text, /^HTTP\/1\.1 408 .*\r\n.*Connection: close.*REQUEST_TIMEOUT$/s)
    assert.ok(took > 700 && took < 4_000, `${took}`)
  })

  test(`LIM-3: ${kind}: a slow head of a later request gets 408 too`, async (context) => {
    const { port } = await serve(context, secure)
    const { text } = await trickle(port, secure, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX: ', 'x', 50)
    assert.match(text, /^HTTP\/1\.1 200 .*0 bytesHTTP\/1\.1 408 /s)
  })

  test(`LIM-3: ${kind}: a connection without a request is closed without a response`, async (context) => {
    const { port } = await serve(context, secure)
    const { text, after: took } = await trickle(port, secure, '', '', 10_000)
    assert.equal(text, '')
    assert.ok(took < 4_000, `${took}`)
  })

  test(`LIM-3: ${kind}: a body that arrives too slowly gets 408; some thousand bytes a second are enough`, async (context) => {
    const { port } = await serve(context, secure)
    const slow = await trickle(port, secure, put, 'x', 50)
    assert.match(slow.text, /^HTTP\/1\.1 408 .*Connection: close.*REQUEST_TIMEOUT$/is)
    assert.ok(slow.after < 4_000, `${slow.after}`)
    const steady = await trickle(
      port,
      secure,
      put.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
      'x'.repeat(250),
      50,
    )
    assert.match(steady.text, /^HTTP\/1\.1 200 .*5000 bytes$/s)
  })
}

const huge = 'x'.repeat(60_000_000)

for (const kind of ['plain', 'TLS', 'HTTP/2'] as const) {
  test(`LIM-3: ${kind}: a client that does not read is disconnected; one that reads gets the whole response`, async (context) => {
    const respondAtLength = async () => ({ status: 200, headers: {}, body: huge })
    const server = createNodeServer({
      ...{ respond: respondAtLength, problem, timeouts },
      ...(kind === 'plain' ? {} : { tls }),
    })
    const origin = await server.listen('127.0.0.1', 0)
    context.after(() => server.close(100))
    const open = () => {
      if (kind === 'HTTP/2') return connectSession(origin, { ca: tls.cert }).on('error', () => {}).request({ ':path': '/' }) // biome-ignore format: a line
      const options = { port: Number(new URL(origin).port), host: '127.0.0.1' }
      const socket = kind === 'TLS' ? connectTls({ ...options, ca: tls.cert }) : connect(options)
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      return socket
    }
    const taken = (stream: Readable) =>
      new Promise<number>((resolve) => {
        let size = 0
        stream.on('data', (piece: Buffer) => (size += piece.length))
        stream.on('error', () => {})
        if (stream.closed) resolve(size)
        stream.once('close', () => resolve(size))
      })
    assert.ok((await taken(open())) >= huge.length)
    let got = huge.length
    // A busy machine takes longer to notice it.
    for (const patience of [3_000, 12_000, 30_000]) {
      const staring = open()
      staring.on('error', () => {})
      await sleep(patience)
      got = await taken(staring)
      if (got < huge.length) break
    }
    assert.ok(got < huge.length)
  })
}

const film = join(folder, 'film')
const length = 30_000_000
await writeFile(film, '')
await truncate(film, length)
const respondWithFilm: NodeServerOptions['respond'] = async ({ target }) => {
  if (target === '/text') return { status: 200, headers: {}, body: 'text' }
  return { status: 200, headers: {}, body: { kind: 'file', path: film, start: 0, length } }
}

async function serveFilm(context: TestContext, secure: boolean): Promise<string> {
  const server = createNodeServer({ respond: respondWithFilm, problem, timeouts, ...(secure ? { tls } : {}) })
  context.after(() => server.close(100))
  return server.listen('127.0.0.1', 0)
}

/** Waits until the server has opened the file, and closed it before its end. */
async function untilGivenUp(): Promise<void> {
  await until(() => openFiles(film) > 0)
  await until(() => openFiles(film) === 0)
}

for (const transport of transports) {
  test(`LIM-3: ${transport}: a client that does not read a file is disconnected; one that reads slowly but steadily gets all of it`, async (context) => {
    const origin = await serveFilm(context, transport !== 'HTTP/1.1')
    const steady = download(origin, '/', transport)
    takeSteadily(steady, 2_000_000, 200)
    const { size, error } = await steady.ended
    assert.deepEqual([size, error], [length, undefined])
    await until(() => openFiles(film) === 0)

    const staring = download(origin, '/', transport)
    await untilGivenUp()
    staring.stream.resume()
    assert.ok((await staring.ended).size < length)
  })
}

test('LIM-3: a client that sends requests and does not read a file is disconnected', async (context) => {
  const origin = await serveFilm(context, false)
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {})
  const ask = (path: string) => socket.writable && socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
  socket.pause()
  ask('/')
  const timer = setInterval(() => ask('/text'), 100)
  await untilGivenUp()
  clearInterval(timer)
  socket.destroy()
})

test('LIM-3: HTTP/2: an idle download is aborted even if its session is active', async (context) => {
  const origin = await serveFilm(context, true)
  const session = connectSession(origin, { ca: tls.cert, settings: { initialWindowSize: 100_000 } })
  context.after(() => session.destroy())
  await once(session, 'connect')
  session.setLocalWindowSize(10_000_000)
  const staring = session.request({ ':path': '/' }).on('error', () => {})
  const timer = setInterval(() => session.request({ ':path': '/text' }).resume(), 100)
  await untilGivenUp()
  clearInterval(timer)
  staring.resume()
  if (!staring.closed) await once(staring, 'close')
  assert.notEqual(staring.rstCode, 0)
  assert.equal(session.closed, false)
})

test('LIM-3: the rest of an unread body has limited time', async (context) => {
  const refuse: NodeServerOptions['respond'] = async () => ({ status: 401, headers: {}, body: 'no' })
  const server = createNodeServer({ respond: refuse, problem, timeouts })
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  context.after(() => server.close(500))
  const { text, after: took } = await trickle(Number(port), false, put, 'x', 50)
  assert.match(text, /^HTTP\/1\.1 401 .*no$/s)
  assert.ok(took < 4_000, `${took}`)
})

test('LIM-3: HTTP/2: a slow body gets 408, and the other streams of the session continue', async (context) => {
  const { origin } = await serve(context, true)
  const session = connectSession(origin, { ca: tls.cert })
  context.after(() => session.destroy())
  const slow = session.request({ ':method': 'PUT', ':path': '/' })
  const timer = setInterval(() => slow.writable && slow.write('x'), 50)
  slow.on('error', () => {})
  const status = await new Promise((resolve) => slow.once('response', (headers) => resolve(headers[':status'])))
  clearInterval(timer)
  assert.equal(status, 408)
  const next = session.request({ ':path': '/' })
  let body = ''
  for await (const piece of next.setEncoding('utf8')) body += piece
  assert.equal(body, '0 bytes')
})

test('LIM-3: HTTP/2: a session without requests is closed, even if frames keep arriving', async (context) => {
  const { origin } = await serve(context, true)
  const session = connectSession(origin, { ca: tls.cert })
  const timer = setInterval(() => session.destroyed || session.ping(() => {}), 50)
  const started = performance.now()
  await new Promise((resolve) => session.once('close', resolve))
  clearInterval(timer)
  const took = performance.now() - started
  assert.ok(took > 700 && took < 4_000, `${took}`)
})
