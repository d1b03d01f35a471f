/** TEN-2, TEN-4: functions of the declaration run within the tenant of the change, and go on when nobody asks. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { EventContext } from 'resourced-contract/model/declared-functions'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import { until } from '../until.ts'
import { createTenants, member, tenantTrial } from './tenants.ts'

const access = { read: 'anyone', create: 'anyone' } as const

function declared(run: (context: EventContext) => unknown) {
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

it('TEN-2: a function acts in the tenant of the change alone, and manages no tenants', async (t) => {
  const refusals: unknown[] = []
  const declaration = declared(async ({ record, client }) => {
    for (const each of [client, client.asServer()]) {
      await each['tenants']?.list().catch((error: { code?: string }) => refusals.push(error.code))
    }
    await client.asServer()['copies']?.create({ text: record?.['text'] })
  })
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const copies = async (team: string) => (await current.send({ path: '/v1/copies', as: member(team) })).json.data
  for (const team of ['acme', 'globex']) {
    await current.send({ path: '/v1/notes', as: member(team), body: { text: `of ${team}` } })
    await until(async () => (await copies(team)).length > 0, 'it is copied')
  }
  for (const team of ['acme', 'globex']) {
    assert.deepEqual(
      (await copies(team)).map(({ text }: { text: string }) => text),
      [`of ${team}`],
    )
  }
  assert.deepEqual(new Set(refusals), new Set(['FORBIDDEN']))
})

it('TEN-4: what a function had left to do is done after a restart, although nobody asks for the tenant', async (t) => {
  let isBroken = true
  const done: unknown[] = []
  const declaration = declared(({ record }) => {
    if (isBroken) throw new Error('not now')
    done.push(record?.['text'])
  })
  const before = await tenantTrial(declaration)
  await createTenants(before, 'acme')
  await before.send({ path: '/v1/notes', as: member('acme'), body: { text: 'one' } })
  await until(async () => before.seen.some(({ kind }) => kind === 'delivery'), 'it has failed')
  await before.stop()
  isBroken = false
  const after = await tenantTrial(declaration, { database: before.database, ahead: 3_600_000 })
  t.after(after.close)
  await until(async () => done.length > 0, 'it is done')
  assert.deepEqual(done, ['one'])
})

it('TEN-4: a tenant whose delivery is repeated later sleeps until then', async (t) => {
  let failures = 0
  const done: unknown[] = []
  const declaration = declared(({ record }) => {
    if (++failures === 1) throw new Error('not now')
    done.push(record?.['text'])
  })
  const current = await tenantTrial(declaration, { idle: 0 })
  t.after(current.close)
  const [id] = await createTenants(current, 'acme')
  await current.send({ path: '/v1/notes', as: member('acme'), body: { text: 'one' } })
  await until(async () => failures === 1, 'it has failed')
  current.clock.ahead += 24 * 3_600_000
  await until(async () => done.length === 1, 'it is done')
  const wakesAt = async () => (await current.app.storage.tenants?.get(id as string))?.wakesAt ?? 0
  await until(async () => (await wakesAt()) > Date.now() + current.clock.ahead, 'it sleeps')
})
