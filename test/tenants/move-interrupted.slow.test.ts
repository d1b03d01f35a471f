/** TEN-3: a tenant whose move was interrupted is neither lost nor in two places. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { uuidv7 } from 'uuidv7'
import type { Work } from '../../packages/server/src/cli/backup.ts'
import { withOperators } from '../../packages/server/src/cli/open-operators.ts'
import { moveTenant, moveTenants } from '../../packages/server/src/cli/tenants.ts'
import type { NewTenant, TenantEntry, TenantStore } from '../../packages/server/src/storage/storage.ts'
import { newDatabase } from '../engine.ts'
import { createTenants, member, outcomeOf, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team' },
  resources: { notes: { access: { read: 'anyone', create: 'anyone' }, fields: { text: { type: 'string' } } } },
}
const path = '/v1/notes'
const acme = member('acme')
const globex = member('globex')

/** A database with two tenants, an empty database, and the options of a move from one to the other. */
async function movable(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-move-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'declaration.json')
  writeFileSync(file, JSON.stringify(declaration))
  const origin = await tenantTrial(declaration)
  t.after(origin.close)
  const target = await newDatabase()
  const ids = await createTenants(origin, 'acme', 'globex')
  assert.equal((await origin.send({ path, as: acme, body: { text: 'one' } })).status, 201)
  const options = { from: origin.database.address, to: target.address, declaration: file, databaseUnsafe: true }
  /** Serves the target, and gives the texts of a tenant there. */
  const serve = async () => {
    const moved = await tenantTrial(declaration, { database: target })
    t.after(moved.close)
    const texts = async (as = acme) => {
      for (let attempt = 0; ; attempt++) {
        const { status, json } = await moved.send({ path, as })
        if (status !== 503 || attempt === 200) return json.data?.map(({ text }: { text: string }) => text)
        await sleep(20)
      }
    }
    return { moved, texts }
  }
  return { origin, id: ids[0] as string, options, serve }
}

it('TEN-3: a move that was killed goes on when it is repeated, and one that has ended does nothing', async (t) => {
  const { origin, id, options, serve } = await movable(t)
  // Killed after its beginning.
  await origin.app.storage.tenants?.beginMove(id, Date.now(), Date.now() + 3_000)
  // Other servers notice it within a second.
  await sleep(1_500)
  assert.equal(outcomeOf(await origin.send({ path, as: acme })), '503 TENANT_MIGRATING')
  await moveTenants('acme', options)
  const { moved, texts } = await serve()
  assert.deepEqual(await texts(), ['one'])
  assert.equal((await moved.send({ path, as: acme, body: { text: 'two' } })).status, 201)
  await moveTenants('acme', options)
  assert.equal((await texts()).length, 2)
  assert.equal(outcomeOf(await origin.send({ path, as: acme })), '503 TENANT_MIGRATING')
})

it('TEN-3: of two moves at the same time one waits, and the tenant is served in one place', async (t) => {
  const { origin, options, serve } = await movable(t)
  const first = moveTenants('acme', options)
  await sleep(1_500)
  await Promise.all([first, moveTenants('acme', options)])
  assert.equal(outcomeOf(await origin.send({ path, as: acme })), '503 TENANT_MIGRATING')
  assert.deepEqual(await (await serve()).texts(), ['one'])
})

it('TEN-3: a tenant that is first used while others are moved is moved with its records', async (t) => {
  const { origin, options, serve } = await movable(t)
  const moves = moveTenants(undefined, options)
  await sleep(1_500)
  assert.equal((await origin.send({ path, as: globex, body: { text: 'new' } })).status, 201)
  await moves
  const { texts } = await serve()
  assert.deepEqual([await texts(), await texts(globex)], [['one'], ['new']])
})

it('TEN-3: a tenant that nobody has used is moved too', async (t) => {
  const { origin, options, serve } = await movable(t)
  await moveTenants('globex', options)
  assert.equal(outcomeOf(await origin.send({ path, as: globex })), '503 TENANT_MIGRATING')
  assert.deepEqual(await (await serve()).texts(globex), [])
})

it('TEN-3: a move of a name that is taken leaves the tenant where it is', async (t) => {
  const { origin, options, serve } = await movable(t)
  await createTenants((await serve()).moved, 'acme')
  await assert.rejects(moveTenants('acme', options), /"acme" is taken/)
  assert.equal((await origin.send({ path, as: acme })).status, 200)
})

