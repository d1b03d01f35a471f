/** Files as response bodies, on every kind of connection. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, get as plainGet } from 'node:http'
import { connect as connectSession } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from 'resourced-contract/spec/faults'
import { becomes, openFiles } from '../../../../../test/open-files.ts'
import { sendRaw } from '../../../../../test/raw-client.ts'
import { download } from '../../../../../test/wire/download.ts'
import { type Transport, transports } from '../../../../../test/wire/transports.ts'
import type { HttpResponse } from '../../http/message.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer, type NodeServerOptions, toNodeHandler } from './listener.ts'

const folder = await mkdtemp(join(tmpdir(), 'resourced-file-'))
after(() => rm(folder, { recursive: true }))
const tls = await localCertificate(folder)
const content = randomBytes(200_001)
const long = randomBytes(20_000_000)
await writeFile(join(folder, 'some'), content)
await writeFile(join(folder, 'long'), long)

const problem = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })
/** `/some?start=5&length=6` is that stretch of the file `some`. */
const respond: NodeServerOptions['respond'] = async ({ target }) => {
  const { pathname, searchParams } = new URL(target, 'http://a')
  if (pathname === '/text') return { status: 200, headers: {}, body: 'text' }
  const length = Number(searchParams.get('length') ?? (pathname === '/long' ? long : content).length)
  const body = { kind: 'file', path: join(folder, pathname), start: Number(searchParams.get('start')), length } as const
  return { status: Number(searchParams.get('status') ?? 200), headers: {}, body }
}

async function serve(context: TestContext, transport: Transport, more: Partial<NodeServerOptions> = {}) {
  const secure = transport !== 'HTTP/1.1'
  const server = createNodeServer({ respond, problem, ...(secure ? { tls } : {}), ...more })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  return { server, origin }
}

const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

for (const transport of transports) {
  const take = async (...request: [string, string, { method?: string }?]) => {
    const { stream, ended } = download(request[0], request[1], transport, request[2])
    stream.resume()
    return ended
  }

  test(`${transport}: a file is sent, completely or as a byte range`, async (context) => {
    const { origin } = await serve(context, transport)
    for (const [path, expected] of [
      ['/some', content],
      ['/long', long],
      ['/some?start=65535&length=65537', content.subarray(65_535, 131_072)],
      ['/some?start=200000&length=1', content.subarray(200_000)],
      ['/some?length=0', Buffer.alloc(0)],
    ] as const) {
      const { status, headers, body, error } = await take(origin, path)
      assert.deepEqual([status, error], [200, undefined], path)
      assert.equal(headers['content-length'], String(expected.length))
      assert.ok(body.equals(expected), path)
    }
    assert.ok(await becomes(() => openFiles(folder) === 0))
  })

  test(`${transport}: HEAD and 304 open no file`, async (context) => {
    const { origin } = await serve(context, transport)
    const head = await take(origin, '/none?length=6000000000', { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers['content-length']], [200, '6000000000'])
    const same = await take(origin, '/none?status=304')
    assert.deepEqual([same.status, same.headers['content-length']], [304, undefined])
  })

  test(`${transport}: a removed file gets 404, an unreadable one 500`, async (context) => {
    const { origin } = await serve(context, transport)
    const gone = await take(origin, '/none')
    assert.deepEqual([gone.status, gone.body.toString(), gone.error], [404, 'NOT_FOUND', undefined])
    for (const path of ['/some/within', '/', '/some?start=99999999&length=1']) {
      const failed = await take(origin, path)
      assert.deepEqual([failed.status, failed.body.toString(), failed.error], [500, 'INTERNAL_ERROR', undefined], path)
    }
    assert.ok(await becomes(() => openFiles(folder) === 0))
  })

  test(`${transport}: a response that cannot be completed does not look complete`, async (context) => {
    const { origin } = await serve(context, transport)
    for (const missing of [1, 100_000]) {
      const { status, size, error } = await take(origin, `/some?length=${content.length + missing}`)
      assert.ok(status === 200 && size <= content.length)
      assert.notEqual(error, undefined)
    }
    assert.ok(await becomes(() => openFiles(folder) === 0))
  })

  test(`${transport}: a client that disconnects in the middle of a download leaves no file open`, async (context) => {
    const { server, origin } = await serve(context, transport)
    const downloads = Array.from({ length: 20 }, () => download(origin, '/long', transport))
    assert.ok(await becomes(() => openFiles(folder) === 20))
    for (const [index, { stream }] of downloads.entries()) {
      if (index % 2 === 0) stream.resume()
      stream.destroy()
    }
    assert.ok(await becomes(() => openFiles(folder) === 0), `${openFiles(folder)} are open`)
    await Promise.all(downloads.map(({ ended }) => ended))
    const started = performance.now()
    await server.close(120_000)
    assert.ok(performance.now() - started < 60_000)
  })

  test(`${transport}: a download that runs when the server closes is finished, and its connection ends`, async (context) => {
    const { server, origin } = await serve(context, transport)
    const { stream, taken, ended } = download(origin, '/long', transport)
    assert.ok(await becomes(() => openFiles(folder) === 1))
    const closing = server.close()
    await sleep(200)
    assert.ok(taken() < long.length)
    stream.resume()
    const { body, error } = await ended
    assert.equal(error, undefined)
    assert.ok(body.equals(long))
    await closing
    assert.equal(openFiles(folder), 0)
  })

  test(`${transport}: at the deadline a running download is aborted and its file closed`, async (context) => {
    const { server, origin } = await serve(context, transport)
    const { stream, ended } = download(origin, '/long', transport)
    assert.ok(await becomes(() => openFiles(folder) === 1))
    await server.close(200)
    stream.resume()
    assert.ok((await ended).body.length < long.length)
    assert.ok(await becomes(() => openFiles(folder) === 0))
  })
}

