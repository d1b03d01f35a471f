/** RES: paths and names. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import { counters, forest, samples, studio } from '../../declarations.ts'
import { scenarios, type Trial, trialFor } from '../../harness.ts'
import { nowhere } from '../../steps.ts'

const text = { type: 'string' }
const declared = (name: string, fields: object = { text }) => ({ name: 'trial', resources: { [name]: { fields } } })
const complaints = (declaration: unknown) =>
  checkDeclaration(declaration).map(({ path, message }) => `${path} ${message}`)

it('RES-1: the interfaces of these scenarios have no mistakes', () => {
  for (const declaration of [studio, samples, forest, counters]) assert.deepEqual(checkDeclaration(declaration), [])
})

for (const name of ['notes', 'line-items', 'people', 'addresses', 'x1-notes']) {
  it(`RES-1: ${name} is valid as the name of a collection`, () => assert.deepEqual(complaints(declared(name)), []))
}

for (const name of [
  'note',
  'Notes',
  'line_items',
  'lineItems',
  'notes-',
  '-notes',
  'notes--more',
  'notes.csv',
  'nötes',
  '',
  '__proto__x',
  'notes"; drop table x',
]) {
  it(`RES-1: ${JSON.stringify(name)} is invalid as the name of a collection`, () => {
    const found = complaints(declared(name))
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(String(found[0]), /^resources/)
  })
}

for (const name of [
  'jobs',
  'exports',
  'api-keys',
  'openapi.json',
  'docs',
  'console',
  'health',
  'restore',
  'bulk-delete',
]) {
  it(`RES-3: ${name} is reserved`, () => assert.equal(checkDeclaration(declared(name)).length, 1))
}

for (const name of ['text', 'due_on', 'line_2', 'a']) {
  it(`RES-7: ${name} is valid as the name of a field`, () =>
    assert.deepEqual(complaints(declared('notes', { [name]: text })), []))
}

for (const name of [
  'dueOn',
  'Due',
  'due-on',
  '_due',
  'due_',
  'due__on',
  '2nd',
  'dué',
  'due on',
  'due";--',
  '$due',
  'a.b',
]) {
  it(`RES-7: ${JSON.stringify(name)} is invalid as the name of a field`, () => {
    const found = complaints(declared('notes', { [name]: text }))
    assert.equal(found.length, 1, found.join('\n'))
    assert.match(String(found[0]), /^resources\.notes\.fields/)
  })
}

for (const name of ['id', 'created_at', 'updated_at', 'deleted_at']) {
  it(`RES-7: ${name} is a field of every record and cannot be declared`, () => {
    assert.equal(checkDeclaration(declared('notes', { [name]: text })).length, 1)
  })
}

it('RES-2: a nested record has a top-level path too', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const project = await make('projects', { name: 'One' })
  const nested = await send({ path: `/v1/projects/${project.id}/tasks`, body: { title: 'Nested' } })
  assert.equal(nested.status, 201)
  assert.equal(nested.headers.location, `/v1/tasks/${nested.json.id}`)
  const top = await send({ path: '/v1/tasks', body: { title: 'Top', project_id: project.id } })
  assert.equal(top.status, 201)
  const read = await send({ path: `/v1/tasks/${nested.json.id}` })
  assert.deepEqual(read.json, nested.json)
  const listed = await send({ path: `/v1/projects/${project.id}/tasks` })
  assert.deepEqual(listed.json.data, [nested.json, top.json])
})

scenarios(studio, [
  ...[
    ['a child under its parent', '/projects/{id}/tasks/{task}'],
    ['a level deeper', '/projects/{id}/tasks/{task}/users'],
    ['a collection that is not nested here', '/projects/{id}/users'],
    ['a collection nested the other way round', '/tasks/{task}/projects'],
    ['a collection that is not declared', '/customers'],
    ['a prototype’s member', '/__proto__'],
    ['a constructor', '/constructor'],
    ['a nested prototype’s member', '/projects/{id}/__proto__'],
    ['another case', '/Projects'],
    ['a singular', '/project'],
    ['an extension', '/projects.json'],
    ['an extension on a record', '/projects/{id}.json'],
    ['a verb', '/projects/{id}/archive'],
    ['the version alone', ''],
  ].map(([name, path]) => ({
    name: `${name} is nothing`,
    rule: 'RES-2',
    send: async (trial: Trial) => ({ path: `/v1${await filled(trial, path as string)}` }),
    status: 404,
    code: 'NOT_FOUND',
  })),
  ...[
    ['a trailing slash', '/v1/projects/', 404],
    ['a trailing slash on a record', '/v1/projects/{id}/', 404],
    ['a trailing slash on a nested collection', '/v1/projects/{id}/tasks/', 404],
    ['an empty segment', '/v1//projects', 404],
    ['an empty id', '/v1/projects//tasks', 404],
    ['two slashes at the start', '//v1/projects', 404],
    ['a dot segment', '/v1/./projects', 404],
    ['two dots', '/v1/users/../projects', 404],
    ['escaped dots', '/v1/users/%2e%2e/projects', 404],
    ['an escaped slash within an id', '/v1/projects/{id}%2Ftasks', 404],
    ['an escaped slash between segments', '/v1%2Fprojects', 404],
    ['an escaped U+0000', '/v1/projects/{id}%00', 404],
    ['an escaped quote', "/v1/projects/'%20or%20'1'='1", 404],
    ['the id in upper case', '/v1/projects/{ID}', 404],
    ['a blank after the id', '/v1/projects/{id}%20', 404],
    ['a semicolon', '/v1/projects;x=1', 404],
    ['half an escape', '/v1/projects/%', 400],
    ['an escape of no digits', '/v1/projects/%zz', 400],
    ['an escape that is not UTF-8', '/v1/projects/%ff', 400],
    ['an overlong escape', '/v1/%c0%afprojects', 400],
    ['an escaped half of a surrogate pair', '/v1/%ed%a0%80', 400],
    ['half an escape where nothing is', '/nothing/%', 400],
  ].map(([name, path, status]) => ({
    name: `${name} never reaches a resource`,
    rule: 'RES-10',
    send: async (trial: Trial) => ({ path: await filled(trial, path as string) }),
    status: status as number,
    code: status === 400 ? 'MALFORMED_URL' : 'NOT_FOUND',
  })),
  {
    name: 'escapes that are not needed change nothing',
    rule: 'RES-10',
    send: async (trial) => ({ path: await filled(trial, '/v1/%70rojects/{id}') }),
    status: 200,
  },
  {
    name: 'the openapi document has no slash after it either',
    rule: 'RES-10',
    send: { path: '/v1/openapi.json/' },
    status: 404,
  },
])

it('RES-10: a trailing slash is no empty id, with any method', async (context) => {
  const { send } = await trialFor(context, forest)
  // Files answer 204 to the deletion of any absent id.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE']) {
    const body = method.startsWith('P') ? { name: 'x' } : undefined
    assert.equal((await send({ method, path: '/v1/files/', body })).status, 404, method)
  }
})

/** A path with a project's id (in upper case too) and a task's id put in. */
async function filled(trial: Trial, path: string): Promise<string> {
  const project = await trial.make('projects', { name: 'One' })
  const task = await trial.make('tasks', { title: 'First', project_id: project.id })
  return path.replace('{id}', project.id).replace('{ID}', project.id.toUpperCase()).replace('{task}', task.id)
}

it('RES-3: bulk-delete and restore are the only actions in paths, and no ids', async (context) => {
  const { send } = await trialFor(context, studio)
  for (const path of ['/v1/projects/search', '/v1/projects/count', `/v1/projects/${nowhere}/delete`]) {
    assert.equal((await send({ path })).status, 404, path)
  }
})

it('RES-7: keys within an object field are free', async (context) => {
  const { make } = await trialFor(context, samples)
  const payload = { camelCase: 1, 'with space': [{ 'ä/~': null }], constructor: { prototype: 1 }, '': 0 }
  assert.deepEqual((await make('samples', { title: 'x', payload })).payload, payload)
})
