/** EVT-8 to EVT-11: webhooks, their secrets, their deliveries, and the addresses that they reach. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { ReadEvents } from '../../packages/server/src/plan/plan-events.ts'
import { planEvents } from '../../packages/server/src/plan/plan-events.ts'
import { places, type Trial, trialFor } from '../harness.ts'
import { isSignedBy, startReceiver } from '../receiver.ts'

const studio = defineInterface({
  name: 'studio',
  resources: {
    tasks: {
      fields: {
        title: { type: 'string', maxLength: 100 },
        status: { enum: ['open', 'done'], default: 'open' },
        reader: { type: 'string', optional: true, filter: true },
        secret: { type: 'string', optional: true, writeOnly: true },
      },
      access: {
        read: [{ where: { reader: { caller: 'id' } } }, { where: { reader: 'everyone' } }, 'role:auditor'],
        create: 'anyone',
        update: 'anyone',
        delete: 'anyone',
      },
      events: true,
    },
    notes: {
      fields: { text: { type: 'string' } },
      access: { read: 'anyone', create: 'anyone', update: 'anyone' },
      events: true,
    },
    drafts: { fields: { text: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } },
    vaults: { fields: { text: { type: 'string' } }, access: { read: 'nobody', create: 'anyone' }, events: true },
  },
})

const hour = 3_600_000
const ended = 'The credential that made the webhook has expired, or was revoked.'
const networks = { webhookNetworks: ['127.0.0.1/32'] }
const start = (t: TestContext, options = {}) => trialFor(t, studio, { ...networks, ...options })
const settle = ({ app }: Trial) => app.deliveries?.settle()

// biome-ignore lint/suspicious/noExplicitAny: records have every shape
async function made({ send }: Trial, body: object, as = 'root'): Promise<any> {
  const answer = await send({ path: '/v1/webhooks', as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

const task = (trial: Trial, values = {}, as = 'ann') =>
  trial.make('tasks', { title: 'a', reader: 'root', ...values }, as)

const deliveriesOf = async ({ send }: Trial, id: string, query = '') =>
  (await send({ path: `/v1/webhooks/${id}/deliveries?per_page=100${query}` })).json.data

describe('a webhook as a record', () => {
  it('EVT-8: is created with defaults, and shows its secret once', async (t) => {
    const trial = await start(t)
    const { secret, ...webhook } = await made(trial, { url: 'https://example.com/hook' })
    assert.match(secret, /^whsec_[0-9A-Za-z+/]{43}=$/)
    const { id, created_at, updated_at, made_by, ...rest } = webhook
    assert.deepEqual(rest, {
      url: 'https://example.com/hook',
      events: ['created', 'updated', 'deleted', 'restored', 'purged'],
      ...{ collections: null, filter: null, description: null, active: true, version: 'v1' },
      ...{ subject: 'root', roles: ['admin'], expires_at: null, disabled_at: null, disabled_reason: null },
    })
    const read = await trial.send({ path: `/v1/webhooks/${id}` })
    assert.deepEqual(read.json, webhook)
    const listed = await trial.send({ path: '/v1/webhooks' })
    assert.deepEqual(listed.json.data, [webhook])
    assert.equal(JSON.stringify([listed.json, trial.seen]).includes(secret), false)
  })

  it('EVT-8: is created by administrators only, and is read by them and its maker', async (t) => {
    const trial = await start(t)
    const refused = await trial.send({ path: '/v1/webhooks', as: 'ann', body: { url: 'https://example.com/' } })
    assert.equal(refused.status, 403)
    const { id } = await made(trial, { url: 'https://example.com/' })
    assert.equal((await trial.send({ path: `/v1/webhooks/${id}`, as: 'ann' })).status, 403)
    assert.deepEqual((await trial.send({ path: '/v1/webhooks', as: 'ann' })).json.data, [])
    assert.equal((await trial.send({ method: 'DELETE', path: `/v1/webhooks/${id}`, as: 'ann' })).status, 403)
  })

  it('EVT-8: names everything that is wrong with it', async (t) => {
    const trial = await start(t)
    const wrong = async (body: object) => places(await trial.send({ path: '/v1/webhooks', body }))
    assert.deepEqual(await wrong({}), ['REQUIRED /url'])
    for (const url of ['example.com', 'ftp://example.com/', 'https://ann:pw@example.com/', 'https://example.com/#a']) {
      assert.deepEqual(await wrong({ url }), ['INVALID_VALUE /url'], url)
    }
    const url = 'https://example.com/'
    assert.deepEqual(await wrong({ url, events: [] }), ['TOO_FEW_ITEMS /events'])
    assert.deepEqual(await wrong({ url, events: ['made'] }), ['NOT_IN_ENUM /events/0'])
    assert.deepEqual(await wrong({ url, collections: ['task', 'drafts', 'vaults'] }), [
      ...['NOT_IN_ENUM /collections/0', 'NOT_IN_ENUM /collections/1', 'FORBIDDEN /collections/2'],
    ])
    assert.deepEqual(await wrong({ url, filter: { tasks: { secret: 'x' }, drafts: {} } }), [
      ...['UNKNOWN_FIELD /filter/tasks/secret', 'UNKNOWN_FIELD /filter/drafts'],
    ])
    const flat = await trial.send({ path: '/v1/webhooks', body: { url, collections: ['tasks'], filter: { a: 1 } } })
    assert.match(flat.json.detail, /^filter\/a is no collection of the webhook; .+, here tasks\.$/)
    assert.deepEqual(await wrong({ url, subject: 'ann', version: 'v2', roles: [], secret: 'x' }), [
      ...['UNKNOWN_FIELD /secret', 'READ_ONLY /version', 'READ_ONLY /subject', 'READ_ONLY /roles'],
    ])
    const closed = await start(t, { webhookNetworks: [] })
    for (const url of ['http://example.com/', 'https://example.com:22/']) {
      assert.deepEqual(places(await closed.send({ path: '/v1/webhooks', body: { url } })), ['INVALID_VALUE /url'], url)
    }
    const { id } = await made(closed, { url: 'https://example.com:8443/' })
    const changed = { url: 'https://example.com:25/' }
    const patched = await closed.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, body: changed })
    assert.deepEqual(places(patched), ['INVALID_VALUE /url'])
  })

  it('EVT-8: changes with If-Match, and is deleted with its pending deliveries', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const { id } = await made(trial, { url: receiver.url })
    const path = `/v1/webhooks/${id}`
    const { headers } = await trial.send({ path })
    const patch = (body: object, tag = headers['etag']) =>
      trial.send({ method: 'PATCH', path, headers: { 'if-match': String(tag) }, body })
    const changed = await patch({ description: 'mine', events: ['created'] })
    assert.deepEqual([changed.status, changed.json.description, changed.json.events], [200, 'mine', ['created']])
    assert.equal('secret' in changed.json, false)
    assert.equal((await patch({ description: 'yours' })).status, 412)
    const { id: record } = await task(trial)
    await settle(trial)
    const [pending] = await deliveriesOf(trial, id)
    assert.deepEqual([pending.record, pending.status, pending.attempts], [record, 'pending', 1])
    assert.equal((await trial.send({ method: 'DELETE', path })).status, 204)
    assert.equal((await trial.send({ path })).status, 404)
    await trial.app.storage.deliveries?.sweep(Date.now())
    const { json } = await trial.send({ path: `/v1/deliveries/${pending.id}` })
    assert.deepEqual([json.status, json.answer.error], ['discarded', 'The webhook was deleted.'])
  })

  it('EVT-8: a repeated request makes no second webhook, and does not show the secret again', async (t) => {
    const trial = await start(t)
    const body = { url: 'https://example.com/' }
    const send = () => trial.send({ path: '/v1/webhooks', headers: { 'idempotency-key': '"a"' }, body })
    const first = await send()
    const second = await send()
    assert.deepEqual([first.status, second.status, second.json.code], [201, 409, 'KEY_SHOWN_ONCE'])
    assert.equal((await trial.send({ path: '/v1/webhooks' })).json.data.length, 1)
  })

  it('EVT-8: another administrator may turn it off, and not change what it gets', async (t) => {
    const trial = await start(t)
    const { id } = await made(trial, { url: 'https://example.com/' })
    const other = (await trial.send({ path: '/v1/api-keys', body: { subject: 'zoe', roles: ['admin'] } })).json.key
    const patch = (body: object) => trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, as: other, body })
    assert.equal((await patch({ url: 'https://evil.example/' })).status, 403)
    assert.equal((await patch({ rotate_secret: true })).status, 403)
    assert.equal((await patch({ active: false })).status, 200)
  })
})

describe('deliveries', () => {
  it('EVT-9: are CloudEvents that standardwebhooks verifies', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t)
    const { id, secret } = await made(trial, { url: receiver.url })
    const { id: record } = await task(trial, { title: 'Grüße', secret: 'hidden' })
    await settle(trial)
    const [message] = receiver.got
    assert.ok(message !== undefined && isSignedBy(secret, message))
    const { id: event, time, data, ...rest } = message.event
    const { json } = await trial.send({ path: `/v1/events/${event}` })
    assert.deepEqual(data, json.data)
    assert.equal(data.title, 'Grüße')
    assert.equal(time, json.created_at)
    assert.deepEqual(rest, {
      ...{ specversion: '1.0', source: '/v1/tasks', type: 'tasks.created', subject: record },
      ...{ datacontenttype: 'application/json', correlationid: json.request_id },
    })
    assert.equal(typeof json.request_id, 'string')
    assert.match(String(message.headers['content-type']), /^application\/cloudevents\+json/)
    assert.equal(message.headers['webhook-id'], `${event}_${id}`)
    assert.equal(message.text.includes('hidden'), false)
  })

  it('EVT-9: of one record come in order, and a failed one is repeated', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 503)
    await made(trial, { url: receiver.url, collections: ['tasks'] })
    const { id } = await task(trial)
    const path = `/v1/tasks/${id}`
    await trial.send({ method: 'PATCH', path, body: { title: 'b' } })
    const other = await task(trial)
    await settle(trial)
    assert.deepEqual(receiver.typesOf(id), ['tasks.created'])
    receiver.answer = () => 204
    receiver.got.length = 0
    await trial.send({ method: 'DELETE', path })
    trial.clock.ahead = hour
    await settle(trial)
    assert.deepEqual(receiver.typesOf(id), ['tasks.created', 'tasks.updated', 'tasks.deleted'])
    assert.deepEqual(receiver.typesOf(other.id), ['tasks.created'])
    assert.equal(receiver.got.find(({ event }) => event.type === 'tasks.deleted')?.event.data, null)
  })

  it('EVT-9: follow kinds, collections and filter', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t)
    const filter = { tasks: { status: 'done' } }
    await made(trial, { url: receiver.url, events: ['created', 'deleted'], collections: ['tasks'], filter })
    const open = await task(trial)
    const done = await task(trial, { status: 'done' })
    await trial.make('notes', { text: 'a' })
    await trial.send({ method: 'PATCH', path: `/v1/tasks/${done.id}`, body: { title: 'b' } })
    await settle(trial)
    assert.deepEqual(
      receiver.got.map(({ event }) => [event.type, event.subject]),
      [['tasks.created', done.id]],
    )
    await trial.send({ method: 'DELETE', path: `/v1/tasks/${open.id}` })
    await settle(trial)
    assert.deepEqual(receiver.typesOf(open.id), ['tasks.deleted'])
  })

  it('EVT-9: 410 turns the webhook off, and its deliveries wait until it is on again', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 410)
    const { id } = await made(trial, { url: receiver.url })
    await task(trial)
    await settle(trial)
    const path = `/v1/webhooks/${id}`
    const { json } = await trial.send({ path })
    assert.deepEqual(
      [json.active, json.disabled_reason],
      [false, 'The receiver answered 410: it no longer wants events.'],
    )
    const [gone] = await deliveriesOf(trial, id)
    assert.deepEqual([gone.status, gone.answer.status], ['failed', 410])
    const later = await task(trial)
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    receiver.answer = () => 200
    const on = await trial.send({ method: 'PATCH', path, body: { active: true } })
    assert.deepEqual([on.json.active, on.json.disabled_at, on.json.disabled_reason], [true, null, null])
    await settle(trial)
    assert.deepEqual(receiver.typesOf(later.id), ['tasks.created'])
  })

  it('EVT-8: a rotated secret signs together with the new one for a day', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t)
    const { id, secret: former } = await made(trial, { url: receiver.url })
    const rotated = await trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, body: { rotate_secret: true } })
    const { secret } = rotated.json
    assert.deepEqual([rotated.status, typeof secret, secret === former], [200, 'string', false])
    await task(trial)
    await settle(trial)
    const [first] = receiver.got.splice(0)
    assert.ok(first !== undefined && isSignedBy(secret, first) && isSignedBy(former, first))
    // A day later; receivers compare the time of messages with their own.
    trial.clock.ahead = 24 * hour + 1_000
    await task(trial)
    await settle(trial)
    assert.equal(String(receiver.got[0]?.headers['webhook-signature']).split(' ').length, 1)
    const wrong = await trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, body: { rotate_secret: false } })
    assert.deepEqual(places(wrong), ['INVALID_VALUE /rotate_secret'])
  })
})

describe('the permission of a webhook', () => {
  it('EVT-11: is that of its maker, at the time of each attempt', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const { id } = await made(trial, { url: receiver.url })
    const readable = await task(trial)
    await task(trial, { reader: 'bob' })
    await settle(trial)
    assert.deepEqual(
      receiver.got.map(({ event }) => event.subject),
      [readable.id],
    )
    // The permission ends between two attempts.
    const path = `/v1/tasks/${readable.id}`
    assert.ok((await trial.send({ method: 'PATCH', path, as: 'ann', body: { reader: 'bob' } })).status < 300)
    receiver.answer = () => 204
    trial.clock.ahead = hour
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    const shown = await deliveriesOf(trial, id)
    assert.deepEqual(
      shown.map(({ status }: { status: string }) => status),
      ['discarded'],
    )
  })

  it('EVT-11: ends with the API key that made it', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const key = (await trial.send({ path: '/v1/api-keys', body: { roles: ['admin'] } })).json
    const { id } = await made(trial, { url: receiver.url }, key.key)
    await task(trial)
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    assert.equal((await trial.send({ method: 'DELETE', path: `/v1/api-keys/${key.id}` })).status, 204)
    trial.clock.ahead = hour
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    const { json } = await trial.send({ path: `/v1/webhooks/${id}` })
    assert.deepEqual([json.active, json.disabled_reason], [false, ended])
    // Another administrator does not become its maker.
    const other = (await trial.send({ path: '/v1/api-keys', body: { subject: 'zoe', roles: ['admin'] } })).json.key
    const turnOn = (as: string) =>
      trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, as, body: { active: true } })
    assert.deepEqual(places(await turnOn(other)), ['INVALID_VALUE /active'])
    const on = await turnOn('root')
    assert.deepEqual([on.json.active, on.json.made_by === json.made_by], [true, false])
    trial.clock.ahead = 2 * hour
    await settle(trial)
    assert.equal(receiver.got.length, 2)
  })

  it('EVT-8: ends with the token that made it, and its maker turns it on again with a newer one', async (t) => {
    const token = { id: 'otto', roles: ['admin'], expiresAt: Date.now() + hour }
    const authenticate = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
      headers['x-token'] === undefined ? undefined : token
    const trial = await start(t, { authenticate })
    const receiver = await startReceiver(t)
    const asOtto = (method: string, path: string, body: object) =>
      trial.send({ method, path, as: null, headers: { 'x-token': 'a' }, body })
    const { json } = await asOtto('POST', '/v1/webhooks', { url: receiver.url })
    assert.equal(json.expires_at, new Date(token.expiresAt).toISOString())
    const path = `/v1/webhooks/${json.id}`
    await task(trial, { reader: 'everyone' })
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    trial.clock.ahead = hour + 1
    const late = await task(trial, { reader: 'everyone' })
    await settle(trial)
    assert.equal(receiver.got.length, 1)
    const off = (await trial.send({ path })).json
    assert.deepEqual([off.active, off.disabled_reason], [false, ended])
    assert.deepEqual(places(await asOtto('PATCH', path, { active: true })), ['INVALID_VALUE /active'])
    token.expiresAt += 2 * hour
    const on = (await asOtto('PATCH', path, { active: true })).json
    assert.deepEqual([on.active, on.expires_at], [true, new Date(token.expiresAt).toISOString()])
    await settle(trial)
    assert.deepEqual(receiver.typesOf(late.id), ['tasks.created'])
    // Without an end nobody could recheck it.
    token.expiresAt = 0
    const unknown = await asOtto('POST', '/v1/webhooks', { url: receiver.url })
    assert.deepEqual([unknown.status, places(unknown)], [403, ['FORBIDDEN']])
  })

  it('EVT-8: does not end with a token whose caller may make lasting keys', async (t) => {
    const token = { id: 'otto', roles: ['admin'], expiresAt: Date.now() + hour }
    const lasting = { ...studio, limits: { keys: { lastingRoles: ['admin'] } } }
    const trial = await trialFor(t, lasting, { authenticate: () => token })
    assert.equal((await made(trial, { url: 'https://example.com/' })).expires_at, null)
  })
})

describe('the log of deliveries', () => {
  it('EVT-11: has attempts and answers, and is filtered', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const { id } = await made(trial, { url: receiver.url })
    const { id: record } = await task(trial)
    await settle(trial)
    const [shown] = await deliveriesOf(trial, id, `&record=${record}&status=pending`)
    assert.deepEqual([shown.attempts, shown.answer.status, shown.answer.body], [1, 500, 'thanks'])
    assert.equal(shown.answer.error, 'The receiver answered 500.')
    assert.ok(Date.parse(shown.next_attempt_at) > Date.now())
    assert.equal(shown.event_id, receiver.got[0]?.event.id)
    // Deliveries are made of events that are read without their records, which may be large.
    const { catalog, storage } = trial.app
    const plan = planEvents({ catalog, versionCatalog: catalog, caller: 'everyone' }, 0, 1) as ReadEvents
    const read = await storage.events?.read({ ...plan, fields: [] })
    assert.deepEqual(JSON.parse(String(read?.events[0]?.json)), { id: shown.event_id })
    assert.deepEqual(await deliveriesOf(trial, id, '&status=failed'), [])
    const wrong = await trial.send({ path: '/v1/deliveries?record=a&event_id=&webhook_id=b' })
    assert.deepEqual(places(wrong), ['INVALID_VALUE record', 'INVALID_VALUE event_id', 'INVALID_VALUE webhook_id'])
    assert.deepEqual((await trial.send({ path: '/v1/deliveries', as: 'ann' })).json.data, [])
    const changed = await trial.send({ method: 'DELETE', path: `/v1/deliveries/${shown.id}` })
    assert.equal(changed.status, 405)
  })

  it('AUT-9, EVT-11: names records to its maker, and to administrators who may read the event', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const body = { subject: 'kim', roles: ['admin', 'auditor'] }
    const { key: kim } = (await trial.send({ path: '/v1/api-keys', body })).json
    const { id } = await made(trial, { url: receiver.url }, kim)
    const readable = await task(trial)
    const hidden = await task(trial, { reader: 'bob' })
    await settle(trial)
    const seenBy = async (as: string, path: string) => {
      const { json, text } = await trial.send({ path, as })
      return [json.pagination.total_count, text.includes(readable.id), text.includes(hidden.id)]
    }
    for (const path of ['/v1/deliveries', `/v1/webhooks/${id}/deliveries`]) {
      assert.deepEqual(await seenBy(kim, path), [2, true, true])
      assert.deepEqual(await seenBy('root', path), [1, true, false])
    }
    const [found] = (await trial.send({ path: `/v1/deliveries?record=${hidden.id}`, as: kim })).json.data
    assert.equal((await trial.send({ path: `/v1/deliveries/${found.id}` })).status, 403)
  })

  it('EVT-11: is kept as long as events, and what waits for longer is not made any more', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, () => 500)
    const { id } = await made(trial, { url: receiver.url })
    const { id: record } = await task(trial)
    await settle(trial)
    trial.clock.ahead = 6 * 24 * hour
    await trial.send({ method: 'PATCH', path: `/v1/tasks/${record}`, body: { title: 'b' } })
    await trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, body: { active: false } })
    await trial.send({ method: 'PATCH', path: `/v1/webhooks/${id}`, body: { active: true } })
    await settle(trial)
    trial.clock.ahead = 8 * 24 * hour
    receiver.answer = () => 204
    receiver.got.length = 0
    await trial.app.storage.deliveries?.sweep(Date.now() + trial.clock.ahead)
    await settle(trial)
    assert.deepEqual(receiver.typesOf(record), ['tasks.updated'])
    assert.equal((await deliveriesOf(trial, id)).length, 1)
  })

  it('EVT-11: a delivery is made again by hand', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t)
    const { id } = await made(trial, { url: receiver.url })
    await task(trial)
    await settle(trial)
    const [first] = receiver.got
    const body = { webhook_id: id, event_id: first?.event.id }
    const again = await trial.send({ path: '/v1/deliveries', body })
    assert.deepEqual([again.status, again.json.status, again.json.webhook_id], [201, 'pending', id])
    assert.equal(again.headers['location'], `/v1/deliveries/${again.json.id}`)
    await settle(trial)
    const [, second] = receiver.got
    assert.equal(second?.text, first?.text)
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id'])
    const wrong = async (body: object, as = 'root') => places(await trial.send({ path: '/v1/deliveries', as, body }))
    assert.deepEqual(await wrong({}), ['REQUIRED /webhook_id', 'REQUIRED /event_id'])
    assert.deepEqual(await wrong({ webhook_id: 'a', event_id: 'b', x: 1 }), ['UNKNOWN_FIELD /x'])
    assert.deepEqual(await wrong({ ...body, event_id: id }), ['INVALID_REFERENCE /event_id'])
    assert.deepEqual(await wrong(body, 'ann'), ['INVALID_REFERENCE /webhook_id', 'INVALID_REFERENCE /event_id'])
  })
})

describe('the addresses of webhooks', () => {
  it('EVT-10: private ones are refused when a webhook is made or changed', async (t) => {
    const trial = await start(t, { webhookNetworks: ['10.1.0.0/16'] })
    const { id } = await made(trial, { url: 'http://10.1.2.3:80/' })
    for (const host of ['127.0.0.1', '2130706433', '[::ffff:10.0.0.1]', '[fe80::1]', '169.254.169.254', 'localhost']) {
      const body = { url: `https://${host}/` }
      const sent = { POST: '/v1/webhooks', PATCH: `/v1/webhooks/${id}` }
      for (const [method, path] of Object.entries(sent)) {
        const refused = await trial.send({ method, path, body })
        assert.deepEqual([refused.status, places(refused)], [400, ['INVALID_VALUE /url']], `${method} ${host}`)
      }
    }
  })

  it('EVT-10: private ones are refused at each delivery, by name and by redirect, without a connection', async (t) => {
    const trial = await start(t)
    const receiver = await startReceiver(t, (_, response) => {
      response.writeHead(307, { Location: `http://127.0.0.2:${receiver.port}/` }).end()
      return undefined
    })
    const errorOf = async (each: Trial, url: string) => {
      const { id } = await made(trial, { url })
      await task(trial)
      await settle(each)
      const [shown] = await deliveriesOf(each, id)
      await each.send({ method: 'DELETE', path: `/v1/webhooks/${id}` })
      return shown.answer.error
    }
    const refused = 'The URL does not lead to an address that webhooks may be sent to.'
    assert.equal(await errorOf(trial, receiver.url), refused)
    assert.equal(receiver.got.length, 1)
    // Another server, whose operator no longer allows the network. The first one delivers no more.
    await trial.app.deliveries?.close()
    const closed = await start(t, { webhookNetworks: [], database: trial.database })
    for (const host of ['127.0.0.1', 'localhost', 'nowhere.invalid']) {
      assert.equal(await errorOf(closed, `https://${host}:${receiver.port}/`), refused, host)
    }
    assert.equal(receiver.got.length, 1)
  })
})
