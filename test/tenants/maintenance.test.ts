/** ERR-6: maintenance of one tenant, whose changes are refused and whose reads are answered. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventContext } from 'resourced-contract/model/declared-functions'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import type { Maintenance, TenantStore } from '../../packages/server/src/storage/storage.ts'
import { until } from '../until.ts'
import { createTenants, member, operator, outcomeOf, type TenantTrial, tenantTrial } from './tenants.ts'

const access = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

function declared(run: (context: EventContext) => unknown = () => {}) {
  return defineInterface({
    name: 'notes',
    tenants: { caller: 'claims.team' },
    resources: {
      notes: {
        access,
        events: true,
        fields: { text: Type.String() },
        on: { created: async (each) => void (await run(each)) },
      },
      copies: { access, fields: { text: Type.String() } },
    },
  })
}

const told: Maintenance = { since: '2026-11-29T12:00:00.000Z', message: 'Back soon.', retryAfter: 90 }
const path = '/v1/notes'
const text = { text: 'one' }

const registryOf = ({ app }: TenantTrial) => app.storage.tenants as TenantStore

/** A tenant acme, which has a note, and globex. */
async function begin(t: TestContext, declaration = declared()) {
  const trial = await tenantTrial(declaration)
  t.after(() => trial.close())
  const [acme = ''] = await createTenants(trial, 'acme', 'globex')
  const { json } = await trial.send({ path, as: member('acme'), body: text })
  return { trial, acme, note: `${path}/${json.id}` }
}

/** Waits until a server has seen the maintenance of acme begin, or end. */
const noticed = (trial: TenantTrial, state: 'on' | 'off') =>
  until(() => {
    const last = trial.seen.findLast(({ kind }) => kind === 'maintenance')
    return last?.kind === 'maintenance' && last.state === state
  }, `maintenance is ${state}`)

it('ERR-6: changes of a tenant under maintenance are 503, and its reads and other tenants are served', async (t) => {
  const { trial, acme, note } = await begin(t)
  await registryOf(trial).beginMaintenance(acme, told)
  await noticed(trial, 'on')
  assert.deepEqual(
    trial.seen.filter(({ kind }) => kind === 'maintenance'),
    [{ kind: 'maintenance', state: 'on', tenant: acme, ...told }],
  )
  const as = member('acme')
  const refused = await trial.send({ path, as, body: text })
  assert.equal(outcomeOf(refused), '503 MAINTENANCE')
  assert.deepEqual([refused.headers['retry-after'], refused.json.detail], ['90', 'Back soon.'])
  const patch = {
    method: 'PATCH',
    path: note,
    as,
    body: text,
    headers: { 'content-type': 'application/merge-patch+json' },
  }
  for (const each of [patch, { method: 'DELETE', path: note, as }, { path: '/v1/api-keys', as, body: {} }]) {
    assert.equal(outcomeOf(await trial.send(each)), '503 MAINTENANCE', `${each.path}`)
  }
  for (const each of [{ path }, { path: note }, { path: '/v1/events' }, { path, method: 'QUERY', body: {} }]) {
    assert.equal((await trial.send({ ...each, as })).status, 200, `${each.method} ${each.path}`)
  }
  assert.equal((await trial.send({ path: note, as })).json.text, 'one')
  assert.equal((await trial.send({ path, method: 'OPTIONS', as })).status, 204)
  // What no address or method allows is refused as ever, and so is who belongs to no tenant.
  assert.equal((await trial.send({ path: '/v1/nothing', as, body: text })).status, 404)
  assert.equal((await trial.send({ path, method: 'PUT', as, body: text })).status, 405)
  assert.equal((await trial.send({ path, as: undefined, body: text })).status, 401)
  assert.equal((await trial.send({ path, as: member('globex'), body: text })).status, 201)
  assert.equal((await trial.send({ path: '/v1/tenants', as: operator, body: { name: 'third' } })).status, 201)
  assert.equal((await trial.send({ path: '/health/ready', as: undefined })).json.status, 'ready')
  const again = await registryOf(trial).beginMaintenance(acme, { ...told, since: 'later', message: 'Soon.' })
  assert.deepEqual([again.before, again.now], [told, { ...told, message: 'Soon.' }])
  assert.deepEqual(await registryOf(trial).endMaintenance(acme), { ...told, message: 'Soon.' })
  assert.equal(await registryOf(trial).endMaintenance(acme), undefined)
  await noticed(trial, 'off')
  assert.equal((await trial.send({ path, as, body: text })).status, 201)
})

