/**
 * LIM-5: each parameter at the largest allowed value and just beyond. No request causes a 5xx, a long response, or
 * blocks the thread for longer than an ordinary request of the same size.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { fault } from 'resourced-contract/spec/faults'
import { Type } from 'typebox'
import type { HttpRequest, HttpResponse } from '../packages/server/src/http/message.ts'
import { readListQuery } from '../packages/server/src/request/list-query.ts'
import { type Trial, trial } from './harness.ts'

const many = Object.fromEntries(
  Array.from({ length: 51 }, (_, index) => [`n${index}`, Type.Optional(Type.Integer({ filter: true }))]),
)
const things = defineInterface({
  name: 'hostile',
  resources: {
    things: {
      fields: {
        title: Type.String({ maxLength: 200, search: true, filter: true, sort: true }),
        size: Type.Optional(Type.Integer({ filter: true, sort: true })),
        price: Type.Optional(Type.Number({ filter: true })),
        payload: Type.Optional(Type.Unknown()),
        note: Type.Optional(Type.String({ search: true })),
        ...Object.fromEntries(
          Array.from({ length: 9 }, (_, index) => [`s${index}`, Type.Optional(Type.Integer({ sort: true }))]),
        ),
        ...many,
      },
      deletion: { byFilter: true },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
    },
  },
})

interface Hostile {
  readonly name: string
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** Code and parameter of the one error. */
  readonly error?: string
}

const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
const words = (count: number, separator = ' ') => repeat(count, (index) => `w${index.toString(36)}`).join(separator)
const get = (name: string, query: string, status: number, error?: string): Hostile => ({
  ...{ name: `GET ${name}`, path: `/v1/things?${query}`, status },
  ...(error !== undefined && { error }),
})
const query = (name: string, body: unknown, status: number, error?: string): Hostile => ({
  ...{ name: `QUERY ${name}`, method: 'QUERY', path: '/v1/things', body, status },
  ...(error !== undefined && { error }),
})
const post = (name: string, path: string, body: unknown, status: number): Hostile => ({
  name,
  path: `/v1/${path}`,
  body,
  status,
})
const header = (name: string, headers: Readonly<Record<string, string>>, status: number): Hostile => ({
  name,
  path: '/v1/things?limit=1',
  headers,
  status,
})
const exported = (name: string, body: object, status: number) =>
  post(`export: ${name}`, 'exports', { collection: 'things', format: 'csv', ...body }, status)