test('a connection stays usable after a file, and after a missing one', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  for (const path of ['/some', '/none', '/some', '/text']) {
    const size = await new Promise<number>((resolve) => {
      plainGet(origin + path, { agent }, (answer) => {
        ports.add(answer.socket.localPort)
        let length = 0
        answer.on('data', (piece) => (length += piece.length)).on('end', () => resolve(length))
      })
    })
    assert.equal(size, { '/some': content.length, '/none': 'NOT_FOUND'.length, '/text': 4 }[path])
  }
  assert.equal(ports.size, 1)
  agent.destroy()
})

test('pipelined responses with files stay in order after the client closed its side', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const paths = ['/some?length=9', '/text', '/none', '/some', '/some?start=3&length=2', '/text']
  const { answers } = await sendRaw(origin, paths.map((path) => get(path)).join(''), { answers: 6, end: true })
  const expected = [content.subarray(0, 9), 'text', 'NOT_FOUND', content, content.subarray(3, 5), 'text'].map(String)
  assert.deepEqual(
    answers.map(({ body }) => body),
    expected,
  )
})

test('a client that closed its side is answered also if its request had to wait', async (context) => {
  const respond: NodeServerOptions['respond'] = async ({ target }) => {
    for (const until = performance.now() + 10; performance.now() < until; );
    return { status: 200, headers: {}, body: target }
  }
  const { origin } = await serve(context, 'HTTP/1.1', { respond })
  const requests = get('/1') + get('/2') + get('/3')
  const { answers } = await sendRaw(origin, requests, { answers: 3, end: true })
  const final = answers.filter(({ status }) => status >= 200)
  assert.deepEqual(
    final.map(({ status, body }) => `${status} ${body}`),
    ['200 /1', '200 /2', '200 /3'],
  )
})

