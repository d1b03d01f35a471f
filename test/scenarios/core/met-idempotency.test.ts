/** MET-9: creations that are repeated with the same `Idempotency-Key`. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples, studio } from '../../declarations.ts'
import { company } from '../../declarations-company.ts'
import { type Received, type Scenario, type Sent, scenarios, trialFor } from '../../harness.ts'
import { countOf, nowhere } from '../../steps.ts'

/** A creation under a key. */
function keyed(key: string, body: unknown = { title: 'Tea' }, more: Partial<Sent> = {}): Sent {
  return { path: '/v1/samples', body, ...more, headers: { 'idempotency-key': key, ...more.headers } }
}

/** All of an answer that does not belong to the request itself. */
function whole({ status, headers, text }: Received): unknown {
  const { 'x-request-id': _, 'server-timing': __, ...kept } = headers
  return { status, headers: kept, text }
}

it('MET-9: a repetition gets the first response, byte for byte, and creates nothing', async (context) => {
  const trial = await trialFor(context, samples)
  const { send, clock } = trial
  const first = await send(keyed('"a key"', { title: 'Tea', count: 1, pin: 'p' }))
  assert.equal(first.status, 201, first.text)
  assert.equal(first.headers.location, `/v1/samples/${first.json.id}`)
  assert.ok(first.headers.etag && first.headers['last-modified'])
  for (const hours of [0, 1, 22]) {
    clock.ahead += hours * 3_600_000
    const again = await send(keyed('"a key"', { title: 'Tea', count: 1, pin: 'p' }))
    assert.deepEqual(whole(again), whole(first))
    assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id'])
  }
  assert.equal(await countOf(trial, 'samples'), 1)
})

it('MET-9: the first response stays, even after the record has changed', async (context) => {
  const { send } = await trialFor(context, samples)
  const first = await send(keyed('"k"'))
  const path = `/v1/samples/${first.json.id}`
  assert.equal((await send({ method: 'PATCH', path, body: { title: 'Oil' } })).status, 200)
  assert.deepEqual(whole(await send(keyed('"k"'))), whole(first))
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.deepEqual(whole(await send(keyed('"k"'))), whole(first))
  assert.equal((await send({ path })).status, 404)
})

it('MET-9: without a key, and with another, a repetition creates another record', async (context) => {
  const trial = await trialFor(context, samples)
  const answers = [keyed('"a"'), keyed('"b"'), { path: '/v1/samples', body: { title: 'Tea' } }]
  for (const sent of answers) assert.equal((await trial.send(sent)).status, 201)
  assert.equal(await countOf(trial, 'samples'), 3)
})

it('MET-9: another body with the same key is refused, and creates nothing', async (context) => {
  const trial = await trialFor(context, samples)
  await trial.send(keyed('"k"'))
  for (const body of [{ title: 'Oil' }, { title: 'Tea', count: null }, {}, [], { title: 5 }]) {
    const answer = await trial.send(keyed('"k"', body))
    assert.deepEqual([answer.status, answer.json.code], [422, 'IDEMPOTENCY_KEY_REUSED'])
  }
  assert.equal(await countOf(trial, 'samples'), 1)
  assert.equal((await trial.send(keyed('"k"'))).status, 201)
})

it('MET-9: a body is the same in any spelling of its JSON', async (context) => {
  const trial = await trialFor(context, samples)
  const first = await trial.send(keyed('"k"', '{"title":"Tea","ratio":1.5,"payload":{"a":1,"b":[1,2]}}'))
  assert.equal(first.status, 201, first.text)
  const again = '{ "payload": {"b": [1, 2.0], "a": 1}, "ratio": 15e-1, "title": "T\\u0065a" }'
  assert.deepEqual(whole(await trial.send(keyed('"k"', again))), whole(first))
  const turned = '{"title":"Tea","ratio":1.5,"payload":{"a":1,"b":[2,1]}}'
  assert.equal((await trial.send(keyed('"k"', turned))).status, 422)
})

it('MET-9: the same key with and without quotes is one key', async (context) => {
  const trial = await trialFor(context, samples)
  const first = await trial.send(keyed('8e03978e-40d5'))
  assert.deepEqual(whole(await trial.send(keyed('"8e03978e-40d5"'))), whole(first))
})

it('MET-9: callers do not share keys', async (context) => {
  const trial = await trialFor(context, samples)
  const ids = new Set<string>()
  for (const as of ['root', 'ann', 'bob']) {
    for (const title of ['Tea', 'Tea']) ids.add((await trial.send(keyed('"k"', { title }, { as }))).json.id)
  }
  assert.equal(ids.size, 3)
  assert.equal((await trial.send(keyed('"k"', { title: 'Oil' }, { as: 'eve' }))).status, 201)
})

