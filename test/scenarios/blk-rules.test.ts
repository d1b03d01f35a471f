/** BLK-2: where records exchange unique values, rules see none of them without its value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { places, trialFor } from '../harness.ts'
import { stateOf } from '../steps.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const
const another = { id: { not: { record: 'id' } } } as const

const team: InterfaceDeclaration = {
  name: 'team',
  resources: {
    players: {
      fields: {
        shirt: { type: 'integer', unique: true, optional: true },
        locker: { type: 'decimal', precision: 6, scale: 2, unique: true, optional: true },
        wants: { type: 'integer', optional: true },
        captain: { type: 'boolean', default: false },
        ready: { type: 'boolean', default: false },
        elected: { type: 'boolean', default: false },
      },
      access: anyone,
      rules: [
        {
          ...{ on: 'update', code: 'NAKED', message: 'The captain has no shirt.', when: { ready: true } },
          unless: { some: 'players', where: { captain: true, shirt: { gte: 1 } } },
        },
        {
          ...{ on: 'update', code: 'NO_SHIRT', message: 'Somebody has no shirt.', when: { ready: true } },
          unless: { none: 'players', where: { shirt: { null: true }, ...another } },
        },
        {
          ...{ on: 'update', code: 'NO_LOCKER', message: 'Somebody has no locker.', when: { ready: true } },
          unless: { none: 'players', where: { locker: { null: true }, ...another } },
        },
        {
          ...{ on: 'update', code: 'WANTED', message: 'Somebody has the shirt.', when: { wants: { null: false } } },
          unless: { none: 'players', where: { shirt: { record: 'wants' }, ...another } },
        },
        {
          ...{ on: 'update', code: 'TWO_CAPTAINS', message: 'There is a captain.', when: { elected: true } },
          unless: { none: 'players', where: { captain: true } },
        },
      ],
    },
    locks: {
      fields: { code: { type: 'string', unique: true }, closed: { type: 'boolean' } },
      access: { ...anyone, update: [{ none: 'locks', where: { code: 'main', closed: true } }, 'role:admin'] },
    },
  },
}

const post = (path: string, body: unknown) => ({ method: 'POST', path, body })
const patch = (path: string, body: unknown) => ({ method: 'PATCH', path, body })

/** Players with the shirts 1 to 3, of whom the first is the captain. */
async function players(context: Parameters<typeof trialFor>[0]) {
  const current = await trialFor(context, team)
  const bodies = [1, 2, 3].map((shirt) => ({ shirt, locker: `${shirt}.50`, captain: shirt === 1 }))
  const { json } = await current.send(post('/v1/players', bodies))
  const ids: string[] = json.data.map(({ id }: { id: string }) => id)
  const [first, second, third] = ids as [string, string, string]
  return { current, first, second, third }
}

test('BLK-2: a rule sees records that exchange values with a value, as they were or will be', async (context) => {
  const { current, first, second, third } = await players(context)
  for (const [name, one, two] of [
    ['shirt', 1, 2],
    ['locker', '1.50', '2.50'],
  ] as const) {
    // Where the second one has its new value, the first one has none yet.
    const exchange = [
      { id: second, [name]: one },
      { id: third, ready: true },
      { id: first, [name]: two },
    ]
    const answer = await current.send(patch('/v1/players', exchange))
    assert.deepEqual(answer.json.data?.map((each: Record<string, unknown>) => each[name]), [one, name === 'shirt' ? 3 : '3.50', two], answer.text) // biome-ignore format: a line
    assert.equal((await current.send(patch(`/v1/players/${third}`, { ready: false }))).status, 200)
  }
})

test('BLK-2: a record that must not be there is looked for with its new value', async (context) => {
  const { current, first, second, third } = await players(context)
  const before = await stateOf(current, ['players'])
  // Afterwards the first one has the shirt 2, and the second one the shirt 1.
  for (const wants of [1, 2]) {
    const changes = [{ id: first, shirt: 2 }, { id: third, wants }, { id: second, shirt: 1 }] // biome-ignore format: a line
    const refused = await current.send(patch('/v1/players', changes))
    assert.deepEqual([refused.status, places(refused)], [409, ['WANTED /1']])
  }
  assert.deepEqual(await stateOf(current, ['players']), before)
})

test('BLK-2: a rule sees the record itself as it was, as in a change of it alone', async (context) => {
  const { current, first, second, third } = await players(context)
  const step = [{ id: first, shirt: 3, captain: false }, { id: third, shirt: 2, captain: true, elected: true }, { id: second, shirt: 1 }] // biome-ignore format: a line
  const answer = await current.send(patch('/v1/players', step))
  assert.equal(answer.status, 200, answer.text)
})

test('BLK-2, AUT-15: values by which access rules look records up are not exchanged', async (context) => {
  const current = await trialFor(context, team)
  const codes = [{ code: 'main', closed: true }, { code: 'other', closed: false }] // biome-ignore format: a line
  const { json } = await current.send(post('/v1/locks', codes))
  const [main, other] = json.data.map(({ id }: { id: string }) => id)
  const exchange = patch('/v1/locks', [{ id: other, code: 'main' }, { id: main, code: 'other' }]) // biome-ignore format: a line
  // No lock is changed while the main one is closed.
  assert.equal((await current.send({ ...exchange, as: 'ann' })).status, 403)
  const refused = await current.send(exchange)
  assert.deepEqual([refused.status, places(refused)], [409, ['DUPLICATE_VALUE /0/code', 'DUPLICATE_VALUE /1/code']])
})
