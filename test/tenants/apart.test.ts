/** TEN-2: everything of a tenant is apart from every other. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { createTenants, member, operator, outcomeOf, tenantTrial } from './tenants.ts'

const declaration: InterfaceDeclaration = {
  name: 'notes',
  tenants: { caller: 'claims.team' },
  resources: {
    notes: {
      events: true,
      history: true,
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', readHistory: 'anyone' },
      fields: { text: { type: 'string', unique: true, filter: true }, number: { type: 'integer', sequence: {} } },
    },
  },
}

const path = '/v1/notes'
const [acme, globex] = [member('acme'), member('globex')]

it('TEN-2: records, totals, unique values, sequences, events and histories', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send } = current
  await createTenants(current, 'acme', 'globex')
  for (const text of ['one', 'two']) assert.equal((await send({ path, as: acme, body: { text } })).status, 201)
  const made = await send({ path, as: globex, body: { text: 'one' } })
  assert.deepEqual([made.status, made.json.number], [201, 1])
  assert.equal(outcomeOf(await send({ path, as: globex, body: { text: 'one' } })), '409 DUPLICATE_VALUE')
  const total = async (as: typeof acme, address = path) =>
    (await send({ path: address, as })).json.pagination.total_count
  assert.deepEqual([await total(acme), await total(globex)], [2, 1])
  assert.deepEqual([await total(acme, '/v1/events'), await total(globex, '/v1/events')], [2, 1])
  const own = `${path}/${made.json.id}`
  for (const method of ['GET', 'DELETE']) assert.equal((await send({ method, path: own, as: acme })).status, 404)
  assert.equal((await send({ method: 'PATCH', path: own, as: acme, body: { text: 'x' } })).status, 404)
  assert.equal((await send({ path: `${own}/revisions`, as: acme })).status, 404)
  assert.equal(await total(globex, `${own}/revisions`), 1)
})

it('TEN-2: idempotency keys, jobs, exports and webhooks', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send } = current
  await createTenants(current, 'acme', 'globex')
  const headers = { 'idempotency-key': '"same"' }
  const both = [acme, globex].map((as) => send({ path, as, headers, body: { text: 'one' } }))
  const [first, second] = await Promise.all(both)
  assert.deepEqual([first?.status, second?.status], [201, 201])
  assert.notEqual(first?.json.id, second?.json.id)
  const exported = await send({ path: '/v1/exports', as: acme, body: { collection: 'notes', format: 'ndjson' } })
  assert.equal(exported.status, 202, exported.text)
  const job = `/v1/jobs/${exported.json.job_id}`
  const hook = { url: 'https://example.org/hook' }
  const webhook = await send({ path: '/v1/webhooks', as: acme, body: hook })
  assert.equal(webhook.status, 201, webhook.text)
  for (const address of [job, `/v1/exports/${exported.json.job_id}/content`, webhook.headers['location']]) {
    const status = async (as: typeof acme) => (await send({ path: address as string, as })).status
    assert.notEqual(await status(acme), 404, String(address))
    assert.equal(await status(globex), 404, String(address))
  }
  for (const collection of ['jobs', 'webhooks']) {
    const list = await send({ path: `/v1/${collection}`, as: globex })
    assert.equal(list.json.pagination.total_count, 0, collection)
  }
})

it('TEN-2: no tag of a record or list fits another record or tenant', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send } = current
  await createTenants(current, 'acme', 'globex')
  const made = [
    await send({ path, as: acme, body: { text: 'one' } }),
    await send({ path, as: acme, body: { text: 'two' } }),
    await send({ path, as: globex, body: { text: 'one' } }),
  ]
  const tags = made.map(({ headers }) => headers['etag'] as string)
  assert.equal(new Set(tags).size, 3)
  const callers = [acme, acme, globex]
  for (const [index, { headers }] of made.entries()) {
    const address = headers['location'] as string
    for (const [other, tag] of tags.entries()) {
      const condition = { 'if-none-match': tag }
      const status = (await send({ path: address, as: callers[index], headers: condition })).status
      assert.equal(status, index === other ? 304 : 200, `${index} ${other}`)
    }
  }
  const changed = await send({
    ...{ method: 'PATCH', path: made[2]?.headers['location'] as string, as: globex, body: { text: 'new' } },
    headers: { 'if-match': tags[0] as string },
  })
  assert.equal(changed.status, 412)
  // The same number of records, and of changes.
  await send({ path, as: globex, body: { text: 'two' } })
  const [own, other] = [await send({ path, as: acme }), await send({ path, as: globex })]
  assert.notEqual(own.headers['etag'], other.headers['etag'])
  const crossed = await send({ path, as: globex, headers: { 'if-none-match': own.headers['etag'] as string } })
  assert.equal(crossed.status, 200)
})

it('TEN-2: no cursor and no position of a stream is valid in another tenant', async (t) => {
  const current = await tenantTrial(declaration)
  t.after(current.close)
  const { send } = current
  await createTenants(current, 'acme', 'globex')
  for (const as of [acme, globex]) {
    for (const text of ['one', 'two', 'three']) await send({ path, as, body: { text } })
  }
  const page = await send({ path: `${path}?limit=1`, as: acme })
  const next = `${path}?limit=1&cursor=${encodeURIComponent(page.json.pagination.next_cursor)}`
  assert.equal((await send({ path: next, as: acme })).json.data[0].text, 'two')
  assert.equal(outcomeOf(await send({ path: next, as: globex })), '400 INVALID_CURSOR')
  const stream = async (as: typeof acme, lastEventId: string) =>
    send({
      method: 'HEAD',
      path: '/v1/events',
      as,
      headers: { accept: 'text/event-stream', 'last-event-id': lastEventId },
    })
  const [event] = (await send({ path: '/v1/events', as: acme })).json.data
  assert.equal((await stream(acme, event.id)).status, 200)
  assert.equal((await stream(globex, event.id)).status, 410)
})

it('TEN-2: rates count for each tenant apart, and limits.rate.tenant for all of its callers', async (t) => {
  const rate = { caller: '3/hour', tenant: '5/hour' }
  const current = await tenantTrial({ ...declaration, limits: { rate } }, { rates: {} })
  t.after(current.close)
  await createTenants(current, 'acme', 'globex')
  const of = async (team: string, id: string) => outcomeOf(await current.send({ path, as: member(team, id) }))
  assert.deepEqual([await of('acme', 'ann'), await of('acme', 'ann'), await of('acme', 'ann')], ['200', '200', '200'])
  assert.equal(await of('acme', 'ann'), '429 RATE_LIMITED')
  // Of the same name, in another tenant.
  assert.equal(await of('globex', 'ann'), '200')
  const answer = await current.send({ path, as: member('acme', 'bob') })
  assert.match(answer.headers['ratelimit-policy'] ?? '', /"tenant";q=5;w=3600/)
  assert.deepEqual([await of('acme', 'bob'), await of('acme', 'eve')], ['200', '429 RATE_LIMITED'])
  assert.equal(await of('globex', 'bob'), '200')
  assert.equal((await current.send({ path: '/v1/tenants', as: operator })).status, 200)
})