it('TEN-3: a tenant that was moved is not moved once more, to another database or with all others', async (t) => {
  const { options, serve } = await movable(t)
  await assert.rejects(moveTenants('acme', { ...options, to: options.from }), /the same database/)
  await moveTenants('acme', options)
  const other = await newDatabase()
  await assert.rejects(moveTenants('acme', { ...options, to: other.address }), /acme was moved to another database/)
  await moveTenants(undefined, { ...options, to: other.address })
  const names = await withOperators({ database: other.address }, async ({ registry }) =>
    (await registry.list()).map(({ name }) => name),
  )
  assert.deepEqual(names, ['globex'])
  assert.deepEqual(await (await serve()).texts(), ['one'])
})

it('TEN-3: a move that was killed just before its end goes on to the same database alone', async (t) => {
  const { origin, id, options, serve } = await movable(t)
  const registry = origin.app.storage.tenants as TenantStore
  assert.ok((await registry.beginMove(id, Date.now(), 1)) && (await registry.hold(id, 1, null)))
  await withOperators(
    { database: options.to, databaseUnsafe: true },
    (to) =>
      to.registry.create({ id: uuidv7(), name: 'acme', state: 'importing', wakesAt: 1, most: 9, now: Date.now() }),
    operatorsOf(completeCatalog(declaration)),
  )
  const other = await newDatabase()
  await assert.rejects(moveTenants('acme', { ...options, to: other.address }), /acme was moved to another database/)
  await moveTenants('acme', options)
  assert.deepEqual(await (await serve()).texts(), ['one'])
})

it('TEN-3: a move that comes just before the end of another one waits for it', async (t) => {
  const { origin, id, options } = await movable(t)
  const registry = origin.app.storage.tenants as TenantStore
  assert.ok((await registry.beginMove(id, Date.now(), 1)) && (await registry.hold(id, 1, null)))
  await withOperators(
    { database: options.to, databaseUnsafe: true },
    async (to) => {
      const now = Date.now()
      const there = { id: uuidv7(), name: 'acme', state: 'importing', wakesAt: now + 15_000, most: 9, now } as const
      await to.registry.create(there)
      const second = moveTenants('acme', options)
      await sleep(1_500)
      await to.registry.activate(there.id, Date.now())
      await second
      assert.equal((await to.registry.find('acme'))?.id, there.id)
    },
    operatorsOf(completeCatalog(declaration)),
  )
  assert.equal((await registry.get(id))?.state, 'moving')
})

it('TEN-3: one command alone holds a tenant that is moved', async (t) => {
  const { origin, id } = await movable(t)
  const registry = origin.app.storage.tenants as TenantStore
  assert.equal(await registry.hold(id, (await registry.get(id))?.wakesAt ?? null, 1), false)
  const begun = await Promise.all([registry.beginMove(id, Date.now(), 1), registry.beginMove(id, Date.now(), 1)])
  assert.deepEqual(begun.sort(), [false, true])
  const held = await Promise.all([registry.hold(id, 1, 2), registry.hold(id, 1, 3)])
  assert.deepEqual(held.sort(), [false, true])
})

it('TEN-3: a tenant is served in one place where the answer of the target is lost', async (t) => {
  const { origin, options, serve } = await movable(t)
  const work: Work = { signal: new AbortController().signal, version: '0.0.0', now: Date.now(), onProgress() {} }
  await withOperators({ database: options.from }, (from) =>
    withOperators(
      { database: options.to, databaseUnsafe: true },
      async (to) => {
        const { create, activate } = to.registry
        const lost = () => Promise.reject(new Error('The connection was lost.'))
        const registry = {
          ...to.registry,
          create: (tenant: NewTenant) => (tenant.state === 'active' ? create(tenant).then(lost) : create(tenant)),
          activate: (id: string, now: number) => activate(id, now).then(lost),
        }
        // acme has records, and globex has none: it is created in the target.
        for (const name of ['acme', 'globex']) {
          const tenant = (await from.registry.find(name)) as TenantEntry
          assert.equal(await moveTenant(from, { ...to, registry }, tenant, work), true)
        }
      },
      operatorsOf(completeCatalog(declaration)),
    ),
  )
  await sleep(1_500)
  const { texts } = await serve()
  for (const as of [acme, globex]) {
    assert.equal(outcomeOf(await origin.send({ path, as, body: { text: 'two' } })), '503 TENANT_MIGRATING')
  }
  assert.deepEqual([await texts(), await texts(globex)], [['one'], []])
})
