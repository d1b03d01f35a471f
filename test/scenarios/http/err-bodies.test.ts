/** ERR-3: every mistake in a body, and unusual bodies that are valid. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples } from '../../declarations.ts'
import { places, trialFor } from '../../harness.ts'
import { hazards, nested } from '../../hazards.ts'

const start = { title: 'One', code: 'c', count: 3, ratio: 0.5, payload: { a: 1 }, list: [1], stage: 'used', pin: 'p' }

for (const method of ['POST', 'PUT', 'PATCH']) {
  for (const caller of ['root', 'ann']) {
    it(`ERR-3: ${method} refuses every kind of invalid body, as ${caller}, and changes nothing`, async (context) => {
      const current = await trialFor(context, samples)
      const made = await current.make('samples', start, caller)
      const path = method === 'POST' ? '/v1/samples' : `/v1/samples/${made.id}`
      const before = await current.send({ path: `/v1/samples/${made.id}` })
      for (const { name, body, headers = {}, status = 400, code, errors } of hazards) {
        // A collection takes arrays (BLK-1).
        if (method === 'POST' && name.startsWith('an array')) continue
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
  [
    'whole numbers beyond 2^53 keep their exponent',
    '{"title":"a","ratio":1e19,"list":[1e19,-12e20]}',
    { ratio: 1e19, list: [1e19, -12e20] },
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

it('ERR-3: the response to a body with very many mistakes is bounded', async (context) => {
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
