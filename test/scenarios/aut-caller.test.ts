/** AUT-11: callers read who they are and what they may do. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { studio } from '../declarations.ts'
import { notebooks } from '../declarations-versions.ts'
import { trialFor } from '../harness.ts'

it('AUT-11: each caller sees for each action whether it is permitted on all records, some or none', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true })
  const of = async (as: string) => (await send({ path: '/v1/caller', as })).json
  const [ann, root] = [await of('ann'), await of('root')]
  assert.deepEqual([ann.id, ann.roles, ann.credential, ann.expires_at], ['ann', [], 'api-key', null])
  const granted = ({ permissions }: typeof ann, action: string) => permissions.projects[action].granted
  assert.deepEqual(['read', 'create', 'delete', 'read_deleted'].map((action) => granted(ann, action)), [
    'some', 'all', 'some', 'none',
  ]) // biome-ignore format: one row reads best
  assert.deepEqual(['read', 'create', 'delete', 'read_deleted'].map((action) => granted(root, action)), [
    'all', 'all', 'all', 'all',
  ]) // biome-ignore format: one row reads best
  assert.deepEqual(ann.permissions.projects.read.rules, ['role:admin', 'owner', { where: { visibility: 'public' } }])
  assert.equal(ann.permissions['api-keys'].read.granted, 'some')
  // What is said here is what happens.
  assert.equal((await send({ path: '/v1/projects?include_deleted=true', as: 'ann' })).status, 403)
  assert.equal((await send({ path: '/v1/projects?include_deleted=true', as: 'root' })).status, 200)
})

it('AUT-11, EVT-4: it says whether the caller reads all events, some or none', async (context) => {
  const notes = (access: object) => ({ fields: { text: { type: 'string' } }, access, events: true }) as const
  const all = { read: ['anyone'], readDeleted: ['role:admin'] }
  const cases = [
    [{ open: notes(all) }, 'all', 'some'],
    [{ open: notes(all), closed: notes({ read: 'role:admin' }) }, 'all', 'some'],
    [{ open: notes(all), closed: notes({ read: 'nobody' }) }, 'some', 'some'],
    [{ closed: notes({ read: 'role:editor' }) }, 'none', 'none'],
  ] as const
  for (const [resources, ofRoot, ofAnn] of cases) {
    const { send } = await trialFor(context, { name: 'notes', resources }, { memory: true })
    const granted = async (as: string) => (await send({ path: '/v1/caller', as })).json.permissions.events.read.granted
    assert.deepEqual([await granted('root'), await granted('ann')], [ofRoot, ofAnn])
  }
})

it('AUT-11: only authenticated callers read it, and nothing else is at this address', async (context) => {
  const { send } = await trialFor(context, studio, { memory: true })
  assert.equal((await send({ path: '/v1/caller', as: null })).status, 401)
  assert.equal((await send({ path: '/v1/caller/ann', as: 'ann' })).status, 404)
  const refused = await send({ path: '/v1/caller', as: 'ann', method: 'POST', body: {} })
  assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  assert.equal((await send({ path: '/v1/caller?fields=id', as: 'ann' })).status, 400)
})

it('AUT-11, VER-2: in an older version it names the collections of that version', async (context) => {
  const { send } = await trialFor(context, notebooks({ v1: {}, v2: {} }), { memory: true })
  for (const version of ['v1', 'v2']) {
    const { paths } = (await send({ path: `/${version}/openapi.json`, as: 'ann' })).json
    const { permissions } = (await send({ path: `/${version}/caller`, as: 'ann' })).json
    for (const name of Object.keys(permissions)) assert.ok(`/${name}` in paths, `${version}: ${name}`)
  }
})
