/** RES-10, PAG-7, JOB-3, VER-4, DOC-1: all addresses of an application are under its base path. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { notebooks } from '../declarations-versions.ts'
import { trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const body = (name: string) => ({ name })

it('RES-10: an address has the base path exactly once, and in one spelling', async (context) => {
  const { send, seen } = await trialFor(context, studio, { basePath: '/api' })
  assert.equal((await send({ path: '/api/v1/projects' })).status, 200)
  // Within the base path, escapes that nobody needs are decoded as ever.
  assert.equal((await send({ path: '/api/v1/%70rojects' })).status, 200)
  for (const path of [
    ...['/v1/projects', '/api', '/api/', '/api/v1', '/api/projects', '/api/api/v1/projects', '/apiary/v1/projects'],
    ...['/API/v1/projects', '//api/v1/projects', '/api//v1/projects', '/./api/v1/projects'],
    ...['/x/../api/v1/projects', '/api/./v1/projects', '/health/live', '/api/v1/health/live', '/'],
  ]) {
    const answer = await send({ path })
    assert.deepEqual([answer.status, answer.json.instance], [404, path], path)
    assert.match(answer.json.detail, / \/api\/v1\/openapi\.json lists all addresses/)
    assert.equal((await send({ path, as: null })).status, 401, path)
  }
  assert.equal((await send({ path: '/api/health/live', as: null })).status, 200)
  assert.equal((await send({ path: '/api/health/ready', as: null })).status, 200)
  assert.equal((await send({ path: '*', method: 'OPTIONS' })).status, 200)
  const routes = new Set(seen.flatMap((each) => (each.kind === 'request' ? [each.route] : [])))
  assert.deepEqual([...routes], ['/api/v1/projects', undefined, '/api/health/live', '/api/health/ready'])
})

it('PAG-7: Location, Link and the next pages are under the base path', async (context) => {
  const { send, make } = await trialFor(context, studio, { basePath: '/internal/api' })
  const made = await send({ path: '/internal/api/v1/projects', body: body('a') })
  assert.equal(made.headers.location, `/internal/api/v1/projects/${made.json.id}`)
  assert.equal((await send({ path: made.headers.location })).json.name, 'a')
  const key = { 'idempotency-key': 'one' }
  for (let time = 0; time < 2; time++) {
    const same = await send({ path: '/internal/api/v1/projects', body: body('b'), headers: key })
    assert.match(same.headers.location ?? '', /^\/internal\/api\/v1\/projects\//)
  }
  await make('projects', body('c'))
  for (const style of ['limit=1', 'page=1&per_page=1', 'offset=0&limit=1']) {
    const names: string[] = []
    let path: string | undefined = `/internal/api/v1/projects?sort=name&${style}`
    while (path !== undefined) {
      const page = await send({ path })
      assert.equal(page.status, 200, page.text)
      names.push(...page.json.data.map(({ name }: { name: string }) => name))
      const links = [...(page.headers.link ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"/g)]
      for (const [, target] of links) assert.match(target ?? '', /^\/internal\/api\/v1\/projects\?/)
      path = links.find(([, , rel]) => rel === 'next')?.[1]
    }
    assert.deepEqual(names, ['a', 'b', 'c'], style)
  }
  const tasks = `/internal/api/v1/projects/${made.json.id}/tasks`
  assert.equal((await send({ path: tasks })).status, 200)
  const task = await send({ path: tasks, body: { title: 't' } })
  assert.equal(task.headers.location, `/internal/api/v1/tasks/${task.json.id}`)
})

it('JOB-3, JOB-6: status_url and content_url are under the base path', async (context) => {
  const { send, make, app } = await trialFor(context, studio, { basePath: '/api' })
  const { id } = await make('projects', body('a'))
  const prefer = { prefer: 'respond-async' }
  const deletion = await send({ path: `/api/v1/projects/${id}`, method: 'DELETE', headers: prefer })
  const exported = await send({ path: '/api/v1/exports', body: { collection: 'projects', format: 'json' } })
  for (const job of [deletion, exported]) {
    assert.equal(job.status, 202, job.text)
    assert.equal(job.json.status_url, `/api/v1/jobs/${job.json.job_id}`)
    assert.equal(job.headers.location, job.json.status_url)
  }
  await app.runner.idle()
  const state = await send({ path: exported.json.status_url })
  assert.equal(state.json.status_url, exported.json.status_url)
  assert.equal(state.json.result.content_url, `/api/v1/exports/${exported.json.job_id}/content`)
  assert.equal((await send({ path: state.json.result.content_url })).status, 200)
})

it('VER-3, VER-4: successors and redirects are under the base path', async (context) => {
  const ended = { sunset: '2020-01-01', afterSunset: 'redirect' } as const
  const leaving = { deprecated: '2020-01-01' }
  const declared = notebooks({ v1: ended, v2: leaving, v3: {} })
  const { send } = await trialFor(context, declared, { basePath: '/v2' })
  const moved = await send({ path: '/v2/v1/notes?limit=1' })
  assert.deepEqual([moved.status, moved.headers.location], [308, '/v2/v2/notes?limit=1'])
  const older = await send({ path: '/v2/v2/notes' })
  assert.match(older.headers.link ?? '', /<\/v2\/v3\/notes>; rel="successor-version"/)
  assert.equal((await send({ path: '/v1/notes' })).status, 404)
})

it('VER-1: without a version in the path, addresses begin with the base path alone', async (context) => {
  const declared = notebooks({ v1: { sunset: '2020-01-01', afterSunset: 'redirect' }, v2: {} }, ['query'])
  const { send, make } = await trialFor(context, declared, { basePath: '/notes' })
  const { id } = await make('notes', { text: 'a' })
  assert.equal((await send({ path: `/notes/notes/${id}` })).status, 200)
  const moved = await send({ path: `/notes/notes/${id}?version=v1` })
  assert.equal(moved.headers.location, `/notes/notes/${id}?version=v2`)
  for (const path of ['/notes', `/notes/${id}`, '/elsewhere', '/notesnotes']) {
    const answer = await send({ path })
    assert.deepEqual([answer.status, answer.headers.link], [404, undefined], path)
  }
})

it('DOC-1: the OpenAPI document has the base path in its servers', async (context) => {
  for (const [basePath, carriers, expected] of [
    ['/api', ['path'], ['/api/v2', '/api']],
    ['/health', ['header'], ['/health', '/health']],
  ] as const) {
    const { send } = await trialFor(context, notebooks({ v1: {}, v2: {} }, [...carriers]), { basePath })
    const { json } = await send({ path: `${expected[0]}/openapi.json` })
    assert.deepEqual([json.servers[0].url, json.paths['/health/live'].servers[0].url], expected)
    assert.equal((await send({ path: `${expected[1]}/health/live`, as: null })).status, 200)
    assert.equal((await send({ path: `${expected[0]}/notes/${nowhere}` })).json.code, 'NOT_FOUND')
  }
})
