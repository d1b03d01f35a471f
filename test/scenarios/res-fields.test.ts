/** RES: fields that the server sets, and fields that it refuses. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples, studio } from '../declarations.ts'
import { places, scenarios, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

it('RES-4: the server assigns a new lower-case UUIDv7 each time, in the order of time', async (context) => {
  const { make } = await trialFor(context, studio)
  const ids: string[] = []
  for (let index = 0; index < 20; index++)
    ids.push((await make('users', { name: 'Ann', email: `${index}@example.org` })).id)
  for (const id of ids) assert.match(id, uuidV7)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual([...ids].sort(), ids)
})

const systemFields = ['id', 'created_at', 'updated_at', 'deleted_at']

scenarios(studio, [
  ...systemFields.flatMap((field) =>
    [nowhere, null, 7].map((value) => ({
      name: `POST with ${field} ${JSON.stringify(value)}`,
      rule: field === 'id' ? 'RES-4' : 'RES-9',
      send: { path: '/v1/projects', body: { name: 'One', [field]: value } },
      status: 400,
      code: 'VALIDATION_FAILED',
      errors: [`READ_ONLY /${field}`],
      check: nothingIn('projects'),
    })),
  ),
  {
    name: 'the system fields of a nested POST are refused too',
    rule: 'RES-4',
    send: async (trial) => {
      const project = await trial.make('projects', { name: 'One' })
      return { path: `/v1/projects/${project.id}/tasks`, body: { title: 'x', id: nowhere, created_at: 'now' } }
    },
    status: 400,
    errors: ['READ_ONLY /id', 'READ_ONLY /created_at'],
  },
])

function nothingIn(collection: string) {
  return async (_: unknown, { send }: Trial) => {
    assert.equal((await send({ path: `/v1/${collection}` })).json.pagination.total_count, 0)
  }
}

it('RES-5: created_at is the time of creation, updated_at that of the last change', async (context) => {
  const { send, make, clock } = await trialFor(context, studio)
  const before = new Date().toISOString()
  const made = await make('projects', { name: 'One' })
  assert.match(made.created_at, instant)
  assert.ok(made.created_at >= before && made.created_at <= new Date().toISOString())
  assert.equal(made.updated_at, made.created_at)
  clock.ahead = 60_000
  const path = `/v1/projects/${made.id}`
  const patched = await send({ method: 'PATCH', path, body: { description: 'x' } })
  assert.equal(patched.json.created_at, made.created_at)
  assert.ok(Date.parse(patched.json.updated_at) >= Date.parse(made.created_at) + 60_000)
  clock.ahead = 120_000
  const unchanged = await send({ method: 'PATCH', path, body: { description: 'x' } })
  assert.deepEqual(unchanged.json, patched.json)
})

it('RES-5: updated_at never goes back, even if the clock does', async (context) => {
  const { send, make, clock } = await trialFor(context, studio)
  clock.ahead = 3_600_000
  const made = await make('projects', { name: 'One' })
  clock.ahead = 0
  const patched = await send({ method: 'PATCH', path: `/v1/projects/${made.id}`, body: { name: 'Two' } })
  assert.equal(patched.status, 200)
  assert.equal(patched.json.updated_at, made.updated_at)
})

it('RES-6: live records have no deleted_at', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const made = await make('projects', { name: 'One' })
  const path = `/v1/projects/${made.id}`
  const answers = [
    made,
    (await send({ path })).json,
    (await send({ method: 'PATCH', path, body: { name: 'Two' } })).json,
    (await send({ method: 'PUT', path, body: { name: 'Three' } })).json,
    (await send({ path: '/v1/projects' })).json.data[0],
    (await send({ path: '/v1/projects?include_deleted=true' })).json.data[0],
    (await send({ path: `${path}?fields=name` })).json,
  ]
  for (const record of answers) assert.ok(!('deleted_at' in record), JSON.stringify(record))
})

it('RES-6: a soft-deleted record in a list has deleted_at', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const made = await make('projects', { name: 'One' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${made.id}` })).status, 204)
  const { data } = (await send({ path: '/v1/projects?include_deleted=true' })).json
  assert.equal(data.length, 1)
  assert.match(data[0].deleted_at, instant)
  const { deleted_at, ...rest } = data[0]
  assert.deepEqual(rest, made)
})

it('RES-8: every path and method returns the same structure', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  const made = await make('tasks', { title: 'First', project_id: project.id, secret_note: 'hush' })
  const expected = [
    ...['id', 'title', 'status', 'project_id', 'assignee_id', 'due_on', 'estimate', 'labels'],
    ...['created_at', 'updated_at'],
  ]
  const path = `/v1/tasks/${made.id}`
  const answers = {
    post: made,
    get: (await send({ path })).json,
    list: (await send({ path: '/v1/tasks' })).json.data[0],
    nested: (await send({ path: `/v1/projects/${project.id}/tasks` })).json.data[0],
    offset: (await send({ path: '/v1/tasks?offset=0' })).json.data[0],
    page: (await send({ path: '/v1/tasks?page=1' })).json.data[0],
    patch: (await send({ method: 'PATCH', path, body: { estimate: null } })).json,
    put: (await send({ method: 'PUT', path, body: { title: 'First', project_id: project.id, secret_note: 'hush' } }))
      .json,
  }
  for (const [name, record] of Object.entries(answers)) {
    assert.deepEqual(Object.keys(record), expected, name)
    // A writeOnly value that is sent counts as a change (AUT-9).
    const { updated_at } = name === 'put' ? record : made
    assert.deepEqual(record, { ...made, updated_at }, name)
  }
  assert.equal(made.due_on, null)
})

scenarios(studio, [
  {
    name: 'every unknown field is an error of its own, whatever it is called',
    rule: 'RES-9',
    send: {
      path: '/v1/projects',
      body: '{"name":"x","colour":1,"Name":2,"constructor":3,"toString":4,"hasOwnProperty":5,"":6,"a/b~c":7,"name ":8,"_revision":9,"_row":10}',
    },
    status: 400,
    code: 'VALIDATION_FAILED',
    errors: [
      ...['colour', 'Name', 'constructor', 'toString', 'hasOwnProperty', '', 'a~1b~0c', 'name ', '_revision', '_row'],
    ].map((name) => `UNKNOWN_FIELD /${name}`.trim()),
    check: nothingIn('projects'),
  },
  {
    name: 'a field of another collection is unknown here',
    rule: 'RES-9',
    send: { path: '/v1/users', body: { name: 'Ann', email: 'a@example.org', title: 'x' } },
    status: 400,
    errors: ['UNKNOWN_FIELD /title'],
  },
])

/** What each kind of field takes from each method: the same value, another one, or `null`. */
const touched: readonly { field: string; same: unknown; other: unknown; code: string }[] = [
  { field: 'id', same: undefined, other: nowhere, code: 'READ_ONLY' },
  { field: 'created_at', same: undefined, other: '2020-01-01T00:00:00.000Z', code: 'READ_ONLY' },
  { field: 'updated_at', same: undefined, other: '2020-01-01T00:00:00.000Z', code: 'READ_ONLY' },
  { field: 'deleted_at', same: null, other: '2020-01-01T00:00:00.000Z', code: 'READ_ONLY' },
  { field: 'serial', same: 7, other: 8, code: 'READ_ONLY' },
  { field: 'owner_id', same: 'ann', other: 'bob', code: 'READ_ONLY' },
  { field: 'origin', same: 'here', other: 'there', code: 'IMMUTABLE' },
]

