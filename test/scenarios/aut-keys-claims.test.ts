/** AUT-16: claims of API keys, which conditions compare as they compare those of tokens. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'resourced-contract/model/type'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { places, type Trial, trialFor } from '../harness.ts'

const path = '/v1/api-keys'
const teams = defineInterface({
  name: 'teams',
  resources: {
    bans: { fields: { team: Type.String() } },
    notes: {
      fields: { text: Type.String(), team: Type.String() },
      events: true,
      access: {
        read: { where: { team: { caller: 'claims.team' } } },
        create: {
          all: [
            { where: { team: { caller: 'claims.team' } } },
            { none: 'bans', where: { team: { caller: 'claims.team' } } },
          ],
        },
        update: { where: { team: { in: [{ caller: 'claims.more.teams' }] } } },
      },
    },
  },
})

const blue = { team: 'blue', more: { teams: ['blue', 'red'], level: 1 } }

async function keyOf({ send }: Trial, as: string, body: object) {
  const answer = await send({ path, as, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

it('AUT-16: conditions compare the claims of a key, and a key without them has none', async (t) => {
  const current = await trialFor(t, teams)
  const { send, make } = current
  const { key } = await keyOf(current, 'root', { subject: 'bob', claims: blue })
  const plain = await keyOf(current, 'root', { subject: 'bob' })
  assert.equal(plain.claims, null)
  const create = (as: string) => send({ path: '/v1/notes', as, body: { text: 'a', team: 'blue' } })
  assert.deepEqual([(await create(key)).status, (await create(plain.key)).status], [201, 403])
  const { json } = await send({ path: '/v1/notes', as: key })
  assert.equal(json.pagination.total_count, 1)
  const note = `/v1/notes/${json.data[0].id}`
  assert.equal((await send({ method: 'PATCH', path: note, as: key, body: { team: 'red' } })).status, 204)
  assert.deepEqual(
    [(await send({ path: note, as: key })).status, (await send({ path: note, as: plain.key })).status],
    [403, 403],
  )
  await make('bans', { team: 'blue' })
  assert.equal((await create(key)).status, 403)
  const granted = async (as: string) => (await send({ path: '/v1/caller', as })).json.permissions.notes.create.granted
  assert.deepEqual([await granted(key), await granted(plain.key)], ['some', 'none'])
})

it('AUT-16: a caller gives a key only claims that they have, with equal values; an administrator any', async (t) => {
  const current = await trialFor(t, teams, { memory: true })
  const { send } = current
  const { key } = await keyOf(current, 'root', { subject: 'bob', roles: ['editor'], claims: blue })
  const same = { more: { level: 1, teams: ['blue', 'red'] }, team: 'blue' }
  const passed = await keyOf(current, key, { claims: same })
  assert.deepEqual([passed.claims, passed.roles], [blue, ['editor']])
  assert.deepEqual((await keyOf(current, passed.key, { claims: { team: 'blue' } })).claims, { team: 'blue' })
  assert.equal((await keyOf(current, key, {})).claims, null)
  const refused = [
    [key, { team: 'red' }, ['/claims/team']],
    [key, { team: 'blue', tenant: 'x' }, ['/claims/tenant']],
    [key, { more: { teams: ['blue', 'red', 'green'], level: 1 }, 'a/b': 1 }, ['/claims/more', '/claims/a~1b']],
    [key, { constructor: 1 }, ['/claims/constructor']],
    ['ann', { team: 'blue' }, ['/claims/team']],
    ['eve', { team: null }, ['/claims/team']],
  ] as const
  for (const [as, claims, pointers] of refused) {
    const answer = await send({ path, as, body: { claims } })
    assert.deepEqual([answer.status, places(answer)], [403, pointers.map((pointer) => `FORBIDDEN ${pointer}`)])
  }
  assert.match(
    (await send({ path, as: key, body: { claims: { team: 'red' } } })).text,
    /claim \\"team\\" with this value/,
  )
})

it('AUT-16: claims are an object of bounded size', async (t) => {
  const { send } = await trialFor(t, teams, { memory: true })
  const wrong = [
    [['team'], 'INVALID_TYPE /claims'],
    ['team', 'INVALID_TYPE /claims'],
    [{ team: 'x'.repeat(2_000) }, 'TOO_LONG /claims'],
  ] as const
  for (const [claims, place] of wrong) {
    const answer = await send({ path, as: 'root', body: { claims } })
    assert.deepEqual([answer.status, places(answer)], [400, [place]])
  }
  assert.equal((await send({ path, as: 'root', body: '{"claims":{"__proto__":{"team":"x"}}}' })).status, 400)
  assert.equal((await send({ path, as: 'root', body: { claims: null } })).json.claims, null)
  assert.deepEqual((await send({ path, as: 'root', body: { claims: {} } })).json.claims, {})
})

it('AUT-16: lists show claims, and a key with claims is revoked as others are', async (t) => {
  const current = await trialFor(t, teams)
  const { send, app } = current
  const made = makeKey('bob', [], null, blue)
  await app.storage.keys.add(made.stored)
  const { key, stored } = made
  const descendant = await keyOf(current, key, { claims: { team: 'blue' } })
  for (const as of ['root', 'bob', key]) {
    const listed = await send({ path: `${path}?made_by=${stored.id}`, as })
    assert.deepEqual(
      listed.json.data.map((each: { claims: unknown }) => each.claims),
      [{ team: 'blue' }],
    )
    const read = await send({ path: `${path}/${stored.id}`, as })
    assert.deepEqual(read.json.claims, blue)
    assert.ok(!read.text.includes(key))
  }
  const kept = await app.storage.keys.list()
  assert.deepEqual(kept.find(({ id }) => id === stored.id)?.claims, blue)
  assert.equal((await send({ method: 'DELETE', path: `${path}/${stored.id}?descendants=true`, as: 'bob' })).status, 204)
  for (const as of [key, descendant.key]) assert.equal((await send({ path: '/v1/notes', as })).status, 401)
})

it('EVT-8, AUT-16: a webhook that reads with the claims of a key is changed only by callers who have them', async (t) => {
  const current = await trialFor(t, teams, { memory: true })
  const { send } = current
  const { key } = await keyOf(current, 'root', { subject: 'bob', roles: ['admin'], claims: blue })
  const body = { url: 'https://one.example/in' }
  const made = await send({ path: '/v1/webhooks', as: key, body })
  assert.equal(made.status, 201, made.text)
  const change = async (as: string) =>
    (await send({ method: 'PATCH', path: `/v1/webhooks/${made.json.id}`, as, body: { url: 'https://two.example/in' } }))
      .status
  const [plain, lesser] = [await keyOf(current, key, {}), await keyOf(current, key, { claims: { team: 'blue' } })]
  assert.deepEqual([await change(plain.key), await change(lesser.key), await change(key)], [403, 403, 200])
})
