/** MET: methods. (`met-replace.test.ts`, `met-merge.test.ts` and `met-json-patch.test.ts` have PUT and PATCH.) */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { places, type Received, type Scenario, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

/** All that a collection holds, with what was deleted, as text. */
async function everything({ send }: Trial, collection: string): Promise<string> {
  const answer = await send({ path: `/v1/${collection}?limit=100&include_deleted=true` })
  assert.equal(answer.status, 200, answer.text)
  return JSON.stringify(answer.json.data)
}

it('MET-1: GET and HEAD change nothing, with any parameters', async (context) => {
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

it('MET-2: POST gets 201 with the whole record and its path; repeated, it creates another', async (context) => {
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

it('MET-2: a nested POST sets the parent from the path, and from nowhere else', async (context) => {
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

it('MET-2: a refused POST creates nothing', async (context) => {
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

const unchanged: Scenario['check'] = async (_, { send }) => {
  const { data } = (await send({ path: '/v1/projects' })).json
  assert.deepEqual([data[0].name, data[0].description, data[0].visibility], ['One', 'x', 'private'])
}

scenarios(studio, [
  {
    name: 'PUT of a nested collection does not exist',
    rule: 'MET-6',
    send: { method: 'PUT', path: `/v1/projects/${nowhere}/tasks`, body: { name: 'x' } },
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    headers: { allow: 'GET, HEAD, POST, QUERY, OPTIONS' },
  },
  {
    name: 'PATCH of a nested collection does not exist',
    rule: 'MET-6',
    send: { method: 'PATCH', path: `/v1/projects/${nowhere}/tasks`, body: {} },
    status: 405,
    headers: { allow: 'GET, HEAD, POST, QUERY, OPTIONS' },
  },
  {
    name: 'an unfiltered DELETE never deletes a collection',
    rule: 'MET-6',
    send: async (trial) => {
      await trial.make('projects', { name: 'One', description: 'x' })
      return { method: 'DELETE', path: '/v1/projects' }
    },
    status: 405,
    headers: { allow: 'GET, HEAD, POST, PUT, PATCH, QUERY, OPTIONS' },
    check: unchanged,
  },
  {
    name: 'POST of a record does not exist, whether there is one or not',
    rule: 'MET-6',
    send: { path: `/v1/projects/${nowhere}`, body: { name: 'x' } },
    status: 405,
    headers: { allow: 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS' },
  },
  {
    name: 'DELETE of a nested collection does not exist',
    rule: 'MET-6',
    send: { method: 'DELETE', path: `/v1/projects/${nowhere}/tasks` },
    status: 405,
    headers: { allow: 'GET, HEAD, POST, QUERY, OPTIONS' },
  },
  {
    name: 'the document is only read',
    rule: 'MET-6',
    send: { method: 'DELETE', path: '/v1/openapi.json' },
    status: 405,
    headers: { allow: 'GET, HEAD, OPTIONS' },
  },
  ...['get', 'Post', 'TRACE', 'CONNECT', 'PROPFIND', 'LINK', '__proto__', 'constructor', 'X'.repeat(500)].map(
    (method) => ({
      name: `the method ${method.slice(0, 12)} does not exist`,
      rule: 'MET-6',
      send: { method, path: '/v1/projects', body: { name: 'x' } },
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      headers: { allow: 'GET, HEAD, POST, PUT, PATCH, QUERY, OPTIONS' },
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

it('MET-7: PUT and PATCH do not restore a deleted record', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.equal((await send({ method: 'PUT', path, body: { name: 'Two' } })).status, 404)
  assert.equal((await send({ method: 'PATCH', path, body: { name: 'Two' } })).status, 404)
  assert.equal((await send({ path })).status, 404)
})

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
