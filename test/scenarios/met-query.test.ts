/** MET-10: QUERY, for queries that are too long for a URL. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { trialFor } from '../harness.ts'

it('MET-10: QUERY finds what GET finds, for top-level and nested collections', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  for (const [title, estimate] of Object.entries({ a: 1, b: 2, 'c, d': 3, e: null })) {
    await make('tasks', { title, estimate, project_id: project.id })
  }
  const table: [query: string, body: object][] = [
    ['', {}],
    ['?sort=-title&limit=2', { sort: '-title', limit: 2 }],
    ['?estimate=1&estimate=3&sort=title', { estimate: [1, 3], sort: 'title' }],
    ['?estimate[gte]=2&fields=title', { 'estimate[gte]': 2, fields: 'title' }],
    ['?estimate[null]=true', { estimate: null }],
    ['?page=2&per_page=3', { page: 2, per_page: 3 }],
    ['?q=c', { q: 'c' }],
  ]
  for (const path of ['/v1/tasks', `/v1/projects/${project.id}/tasks`]) {
    for (const [query, body] of table) {
      const got = await send({ path: `${path}${query}` })
      const queried = await send({ method: 'QUERY', path, body })
      assert.equal(queried.status, 200, queried.text)
      assert.deepEqual(queried.json, got.json, query)
      assert.equal(queried.headers['x-total-count'], got.headers['x-total-count'])
      assert.equal(queried.headers.link, undefined)
      assert.equal(queried.headers['cache-control'], got.headers['cache-control'])
    }
  }
})

it('MET-10: cursors work with QUERY, and tags make it conditional', async (context) => {
  const { send, make } = await trialFor(context, studio)
  for (const name of ['a', 'b', 'c']) await make('projects', { name })
  const query = (body: object, headers = {}) => send({ method: 'QUERY', path: '/v1/projects', body, headers })
  const first = await query({ sort: 'name', limit: 2 })
  const second = await query({ sort: 'name', limit: 2, cursor: first.json.pagination.next_cursor })
  assert.deepEqual(
    second.json.data.map((each: { name: string }) => each.name),
    ['c'],
  )
  const tag = String(first.headers.etag)
  assert.equal((await query({ sort: 'name', limit: 2 }, { 'if-none-match': tag })).status, 304)
  assert.equal((await query({ visibility: 'public' }, { 'if-none-match': tag })).status, 200)
})

it('MET-10: one response names all mistakes of the body', async (context) => {
  const { send } = await trialFor(context, studio)
  const query = (body: unknown, path = '/v1/projects', headers = {}) => send({ method: 'QUERY', path, body, headers })
  const wrong = await query({ colour: 'red', limit: 0, sort: 'size', name: { a: 1 } })
  assert.deepEqual([wrong.status, wrong.json.code], [400, 'INVALID_QUERY'])
  const told = wrong.json.errors.map((each: { parameter: string }) => each.parameter).sort()
  assert.deepEqual(told, ['colour', 'limit', 'name', 'sort'])
  assert.equal((await query([])).json.code, 'INVALID_QUERY')
  assert.equal((await query('{')).json.code, 'MALFORMED_JSON')
  assert.equal((await query({}, '/v1/projects?limit=1')).json.code, 'INVALID_QUERY')
  const text = await query('{}', '/v1/projects', { 'content-type': 'text/plain' })
  assert.deepEqual([text.status, text.headers['accept-query']], [415, 'application/json'])
  const record = await query({}, '/v1/projects/x')
  assert.equal(record.status, 405)
})

it('MET-10: thousands of values work, and callers see the same records as with GET', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' }, 'bob')
  const estimates = Array.from({ length: 1_000 }, (_, value) => value)
  await make('tasks', { title: 'a', estimate: 999, project_id: project.id })
  const answer = await send({ method: 'QUERY', path: '/v1/tasks', body: { estimate: estimates } })
  assert.equal(answer.json.pagination.total_count, 1)
  const other = await send({ method: 'QUERY', path: '/v1/tasks', body: { estimate: estimates }, as: 'ann' })
  assert.equal(other.json.pagination.total_count, 0)
  assert.equal((await send({ method: 'QUERY', path: '/v1/tasks', body: {}, as: null })).status, 401)
})