for (const { field, same, other, code } of touched) {
  for (const method of ['PUT', 'PATCH']) {
    it(`RES-9: ${method} with ${field} unchanged changes nothing, with another value is refused`, async (context) => {
      const { send, make } = await trialFor(context, samples)
      const made = await make('samples', { title: 'One', origin: 'here' }, 'ann')
      const path = `/v1/samples/${made.id}`
      const body = { title: 'One', origin: 'here' }
      const present = await send({ method, path, as: 'ann', body: { ...body, [field]: same ?? made[field] ?? null } })
      assert.equal(present.status, 200, present.text)
      assert.deepEqual(present.json, made)
      for (const value of [other, 12345, [], {}]) {
        const changed = await send({ method, path, as: 'ann', body: { ...body, title: 'Two', [field]: value } })
        assert.equal(changed.status, 400, changed.text)
        const expected = field === 'origin' && value !== other ? `INVALID_TYPE /${field}` : `${code} /${field}`
        assert.deepEqual(places(changed), [expected])
      }
      assert.deepEqual((await send({ path, as: 'ann' })).json, made)
    })
  }
}

it('RES-9: POST refuses read-only fields, and takes the immutable one once', async (context) => {
  const { send } = await trialFor(context, samples)
  const refused = await send({ path: '/v1/samples', as: 'ann', body: { title: 'x', serial: 7, owner_id: 'ann' } })
  assert.equal(refused.status, 400)
  assert.deepEqual(places(refused), ['READ_ONLY /serial', 'READ_ONLY /owner_id'])
  const made = await send({ path: '/v1/samples', as: 'ann', body: { title: 'x', origin: 'here', pin: '1' } })
  assert.equal(made.status, 201)
  assert.deepEqual([made.json.serial, made.json.owner_id, made.json.origin], [7, 'ann', 'here'])
})