test('of a thousand pipelined files one is open, and none after the client has gone', async (context) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  context.after(() => process.off('warning', onWarning))
  const { server, origin } = await serve(context, 'HTTP/1.1')
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.pause().write(get('/long') + get('/some').repeat(1_000))
  assert.ok(await becomes(() => openFiles(folder) === 1))
  await sleep(100)
  assert.equal(openFiles(folder), 1)
  socket.destroy()
  assert.ok(await becomes(() => openFiles(folder) === 0))
  const started = performance.now()
  await server.close(120_000)
  assert.ok(performance.now() - started < 60_000)
  assert.deepEqual(warnings, [])
})

test('a kept-alive connection ends after the download that ran when the server closed', async (context) => {
  const { server, origin } = await serve(context, 'HTTP/1.1')
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write(get('/long') + get('/text'))
  // Its head is on its way: with one that is written later the server says that the connection ends after it.
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  assert.equal(openFiles(folder), 1)
  const started = performance.now()
  const closing = server.close()
  const chunks: Buffer[] = [head]
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const received = Buffer.concat(chunks)
  assert.ok(received.includes(long))
  assert.match(received.subarray(-200).toString('latin1'), /\r\n\r\ntext$/)
  await closing
  assert.ok(performance.now() - started < 4_000)
})

test('garbage after a request ends the connection, not the download', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const { answers, closed } = await sendRaw(origin, `${get('/some')}\x16\x03\x01 garbage\r\n\r\n`)
  assert.ok(answers[0]!.status === 200 && closed)
  assert.equal(Number(answers[0]!.headers['content-length']), content.length)
})

test('an incomplete response does not run into the next one', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const { answers, closed } = await sendRaw(origin, get(`/some?length=${content.length + 4}`) + get('/text'))
  assert.deepEqual([answers, closed], [[], true])
})

test('a client that reads only after sending a large unread body gets the file', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  const size = 30_000_000
  socket.pause().write(`POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve))
  const chunks: Buffer[] = []
  let last = 0
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer)
    last = performance.now()
  }
  assert.ok(Buffer.concat(chunks).includes(long))
  assert.ok(performance.now() - last < 1_900, 'a farewell was waited for')
})

test('a large unread body does not prevent a download', async (context) => {
  const { origin } = await serve(context, 'HTTP/1.1')
  const size = 20_000_000
  const { answers, closed, reset } = await sendRaw(
    origin,
    `POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`,
  )
  assert.equal(answers[0]!.body.length, long.toString().length)
  assert.deepEqual([answers[0]!.headers.connection, closed, reset], ['close', true, false])
})

test('a small unread body does not prevent a download that takes longer than its rest may', async (context) => {
  const timeouts = { head: 60_000, interval: 200, bytes: 200, idle: 60_000 }
  const { origin } = await serve(context, 'HTTP/1.1', { timeouts })
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket
    .pause()
    .write(`POST /long HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody${get('/text', 'Connection: close\r\n')}`)
  await sleep(600)
  let size = 0
  for await (const chunk of socket) size += (chunk as Buffer).length
  assert.ok(size > long.length + 100)
})

test('other streams of a session continue when one is aborted', async (context) => {
  const { origin } = await serve(context, 'HTTP/2')
  const session = connectSession(origin, { ca: tls.cert })
  context.after(() => session.destroy())
  const ask = (path: string) =>
    new Promise<number | string>((resolve) => {
      const stream = session.request({ ':path': path })
      let size = 0
      stream.on('data', (piece: Buffer) => (size += piece.length))
      stream.on('error', () => {})
      stream.on('close', () => resolve(stream.rstCode === 0 ? size : 'reset'))
    })
  const sizes = await Promise.all(['/long', '/some?length=200002', '/long', '/none'].map(ask))
  assert.deepEqual(sizes, [long.length, 'reset', long.length, 'NOT_FOUND'.length])
})

test('a server of node:http sends files too', async () => {
  const other = createServer(toNodeHandler({ respond, refuse: problem }))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  assert.ok(Buffer.from(await (await fetch(`${there}/some`)).arrayBuffer()).equals(content))
  assert.equal((await fetch(`${there}/none`)).status, 404)
  other.closeAllConnections()
  await new Promise((resolve) => other.close(resolve))
})
