/** MET: PATCH with a JSON Patch (RFC 6902). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { samples, studio } from '../declarations.ts'
import { places, type Received, type Scenario, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const full = {
  ...{ title: 'Full', code: 'c', count: 3, ratio: 1.5, flag: true, moment: '2026-01-01T00:00:00Z', payload: { a: 1 } },
  ...{ strict: { size: 1 }, list: [1], anything: 'x', stage: 'used', origin: 'here', pin: 'p' },
}

const type = 'application/json-patch+json'
const expect = (path: string, value: unknown) => ({ op: 'test', path, value })
const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })
const remove = (path: string) => ({ op: 'remove', path })

function patching(path: string, body: unknown, more: Partial<Sent> = {}): Sent {
  return { method: 'PATCH', path, body, ...more, headers: { 'content-type': type, ...more.headers } }
}

it('MET-4: a JSON Patch applies its operations in order', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', full)
  const path = `/v1/samples/${made.id}`
  const operations = [
    expect('/title', 'Full'),
    replace('/title', 'Fuller'),
    add('/payload/b', { c: [] }),
    { op: 'copy', from: '/count', path: '/payload/b/c/-' },
    { op: 'move', from: '/anything', path: '/list/0' },
    add('/anything', null),
    remove('/code'),
    remove('/stage'),
  ]
  const patched = await send(patching(path, operations))
  assert.equal(patched.status, 200, patched.text)
  const { updated_at } = patched.json
  assert.deepEqual(patched.json, {
    ...made,
    ...{ title: 'Fuller', payload: { a: 1, b: { c: [3] } }, list: ['x', 1], anything: null, code: null, stage: 'new' },
    updated_at,
  })
  const read = await send({ path })
  assert.deepEqual(read.json, patched.json)
  assert.equal(read.headers.etag, patched.headers.etag)
  assert.notEqual(updated_at, made.updated_at)
})

it('MET-4: a JSON Patch that changes nothing leaves the record and its tag unchanged', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', full)
  const path = `/v1/samples/${made.id}`
  const { etag } = (await send({ path })).headers
  for (const operations of [[], [expect('/count', 3)], [replace('/count', 4), replace('/count', 3)]]) {
    const answer = await send(patching(path, operations))
    assert.deepEqual([answer.status, answer.headers.etag, answer.json], [200, etag, made])
  }
})

const patch =
  (body: unknown, headers: Record<string, string> = {}) =>
  async ({ make }: Trial): Promise<Sent> => {
    const { id } = await make('samples', full)
    return patching(`/v1/samples/${id}`, body, { headers })
  }

const asMade: Scenario['check'] = async (_, { send }) => {
  const [record] = (await send({ path: '/v1/samples' })).json.data
  const { pin, ...shown } = full
  assert.deepEqual({ ...record, ...shown }, record)
  assert.equal(record.updated_at, record.created_at)
}

function refused(name: string, body: unknown, status: number, code: string, ...errors: string[]): Scenario {
  return { name, rule: 'MET-4', send: patch(body), status, code, errors, check: asMade }
}

const first = replace('/count', 9)

scenarios(samples, [
  refused('an object is no JSON Patch', { count: 4 }, 400, 'VALIDATION_FAILED', 'INVALID_TYPE'),
  refused('every malformed operation is in one answer', [{ op: 'set', path: 'count' }, {}, { op: 'add', path: '/count' }],
    400, 'VALIDATION_FAILED', 'NOT_IN_ENUM /0/op', 'INVALID_FORMAT /0/path', 'REQUIRED /1/op', 'REQUIRED /1/path', 'REQUIRED /2/value'),
  refused('a path that is not there', [first, remove('/nothing')], 400, 'VALIDATION_FAILED', 'PATH_NOT_FOUND /1/path'),
  refused('a source that is not there', [first, { op: 'copy', from: '/list/1', path: '/anything' }],
    400, 'VALIDATION_FAILED', 'PATH_NOT_FOUND /1/from'),
  refused('an operation that fails undoes those before it', [first, add('/list/-', 2), replace('/list/7', 1)],
    400, 'VALIDATION_FAILED', 'PATH_NOT_FOUND /2/path'),
  refused('a test that fails undoes those before it', [first, expect('/count', 3)], 409, 'CONFLICT', 'CONFLICT /1'),
  refused('a field that there is not', [first, add('/more', 1)], 400, 'VALIDATION_FAILED', 'UNKNOWN_FIELD /more'),
  refused('values that do not fit, each at its field', [first, replace('/title', ''), replace('/strict/size', 'x'), add('/moment', 'x')],
    400, 'VALIDATION_FAILED', 'TOO_SHORT /title', 'INVALID_FORMAT /moment', 'INVALID_TYPE /strict/size'),
  refused('a required field that is removed', [first, remove('/title')], 400, 'VALIDATION_FAILED', 'REQUIRED /title'),
  refused('fields of the server, changed or removed', [first, replace('/id', nowhere), remove('/updated_at'), replace('/serial', 8)],
    400, 'VALIDATION_FAILED', 'READ_ONLY /id', 'READ_ONLY /updated_at', 'READ_ONLY /serial'),
  refused('an immutable field', [first, replace('/origin', 'there')], 400, 'VALIDATION_FAILED', 'IMMUTABLE /origin'),
  refused('something else than a record', [replace('', [])], 400, 'VALIDATION_FAILED', 'INVALID_TYPE'),
  {
    name: 'a body that is not JSON',
    rule: 'MET-4',
    send: patch('[{"op": "remove", "path": "/code"}'),
    status: 400,
    code: 'MALFORMED_JSON',
    check: asMade,
  },
  {
    name: 'fields of the server and immutable ones may be set to what they are',
    rule: 'MET-4',
    send: patch([replace('/origin', 'here'), replace('/serial', 7)]),
    status: 200,
  },
  {
    name: 'another media type is refused, and those that are read are named',
    rule: 'MET-4',
    send: patch([first], { 'content-type': 'application/json-patch' }),
    status: 415,
    headers: { 'accept-patch': /(?=.*application\/json(?:,|$))(?=.*merge-patch\+json)(?=.*json-patch\+json)/ },
    check: asMade,
  },
  {
    name: 'a JSON Patch of what is not there',
    rule: 'MET-7',
    send: patching(`/v1/samples/${nowhere}`, [first]),
    status: 404,
  },
  {
    name: 'If-Match stands before everything in the patch',
    rule: 'CON-3',
    send: patch([{ op: 'set' }], { 'if-match': '"other"' }),
    status: 412,
    check: asMade,
  },
]) // biome-ignore format: one row a refusal

it('MET-4: a JSON Patch can set a writeOnly field, and never read it', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const { id } = await make('samples', full)
  const path = `/v1/samples/${id}`
  const told = (answer: Received) => [answer.status, ...places(answer)]
  assert.deepEqual(told(await send(patching(path, [expect('/pin', 'p')]))), [409, 'CONFLICT /0'])
  const copied = await send(patching(path, [{ op: 'copy', from: '/pin', path: '/anything' }]))
  assert.deepEqual(told(copied), [400, 'PATH_NOT_FOUND /0/from'])
  const before = (await send({ path })).headers.etag
  const set = await send(patching(path, [add('/pin', 'q')]))
  assert.equal(set.status, 200, set.text)
  assert.equal('pin' in set.json, false)
  assert.notEqual(set.headers.etag, before)
  // It stays through a patch that does not name it, and a tag never confirms a guess (AUT-9).
  await send(patching(path, [replace('/count', 4)]))
  const { etag } = (await send({ path })).headers
  assert.notEqual((await send(patching(path, [add('/pin', 'q')]))).headers.etag, etag)
})

it('CON-5: of 16 concurrent JSON Patches with one tag, one is applied', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const { id } = await make('samples', { title: 'x', list: [] })
  const path = `/v1/samples/${id}`
  const etag = String((await send({ path })).headers.etag)
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      send(patching(path, [add('/list/-', index)], { headers: { 'if-match': etag } })),
    ),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(15).fill(412)])
  assert.equal((await send({ path })).json.list.length, 1)
})

it('CON-5: concurrent JSON Patches are applied one after the other', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const { id } = await make('samples', { title: 'x', list: [] })
  const path = `/v1/samples/${id}`
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) => send(patching(path, [add('/list/-', index)]))),
  )
  for (const answer of answers) assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(new Set((await send({ path })).json.list), new Set(Array.from({ length: 16 }, (_, index) => index)))
})

it('MET-4: references, uniqueness and transitions apply to a JSON Patch as to every change', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id: project_id } = await make('projects', { name: 'Garden' })
  await make('tasks', { title: 'Dig', project_id })
  const task = await make('tasks', { title: 'Plant', project_id })
  const path = `/v1/tasks/${task.id}`
  for (const [operation, status, code, place] of [
    [replace('/assignee_id', nowhere), 400, 'VALIDATION_FAILED', 'INVALID_REFERENCE /assignee_id'],
    [replace('/title', 'Dig'), 409, 'DUPLICATE_VALUE', 'DUPLICATE_VALUE /project_id'],
    [remove('/project_id'), 400, 'VALIDATION_FAILED', 'IMMUTABLE /project_id'],
  ] as const) {
    const answer = await send(patching(path, [operation]))
    assert.deepEqual([answer.status, answer.json.code, places(answer)], [status, code, [place]])
  }
  assert.equal((await send(patching(path, [replace('/status', 'done')]))).status, 200)
  const back = await send(patching(path, [replace('/status', 'doing')]))
  assert.deepEqual([back.status, back.json.code], [409, 'INVALID_TRANSITION'])
})

const access = { read: 'role:admin', create: 'anyone', update: 'anyone' } as const
const boxes = defineInterface({
  name: 'boxes',
  resources: { boxes: { fields: { text: Type.String() }, access } },
})

it('AUT-4: a caller who may change but not read a record can send a merge patch, and no JSON Patch', async (context) => {
  const { send, make } = await trialFor(context, boxes)
  const { id } = await make('boxes', { text: 'secret' })
  const path = `/v1/boxes/${id}`
  for (const operations of [[expect('/text', 'secret')], [expect('/text', 'guess')], [add('/text', 'x')], {}]) {
    const answer = await send(patching(path, operations, { as: 'ann', headers: { 'if-match': '"0"' } }))
    assert.deepEqual([answer.status, answer.json.code], [403, 'FORBIDDEN'])
  }
  assert.equal((await send(patching(path, [expect('/text', 'secret')]))).status, 200)
  assert.equal((await send({ method: 'PATCH', path, body: { text: 'known' }, as: 'ann' })).status, 204)
  // CON-6: whoever may read nothing there is refused before it is said whether there is a record.
  const absent = await send(patching(`/v1/boxes/${nowhere}`, [add('/text', 'x')], { as: 'ann' }))
  assert.deepEqual([absent.status, absent.json.code], [403, 'FORBIDDEN'])
})
