/** DOC-1: the check of responses against the OpenAPI document. Each planted mistake is found. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { openApiDocument } from '../packages/server/src/documents/openapi.ts'
import type { HttpResponse } from '../packages/server/src/http/message.ts'
import { serve } from '../packages/server/src/server/serve.ts'
import { studio } from './declarations.ts'
import { newDatabase } from './engine.ts'
import { trialFor } from './harness.ts'
import { judgeBy } from './openapi-truth.ts'
import { sendRaw } from './raw-client.ts'

const judge = judgeBy(openApiDocument(completeCatalog(studio)))

const user = {
  id: '01a1fde6-f89d-7507-9d1c-cdff0f8d7c07',
  name: 'Ann',
  email: 'ann@example.org',
  created_at: '2026-11-21T08:00:00.000Z',
  updated_at: '2026-11-21T08:00:00.000Z',
}
const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'X-Request-Id': 'a-1' }
const path = `/v1/users/${user.id}`
const good: HttpResponse = { status: 200, headers, body: JSON.stringify(user) }

test('DOC-1: the check accepts a response that conforms to the document', () => judge('GET', path, good))

const { name: _, ...nameless } = user
const selection = { ...good, body: JSON.stringify(nameless) }
const problem = (status: number, code: string): HttpResponse => {
  const words = { type: 'x', title: 'x', status, detail: 'x', instance: '/', code, request_id: '1' }
  const type = 'application/problem+json'
  return { status, headers: { ...headers, 'Content-Type': type }, body: JSON.stringify(words) }
}
const part: HttpResponse = { status: 206, headers: { ...headers, 'Content-Range': 'bytes 0-1/9' }, body: '{"' }

test('DOC-1: the check accepts fewer fields where `fields` asks for them', () => {
  judge('GET', `${path}?fields=email`, selection)
  judge('QUERY', '/v1/users', { ...good, body: JSON.stringify({ data: [nameless], pagination: { total_count: 1 } }) })
})

test('DOC-1: the check accepts parts, and problems that the operation lists', () => {
  judge('GET', path, part)
  judge('GET', path, problem(404, 'NOT_FOUND'))
  judge('GET', path, problem(503, 'OVERLOADED'))
  judge('HEAD', path, { status: 404, headers: {}, body: undefined })
  judge('TRACE', path, problem(405, 'METHOD_NOT_ALLOWED'))
})

const untruths: readonly [what: string, method: string, target: string, response: HttpResponse][] = [
  ['a status that the operation does not have', 'GET', path, { ...good, status: 202 }],
  ['a header field that nobody declared', 'GET', path, { ...good, headers: { ...headers, 'X-Secret': '1' } }],
  ['a header field that does not fit', 'GET', path, { ...good, headers: { ...headers, ETag: 'W/"1"' } }],
  ['another media type', 'GET', path, { ...good, headers: { ...headers, 'Content-Type': 'text/plain' } }],
  ['a field too many', 'GET', path, { ...good, body: JSON.stringify({ ...user, password: 'x' }) }],
  ['a field of another type', 'GET', path, { ...good, body: JSON.stringify({ ...user, name: 5 }) }],
  ['a text of another format', 'GET', path, { ...good, body: JSON.stringify({ ...user, email: 'ann' }) }],
  ['no body', 'GET', path, { ...good, body: undefined }],
  ['a body where there is none', 'DELETE', path, { ...good, status: 204 }],
  ['a record in place of a page', 'GET', '/v1/users?limit=1', good],
  ['an answer at an address that is in no path', 'GET', '/v1/nothing', good],
  ['fewer fields that nobody asked for', 'GET', path, selection],
  ['a part of what has no parts', 'DELETE', path, part],
  ['a problem with a code that the operation does not have', 'GET', path, problem(404, 'LOST')],
  ['a problem with a code of another operation', 'GET', path, problem(400, 'INVALID_CURSOR')],
  ['a problem with the status of another code', 'GET', path, problem(403, 'NOT_FOUND')],
  ['a problem of a supported method that says otherwise', 'GET', path, problem(405, 'METHOD_NOT_ALLOWED')],
  ['an error without a body of a status of no code', 'HEAD', path, { status: 409, headers: {}, body: undefined }],
  [
    'a header field of callers where nobody needs a credential',
    'GET',
    '/health/live',
    { status: 200, headers: { ...headers, RateLimit: 'x' }, body: '{"status":"live"}' },
  ],
]
for (const [what, method, target, response] of untruths) {
  test(`DOC-1: the check finds ${what}`, () =>
    assert.throws(() => judge(method, target, response), assert.AssertionError))
}

test('DOC-1: the served document is the one that responses are checked against', async (t) => {
  const studioTrial = await trialFor(t, studio, { memory: true })
  const answer = await studioTrial.send({ path: '/v1/openapi.json', as: 'bob' })
  assert.equal(answer.status, 200)
  const credentials = { jwt: undefined, hasOwn: false }
  assert.deepEqual(answer.json, JSON.parse(JSON.stringify(openApiDocument(completeCatalog(studio), { credentials }))))
  assert.equal(answer.json.openapi.slice(0, 4), '3.1.')
  const again = await studioTrial.send({
    path: '/v1/openapi.json',
    headers: { 'if-none-match': answer.headers.etag ?? '' },
  })
  assert.equal(again.status, 304)
  assert.equal((await studioTrial.send({ path: '/v1/openapi.json', as: null })).status, 401)
  assert.equal(
    (await studioTrial.send({ path: '/v1/openapi.json', method: 'POST', body: {} })).headers.allow,
    'GET, HEAD, OPTIONS',
  )
})

/** Requests that are refused before `respond` reads them, and their statuses. */
const unread: readonly [what: string, bytes: string, status: number][] = [
  ['an address that is too long', `GET /v1/users?q=${'a'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
  ['headers that are too large', `GET /v1/users HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['two hosts', 'GET /v1/users HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
]

for (const [what, bytes, status] of unread) {
  test(`DOC-1: ${what}: the response conforms to the document`, async (t) => {
    const { address } = await newDatabase({ memory: true })
    const catalog = completeCatalog(studio)
    const serving = await serve({ catalog, database: address, host: '127.0.0.1', port: 0, http: true })
    t.after(() => serving.close())
    const { answers } = await sendRaw(new URL(serving.url).origin, bytes, { answers: 1 })
    assert.equal(answers[0]?.status, status)
    const names = { 'content-type': 'Content-Type', 'cache-control': 'Cache-Control', 'x-request-id': 'X-Request-Id' }
    const sent = Object.entries(names).map(([name, written]) => [written, answers[0]?.headers[name]])
    judge('GET', '/v1/users', { status, headers: Object.fromEntries(sent), body: answers[0]?.body })
  })
}
