/** CON-4: conditional reads get 304 while the representation is current. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { type Trial, trialFor } from '../harness.ts'

/** Header fields that belong to a body. */
const ofContent = ['content-type', 'link', 'x-total-count', 'accept-ranges']

async function paths({ make }: Trial): Promise<string[]> {
  const project = await make('projects', { name: 'One' })
  await make('tasks', { title: 'Dig', project_id: project.id })
  const own = `/v1/projects/${project.id}`
  const lists = [
    '/v1/tasks',
    '/v1/tasks?per_page=1',
    '/v1/tasks?limit=1&sort=-title',
    '/v1/tasks?q=dig',
    `${own}/tasks`,
  ]
  return [own, `${own}?fields=name`, ...lists, '/v1/openapi.json']
}

it('CON-4: a 304 has the header fields of the 200, and no body', async (context) => {
  const trial = await trialFor(context, studio)
  for (const path of await paths(trial)) {
    const whole = await trial.send({ path })
    assert.equal(whole.status, 200, whole.text)
    const etag = String(whole.headers.etag)
    for (const method of ['GET', 'HEAD']) {
      for (const value of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await trial.send({ method, path, headers: { 'if-none-match': value } })
        assert.deepEqual([answer.status, answer.text], [304, ''], `${method} ${path} ${value}`)
        const kept = Object.entries(whole.headers).filter(([name]) => !ofContent.includes(name))
        assert.deepEqual(
          { ...answer.headers, 'x-request-id': '' },
          { ...Object.fromEntries(kept), 'x-request-id': '' },
          path,
        )
      }
    }
    const other = await trial.send({ path, headers: { 'if-none-match': '"other"' } })
    assert.equal(other.status, 200)
  }
})

it('CON-4: a date is compared only if the request has no tag', async (context) => {
  const { send, make, clock } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const date = String((await send({ path })).headers['last-modified'])
  assert.equal((await send({ path, headers: { 'if-modified-since': date } })).status, 304)
  assert.equal((await send({ path, headers: { 'if-modified-since': date, 'if-none-match': '"x"' } })).status, 200)
  assert.equal((await send({ path, headers: { 'if-modified-since': 'yesterday' } })).status, 200)
  clock.ahead = 5_000
  assert.equal((await send({ method: 'PATCH', path, body: { name: 'Two' } })).status, 200)
  assert.equal((await send({ path, headers: { 'if-modified-since': date } })).status, 200)
})

it('CON-4: a list changes its tag with every change of its collection', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  const again = async (etag: string) =>
    (await send({ path: '/v1/projects', headers: { 'if-none-match': etag } })).status
  const tag = async () => String((await send({ path: '/v1/projects' })).headers.etag)
  const first = await tag()
  assert.equal(await again(first), 304)
  await send({ method: 'PATCH', path: `/v1/projects/${project.id}`, body: { name: 'Two' } })
  assert.equal(await again(first), 200)
  const second = await tag()
  await make('projects', { name: 'Three' })
  assert.equal(await again(second), 200)
  const third = await tag()
  await send({ method: 'DELETE', path: `/v1/projects/${project.id}` })
  assert.equal(await again(third), 200)
})

it('CON-4: a caller who may no longer read gets no 304', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One', visibility: 'public' })
  const path = `/v1/projects/${id}`
  const etag = String((await send({ path, as: 'bob' })).headers.etag)
  const headers = { 'if-none-match': etag }
  assert.equal((await send({ path, as: 'bob', headers })).status, 304)
  assert.equal((await send({ path, as: null, headers })).status, 401)
  await send({ method: 'PATCH', path, body: { visibility: 'private' } })
  assert.equal((await send({ path, as: 'bob', headers })).status, 403)
  assert.equal((await send({ path, as: 'bob', headers: { 'if-none-match': '*' } })).status, 403)
})
