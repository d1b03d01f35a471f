/** SUM-2: a summary is made of what the caller may read. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference, Type } from 'resourced-contract/model/type'
import { type Trial, trialFor } from '../harness.ts'

const office = defineInterface({
  name: 'office',
  resources: {
    teams: {
      fields: { name: Type.String(), lead_id: Type.String({ readOnly: true }) },
      owner: 'lead_id',
      access: { read: ['owner', 'role:editor'], create: 'anyone' },
    },
    orders: {
      fields: {
        status: Type.Enum(['open', 'paid']),
        price: Type.Integer({ filter: true }),
        cost: Type.Optional(Type.Integer({ filter: true, sort: true })),
        grade: Type.Optional(Type.Enum(['a', 'b'])),
        note: Type.Optional(Type.String({ search: true, filter: true })),
        team_id: reference('teams', { requires: 'none' }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      access: {
        ...{ read: ['owner', { through: 'team_id', action: 'read' }], create: 'anyone', update: 'anyone' },
        fields: {
          cost: { read: 'role:editor' },
          grade: { read: ['role:editor', { where: { status: 'paid' } }] },
          note: { read: 'owner' },
        },
      },
    },
    secrets: { fields: { kind: Type.Enum(['x', 'y']) } },
  },
})

async function filled({ make }: Trial): Promise<{ readonly team: string }> {
  const team = (await make('teams', { name: 'T' }, 'bob')).id
  const other = (await make('teams', { name: 'U' }, 'root')).id
  const orders = [
    [{ status: 'open', price: 5, cost: 1, note: 'red', team_id: team }, 'root'],
    [{ status: 'paid', price: 7, cost: 2, grade: 'a', note: 'red', team_id: other }, 'root'],
    [{ status: 'open', price: 11, note: 'red', team_id: team }, 'bob'],
  ] as const
  for (const [order, as] of orders) await make('orders', order, as)
  await make('orders', { status: 'paid', price: 13, note: 'blue', team_id: team }, 'bob')
  return { team }
}

it('SUM-2: only records that the caller may read count, and no group of others appears', async (context) => {
  const trial = await trialFor(context, office)
  await filled(trial)
  const table: [query: string, as: string, rows: unknown[]][] = [
    ['sum=price', 'root', [{ group: {}, count: 2, sum: { price: '12' } }]],
    ['sum=price', 'bob', [{ group: {}, count: 3, sum: { price: '29' } }]],
    ['sum=price', 'ann', [{ group: {}, count: 0, sum: { price: null } }]],
    ['group=status', 'ann', []],
    ['group=status', 'root', ['open', 'paid'].map((status) => ({ group: { status }, count: 1 }))],
    // A text that the caller may not read is not searched either.
    ['q=red', 'bob', [{ group: {}, count: 1 }]],
    ['q=red', 'eve', [{ group: {}, count: 0 }]],
  ]
  for (const [query, as, rows] of table) {
    const answer = await trial.send({ path: `/v1/orders/summary?${query}`, as })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.json.data, rows, `${query} as ${as}`)
  }
  const groups = async () => {
    const { json, headers } = await trial.send({ path: '/v1/orders/summary?group=team_id', as: 'bob' })
    return { json, tag: headers['etag'] }
  }
  const before = await groups()
  assert.equal(before.json.pagination.total_count, 1)
  // What the caller may not read does not move the tag.
  const hidden = (await trial.make('teams', { name: 'V' }, 'root')).id
  await trial.make('orders', { status: 'open', price: 1, team_id: hidden }, 'root')
  assert.deepEqual(await groups(), before)
})

it('SUM-2: a field that is not readable in every record is 403, wherever it stands', async (context) => {
  const trial = await trialFor(context, office)
  await filled(trial)
  const queries = [
    ...['group=grade', 'sum=cost', 'avg=cost', 'min=cost', 'max=cost&sort=max.cost', 'cost[gte]=1', 'grade=a'],
    ...['note[contains]=r', 'min=note', 'where={"or":[{"price":1},{"not":{"cost":1}}]}', 'group=grade:day'],
  ]
  for (const query of queries) {
    const { status, json, text } = await trial.send({ path: `/v1/orders/summary?${query}`, as: 'bob' })
    assert.equal(status, query === 'group=grade:day' ? 400 : 403, text)
    if (status === 403) assert.deepEqual([json.code, json.errors.length], ['FORBIDDEN', 1], query)
  }
  const editor = await trial.send({ path: '/v1/orders/summary?group=grade&sum=cost', as: 'eve' })
  assert.deepEqual(editor.json.data, [
    { group: { grade: 'a' }, count: 1, sum: { cost: '2' } },
    { group: { grade: null }, count: 3, sum: { cost: '1' } },
  ])
  for (const path of ['/v1/secrets/summary', '/v1/secrets/summary?group=kind'])
    assert.equal((await trial.send({ path, as: 'ann' })).status, 403)
  assert.equal((await trial.send({ path: '/v1/orders/summary', as: null })).status, 401)
})
