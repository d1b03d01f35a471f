import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { addressPolicy } from 'resourced-contract/model/address-policy'
import { createSender, refusedAddress, type SenderOptions } from './send.ts'

const servers: Server[] = []
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** Starts a receiver on an address of its own, and returns its port. */
async function receiver(listener: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((done) => void server.listen(0, host, done))
  return (server.address() as AddressInfo).port
}

const local = { policy: addressPolicy(['127.0.0.1/32']) }

async function sendTo(url: string, options: Partial<SenderOptions> = {}) {
  const sender = createSender({ ...local, ...options })
  try {
    return await sender.send({ url, headers: { 'Content-Type': 'text/plain' }, body: 'Grüße' })
  } finally {
    sender.close()
  }
}

const answered = (status: number, body = '') => ({ kind: 'answered', status, body, retryAfter: undefined })
const refused = { kind: 'failed', error: refusedAddress }

test('a message is sent to a network that the operator allows, with its body and header fields (EVT-10)', async () => {
  const got: unknown[] = []
  const port = await receiver((request, response) => {
    request.on('data', (chunk) => got.push(String(chunk), request.headers['content-length'], request.headers.host))
    request.on('end', () => response.writeHead(204).end())
  })
  assert.deepEqual(await sendTo(`http://127.0.0.1:${port}/`), answered(204))
  assert.deepEqual(got, ['Grüße', '7', `127.0.0.1:${port}`])
})

test('without the permission of the operator no connection is made (EVT-10)', async () => {
  let connections = 0
  const port = await receiver((_, response) => response.end())
  servers.at(-1)?.on('connection', () => connections++)
  const closed = { policy: addressPolicy() }
  const urls = ['http://127.0.0.1', 'https://127.0.0.1', 'https://127.1', 'https://0x7f000001', 'https://2130706433']
  for (const url of [...urls, 'https://localhost', 'https://[::ffff:127.0.0.1]']) {
    assert.deepEqual(await sendTo(`${url}:${port}/`, closed), refused, url)
  }
  assert.equal(connections, 0)
})

test('a name that leads to a refused address is refused, and so is one that leads nowhere (EVT-10)', async () => {
  const port = await receiver((_, response) => response.end())
  const at = (addresses: string[]) =>
    sendTo(`https://receiver.example:${port}/`, { policy: addressPolicy(), resolve: async () => addresses })
  assert.deepEqual(await at(['127.0.0.1']), refused)
  // One permitted address does not make the others permitted.
  assert.deepEqual(await at(['1.1.1.1', '127.0.0.1']), refused)
  assert.deepEqual(await at([]), refused)
  const failing = { resolve: () => Promise.reject(new Error('ENOTFOUND')) }
  assert.deepEqual(await sendTo('https://nowhere.example/', failing), refused)
})

test('the connection is made to the checked address, whatever the name leads to later (EVT-10)', async () => {
  const port = await receiver((_, response) => response.end('here'))
  const answers = [['127.0.0.1'], ['10.0.0.1']]
  // localhost could lead to ::1, where nobody listens.
  const options = { resolve: async () => answers.shift() ?? [] }
  assert.deepEqual(await sendTo(`http://rebinding.example:${port}/`, options), answered(200, 'here'))
  assert.equal(answers.length, 1)
})

test('307 and 308 are followed with the same checks (EVT-10)', async () => {
  const seen: string[] = []
  const elsewhere = await receiver((_, response) => response.end('elsewhere'), '127.0.0.2')
  const port = await receiver((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const to: Record<string, [number, string]> = {
      '/twice': [307, '/once'],
      '/once': [308, `http://127.0.0.1:${port}/end`],
      '/away': [307, `http://127.0.0.2:${elsewhere}/`],
      '/file': [307, 'file:///etc/passwd'],
      '/loop': [308, '/loop'],
      '/user': [307, `http://ann:secret@127.0.0.1:${port}/end`],
      '/found': [302, '/end'],
    }
    const [status, location] = to[String(request.url)] ?? [200, '']
    response.writeHead(status, { Location: location }).end('end')
  })
  const at = (path: string) => sendTo(`http://127.0.0.1:${port}${path}`)
  assert.deepEqual(await at('/twice'), answered(200, 'end'))
  assert.deepEqual(seen.splice(0), ['POST /twice', 'POST /once', 'POST /end'])
  assert.deepEqual(await at('/away'), refused)
  assert.deepEqual(await at('/file'), refused)
  assert.deepEqual(await at('/user'), refused)
  assert.deepEqual(await at('/found'), answered(302, 'end'))
  seen.length = 0
  assert.deepEqual(await at('/loop'), { kind: 'failed', error: 'The receiver redirected more than 3 times.' })
  assert.equal(seen.length, 4)
})

test('an answer that takes too long ends, also in the middle of its body', async () => {
  const port = await receiver((request, response) => {
    if (request.url === '/body') response.writeHead(200).write('begun')
  })
  for (const path of ['/', '/body']) {
    const sent = await sendTo(`http://127.0.0.1:${port}${path}`, { timeout: 100 })
    assert.deepEqual(sent, { kind: 'failed', error: 'There was no answer within 0.1 seconds.' })
  }
})

test('a slow name server delays one message only until the timeout', async () => {
  const sent = await sendTo('https://slow.example/', { timeout: 50, resolve: () => new Promise(() => {}) })
  assert.deepEqual(sent, { kind: 'failed', error: 'There was no answer within 0.05 seconds.' })
})

test('of a long body the beginning is kept, as text that a database can store', async () => {
  const port = await receiver((_, response) => {
    response.on('error', () => {})
    response.write(Buffer.from([0, 0xff]))
    for (let count = 0; count < 100; count++) response.write('x'.repeat(100_000))
    response.end()
  })
  const sent = await sendTo(`http://127.0.0.1:${port}/`)
  assert.deepEqual(sent, answered(200, `\ufffd\ufffd${'x'.repeat(498)}`))
})

test('a connection that fails says so with its code', async () => {
  const port = await receiver((request) => request.socket.destroy())
  const at = (url: string) => sendTo(url)
  assert.deepEqual(await at(`http://127.0.0.1:${port}/`), {
    kind: 'failed',
    error: 'The connection failed (ECONNRESET).',
  })
  assert.match(JSON.stringify(await at(`https://127.0.0.1:${port}/`)), /The connection failed/)
})

test('ports of other services are refused outside of allowed networks (EVT-10)', async () => {
  const options = { policy: addressPolicy(), resolve: async () => ['1.1.1.1'] }
  for (const port of [22, 25, 80]) assert.deepEqual(await sendTo(`https://public.example:${port}/`, options), refused)
  assert.deepEqual(await sendTo('http://public.example/', options), refused)
})
