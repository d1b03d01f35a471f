/** LIM-3, ERR-3: the members of a body, the operations of a patch and the entries of `errors` have limits. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { places, scenarios, type Trial, trialFor } from '../harness.ts'

const most = 200

const shelves = defineInterface({
  name: 'shelves',
  resources: {
    things: {
      fields: {
        title: { type: 'string', maxLength: 3, optional: true, filter: true },
        data: { type: 'object', optional: true },
        list: { type: 'array', optional: true },
        kinds: {
          type: 'array',
          optional: true,
          items: {
            anyOf: [
              { type: 'string', maxLength: 2 },
              { type: 'object', required: ['a', 'b'] },
            ],
          },
        },
        pairs: {
          type: 'array',
          optional: true,
          items: { type: 'object', required: ['a', 'b'], properties: { a: {}, b: {} }, additionalProperties: false },
        },
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
    },
    locked: { fields: { title: { type: 'string' } }, access: { read: 'anyone' } },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'things', rename: { content: 'data' } }],
  limits: { bodyMembers: most, patchOperations: 10, errors: 5 },
})

const patchType = { 'content-type': 'application/json-patch+json' }
/** A body with so many members: one of them is `list`. */
const bodyOf = (members: number) => ({ list: Array(members - 1).fill(0) })
const objectOf = (members: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: members }, (_, index) => [`${prefix}${index}`, index]))
const tooMany = { rule: 'LIM-3', status: 400, code: 'TOO_MANY_MEMBERS', errors: [] }

scenarios(shelves, [
  ...[{ list: Array(most).fill([]) }, { data: { a: { b: objectOf(most - 3) } }, title: 'x' }, objectOf(most + 1)].map(
    (body, index) => ({ ...tooMany, name: `a member more is refused: ${index}`, send: { path: '/v2/things', body } }),
  ),
  {
    name: 'as many as may be are read, with blanks between them',
    rule: 'LIM-3',
    send: { path: '/v2/things', body: JSON.stringify(bodyOf(most), null, 3) },
    status: 201,
  },
  {
    name: 'commas and brackets in texts are no members',
    rule: 'LIM-3',
    send: { path: '/v2/things', body: { data: { text: '[1,2,{"a":3,'.repeat(most), 'a,"[b': 1 } } },
    status: 201,
  },
  ...['PUT', 'PATCH'].map((method) => ({
    ...tooMany,
    name: `${method} of a record that is not there is refused for it: an unreadable body comes first`,
    send: { method, path: '/v2/things/019aa7b4-0000-7000-8000-000000000001', body: bodyOf(most + 1) },
  })),
  {
    ...tooMany,
    name: 'a JSON Patch is one record',
    send: {
      ...{ method: 'PATCH', path: '/v2/things/019aa7b4-0000-7000-8000-000000000001', headers: patchType },
      body: JSON.stringify([{ op: 'add', path: '/list', value: Array(most).fill(0) }]),
    },
  },
  { ...tooMany, name: 'QUERY', send: { method: 'QUERY', path: '/v2/things', body: objectOf(most + 1) } },
  { ...tooMany, name: 'an export', send: { path: '/v2/exports', body: objectOf(most + 1) } },
  { ...tooMany, name: 'in an older version', send: { path: '/v1/things', body: bodyOf(most + 1) } },
  { ...tooMany, name: 'before 403', send: { path: '/v2/locked', body: bodyOf(most + 1), as: 'bob' } },
  { ...tooMany, name: 'before wrong parameters', send: { path: '/v2/things?x=1', body: bodyOf(most + 1) } },
  { ...tooMany, name: 'before the syntax', send: { path: '/v2/things', body: `{"list":[${'1,'.repeat(most + 1)}` } },
  {
    name: 'after 401',
    rule: 'CON-6',
    send: { path: '/v2/things', body: bodyOf(most + 1), as: null },
    status: 401,
  },
  {
    name: 'after 415',
    rule: 'CON-6',
    send: { path: '/v2/things', body: JSON.stringify(bodyOf(most + 1)), headers: { 'content-type': 'text/plain' } },
    status: 415,
  },
  {
    name: 'a patch with an operation more is refused',
    rule: 'LIM-3',
    send: async ({ make }) => {
      const { id } = await make('things', {})
      const body = JSON.stringify(Array(11).fill({ op: 'add', path: '/title', value: 'x' }))
      return { method: 'PATCH', path: `/v2/things/${id}`, body, headers: patchType }
    },
    status: 400,
    errors: ['TOO_MANY_ITEMS'],
  },
])

it('LIM-3: the ids of a bulk deletion have a limit of their own', async (context) => {
  const { send } = await trialFor(context, shelves)
  const ids = (count: number) =>
    Array.from({ length: count }, (_, index) => `019aa7b4-0000-7000-8000-${String(index).padStart(12, '0')}`)
  const path = '/v2/things/bulk-delete'
  const missing = await send({ method: 'POST', path, body: { ids: ids(1_000) } })
  // DEL-9: one answer lists every id's reason.
  assert.deepEqual([missing.status, missing.json.errors.length, missing.json.error_count], [404, 1_000, 1_000])
  const beyond = await send({ method: 'POST', path, body: { ids: ids(1_001) } })
  assert.deepEqual(places(beyond), ['TOO_MANY_ITEMS /ids'])
  assert.equal((await send({ method: 'POST', path, body: { ids: ids(most * 10) } })).json.code, 'TOO_MANY_MEMBERS')
})

const changing = ({ send }: Trial, id: string, version = 'v2') => ({
  merge: (body: unknown) => send({ method: 'PATCH', path: `/${version}/things/${id}`, body }),
  patch: (...operations: unknown[]) =>
    send({
      ...{ method: 'PATCH', path: `/${version}/things/${id}`, headers: patchType },
      body: JSON.stringify(operations),
    }),
})

