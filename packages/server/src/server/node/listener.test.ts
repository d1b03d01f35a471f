import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from 'resourced-contract/spec/faults'
import { sendRaw } from '../../../../../test/raw-client.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { createNodeServer, toNodeHandler } from './listener.ts'

const limit = 100_000
const problem = (error: Fault): HttpResponse => ({
  status: error.status,
  headers: { 'Content-Type': 'application/problem+json', ...error.details.headers },
  body: JSON.stringify({ status: error.status, code: error.code, detail: error.message }),
})

/** Returns the request that it received, after it has read the body, if there is one. */
async function respond(request: HttpRequest): Promise<HttpResponse> {
  const path = request.target.split('?')[0]
  try {
    // The time that authentication takes.
    if (path === '/late') await sleep(20)
    if (path === '/unread') return { status: 401, headers: {}, body: 'no' }
    const body = Buffer.from(await request.readBody(limit)).toString()
    if (path === '/empty') return { status: 204, headers: {}, body: undefined }
    if (path === '/same') return { status: 304, headers: { ETag: '"1"' }, body: undefined }
    if (path === '/nothing') return { status: 202, headers: {}, body: undefined }
    if (path === '/throws') throw new Error('secret')
    if (path === '/header') return { status: 200, headers: { Location: 'a\r\nb: c' }, body: '' }
    if (path === '/slow') await sleep(100)
    const { method, target, headers, secure, address } = request
    return { status: 200, headers: {}, body: JSON.stringify({ method, target, headers, secure, address, body }) }
  } catch (error) {
    if (error instanceof Fault) return problem(error)
    throw error
  }
}

const refusals: string[] = []
const server = createNodeServer({ respond, problem, onClientError: ({ code }) => refusals.push(code) })
const origin = await server.listen('127.0.0.1', 0)
after(() => server.close(1000))

const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const post = (target: string, head: string, body = '') => `POST ${target} HTTP/1.1\r\nHost: a\r\n${head}\r\n${body}`
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const asked = (text: string) => JSON.parse(text) as HttpRequest & { body: string }