const mega = 1_000_000
const cases: readonly Hostile[] = [
  get('32 words', `q=${words(32, '+')}`, 200),
  get('33 words', `q=${words(33, '+')}`, 400, 'TOO_MANY_ITEMS q'),
  get('1,500 words', `q=${words(1_500, '+')}`, 400, 'TOO_MANY_ITEMS q'),
  get('one word 1,900 times', `q=${repeat(1_900, () => 'wo').join('+')}`, 200),
  get('a ligature of eighteen letters', `q=${'%EF%B7%BA'.repeat(800)}`, 200),
  get('marks alone', `q=${'%CC%80'.repeat(1_200)}`, 200),
  query('q of 10,000 characters', { q: 'x'.repeat(10_000) }, 200),
  query('q of 10,001', { q: 'x'.repeat(10_001) }, 400, 'TOO_LONG q'),
  query('q of a mebibyte of ligatures', { q: 'ﷺ'.repeat(mega / 3) }, 400, 'TOO_LONG q'),
  query('33 words', { q: words(33) }, 400, 'TOO_MANY_ITEMS q'),
  get('50 filters', repeat(50, (index) => `n${index}=1`).join('&'), 200),
  get('51 filters', repeat(51, (index) => `n${index}=1`).join('&'), 400, 'TOO_MANY_ITEMS n50'),
  get('filters that nobody knows', repeat(1_300, (index) => `a${index}=`).join('&'), 400, 'TOO_MANY_ITEMS a50'),
  query('1,000 values', { size: repeat(1_000, (index) => index) }, 200),
  query('1,001 values', { size: repeat(1_001, (index) => index) }, 400, 'TOO_MANY_ITEMS size'),
  get('1,000 values', `size[in]=${repeat(1_000, (index) => index).join()}`, 200),
  get('1,001 values', `size[in]=${repeat(1_001, (index) => index).join()}`, 400, 'TOO_MANY_ITEMS size[in]'),
  get('1,001 repeats', repeat(1_001, () => 'n0=1').join('&'), 400, 'TOO_MANY_ITEMS n0'),
  query('50,000 names', Object.fromEntries(repeat(50_000, (index) => [`a${index}`, 1])), 400),
  get('8 sort terms', `sort=${repeat(8, (index) => `s${index}`).join()}`, 200),
  get('9 sort terms', `sort=${repeat(9, (index) => `s${index}`).join()}`, 400, 'TOO_MANY_ITEMS sort'),
  get('200 fields', `fields=${repeat(200, () => 'id').join()}`, 200),
  get('201 fields', `fields=${repeat(201, () => 'id').join()}`, 400, 'TOO_MANY_ITEMS fields'),
  get('contains of the longest address', `title[contains]=${'x'.repeat(7_900)}`, 200),
  query('contains of 10,000 characters', { 'title[contains]': 'é'.repeat(10_000) }, 200),
  query('contains of a mebibyte', { 'title[contains]': 'é'.repeat(mega / 2) }, 400, 'TOO_LONG title[contains]'),
  query(
    '100 texts of 5,000',
    { 'title[starts_with]': repeat(100, (index) => 'é'.repeat(4_900) + index) },
    400,
    'TOO_LONG title[starts_with]',
  ),
  query('a name of a mebibyte', { ['x'.repeat(mega)]: 1 }, 400),
  query('a sort of a mebibyte', { sort: 'x'.repeat(mega) }, 400),
  query('a number of a mebibyte', { size: '1'.repeat(mega) }, 400, 'INVALID_VALUE size'),
  get('a large exponent', 'price=1e999999', 400, 'INVALID_VALUE price'),
  get('a page a long way off', 'offset=1000000000&limit=1', 200),
  get('the last page that has a number', 'page=90071992547409&per_page=100', 200),
  get('a cursor of the longest address', `cursor=${'A'.repeat(7_900)}`, 400, 'INVALID_CURSOR cursor'),
  get('empty parameters', '&'.repeat(7_900), 200),
  get('escapes alone', `title=${'%61'.repeat(2_600)}`, 200),
  get('broken escapes', `title=${'%'.repeat(7_900)}`, 400),
  get('secrets', repeat(1_300, () => 'token').join('&'), 400),
  {
    name: 'DELETE with 51 filters',
    method: 'DELETE',
    path: `/v1/things?${repeat(51, (index) => `n${index}=1`).join('&')}`,
    status: 400,
    error: 'TOO_MANY_ITEMS n50',
  },
  {
    name: 'DELETE with 1,001 values',
    method: 'DELETE',
    path: `/v1/things?size[in]=${repeat(1_001, () => 7).join()}`,
    status: 400,
    error: 'TOO_MANY_ITEMS size[in]',
  },
  {
    name: 'DELETE with q',
    method: 'DELETE',
    path: `/v1/things?q=${words(1_500, '+')}`,
    status: 400,
    error: 'UNKNOWN_PARAMETER q',
  },
  {
    name: 'POST with parameters',
    method: 'POST',
    path: `/v1/things?${repeat(2_600, () => 'a').join('&')}`,
    body: {},
    status: 400,
  },
  exported('100 comparisons', { filter: { or: repeat(100, (index) => ({ size: index })) } }, 202),
  exported('101 comparisons', { filter: { or: repeat(101, (index) => ({ size: index })) } }, 400),
  exported('1,001 listed', { filter: { size: { in: repeat(1_001, (index) => index) } } }, 400),
  exported('21 deep', { filter: repeat(21, () => 0).reduce<object>((inner) => ({ not: inner }), {}) }, 400),
  exported('texts of 10,001 characters', { filter: { title: { contains: 'é'.repeat(10_001) } } }, 400),
  exported('9 sort terms', { sort: repeat(9, (index) => `s${index}`) }, 400),
  exported('201 fields', { fields: repeat(201, (index) => `a${index}`) }, 400),
  exported('a field of a mebibyte', { fields: ['x'.repeat(mega)] }, 400),
  exported('60,000 keys', Object.fromEntries(repeat(60_000, (index) => [`a${index}`, 1])), 400),
  post('bulk deletion of 1,001', 'things/bulk-delete', { ids: repeat(1_001, (index) => String(index)) }, 400),
  post(
    'bulk deletion with 60,000 keys',
    'things/bulk-delete',
    Object.fromEntries(repeat(60_000, (index) => [`a${index}`, 1])),
    400,
  ),
  post('a key of a mebibyte', 'things', { ['x'.repeat(mega)]: 1 }, 400),
  post('searched text of ligatures', 'things', { title: 'x', note: 'ﷺ'.repeat(20_000) }, 201),
  post('searched text of letters with marks', 'things', { title: 'x', note: 'é'.repeat(400_000) }, 201),
  header('thousands of tags', { 'if-none-match': repeat(4_000, () => '"a"').join() }, 200),
  header('commas alone', { 'if-match': `${','.repeat(16_000)}x` }, 400),
  header('thousands of media types', { accept: repeat(4_000, () => 'a/b').join() }, 200),
  header('as many as are read', { accept: repeat(240, () => 'a/b').join() }, 406),
  header('thousands of ranges', { range: `bytes=${repeat(4_000, () => '0-1').join()}` }, 200),
  header('a range of many digits', { range: `bytes=0-${'9'.repeat(16_000)}` }, 206),
  header(
    'thousands of preferences',
    { prefer: `handling=strict,${repeat(3_000, (index) => `a${index}`).join()}` },
    400,
  ),
  header('a preference of semicolons', { prefer: `a${';'.repeat(16_000)}` }, 200),
  header('thousands of languages', { 'accept-language': repeat(4_000, () => 'de').join() }, 200),
  {
    name: 'a long Idempotency-Key',
    path: '/v1/things',
    body: { title: 'x' },
    headers: { 'idempotency-key': 'k'.repeat(256) },
    status: 400,
  },
  {
    name: 'an Idempotency-Key with parameters',
    path: '/v1/things',
    body: { title: 'x' },
    headers: { 'idempotency-key': `"k"${';a'.repeat(7_000)}` },
    status: 201,
  },
]