it('MET-9: paths do not share keys', async (context) => {
  const trial = await trialFor(context, studio)
  const { send, make } = trial
  const [garden, house] = [await make('projects', { name: 'Garden' }), await make('projects', { name: 'House' })]
  const body = { title: 'Paint' }
  const nested = ({ id }: { id: string }) => keyed('"k"', body, { path: `/v1/projects/${id}/tasks` })
  const inGarden = await send(nested(garden))
  const inHouse = await send(nested(house))
  const top = await send(keyed('"k"', { name: 'Yard' }, { path: '/v1/projects' }))
  const person = await send(keyed('"k"', { name: 'Ann', email: 'ann@example.com' }, { path: '/v1/users' }))
  assert.deepEqual([inGarden, inHouse, top, person].map(({ status }) => status), [201, 201, 201, 201])
  assert.deepEqual(whole(await send(nested(garden))), whole(inGarden))
  assert.equal(await countOf(trial, 'tasks'), 2)
}) // biome-ignore format: one request a line

it('MET-9: 64 concurrent repetitions create one record and get one response', async (context) => {
  const trial = await trialFor(context, samples)
  const body = { title: 'Tea', code: 'unique' }
  // Where an engine can see that the first still runs, the others are told so, and ask again.
  const insisting = async (): Promise<Received> => {
    const answer = await trial.send(keyed('"k"', body))
    if (answer.json.code !== 'IDEMPOTENCY_KEY_IN_USE') return answer
    assert.equal(answer.status, 409)
    return insisting()
  }
  const answers = await Promise.all(Array.from({ length: 64 }, insisting))
  for (const answer of answers) assert.deepEqual(whole(answer), whole(answers[0] as Received))
  assert.equal(answers[0]?.status, 201)
  assert.equal(await countOf(trial, 'samples'), 1)
})

it('MET-9: after a day the key is new', async (context) => {
  const trial = await trialFor(context, samples)
  const first = await trial.send(keyed('"k"'))
  trial.clock.ahead = 24 * 3_600_000 + 1_000
  const next = await trial.send(keyed('"k"', { title: 'Oil' }))
  assert.equal(next.status, 201, next.text)
  assert.notEqual(next.json.id, first.json.id)
})

it('MET-9: an error is not kept: the repetition is decided again', async (context) => {
  const trial = await trialFor(context, samples)
  const { send, make } = trial
  const taken = await make('samples', { title: 'Tea', code: 'c' })
  const conflict = await send(keyed('"k"', { title: 'Oil', code: 'c' }))
  assert.deepEqual([conflict.status, conflict.json.code], [409, 'DUPLICATE_VALUE'])
  const invalid = await send(keyed('"k"', { title: '' }))
  assert.deepEqual([invalid.status, invalid.json.code], [400, 'VALIDATION_FAILED'])
  await send({ method: 'DELETE', path: `/v1/samples/${taken.id}` })
  assert.equal((await send(keyed('"k"', { title: 'Oil', code: 'c' }))).status, 201)
  assert.equal((await send(keyed('"k"', { title: 'Oil', code: 'c' }))).status, 201)
  assert.equal(await countOf(trial, 'samples'), 1)
})

it('MET-9: the preference of the first request decides the response, not that of a repetition', async (context) => {
  const { send } = await trialFor(context, samples)
  const prefer = (key: string, value: string) => keyed(key, { title: 'Tea' }, { headers: { prefer: value } })
  const minimal = await send(prefer('"a"', 'return=minimal'))
  assert.deepEqual([minimal.status, minimal.text, minimal.headers['preference-applied']], [201, '', 'return=minimal'])
  assert.deepEqual(whole(await send(keyed('"a"'))), whole(minimal))
  assert.deepEqual(whole(await send(prefer('"a"', 'return=representation'))), whole(minimal))
  const plain = await send(keyed('"b"'))
  assert.equal(plain.json.title, 'Tea')
  assert.deepEqual(whole(await send(prefer('"b"', 'return=minimal'))), whole(plain))
})

