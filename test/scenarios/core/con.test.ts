/** CON: cache control and validators. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { samples, studio } from '../../declarations.ts'
import { type Sent, trialFor } from '../../harness.ts'

it('CON-1: an authenticated read is private and must be revalidated, everything else is no-store', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const etag = String((await send({ path })).headers.etag)
  const reads: Sent[] = [
    { path },
    { method: 'HEAD', path },
    { path: `${path}?fields=name` },
    { path: '/v1/projects' },
    { path: `${path}/tasks` },
    { path: '/v1/openapi.json' },
    { path, headers: { 'if-none-match': etag } },
  ]
  for (const sent of reads) {
    const { status, headers } = await send(sent)
    assert.ok(status === 200 || status === 304)
    assert.equal(headers['cache-control'], 'private, no-cache', sent.path)
  }
  const others: Sent[] = [
    { path: '/v1/projects', body: { name: 'Two' } },
    { method: 'PATCH', path, body: { name: 'Zwei' } },
    { method: 'PUT', path, body: { name: 'Trois' } },
    { path: '/health/live', as: null },
    { path: '/health/ready', as: null },
    { path: '/v1/nothing' },
    { path, as: null },
    { path, as: 'bob' },
    { path: '/v1/projects?colour=1' },
    { method: 'POST', path },
    { method: 'PUT', path, body: {} },
    { method: 'DELETE', path, headers: { 'if-match': '"x"' } },
    { method: 'DELETE', path },
    { path },
  ]
  for (const sent of others) {
    const { status, headers } = await send(sent)
    assert.equal(headers['cache-control'], 'no-store', `${sent.method} ${sent.path} ${status}`)
  }
})

it('CON-1: a declared max-age applies to reads only', async (context) => {
  const users = { ...studio.resources.users, maxAge: 60 }
  const { send, make } = await trialFor(context, { ...studio, resources: { ...studio.resources, users } })
  const { id } = await make('users', { name: 'Ann', email: 'a@example.org' })
  for (const path of ['/v1/users', `/v1/users/${id}`]) {
    assert.equal((await send({ path })).headers['cache-control'], 'private, max-age=60')
  }
  const patched = await send({ method: 'PATCH', path: `/v1/users/${id}`, body: {} })
  assert.equal(patched.headers['cache-control'], 'no-store')
})

it('CON-2: a record has a strong tag and a date, a list has a tag', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const made = await make('projects', { name: 'One' })
  const read = await send({ path: `/v1/projects/${made.id}` })
  assert.match(String(read.headers.etag), /^"[^"]+"$/)
  assert.equal(Date.parse(String(read.headers['last-modified'])), Math.floor(Date.parse(made.updated_at) / 1000) * 1000)
  assert.match(String(read.headers['last-modified']), / GMT$/)
  const list = await send({ path: '/v1/projects' })
  assert.match(String(list.headers.etag), /^(W\/)?"[^"]+"$/)
})

it('CON-2: the tag changes exactly if the record does', async (context) => {
  const { send, make, clock } = await trialFor(context, samples)
  const one = await make('samples', { title: 'One', list: [1], payload: { a: 1 }, pin: 'p' })
  const other = await make('samples', { title: 'Other' })
  const path = `/v1/samples/${one.id}`
  const tag = async () => (await send({ path })).headers.etag
  const seen = new Set([await tag()])
  const writes: [boolean, Sent][] = [
    [false, { method: 'PATCH', path, body: {} }],
    [false, { method: 'PATCH', path, body: { title: 'One' } }],
    [false, { method: 'PATCH', path, body: { list: [1], payload: {}, count: null } }],
    // A tag that stayed would confirm a guess (AUT-9).
    [true, { method: 'PATCH', path, body: { pin: 'p' } }],
    [true, { method: 'PUT', path, body: { title: 'One', list: [1], payload: { a: 1 }, pin: 'p' } }],
    [true, { method: 'PATCH', path, body: { title: 'one' } }],
    [true, { method: 'PATCH', path, body: { title: 'One' } }],
    [true, { method: 'PATCH', path, body: { payload: { b: 2 } } }],
    [true, { method: 'PATCH', path, body: { list: [1, null] } }],
    [true, { method: 'PATCH', path, body: { flag: false } }],
    [true, { method: 'PATCH', path, body: { flag: null } }],
    [true, { method: 'PATCH', path, body: { code: '' } }],
    [true, { method: 'PATCH', path, body: { pin: 'q' } }],
    [true, { method: 'PATCH', path, body: { owner_id: 'ann' } }],
    [true, { method: 'PUT', path, body: { title: 'One' } }],
    [false, { method: 'PATCH', path, body: { title: '' } }],
    [false, { method: 'PATCH', path: `/v1/samples/${other.id}`, body: { title: 'Else' } }],
    [false, { method: 'DELETE', path: `/v1/samples/${other.id}` }],
    [false, { method: 'HEAD', path }],
  ]
  for (const [changes, sent] of writes) {
    clock.ahead += 2_000
    const before = await send({ path })
    const answer = await send(sent)
    const after = await send({ path })
    assert.equal(after.headers.etag !== before.headers.etag, changes, JSON.stringify(sent.body))
    assert.equal(after.json.updated_at !== before.json.updated_at, changes, JSON.stringify(sent.body))
    assert.equal(after.headers['last-modified'] !== before.headers['last-modified'], changes, JSON.stringify(sent.body))
    if (sent.path === path && answer.status === 200) assert.equal(answer.headers.etag, after.headers.etag)
    if (changes) assert.ok(!seen.has(after.headers.etag), 'a tag never comes again')
    seen.add(after.headers.etag)
  }
})

it('CON-2: the tag of a list changes with its content', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  const tag = async (query = '') => (await send({ path: `/v1/projects${query}` })).headers.etag
  const first = await tag()
  assert.equal(await tag(), first)
  assert.notEqual(await tag('?visibility=public'), first)
  await send({ method: 'PATCH', path: `/v1/projects/${project.id}`, body: { name: 'Uno' } })
  const second = await tag()
  assert.notEqual(second, first)
  await make('projects', { name: 'Two' })
  const third = await tag()
  assert.notEqual(third, second)
  await send({ method: 'DELETE', path: `/v1/projects/${project.id}` })
  assert.notEqual(await tag(), third)
})

it('CON-8: the tag is the same with and without fields, and guards a write either way', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const path = `/v1/projects/${id}`
  const reads: Sent[] = [
    { path },
    { path: `${path}?fields=name` },
    { path: `${path}?fields=id` },
    { method: 'HEAD', path },
  ]
  for (const [index, read] of reads.entries()) {
    const tags = new Set(await Promise.all(reads.map(async (each) => (await send(each)).headers.etag)))
    assert.equal(tags.size, 1)
    const headers = { 'if-match': String((await send(read)).headers.etag) }
    const patched = await send({ method: 'PATCH', path, headers, body: { name: `Name ${index}` } })
    assert.equal(patched.status, 200)
    const again = { 'if-match': String(patched.headers.etag) }
    assert.equal((await send({ method: 'PUT', path, headers: again, body: { name: `Nom ${index}` } })).status, 200)
  }
})

it('CON-8: the tag of a creation guards the first change', async (context) => {
  const { send } = await trialFor(context, studio)
  const made = await send({ path: '/v1/projects', body: { name: 'One' } })
  const headers = { 'if-match': String(made.headers.etag) }
  const path = String(made.headers.location)
  assert.equal((await send({ method: 'PATCH', path, headers, body: { name: 'Two' } })).status, 200)
  assert.equal((await send({ method: 'DELETE', path, headers })).status, 412)
})

it('CON-8: a record of another shape has another tag', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const users = {
    ...studio.resources.users,
    fields: { ...studio.resources.users.fields, phone: { type: 'string', optional: true } },
  }
  const other = await trialFor(context, { ...studio, resources: { ...studio.resources, users } })
  const body = { name: 'Ann', email: 'a@example.org' }
  const one = await send({ path: `/v1/users/${(await make('users', body)).id}` })
  const two = await other.send({ path: `/v1/users/${(await other.make('users', body)).id}` })
  assert.notEqual(one.headers.etag, two.headers.etag)
})

it('CON-8: Vary names the header fields that a read depends on', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const etag = String((await send({ path: `/v1/projects/${id}` })).headers.etag)
  for (const sent of [
    { path: '/v1/projects' },
    { path: `/v1/projects/${id}` },
    { path: '/v1/openapi.json' },
    { path: `/v1/projects/${id}`, headers: { 'if-none-match': etag } },
  ]) {
    assert.equal((await send(sent)).headers.vary, 'Accept, Accept-Encoding')
  }
})
