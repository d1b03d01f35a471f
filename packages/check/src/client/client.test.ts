import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Client, type ClientOptions, requestFollowing, watchForLoss } from './client.ts'
import type { Asked } from './exchange.ts'
import { served } from './served.fixture.ts'

function clientFor(context: TestContext, options: ClientOptions = {}): Client {
  const client = new Client(options)
  context.after(() => client.close())
  return client
}

function get(url: string, more: Partial<Asked> = {}): Asked {
  return { method: 'GET', url, fields: [], ...more }
}

test('an address is sent unchanged, and header fields keep their order and case', async (context) => {
  const origin = await served(context, ({ url }, response) => {
    response.setHeader('X-Seen', url ?? '').setHeader('ETag', '"1"')
    response.end('{"a":1}')
  })
  const { answer } = await clientFor(context).send('one', get(`${origin}/a/../b//%2e?x=[1]`))
  assert.equal(answer?.fields[0]?.join(), 'X-Seen,/a/../b//%2e?x=[1]')
  assert.equal(answer?.body, '{"a":1}')
})

test('after a 429 all requests pause, and the request is repeated', async (context) => {
  let asked = 0
  const pauses: number[] = []
  const origin = await served(context, (_, response) => {
    response.statusCode = ++asked === 1 ? 429 : 200
    response.setHeader('Retry-After', '1').end()
  })
  const client = clientFor(context, { onPause: (seconds) => pauses.push(seconds) })
  const began = performance.now()
  assert.equal((await client.send('one', get(`${origin}/`))).answer?.status, 200)
  assert.ok(performance.now() - began >= 990)
  assert.deepEqual([asked, pauses, client.count], [2, [1], 2])
})

test('bytes are sent again after a pause if one of their requests is answered 429', async (context) => {
  let asked = 0
  const origin = await served(context, (_, response) => {
    response.statusCode = ++asked === 2 ? 429 : 200
    response.setHeader('Retry-After', '1').end()
  })
  const host = new URL(origin).host
  const head = (more = '') => `GET / HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
  const client = clientFor(context)
  const both = await client.bytes('both', origin, head() + head('Connection: close\r\n'), 5)
  assert.deepEqual(
    both.map(({ answer }) => answer?.status),
    [200, 200],
  )
  assert.deepEqual([asked, client.count], [4, 2])
})

test('a noRetry request returns a 429', async (context) => {
  const origin = await served(context, (_, response) => response.writeHead(429).end())
  const client = clientFor(context)
  assert.equal((await client.send('one', get(`${origin}/`), { noRetry: true })).answer?.status, 429)
})

test('concurrency is limited, except for requests that must arrive at once', async (context) => {
  let awaited = 2
  let most = 0
  const open: ServerResponse[] = []
  const answerAll = () => {
    for (const response of open.splice(0)) response.end()
  }
  const origin = await served(context, (_, response) => {
    most = Math.max(most, open.push(response))
    // More than are awaited would have come by then.
    if (open.length === awaited) setTimeout(answerAll, 30)
  })
  const client = clientFor(context, { concurrency: 2 })
  await Promise.all(Array.from({ length: 8 }, () => client.send('one', get(`${origin}/`))))
  assert.equal(most, 2)
  awaited = 8
  await Promise.all(Array.from({ length: 8 }, () => client.send('one', get(`${origin}/`), { atOnce: true })))
  assert.equal(most, 8)
})

test('a missing response is a failure with a reason, not an exception', async (context) => {
  const origin = await served(context, ({ url }, response) => {
    if (url === '/cut') response.destroy()
  })
  const client = clientFor(context, { patience: 200 })
  assert.match((await client.send('one', get(`${origin}/`))).failure ?? '', /no answer within 0.2 seconds/)
  assert.match((await client.send('one', get(`${origin}/cut`))).failure ?? '', /hang up|ECONNRESET/)
  assert.match((await client.send('one', get('http://127.0.0.1:1/'))).failure ?? '', /ECONNREFUSED/)
  const odd = await client.send('one', get(`${origin}/`, { fields: [['X-Odd', 'a\u0000b']] }))
  assert.match(odd.failure ?? '', /Invalid character/)
})

test('a stop ends requests under way, and cleanup can still send requests', async (context) => {
  const origin = await served(context, ({ method }, response) => {
    if (method === 'DELETE') response.writeHead(204).end()
  })
  const stop = new AbortController()
  const client = clientFor(context, { signal: stop.signal })
  const asked = client.send('one', get(`${origin}/`))
  setTimeout(() => stop.abort(), 50)
  assert.equal((await asked).failure, 'stopped')
  assert.equal((await client.send('one', get(`${origin}/`, { method: 'DELETE' }))).answer?.status, 204)
})

test('bytes are sent unchanged, and every response to them is read', async (context) => {
  const origin = await served(context, ({ url, method }, response) => {
    if (url === '/chunked') response.write('ab')
    response.end(method === 'HEAD' ? '' : 'cd')
  })
  const { host } = new URL(origin)
  const client = clientFor(context)
  const head = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
  const two = await client.bytes('raw', origin, head('/plain') + head('/chunked', 'Connection: close\r\n'), 5)
  assert.deepEqual(
    two.map(({ answer }) => answer?.body),
    ['cd', 'abcd'],
  )
  const [star] = await client.bytes(
    'raw',
    origin,
    `OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    5,
  )
  assert.deepEqual([star?.asked.method, star?.answer?.status], ['OPTIONS', 200])
  const [broken] = await client.bytes('raw', origin, 'NOT HTTP\r\n\r\n', 5)
  assert.equal(broken?.answer?.status, 400)
  const [none] = await client.bytes('raw', origin, `GET / HTTP/1.1\r\nHost: ${host}\r\n`, 0.2)
  assert.match(none?.failure ?? '', /no answer within 0.2/)
})

