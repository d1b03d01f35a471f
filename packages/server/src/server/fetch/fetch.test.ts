import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import type { Fault } from 'resourced-contract/spec/faults'
import { openFiles } from '../../../../../test/open-files.ts'
import type { HttpRequest, HttpResponse } from '../../http/message.ts'
import { toFetchHandler } from './fetch.ts'

const refuse = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })
const options = { address: () => '192.0.2.1' }
const app = {
  refuse,
  respond: async (request: HttpRequest): Promise<HttpResponse> => {
    if (request.target === '/throws') throw new Error('secret')
    if (request.target === '/empty') return { status: 204, headers: {}, body: undefined }
    const body = Buffer.from(await request.readBody(10)).toString()
    const { method, target, headers, secure } = request
    return { status: 200, headers: { ETag: '"1"' }, body: JSON.stringify({ method, target, headers, secure, body }) }
  },
}
const handler = toFetchHandler(app, options)
const at = (path: string, init?: RequestInit) => handler(new Request(`https://a.test${path}`, init))

test('a request is mapped, and the response has its length', async () => {
  const response = await at('/v1/tasks?a=%20b', { method: 'POST', body: 'hello', headers: { 'If-Match': '"a"' } })
  const text = await response.text()
  const { method, target, headers, secure, body } = JSON.parse(text)
  assert.deepEqual(
    [method, target, secure, body, headers['if-match'], headers.host],
    ['POST', '/v1/tasks?a=%20b', true, 'hello', '"a"', 'a.test'],
  )
  assert.equal(response.headers.get('content-length'), String(text.length))
  assert.equal(response.headers.get('etag'), '"1"')
})

test('responses are not encoded in Next.js, which would remove their Content-Encoding', async (context) => {
  const asked = async (handle: typeof handler) => {
    const request = new Request('https://a.test/', { headers: { 'Accept-Encoding': 'br', Accept: 'a/b' } })
    return JSON.parse(await (await handle(request)).text()).headers
  }
  assert.equal((await asked(handler))['accept-encoding'], 'br')
  process.env.NEXT_RUNTIME = 'nodejs'
  context.after(() => {
    delete process.env.NEXT_RUNTIME
  })
  const { 'accept-encoding': encoding, accept } = await asked(toFetchHandler(app, options))
  assert.deepEqual([encoding, accept], [undefined, 'a/b'])
})

test('HEAD and 204 have no body', async () => {
  const head = await at('/', { method: 'HEAD' })
  assert.ok(Number(head.headers.get('content-length')) > 10)
  assert.equal(await head.text(), '')
  const empty = await at('/empty')
  assert.deepEqual([empty.status, empty.body, empty.headers.get('content-length')], [204, null, null])
})

test('a body over the limit is refused at once, with or without Content-Length', async () => {
  let pulled = 0
  const endless = new ReadableStream({
    pull: (controller) => {
      pulled++
      controller.enqueue(new Uint8Array(6))
    },
  })
  const streamed = await at('/', { method: 'POST', body: endless, duplex: 'half' } as RequestInit)
  assert.deepEqual([streamed.status, pulled < 10], [413, true])
  assert.equal((await at('/', { method: 'POST', body: 'x', headers: { 'Content-Length': '11' } })).status, 413)
})

const refused: [string, RequestInit, number][] = [
  [`/${'a'.repeat(9000)}`, {}, 414],
  ['/', { headers: { a: 'a'.repeat(20_000) } }, 431],
  ['/', { method: 'POST', body: 'x', headers: [['Content-Length', '1'], ['Content-Length', '1']] }, 400],
  ['/', { headers: [['Host', 'a'], ['Host', 'b']] }, 400],
  ['/throws', {}, 500],
] // biome-ignore format: one row a case
for (const [path, init, status] of refused) {
  test(`${path.slice(0, 10)} ${JSON.stringify(init).slice(0, 60)} gets ${status}`, async () => {
    const response = await at(path, init)
    assert.equal(response.status, status)
    assert.doesNotMatch(await response.text(), /secret/)
  })
}