it('LIM-3: patches let no field grow beyond what a body may have', async (context) => {
  const trial = await trialFor(context, shelves)
  const { id } = await trial.make('things', { data: objectOf(150), list: Array(40).fill(0) })
  const { merge, patch } = changing(trial, id)
  assert.equal((await merge({ data: objectOf(50, 'x') })).status, 200)
  assert.deepEqual(places(await merge({ data: { one: 1 } })), ['TOO_MANY_MEMBERS /data'])
  assert.deepEqual(places(await patch({ op: 'add', path: '/data/one', value: 1 })), ['TOO_MANY_MEMBERS /data'])
  const older = changing(trial, id, 'v1')
  assert.deepEqual(places(await older.merge({ content: { one: 1 }, title: 'long' })), [
    ...['TOO_LONG /title', 'TOO_MANY_MEMBERS /content'],
  ])
  const copy = { op: 'copy', from: '/list', path: '/list/-' }
  assert.deepEqual(places(await patch(copy, copy)), [])
  assert.deepEqual(places(await patch(copy, copy, copy)), ['TOO_LARGE /1'])
  // What stays as large, or becomes smaller, is changed.
  assert.equal((await merge({ data: { k0: null, one: 1 } })).status, 200)
  assert.equal((await merge({ data: { k1: null } })).status, 200)
  assert.equal((await merge({ list: null })).json.list, null)
})

it('LIM-3: patches let no field grow beyond the bytes that a body may have', async (context) => {
  const trial = await trialFor(context, { ...shelves, limits: { bodyBytes: 2_000 } })
  const { id } = await trial.make('things', { data: { a: 'x'.repeat(1_900) } })
  const { merge, patch } = changing(trial, id)
  assert.deepEqual(places(await merge({ data: { b: 'y'.repeat(100) } })), ['TOO_LARGE /data'])
  assert.deepEqual(places(await patch({ op: 'copy', from: '/data/a', path: '/data/b' })), ['TOO_LARGE /data'])
  assert.equal((await merge({ data: { a: 'x', b: 'y'.repeat(1_900) } })).status, 200)
})

it('LIM-3: a field that is larger than its limit may shrink, and other fields change beside it', async (context) => {
  const before = await trialFor(context, { ...shelves, limits: {} })
  const { id } = await before.make('things', { data: objectOf(500) })
  const trial = await trialFor(context, shelves, { database: before.database })
  const { merge } = changing(trial, id)
  assert.equal((await merge({ title: 'new' })).json.data.k499, 499)
  assert.deepEqual(places(await merge({ data: { one: 1 } })), ['TOO_MANY_MEMBERS /data'])
  assert.equal((await merge({ data: { k0: null, one: 1 } })).status, 200)
  assert.equal(Object.keys((await merge({ data: { k1: null } })).json.data).length, 499)
})

for (const [name, body, first, count] of [
  ['items of alternatives', { kinds: Array(50).fill(7) }, ['INVALID_TYPE /kinds/0', 'INVALID_TYPE /kinds/1'], 50],
  ['members of items', { pairs: Array(20).fill({ c: 1 }) }, ['REQUIRED /pairs/0/a', 'REQUIRED /pairs/0/b'], 60],
  ['unknown keys', objectOf(190), ['UNKNOWN_FIELD /k0', 'UNKNOWN_FIELD /k1'], 190],
  [
    'several fields',
    { x: 1, title: 'long', kinds: [7, 'x', 8], pairs: [1] },
    ['UNKNOWN_FIELD /x', 'TOO_LONG /title'],
    5,
  ],
] as const) {
  it(`ERR-3: so many errors are listed, and all are counted: ${name}`, async (context) => {
    const { send } = await trialFor(context, shelves)
    const answer = await send({ path: '/v2/things', body })
    assert.deepEqual([answer.status, answer.json.code], [400, 'VALIDATION_FAILED'])
    assert.deepEqual([answer.json.errors.length, answer.json.error_count], [5, count])
    assert.deepEqual(places(answer).slice(0, 2), first)
    const { detail } = answer.json
    const listed = count > 5 ? 'the first 5' : 'them all'
    assert.equal(detail, `${count} things are wrong; errors lists ${listed}.`)
    // The order is that of the fields, and the same each time.
    assert.deepEqual(places(await send({ path: '/v2/things', body })), places(answer))
  })
}

it('ERR-3: a thousand errors can be listed, and more are counted all the same', async (context) => {
  const { send } = await trialFor(context, { ...shelves, limits: { errors: 1_000 } })
  for (const body of [objectOf(15_000), { kinds: Array(15_000).fill(7) }, { list: 7, ...objectOf(3_000) }]) {
    const { json } = await send({ path: '/v2/things', body })
    const count = 'list' in body ? 3_001 : 15_000
    assert.deepEqual([json.errors.length, json.error_count], [1_000, count])
    assert.ok(json.errors.every(({ pointer, unlisted }: Record<string, unknown>) => pointer !== '' && !unlisted))
  }
})

it('ERR-3: what makes JSON unacceptable is counted too, and one error counts one', async (context) => {
  const { send } = await trialFor(context, shelves)
  const { json } = await send({ path: '/v2/things', body: `{"list":[${Array(70).fill('1e999').join()}]}` })
  assert.deepEqual([json.code, json.errors.length, json.error_count], ['MALFORMED_JSON', 5, 70])
  const one = await send({ path: '/v2/things', body: { title: 7 } })
  assert.deepEqual([one.json.errors.length, one.json.error_count], [1, 1])
  const none = await send({ path: '/v2/nothing' })
  assert.deepEqual(['errors' in none.json, 'error_count' in none.json], [false, false])
})