it('CON-6: 403 and 404 come before the error for a key that was used with another body, 400 and 409 after it', async (context) => {
  const trial = await trialFor(context, studio)
  const { send, make } = trial
  const path = async (name: string) => `/v1/projects/${(await make('projects', { name }, 'ann')).id}`
  const [garden, house] = [await path('Garden'), await path('House')]
  const create = (under: string, body: unknown) => send(keyed('"k"', body, { as: 'ann', path: `${under}/tasks` }))
  const status = async (under: string, body: unknown) => (await create(under, body)).status
  assert.equal(await status(garden, { title: 'Dig' }), 201)
  assert.equal(await status(house, { title: 'Dig' }), 201)
  await make('tasks', { title: 'Water', project_id: garden.split('/').at(-1) })
  assert.equal(await status(garden, { title: '' }), 422)
  assert.equal(await status(garden, { title: 'Water' }), 422)
  const shared = { method: 'PATCH', path: garden, body: { owner_id: 'bob', visibility: 'public' } }
  assert.equal((await send(shared)).status, 200)
  assert.equal(await status(garden, { title: 'Sow' }), 403)
  const [task] = (await send({ path: `${house}/tasks` })).json.data
  assert.equal((await send({ method: 'PATCH', path: `/v1/tasks/${task.id}`, body: { status: 'done' } })).status, 200)
  assert.equal((await send({ method: 'DELETE', path: house })).status, 204)
  assert.equal(await status(house, { title: 'Sow' }), 404)
})

const malformed: readonly (readonly [name: string, key: string])[] = [
  ['empty', ''],
  ['without content', '""'],
  ['without closing quote', '"a'],
  ['two joined', '"a", "b"'],
  ['bare, with a space', 'a b'],
  ['not ASCII', '"é"'],
  ['too long', `"${'x'.repeat(256)}"`],
]

scenarios(samples, [
  ...malformed.map(
    ([name, key]): Scenario => ({
      name: `a key that is ${name} is refused`,
      rule: 'MET-9',
      send: keyed(key),
      status: 400,
      code: 'INVALID_IDEMPOTENCY_KEY',
      errors: ['INVALID_IDEMPOTENCY_KEY Idempotency-Key'],
      check: async (_, trial) => assert.equal(await countOf(trial, 'samples'), 0),
    }),
  ),
  {
    name: 'a body that is not JSON comes before its key',
    rule: 'CON-6',
    send: keyed('"a', '{'),
    status: 400,
    code: 'MALFORMED_JSON',
  },
  {
    name: 'methods that may be repeated anyway take no notice of the key',
    rule: 'MET-9',
    send: {
      method: 'PUT',
      path: `/v1/samples/${nowhere}`,
      body: { title: 'Tea' },
      headers: { 'idempotency-key': '"' },
    },
    status: 404,
  },
])

it('MET-9: every POST can be repeated: bulk deletion, restoration, deletion jobs and exports', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, make } = current
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three']) ids.push((await make('companies', { name })).id)
  const repeat = async (sent: Sent, key: string) => {
    const headers = { ...sent.headers, 'idempotency-key': `"${key}"` }
    const first = await send({ method: 'POST', ...sent, headers })
    const again = await send({ method: 'POST', ...sent, headers: { ...headers, prefer: 'return=minimal' } })
    assert.deepEqual([again.status, again.text, again.headers.location], [first.status, first.text, first.headers.location]) // biome-ignore format: a line
    assert.equal(again.headers['preference-applied'], first.headers['preference-applied'])
    return first
  }
  const bulk = { path: '/v1/companies/bulk-delete', body: { ids: ids.slice(0, 2) } }
  assert.equal((await repeat(bulk, 'a')).status, 200)
  assert.equal((await send(bulk)).status, 404)
  const restore = { path: `/v1/companies/${ids[0]}/restore` }
  assert.equal((await repeat(restore, 'b')).status, 200)
  assert.equal((await send({ method: 'POST', ...restore })).status, 409)
  const later = { path: '/v1/companies/bulk-delete', body: { ids: [ids[2]] }, headers: { prefer: 'respond-async' } }
  assert.equal((await repeat(later, 'c')).status, 202)
  const asked = { path: '/v1/exports', body: { collection: 'companies', format: 'csv' } }
  assert.equal((await repeat(asked, 'd')).status, 202)
  await app.runner.idle()
  assert.equal(await countOf(current, 'jobs'), 2)
  // Another body under the key changes nothing, whether it could be done or not.
  for (const body of [{ ids: [ids[0]] }, { ids: [nowhere] }, {}]) {
    const reused = await send({ ...bulk, body, headers: { 'idempotency-key': '"a"' } })
    assert.equal(reused.status, 422, JSON.stringify(body))
  }
  for (const body of [{ collection: 'companies', format: 'json' }, { collection: 'houses' }, 5]) {
    const reused = await send({ path: '/v1/exports', body, headers: { 'idempotency-key': '"d"' } })
    assert.equal(reused.status, 422, JSON.stringify(body))
  }
  assert.equal(await countOf(current, 'companies'), 1)
})
