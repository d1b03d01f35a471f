import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpResponse } from '../http/message.ts'
import type { Fault } from '../spec/faults.ts'
import { toFetchHandler } from './fetch.ts'

const problem = (error: Fault): HttpResponse => ({ status: error.status, headers: {}, body: error.code })
const handler = toFetchHandler({
  problem,
  respond: async (request): Promise<HttpResponse> => {
    if (request.target === '/throws') throw new Error('secret')
    if (request.target === '/empty') return { status: 204, headers: {}, body: undefined }
    const body = Buffer.from(await request.readBody(10)).toString()
    const { method, target, headers, secure } = request
    return { status: 200, headers: { ETag: '"1"' }, body: JSON.stringify({ method, target, headers, secure, body }) }
  },
})
const at = (path: string, init?: RequestInit) => handler(new Request(`https://a.test${path}`, init))

test('a request is mapped and its answer has its length', async () => {
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

test('HEAD and 204 have no body', async () => {
  const head = await at('/', { method: 'HEAD' })
  assert.ok(Number(head.headers.get('content-length')) > 10)
  assert.equal(await head.text(), '')
  const empty = await at('/empty')
  assert.deepEqual([empty.status, empty.body, empty.headers.get('content-length')], [204, null, null])
})

test('a body over the limit is refused as soon as it is seen, declared or not', async () => {
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