const jsonPatch = { 'content-type': 'application/json-patch+json' }
const patches: readonly (readonly [string, unknown, number])[] = [
  ['1,000 operations', repeat(1_000, () => ({ op: 'replace', path: '/payload', value: 1 })), 200],
  ['1,001 operations', repeat(1_001, () => ({ op: 'replace', path: '/payload', value: 1 })), 400],
  [
    'copies that double each time',
    [
      { op: 'add', path: '/payload', value: ['x'.repeat(1_000)] },
      ...repeat(30, () => ({ op: 'copy', from: '/payload', path: '/payload/0' })),
    ],
    400,
  ],
  ['a pointer of a mebibyte', [{ op: 'replace', path: `/payload${'/a'.repeat(400_000)}`, value: 1 }], 400],
]

describe('parameters at their limits', () => {
  let current: Trial
  let id: string
  let plain: number
  before(async () => {
    current = await trial(things, { memory: true })
    for (let index = 0; index < 200; index++)
      await current.make('things', { title: `some words w${index}`, size: index })
    id = (await current.make('things', { title: 'patched', payload: 1 })).id
    // What a body of a mebibyte takes that is read, judged, stored and answered, here and now.
    const body = { title: 'x', payload: repeat(10_000, (index) => `${index}`.padEnd(90)) }
    const request = post('', 'things', body, 201)
    assert.equal((await ask(request, bytesOf(request))).status, 201)
    plain = await quickest(request)
  })
  after(() => current.close())

  async function ask({ method, path = '', body, headers }: Hostile, bytes: Uint8Array): Promise<HttpResponse> {
    const request: HttpRequest = {
      ...{ method: method ?? (body === undefined ? 'GET' : 'POST'), target: path, secure: true, address: '127.0.0.1' },
      headers: {
        authorization: `Bearer ${current.keys.get('root')}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
        ...headers,
      },
      readBody: async (limit) => (bytes.length > limit ? Promise.reject(fault('BODY_TOO_LARGE')) : bytes),
    }
    return current.app.respond(request)
  }

  const bytesOf = ({ body }: Hostile) => Buffer.from(body === undefined ? '' : JSON.stringify(body))

  /** Milliseconds for which this thread computes, however busy the machine is. */
  async function quickest(hostile: Hostile): Promise<number> {
    let least = Number.POSITIVE_INFINITY
    const bytes = bytesOf(hostile)
    for (let round = 0; round < 4; round++) {
      const before = process.threadCpuUsage()
      await ask(hostile, bytes)
      const { user, system } = process.threadCpuUsage(before)
      least = Math.min(least, (user + system) / 1_000)
    }
    return least
  }

  async function check(hostile: Hostile): Promise<void> {
    const { status, body } = await ask(hostile, bytesOf(hostile))
    const text = body === undefined ? '' : Buffer.from(body as string).toString()
    assert.equal(status, hostile.status, text.slice(0, 500))
    if (status >= 400) assert.ok(text.length < 120_000, `${text.length} characters`)
    if (hostile.error !== undefined) {
      const { errors } = JSON.parse(text)
      assert.deepEqual(
        errors.map((each: Record<string, string>) => `${each['code']} ${each['parameter']}`),
        [hostile.error],
      )
    }
    const took = await quickest(hostile)
    assert.ok(took < 4 * plain + 20, `${took} ms, where a plain body takes ${plain} ms`)
  }

  for (const hostile of cases) it(`LIM-5: ${hostile.name}: ${hostile.status}`, () => check(hostile))
  for (const [name, body, status] of patches) {
    it(`LIM-5: JSON Patch: ${name}: ${status}`, () =>
      check({ name, method: 'PATCH', path: `/v1/things/${id}`, body, headers: jsonPatch, status }))
  }

  it('LIM-5: a record takes 200 fields, and not 201', async () => {
    for (const [count, status] of [
      [200, 200],
      [201, 400],
    ] as const) {
      await check({ name: '', path: `/v1/things/${id}?fields=${repeat(count, () => 'id').join()}`, status })
    }
  })

  it('LIM-5: duplicate words are removed before the query', () => {
    const { catalog } = current.app
    const resource = catalog.resources.get('things')!
    const searchOf = (q: string) => readListQuery(resource, [{ name: 'q', value: q }], catalog).search
    assert.deepEqual(searchOf('tea oil tea oil te'), ['tea', 'oil', 'te'])
    // The whole word, and all that begin with it: the first is the narrower.
    assert.deepEqual(searchOf('tea oil Tea'), ['tea', 'oil', 'tea'])
    assert.equal(searchOf(repeat(1_900, (index) => `w${index % 32}`).join(' '))?.length, 33)
  })
})
