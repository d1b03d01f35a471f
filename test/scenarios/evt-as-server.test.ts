/** EVT-12: `client.asServer()`, by which functions of the declaration act with the rights of the server itself. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { AuthorizationRequest, CallerView, EventContext } from 'resourced-contract/model/declared-functions'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { createApp } from '../../packages/server/src/server/create-app.ts'
import { type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

type Client = EventContext['client']
type Collections = ReturnType<Client['asServer']>

/** Orders that nobody may touch, and tasks whose creation runs what a test gives. */
function declared(run: (client: Client) => Promise<unknown>) {
  const asked: AuthorizationRequest[] = []
  const checked: CallerView[] = []
  const declaration = defineInterface({
    name: 'store',
    resources: {
      tasks: {
        fields: { text: Type.String() },
        access: { create: 'anyone', read: 'anyone' },
        events: true,
        on: { created: async ({ client }) => void (await run(client)) },
      },
      customers: { fields: { name: Type.String() }, access: { read: 'nobody', create: 'nobody' } },
      orders: {
        fields: {
          title: Type.String({ unique: true, maxLength: 20 }),
          total: Type.Integer({ readOnly: true, default: 0, minimum: 0 }),
          state: Type.Enum(['open', 'paid', 'sent'], {
            default: 'open',
            transitions: { open: ['paid'], paid: ['sent'] },
          }),
          place: Type.Optional(Type.String({ immutable: true })),
          pin: Type.Optional(Type.String({ writeOnly: true })),
          hidden: Type.Optional(Type.String()),
          paid_by: Type.Optional(Type.String({ readOnly: true })),
          made_by: Type.String({ set: { onCreate: { caller: 'claims.name' } } }),
          changed_by: Type.Optional(Type.String({ set: { onUpdate: { caller: 'id' } } })),
          number: Type.Sequence({}),
          customer_id: Type.Optional(reference('customers', { onDelete: 'restrict' })),
          owner_id: Type.String({ readOnly: true }),
        },
        owner: 'owner_id',
        preconditions: 'required',
        access: {
          ...{ read: 'nobody', create: 'nobody', update: 'nobody', delete: 'nobody' },
          fields: { hidden: { read: 'nobody', write: 'nobody' } },
        },
        events: true,
        rules: [
          {
            on: ['create', 'update', 'delete'],
            check: ({ current, next, caller }) => {
              checked.push(caller)
              if (next?.total === 13) return { code: 'UNLUCKY', message: 'No.' }
              return next === undefined && current?.total === 7 ? { code: 'KEPT', message: 'No.' } : undefined
            },
          },
        ],
      },
    },
    authorize: (request) => {
      asked.push(request)
      return request.collection !== 'tasks' || request.action !== 'delete'
    },
  })
  return { declaration, asked, checked }
}

const settled = ({ app }: Trial) => app.deliveries?.settle()

/** Runs a function of the declaration once, and gives what it returned. */
async function ran<Result>(context: TestContext, run: (client: Client) => Promise<Result>) {
  const results: Promise<Result>[] = []
  const { declaration, asked, checked } = declared((client) => {
    const result = run(client)
    results.push(result)
    return result.catch(() => {})
  })
  const current = await trialFor(context, declaration)
  await settled(current)
  await current.make('tasks', { text: 'a' })
  await settled(current)
  assert.equal(results.length, 1)
  return { current, result: await (results[0] as Promise<Result>), asked, checked }
}

const refused = (action: Promise<unknown>) =>
  action.then(
    () => assert.fail('it was not refused'),
    ({ status, code, errors }) => [status, code, errors.map((each: { pointer?: string }) => each.pointer ?? '').sort()],
  )

const whole = { title: 'A', total: 5, paid_by: 'ann', made_by: 'bob', owner_id: 'ann', pin: '0000', hidden: 'x' }

it('EVT-12: the server itself sets read-only fields, whatever access rules and preconditions say', async (context) => {
  const { result } = await ran(context, async (client) => {
    const { orders, customers } = client.asServer() as Required<Collections>
    const { id: customer } = await customers!.create({ name: 'C' })
    const made = await orders!.create({ ...whole, customer_id: customer })
    const id = String(made['id'])
    const changed = await orders!.update(id, { total: 6, paid_by: null, state: 'paid', hidden: 'y' })
    const same = await orders!.update(id, { total: 6 })
    const given = await orders!.update(id, { changed_by: 'ann', made_by: 'eve' })
    const { data } = await orders!.list({ id })
    const read = await orders!.get(id)
    await orders!.delete(id)
    const events = await client.asServer()['events']!.list({ record: id })
    return { made, changed, same, given, data, read, customer, kinds: events.data.map(({ kind }) => kind) }
  })
  const { made, changed, same, given, data, read, customer, kinds } = result
  const { id, created_at, updated_at, ...fields } = made
  assert.deepEqual(fields, {
    ...{ title: 'A', total: 5, state: 'open', place: null, hidden: 'x', paid_by: 'ann', made_by: 'bob' },
    ...{ changed_by: null, number: 1, customer_id: customer, owner_id: 'ann' },
  })
  assert.ok(typeof id === 'string' && created_at === updated_at)
  const { total, paid_by, state, hidden, changed_by } = changed
  assert.deepEqual([total, paid_by, state, hidden, changed_by], [6, null, 'paid', 'y', 'server'])
  assert.deepEqual(same, changed)
  assert.deepEqual([given['changed_by'], given['made_by'], given['total']], ['ann', 'eve', 6])
  assert.deepEqual([data, read], [[given], given])
  assert.deepEqual(kinds, ['created', 'updated', 'updated', 'deleted'])
})