test('an idle connection is not reused after a while, and one with a pending request stays open', async (context) => {
  const connections = new Set<object>()
  const origin = await served(context, ({ url, socket }, response) => {
    connections.add(socket)
    setTimeout(() => response.end(), url === '/slow' ? 1_200 : 0)
  })
  const client = clientFor(context)
  for (const path of ['/', '/', '/slow']) {
    assert.equal((await client.send('one', get(origin + path))).answer?.status, 200)
  }
  assert.equal(connections.size, 1)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.equal((await client.send('one', get(`${origin}/`))).answer?.status, 200)
  assert.equal(connections.size, 2)
})

test('an idempotent request is repeated if the server closes a reused connection', async (context) => {
  let asked = 0
  const origin = await served(context, ({ socket }, response) => {
    // Said of the second request: it is closed as if it had never arrived.
    if (++asked === 2) socket.destroy()
    else response.end()
  })
  const client = clientFor(context)
  await client.send('one', get(`${origin}/`))
  assert.equal((await client.send('one', get(`${origin}/`))).answer?.status, 200)
  assert.equal(asked, 3)
})

test('a creating request is sent once, and never on a connection after an error', async (context) => {
  const connections = new Set<object>()
  let status = 400
  const origin = await served(context, ({ socket }, response) => {
    connections.add(socket)
    response.writeHead(status).end()
  })
  const client = clientFor(context)
  const post = () => client.send('one', get(`${origin}/`, { method: 'POST', body: '{}' }))
  await post()
  status = 201
  await post()
  await post()
  assert.equal(connections.size, 2)
})

test('a body after HEAD does not spoil the next request', async (context) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
  }).listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const client = clientFor(context)
  for (const method of ['GET', 'HEAD', 'HEAD', 'GET']) {
    const { answer, failure } = await client.send('one', get(url, { method }))
    assert.deepEqual([answer?.status, failure], [200, undefined], method)
  }
})

test('every request line in bytes has an address in the form that the server expects', async (context) => {
  const seen: (string | undefined)[] = []
  const origin = await served(context, ({ url }, response) => {
    seen.push(url)
    response.end()
  })
  const client = clientFor(context)
  client.form = (url) => `${url}/`
  const requests = ['\r\n', 'Connection: close\r\n'].map((more) => `GET /a HTTP/1.1\r\nHost: x\r\n${more}\r\n`)
  await client.bytes('both', `${origin}/a`, requests.join(''), 5)
  assert.deepEqual(seen, ['/a/', '/a/'])
})

test('a server is lost after three responses that never came, and the first request is named', async (context) => {
  const origin = await served(context, () => {})
  const client = clientFor(context, { patience: 40 })
  const reasons: string[] = []
  watchForLoss(client, (reason) => reasons.push(reason))
  for (const path of ['/a', '/b', '/c', '/d']) await client.send('list', get(origin + path))
  assert.deepEqual(reasons, ['no answer within 0.04 seconds. The first request without an answer was GET /a ("list")'])
})

test('each response that never comes halves the wait for the next one', async (context) => {
  const origin = await served(context, () => {})
  const client = clientFor(context, { patience: 40 })
  watchForLoss(client, () => {})
  await client.send('list', get(origin))
  assert.equal(client.patience, 40)
  client.patience = 3_010
  await client.send('list', get(origin))
  assert.equal(client.patience, 3_000)
})

test('fields that the user wants are in every request that does not set them', async (context) => {
  const seen: (string | undefined)[] = []
  const origin = await served(context, ({ headers }, response) => {
    seen.push(headers['accept-language'])
    response.end('{}')
  })
  const client = clientFor(context)
  client.fields = [['Accept-Language', 'nl']]
  await client.send('one', get(origin))
  await client.send('one', get(origin, { fields: [['accept-language', 'de']] }))
  assert.deepEqual(seen, ['nl', 'de'])
})

test('a redirect with 303 is followed on the same server', async (context) => {
  const origin = await served(context, ({ url }, response) => {
    if (url === '/docs') response.writeHead(303, { Location: '/docs/' }).end()
    else response.end('here')
  })
  const { answer } = await requestFollowing({ client: clientFor(context), credential: [] }, `${origin}/docs`)
  assert.deepEqual([answer?.status, answer?.body], [200, 'here'])
})
