/** DEL-9: bulk deletion deletes all of the listed records, or none. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forest, studio } from '../declarations.ts'
import { places, type Sent, trialFor } from '../harness.ts'
import { countOf, nowhere, stateOf } from '../steps.ts'

function bulk(collection: string, ids: unknown, more: Partial<Sent> = {}): Sent {
  return { path: `/v1/${collection}/bulk-delete`, body: { ids }, ...more }
}

it('DEL-9: the listed records are deleted together, and the response lists them in the requested order', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three', 'Four']) ids.push((await make('projects', { name })).id)
  const asked = [ids[2], ids[0], ids[3]] as string[]
  const answer = await send(bulk('projects', asked))
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(Object.keys(answer.json), ['data'])
  assert.deepEqual(answer.json.data.map((each: { id: string }) => each.id), asked) // biome-ignore format: a line
  const times = new Set(answer.json.data.map((each: { deleted_at: string }) => each.deleted_at))
  assert.equal(times.size, 1)
  assert.equal(await countOf(current, 'projects'), 1)
  const again = await send(bulk('projects', asked))
  assert.deepEqual([again.status, again.json.code], [404, 'NOT_FOUND'])
  // Each of them can be taken back by itself.
  assert.equal((await send({ method: 'POST', path: `/v1/projects/${ids[0]}/restore` })).status, 200)
  assert.equal(await countOf(current, 'projects'), 2)
})

it('DEL-9: dependents are deleted by cascade, and listed records that restrict one another do not block', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const one = await make('folders', { name: 'One' })
  const two = await make('folders', { name: 'Two', twin_id: one.id })
  await make('folders', { name: 'Under', parent_id: two.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })).status, 409)
  assert.equal((await send(bulk('folders', [one.id, two.id]))).status, 200)
  assert.equal(await countOf(current, 'folders'), 0)
})

it('DEL-9: if one record cannot be deleted, none is, and every reason is reported with its id', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const own = await make('projects', { name: 'Own' }, 'ann')
  const foreign = await make('projects', { name: 'Foreign' })
  const busy = await make('projects', { name: 'Busy' }, 'ann')
  await make('tasks', { title: 'Open', project_id: busy.id })
  const before = await stateOf(current, ['projects', 'tasks'])
  const mixed: [ids: string[], status: number, code: string, errors: string[]][] = [
    [[own.id, nowhere], 404, 'NOT_FOUND', ['NOT_FOUND /ids/1']],
    [[nowhere, foreign.id, own.id], 403, 'FORBIDDEN', ['NOT_FOUND /ids/0', 'FORBIDDEN /ids/1']],
    [[own.id, busy.id], 409, 'PROJECT_HAS_OPEN_TASKS', ['PROJECT_HAS_OPEN_TASKS /ids/1']],
    [
      [busy.id, foreign.id, own.id, nowhere],
      409,
      'CONFLICT',
      ['FORBIDDEN /ids/1', 'NOT_FOUND /ids/3', 'PROJECT_HAS_OPEN_TASKS /ids/0'],
    ],
  ]
  for (const [ids, status, code, errors] of mixed) {
    const answer = await send(bulk('projects', ids, { as: 'ann' }))
    assert.deepEqual([answer.status, answer.json.code, places(answer)], [status, code, errors])
    assert.deepEqual(await stateOf(current, ['projects', 'tasks']), before)
  }
})

it('DEL-9: an invalid list is a 400, and a caller without permission learns nothing of it', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  const bad: [body: unknown, errors: string[]][] = [
    [{ ids: [project.id, project.id] }, ['INVALID_VALUE /ids/1']],
    [{ ids: [] }, ['TOO_FEW_ITEMS /ids']],
    [{}, ['REQUIRED /ids']],
    [{ ids: Array.from({ length: 1_001 }, (_, number) => `id-${number}`) }, ['TOO_MANY_ITEMS /ids']],
  ]
  for (const [body, errors] of bad) {
    const answer = await send({ path: '/v1/projects/bulk-delete', body })
    assert.deepEqual([answer.status, answer.json.code, places(answer)], [400, 'VALIDATION_FAILED', errors])
  }
  assert.equal((await send({ path: '/v1/projects/bulk-delete', body: '{' })).status, 400)
  assert.equal((await send(bulk('users', [], { as: 'ann' }))).status, 403)
  assert.equal((await send(bulk('projects', [project.id], { as: null }))).status, 401)
  const wrong = await send({ path: '/v1/projects/bulk-delete' })
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'POST, OPTIONS'])
  assert.equal(await countOf(current, 'projects'), 1)
})

it('DEL-9: a thousand records are deleted in one fast transaction', async (context) => {
  const current = await trialFor(context, studio)
  const project = await current.make('projects', { name: 'One' })
  const shares: number[] = []
  // Compared with as many creations by the same machine; something else may have kept it busy once.
  do {
    const ids: string[] = []
    const began = performance.now()
    for (let number = 0; number < 1_000; number++) {
      ids.push((await current.make('tasks', { title: `Task ${number}`, project_id: project.id })).id)
    }
    const made = performance.now()
    const answer = await current.send(bulk('tasks', ids))
    shares.push((performance.now() - made) / (made - began))
    assert.equal(answer.status, 200, answer.text)
    const times = await current.database.rows('select distinct deleted_at, _deletion from tasks')
    assert.equal(times.length, shares.length)
    assert.equal(await countOf(current, 'tasks'), 0)
  } while (Math.min(...shares) > 0.4 && shares.length < 3)
  context.diagnostic(shares.map((share) => `${(share * 100).toFixed(0)}%`).join(', '))
  assert.ok(Math.min(...shares) <= 0.4, `it took ${shares} as long as making them one by one`)
})

it('DEL-9: the path does not exist if the declaration turns it off', async (context) => {
  const declared = { ...studio.resources.users, deletion: { bulk: false } } as const
  const { send } = await trialFor(context, { ...studio, resources: { ...studio.resources, users: declared } })
  const answer = await send(bulk('users', [nowhere]))
  assert.equal(answer.status, 405)
})
