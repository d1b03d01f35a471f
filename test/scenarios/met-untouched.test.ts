/** MET-4: a PATCH reads, validates and writes the fields that it names; the others stay exactly as they are stored. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { places, type Trial, trialFor } from '../harness.ts'

let conversions = 0
const counted = (value: unknown) => {
  conversions++
  return value
}

const shelves = defineInterface({
  name: 'shelves',
  resources: {
    books: {
      fields: {
        title: { type: 'string', search: true, sort: true },
        data: { type: 'object', optional: true },
        list: { type: 'array', optional: true },
        secret: { type: 'object', optional: true, writeOnly: true },
        private: { type: 'object', optional: true },
        owner_id: { type: 'string', readOnly: true },
      },
      owner: 'owner_id',
      events: true,
      unique: [['title', 'owner_id']],
      access: {
        ...{ read: 'anyone', create: 'anyone', update: ['owner', { where: { data: { null: true } } }] },
        fields: { private: { read: 'role:admin' } },
      },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [
    {
      ...{ version: 'v2', resource: 'books', rename: { content: 'data' } },
      convert: {
        list: { schema: { type: 'array', optional: true }, older: counted as never, newer: counted as never },
      },
    },
  ],
})

const patchType = { 'content-type': 'application/json-patch+json' }
/** Text that only stays as it is where nothing parses it and writes it anew. */
const data = { 10: 'a', 2: 'b', z: [1.5, { deep: null }], a: 'é"\\ \n', n: 1e21 }

async function book(trial: Trial): Promise<{ id: string; path: string }> {
  const body = { title: 'One', data, list: [3, 1, 2], secret: { a: 1 }, private: { b: 2 } }
  const { id } = await trial.make('books', body)
  return { id, path: `/v2/books/${id}` }
}

it('MET-4: the response to a PATCH is the record as GET shows it, with its tag, and the event has the same', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { path } = await book(trial)
  for (const [body, headers] of [
    [{ title: 'Two' }, {}],
    [{ list: [1] }, {}],
    [JSON.stringify([{ op: 'replace', path: '/title', value: 'Three' }]), patchType],
    [
      JSON.stringify([
        { op: 'add', path: '/data/z/0', value: 7 },
        { op: 'test', path: '/title', value: 'Three' },
      ]),
      patchType,
    ],
    [JSON.stringify([{ op: 'copy', from: '', path: '/data/whole' }]), patchType],
    [{ private: { c: 3 } }, {}],
  ] as const) {
    const before = await send({ path })
    const patched = await send({
      method: 'PATCH',
      path,
      body,
      headers: { ...headers, 'if-match': String(before.headers['etag']) },
    })
    assert.equal(patched.status, 200, patched.text)
    const now = await send({ path })
    assert.equal(patched.text, now.text)
    assert.equal(patched.headers['etag'], now.headers['etag'])
    assert.notEqual(patched.headers['etag'], before.headers['etag'])
    const events = await send({ path: '/v2/events?limit=100' })
    assert.deepEqual(events.json.data.at(-1).data, now.json)
    const stale = await send({
      method: 'PATCH',
      path,
      body,
      headers: { ...headers, 'if-match': String(before.headers['etag']) },
    })
    assert.equal(stale.status, 412)
  }
  const { whole } = (await send({ path })).json.data
  assert.deepEqual(whole.list, [1], 'a patch that names the whole record sees all of it')
})

it('MET-4: a PATCH without a change keeps the tag, and makes no event', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { path } = await book(trial)
  const before = await send({ path })
  const count = async () => (await send({ path: '/v2/events' })).json.data.length
  const events = await count()
  for (const [body, headers] of [
    [{ title: 'One' }, {}],
    [{ data: { 10: 'a', z: [1.5, { deep: null }] }, list: [3, 1, 2] }, {}],
    [{ data: { absent: null } }, {}],
    [JSON.stringify([{ op: 'test', path: '/data/a', value: data.a }]), patchType],
    [
      JSON.stringify([
        { op: 'add', path: '/data/x', value: 1 },
        { op: 'remove', path: '/data/x' },
      ]),
      patchType,
    ],
  ] as const) {
    const { status, headers: sent, text } = await send({ method: 'PATCH', path, body, headers })
    assert.deepEqual([status, sent['etag'], text], [200, before.headers['etag'], before.text])
  }
  assert.equal(await count(), events)
})

