/** MET-8: preferences for the response to a change. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../../declarations.ts'
import { trialFor } from '../../harness.ts'

it('MET-8: return=minimal and return=representation are followed on every write', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const minimal = { prefer: 'return=minimal' }
  const made = await send({ path: '/v1/projects', body: { name: 'One' }, headers: minimal })
  assert.deepEqual([made.status, made.text, made.headers['preference-applied']], [201, '', 'return=minimal'])
  assert.match(String(made.headers.location), /^\/v1\/projects\//)
  assert.ok(made.headers.etag !== undefined && made.headers['content-type'] === undefined)
  const path = String(made.headers.location)
  for (const method of ['PUT', 'PATCH']) {
    const silent = await send({ method, path, body: { name: `${method} 1` }, headers: minimal })
    assert.deepEqual([silent.status, silent.text, silent.headers['preference-applied']], [204, '', 'return=minimal'])
    assert.ok(silent.headers.etag !== undefined)
    const headers = { prefer: 'return=representation' }
    const whole = await send({ method, path, body: { name: `${method} 2` }, headers })
    assert.deepEqual([whole.status, whole.json.name], [200, `${method} 2`])
    assert.equal(whole.headers['preference-applied'], 'return=representation')
    const usual = await send({ method, path, body: { name: `${method} 3` } })
    assert.deepEqual([usual.status, usual.headers['preference-applied']], [200, undefined])
  }
  const other = await make('projects', { name: 'Other' })
  const deleted = await send({
    method: 'DELETE',
    path: `/v1/projects/${other.id}`,
    headers: { prefer: 'return=representation' },
  })
  assert.deepEqual([deleted.status, deleted.headers['preference-applied']], [200, 'return=representation'])
})

it('MET-8: unknown preferences are ignored, and refused with handling=strict', async (context) => {
  const { send } = await trialFor(context, studio)
  const post = (name: string, prefer: string) => send({ path: '/v1/projects', body: { name }, headers: { prefer } })
  assert.equal((await post('a', 'colour=red, return=everything')).status, 201)
  const strict = await post('b', 'handling=strict, colour=red, return=everything')
  assert.deepEqual([strict.status, strict.json.code], [400, 'UNKNOWN_PREFERENCE'])
  assert.equal(strict.json.errors.length, 2)
  assert.ok(strict.json.errors.every((each: { header: string }) => each.header === 'Prefer'))
  const followed = await post('c', 'return=minimal, handling=strict')
  assert.equal(followed.status, 201)
  assert.equal(followed.headers['preference-applied'], 'return=minimal, handling=strict')
  // Nothing was made by what was refused; reading is strict as well.
  assert.equal((await send({ path: '/v1/projects?limit=1' })).json.pagination.total_count, 2)
  assert.equal((await send({ path: '/v1/projects', headers: { prefer: 'handling=strict, x' } })).status, 400)
})
