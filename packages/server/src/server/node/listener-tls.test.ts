import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect as connectSession, type OutgoingHttpHeaders } from 'node:http2'
import { request as requestOverTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { Fault } from 'resourced-contract/spec/faults'
import { sendRaw } from '../../../../../test/raw-client.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { localCertificate } from './certificates.ts'
import { createNodeServer } from './listener.ts'

const limit = 100_000
const problem = (error: Fault): HttpResponse => ({
  status: error.status,
  headers: { Allow: 'GET' },
  body: JSON.stringify({ code: error.code }),
})
async function respond(request: HttpRequest): Promise<HttpResponse> {
  try {
    if (request.target === '/unread') return { status: 401, headers: {}, body: 'no' }
    const body = Buffer.from(await request.readBody(limit)).toString()
    if (request.target === '/empty') return { status: 204, headers: {}, body: undefined }
    const { method, target, headers, secure, address } = request
    return {
      status: 200,
      headers: { ETag: '"1"' },
      body: JSON.stringify({ method, target, headers, secure, address, body }),
    }
  } catch (error) {
    if (error instanceof Fault) return problem(error)
    throw error
  }
}

const folder = await mkdtemp(join(tmpdir(), 'resourced-node-tls-'))
const tls = await localCertificate(folder)
const server = createNodeServer({ respond, problem, tls })
const origin = await server.listen('127.0.0.1', 0)
const session = connectSession(origin, { ca: tls.cert })
after(async () => {
  session.destroy()
  await server.close(1000)
  await rm(folder, { recursive: true })
})

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

function ask(over: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = over.request(headers, { endStream: body === undefined })
    let answer: Answer | undefined
    stream.setEncoding('utf8')
    stream.on('response', (received) => {
      answer = { status: Number(received[':status']), headers: received as unknown as Record<string, string>, body: '' }
    })
    stream.on('data', (piece: string) => {
      answer!.body += piece
    })
    stream.on('error', reject)
    stream.on('close', () => (answer === undefined ? reject(new Error('no answer')) : resolve(answer)))
    if (body !== undefined) stream.end(body)
  })
}

test('HTTP/2: a request is mapped, and the response has its length', async () => {
  const { status, headers, body } = await ask(
    session,
    { ':path': '/a?b', ':method': 'POST', 'If-Match': '"1"' },
    'hello',
  )
  const asked = JSON.parse(body)
  assert.equal(status, 200)
  assert.equal(headers['content-length'], String(body.length))
  assert.deepEqual(
    [asked.method, asked.target, asked.secure, asked.address, asked.body],
    ['POST', '/a?b', true, '127.0.0.1', 'hello'],
  )
  assert.equal(asked.headers.host, new URL(origin).host)
  assert.deepEqual(
    Object.keys(asked.headers).filter((name) => name.startsWith(':')),
    [],
  )
})

test('HTTP/1.1 on the same port', async () => {
  const body = await new Promise<string>((resolve, reject) => {
    const request = requestOverTls(`${origin}/a`, { ca: tls.cert, agent: false }, async (response) => {
      assert.equal(response.httpVersion, '1.1')
      let text = ''
      for await (const piece of response) text += piece
      resolve(text)
    })
    request.on('error', reject).end()
  })
  assert.equal(JSON.parse(body).secure, true)
})

test('HTTP/2: HEAD, 204', async () => {
  const head = await ask(session, { ':path': '/a', ':method': 'HEAD' })
  assert.equal(head.body, '')
  assert.ok(Number(head.headers['content-length']) > 10)
  const none = await ask(session, { ':path': '/empty' })
  assert.deepEqual([none.status, none.headers['content-length']], [204, undefined])
})

test('HTTP/2: bodies over the limit and unread bodies leave the session usable', async () => {
  assert.equal((await ask(session, { ':path': '/', ':method': 'POST' }, 'x'.repeat(limit + 1))).status, 413)
  assert.equal(
    (await ask(session, { ':path': '/', ':method': 'POST', 'content-length': limit * 9 }, 'x'.repeat(limit * 9)))
      .status,
    413,
  )
  for (let turn = 0; turn < 8; turn++) {
    assert.equal((await ask(session, { ':path': '/unread', ':method': 'POST' }, 'x'.repeat(limit * 4))).status, 401)
  }
  assert.equal((await ask(session, { ':path': '/' })).status, 200)
})

test('HTTP/2: requests that are too long, too large or contradictory, and CONNECT', async () => {
  assert.equal((await ask(session, { ':path': `/${'a'.repeat(9000)}` })).status, 414)
  assert.equal((await ask(session, { ':path': '/', a: 'a'.repeat(20_000) })).status, 431)
  assert.equal((await ask(session, { ':path': '/', host: 'elsewhere', ':authority': 'here' })).status, 400)
  const refused = await ask(session, { ':method': 'CONNECT', ':authority': 'a:443' }, '')
  assert.deepEqual([refused.status, JSON.parse(refused.body).code], [405, 'METHOD_NOT_ALLOWED'])
})

test('HTTP/2: a client that disconnects in the middle does no harm', async () => {
  const other = connectSession(origin, { ca: tls.cert })
  other.on('error', () => {})
  const stream = other.request({ ':path': '/', ':method': 'POST' })
  stream.on('error', () => {})
  stream.write('half')
  await new Promise((resolve) => setTimeout(resolve, 50))
  other.destroy()
  assert.equal((await ask(session, { ':path': '/' })).status, 200)
})

test('TLS 1.1 is refused', async () => {
  const code = await new Promise((resolve) => {
    const { port, hostname } = new URL(origin)
    const socket = connectTls({
      port: Number(port),
      host: hostname,
      ca: tls.cert,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    socket.on('secureConnect', () => resolve(socket.destroy() && 'connected'))
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
  assert.match(String(code), /PROTOCOL_VERSION|ECONNRESET/)
})

test('SEC-1: plain HTTP on the port of HTTPS gets 400, and the connection is closed', async () => {
  const body = 'x'.repeat(1_000_000)
  const requests = [
    'GET /a HTTP/1.1\r\nHost: a\r\n\r\n',
    `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'PATCH /a HTTP/1.0\r\n\r\n',
    'DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100),
    'CONNECT a:443 HTTP/1.1\r\n\r\n',
  ]
  for (const request of requests) {
    const { answers, closed } = await sendRaw(origin, request)
    assert.deepEqual([answers.map(({ status }) => status), closed], [[400], true], request.slice(0, 40))
    assert.equal(answers[0]?.headers['connection'], 'close')
    assert.equal(JSON.parse(answers[0]?.body ?? '').code, 'MALFORMED_REQUEST')
  }
  assert.equal((await ask(session, { ':path': '/' })).status, 200)
})

test('SEC-1: what is neither TLS nor HTTP gets no answer on the port of HTTPS', async () => {
  for (const bytes of ['\0\0\0\0', '\x16\x03\x01\x00\x05hello', 'hello\n', '\x80\x2e\x01\x00\x02', 'SSH-2.0-x\r\n']) {
    assert.deepEqual((await sendRaw(origin, bytes, { end: true })).answers, [], bytes)
  }
})
