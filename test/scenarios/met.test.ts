/** MET: methods. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples, studio } from '../declarations.ts'
import { places, type Received, type Scenario, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'

const nowhere = '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72'

/** All that a collection holds, with what was deleted, as text. */
async function everything({ send }: Trial, collection: string): Promise<string> {
  const answer = await send({ path: `/v1/${collection}?limit=100&include_deleted=true` })
  assert.equal(answer.status, 200, answer.text)
  return JSON.stringify(answer.json.data)
}

it('MET-1: GET and HEAD change nothing, whatever the parameters', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  await make('tasks', { title: 'First', project_id: project.id })
  const before = [await everything(current, 'projects'), await everything(current, 'tasks')]
  const tags = [(await send({ path: '/v1/projects' })).headers.etag, (await send({ path: '/v1/tasks' })).headers.etag]
  const queries = [
    ...['', '?method=DELETE', '?_method=DELETE', '?action=delete', '?name=changed', '?fields=name', '?q=one'],
    ...['?include_deleted=true', '?sort=-name', "?name=';delete from projects;--", '?visibility=public'],
  ]
  for (const method of ['GET', 'HEAD']) {
    for (const query of queries) {
      for (const path of ['/v1/projects', `/v1/projects/${project.id}`, `/v1/projects/${project.id}/tasks`]) {
        const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'PUT' }
        const { status } = await send({ method, path: path + query, headers, body: { name: 'Changed' } })
        assert.ok(status === 200 || status === 400, `${method} ${path}${query}: ${status}`)
      }
    }
  }
  assert.deepEqual([await everything(current, 'projects'), await everything(current, 'tasks')], before)
  assert.deepEqual(
    [(await send({ path: '/v1/projects' })).headers.etag, (await send({ path: '/v1/tasks' })).headers.etag],
    tags,
  )
})

it('MET-2: POST answers 201 with the whole record and its path; repeated, it creates another', async (context) => {
  const { send } = await trialFor(context, studio)
  const body = { name: 'Ann', email: 'ann@example.org' }
  const first = await send({ path: '/v1/users', body })
  assert.equal(first.status, 201)
  assert.equal(first.headers.location, `/v1/users/${first.json.id}`)
  assert.equal(first.headers['content-type'], 'application/json')
  const read = await send({ path: String(first.headers.location) })
  assert.deepEqual(read.json, first.json)
  assert.equal(read.headers.etag, first.headers.etag)
  const second = await send({ path: '/v1/users', body: { ...body, email: 'other@example.org' } })
  assert.equal(second.status, 201)
  assert.notEqual(second.json.id, first.json.id)
  assert.equal((await send({ path: '/v1/users' })).json.pagination.total_count, 2)
})

