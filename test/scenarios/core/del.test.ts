/** DEL: deletion of one record. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forest, studio } from '../../declarations.ts'
import { places, trialFor } from '../../harness.ts'
import { countOf, nowhere } from '../../steps.ts'

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

it('DEL-1: a soft-deleted record is in no read, and its data is kept', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'Green house', description: 'x' })
  await make('projects', { name: 'Other' })
  const path = `/v1/projects/${project.id}`
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.equal((await send({ path })).status, 404)
  assert.equal((await send({ method: 'HEAD', path })).status, 404)
  assert.equal((await send({ path: `${path}/tasks` })).status, 404)
  for (const query of [
    '',
    '?q=green',
    '?name=Green house',
    '?page=1',
    '?offset=0',
    '?sort=-name',
    '?visibility=private',
  ]) {
    const answer = await send({ path: `/v1/projects${query.replace(' ', '%20')}` })
    if (answer.status === 400) continue
    assert.ok(!answer.text.includes('Green house'), query)
  }
  assert.equal(await countOf(current, 'projects'), 1)
  const { data, pagination } = (await send({ path: '/v1/projects?include_deleted=true' })).json
  assert.equal(pagination.total_count, 2)
  const { deleted_at, ...kept } = data.find((each: { id: string }) => each.id === project.id)
  assert.deepEqual(kept, project)
})

it('DEL-1: a hard-deleted record is permanently deleted', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'Searchable', folder_id: folder.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/files/${file.id}` })).status, 204)
  assert.equal((await send({ path: `/v1/files/${file.id}` })).status, 404)
  assert.equal(await countOf(current, 'files', '?include_deleted=true'), 0)
  assert.equal(await countOf(current, 'files', '?q=searchable'), 0)
  // What search knew of it is gone too: the next record does not inherit its words.
  const next = await make('files', { name: 'Next', folder_id: folder.id })
  assert.equal(await countOf(current, 'files', '?q=searchable'), 0)
  assert.equal(await countOf(current, 'files', '?q=next'), 1)
  assert.notEqual(next.id, file.id)
})

it('DEL-2: 204 without a body, or 200 with exactly id and deleted_at if declared', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'File', folder_id: folder.id })
  const empty = await send({ method: 'DELETE', path: `/v1/files/${file.id}` })
  assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [204, '', undefined])
  const before = new Date().toISOString()
  const summary = await send({ method: 'DELETE', path: `/v1/folders/${folder.id}` })
  assert.equal(summary.status, 200)
  assert.deepEqual(Object.keys(summary.json), ['id', 'deleted_at'])
  assert.equal(summary.json.id, folder.id)
  assert.match(summary.json.deleted_at, instant)
  assert.ok(summary.json.deleted_at >= before)
  const [kept] = (await send({ path: '/v1/folders?include_deleted=true' })).json.data
  assert.equal(kept.deleted_at, summary.json.deleted_at)
})

it('DEL-3: a repeated deletion is a 404, or a 204 if declared', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'File', folder_id: folder.id })
  const erase = (path: string, headers = {}) => send({ method: 'DELETE', path, headers })
  assert.equal((await erase(`/v1/files/${file.id}`)).status, 204)
  const again = await erase(`/v1/files/${file.id}`)
  assert.deepEqual([again.status, again.text], [204, ''])
  for (const id of [nowhere, 'x', '%00', "'"]) assert.equal((await erase(`/v1/files/${id}`)).status, 204, id)
  const first = await erase(`/v1/folders/${folder.id}`)
  assert.equal(first.status, 200)
  const retained = (await send({ path: '/v1/folders?include_deleted=true' })).text
  const second = await erase(`/v1/folders/${folder.id}`)
  assert.deepEqual([second.status, second.json.code], [404, 'NOT_FOUND'])
  assert.equal((await erase(`/v1/folders/${folder.id}`, { 'if-match': '*' })).status, 404)
  assert.equal((await send({ path: '/v1/folders?include_deleted=true' })).text, retained, 'nor does it move deleted_at')
})

it('DEL-3: of many concurrent deletions one succeeds', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const { id } = await make('folders', { name: 'Folder' })
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => send({ method: 'DELETE', path: `/v1/folders/${id}` })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(31).fill(404)])
})

it('DEL-11: a value is unique among live records only', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const first = await make('projects', { name: 'One' })
  const clash = await send({ path: '/v1/projects', body: { name: 'One' } })
  assert.deepEqual([clash.status, clash.json.code, ...places(clash)], [409, 'DUPLICATE_VALUE', 'DUPLICATE_VALUE /name'])
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${first.id}` })).status, 204)
  const second = await make('projects', { name: 'One' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${second.id}` })).status, 204)
  await make('projects', { name: 'One' })
})

it('DEL-11: a change conflicts like a creation, and never with its own record', async (context) => {
  const { send, make } = await trialFor(context, studio)
  await make('projects', { name: 'One' })
  const two = await make('projects', { name: 'Two' })
  const path = `/v1/projects/${two.id}`
  for (const method of ['PUT', 'PATCH']) {
    const clash = await send({ method, path, body: { name: 'One' } })
    assert.deepEqual([clash.status, clash.json.code], [409, 'DUPLICATE_VALUE'])
    assert.equal((await send({ method, path, body: { name: 'Two' } })).status, 200)
    assert.equal((await send({ method, path, body: { name: 'one' } })).status, 200, 'equality minds the case')
    assert.equal((await send({ method, path, body: { name: 'Two' } })).status, 200)
  }
})

it('DEL-11: fields that are unique together may each repeat', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const [one, two] = [await make('projects', { name: 'One' }), await make('projects', { name: 'Two' })]
  const first = await make('tasks', { title: 'T', project_id: one.id })
  await make('tasks', { title: 'T', project_id: two.id })
  await make('tasks', { title: 'U', project_id: one.id })
  for (const sent of [
    { path: '/v1/tasks', body: { title: 'T', project_id: one.id } },
    { path: `/v1/projects/${one.id}/tasks`, body: { title: 'T' } },
  ]) {
    const clash = await send(sent)
    assert.deepEqual([clash.status, clash.json.code], [409, 'DUPLICATE_VALUE'])
  }
  assert.equal((await send({ method: 'DELETE', path: `/v1/tasks/${first.id}` })).status, 204)
  await make('tasks', { title: 'T', project_id: one.id })
})

it('DEL-11: null never conflicts', async (context) => {
  const { make } = await trialFor(context, {
    name: 'x',
    resources: { notes: { fields: { code: { type: 'string', optional: true, unique: true } } } },
  })
  await make('notes', {})
  await make('notes', { code: null })
})