it('EVT-12: the client without asServer() is an administrator like every other', async (context) => {
  const { result } = await ran(context, async (client) => {
    const { orders } = client as Required<Collections>
    const made = await client.asServer()['orders']!.create(whole)
    const id = String(made['id'])
    return [
      await refused(orders!.create(whole)),
      await refused(orders!.get(id)),
      await refused(orders!.update(id, { total: 1 })),
      await refused(orders!.delete(id)),
      await refused(client['tasks']!.create({ text: 'b', created_at: '2026-01-01T00:00:00.000Z' })),
    ]
  })
  assert.deepEqual(result, [...Array(4).fill([403, 'FORBIDDEN', []]), [400, 'VALIDATION_FAILED', ['/created_at']]])
})

it('EVT-12: every other rule holds for the server itself', async (context) => {
  const { result, checked, asked } = await ran(context, async (client) => {
    const { orders, customers } = client.asServer() as Required<Collections>
    const { id: customer } = await customers!.create({ name: 'C' })
    const made = await orders!.create({ ...whole, place: 'North', customer_id: customer })
    const kept = await orders!.create({ ...whole, title: 'B', total: 7, state: 'sent' })
    const id = String(made['id'])
    return [
      await refused(orders!.create({ ...whole, title: 'A' })),
      await refused(orders!.create({ ...whole, title: 'C', customer_id: nowhere })),
      await refused(
        orders!.create({ ...whole, title: 'C', total: -1, number: 9, id, created_at: made['created_at'], odd: 1 }),
      ),
      await refused(orders!.create({ ...whole, title: 'C', total: 13 })),
      await refused(orders!.create({ title: 'C' })),
      await refused(orders!.update(id, { place: 'South', number: 9 })),
      await refused(orders!.update(id, { state: 'sent' })),
      await refused(orders!.update(nowhere, { total: 1 })),
      await refused(orders!.delete(String(kept['id']))),
      await refused(customers!.delete(String(customer))),
      await refused(client.asServer()['tasks']!.delete(nowhere)),
      [Object.keys(made).includes('pin'), (await orders!.list({ sort: 'created_at' })).data.length],
    ]
  })
  assert.deepEqual(result, [
    [409, 'DUPLICATE_VALUE', ['/title']],
    [400, 'VALIDATION_FAILED', ['/customer_id']],
    [400, 'VALIDATION_FAILED', ['/created_at', '/id', '/number', '/odd', '/total']],
    [409, 'UNLUCKY', ['']],
    // Its attribute `claims.name` would set the field, and it has none.
    [403, 'FORBIDDEN', []],
    [400, 'VALIDATION_FAILED', ['/number', '/place']],
    [409, 'INVALID_TRANSITION', ['/state']],
    [404, 'NOT_FOUND', []],
    [409, 'KEPT', ['']],
    [409, 'HAS_DEPENDENTS', ['']],
    // The function `authorize` is asked about it as about everybody.
    [403, 'FORBIDDEN', []],
    [false, 2],
  ])
  assert.deepEqual(new Set(checked.map(({ id, roles }) => `${id} ${roles}`)), new Set(['server admin']))
  assert.ok(asked.some(({ caller, action }) => caller.id === 'server' && action === 'delete'))
})

it('EVT-12: nobody becomes the server by what a request or a program says', async (context) => {
  const { declaration } = declared(async () => {})
  const impostor = { id: 'server', roles: ['admin'], claims: { credential: 'server' }, credential: 'server' }
  const { send } = await trialFor(context, declaration, { authenticate: () => impostor })
  assert.equal((await send({ path: '/v1/orders', as: null })).status, 403)
  const { json } = await send({ path: '/v1/caller', as: null })
  assert.deepEqual([json.credential, json.permissions.orders.read.granted], ['own', 'none'])
  const app = createApp(declaration, { database: 'sqlite::memory:', log: false })
  context.after(() => app.close())
  const client = app.as(impostor)
  assert.deepEqual(await refused(client['orders']!.list()), [403, 'FORBIDDEN', []])
  assert.equal(client['asServer']?.constructor, Object)
})
