/** ERR: the form of errors. (`err-bodies.test.ts` and `err-failures.test.ts` have bodies and failures.) */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { FaultEntry } from 'resourced-contract/spec/failure-entries'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type FaultCode, fault } from 'resourced-contract/spec/faults'
import { problem } from '../../packages/server/src/reply/problem.ts'
import { studio } from '../declarations.ts'
import { type Sent, scenarios, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

/** One request for every status that the interface refuses with. */
const refusals: readonly [string, Sent, number, string][] = [
  ['no credential', { path: '/v1/projects', as: null }, 401, 'UNAUTHENTICATED'],
  ['a secret in the query', { path: '/v1/projects?token=abc' }, 400, 'CREDENTIAL_IN_QUERY'],
  ['no such address', { path: '/v1/nothing' }, 404, 'NOT_FOUND'],
  ['no such record', { path: `/v1/projects/${nowhere}` }, 404, 'NOT_FOUND'],
  ['no such method', { method: 'DELETE', path: '/v1/projects' }, 405, 'METHOD_NOT_ALLOWED'],
  ['no such representation', { path: '/v1/projects', headers: { accept: 'text/csv' } }, 406, 'NOT_ACCEPTABLE'],
  ['a malformed address', { path: '/v1/projects/%zz' }, 400, 'MALFORMED_URL'],
  ['a long address', { path: `/v1/projects?q=${'x'.repeat(8_000)}` }, 414, 'URL_TOO_LONG'],
  ['a large body', { path: '/v1/projects', body: 'x'.repeat(1_048_577) }, 413, 'BODY_TOO_LARGE'],
  [
    'another media type',
    { path: '/v1/projects', body: 'a=1', headers: { 'content-type': 'text/plain' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['half a body', { path: '/v1/projects', body: '{' }, 400, 'MALFORMED_JSON'],
  ['an empty condition', { path: '/v1/projects', headers: { 'if-match': '' } }, 400, 'MALFORMED_CONDITION'],
  ['an unknown parameter', { path: '/v1/projects?colour=red' }, 400, 'INVALID_QUERY'],
  ['a forged cursor', { path: '/v1/projects?cursor=forged' }, 400, 'INVALID_CURSOR'],
  ['no permission', { path: '/v1/users', body: {}, as: 'ann' }, 403, 'FORBIDDEN'],
  ['an invalid record', { path: '/v1/projects', body: {} }, 400, 'VALIDATION_FAILED'],
]

const problemKeys = ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'errors', 'error_count']

for (const [name, sent, status, code] of refusals) {
  it(`ERR-2: ${name} is a problem document`, async (context) => {
    const { send, seen } = await trialFor(context, studio)
    const answer = await send(sent)
    assert.equal(answer.status, status, answer.text)
    assert.equal(answer.headers['content-type'], 'application/problem+json')
    const { json } = answer
    assert.deepEqual(
      Object.keys(json).filter((key) => !problemKeys.includes(key)),
      [],
    )
    assert.equal(json.type, `urn:resourced:problem:${code}`)
    assert.equal(json.code, code)
    assert.equal(json.status, status)
    assert.equal(json.title, faults[code as keyof typeof faults].title)
    assert.equal(json.instance, sent.path.split('?')[0])
    assert.ok(typeof json.detail === 'string' && json.detail.length > 10, json.detail)
    assert.equal(json.request_id, answer.headers['x-request-id'])
    const logged = seen.find((each) => each.kind === 'request')
    assert.deepEqual([logged?.requestId, logged?.status, logged?.code], [json.request_id, status, code])
  })
}

it('ERR-2: every request has its own id', async (context) => {
  const { send } = await trialFor(context, studio)
  const answers = await Promise.all(Array.from({ length: 50 }, () => send({ path: '/v1/projects' })))
  assert.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 50)
})

it('ERR-1: an error is never a 200, a success never a problem', async (context) => {
  const { send, make } = await trialFor(context, studio)
  for (const [, sent] of refusals) assert.ok((await send(sent)).status >= 400)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  for (const sent of [
    { path },
    { path: '/v1/projects' },
    { method: 'PATCH', path, body: {} },
    { path: '/v1/openapi.json' },
  ]) {
    const answer = await send(sent)
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/json'])
  }
})

it('ERR-5: every status is in the specification or in RFC 9110', () => {
  const known = [
    400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 414, 415, 416, 422, 428, 429, 431, 500, 502, 503,
  ]
  for (const [code, { status }] of Object.entries(faults)) assert.ok(known.includes(status), code)
  assert.equal(faults.VALIDATION_FAILED.status, 400)
})

it('ERR-6: every 502 says when to try again', () => {
  for (const [code, entry] of Object.entries<FaultEntry>(faults)) {
    if (entry.status === 502)
      assert.match(String(problem(fault(code as FaultCode)).headers['Retry-After']), /^\d+$/, code)
  }
})

scenarios(studio, [
  {
    name: 'everything wrong in a body is in one answer, each at its place',
    rule: 'ERR-3',
    send: async ({ make }) => {
      const project = await make('projects', { name: 'One' })
      const body = {
        ...{ title: '', status: 'lost', due_on: '2026-02-30', estimate: -1, labels: ['a', 5, null], secret_note: 7 },
        ...{ assignee_id: nowhere, colour: 1, id: 'x' },
      }
      return { path: `/v1/projects/${project.id}/tasks`, body }
    },
    status: 400,
    code: 'VALIDATION_FAILED',
    errors: [
      ...[
        'UNKNOWN_FIELD /colour',
        'READ_ONLY /id',
        'TOO_SHORT /title',
        'NOT_IN_ENUM /status',
        'INVALID_FORMAT /due_on',
      ],
      ...['TOO_SMALL /estimate', 'INVALID_TYPE /labels/1', 'INVALID_TYPE /labels/2', 'INVALID_TYPE /secret_note'],
      'INVALID_REFERENCE /assignee_id',
    ],
    check: ({ json }) => {
      for (const { message } of json.errors)
        assert.match(message, /^[a-z_]+(\/\d+)? .+\.$|^.+ is set by the server; leave it out\.$/)
    },
  },
  {
    name: 'everything wrong in a query is in one answer, each with its parameter',
    rule: 'ERR-3',
    send: { path: '/v1/tasks?colour=red&status=lost&sort=secret_note&limit=0&due_on[gt]=never' },
    status: 400,
    code: 'INVALID_QUERY',
    check: ({ json }) => {
      const parameters = json.errors.map((each: { parameter: string }) => each.parameter).sort()
      assert.deepEqual(parameters, ['colour', 'due_on[gt]', 'limit', 'sort', 'status'])
    },
  },
  {
    name: 'a condition that fails names its header',
    rule: 'ERR-3',
    send: async ({ make }) => {
      const { id } = await make('projects', { name: 'One' })
      return { method: 'DELETE', path: `/v1/projects/${id}`, headers: { 'if-match': '"other"' } }
    },
    status: 412,
    code: 'PRECONDITION_FAILED',
    errors: ['PRECONDITION_FAILED If-Match'],
  },
  {
    name: 'one thing wrong is said in detail too',
    rule: 'ERR-3',
    send: { path: '/v1/projects', body: { name: 5 } },
    status: 400,
    errors: ['INVALID_TYPE /name'],
    check: ({ json }) => assert.equal(json.detail, 'name must be a string.'),
  },
  {
    name: 'a unique clash says which field',
    rule: 'ERR-3',
    send: async ({ make }) => {
      await make('projects', { name: 'One' })
      return { path: '/v1/projects', body: { name: 'One' } }
    },
    status: 409,
    code: 'DUPLICATE_VALUE',
    errors: ['DUPLICATE_VALUE /name'],
  },
])
