/** TEN-2, TEN-3: streams of events of tenants. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { HttpRequest, StreamBody } from '../../packages/server/src/http/message.ts'
import type { CallerInput } from '../../packages/server/src/policy/own-credentials.ts'
import { until } from '../until.ts'
import { createTenants, member, operator, type TenantTrial, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team', create: 'first-use' },
  limits: { events: { streams: 2 } },
  resources: {
    notes: { events: true, access: { read: 'anyone', create: 'anyone' }, fields: { text: { type: 'string' } } },
  },
}
const path = '/v1/notes'

/** Opens a stream; what it says is added to `text`. */
async function streamOf(t: TestContext, { app }: TenantTrial, as: CallerInput, lastEventId?: string) {
  const request: HttpRequest = {
    ...{ method: 'GET', target: '/v1/events', secure: true, address: '127.0.0.1' },
    headers: {
      'x-caller': JSON.stringify({ ...as, expiresAt: 4e12 }),
      accept: 'text/event-stream',
      'last-event-id': lastEventId,
    },
    readBody: async () => Buffer.alloc(0),
  }
  const response = await app.respond(request)
  const stream = { status: response.status, text: '', isEnded: false }
  if (response.status !== 200) return stream
  const body = response.body as StreamBody
  t.after(() => body.closed())
  const end = () => {
    stream.isEnded = true
    body.closed()
  }
  body.open({
    write(piece) {
      stream.text += Buffer.from(piece).toString()
      return true
    },
    ...{ end, abort: end },
  })
  return stream
}

it('TEN-2: a stream has the events of its tenant alone, and counts for its caller there', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const [acme, globex] = [await streamOf(t, current, member('acme')), await streamOf(t, current, member('globex'))]
  for (const team of ['acme', 'globex']) {
    await current.send({ path, as: member(team), body: { text: `of ${team}` } })
  }
  await until(() => acme.text.includes('of acme') && globex.text.includes('of globex'), 'both have their event')
  assert.ok(!acme.text.includes('globex') && !globex.text.includes('acme'))
  // The most of one caller are two.
  assert.equal((await streamOf(t, current, member('acme'))).status, 200)
  assert.equal((await streamOf(t, current, member('acme'))).status, 429)
  assert.equal((await streamOf(t, current, member('globex'))).status, 200)
})

it('TEN-2: a position of another tenant is 400', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const acme = await streamOf(t, current, member('acme'))
  await until(() => /^id: /m.test(acme.text), 'it begins')
  const [, position] = /^id: (.+)$/m.exec(acme.text) ?? []
  assert.equal((await streamOf(t, current, member('acme'), position)).status, 200)
  assert.equal((await streamOf(t, current, member('globex'), position)).status, 400)
})

it('TEN-3: the streams of a deleted tenant end', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const [id] = await createTenants(current, 'acme', 'globex')
  const [acme, globex] = [await streamOf(t, current, member('acme')), await streamOf(t, current, member('globex'))]
  await current.send({ method: 'DELETE', path: `/v1/tenants/${id}`, as: operator })
  await until(() => acme.isEnded, 'it ends')
  assert.ok(!globex.isEnded)
})

it('TEN-1: a stream of a tenant that is not there yet ends with its first change', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const stream = await streamOf(t, current, member('acme'))
  assert.equal(stream.status, 200)
  await current.send({ path, as: member('acme'), body: { text: 'one' } })
  await until(() => stream.isEnded, 'it ends')
})
