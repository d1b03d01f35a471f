/** TEN-1: which tenant a request belongs to. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { trial } from '../harness.ts'
import { createTenants, member, operator, outcomeOf, tenantTrial } from './tenants.ts'

const notes: InterfaceDeclaration['resources'] = {
  notes: {
    access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
    fields: { text: { type: 'string', unique: true } },
  },
}
const byOperators: InterfaceDeclaration = { name: 'notes', tenants: { caller: 'claims.team' }, resources: notes }
const byFirstUse: InterfaceDeclaration = { ...byOperators, tenants: { caller: 'claims.team', create: 'first-use' } }

const path = '/v1/notes'

it('TEN-1: a request without a tenant, and one of an unknown tenant, is 403', async (t) => {
  const { send, close } = await tenantTrial(byOperators)
  t.after(close)
  const of = async (team: unknown) => outcomeOf(await send({ path, as: member(team) }))
  const without = { id: 'ann', roles: ['admin'] }
  assert.equal(outcomeOf(await send({ path, as: without })), '403 NO_TENANT')
  assert.equal(outcomeOf(await send({ path, as: { ...without, claims: { other: 'acme' } } })), '403 NO_TENANT')
  for (const team of [5, true, ['acme'], { name: 'acme' }]) assert.equal(await of(team), '403 NO_TENANT')
  for (const team of ['acme', '', 'a\u0001', 'x'.repeat(129)]) assert.equal(await of(team), '403 UNKNOWN_TENANT')
})

it('TEN-1: names are compared exactly', async (t) => {
  const current = await tenantTrial(byOperators)
  t.after(current.close)
  await createTenants(current, 'acme', 'Straße', 'x'.repeat(128), '🐘'.repeat(128), ' ')
  const of = async (team: unknown) => (await current.send({ path, as: member(team) })).status
  const names = ['acme', 'Straße', 'x'.repeat(128), '🐘'.repeat(128), ' ']
  for (const team of names) assert.equal(await of(team), 200, team)
  for (const team of ['Acme', 'acme ', 'strasse', 'x'.repeat(127), '']) assert.equal(await of(team), 403, team)
})

it('TEN-1: these come after 401 and 429, and before 404 and 405', async (t) => {
  const rated = { ...byOperators, limits: { rate: { caller: '2/hour' } } }
  const { send, close } = await tenantTrial(rated, { rates: {} })
  t.after(close)
  assert.equal(outcomeOf(await send({ path, as: undefined })), '401 UNAUTHENTICATED')
  assert.equal(outcomeOf(await send({ path: '/v1/nothing', as: member('acme') })), '403 UNKNOWN_TENANT')
  assert.equal(outcomeOf(await send({ method: 'PATCH', path, as: member('acme') })), '403 UNKNOWN_TENANT')
  assert.equal(outcomeOf(await send({ path, as: member('acme') })), '429 RATE_LIMITED')
})

it('TEN-1: the addresses stay the same, and so do health checks and pages', async (t) => {
  const current = await tenantTrial(byOperators)
  t.after(current.close)
  await createTenants(current, 'acme')
  const { send } = current
  const made = await send({ path, as: member('acme'), body: { text: 'one' } })
  assert.equal(made.headers['location'], `/v1/notes/${made.json.id}`)
  assert.deepEqual((await send({ path: made.headers['location'], as: member('acme') })).json, made.json)
  for (const open of ['/health/live', '/health/ready', '/docs']) {
    assert.equal((await send({ path: open, as: undefined })).status, 200, open)
  }
})

it('TEN-1: a first use that reads finds nothing and creates nothing', async (t) => {
  const { send, close } = await tenantTrial(byFirstUse)
  t.after(close)
  const as = member('acme')
  const list = await send({ path, as })
  assert.deepEqual([list.status, list.json.data, list.json.pagination.total_count], [200, [], 0])
  assert.equal((await send({ path: `${path}/01a1fde6-1be6-7f7d-a2ef-25a8bed79d72`, as })).status, 404)
  assert.equal((await send({ method: 'HEAD', path, as })).status, 200)
  assert.equal((await send({ method: 'OPTIONS', path, as })).status, 204)
  assert.equal((await send({ method: 'QUERY', path, body: { limit: 1 }, as })).status, 200)
  // Nothing is at these addresses.
  assert.equal((await send({ path: '/v1/nothing', as, body: {} })).status, 404)
  assert.equal((await send({ method: 'DELETE', path, as })).status, 405)
  assert.deepEqual((await send({ path: '/v1/tenants', as: operator })).json.data, [])
})

it('TEN-1: a first use that changes something creates the tenant, once', async (t) => {
  const { send, close } = await tenantTrial(byFirstUse)
  t.after(close)
  const texts = Array.from({ length: 8 }, (_, index) => `note ${index}`)
  const made = await Promise.all(texts.map((text) => send({ path, as: member('acme'), body: { text } })))
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]))
  const list = await send({ path, as: member('acme') })
  assert.equal(list.json.pagination.total_count, 8)
  const tenants = (await send({ path: '/v1/tenants', as: operator })).json.data
  assert.deepEqual(
    tenants.map(({ name, state }: Record<string, unknown>) => [name, state]),
    [['acme', 'active']],
  )
})

it('TEN-1: first uses create at most limits.tenants, and revive no deleted tenant', async (t) => {
  const current = await tenantTrial({ ...byFirstUse, limits: { tenants: 2 } })
  t.after(current.close)
  const { send } = current
  const use = async (team: string) => outcomeOf(await send({ path, as: member(team), body: { text: 'one' } }))
  assert.deepEqual([await use('one'), await use('two'), await use('three')], ['201', '201', '403 UNKNOWN_TENANT'])
  assert.equal(await outcomeOf(await send({ path, as: member('three') })), '200')
  const [tenant] = (await send({ path: '/v1/tenants?name=one', as: operator })).json.data
  assert.equal((await send({ method: 'DELETE', path: `/v1/tenants/${tenant.id}`, as: operator })).status, 204)
  assert.deepEqual([await use('one'), await use('three')], ['403 UNKNOWN_TENANT', '403 UNKNOWN_TENANT'])
  assert.equal(outcomeOf(await send({ path, as: member('one') })), '403 UNKNOWN_TENANT')
})

it('TEN-1: tenants over a database with records of a declaration without them are refused', async (t) => {
  const before = await trial({ name: 'notes', resources: notes })
  const { database, app } = before
  await before.make('notes', { text: 'one' })
  await app.close()
  t.after(() => database.remove())
  await assert.rejects(tenantTrial(byOperators, { database }), /records of one without: notes.*tenants import/)
  // Nothing was changed.
  const after = await trial({ name: 'notes', resources: notes }, { database })
  assert.equal((await after.send({ path, as: 'ann' })).json?.pagination.total_count, 1)
  await after.app.close()
})
