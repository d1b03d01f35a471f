/** AUT-8: a change is checked against the record before and after the change. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { places, purgeAt, type Received, type Sent, trialFor } from '../harness.ts'

const day = 24 * 3_600_000
const patch = { 'content-type': 'application/json-patch+json' }

/** Each caller is a team of their own. */
const ownTeam = { where: { team: { caller: 'id' } } } as const
const tenants = defineInterface({
  name: 'tenants',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'notes', rename: { group: 'team' } }],
  resources: {
    notes: {
      fields: {
        text: Type.Optional(Type.String({ maxLength: 5 })),
        team: Type.String({ default: 'nobody', maxLength: 9 }),
        code: Type.Optional(Type.String({ unique: true })),
      },
      access: { read: ownTeam, create: ownTeam, update: ownTeam, delete: ownTeam, restore: ownTeam },
    },
  },
})

it('AUT-8: no method moves a record to another team', async (context) => {
  const { send, make } = await trialFor(context, tenants, { memory: true })
  const { id } = await make('notes', { text: 'a', team: 'ann' }, 'ann')
  const path = `/v2/notes/${id}`
  const ways: readonly Omit<Sent, 'path'>[] = [
    { method: 'PATCH', body: { team: 'bob' } },
    { method: 'PATCH', body: { team: null } },
    { method: 'PATCH', body: { team: 'bob', text: 'b' }, headers: { 'content-type': 'application/merge-patch+json' } },
    { method: 'PATCH', body: { team: 'bob' }, headers: { prefer: 'return=minimal' } },
    { method: 'PATCH', body: { team: 'bob' }, headers: { 'if-match': '*' } },
    { method: 'PATCH', body: [{ op: 'replace', path: '/team', value: 'bob' }], headers: patch },
    { method: 'PATCH', body: [{ op: 'copy', from: '/id', path: '/text' }, { op: 'remove', path: '/team' }], headers: patch },
    { method: 'PUT', body: { team: 'bob' } },
    // What is left out becomes the default.
    { method: 'PUT', body: { text: 'a' } },
  ] // biome-ignore format: one row reads best
  const before = await send({ path, as: 'ann' })
  for (const sent of ways) {
    const { status, json } = await send({ ...sent, path, as: 'ann' })
    assert.deepEqual([status, json?.code], [403, 'FORBIDDEN'], JSON.stringify(sent.body))
  }
  for (const sent of [
    { method: 'PATCH', body: { group: 'bob' } },
    { method: 'PUT', body: { text: 'a' } },
    { method: 'PATCH', body: [{ op: 'replace', path: '/group', value: 'bob' }], headers: patch },
  ]) {
    assert.equal((await send({ ...sent, path: `/v1/notes/${id}`, as: 'ann' })).status, 403, JSON.stringify(sent))
  }
  const after = await send({ path, as: 'ann' })
  assert.deepEqual([after.text, after.headers.etag], [before.text, before.headers.etag])
  assert.equal((await send({ path: '/v2/notes', as: 'bob' })).json.pagination.total_count, 0)
  for (const body of [{ text: 'c' }, { team: 'ann' }, { team: 'ann', text: 'd' }, {}]) {
    assert.equal((await send({ method: 'PATCH', path, as: 'ann', body })).status, 200)
  }
})