it('ERR-6: every server notices the maintenance of a tenant, and one that starts knows it at once', async (t) => {
  const { trial, acme } = await begin(t)
  const other = await tenantTrial(declared(), { database: trial.database })
  t.after(() => other.stop())
  const as = member('acme')
  assert.equal((await other.send({ path, as, body: text })).status, 201)
  await registryOf(trial).beginMaintenance(acme, told)
  await Promise.all([noticed(trial, 'on'), noticed(other, 'on')])
  for (const each of [trial, other]) assert.equal((await each.send({ path, as, body: text })).status, 503)
  await other.stop()
  const started = await tenantTrial(declared(), { database: trial.database })
  t.after(() => started.stop())
  assert.equal(outcomeOf(await started.send({ path, as, body: text })), '503 MAINTENANCE')
  assert.equal((await started.send({ path, as })).json.data.length, 2)
  await registryOf(trial).endMaintenance(acme)
  await Promise.all([noticed(trial, 'off'), noticed(started, 'off')])
  for (const each of [trial, started]) assert.equal((await each.send({ path, as, body: text })).status, 201)
})

it('ERR-6: functions of a tenant under maintenance change nothing, and go on afterwards', async (t) => {
  const begun = Promise.withResolvers<void>()
  const proceed = Promise.withResolvers<void>()
  const refusals: unknown[] = []
  let runs = 0
  const declaration = declared(async ({ record, client }) => {
    runs++
    begun.resolve()
    await proceed.promise
    assert.equal((await client.asServer()['notes']?.list())?.data.length, 1)
    await client
      .asServer()
      ['copies']!.create({ text: record?.['text'] })
      .catch((error: { code?: string }) => {
        refusals.push(error.code)
        throw error
      })
  })
  const { trial, acme } = await begin(t, declaration)
  await begun.promise
  await registryOf(trial).beginMaintenance(acme, told)
  await noticed(trial, 'on')
  proceed.resolve()
  await until(() => refusals.length > 0, 'it is refused')
  // The next attempt is due by then.
  trial.clock.ahead += 3_600_000
  await sleep(1_500)
  const copies = async () => (await trial.send({ path: '/v1/copies', as: member('acme') })).json.data
  assert.deepEqual([refusals, runs, await copies()], [['MAINTENANCE'], 1, []])
  await registryOf(trial).endMaintenance(acme)
  await until(async () => (await copies()).length === 1, 'it is copied')
})

it('ERR-6: a tenant under maintenance is closed when it is idle, and wakes after it', async (t) => {
  let isBroken = true
  const done: unknown[] = []
  const declaration = declared(({ record }) => {
    if (isBroken) throw new Error('not now')
    done.push(record?.['text'])
  })
  const trial = await tenantTrial(declaration, { idle: 100 })
  t.after(() => trial.close())
  const [acme = ''] = await createTenants(trial, 'acme')
  await trial.send({ path, as: member('acme'), body: text })
  await until(() => trial.seen.some(({ kind }) => kind === 'delivery'), 'it has failed')
  await registryOf(trial).beginMaintenance(acme, told)
  await noticed(trial, 'on')
  isBroken = false
  trial.clock.ahead += 3_600_000
  // It is closed meanwhile, although its delivery is due.
  await sleep(4_000)
  assert.deepEqual(done, [])
  await registryOf(trial).endMaintenance(acme)
  await until(() => done.length > 0, 'it is done')
  assert.deepEqual(done, ['one'])
})
