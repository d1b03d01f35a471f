/** TEN-2: API keys of tenants. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createApp } from 'resourced'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { createTenants, member, operator, outcomeOf, type TenantTrial, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team' },
  resources: { notes: { access: { read: 'anyone', create: 'anyone' }, fields: { text: { type: 'string' } } } },
}
const [path, keys] = ['/v1/notes', '/v1/api-keys']
const [acme, globex] = [member('acme'), member('globex')]

async function keyOf({ send }: TenantTrial, as: typeof acme | string, body: object = { subject: 'bob' }) {
  const answer = await send({ path: keys, as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

it('TEN-2: a key belongs to the tenant of its maker, and so do the keys that it makes', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send } = current
  await createTenants(current, 'acme', 'globex')
  await send({ path, as: acme, body: { text: 'one' } })
  const { key } = await keyOf(current, acme)
  const { key: another } = await keyOf(current, key, {})
  for (const as of [key, another]) assert.equal((await send({ path, as })).json.pagination.total_count, 1)
  const { key: other } = await keyOf(current, globex)
  assert.equal((await send({ path, as: other })).json.pagination.total_count, 0)
  const total = async (as: typeof acme) => (await send({ path: keys, as })).json.pagination.total_count
  assert.deepEqual([await total(acme), await total(globex)], [2, 1])
})

it('TEN-2: a key has only claims of its maker, so that it names no other tenant', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const { send } = current
  const ask = (claims: object) => send({ path: keys, as: acme, body: { subject: 'bob', claims } })
  assert.equal(outcomeOf(await ask({ team: 'globex' })), '403 FORBIDDEN')
  assert.equal(outcomeOf(await ask({ more: 1 })), '403 FORBIDDEN')
  const made = await ask({ team: 'acme' })
  assert.equal(made.status, 201)
  assert.equal((await send({ path, as: made.json.key })).status, 200)
  assert.equal(outcomeOf(await send({ path: keys, as: acme, body: { tenant: 'globex' } })), '400 VALIDATION_FAILED')
})

it('TEN-2: a key that is not made leaves no hash', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme')
  const headers = { 'idempotency-key': '"again"' }
  const body = { subject: 'bob' }
  const again = async () => (await current.send({ path: keys, as: acme, body, headers })).status
  assert.deepEqual([await again(), await again(), await again()], [201, 409, 409])
  const refused = await current.send({ path: keys, as: acme, body: { subject: 3 } })
  assert.equal(refused.status, 400)
  assert.equal((await current.database.rows('select hash from resourced_tenant_keys')).length, 1)
})

it('TEN-2: a key of no tenant, whose claim names one, makes keys of it', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme')
  const { key, ...identity } = { key: newKey(), id: uuidv7(), subject: 'ann', roles: ['admin'], revoked_at: null }
  const stored = { ...identity, hash: hashOfKey(key), hint: hintOfKey(key), claims: { team: 'acme' }, expires_at: null }
  await current.app.storage.keys.add({ ...stored, created_at: new Date().toISOString() })
  const { key: made, made_by } = await keyOf(current, key)
  assert.equal(made_by, identity.id)
  assert.equal((await current.send({ path, as: made })).status, 200)
})

it('TEN-2: a key is revoked in its tenant alone', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const { send } = current
  const { id, key } = await keyOf(current, acme)
  assert.equal((await send({ path, as: key })).status, 200)
  const revoke = async (as: typeof acme) => (await send({ method: 'DELETE', path: `${keys}/${id}`, as })).status
  assert.equal(await revoke(globex), 404)
  assert.equal((await send({ path, as: key })).status, 200)
  assert.equal(await revoke(acme), 204)
  assert.equal((await send({ path, as: key })).status, 401)
})

it('TEN-3: the keys of a deleted tenant are 401, and valid again once it is restored', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const [id] = await createTenants(current, 'acme')
  const { send } = current
  const { key } = await keyOf(current, acme)
  const outcomes = async () => [outcomeOf(await send({ path, as: key })), outcomeOf(await send({ path, as: acme }))]
  assert.deepEqual(await outcomes(), ['200', '200'])
  const tenant = `/v1/tenants/${id}`
  assert.equal((await send({ method: 'DELETE', path: tenant, as: operator })).status, 204)
  // The key was found a moment ago.
  assert.deepEqual(await outcomes(), ['401 UNAUTHENTICATED', '403 UNKNOWN_TENANT'])
  assert.equal((await send({ method: 'POST', path: `${tenant}/restore`, as: operator })).status, 200)
  assert.deepEqual(await outcomes(), ['200', '200'])
})

it('TEN-2: uses of keys are noted in their tenant', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme')
  const { send } = current
  const { id, key } = await keyOf(current, acme)
  await send({ path, as: key })
  await current.stop()
  const again = await tenantTrial(declaration, { database: current.database })
  t.after(again.stop)
  const { last_used_at } = (await again.send({ path: `${keys}/${id}`, as: acme })).json
  assert.match(last_used_at, /^\d{4}-/)
})

it('TEN-2: the tenant that has a key decides, whatever its claims name', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const [id] = (await createTenants(current, 'acme', 'globex')) as [string]
  const { send, app, database } = current
  await send({ path, as: acme, body: { text: 'one' } })
  const { key, stored } = makeKey('bob', ['admin', 'operator'], null, { team: 'globex' })
  await app.storage.tenants?.addKey(stored.hash, id)
  const own = await openKeys({ database: database.address, databaseUnsafe: true, tenant: id })
  await own.keys.add(stored)
  await own.close()
  assert.equal((await send({ path, as: key })).json.pagination.total_count, 1)
  assert.equal(outcomeOf(await send({ path: '/v1/tenants', as: key })), '403 FORBIDDEN')
  assert.equal(outcomeOf(await send({ path: keys, as: key, body: { claims: { team: 'acme' } } })), '403 FORBIDDEN')
})

it('TEN-1: calls in process are of the tenant that their caller names', async (t) => {
  const app = createApp(declaration, { database: 'sqlite::memory:', log: false })
  t.after(() => app.close())
  await app.ready()
  const as = (caller: object) => app.as({ id: 'ann', roles: ['admin'], ...caller })
  for (const name of ['acme', 'globex']) await as({ roles: ['operator'] })['tenants']?.create({ name })
  const of = (team: unknown, more: object = {}) => as({ claims: { team }, ...more })['notes']
  await of('acme')?.create({ text: 'one' })
  assert.equal((await of('acme')?.list())?.data.length, 1)
  assert.equal((await of('globex', { tenant: 'acme' })?.list())?.data.length, 0)
  const refused = async (team: unknown, more?: object) =>
    of(team, more)
      ?.list()
      .then(String, ({ code }) => code)
  assert.deepEqual(
    [
      await refused(undefined),
      await refused(['acme']),
      await refused('Acme'),
      await refused(undefined, { tenant: 'acme' }),
    ],
    ['NO_TENANT', 'NO_TENANT', 'UNKNOWN_TENANT', 'NO_TENANT'],
  )
})