it('RES-9: a PUT that leaves out an immutable field would clear it, and is refused', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const { id } = await make('samples', { title: 'One', origin: 'here' }, 'ann')
  const put = await send({ method: 'PUT', path: `/v1/samples/${id}`, as: 'ann', body: { title: 'One' } })
  assert.equal(put.status, 400)
  assert.deepEqual(places(put), ['IMMUTABLE /origin'])
  const unset = await make('samples', { title: 'Two' }, 'ann')
  const path = `/v1/samples/${unset.id}`
  assert.equal((await send({ method: 'PUT', path, as: 'ann', body: { title: 'Zwei' } })).status, 200)
  const late = await send({ method: 'PATCH', path, as: 'ann', body: { origin: 'late' } })
  assert.deepEqual([late.status, ...places(late)], [400, 'IMMUTABLE /origin'])
})

it('RES-9: every method accepts a writeOnly field, and none returns it', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', { title: 'One', pin: 'first-pin' }, 'ann')
  const path = `/v1/samples/${made.id}`
  const answers = [
    await send({ path, as: 'ann' }),
    await send({ path: '/v1/samples' }),
    await send({ method: 'PATCH', path, as: 'ann', body: { pin: 'second-pin' } }),
    await send({ method: 'PUT', path, as: 'ann', body: { title: 'One', pin: 'third-pin' } }),
    await send({ method: 'PATCH', path, as: 'ann', body: { pin: 5 } }),
    await send({ path: `${path}?fields=pin` }),
    await send({ path: '/v1/samples?fields=pin' }),
    await send({ path: '/v1/samples?pin=third-pin' }),
    await send({ path: '/v1/samples?sort=pin' }),
    await send({ path: '/v1/samples?q=third' }),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 400, 400, 400, 400, 400, 200],
  )
  for (const answer of answers.slice(0, 4)) assert.ok(!answer.text.includes('pin'), answer.text)
  assert.equal(answers[9]?.json.data.length, 0)
  assert.ok(!('pin' in made))
})

it('RES-9: field names may be keywords of SQL', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const values = { order: 'o', select: 's', group: 3, permitted: 'p', json: 'j', value: 'v', t: 't' }
  const made = await make('selects', values)
  const path = `/v1/selects/${made.id}`
  const patched = await send({ method: 'PATCH', path, body: { permitted: 'p' } })
  assert.deepEqual(patched.json, made, 'the same value is no change')
  const listed = await send({ path: '/v1/selects?order=o&sort=-group,order&q=j&fields=value,permitted,json' })
  assert.deepEqual(listed.json.data, [{ id: made.id, permitted: 'p', json: 'j', value: 'v' }])
  const clash = await send({ path: '/v1/selects', body: { select: 's' } })
  assert.deepEqual([clash.status, ...places(clash)], [409, 'DUPLICATE_VALUE /select'])
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
})