/** The response to one request, on its own connection. */
const refused: [string, string, number, string][] = [
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['no Host header', 'GET / HTTP/1.1\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['two Authorization headers', get('/', 'Authorization: Bearer a\r\nauthorization: Bearer b\r\n'), 400, 'MALFORMED_REQUEST'],
  ['two Content-Types', post('/', 'Content-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 0\r\n'), 400, 'MALFORMED_REQUEST'],
  ['two Content-Lengths', post('/', 'Content-Length: 1\r\nContent-Length: 1\r\n', 'a'), 400, 'MALFORMED_REQUEST'],
  ['a length and chunks', post('/', 'Content-Length: 1\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400, 'MALFORMED_REQUEST'],
  ['an unknown coding', post('/', 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 400, 'MALFORMED_REQUEST'],
  ['a negative length', post('/', 'Content-Length: -1\r\n'), 400, 'MALFORMED_REQUEST'],
  ['a bad chunk', post('/', 'Transfer-Encoding: chunked\r\n', 'zz\r\n'), 400, 'MALFORMED_REQUEST'],
  ['a bad chunk that is read late', post('/late', 'Transfer-Encoding: chunked\r\n', 'zz\r\n'), 400, 'MALFORMED_REQUEST'],
  ['a bad second chunk that is read late', post('/late', 'Transfer-Encoding: chunked\r\n', `${chunk('abc')}zz\r\n`), 400, 'MALFORMED_REQUEST'],
  ['HTTP/2.0 without TLS', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['HTTP/2.0 with a body', 'POST / HTTP/2.0\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 400, 'MALFORMED_REQUEST'],
  ['the preface of HTTP/2 without TLS', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 400, 'MALFORMED_REQUEST'],
  ['HTTP/3.0', 'GET / HTTP/3.0\r\nHost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['chunks on HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a URL of 9 kB', get(`/${'a'.repeat(9000)}`), 414, 'URL_TOO_LONG'],
  ['a URL of 70 kB', get(`/${'a'.repeat(70_000)}`), 414, 'URL_TOO_LONG'],
  ['headers of 20 kB', get('/', `A: ${'a'.repeat(20_000)}\r\n`), 431, 'HEADERS_TOO_LARGE'],
  ['headers of 20 kB in small ones', get('/', 'A: aaaaaaaaaaaaaaa\r\n'.repeat(1000)), 431, 'HEADERS_TOO_LARGE'],
  ['a header of 70 kB', get('/', `A: ${'a'.repeat(70_000)}\r\n`), 431, 'HEADERS_TOO_LARGE'],
  ['garbage', '\x16\x03\x01\x02\x00\x01\xfc\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['words', 'hello there\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['an unknown method', 'FROB / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['a blank in a header name', get('/', 'A b: c\r\n'), 400, 'MALFORMED_REQUEST'],
  ['a folded header', get('/', 'A: b\r\n c\r\n'), 400, 'MALFORMED_REQUEST'],
  ['HTTP/0.9', 'GET /\r\nHost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
  ['* with GET', get('*'), 400, 'MALFORMED_REQUEST'],
  ['another scheme', get('ftp://a/b'), 400, 'MALFORMED_REQUEST'],
  ['a fragment', get('/a#b'), 400, 'MALFORMED_REQUEST'],
  ['raw UTF-8 in the address', get('/\xc3\xa9'), 400, 'MALFORMED_REQUEST'],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ['a declared length over the limit', post('/', `Content-Length: ${limit + 1}\r\n`, 'a'), 413, 'BODY_TOO_LARGE'],
  ['chunks over the limit', post('/', 'Transfer-Encoding: chunked\r\n', chunk('a'.repeat(limit)) + chunk('b')), 413, 'BODY_TOO_LARGE'],
  ['a line break in our own header', get('/header'), 500, 'INTERNAL_ERROR'],
  ['a pipeline that throws', get('/throws'), 500, 'INTERNAL_ERROR'],
] // biome-ignore format: one row a case
for (const [name, bytes, status, code] of refused) {
  test(`${name}: ${status} as a problem`, async () => {
    const { answers, reset } = await sendRaw(origin, bytes, { answers: 1 })
    assert.equal(answers.length, 1)
    assert.equal(answers[0]!.status, status)
    assert.equal(answers[0]!.headers['content-type'], 'application/problem+json')
    assert.equal(JSON.parse(answers[0]!.body).code, code)
    assert.equal(reset, false)
    assert.doesNotMatch(answers[0]!.body, /secret|HPE_/)
    if (code === 'METHOD_NOT_ALLOWED') assert.match(answers[0]!.headers.allow ?? '', /GET/)
  })
}

test('refusals before respond() are reported', () => {
  assert.ok(['MALFORMED_REQUEST', 'URL_TOO_LONG', 'HEADERS_TOO_LARGE'].every((code) => refusals.includes(code)))
})

test('malformed HTTP ends the connection; a request that is only too long does not', async () => {
  const twice = await sendRaw(origin, `GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n${get('/')}`)
  assert.deepEqual([twice.answers.length, twice.closed], [1, true])
  const long = await sendRaw(origin, get(`/${'a'.repeat(9000)}`) + get('/'), { answers: 2 })
  assert.deepEqual(
    long.answers.map(({ status }) => status),
    [414, 200],
  )
})

const targets: [string, string, string][] = [
  ['/a?b=c', '/a?b=c', 'a'],
  ['http://b.test/a?c', '/a?c', 'b.test'],
  ['HTTP://b.test:80', '/', 'b.test:80'],
  ['http://b.test?c', '/?c', 'b.test'],
  ['//double/slash', '//double/slash', 'a'],
  ['/%zz', '/%zz', 'a'],
]
for (const [sent, target, host] of targets) {
  test(`${sent} asks for ${target} at ${host}`, async () => {
    const request = asked((await sendRaw(origin, get(sent), { answers: 1 })).answers[0]!.body)
    assert.deepEqual([request.target, request.headers.host], [target, host])
  })
}

test('OPTIONS * is passed on', async () => {
  const { answers } = await sendRaw(origin, 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', { answers: 1 })
  assert.equal(asked(answers[0]!.body).target, '*')
})

test('lists are joined, names are in lower case, the address is that of the client', async () => {
  const { answers } = await sendRaw(
    origin,
    get('/', 'If-Match: "a"\r\nIF-MATCH: "b,c"\r\nAccept: x/y\r\nAccept: z/w\r\n'),
    { answers: 1 },
  )
  const { headers, secure, address } = asked(answers[0]!.body)
  assert.deepEqual(
    [headers['if-match'], headers.accept, secure, address],
    ['"a", "b,c"', 'x/y, z/w', false, '127.0.0.1'],
  )
})

test('HEAD has the length of GET and no body', async () => {
  const { answers } = await sendRaw(origin, `${get('/a').replace('GET', 'HEAD')}${get('/a')}`, {
    answers: 2,
    methods: ['HEAD', 'GET'],
  })
  // The body names the method, which is one letter longer.
  assert.equal(Number(answers[0]!.headers['content-length']), Number(answers[1]!.headers['content-length']) + 1)
  assert.equal(answers[1]!.body.length, Number(answers[1]!.headers['content-length']))
})

test('204 and 304 have neither body nor length; other responses without a body have the length 0', async () => {
  const { answers } = await sendRaw(origin, get('/empty') + get('/same') + get('/nothing'), { answers: 3 })
  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers['content-length']]),
    [
      [204, undefined],
      [304, undefined],
      [202, '0'],
    ],
  )
})

test('pipelined requests are answered in order', async () => {
  const { answers } = await sendRaw(origin, ['/slow?1', '/2', '/slow?3', '/4'].map((target) => get(target)).join(''), {
    answers: 4,
  })
  assert.deepEqual(
    answers.map(({ body }) => asked(body).target),
    ['/slow?1', '/2', '/slow?3', '/4'],
  )
})

test('a running request is answered before the garbage behind it ends the connection', async () => {
  const { answers, closed } = await sendRaw(origin, `${get('/slow')}\0\0garbage\r\n\r\n`)
  assert.deepEqual([answers.length, answers[0]!.status, closed], [1, 200, true])
})

test('bodies are read completely, by length and in chunks', async () => {
  const text = 'é'.repeat(limit / 4)
  const bytes = Buffer.from(text).toString('latin1')
  for (const message of [
    post('/', `Content-Length: ${bytes.length}\r\n`, bytes),
    post('/', 'Transfer-Encoding: chunked\r\n', `${chunk(bytes)}0\r\n\r\n`),
  ]) {
    const { answers } = await sendRaw(origin, message, { answers: 1 })
    assert.equal(asked(answers[0]!.body).body, text)
  }
})

test('HTTP/1.0 needs no Host, and its connection ends', async () => {
  const { answers, closed } = await sendRaw(origin, 'GET / HTTP/1.0\r\n\r\n')
  assert.deepEqual([answers[0]!.status, closed], [200, true])
})

test('a client that closes its side after the request is still answered', async () => {
  const { answers } = await sendRaw(origin, get('/slow'), { end: true })
  assert.equal(answers[0]!.status, 200)
})

for (const [path, head] of [
  ['/', 'Content-Length: 10\r\n'],
  ['/late', 'Content-Length: 10\r\n'],
  ['/late', 'Transfer-Encoding: chunked\r\n'],
] as const) {
  test(`a truncated body of ${path} with ${head.trim()} is a 400 while the client listens`, async () => {
    const { answers, closed } = await sendRaw(origin, post(path, head, '3\r\nabc'), { end: true })
    assert.deepEqual([answers[0]?.status, closed], [400, true])
  })
}

test('data after a complete request is not an error of that request, even if its body is read late', async () => {
  const { answers } = await sendRaw(origin, post('/late', 'Content-Length: 3\r\n', 'abc\0\0'), { answers: 1 })
  assert.deepEqual([answers[0]?.status, asked(answers[0]!.body).body], [200, 'abc'])
})

test('a truncated head is a 400 while the client listens', async () => {
  const { answers } = await sendRaw(origin, 'GET / HTTP/1.1\r\nHo', { end: true })
  assert.equal(answers[0]!.status, 400)
})

test('clients that disconnect at any point do no harm', async () => {
  const messages = [
    get('/slow'),
    post('/', 'Content-Length: 1000\r\n', 'abc'),
    'GET / HT',
    post('/', 'Transfer-Encoding: chunked\r\n', 'a\r\nabc'),
  ]
  await Promise.all(
    messages.flatMap((message) => [
      sendRaw(origin, message, { afterwards: (socket) => setTimeout(() => socket.destroy(), 20) }),
      sendRaw(origin, message, { afterwards: (socket) => setTimeout(() => socket.resetAndDestroy(), 20) }),
    ]),
  )
  await sleep(150)
  assert.equal((await sendRaw(origin, get('/'), { answers: 1 })).answers[0]!.status, 200)
})

test('a small unread body does not disturb the next request', async () => {
  const { answers } = await sendRaw(origin, post('/unread', 'Content-Length: 1000\r\n', 'x'.repeat(1000)) + get('/'), {
    answers: 2,
  })
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 200],
  )
})

test('the rest of a small body may arrive after the response', async () => {
  const { answers } = await sendRaw(origin, post('/unread', 'Content-Length: 1000\r\n', 'x'), {
    answers: 2,
    afterwards: (socket) => setTimeout(() => socket.write('x'.repeat(999) + get('/')), 50),
  })
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 200],
  )
})

test('a client whose 20 MB are refused reads the complete response without a reset', async () => {
  for (const target of ['/', '/unread']) {
    const { answers, closed, reset } = await sendRaw(
      origin,
      post(target, 'Content-Length: 20000000\r\n', 'x'.repeat(20_000_000)),
    )
    assert.equal(answers[0]?.status, target === '/' ? 413 : 401)
    assert.equal(answers[0]!.headers.connection, 'close')
    assert.deepEqual([closed, reset], [true, false])
  }
})

test('a client that sends without end is disconnected', async () => {
  const started = performance.now()
  const { answers, closed } = await sendRaw(origin, post('/', 'Content-Length: 20000000\r\n', 'x'), { patience: 9000 })
  assert.deepEqual([answers[0]!.status, closed], [413, true])
  assert.ok(performance.now() - started < 8000)
})

test('100 Continue is sent only for a body that will be read', async () => {
  const wanted = await sendRaw(origin, post('/', 'Content-Length: 3\r\nExpect: 100-continue\r\n'), {
    answers: 1,
    afterwards: (socket) => socket.once('data', () => socket.write('abc')),
  })
  assert.deepEqual(
    wanted.answers.map(({ status }) => status),
    [100, 200],
  )
  for (const [target, status] of [
    ['/', 413],
    ['/unread', 401],
  ] as const) {
    const { answers } = await sendRaw(
      origin,
      post(target, `Content-Length: ${limit * 2}\r\nExpect: 100-continue\r\n`),
      { answers: 1 },
    )
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status],
    )
  }
})

test('an unknown expectation and an upgrade are ignored', async () => {
  const { answers } = await sendRaw(
    origin,
    get('/', 'Expect: wonders\r\n') + get('/', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'),
    { answers: 2 },
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
})

test("a trusted proxy reports the client's address and protocol; without trust they are ignored", async () => {
  const trusting = createNodeServer({ respond, problem, trustProxy: true })
  const there = await trusting.listen('127.0.0.1', 0)
  const via = get('/', 'X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.7\r\n')
  const seen = async (at: string, bytes: string) => {
    const { secure, address } = asked((await sendRaw(at, bytes, { answers: 1 })).answers[0]!.body)
    return [secure, address]
  }
  assert.deepEqual(await seen(there, via), [true, '192.0.2.7'])
  assert.deepEqual(await seen(there, get('/')), [false, '127.0.0.1'])
  assert.deepEqual(await seen(origin, via), [false, '127.0.0.1'])
  await trusting.close()
})

test('the handler works in a server of node:http', async () => {
  const other = createServer(toNodeHandler({ respond, refuse: problem }))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const sent = await fetch(`${there}/a`, { method: 'POST', body: 'hello' })
  assert.equal(asked(await sent.text()).body, 'hello')
  assert.equal((await fetch(`${there}/${'a'.repeat(9000)}`)).status, 414)
  other.closeAllConnections()
  await new Promise((resolve) => other.close(resolve))
})

test('an address in use is an error, not a crash', async () => {
  const second = createNodeServer({ respond, problem })
  await assert.rejects(second.listen('127.0.0.1', Number(new URL(origin).port)), { code: 'EADDRINUSE' })
})
