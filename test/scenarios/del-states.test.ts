/** DEL: the specification's table of states and transitions, row by row, on a tree four levels deep. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { company, levels } from '../declarations-company.ts'
import { purgeAt, type Sent, type Trial, trialFor } from '../harness.ts'
import { countOf, stateOf } from '../steps.ts'

const day = 86_400_000

/** A record on each level, each under the one before. */
async function grow({ make }: Trial, name = 'Acme') {
  const root = await make('companies', { name })
  const department = await make('departments', { name, company_id: root.id })
  const team = await make('teams', { name, department_id: department.id })
  const member = await make('members', { name, team_id: team.id })
  return { root, department, team, member }
}

const remove = (collection: string, id: string, more: Partial<Sent> = {}): Sent => ({ method: 'DELETE', path: `/v1/${collection}/${id}`, ...more }) // biome-ignore format: one row reads best
const restore = (id: string): Sent => ({ method: 'POST', path: `/v1/companies/${id}/restore` })
const counts = (current: Trial, query = '') => Promise.all(levels.map((name) => countOf(current, name, query)))

it('DEL-1: live, DELETE, soft: removed from its path and from lists, and the data is retained', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  const { root, department, member } = await grow(current)
  assert.equal((await send(remove('companies', root.id))).status, 204)
  for (const [name, { id }] of [
    ['companies', root],
    ['departments', department],
    ['members', member],
  ] as const) {
    // biome-ignore format: a line
    assert.equal((await send({ path: `/v1/${name}/${id}` })).status, 404)
  }
  assert.deepEqual(await counts(current), [0, 0, 0, 0])
  assert.deepEqual(await counts(current, '?include_deleted=true'), [1, 1, 0, 1])
})

it('DEL-1: live, DELETE, hard: permanently deleted', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  const { team } = await grow(current)
  assert.equal((await send(remove('teams', team.id))).status, 204)
  assert.equal((await send({ path: `/v1/teams/${team.id}` })).status, 404)
  assert.deepEqual(await counts(current, '?include_deleted=true'), [1, 1, 0, 1])
  assert.equal((await send({ method: 'POST', path: `/v1/teams/${team.id}/restore` })).status, 404)
})

it('DEL-8: live, DELETE, asynchronous: 202 with a pending job, which can be polled until it completes', async (context) => {
  const current = await trialFor(context, company)
  const { app, send } = current
  const { root } = await grow(current)
  const answer = await send(remove('companies', root.id, { headers: { prefer: 'respond-async' } }))
  assert.deepEqual([answer.status, answer.json.status], [202, 'pending'])
  assert.equal((await send({ path: `/v1/companies/${root.id}` })).status, 404)
  await app.runner.idle()
  const job = await send({ path: answer.json.status_url })
  assert.deepEqual([job.status, job.json.status], [200, 'succeeded'])
  assert.deepEqual(await counts(current, '?include_deleted=true'), [1, 1, 0, 1])
})

it('DEL-6: soft-deleted, restore, still retained: live again', async (context) => {
  const current = await trialFor(context, company)
  const { send, clock } = current
  const { root, department } = await grow(current)
  await send(remove('companies', root.id))
  clock.ahead = 30 * day - 60_000
  assert.equal((await send(restore(root.id))).status, 200)
  assert.equal((await send({ path: `/v1/departments/${department.id}` })).status, 200)
  // The team is gone for good, and with it what hung on it alone.
  assert.deepEqual(await counts(current), [1, 1, 0, 0])
})

it('DEL-7: soft-deleted, after the grace period: permanently deleted, and the data removed', async (context) => {
  const current = await trialFor(context, company)
  const { app, send, clock } = current
  const { root } = await grow(current)
  await send(remove('companies', root.id))
  clock.ahead = 30 * day + 60_000
  assert.deepEqual(await counts(current, '?include_deleted=true'), [0, 0, 0, 0])
  assert.equal((await send(restore(root.id))).status, 404)
  assert.equal(await purgeAt(app, Date.now() + clock.ahead), 3)
  clock.ahead = 0
  assert.deepEqual(await counts(current, '?include_deleted=true'), [0, 0, 0, 0])
})

it('CON-3: a DELETE with an If-Match that does not match is a 412 and changes nothing', async (context) => {
  const current = await trialFor(context, company)
  const { send } = current
  const { root } = await grow(current)
  const before = await stateOf(current, levels)
  for (const prefer of ['return=minimal', 'respond-async']) {
    const headers = { 'if-match': '"another"', prefer }
    assert.equal((await send(remove('companies', root.id, { headers }))).status, 412)
  }
  assert.deepEqual(await stateOf(current, levels), before)
})

it('DEL-4: a DELETE that dependents block, four levels down, is a 409 and changes nothing', async (context) => {
  const current = await trialFor(context, company)
  const { send, make } = current
  const { root, member } = await grow(current)
  await make('audits', { name: 'Open', member_id: member.id })
  const before = await stateOf(current, levels)
  for (const prefer of ['return=minimal', 'respond-async']) {
    const answer = await send(remove('companies', root.id, { headers: { prefer } }))
    assert.deepEqual([answer.status, answer.json.code], [409, 'HAS_DEPENDENTS'])
  }
  assert.deepEqual(await stateOf(current, levels), before)
})