const folder = await mkdtemp(join(tmpdir(), 'resourced-fetch-'))
after(() => rm(folder, { recursive: true }))
const content = randomBytes(1_000_001)
await writeFile(join(folder, 'some'), content)
const filed = (name: string, start: number, length: number) => {
  const body = { kind: 'file', path: join(folder, name), start, length } as const
  return toFetchHandler({ refuse, respond: async () => ({ status: 200, headers: {}, body }) }, options)
}
const request = (method = 'GET') => new Request('https://a.test/', { method })

test('a file is streamed, completely or as a byte range', async () => {
  for (const [start, length] of [
    [0, content.length],
    [65_535, 65_537],
    [0, 0],
  ] as const) {
    const response = await filed('some', start, length)(request())
    assert.equal(response.headers.get('content-length'), String(length))
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(content.subarray(start, start + length)))
  }
  assert.equal(openFiles(folder), 0)
})

test('a file whose response is cancelled or never read is closed', async () => {
  const unread = await filed('some', 0, content.length)(request())
  const reader = (await filed('some', 0, content.length)(request())).body!.getReader()
  assert.ok((await reader.read()).value!.length < content.length)
  assert.equal(openFiles(folder), 1)
  await reader.cancel()
  assert.equal(openFiles(folder), 0)
  await unread.body!.cancel()
})

test('HEAD does not open the file; GET is 404 if there is none', async () => {
  const head = await filed('none', 0, 6e9)(request('HEAD'))
  assert.deepEqual([head.status, head.body, head.headers.get('content-length')], [200, null, '6000000000'])
  const gone = await filed('none', 0, 6e9)(request())
  assert.deepEqual([gone.status, await gone.text()], [404, 'NOT_FOUND'])
})

test('a file that is too short fails the response', async () => {
  const response = await filed('some', 0, content.length + 1)(request())
  await assert.rejects(response.arrayBuffer())
  assert.equal(openFiles(folder), 0)
})

const mounted = { ...app, basePath: '/api' }
const fallback = (request: Request, more?: string) => new Response(`other ${new URL(request.url).pathname} ${more}`)

test('requests outside the base path go to the fallback, if there is one', async () => {
  const handle = toFetchHandler<[string]>(mounted, { address: () => '', fallback })
  const ask = async (path: string) => (await handle(new Request(`https://a.test${path}`), 'more')).text()
  assert.match(await ask('/api/v1/tasks'), /"target":"\/api\/v1\/tasks"/)
  for (const path of ['/', '/apiary', '/API/v1', '/%61pi/v1', '//api/v1', '/a?/api'])
    assert.equal(await ask(path), `other ${path.split('?')[0]} more`)
  // The fetch API resolves dots before anything sees them.
  assert.match(await ask('/x/../api/v1'), /"target":"\/api\/v1"/)
  assert.equal(await ask('/api/../x'), 'other /x more')
  const alone = toFetchHandler(mounted, options)
  assert.match(await (await alone(new Request('https://a.test/other'))).text(), /"target":"\/other"/)
})

test('a fallback needs a base path', () => {
  assert.throws(() => toFetchHandler(app, { ...options, fallback }), ConfigurationError)
})

test('a body that was read before fails at once, and a clone of it can be read', async () => {
  const causes: string[] = []
  const noting = {
    ...app,
    refuse(error: Fault) {
      causes.push(error.message)
      return refuse(error)
    },
  }
  const sent = new Request('https://a.test/', { method: 'POST', body: 'x' })
  const copy = sent.clone()
  await sent.text()
  const handle = toFetchHandler(noting, options)
  assert.equal((await handle(sent)).status, 500)
  assert.match(causes.join(), /was read before toFetchHandler\(\) ran/)
  assert.equal((await handle(copy)).status, 200)
})

test('an address option that throws warns once, and the client counts as unknown', async (context) => {
  const warned: string[] = []
  context.mock.method(process, 'emitWarning', (message: string) => void warned.push(message))
  const seen: string[] = []
  const noting = {
    ...app,
    respond: async (request: HttpRequest): Promise<HttpResponse> => {
      seen.push(request.address)
      return { status: 204, headers: {}, body: undefined }
    },
  }
  const address = () => {
    throw new Error('no socket')
  }
  const handle = toFetchHandler(noting, { address })
  for (let time = 0; time < 2; time++) assert.equal((await handle(new Request('https://a.test/'))).status, 204)
  assert.deepEqual([seen, warned], [['', ''], ['The address option of toFetchHandler threw: Error: no socket']])
})
