import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { DeclarationError, defineInterface, reference, Type } from '../index.ts'
import { ProblemError, testApp } from './testing.ts'

const studio = defineInterface({
  name: 'studio',
  resources: {
    projects: {
      fields: { name: Type.String({ maxLength: 20 }), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
      deletion: { variant: 'soft', gracePeriod: 'P30D', asynchronous: 'always' },
      access: { read: 'anyone', readDeleted: 'anyone', create: 'anyone', update: 'owner', delete: 'owner' },
    },
    tasks: {
      fields: {
        title: Type.String({ maxLength: 20 }),
        project_id: reference('projects', { onDelete: 'cascade' }),
        due_on: Type.Optional(Type.String({ format: 'date', filter: true })),
      },
      access: { read: 'anyone', create: 'nobody', update: 'anyone', delete: 'anyone' },
    },
  },
  limits: { rate: { caller: '2/minute' } },
})

const ann = { id: 'ann', roles: [] }
const bob = { id: 'bob', roles: [] }

test('clients of several callers: access rules apply, and problems are errors', async () => {
  await using app = await testApp(studio)
  const project = await app.as(ann).projects.create({ name: 'House' })
  assert.equal(project.owner_id, 'ann')
  await assert.rejects(
    app.as(bob).projects.update(project.id, { name: 'Mine' }),
    (error) => error instanceof ProblemError && error.status === 403,
  )
})

test('a request: status, header fields and body, without a socket', async () => {
  await using app = await testApp(studio)
  const created = await app.request('/v1/projects', { as: ann, body: { name: 'House' } })
  assert.equal(created.status, 201)
  assert.equal(created.body.owner_id, 'ann')
  const location = created.headers.location ?? ''
  const { headers } = await app.request(location, { as: bob })
  const unchanged = await app.request(location, { as: bob, headers: { 'If-None-Match': headers.etag ?? '' } })
  assert.deepEqual([unchanged.status, unchanged.text, unchanged.body], [304, '', undefined])
  const patch = { method: 'PATCH', body: '{"name":"Hut"}', headers: { 'Content-Type': 'application/merge-patch+json' } }
  assert.equal((await app.request(location, { ...patch, as: ann })).body.name, 'Hut')
  const refused = await app.request(location)
  assert.deepEqual([refused.status, refused.body.code], [401, 'UNAUTHENTICATED'])
  assert.ok(refused.headers['www-authenticate'])
  assert.equal((await app.request('/v1/projects', { method: 'HEAD', as: ann })).text, '')
})

test('the clock stands still, and what expires is removed when it is moved', async () => {
  await using app = await testApp(studio, { now: '2027-01-01T09:00:00Z' })
  const { projects } = app.as(ann)
  const { id, created_at } = await projects.create({ name: 'House' })
  assert.equal(created_at, '2027-01-01T09:00:00.000Z')
  await projects.delete(id)
  await app.jobsFinished()
  const bin = async () => (await projects.list({ include_deleted: 'only' })).data.map((each) => each.id)
  await app.clock.advance('P29D')
  assert.deepEqual(await bin(), [id])
  await app.clock.advance('P2D')
  assert.deepEqual(await bin(), [])
  const jobs = await app.request('/v1/jobs', { as: { id: 'root', roles: ['admin'] } })
  const [purge] = jobs.body.data.filter(({ kind }: { kind: string }) => kind === 'purge')
  assert.deepEqual([purge.status, purge.result.purged_count], ['succeeded', 1])
  assert.equal(app.clock.now, Date.UTC(2027, 1, 1, 9))
  await app.clock.set('2026-01-01')
  assert.equal((await projects.create({ name: 'Older' })).created_at, '2026-01-01T00:00:00.000Z')
  await assert.rejects(app.clock.advance('P1M'), /"P1M" is no duration of fixed length\. Write weeks/)
  await assert.rejects(app.clock.set('tomorrow'), /"tomorrow" is no moment\. Write it as/)
})

test('jobs are finished when they are waited for', async () => {
  await using app = await testApp(studio)
  const projects = await app.seed(
    'projects',
    Array.from({ length: 300 }, (_, index) => ({ name: `Project ${index}` })),
    { as: ann },
  )
  for (const { id } of projects.slice(0, 3)) {
    const { status, headers } = await app.request(`/v1/projects/${id}`, { method: 'DELETE', as: ann })
    assert.equal(status, 202)
    await app.jobsFinished()
    const job = await app.request(headers.location ?? '', { as: ann })
    assert.equal(job.body.status, 'succeeded')
  }
})

test('a process waits for jobs, even if it waits for nothing else', () => {
  const code = `
    import { testApp } from '${import.meta.resolve('./testing.ts')}'
    const fields = { text: { type: 'string' } }
    const app = await testApp({ name: 'notes', resources: { notes: { fields } } })
    const { notes } = app.as({ id: 'root', roles: ['admin'] })
    await notes.delete((await notes.create({ text: 'One' })).id)
    await app.clock.advance('P31D')
    await app.close()
    console.log('closed')`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' })
  assert.equal(stdout, 'closed\n', stderr)
})

test('seeds are checked like a POST, refer to each other, and need no right', async () => {
  await using app = await testApp(studio)
  const id = '01a1fe02-0000-7000-8000-000000000001'
  const [house, hut] = await app.seed('projects', [{ name: 'House', id }, { name: 'Hut' }], { as: ann })
  assert.deepEqual([house.id, house.owner_id, hut.name], [id, 'ann', 'Hut'])
  const [task] = await app.seed('tasks', [{ title: 'Paint', project_id: id }])
  assert.deepEqual(await app.as(bob).tasks.get(task.id), task)
  assert.equal((await app.seed('projects', [{ name: 'Bob’s', owner_id: 'bob' }]))[0].owner_id, 'bob')

  const missing = { title: 'Paint', project_id: '01a1fe02-0000-7000-8000-00000000ffff' }
  await assert.rejects(
    app.seed('tasks', [{ title: 'Paint', project_id: id }, missing]),
    /^Error: Record 1 of tasks was refused: \/project_id INVALID_REFERENCE/,
  )
  await assert.rejects(app.seed('projects', [{ name: 'x'.repeat(21) }]), /\/name TOO_LONG/)
  await assert.rejects(app.seed('projects', [{ name: 'House', id: 'house' }]), /\/id must be a UUID in lower case/)
  await assert.rejects(app.seed('task' as 'tasks', []), /There is no collection "task"\. Did you mean "tasks"\?/)
})

test('reset empties everything, and clients and the clock go on', async () => {
  await using app = await testApp(studio, { now: '2027-01-01' })
  const { projects } = app.as(ann)
  const key = await app.key(ann)
  await projects.create({ name: 'House' })
  await app.clock.advance('P1D')
  await app.reset()
  assert.equal(app.clock.now, Date.UTC(2027, 0, 1))
  assert.deepEqual((await projects.list()).data, [])
  const headers = { Authorization: `Bearer ${key}` }
  assert.equal((await app.request('/v1/projects', { headers })).status, 401)
})

test('it listens on a port of its own, for browsers and other programs', async () => {
  const app = await testApp(studio)
  const url = await app.listen()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal(await app.listen(), url)
  const headers = { Authorization: `Bearer ${await app.key(ann)}`, 'Content-Type': 'application/json' }
  const request = { method: 'POST', headers, body: JSON.stringify({ name: 'House' }) }
  assert.equal((await fetch(`${url}/v1/projects`, request)).status, 201)
  await app.reset()
  assert.equal((await fetch(`${url}/v1/projects`, request)).status, 401)
  await app.close()
  await app.close()
  await assert.rejects(fetch(`${url}/v1/projects`, request))
})

test('rates are limited only if that is asked for', async () => {
  const statuses = async (rateLimit?: 'declared') => {
    await using app = await testApp(studio, { rateLimit })
    const headers = { Authorization: `Bearer ${await app.key(ann)}` }
    const ask = async () => (await app.request('/v1/projects', { headers })).status
    const before = [await ask(), await ask(), await ask()]
    await app.clock.advance('PT1M')
    return [...before, await ask()]
  }
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  assert.deepEqual(await statuses('declared'), [200, 200, 429, 200])
})

test('options are those of an application, and mistakes are reported at once', async () => {
  const session = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
    headers['x-session'] === 'ann' ? ann : undefined
  await using app = await testApp(studio, { basePath: '/api', authenticate: session })
  assert.equal((await app.request('/api/v1/projects', { headers: { 'X-Session': 'ann' } })).status, 200)
  assert.equal(app.basePath, '/api')
  await assert.rejects(testApp({ name: 'X', resources: {} }), DeclarationError)
  await assert.rejects(testApp(studio, { now: 'soon' }), /"soon" is no moment/)
  await assert.rejects(testApp(studio, { basePath: 'api' }), { name: 'ConfigurationError' })
})

test('clients and seeds have the types of the declaration', async () => {
  await using app = await testApp(studio)
  const [house] = await app.seed('projects', [{ name: 'House' }])
  const name: string = house.name
  assert.equal(name, 'House')
  const mistakes = [
    // @ts-expect-error There is no such collection.
    () => app.seed('project', []),
    // @ts-expect-error The name is missing.
    () => app.seed('projects', [{}]),
    // @ts-expect-error There is no such field.
    () => app.seed('projects', [{ name: 'House', colour: 'red' }]),
    // @ts-expect-error There is no such collection.
    () => app.as(ann).project.list(),
    // @ts-expect-error The name is a text.
    () => app.as(ann).projects.create({ name: 1 }),
  ]
  assert.equal(mistakes.length, 5)

  await using untyped = await testApp({ name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } })
  const [note] = await untyped.seed('notes', [{ text: 'One' }])
  const client = untyped.as({ id: 'root', roles: ['admin'] })
  assert.equal((await client['notes']?.get(String(note.id)))?.['text'], 'One')
})