it('AUT-8, CON-6: permission errors come before validation errors, if the record could be permitted', async (context) => {
  const { send, make } = await trialFor(context, tenants, { memory: true })
  const { id } = await make('notes', { team: 'ann', code: 'x' }, 'ann')
  await make('notes', { team: 'bob', code: 'y' }, 'bob')
  const change = async (body: object, headers = {}) => {
    const answer = await send({ method: 'PATCH', path: `/v2/notes/${id}`, as: 'ann', body, headers })
    return `${answer.status} ${places(answer)}`
  }
  const create = async (body: object) => {
    const answer = await send({ path: '/v2/notes', as: 'ann', body })
    return `${answer.status} ${places(answer)}`
  }
  // Where what the rule looks at is invalid itself, nobody could be permitted: what is wrong with it is said.
  for (const write of [change, create]) {
    assert.equal(await write({ team: 'bob', text: 'too long' }), '403 ')
    assert.equal(await write({ team: 'bob', colour: 1 }), '403 ')
    assert.equal(await write({ team: 'much too long' }), '400 TOO_LONG /team')
    assert.equal(await write({ team: 7, text: 'too long' }), '400 TOO_LONG /text,INVALID_TYPE /team')
    assert.equal(await write({ team: 'ann', text: 'too long' }), '400 TOO_LONG /text')
    assert.equal(await write({ team: 'bob', code: 'y' }), '403 ')
    assert.equal(await write({ team: 'ann', code: 'y' }), '409 DUPLICATE_VALUE /code')
  }
  // Which record it would be is known only of the one that the client knows.
  assert.equal(await change({ team: 'bob' }, { 'if-match': '"other"' }), '412 PRECONDITION_FAILED If-Match')
})

