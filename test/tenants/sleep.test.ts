/** TEN-4: tenants are migrated a few at a time, closed while nobody uses them, and opened when something is due. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { openHost } from '../../packages/server/src/server/open-database.ts'
import type { TenantStore } from '../../packages/server/src/storage/storage.ts'
import { bodyText } from '../body-text.ts'
import { sqliteOnly } from '../engine.ts'
import { until } from '../until.ts'
import { createTenants, member, outcomeOf, type TenantTrial, tenantTrial } from './tenants.ts'

const access = { read: 'anyone', create: 'anyone', delete: 'anyone' } as const
const text = { type: 'string' } as const
function declared(fields: InterfaceDeclaration['resources'][string]['fields']): InterfaceDeclaration {
  const deletion = { gracePeriod: 'PT1H' }
  return { name: 'notes', tenants: { caller: 'claims.team' }, resources: { notes: { access, deletion, fields } } }
}
const first = declared({ text })
const path = '/v1/notes'
const acme = member('acme')
const hour = 3_600_000

/** Sends a request until the tenant is migrated. */
async function afterMigration({ send }: TenantTrial, as = acme) {
  for (let attempt = 0; ; attempt++) {
    const answer = await send({ path, as })
    if (answer.status !== 503 || attempt === 2_000) return answer
    assert.equal(answer.json.code, 'TENANT_MIGRATING')
    assert.equal(answer.headers['retry-after'], '1')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

it('TEN-4: a start migrates all tenants to the declaration, and none loses a record', async (t) => {
  const before = await tenantTrial(first)
  const names = Array.from({ length: 12 }, (_, index) => `tenant-${index}`)
  await createTenants(before, ...names)
  for (const name of names) await before.send({ path, as: member(name), body: { text: name } })
  await before.stop()
  const { database } = before
  const after = await tenantTrial(declared({ text, more: { type: 'string', default: 'new' } }), { database })
  t.after(after.close)
  for (const name of names.toReversed()) {
    const { status, json } = await afterMigration(after, member(name))
    assert.deepEqual([status, json.data[0].text, json.data[0].more], [200, name, 'new'])
  }
})

it('TEN-3: a tenant that is to be moved is closed at once, although it was just used', async (t) => {
  const trial = await tenantTrial(first)
  t.after(trial.close)
  const [id = ''] = await createTenants(trial, 'acme')
  assert.equal((await trial.send({ path, as: acme, body: { text: 'one' } })).status, 201)
  const begun = performance.now()
  assert.ok(await (trial.app.storage.tenants as TenantStore).beginMove(id, Date.now(), Date.now() + hour))
  const host = await openHost({ database: trial.database.address, databaseUnsafe: true })
  t.after(() => host.close())
  await host.administer(id).changesEnded()
  // What nobody uses is otherwise open for ten seconds.
  assert.ok(performance.now() - begun < 8_000)
  // On PostgreSQL running changes have ended, and servers notice a move within a second.
  await sleep(Math.max(0, begun + 2_000 - performance.now()))
  assert.equal(outcomeOf(await trial.send({ path, as: acme, body: { text: 'two' } })), '503 TENANT_MIGRATING')
})

it('TEN-4: a migration that would lose data is not taken: that tenant stays 503, the others are served', async (t) => {
  const before = await tenantTrial(declared({ text, more: { type: 'string', optional: true } }))
  await createTenants(before, 'acme', 'globex')
  await before.send({ path, as: acme, body: { text: 'one', more: 'would be lost' } })
  await before.send({ path, as: member('globex'), body: { text: 'one' } })
  await before.stop()
  const after = await tenantTrial(first, { database: before.database })
  t.after(after.close)
  assert.equal((await afterMigration(after, member('globex'))).status, 200)
  // The other one may be ready before it is known that this one fails.
  const failureOf = () => after.seen.find(({ kind }) => kind === 'failure') as { readonly error: Error } | undefined
  await until(() => failureOf() !== undefined)
  assert.match(String(failureOf()?.error), /tenants migrate/)
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal(outcomeOf(await after.send({ path, as: acme })), '503 TENANT_MIGRATING')
  }
})

it('TEN-4: a tenant is opened when its old data is due for removal', async (t) => {
  const before = await tenantTrial(first)
  await createTenants(before, 'acme')
  const made = await before.send({ path, as: acme, body: { text: 'one' } })
  await before.send({ method: 'DELETE', path: `${path}/${made.json.id}`, as: acme })
  await before.stop()
  const { database } = before
  // Nobody asks for the tenant, and it was open when the server ended.
  const after = await tenantTrial(first, { database, ahead: 2 * hour })
  t.after(after.close)
  for (let attempt = 0; attempt < 1_200; attempt++) {
    const purged = after.seen.some((seen) => seen.kind === 'job' && seen.task === 'purge')
    if (purged) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail('the purge of the tenant never ended')
})

it('TEN-4: what is due for removal goes, although the tenant is only read, and sleeps in between', async (t) => {
  const current = await tenantTrial(first, { idle: 0 })
  t.after(current.close)
  const { send, clock, seen } = current
  await createTenants(current, 'acme')
  const made = await send({ path, as: acme, body: { text: 'one' } })
  await send({ method: 'DELETE', path: `${path}/${made.json.id}`, as: acme })
  for (let minutes = 0; minutes <= 120; minutes += 20) {
    clock.ahead = minutes * 60_000
    await send({ path, as: acme })
    // It is closed when it is idle.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
  }
  assert.ok(seen.some((each) => each.kind === 'job' && each.task === 'purge'))
})

it('TEN-4, JOB-6: a file of an export is sent to its end, although its tenant fell asleep meanwhile', async (t) => {
  const current = await tenantTrial(first, { idle: 0 })
  t.after(current.close)
  const { send, app } = current
  await createTenants(current, 'acme')
  await send({ path, as: acme, body: { text: 'one' } })
  const { json } = await send({ path: '/v1/exports', as: acme, body: { collection: 'notes', format: 'ndjson' } })
  while ((await send({ path: json.status_url, as: acme })).json.status !== 'succeeded') await sleep(50)
  const response = await app.respond({
    ...{ method: 'GET', target: `/v1/exports/${json.job_id}/content`, secure: true, address: '127.0.0.1' },
    headers: { 'x-caller': JSON.stringify({ ...acme, expiresAt: 4e12 }) },
    readBody: async () => new Uint8Array(),
  })
  assert.equal(response.status, 200)
  await sleep(2_500)
  assert.equal(JSON.parse(await bodyText(response.body)).text, 'one')
})

it('TEN-4: a file that is missing is reported, and not replaced by an empty one', {
  skip: sqliteOnly('it is about files'),
}, async (t) => {
  const { rmSync } = await import('node:fs')
  const before = await tenantTrial(first)
  const [id] = await createTenants(before, 'acme')
  await before.send({ path, as: acme, body: { text: 'one' } })
  await before.stop()
  const { database } = before
  rmSync(`${database.address.slice('sqlite:'.length)}-tenants/${id}.db`)
  const after = await tenantTrial(first, { database })
  t.after(after.close)
  assert.equal(outcomeOf(await after.send({ path, as: acme })), '502 STORAGE_FAILED')
  assert.equal(outcomeOf(await after.send({ path, as: acme })), '502 STORAGE_FAILED')
})
