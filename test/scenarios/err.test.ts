/** ERR: errors; and every way in which a body can be wrong. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { HttpRequest } from '../../src/http/message.ts'
import { completeCatalog } from '../../src/model/catalog.ts'
import type { Plan } from '../../src/plan/plan.ts'
import { type Application, assemble } from '../../src/server/app.ts'
import { logTo } from '../../src/server/log.ts'
import type { Observation } from '../../src/server/observe.ts'
import { faults } from '../../src/spec/faults.ts'
import { type Storage, StorageFault } from '../../src/storage/storage.ts'
import { counters, samples, studio } from '../declarations.ts'
import { places, type Received, type Scenario, type Sent, scenarios, trialFor } from '../harness.ts'

const nowhere = '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72'

/** One request for every status that the interface refuses with. */
const refusals: readonly [string, Sent, number, string][] = [
  ['no credential', { path: '/v1/projects', as: null }, 401, 'UNAUTHENTICATED'],
  ['a secret in the query', { path: '/v1/projects?token=abc' }, 400, 'CREDENTIAL_IN_QUERY'],
  ['no such address', { path: '/v1/nothing' }, 404, 'NOT_FOUND'],
  ['no such record', { path: `/v1/projects/${nowhere}` }, 404, 'NOT_FOUND'],
  ['no such method', { method: 'PUT', path: '/v1/projects', body: {} }, 405, 'METHOD_NOT_ALLOWED'],
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

const problemKeys = ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id', 'errors']

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

it('ERR-2: every request has an id of its own', async (context) => {
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

it('ERR-5: the table has no status but those of the specification and RFC 9110', () => {
  const known = [400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 416, 422, 428, 429, 431, 500, 502, 503]
  for (const [code, { status }] of Object.entries(faults)) assert.ok(known.includes(status), code)
  assert.equal(faults.VALIDATION_FAILED.status, 400)
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

/** The hazards of a body, sent to a record that exists: each is refused, and nothing has changed. */
interface Hazard {
  readonly name: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  readonly code?: string
  readonly errors?: readonly string[]
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
const invalid = (...errors: string[]) => ({ code: 'VALIDATION_FAILED', errors })

const hazards: readonly Hazard[] = [
  { name: 'a key twice', body: '{"title":"a","title":"b"}', errors: ['DUPLICATE_KEY /title'] },
  { name: 'a key twice, the same value', body: '{"title":"a","title":"a"}', errors: ['DUPLICATE_KEY /title'] },
  { name: 'a key twice, escaped', body: '{"title":"a","t\\u0069tle":"b"}', errors: ['DUPLICATE_KEY /title'] },
  {
    name: 'a key twice, nested',
    body: '{"title":"a","payload":{"x":[{"y":1,"y":2}]}}',
    errors: ['DUPLICATE_KEY /payload/x/0/y'],
  },
  {
    name: '__proto__ at the top',
    body: '{"title":"a","__proto__":{"stage":"used"}}',
    errors: ['UNSAFE_KEY /__proto__'],
  },
  { name: '__proto__ alone', body: '{"__proto__":{"title":"a"}}', errors: ['UNSAFE_KEY /__proto__'] },
  {
    name: '__proto__ nested',
    body: '{"title":"a","payload":{"a":{"__proto__":null}}}',
    errors: ['UNSAFE_KEY /payload/a/__proto__'],
  },
  {
    name: '__proto__ escaped',
    body: '{"title":"a","list":[{"__pr\\u006fto__":1}]}',
    errors: ['UNSAFE_KEY /list/0/__proto__'],
  },
  {
    name: 'constructor',
    body: '{"title":"a","constructor":{"prototype":{"stage":"used"}}}',
    ...invalid('UNKNOWN_FIELD /constructor'),
  },
  {
    name: 'keys that every object inherits',
    body: '{"title":"a","toString":1,"valueOf":2,"hasOwnProperty":3}',
    ...invalid('UNKNOWN_FIELD /toString', 'UNKNOWN_FIELD /valueOf', 'UNKNOWN_FIELD /hasOwnProperty'),
  },
  {
    name: 'objects that cannot become text',
    body: '{"title":{"toString":1,"valueOf":2},"moment":{"toString":1},"flag":{"valueOf":1}}',
    ...invalid('INVALID_TYPE /title', 'INVALID_TYPE /flag', 'INVALID_TYPE /moment'),
  },
  { name: 'half a surrogate pair', body: '{"title":"\\ud83d"}', errors: ['INVALID_TEXT /title'] },
  {
    name: 'a surrogate pair the wrong way round',
    body: '{"title":"a","list":["\\ude00\\ud83d"]}',
    errors: ['INVALID_TEXT /list/0'],
  },
  {
    name: 'half a surrogate pair in a key',
    body: '{"title":"a","payload":{"\\udfff":1}}',
    errors: ['INVALID_TEXT /payload'],
  },
  { name: 'half a surrogate pair as bytes', body: bytes('{"title":"', [0xed, 0xa0, 0xbd], '"}') },
  { name: 'U+0000', body: '{"title":"a\\u0000b"}', errors: ['INVALID_TEXT /title'] },
  { name: 'U+0000 in a key', body: '{"title":"a","payload":{"x\\u0000":1}}', errors: ['INVALID_TEXT /payload'] },
  { name: 'U+0000 as a byte', body: bytes('{"title":"a', [0], '"}') },
  {
    name: 'an integer beyond 2^53',
    body: '{"title":"a","count":9007199254740993}',
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer below -2^53',
    body: '{"title":"a","count":-9007199254740993}',
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer of a thousand digits',
    body: `{"title":"a","count":${'9'.repeat(1000)}}`,
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer beyond 2^53, with an exponent',
    body: '{"title":"a","count":1e16}',
    ...invalid('TOO_LARGE /count'),
  },
  {
    name: 'an integer beyond 2^53, nested',
    body: '{"title":"a","payload":{"n":[18446744073709551615]}}',
    errors: ['NUMBER_NOT_EXACT /payload/n/0'],
  },
  { name: '1e400', body: '{"title":"a","ratio":1e400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: '-1e400', body: '{"title":"a","ratio":-1e400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: '1e-400', body: '{"title":"a","ratio":1e-400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: 'a huge exponent', body: `{"title":"a","ratio":1e${'9'.repeat(500)}}`, errors: ['NUMBER_NOT_EXACT /ratio'] },
  {
    name: 'more digits than a double keeps',
    body: '{"title":"a","ratio":3.14159265358979323846}',
    errors: ['NUMBER_NOT_EXACT /ratio'],
  },
  { name: 'NaN', body: '{"title":"a","ratio":NaN}' },
  { name: 'Infinity', body: '{"title":"a","ratio":-Infinity}' },
  { name: 'a hexadecimal number', body: '{"title":"a","count":0x10}' },
  { name: 'a needless zero', body: '{"title":"a","count":010}' },
  { name: 'a plus sign', body: '{"title":"a","count":+1}' },
  { name: 'a comment', body: '{"title":"a" /* why */}' },
  { name: 'a comma too many', body: '{"title":"a",}' },
  { name: 'single quotes', body: "{'title':'a'}" },
  { name: 'a raw line break in a text', body: '{"title":"a\nb"}' },
  { name: 'something after the end', body: '{"title":"a"}{"title":"b"}' },
  {
    name: '33 levels',
    body: `{"title":"a","list":${nested(32, '[', ']')}}`,
    errors: [`TOO_DEEP /list${'/0'.repeat(31)}`],
  },
  {
    name: '5,000 levels of arrays',
    body: `{"title":"a","list":${nested(5_000, '[', ']')}}`,
    errors: [`TOO_DEEP /list${'/0'.repeat(31)}`],
  },
  {
    name: '5,000 levels of objects',
    body: `{"title":"a","payload":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    errors: [`TOO_DEEP /payload${'/a'.repeat(31)}`],
  },
  { name: '500,000 open brackets', body: '['.repeat(500_000) },
  { name: 'a byte order mark', body: bytes([0xef, 0xbb, 0xbf], '{"title":"a"}') },
  { name: 'UTF-16', body: Buffer.from('\ufeff{"title":"a"}', 'utf16le') },
  { name: 'invalid UTF-8', body: bytes('{"title":"', [0xff, 0xfe], '"}') },
  { name: 'an overlong encoding', body: bytes('{"title":"', [0xc0, 0xaf], '"}') },
  { name: 'UTF-8 cut in the middle of a character', body: bytes('{"title":"', [0xf0, 0x9f, 0x98], '"}') },
  { name: 'beyond U+10FFFF', body: bytes('{"title":"', [0xf4, 0x90, 0x80, 0x80], '"}') },
  { name: 'cut off', body: '{"title":"a","count":' },
  { name: 'cut off within a text', body: '{"title":"a' },
  { name: 'cut off within an escape', body: '{"title":"a\\u00' },
  { name: 'cut off after a backslash', body: '{"title":"a\\' },
  { name: 'empty', body: '' },
  { name: 'blank', body: ' \r\n\t ' },
  { name: 'no media type', body: '{"title":"a"}', headers: { 'content-type': '' }, status: 415 },
  { name: 'a form', body: 'title=a', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
  { name: 'text', body: '{"title":"a"}', headers: { 'content-type': 'text/plain' }, status: 415 },
  { name: 'another JSON', body: '{"title":"a"}', headers: { 'content-type': 'application/vnd.api+json' }, status: 415 },
  {
    name: 'Latin-1',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset=iso-8859-1' },
    status: 415,
  },
  {
    name: 'UTF-16 by name',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset="utf-16"' },
    status: 415,
  },
  {
    name: 'two charsets',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset=utf-8; charset=utf-7' },
    status: 415,
  },
  {
    name: 'two media types',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json, text/html' },
    status: 415,
  },
  { name: 'an array', body: '[]', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'an array of records', body: '[{"title":"a"},{"title":"b"}]', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'null', body: 'null', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'a text', body: '"title"', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'a number', body: '0', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'true', body: 'true', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  {
    name: 'keys that look like SQL',
    body: '{"title":"a","title\\" = \'x\' --":1,"\'; drop table samples; --":2,"count) values (1":3}',
    ...invalid(
      "UNKNOWN_FIELD /title\" = 'x' --",
      "UNKNOWN_FIELD /'; drop table samples; --",
      'UNKNOWN_FIELD /count) values (1',
    ),
  },
  {
    name: 'the columns behind the fields',
    body: '{"title":"a","_revision":9,"_row":1,"_folded_title":"b","_instant_moment":"c"}',
    ...invalid(
      'UNKNOWN_FIELD /_revision',
      'UNKNOWN_FIELD /_row',
      'UNKNOWN_FIELD /_folded_title',
      'UNKNOWN_FIELD /_instant_moment',
    ),
  },
  {
    name: 'text for numbers',
    body: '{"title":"a","count":"3","ratio":"1e3","flag":"true"}',
    ...invalid('INVALID_TYPE /count', 'INVALID_TYPE /ratio', 'INVALID_TYPE /flag'),
  },
  { name: 'numbers for booleans', body: '{"title":"a","flag":1}', ...invalid('INVALID_TYPE /flag') },
  { name: 'too large', body: `{"title":"${'x'.repeat(1_048_576)}"}`, status: 413, code: 'BODY_TOO_LARGE' },
]

const start = { title: 'One', code: 'c', count: 3, ratio: 0.5, payload: { a: 1 }, list: [1], stage: 'used', pin: 'p' }

for (const method of ['POST', 'PUT', 'PATCH']) {
  for (const caller of ['root', 'ann']) {
    it(`ERR-3: ${method} refuses every hazard of a body, as ${caller}, and changes nothing`, async (context) => {
      const current = await trialFor(context, samples)
      const made = await current.make('samples', start, caller)
      const path = method === 'POST' ? '/v1/samples' : `/v1/samples/${made.id}`
      const before = await current.send({ path: `/v1/samples/${made.id}` })
      for (const { name, body, headers = {}, status = 400, code, errors } of hazards) {
        const answer = await current.send({ method, path, body, headers, as: caller })
        assert.equal(answer.status, status, `${name}: ${answer.text}`)
        const expected = code ?? (status === 415 ? 'UNSUPPORTED_MEDIA_TYPE' : 'MALFORMED_JSON')
        assert.equal(answer.json.code, expected, `${name}: ${answer.text}`)
        // What a PATCH does not send is not missing.
        const wanted = (errors ?? []).filter((error) => method !== 'PATCH' || error !== 'REQUIRED /title')
        assert.deepEqual(places(answer), wanted, name)
        const { text, headers: after } = await current.send({ path: `/v1/samples/${made.id}` })
        assert.deepEqual([text, after.etag], [before.text, before.headers.etag], name)
      }
      assert.equal((await current.send({ path: '/v1/samples' })).json.pagination.total_count, 1)
      assert.deepEqual(
        current.seen.filter(({ kind }) => kind === 'failure'),
        [],
      )
      assert.equal(({} as Record<string, unknown>).stage, undefined)
    })
  }
}

/** Odd bodies that are in order: what comes back is what was sent. */
const oddities: readonly [string, string, Readonly<Record<string, unknown>>][] = [
  ['-0 is 0', '{"title":"a","count":-0,"ratio":-0.0,"list":[-0]}', { count: 0, ratio: 0, list: [0] }],
  ['whole numbers may have a point or an exponent', '{"title":"a","count":3.0,"ratio":1E2}', { count: 3, ratio: 100 }],
  [
    'the largest exact integers',
    '{"title":"a","count":9007199254740991,"ratio":-9007199254740991}',
    { count: 9007199254740991, ratio: -9007199254740991 },
  ],
  [
    'the largest and the least double',
    '{"title":"a","ratio":1.7976931348623157e308,"list":[5e-324]}',
    { ratio: Number.MAX_VALUE, list: [5e-324] },
  ],
  ['32 levels', `{"title":"a","list":${nested(31, '[', ']')}}`, { list: JSON.parse(nested(31, '[', ']')) }],
  [
    'text that is JSON',
    '{"title":"{\\"a\\":1}","code":"[1]","anything":"null"}',
    { title: '{"a":1}', code: '[1]', anything: 'null' },
  ],
  [
    'text that is SQL',
    '{"title":"\'); drop table samples; --","code":"\\" or 1=1"}',
    { title: "'); drop table samples; --", code: '" or 1=1' },
  ],
  [
    'control characters',
    '{"title":"\\u0001\\b\\t\\n\\f\\r\\u001f\\u007f\\u0080"}',
    { title: '\u0001\b\t\n\f\r\u001f\u007f\u0080' },
  ],
  [
    'characters beyond the first plane',
    '{"title":"\\ud83d\\ude00😀𝒳\\uffff\\ufeff\\u2028"}',
    { title: '😀😀𝒳\uffff\ufeff\u2028' },
  ],
  ['50 characters of several units', `{"title":"${'😀'.repeat(50)}"}`, { title: '😀'.repeat(50) }],
  ['texts that differ in composition', '{"title":"\\u00e9","code":"e\\u0301"}', { title: '\u00e9', code: 'e\u0301' }],
  [
    'keys that every object inherits, where keys are free',
    '{"title":"a","payload":{"constructor":{"prototype":1},"toString":null,"hasOwnProperty":[]}}',
    { payload: { constructor: { prototype: 1 }, toString: null, hasOwnProperty: [] } },
  ],
  [
    'keys that look like array indexes keep their values',
    '{"title":"a","payload":{"1":"b","0":"a","":"c"}}',
    { payload: { '1': 'b', '0': 'a', '': 'c' } },
  ],
  [
    'nulls within arrays and objects',
    '{"title":"a","list":[null,[null],{}],"anything":{"a":{}}}',
    { list: [null, [null], {}], anything: { a: {} } },
  ],
  [
    'false, 0 and the empty text are values',
    '{"title":"a","flag":false,"count":0,"code":"","list":[],"payload":{}}',
    { flag: false, count: 0, code: '', list: [], payload: {} },
  ],
  [
    'a date-time keeps its spelling',
    '{"title":"a","moment":"2026-01-01T12:00:00.1234567+05:30"}',
    { moment: '2026-01-01T12:00:00.1234567+05:30' },
  ],
]

for (const [name, body, expected] of oddities) {
  it(`ERR-3: ${name}: nothing is silently changed`, async (context) => {
    const { send } = await trialFor(context, samples)
    const made = await send({ path: '/v1/samples', body })
    assert.equal(made.status, 201, made.text)
    const read = await send({ path: `/v1/samples/${made.json.id}` })
    assert.equal(read.text, made.text)
    const listed = await send({ path: '/v1/samples' })
    for (const record of [read.json, listed.json.data[0]]) {
      for (const [field, value] of Object.entries(expected)) assert.deepEqual(record[field], value, field)
    }
    const put = await send({ method: 'PUT', path: `/v1/samples/${made.json.id}`, body: read.text })
    assert.deepEqual([put.status, put.text], [200, read.text])
  })
}

it('ERR-3: a body of nothing but mistakes is answered within bounds', async (context) => {
  const { send } = await trialFor(context, samples)
  const many = Array.from({ length: 90_000 }, (_, index) => index)
  const bodies = [
    `{${many.map((index) => `"k${index}":0`).join()}}`,
    JSON.stringify({ title: 'a', payload: many, list: 5 }),
    `{"title":"a","list":[${many.map(() => '1e400').join()}]}`,
    `{"title":"a","list":[${many.map(() => '{}').join()}],"count":"x"}`,
    `{"title":"a","${'k'.repeat(900_000)}":1}`,
  ]
  for (const body of bodies) {
    const answer = await send({ path: '/v1/samples', body })
    assert.equal(answer.status, 400)
    assert.ok(answer.text.length < 3_000_000, `${answer.text.length} characters for ${body.slice(0, 40)}`)
  }
})

// What goes wrong inside, and what nobody outside may read of it.
const inner = [
  'secret_table',
  'select',
  '/srv/app',
  'resources.ts',
  'at Object',
  'hunter2',
  'TypeError',
  'ECONNREFUSED',
  'node:',
]

class Odd extends Error {
  override name = 'TypeError'
}

const broken = (make: () => unknown): [string, () => unknown] => [String(make()).slice(0, 40), make]

const causes: readonly [string, () => unknown, number, string][] = [
  [...broken(() => new Odd('select hunter2 from secret_table at /srv/app/resources.ts')), 500, 'INTERNAL_ERROR'],
  [
    ...broken(() => new StorageFault('failed', 'secret_table: ECONNREFUSED', new Error('select hunter2'))),
    502,
    'STORAGE_FAILED',
  ],
  [...broken(() => new StorageFault('busy', 'secret_table is locked by /srv/app')), 503, 'OVERLOADED'],
  ['a text', () => 'select hunter2 from secret_table', 500, 'INTERNAL_ERROR'],
  ['nothing', () => undefined, 500, 'INTERNAL_ERROR'],
  ['null', () => null, 500, 'INTERNAL_ERROR'],
  [
    'an object that poses as a problem',
    () => ({
      status: 200,
      code: 'secret_table',
      detail: 'hunter2',
      message: 'select',
      headers: { 'X-Inner': '/srv/app' },
    }),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'an error of the system',
    () =>
      Object.assign(new Error('ENOENT: open /srv/app/resources.ts'), { code: 'ENOENT', path: '/srv/app', errno: -2 }),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'an object that throws when it is read',
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('hunter2')
          },
        },
      ),
    500,
    'INTERNAL_ERROR',
  ],
  [
    'several errors in one',
    () => new AggregateError([new Error('secret_table')], 'select hunter2'),
    500,
    'INTERNAL_ERROR',
  ],
]

/** The same application, with a storage that fails. */
function failing(app: Application, fail: (plan: Plan) => unknown, seen: Observation[]): Application {
  const storage: Storage = {
    ...app.storage,
    run: async (plan) => Promise.reject(fail(plan)),
    ping: async () => Promise.reject(fail({} as Plan)),
  }
  return assemble(app.catalog, storage, { observe: (each) => seen.push(each), development: true })
}

async function ask(
  app: Application,
  sent: Sent,
  key: string | undefined,
): Promise<{ received: Received; whole: string }> {
  const bytes = Buffer.from(sent.body === undefined ? '' : JSON.stringify(sent.body))
  const request: HttpRequest = {
    method: sent.method ?? (sent.body === undefined ? 'GET' : 'POST'),
    target: sent.path,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': sent.body === undefined ? undefined : 'application/json',
      ...sent.headers,
    },
    secure: true,
    address: '127.0.0.1',
    readBody: async () => bytes,
  }
  const response = await app.respond(request)
  const text = String(response.body)
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return {
    received: { status: response.status, headers, text, json: JSON.parse(text) },
    whole: text + JSON.stringify(response.headers),
  }
}

for (const [name, make, status, code] of causes) {
  it(`ERR-4: a storage that fails with ${name} gives ${status} and not a word of it`, async (context) => {
    const { app, keys } = await trialFor(context, studio)
    const seen: Observation[] = []
    const thrown: unknown[] = []
    const broken = failing(app, () => thrown[thrown.push(make()) - 1], seen)
    const requests: Sent[] = [
      { path: '/v1/projects' },
      { path: `/v1/projects/${nowhere}` },
      { path: '/v1/projects', body: { name: 'x' } },
      { method: 'PUT', path: `/v1/projects/${nowhere}`, body: { name: 'x' } },
      { method: 'PATCH', path: `/v1/projects/${nowhere}`, body: {} },
      { method: 'DELETE', path: `/v1/projects/${nowhere}` },
      { path: '/health/ready' },
    ]
    for (const sent of requests) {
      const { received, whole } = await ask(broken, sent, keys.get('root'))
      assert.deepEqual([received.status, received.json.code], [status, code], received.text)
      assert.equal(received.headers['retry-after'], status === 503 ? '1' : undefined)
      assert.equal(received.headers['cache-control'], 'no-store')
      for (const word of inner) assert.ok(!whole.includes(word), `${word} in ${whole}`)
      const failure = seen.find((each) => each.kind === 'failure')
      assert.ok(failure !== undefined, 'the log hears of it')
      assert.equal(failure.requestId, received.json.request_id)
      assert.ok(Object.is(failure.error, thrown.at(-1)), 'whole, as it was thrown')
      const last = seen.at(-1)
      assert.ok(last?.kind === 'request' && last.status === status && last.code === code)
      seen.length = 0
    }
  })
}

it('ERR-4: the log has what the caller is not told, under the same request_id', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const lines: string[] = []
  const log = logTo('info', { write: (line: string) => void lines.push(line) })
  const storage: Storage = {
    ...app.storage,
    run: () => Promise.reject(new StorageFault('failed', 'no', new Error('secret_table'))),
  }
  const broken = assemble(app.catalog, storage, { observe: log })
  const { received } = await ask(broken, { path: '/v1/projects' }, keys.get('root'))
  const entries = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    entries.map(({ msg }) => msg),
    ['failure', 'request'],
  )
  for (const entry of entries) assert.equal(entry.request_id, received.json.request_id)
  assert.match(lines[0] as string, /secret_table/)
})

it('ERR-4: a rule that throws is our fault, and stays with us', async (context) => {
  const { send, make, seen } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c' })
  const path = `/v1/counters/${id}`
  const before = await send({ path })
  const answer = await send({ method: 'PATCH', path, body: { count: 666 } })
  assert.deepEqual([answer.status, answer.json.code], [500, 'INTERNAL_ERROR'])
  for (const word of inner) assert.ok(!answer.text.includes(word), answer.text)
  const failure = seen.find(({ kind }) => kind === 'failure')
  assert.ok(failure?.kind === 'failure' && failure.requestId === answer.json.request_id)
  assert.match(String(failure.error), /secrets/)
  const after = await send({ path })
  assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
  assert.equal((await send({ method: 'PATCH', path, body: { count: 1 } })).status, 200, 'and the writer goes on')
})

it('ERR-6: a storage that cannot look up credentials is a 502 too, never a 401', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  const down: Storage = {
    ...app.storage,
    keys: { ...app.storage.keys, find: () => Promise.reject(new StorageFault('failed', 'secret_table')) },
  }
  const { received } = await ask(assemble(app.catalog, down), { path: '/v1/projects' }, keys.get('root'))
  assert.deepEqual([received.status, received.json.code], [502, 'STORAGE_FAILED'])
})

it('ERR-6: while shutting down new requests get 503 with Retry-After, and those running finish', async (context) => {
  const { app, send } = await trialFor(context, studio)
  const running = send({ path: '/v1/projects', body: { name: 'One' } })
  await new Promise<void>((resolve) => queueMicrotask(resolve))
  app.stop()
  const refused = await send({ path: '/v1/projects' })
  assert.deepEqual([refused.status, refused.json.code, refused.headers['retry-after']], [503, 'SHUTTING_DOWN', '5'])
  assert.ok([201, 503].includes((await running).status))
  assert.equal((await send({ path: '/health/ready' })).status, 503)
  assert.equal((await send({ path: '/health/live' })).status, 200)
})

it('ERR-6: a database whose tables are gone is a 502 without a word of SQL', async (context) => {
  const { app, keys } = await trialFor(context, studio)
  // The catalog knows a collection that this database was never given.
  const catalog = completeCatalog(samples)
  const seen: Observation[] = []
  const { projects } = Object.fromEntries(app.catalog.resources)
  const ghost = { ...projects, name: 'ghosts' } as NonNullable<typeof projects>
  const broken = assemble({ ...catalog, resources: new Map([['ghosts', ghost]]) }, app.storage, {
    observe: (each) => seen.push(each),
  })
  for (const sent of [
    { path: '/v1/ghosts' },
    { path: `/v1/ghosts/${nowhere}` },
    { path: '/v1/ghosts', body: { name: 'x' } },
  ]) {
    const { received, whole } = await ask(broken, sent, keys.get('root'))
    assert.deepEqual([received.status, received.json.code], [502, 'STORAGE_FAILED'], received.text)
    assert.ok(!/sqlite|no such|select|ghosts"/i.test(whole.replace('"instance":"/v1/ghosts"', '')), whole)
  }
  assert.equal(seen.filter(({ kind }) => kind === 'failure').length, 3)
})

const fine: Scenario['check'] = (answer) => assert.ok(answer.status < 500)

scenarios(studio, [
  {
    name: 'an address of 8,000 bytes is read',
    rule: 'LIM-3',
    send: { path: `/v1/projects?q=${'x'.repeat(7_985)}` },
    status: 200,
    check: fine,
  },
])