it('AUT-8: values that the server sets are part of the record after the change', async (context) => {
  const dated = defineInterface({
    name: 'dated',
    resources: {
      // Nothing that is changed is older than that.
      frozen: {
        fields: { text: Type.String() },
        access: { read: 'anyone', create: 'anyone', update: { where: { updated_at: { lt: '2000-01-01T00:00:00Z' } } } },
      },
      recent: {
        fields: { text: Type.String() },
        access: { read: 'anyone', create: 'anyone', update: { where: { updated_at: { gt: '2000-01-01T00:00:00Z' } } } },
      },
      kept: {
        fields: { text: Type.String() },
        access: {
          ...({ read: 'anyone', create: 'anyone', delete: 'anyone' } as const),
          restore: { where: { deleted_at: { gt: '2000-01-01T00:00:00Z' } } },
        },
      },
      returning: {
        fields: { text: Type.String() },
        access: {
          ...({ read: 'anyone', create: 'anyone', delete: 'anyone' } as const),
          restore: { where: { or: [{ deleted_at: { gt: '2000-01-01T00:00:00Z' } }, { deleted_at: { null: true } }] } },
        },
      },
      owned: {
        fields: { owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        access: { read: 'anyone', create: 'anyone', update: 'owner' },
      },
    },
  })
  const { send, make } = await trialFor(context, dated, { memory: true })
  const change = async (collection: string, body: object, as: string) => {
    const { id } = await make(collection, collection === 'owned' ? {} : { text: 'a' }, as)
    return (await send({ method: 'PATCH', path: `/v1/${collection}/${id}`, as, body })).status
  }
  assert.equal(await change('frozen', { text: 'b' }, 'ann'), 403)
  assert.equal(await change('recent', { text: 'b' }, 'ann'), 200)
  // An administrator may assign the owner, and gives nothing away that only its owner may change.
  assert.equal(await change('owned', { owner_id: 'bob' }, 'root'), 403)
  assert.equal(await change('owned', { owner_id: 'root' }, 'root'), 200)
  const comeBack = async (collection: string) => {
    const { id } = await make(collection, { text: 'a' }, 'ann')
    assert.equal((await send({ method: 'DELETE', path: `/v1/${collection}/${id}`, as: 'ann' })).status, 204)
    return (await send({ method: 'POST', path: `/v1/${collection}/${id}/restore`, as: 'ann' })).status
  }
  // Afterwards nothing says when it was deleted.
  assert.equal(await comeBack('kept'), 403)
  assert.equal(await comeBack('returning'), 200)
})

it('AUT-8: an access rule that leads back to the record reads it as it is after the change', async (context) => {
  const ring = defineInterface({
    name: 'ring',
    resources: {
      nodes: {
        fields: {
          team: Type.String(),
          text: Type.Optional(Type.String()),
          up_id: Type.Optional(reference('nodes', { requires: 'none' })),
        },
        access: { read: ownTeam, create: 'anyone', update: [{ through: 'up_id', action: 'read' }, 'role:admin'] },
      },
    },
  })
  const { send, make } = await trialFor(context, ring, { memory: true })
  const write = async (id: string, body: object, as = 'ann') =>
    (await send({ method: 'PATCH', path: `/v1/nodes/${id}`, body, as })).status
  const own = await make('nodes', { team: 'ann' })
  const other = await make('nodes', { team: 'bob' })
  assert.ok((await write(own.id, { up_id: own.id }, 'root')) < 300)
  assert.equal(await write(own.id, { text: 'a' }), 200)
  assert.equal(await write(own.id, { team: 'bob' }), 403)
  // What it is to become permits nothing to those whom it does not permit as it is.
  assert.ok((await write(other.id, { up_id: other.id }, 'root')) < 300)
  assert.equal(await write(other.id, { team: 'ann' }), 403)
  assert.equal(await write(own.id, { up_id: other.id, team: 'bob' }), 403)
  assert.equal((await send({ path: `/v1/nodes/${own.id}`, as: 'ann' })).json.team, 'ann')
})

it('AUT-8: references that a deletion clears are part of the deletion', async (context) => {
  const desk = defineInterface({
    name: 'desk',
    resources: {
      users: { fields: { name: Type.String() }, access: { delete: 'anyone' } },
      tasks: {
        fields: { assignee_id: Type.Optional(reference('users', { onDelete: 'clear' })) },
        access: { read: 'anyone', update: { where: { assignee_id: { null: false } } } },
      },
    },
  })
  const { send, make } = await trialFor(context, desk, { memory: true })
  const user = await make('users', { name: 'x' })
  const task = await make('tasks', { assignee_id: user.id })
  const path = `/v1/tasks/${task.id}`
  assert.equal((await send({ method: 'PATCH', path, as: 'ann', body: { assignee_id: null } })).status, 403)
  assert.equal((await send({ method: 'DELETE', path: `/v1/users/${user.id}`, as: 'ann' })).status, 204)
  assert.equal((await send({ path, as: 'ann' })).json.assignee_id, null)
})

const chain = (() => {
  const through = <Field extends string>(field: Field) => ({ through: field, action: 'update' }) as const
  const child = <Field extends string>(field: Field) => ({
    read: through(field),
    create: through(field),
    restore: through(field),
  })
  return defineInterface({
    name: 'chain',
    resources: {
      regions: {
        fields: { owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        access: { read: 'anyone', create: 'anyone', update: ['owner', 'role:admin'], delete: ['owner', 'role:admin'] },
        deletion: { gracePeriod: 'P3D' },
      },
      cities: {
        fields: { region_id: reference('regions', { onDelete: 'cascade' }) },
        access: { ...child('region_id'), update: through('region_id') },
      },
      houses: { fields: { city_id: reference('cities', { onDelete: 'cascade' }) }, access: child('city_id') },
    },
  })
})()

it('DEL-6, AUT-8: a caller who could restore a record under live parents is told that the parents are deleted', async (context) => {
  const current = await trialFor(context, chain)
  const { send, make, clock, app } = current
  const region = await make('regions', {}, 'ann')
  const city = await make('cities', { region_id: region.id }, 'ann')
  const house = await make('houses', { city_id: city.id }, 'ann')
  assert.equal((await send({ method: 'DELETE', path: `/v1/regions/${region.id}`, as: 'ann' })).status, 204)
  const restore = (collection: string, id: string, as: string): Promise<Received> =>
    send({ method: 'POST', path: `/v1/${collection}/${id}/restore`, as })
  const outcomes = async () => {
    const found: string[] = []
    for (const [collection, id] of [['cities', city.id], ['houses', house.id]] as const) {
      for (const as of ['root', 'ann', 'bob']) {
        const { status, json } = await restore(collection, id, as)
        found.push(`${collection} ${as} ${status} ${json.code}`)
      }
    }
    return found
  } // biome-ignore format: one row reads best
  assert.deepEqual(await outcomes(), [
    'cities root 409 REFERENCE_DELETED',
    'cities ann 409 REFERENCE_DELETED',
    'cities bob 403 FORBIDDEN',
    'houses root 409 REFERENCE_DELETED',
    'houses ann 409 REFERENCE_DELETED',
    'houses bob 403 FORBIDDEN',
  ])
  // Whose the region was is forgotten, purged or not; an administrator needs not be told.
  clock.ahead = 4 * day
  const forgotten = await outcomes()
  assert.deepEqual(forgotten.slice(0, 3), [
    'cities root 409 REFERENCE_DELETED',
    'cities ann 403 FORBIDDEN',
    'cities bob 403 FORBIDDEN',
  ])
  await purgeAt(app, Date.now() + clock.ahead)
  assert.deepEqual(await outcomes(), forgotten)
})

it('DEL-6: a record is restored after its parents, by callers whom the parents permit', async (context) => {
  const { send, make } = await trialFor(context, chain, { memory: true })
  const region = await make('regions', {}, 'ann')
  const city = await make('cities', { region_id: region.id }, 'ann')
  const remove = (path: string) => send({ method: 'DELETE', path })
  assert.equal((await remove(`/v1/cities/${city.id}`)).status, 204)
  assert.equal((await remove(`/v1/regions/${region.id}`)).status, 204)
  const restore = async (path: string, as: string) =>
    (await send({ method: 'POST', path: `${path}/restore`, as })).status
  assert.equal(await restore(`/v1/cities/${city.id}`, 'ann'), 409)
  assert.ok((await restore(`/v1/regions/${region.id}`, 'root')) < 300)
  assert.equal(await restore(`/v1/cities/${city.id}`, 'bob'), 403)
  assert.equal(await restore(`/v1/cities/${city.id}`, 'ann'), 200)
})

it('AUT-6: a business rule that is undecidable refuses the change; a record for which it is undecidable does not match', async (context) => {
  const shop = defineInterface({
    name: 'shop',
    resources: {
      orders: {
        fields: {
          state: Type.Optional(Type.String()),
          total: Type.Optional(Type.Integer({ filter: true })),
          most: Type.Optional(Type.Integer()),
        },
        access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
        rules: [
          { on: 'delete', code: 'PAID', message: 'It is paid.', unless: { where: { not: { state: 'paid' } } } },
          {
            on: 'create',
            code: 'DEARER',
            message: 'A dearer one is there.',
            unless: { none: 'orders', where: { total: { gt: { record: 'most' } } } },
          },
          {
            on: 'update',
            code: 'UNKNOWN',
            message: 'There is none like it.',
            unless: { some: 'orders', where: { or: [{ total: { gt: { record: 'most' } } }, { state: 'example' }] } },
          },
        ],
      },
    },
  })
  const { send, make } = await trialFor(context, shop, { memory: true })
  const erase = async (state: string | null) => {
    const { id } = await make('orders', { state })
    return (await send({ method: 'DELETE', path: `/v1/orders/${id}` })).status
  }
  assert.deepEqual([await erase('paid'), await erase('open'), await erase(null)], [409, 204, 409])
  const { id } = await make('orders', { state: 'example', total: 7 })
  assert.equal((await send({ path: '/v1/orders', body: { most: 5 } })).status, 409)
  assert.equal((await send({ path: '/v1/orders', body: { most: null } })).status, 201)
  // One branch is unknown, the other is true.
  assert.equal((await send({ method: 'PATCH', path: `/v1/orders/${id}`, body: { total: 8 } })).status, 200)
})