it('MET-4: values that nobody or not this caller may read stay while other fields change', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { id } = await trial.make('books', { title: 'One', secret: { a: 1 }, private: { b: 2 } })
  const path = `/v2/books/${id}`
  const patch = JSON.stringify([{ op: 'add', path: '/title', value: 'Three' }])
  assert.equal((await send({ method: 'PATCH', path, body: { title: 'Two' }, as: 'bob' })).json.private, null)
  assert.equal((await send({ method: 'PATCH', path, body: patch, headers: patchType, as: 'bob' })).json.private, null)
  assert.deepEqual((await send({ path })).json.private, { b: 2 })
  // The secret is there: a test of it is of nothing, and merging into it replaces it.
  const test = JSON.stringify([{ op: 'test', path: '/secret', value: { a: 1 } }])
  assert.equal((await send({ method: 'PATCH', path, body: test, headers: patchType })).status, 409)
  assert.equal((await send({ method: 'PATCH', path, body: { secret: { b: 2 } } })).status, 200)
})

it('AUT-8: a permission that looks at an untouched field is decided by its value', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const full = await book(trial)
  const empty = await trial.make('books', { title: 'Empty' })
  const body = { title: 'Other' }
  assert.equal((await send({ method: 'PATCH', path: full.path, body, as: 'bob' })).status, 403)
  assert.equal((await send({ method: 'PATCH', path: `/v2/books/${empty.id}`, body, as: 'bob' })).status, 200)
  const filled = await send({ method: 'PATCH', path: `/v2/books/${empty.id}`, body: { data: {} }, as: 'bob' })
  assert.equal(filled.status, 403, 'the record as it would be')
})

it('VER-2: an older version converts the values that a PATCH names, and those that the response shows', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { id, path } = await book(trial)
  const converted = async (body: unknown, headers = {}, version = 'v1') => {
    conversions = 0
    const answer = await send({ method: 'PATCH', path: `/${version}/books/${id}`, body, headers })
    assert.equal(answer.status, 200, answer.text)
    return [conversions, answer.json.title, answer.json.content?.a ?? answer.json.data?.a, answer.json.list[0]]
  }
  assert.deepEqual(await converted({ title: 'Two' }), [1, 'Two', data.a, 3])
  const patch = JSON.stringify([{ op: 'replace', path: '/content/a', value: 'b' }])
  assert.deepEqual(await converted(patch, patchType), [1, 'Two', 'b', 3])
  assert.deepEqual(await converted({ title: 'Three' }, {}, 'v2'), [0, 'Three', 'b', 3])
  assert.deepEqual((await converted({ list: [5] })).slice(1), ['Three', 'b', 5])
  assert.deepEqual((await send({ path })).json.list, [5])
})

it('RES-9: a read-only field and a field of the server are refused as before, beside fields that are not read', async (context) => {
  const trial = await trialFor(context, shelves)
  const { send } = trial
  const { path } = await book(trial)
  const body = JSON.stringify([
    { op: 'remove', path: '/created_at' },
    { op: 'remove', path: '/data' },
  ])
  assert.deepEqual(places(await send({ method: 'PATCH', path, body, headers: patchType })), ['READ_ONLY /created_at'])
  assert.deepEqual(places(await send({ method: 'PATCH', path, body: { id: 'x', data: 1 } })), [
    ...['READ_ONLY /id', 'INVALID_TYPE /data'],
  ])
})
