/** TEN-3: operators manage tenants. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { purgeAt } from '../harness.ts'
import { createTenants, member, operator, outcomeOf, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team', gracePeriod: 'P7D' },
  resources: { notes: { access: { read: 'anyone', create: 'anyone' }, fields: { text: { type: 'string' } } } },
}
const path = '/v1/tenants'
const day = 86_400_000

it('TEN-3: operators create, list, read, delete and restore tenants', async (t) => {
  const { send, close } = await tenantTrial(declaration)
  t.after(close)
  const as = operator
  const made = await send({ path, as, body: { name: 'acme' } })
  assert.equal(made.status, 201)
  const { id, created_at, updated_at, ...rest } = made.json
  assert.deepEqual(rest, { name: 'acme', state: 'active', bytes: null })
  assert.equal(made.headers['location'], `${path}/${id}`)
  assert.deepEqual((await send({ path: `${path}/${id}`, as })).json, made.json)
  assert.deepEqual((await send({ path: `${path}?name=acme&state=active`, as })).json.data, [made.json])
  for (const method of ['PUT', 'PATCH']) {
    assert.equal((await send({ method, path: `${path}/${id}`, as, body: { name: 'x' } })).status, 405)
  }
  for (const name of ['', 'a\u0001b', 'x'.repeat(129), 5, null]) {
    assert.equal(outcomeOf(await send({ path, as, body: { name } })), '400 VALIDATION_FAILED', String(name))
  }
  for (const more of ['state', 'bytes', 'schema_hash', 'wakes_at', 'id']) {
    const body = { name: 'more', [more]: 'active' }
    assert.equal(outcomeOf(await send({ path, as, body })), '400 VALIDATION_FAILED', more)
  }
  const tag = made.headers['etag'] as string
  const remove = (headers: Record<string, string>) => send({ method: 'DELETE', path: `${path}/${id}`, as, headers })
  const other = await send({ path, as, body: { name: 'globex' } })
  for (const stale of ['"other"', other.headers['etag'] as string]) {
    assert.equal((await remove({ 'if-match': stale })).status, 412, stale)
  }
  assert.equal((await send({ path: `${path}/${id}`, as })).json.state, 'active')
  assert.equal((await remove({ 'if-match': tag })).status, 204)
  assert.equal((await send({ path: `${path}/${id}`, as })).status, 404)
  const [deleted] = (await send({ path: `${path}?include_deleted=true`, as })).json.data
  assert.equal(deleted.state, 'deleted')
  assert.equal(outcomeOf(await send({ path, as, body: { name: 'acme' } })), '409 DUPLICATE_VALUE')
  const restored = await send({ method: 'POST', path: `${path}/${id}/restore`, as })
  assert.deepEqual([restored.status, restored.json.state], [200, 'active'])
})

it('TEN-3: a repeated POST with an idempotency key creates one tenant', async (t) => {
  const { send, close } = await tenantTrial(declaration)
  t.after(close)
  const create = () => send({ path, as: operator, body: { name: 'acme' }, headers: { 'idempotency-key': '"once"' } })
  const [first, second] = [await create(), await create()]
  assert.deepEqual([second.status, second.json], [201, first.json])
})

it('TEN-3: everything but tenants, their jobs, health and documents is 403 for operators', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme')
  const { send } = current
  const status = async (address: string, body?: unknown) => (await send({ path: address, as: operator, body })).status
  for (const address of ['/v1/notes', '/v1/api-keys', '/v1/caller']) assert.equal(await status(address), 403, address)
  for (const address of ['/v1/exports', '/v1/transactions']) assert.equal(await status(address, {}), 403, address)
  for (const address of [path, '/v1/jobs', '/v1/openapi.json']) assert.equal(await status(address), 200, address)
  assert.equal(await status('/v1/nothing'), 404)
})

it('TEN-3: nobody else may use /tenants, and an operator with a tenant is none', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const [id] = await createTenants(current, 'acme')
  const { send } = current
  for (const roles of [['admin'], ['operator'], ['admin', 'operator']]) {
    const as = member('acme', 'ann', roles)
    for (const address of [path, `${path}/${id}`]) {
      assert.equal(outcomeOf(await send({ path: address, as })), '403 FORBIDDEN')
    }
    assert.equal(outcomeOf(await send({ path, as, body: { name: 'more' } })), '403 FORBIDDEN')
    assert.equal(outcomeOf(await send({ method: 'DELETE', path: `${path}/${id}`, as })), '403 FORBIDDEN')
  }
  assert.equal((await send({ path: '/v1/notes', as: member('acme', 'ann', ['operator']) })).status, 200)
  assert.equal(outcomeOf(await send({ path, as: { id: 'root', roles: ['admin'] } })), '403 NO_TENANT')
})

it('TEN-3: after the grace period a job removes the database, and the name is free', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send, app, database } = current
  const [id] = await createTenants(current, 'acme')
  const acme = member('acme')
  await send({ path: '/v1/notes', as: acme, body: { text: 'a secret of acme' } })
  await send({ method: 'DELETE', path: `${path}/${id}`, as: operator })
  assert.ok((await database.contents()).includes('a secret of acme'))
  current.clock.ahead = 8 * day
  await app.storage.purgeClock.confirm(Date.now() + current.clock.ahead)
  const restored = await send({ method: 'POST', path: `${path}/${id}/restore`, as: operator })
  assert.equal(restored.status, 404)
  assert.equal(await purgeAt(app, Date.now() + current.clock.ahead), 1)
  const [job] = (await send({ path: '/v1/jobs', as: operator })).json.data
  assert.deepEqual([job.kind, job.status], ['purge', 'succeeded'])
  assert.ok(!(await database.contents()).includes('a secret of acme'))
  const [again] = await createTenants(current, 'acme')
  assert.notEqual(again, id)
  assert.deepEqual((await send({ path: '/v1/notes', as: acme })).json.data, [])
})

it('TEN-3: what was no whole tenant when it was deleted is none when it is restored', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send, app } = current
  const registry = app.storage.tenants as NonNullable<typeof app.storage.tenants>
  const [moved] = await createTenants(current, 'moved')
  const half = uuidv7()
  await registry.create({ id: half, name: 'half', state: 'importing', most: 100, now: Date.now() })
  assert.ok(await registry.beginMove(moved as string, Date.now(), Date.now()))
  const outcome = async (team: string) => outcomeOf(await send({ path: '/v1/notes', as: member(team) }))
  for (const [id, team, state, outcomes] of [
    [half, 'half', 'importing', ['403 UNKNOWN_TENANT', '403 UNKNOWN_TENANT']],
    [moved, 'moved', 'moving', ['403 UNKNOWN_TENANT', '503 TENANT_MIGRATING']],
  ] as const) {
    assert.equal((await send({ method: 'DELETE', path: `${path}/${id}`, as: operator })).status, 204)
    const [deleted] = (await send({ path: `${path}?include_deleted=true&name=${team}`, as: operator })).json.data
    const whileDeleted = await outcome(team)
    const restored = await send({ method: 'POST', path: `${path}/${id}/restore`, as: operator })
    assert.deepEqual([deleted.state, restored.status, restored.json.state], [state, 200, state])
    assert.deepEqual([whileDeleted, await outcome(team)], outcomes)
  }
})

it('TEN-3: a request that began before its tenant was deleted or moved changes nothing more', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send, app } = current
  const ids = (await createTenants(current, 'deleted', 'moved')) as [string, string]
  const begin = (team: string, text: string) => {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    const begun = Promise.withResolvers<void>()
    const readBody = () => {
      begun.resolve()
      return promise
    }
    const headers = { 'x-caller': JSON.stringify({ ...member(team), expiresAt: 4e12 }) }
    const asked = app.respond({
      ...{ method: 'POST', target: '/v1/notes', headers: { ...headers, 'content-type': 'application/json' } },
      ...{ secure: true, address: '127.0.0.1', readBody },
    })
    const finish = async () => {
      resolve(Buffer.from(JSON.stringify({ text })))
      return (await asked).status
    }
    return { begun: begun.promise, finish }
  }
  const pairs = Array.from({ length: 24 }, (_, at) => ['deleted', 'moved'].map((team) => begin(team, `note ${at};`)))
  await Promise.all(pairs.flat().map(({ begun }) => begun))
  assert.equal((await send({ method: 'DELETE', path: `${path}/${ids[0]}`, as: operator })).status, 204)
  await app.storage.tenants?.beginMove(ids[1], Date.now(), Date.now())
  // Servers notice it within a second, and from then on all are refused.
  const refused: number[] = []
  for (const [at, pair] of pairs.entries()) {
    const [ofDeleted, ofMoved] = await Promise.all(pair.map(({ finish }) => finish()))
    if (ofDeleted === 403 && ofMoved === 503) refused.push(at)
    else {
      assert.deepEqual(refused, [], `${ofDeleted} and ${ofMoved} after a refusal`)
      await sleep(250)
    }
  }
  assert.notDeepEqual(refused, [])
  const contents = await current.database.contents()
  for (const at of refused) assert.ok(!contents.includes(`note ${at};`), `note ${at}`)
})
