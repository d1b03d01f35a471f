/** MET-4: PATCH with a merge patch. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples } from '../declarations.ts'
import { type Scenario, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'

const full = {
  ...{ title: 'Full', code: 'c', count: 3, ratio: 1.5, flag: true, moment: '2026-01-01T00:00:00Z', payload: { a: 1 } },
  ...{ strict: { size: 1 }, list: [1], anything: 'x', stage: 'used', origin: 'here', pin: 'p' },
}

for (const type of ['application/json', 'application/merge-patch+json', 'application/json; charset=UTF-8']) {
  it(`MET-4: PATCH with ${type} changes only the fields that are sent`, async (context) => {
    const { send, make } = await trialFor(context, samples)
    const made = await make('samples', full)
    const path = `/v1/samples/${made.id}`
    const headers = { 'content-type': type }
    const patched = await send({
      method: 'PATCH',
      path,
      headers,
      body: { count: 4, payload: { b: 2 }, list: [2, null] },
    })
    assert.equal(patched.status, 200, patched.text)
    const { updated_at } = patched.json
    assert.deepEqual(patched.json, { ...made, count: 4, payload: { a: 1, b: 2 }, list: [2, null], updated_at })
    const removed = await send({
      method: 'PATCH',
      path,
      headers,
      body: { payload: { a: null, c: { d: null, e: 1 } }, code: null },
    })
    assert.deepEqual([removed.json.payload, removed.json.code], [{ b: 2, c: { e: 1 } }, null])
    assert.deepEqual((await send({ path })).json, removed.json)
  })
}

/**
 * RFC 7396, the examples of its appendix that concern one field of any type: what was there, the patch, what becomes of
 * it.
 */
const merges: readonly [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [null, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ constructor: 1 }, { toString: 2, constructor: null }, { toString: 2 }],
]

it('MET-4: PATCH merges as RFC 7396 requires, at every depth', async (context) => {
  const { send, make } = await trialFor(context, samples)
  for (const [before, patch, after] of merges) {
    const { id } = await make('samples', { title: 'x', anything: before })
    const patched = await send({ method: 'PATCH', path: `/v1/samples/${id}`, body: { anything: patch } })
    assert.equal(patched.status, 200, patched.text)
    assert.deepEqual(patched.json.anything, after, JSON.stringify([before, patch]))
  }
})

it('MET-4: an empty patch changes nothing', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', full)
  const patched = await send({ method: 'PATCH', path: `/v1/samples/${made.id}`, body: {} })
  assert.deepEqual([patched.status, patched.json], [200, made])
})

const patch =
  (body: unknown, headers: Record<string, string> = {}) =>
  async ({ make }: Trial): Promise<Sent> => {
    const { id } = await make('samples', full)
    return { method: 'PATCH', path: `/v1/samples/${id}`, body, headers }
  }

const asMade: Scenario['check'] = async (_, { send }) => {
  const [record] = (await send({ path: '/v1/samples' })).json.data
  const { pin, ...shown } = full
  assert.deepEqual({ ...record, ...shown }, record)
}

scenarios(samples, [
  {
    name: 'null on a field with a default sets the default',
    rule: 'MET-4',
    send: patch({ stage: null }),
    status: 200,
    check: (answer) => assert.equal(answer.json.stage, 'new'),
  },
  {
    name: 'null on a required field without a default is refused',
    rule: 'MET-4',
    send: patch({ title: null, count: 9 }),
    status: 400,
    errors: ['REQUIRED /title'],
    check: asMade,
  },
  {
    name: 'every fault of a patch is in one answer',
    rule: 'MET-4',
    send: patch({
      title: '',
      count: 1.5,
      ratio: 'x',
      flag: 'true',
      moment: 'yesterday',
      list: {},
      stage: 'old',
      more: 1,
    }),
    status: 400,
    errors: [
      ...[
        'UNKNOWN_FIELD /more',
        'TOO_SHORT /title',
        'INVALID_TYPE /count',
        'INVALID_TYPE /ratio',
        'INVALID_TYPE /flag',
      ],
      ...['INVALID_FORMAT /moment', 'INVALID_TYPE /list', 'NOT_IN_ENUM /stage'],
    ],
    check: asMade,
  },
  {
    name: 'a patch of an object is judged by what it makes of it',
    rule: 'MET-4',
    send: patch({ strict: { size: null } }),
    status: 400,
    errors: ['REQUIRED /strict/size'],
    check: asMade,
  },
  {
    name: 'unknown keys within a closed object are unknown fields',
    rule: 'MET-4',
    send: patch({ strict: { colour: 1, 'a/b': 2 } }),
    status: 400,
    errors: ['UNKNOWN_FIELD /strict/colour', 'UNKNOWN_FIELD /strict/a~1b'],
    check: asMade,
  },
  ...[[], null, 'text', 5, true, [{ op: 'replace', path: '/count', value: 9 }]].map((body) => ({
    name: `a patch that is ${JSON.stringify(body)} replaces nothing`,
    rule: 'MET-4',
    send: patch(JSON.stringify(body)),
    status: 400,
    code: 'VALIDATION_FAILED',
    errors: ['INVALID_TYPE'],
    check: asMade,
  })),
  ...['text/plain', 'application/xml', 'application/json-seq', 'json'].map((type) => ({
    name: `a patch as ${type} is not read`,
    rule: 'MET-4',
    send: patch({ count: 9 }, { 'content-type': type }),
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    headers: { 'accept-patch': 'application/json, application/merge-patch+json, application/json-patch+json' },
    check: asMade,
  })),
])
