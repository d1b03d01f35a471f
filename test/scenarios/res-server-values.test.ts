/** RES: values that the server sets from the caller and the clock. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import type { AuthenticateOption } from '../../packages/server/src/policy/own-credentials.ts'
import { places, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const { Optional } = Type
const caller = { caller: 'id' } as const
const now = { now: true } as const

const desk = defineInterface({
  name: 'desk',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'notes', rename: { writer: 'changed_by' }, add: ['created_by', 'day'] }],
  resources: {
    notes: {
      fields: {
        text: Type.String(),
        author: Type.String({ default: caller, filter: true }),
        origin: Type.String({ default: caller, immutable: true }),
        tenant: Optional(Type.String({ default: { caller: 'claims.tenant' }, maxLength: 8 })),
        begins_at: Type.String({ format: 'date-time', default: now }),
        created_by: Type.String({ set: { onCreate: caller } }),
        changed_by: Type.String({ set: { onCreate: caller, onUpdate: caller } }),
        changed_at: Optional(Type.String({ format: 'date-time', set: { onUpdate: now } })),
        day: Type.String({ format: 'date', set: { onCreate: now }, filter: true }),
      },
      access: anyone,
    },
    orders: {
      fields: {
        name: Type.String(),
        tenant: Type.String({ set: { onCreate: { caller: 'claims.tenant' } }, filter: true }),
        level: Type.Integer({ default: { caller: 'claims.level' } }),
        teams: Optional(Type.Array(Type.String(), { set: { onUpdate: { caller: 'roles' } } })),
      },
      access: anyone,
    },
    bills: {
      fields: {
        name: Type.String(),
        by: Type.String({ set: { onCreate: caller, onUpdate: { caller: 'claims.tenant' } } }),
      },
      access: anyone,
    },
  },
})

const sessions: AuthenticateOption = ({ headers: { cookie } }) => {
  if (cookie === 'ann') return { id: 'ann', roles: ['red'], claims: { tenant: 'north', level: 3 } }
  if (cookie === 'bob') return { id: 'bob', roles: ['blue'], claims: { tenant: 'much too long', level: 'high' } }
  return cookie === 'eve' ? { id: 'eve', roles: [] } : undefined
}

async function started(context: TestContext) {
  const current = await trialFor(context, desk, { authenticate: sessions })
  const ask = (cookie: string, path: string, body?: unknown, method?: string) =>
    current.send({ path, as: null, headers: { cookie }, body, ...(method === undefined ? {} : { method }) })
  return { ...current, ask }
}

const written = ({ json }: { readonly json: Record<string, unknown> }, ...names: string[]) =>
  names.map((name) => json[name])

it('RES-14: a creation without a field takes its default from the caller or the clock', async (context) => {
  const { ask, clock } = await started(context)
  clock.ahead = 3_600_000
  const made = await ask('ann', '/v2/notes', { text: 'a' })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(written(made, 'author', 'origin', 'tenant'), ['ann', 'ann', 'north'])
  assert.equal(made.json.begins_at, made.json.created_at)
  const same = await ask('ann', `/v2/notes/${made.json.id}`)
  assert.equal(same.text, made.text)
  const sent = { text: 'a', author: 'eve', tenant: 'x', begins_at: '2026-01-01T00:00:00Z' }
  const other = await ask('ann', '/v2/notes', sent)
  assert.deepEqual(written(other, 'author', 'tenant', 'begins_at'), ['eve', 'x', '2026-01-01T00:00:00Z'])
  const empty = await ask('ann', '/v2/notes', { text: 'a', author: null, begins_at: null })
  assert.deepEqual(written(empty, 'author'), ['ann'])
  assert.equal(empty.json.begins_at, empty.json.created_at)
  assert.equal((await ask('ann', '/v2/notes?author=ann')).json.data.length, 2)
})

it('RES-14: an attribute that is missing or does not fit is no default', async (context) => {
  const { ask } = await started(context)
  for (const cookie of ['bob', 'eve']) {
    const made = await ask(cookie, '/v2/notes', { text: 'a' })
    assert.deepEqual([made.status, made.json.tenant], [201, null], made.text)
  }
  const made = await ask('ann', '/v2/orders', { name: 'a' })
  assert.deepEqual([made.status, made.json.level], [201, 3], made.text)
  const missing = await ask('bob', '/v2/notes', { text: 1 })
  assert.deepEqual([missing.status, places(missing)], [400, ['INVALID_TYPE /text']])
})

it('RES-14: PUT keeps such a value, and PATCH with null sets it anew', async (context) => {
  const { ask, clock } = await started(context)
  const made = await ask('ann', '/v2/notes', { text: 'a' })
  const path = `/v2/notes/${made.json.id}`
  clock.ahead = 60_000
  const put = await ask('bob', path, { text: 'b' }, 'PUT')
  assert.equal(put.status, 200, put.text)
  assert.deepEqual(
    written(put, 'author', 'origin', 'tenant', 'begins_at'),
    written(made, 'author', 'origin', 'tenant', 'begins_at'),
  )
  clock.ahead = 120_000
  const again = await ask('bob', path, { text: 'b', author: null, begins_at: null }, 'PUT')
  assert.deepEqual([again.status, again.text, again.headers.etag], [200, put.text, put.headers.etag])
  const patched = await ask('bob', path, { author: null, tenant: null, begins_at: null }, 'PATCH')
  assert.deepEqual(written(patched, 'author', 'tenant'), ['bob', null])
  assert.equal(patched.json.begins_at, patched.json.updated_at)
  const filled = await ask('ann', path, { text: 'b' }, 'PUT')
  assert.deepEqual(written(filled, 'author', 'tenant'), ['bob', 'north'])
  const fixed = await ask('bob', path, { origin: null }, 'PATCH')
  assert.deepEqual([fixed.status, places(fixed)], [400, ['IMMUTABLE /origin']])
})

it('RES-15: the server sets a field on creation and on changes, and clients never do', async (context) => {
  const { ask, send, clock } = await started(context)
  const made = await ask('ann', '/v2/notes', { text: 'a' })
  assert.deepEqual(written(made, 'created_by', 'changed_by', 'changed_at'), ['ann', 'ann', null])
  assert.equal(made.json.day, String(made.json.created_at).slice(0, 10))
  const path = `/v2/notes/${made.json.id}`
  clock.ahead = 60_000
  const changed = await ask('bob', path, { text: 'b' }, 'PATCH')
  assert.deepEqual(written(changed, 'created_by', 'changed_by', 'day'), ['ann', 'bob', made.json.day])
  assert.equal(changed.json.changed_at, changed.json.updated_at)
  assert.notEqual(changed.json.changed_at, made.json.created_at)
  const patch = JSON.stringify([{ op: 'replace', path: '/text', value: 'c' }])
  const headers = { 'content-type': 'application/json-patch+json', cookie: 'eve' }
  const byPatch = await send({ path, method: 'PATCH', as: null, headers, body: patch })
  assert.deepEqual([byPatch.status, ...written(byPatch, 'text', 'changed_by')], [200, 'c', 'eve'], byPatch.text)
  for (const [method, body] of [
    ['POST', { text: 'a', changed_by: 'eve' }],
    ['PATCH', { changed_by: 'mallory' }],
    ['PUT', { text: 'b', created_by: 'eve' }],
  ] as const) {
    const refused = await ask('eve', method === 'POST' ? '/v2/notes' : path, body, method)
    assert.deepEqual([refused.status, places(refused)[0]?.split(' ')[0]], [400, 'READ_ONLY'], method)
  }
  const repeated = await ask('bob', path, byPatch.json, 'PUT')
  assert.deepEqual([repeated.status, repeated.text, repeated.headers.etag], [200, byPatch.text, byPatch.headers.etag])
})

it('RES-15: a request that changes nothing sets nothing', async (context) => {
  const { ask, clock } = await started(context)
  const made = await ask('ann', '/v2/notes', { text: 'a' })
  clock.ahead = 60_000
  for (const [method, body] of [
    ['PATCH', { text: 'a' }],
    ['PATCH', {}],
    ['PUT', { text: 'a' }],
  ] as const) {
    const same = await ask('bob', `/v2/notes/${made.json.id}`, body, method)
    assert.deepEqual([same.status, same.text, same.headers.etag], [200, made.text, made.headers.etag], method)
  }
})

it('RES-15: a caller without the attribute of a required field is refused with 403', async (context) => {
  const { ask } = await started(context)
  const made = await ask('ann', '/v2/orders', { name: 'a', level: 1 })
  assert.deepEqual([made.status, made.json.tenant, made.json.teams], [201, 'north', null], made.text)
  const refused = await ask('eve', '/v2/orders', { name: 'a', level: 1 })
  assert.deepEqual([refused.status, refused.json.code], [403, 'FORBIDDEN'])
  assert.match(refused.json.detail, /claims\.tenant/)
  const keyed = { name: 'a' }
  assert.equal((await ask('eve', '/v2/orders', keyed)).status, 403)
  const changed = await ask('eve', `/v2/orders/${made.json.id}`, { name: 'b' }, 'PATCH')
  assert.deepEqual([changed.status, changed.json.tenant, changed.json.teams], [200, 'north', []])
  const required = await ask('bob', '/v2/orders', { name: 'a' })
  assert.deepEqual([required.status, places(required)], [400, ['REQUIRED /level']])
  const bill = await ask('eve', '/v2/bills', { name: 'a' })
  const path = `/v2/bills/${bill.json.id}`
  const unchanged = await ask('eve', path, { name: 'b' }, 'PATCH')
  assert.deepEqual([unchanged.status, unchanged.json.code], [403, 'FORBIDDEN'])
  assert.match(unchanged.json.detail, /claims\.tenant/)
  assert.equal((await ask('eve', path)).text, bill.text)
  assert.equal((await ask('ann', path, { name: 'b' }, 'PATCH')).json.by, 'north')
})

it('RES-15, VER-2: fields are set for clients of older versions, under the names that these have', async (context) => {
  const { ask } = await started(context)
  const made = await ask('ann', '/v1/notes', { text: 'a' })
  assert.equal(made.status, 201, made.text)
  assert.deepEqual(written(made, 'author', 'writer', 'created_by', 'day'), ['ann', 'ann', undefined, undefined])
  const changed = await ask('bob', `/v1/notes/${made.json.id}`, { text: 'b' }, 'PATCH')
  assert.equal(changed.json.writer, 'bob')
  const current = await ask('ann', `/v2/notes/${made.json.id}`)
  assert.deepEqual(written(current, 'created_by', 'changed_by'), ['ann', 'bob'])
  const refused = await ask('bob', `/v1/notes/${made.json.id}`, { writer: 'eve' }, 'PATCH')
  assert.deepEqual([refused.status, places(refused)], [400, ['READ_ONLY /writer']])
})

it('RES-14, RES-15: the document says where values come from, and asks for none that the server sets', async (context) => {
  const { send } = await started(context)
  const { NoteCreate, Note } = (await send({ path: '/v2/openapi.json' })).json.components.schemas
  assert.deepEqual(NoteCreate.required, ['text'])
  assert.equal('created_by' in NoteCreate.properties, false)
  assert.match(NoteCreate.properties.author.description, /Default: the id of the caller\./)
  assert.equal('x-default' in NoteCreate.properties.author, false)
  assert.equal(Note.properties.changed_by.readOnly, true)
  assert.match(Note.properties.changed_at.description, /on every change: the time of the request/)
})