it('MET-2: a nested POST fills in its parent, and takes it only from the address', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const [one, two] = [await make('projects', { name: 'One' }), await make('projects', { name: 'Two' })]
  const path = `/v1/projects/${one.id}/tasks`
  assert.equal((await send({ path, body: { title: 'a' } })).json.project_id, one.id)
  assert.equal((await send({ path, body: { title: 'b', project_id: one.id } })).status, 201)
  for (const project_id of [two.id, nowhere, 5]) {
    const other = await send({ path, body: { title: 'c', project_id } })
    assert.deepEqual([other.status, ...places(other)], [400, 'INVALID_VALUE /project_id'])
  }
  const lost = await send({ path: `/v1/projects/${nowhere}/tasks`, body: { title: 'd' } })
  assert.deepEqual([lost.status, lost.json.code], [404, 'NOT_FOUND'])
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${two.id}` })).status, 204)
  assert.equal((await send({ path: `/v1/projects/${two.id}/tasks`, body: { title: 'e' } })).status, 404)
  assert.equal((await send({ path: '/v1/tasks' })).json.pagination.total_count, 2)
})

it('MET-2: what is refused creates nothing', async (context) => {
  const { send, make } = await trialFor(context, studio)
  await make('projects', { name: 'Taken' })
  for (const body of [
    {},
    { name: '' },
    { name: 'x'.repeat(121) },
    { name: 'Taken' },
    { name: 'x', visibility: 'secret' },
  ]) {
    const answer = await send({ path: '/v1/projects', body })
    assert.ok(answer.status === 400 || answer.status === 409, answer.text)
    assert.equal(answer.headers.location, undefined)
  }
  assert.equal((await send({ path: '/v1/projects' })).json.pagination.total_count, 1)
})

const full = {
  ...{ title: 'Full', code: 'c', count: 3, ratio: 1.5, flag: true, moment: '2026-01-01T00:00:00Z', payload: { a: 1 } },
  ...{ strict: { size: 1 }, list: [1], anything: 'x', stage: 'used', origin: 'here', pin: 'p' },
}
const cleared = {
  ...{ code: null, count: null, ratio: null, flag: null, moment: null, payload: null, strict: null, list: null },
  ...{ anything: null, stage: 'new' },
}

it('MET-3: PUT replaces whole: what is left out falls back to its default, or to null', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', full)
  const path = `/v1/samples/${made.id}`
  const put = await send({ method: 'PUT', path, body: { title: 'Bare', origin: 'here' } })
  assert.equal(put.status, 200)
  const { updated_at, ...rest } = put.json
  const { updated_at: _, ...before } = made
  assert.deepEqual(rest, { ...before, ...cleared, title: 'Bare' })
  assert.deepEqual((await send({ path })).json, put.json)
})

it('MET-3: the same PUT twice leaves the same state, tag and time', async (context) => {
  const { send, make, clock } = await trialFor(context, samples)
  const made = await make('samples', { title: 'One', origin: 'here' })
  const path = `/v1/samples/${made.id}`
  const put = { method: 'PUT', path, body: full }
  const first = await send(put)
  clock.ahead = 5_000
  const second = await send(put)
  assert.deepEqual([first.status, second.status], [200, 200])
  assert.deepEqual(second.json, first.json)
  assert.equal(second.headers.etag, first.headers.etag)
  assert.equal(second.headers['last-modified'], first.headers['last-modified'])
})

it('MET-3: what GET shows can be PUT back, and changes nothing', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const numbers = [
    0.1,
    0.30000000000000004,
    6.02214076e23,
    2.452697531651443e56,
    1.2817575272610272e166,
    1e18,
    1e22,
    5e-324,
    1.7976931348623157e308,
    -0.1,
    123456789.12345679,
    9007199254740991,
    9007199254740993e3,
    2 ** 53,
    1e16,
    1e-7,
    100,
  ]
  for (let index = 0; index < 200; index++) numbers.push(Math.random() * 10 ** (index % 40))
  for (const ratio of numbers) {
    const { pin, ...body } = full
    const made = await make('samples', { ...body, code: null, ratio: undefined })
    const path = `/v1/samples/${made.id}`
    const patched = await send({ method: 'PATCH', path, body: `{"ratio":${ratio.toExponential()}}` })
    assert.equal(patched.json.ratio, ratio)
    const put = await send({ method: 'PUT', path, body: patched.text })
    assert.equal(put.status, 200, put.text)
    assert.equal(put.text, patched.text)
    assert.equal(put.headers.etag, patched.headers.etag)
  }
})

const put =
  (path: string, body: unknown) =>
  async (trial: Trial): Promise<Sent> => {
    const project = await trial.make('projects', { name: 'One', description: 'x' })
    return { method: 'PUT', path: path.replace('{id}', project.id), body }
  }

const unchanged: Scenario['check'] = async (_, { send }) => {
  const { data } = (await send({ path: '/v1/projects' })).json
  assert.deepEqual([data[0].name, data[0].description, data[0].visibility], ['One', 'x', 'private'])
}

scenarios(studio, [
  {
    name: 'a required field left out of a PUT is reported at its own pointer',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { description: 'y' }),
    status: 400,
    errors: ['REQUIRED /name'],
    check: unchanged,
  },
  {
    name: 'a required field that is null is missing',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { name: null }),
    status: 400,
    errors: ['REQUIRED /name'],
    check: unchanged,
  },
  {
    name: 'null stands for the default in a PUT',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { name: 'One', visibility: null }),
    status: 200,
    check: (answer) => assert.equal(answer.json.visibility, 'private'),
  },
  {
    name: 'a body that is no object replaces nothing',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', [{ name: 'Two' }]),
    status: 400,
    errors: ['INVALID_TYPE ', 'REQUIRED /name'].map((each) => each.trim()),
    check: unchanged,
  },
  {
    name: 'PUT of a collection does not exist',
    rule: 'MET-6',
    send: { method: 'PUT', path: '/v1/projects', body: { name: 'x' } },
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    headers: { allow: 'GET, HEAD, POST' },
  },
  {
    name: 'PATCH of a collection does not exist',
    rule: 'MET-6',
    send: { method: 'PATCH', path: '/v1/projects', body: {} },
    status: 405,
    headers: { allow: 'GET, HEAD, POST' },
  },
  {
    name: 'an unfiltered DELETE never deletes a collection',
    rule: 'MET-6',
    send: async (trial) => {
      await trial.make('projects', { name: 'One', description: 'x' })
      return { method: 'DELETE', path: '/v1/projects' }
    },
    status: 405,
    headers: { allow: 'GET, HEAD, POST' },
    check: unchanged,
  },
  {
    name: 'POST of a record does not exist, whether there is one or not',
    rule: 'MET-6',
    send: { path: `/v1/projects/${nowhere}`, body: { name: 'x' } },
    status: 405,
    headers: { allow: 'GET, HEAD, PUT, PATCH, DELETE' },
  },
  {
    name: 'DELETE of a nested collection does not exist',
    rule: 'MET-6',
    send: { method: 'DELETE', path: `/v1/projects/${nowhere}/tasks` },
    status: 405,
    headers: { allow: 'GET, HEAD, POST' },
  },
  {
    name: 'the document is only read',
    rule: 'MET-6',
    send: { method: 'DELETE', path: '/v1/openapi.json' },
    status: 405,
    headers: { allow: 'GET, HEAD' },
  },
  ...['get', 'Post', 'TRACE', 'CONNECT', 'PROPFIND', 'LINK', '__proto__', 'constructor', 'X'.repeat(500)].map(
    (method) => ({
      name: `the method ${method.slice(0, 12)} does not exist`,
      rule: 'MET-6',
      send: { method, path: '/v1/projects', body: { name: 'x' } },
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      headers: { allow: 'GET, HEAD, POST' },
    }),
  ),
  ...['PUT', 'PATCH', 'DELETE'].flatMap((method) =>
    [nowhere, 'one', '0', '__proto__', "' or 1=1 --", '\u0000', 'x'.repeat(5_000), nowhere.toUpperCase()].map((id) => ({
      name: `${method} of ${JSON.stringify(id.slice(0, 12))}, which is nothing, creates nothing`,
      rule: 'MET-7',
      send: async ({ make }: Trial): Promise<Sent> => {
        await make('projects', { name: 'One', description: 'x' })
        const body = method === 'DELETE' ? undefined : { name: 'Two' }
        return { method, path: `/v1/projects/${encodeURIComponent(id)}`, body }
      },
      status: 404,
      code: 'NOT_FOUND',
      check: async (_: Received, trial: Trial) => {
        assert.equal(JSON.parse(await everything(trial, 'projects')).length, 1)
      },
    })),
  ),
])

it('MET-7: what was deleted is not brought back by PUT or PATCH', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.equal((await send({ method: 'PUT', path, body: { name: 'Two' } })).status, 404)
  assert.equal((await send({ method: 'PATCH', path, body: { name: 'Two' } })).status, 404)
  assert.equal((await send({ path })).status, 404)
})

for (const type of ['application/json', 'application/merge-patch+json', 'application/json; charset=UTF-8']) {
  it(`MET-4: PATCH as ${type} changes only what is sent`, async (context) => {
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

/** RFC 7396, the examples of its appendix that concern one field of any type: what was there, the patch, what becomes of it. */
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

it('MET-4: PATCH merges as RFC 7396 says, at every depth', async (context) => {
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
  ...['application/json-patch+json', 'text/plain', 'application/xml', 'application/json-seq', 'json'].map((type) => ({
    name: `a patch as ${type} is not read`,
    rule: 'MET-4',
    send: patch({ count: 9 }, { 'content-type': type }),
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    headers: { 'accept-patch': 'application/json, application/merge-patch+json' },
    check: asMade,
  })),
])

it('MET-5: DELETE removes one record and no other', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const [one, two] = [await make('projects', { name: 'One' }), await make('projects', { name: 'Two' })]
  const deleted = await send({ method: 'DELETE', path: `/v1/projects/${one.id}`, body: { id: two.id } })
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  assert.deepEqual((await send({ path: '/v1/projects' })).json.data, [two])
})

it('MET-5: DELETE takes no parameters', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const refused = await send({ method: 'DELETE', path: `/v1/projects/${id}?force=true&hard=1` })
  assert.deepEqual([refused.status, ...places(refused)], [400, 'UNKNOWN_PARAMETER force', 'UNKNOWN_PARAMETER hard'])
  assert.equal((await send({ path: `/v1/projects/${id}` })).status, 200)
})
