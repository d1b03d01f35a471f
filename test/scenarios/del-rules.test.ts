/** DEL: business rules and transitions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference, Type } from 'resourced-contract/model/type'
import { counters, forest, studio } from '../declarations.ts'
import { places, type Received, scenarios, type Trial, trialFor } from '../harness.ts'
import { stateOf } from '../steps.ts'

it('DEL-4: a rule "none" blocks while a record matches', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'One' })
  const other = await make('projects', { name: 'Two' })
  const open = await make('tasks', { title: 'Open', project_id: project.id })
  const path = `/v1/projects/${project.id}`
  const before = await stateOf(current, ['projects', 'tasks'])
  const blocked = await send({ method: 'DELETE', path })
  assert.deepEqual(
    [blocked.status, blocked.json.code, ...places(blocked)],
    [409, 'PROJECT_HAS_OPEN_TASKS', 'PROJECT_HAS_OPEN_TASKS'],
  )
  assert.equal(blocked.json.detail, 'Close or move the open tasks first.')
  assert.deepEqual(await stateOf(current, ['projects', 'tasks']), before)
  assert.equal(
    (await send({ method: 'DELETE', path: `/v1/projects/${other.id}` })).status,
    204,
    'another’s tasks do not matter',
  )
  await send({ method: 'PATCH', path: `/v1/tasks/${open.id}`, body: { status: 'done' } })
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.equal((await send({ path: `/v1/tasks/${open.id}` })).status, 404, 'done tasks go along')
})

it('DEL-4: a rule "some" blocks until a record matches', async (context) => {
  const { send, make } = await trialFor(context, counters)
  const create = () => send({ path: '/v1/counters', body: { name: 'c' } })
  const first = await create()
  assert.deepEqual([first.status, first.json.code], [409, 'GROUP_MISSING'])
  const group = await make('groups', { name: 'g', open: false })
  assert.equal((await create()).status, 409)
  await send({ method: 'PATCH', path: `/v1/groups/${group.id}`, body: { open: true } })
  assert.equal((await create()).status, 201)
  await send({ method: 'DELETE', path: `/v1/groups/${group.id}` })
  assert.equal((await send({ path: '/v1/counters', body: { name: 'd' } })).status, 409, 'deleted ones do not count')
})

it('DEL-4: a rule on the record itself blocks', async (context) => {
  const { send, make } = await trialFor(context, counters)
  await make('groups', { name: 'g' })
  const { id } = await make('counters', { name: 'c', locked: true })
  const path = `/v1/counters/${id}`
  const blocked = await send({ method: 'DELETE', path })
  assert.deepEqual([blocked.status, blocked.json.code], [409, 'COUNTER_LOCKED'])
  assert.equal((await send({ path })).status, 200)
  await send({ method: 'PATCH', path, body: { locked: false } })
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
})

it('DEL-4: rules of cascaded records apply too', async (context) => {
  const rules = [
    {
      on: 'delete' as const,
      code: 'FILE_KEPT',
      message: 'This file stays.',
      unless: { where: { name: { not: 'Kept' } } },
    },
  ]
  const files = { ...forest.resources.files, rules }
  const current = await trialFor(context, { ...forest, resources: { ...forest.resources, files } })
  const { send, make } = current
  const folder = await make('folders', { name: 'Folder' })
  await make('files', { name: 'Kept', folder_id: folder.id })
  const before = await stateOf(current, ['folders', 'files'])
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${folder.id}` })
  assert.deepEqual([blocked.status, blocked.json.code], [409, 'FILE_KEPT'])
  assert.deepEqual(await stateOf(current, ['folders', 'files']), before)
})

it('DEL-4: one response names all blockers', async (context) => {
  const rules = [
    {
      on: 'delete' as const,
      code: 'FOLDER_KEPT',
      message: 'This folder stays.',
      unless: { where: { name: { not: 'Kept' } } },
    },
  ]
  const folders = { ...forest.resources.folders, rules }
  const { send, make, seen } = await trialFor(context, { ...forest, resources: { ...forest.resources, folders } })
  const { id } = await make('folders', { name: 'Kept' })
  await make('folders', { name: 'Twin', twin_id: id })
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${id}` })
  assert.deepEqual(
    [blocked.status, blocked.json.code, places(blocked).sort()],
    [409, 'CONFLICT', ['FOLDER_KEPT', 'HAS_DEPENDENTS']],
  )
  const logged = seen.at(-1)
  assert.equal(logged?.kind === 'request' && logged.code, 'CONFLICT', 'the log says what the caller was told')
})

const prepared = (count: number, then: (path: string, trial: Trial) => Promise<Received>) => async (current: Trial) => {
  await current.make('groups', { name: 'g' })
  const { id } = await current.make('counters', { name: 'c', count })
  return then(`/v1/counters/${id}`, current)
}

it('DEL-4: a rule that is a function gets the record before and after, and the caller', async (context) => {
  const current = await trialFor(context, counters)
  const set =
    (count: number, as: string) =>
    (path: string, { send }: Trial) =>
      send({ method: 'PATCH', path, body: { count }, as })
  const back = await prepared(5, async (path, trial) => {
    assert.equal((await set(6, 'ann')(path, trial)).status, 200)
    assert.equal((await set(6, 'ann')(path, trial)).status, 200)
    const refused = await set(2, 'ann')(path, trial)
    assert.equal((await trial.send({ path })).json.count, 6)
    assert.equal((await set(2, 'root')(path, trial)).status, 200, 'an administrator may')
    return refused
  })(current)
  assert.deepEqual([back.status, back.json.code, ...places(back)], [409, 'COUNTS_UP_ONLY', 'COUNTS_UP_ONLY /count'])
  const first = await current.send({ path: '/v1/counters', body: { name: 'd', count: -1 }, as: 'ann' })
  assert.deepEqual([first.status, first.json.code], [409, 'COUNTS_UP_ONLY'], 'also on creation')
})

it('DEL-4: a violated rule is a 409 with any code', async (context) => {
  const current = await trialFor(context, counters)
  const answer = await prepared(1, (path, { send }) => send({ method: 'PATCH', path, body: { count: 404 } }))(current)
  assert.deepEqual([answer.status, answer.json.status, answer.json.code], [409, 409, 'NOT_FOUND'])
})

it('DEL-4: rules are checked only for valid changes', async (context) => {
  const current = await trialFor(context, counters)
  const answer = await prepared(1, (path, { send }) =>
    send({ method: 'PATCH', path, body: { count: 'select', name: 5 } }),
  )(current)
  assert.deepEqual([answer.status, ...places(answer)], [400, 'INVALID_TYPE /name', 'INVALID_TYPE /count'])
})

/** From which state to which: declared are open → doing, done; doing → open, done; done → open. */
const transitions: readonly [string, string, boolean][] = [
  ['open', 'open', true],
  ['open', 'doing', true],
  ['open', 'done', true],
  ['doing', 'open', true],
  ['doing', 'done', true],
  ['done', 'open', true],
  ['done', 'doing', false],
  ['done', 'done', true],
]

scenarios(
  studio,
  transitions.flatMap(([from, to, allowed]) =>
    ['PUT', 'PATCH'].map((method) => ({
      name: `${method} from ${from} to ${to} is ${allowed ? 'allowed' : 'a conflict'}`,
      rule: 'DEL-4',
      send: async ({ make }: Trial) => {
        const { id } = await make('projects', { name: 'One' })
        const task = await make('tasks', { title: 'T', project_id: id, status: from })
        const body = method === 'PUT' ? { title: 'T', project_id: id, status: to } : { status: to }
        return { method, path: `/v1/tasks/${task.id}`, body }
      },
      status: allowed ? 200 : 409,
      ...(allowed ? {} : { code: 'INVALID_TRANSITION', errors: ['INVALID_TRANSITION /status'] }),
      check: async (_: Received, { send }: Trial) => {
        assert.equal((await send({ path: '/v1/tasks' })).json.data[0].status, allowed ? to : from)
      },
    })),
  ),
)

it('DEL-4: a PUT without the state resets it to the default, if that is an allowed transition', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const task = await make('tasks', { title: 'T', project_id: id, status: 'done' })
  const put = await send({ method: 'PUT', path: `/v1/tasks/${task.id}`, body: { title: 'T', project_id: id } })
  assert.deepEqual([put.status, put.json.status], [200, 'open'])
})

it('DEL-4: a rule with "when" applies to records that match, as the change leaves them', async (context) => {
  const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
  const plant = defineInterface({
    name: 'plant',
    resources: {
      lines: { fields: { name: Type.String(), running: Type.Boolean({ default: false }) }, access: anyone },
      orders: {
        fields: {
          text: Type.Optional(Type.String()),
          state: Type.Optional(Type.Enum(['draft', 'sent', 'paid'])),
          line_id: Type.Optional(reference('lines')),
          owner_id: Type.String({ readOnly: true }),
        },
        owner: 'owner_id',
        access: anyone,
        rules: [
          {
            on: ['create', 'update', 'restore'],
            code: 'LINE_STANDS',
            message: 'The line does not run.',
            when: { line_id: { null: false } },
            unless: { some: 'lines', where: { id: { record: 'line_id' }, running: true } },
          },
          {
            on: ['create', 'update', 'delete'],
            code: 'TEXT_MISSING',
            message: 'An order that was sent has a text.',
            when: { not: { state: 'draft' } },
            unless: { where: { text: { null: false } } },
          },
          {
            on: 'delete',
            code: 'NOT_YOURS',
            message: 'Who has not made a paid order keeps it.',
            when: { state: 'paid', not: { owner_id: { caller: 'id' } } },
            unless: { where: { state: 'draft' } },
          },
        ],
      },
    },
  })
  const { send, make } = await trialFor(context, plant)
  const line = await make('lines', { name: 'a' })
  const run = (running: boolean) => send({ method: 'PATCH', path: `/v1/lines/${line.id}`, body: { running } })
  const told = ({ status, ...answer }: Received) => [status, ...places({ status, ...answer })]
  const create = async (body: object) => told(await send({ path: '/v1/orders', body, as: 'ann' }))
  // Without a line there is nothing to ask for, and whether no state is a draft is unknown.
  assert.deepEqual(await create({}), [201])
  assert.deepEqual(await create({ line_id: line.id }), [409, 'LINE_STANDS'])
  assert.deepEqual(await create({ line_id: line.id, state: 'sent' }), [409, 'LINE_STANDS', 'TEXT_MISSING'])
  assert.deepEqual(await create({ state: 'draft' }), [201])

  const order = await make('orders', { state: 'draft' }, 'ann')
  const path = `/v1/orders/${order.id}`
  const change = async (body: object) => told(await send({ method: 'PATCH', path, body, as: 'ann' }))
  // What counts is the record after the change.
  assert.deepEqual(await change({ state: 'sent' }), [409, 'TEXT_MISSING'])
  assert.deepEqual(await change({ state: 'sent', text: 'a' }), [200])
  assert.deepEqual(await change({ state: 'draft', text: null }), [200])
  assert.deepEqual(await change({ line_id: line.id }), [409, 'LINE_STANDS'])
  await run(true)
  assert.deepEqual(await change({ line_id: line.id, state: 'paid', text: 'a' }), [200])

  const remove = async (as: string) => (await send({ method: 'DELETE', path, as })).status
  assert.equal(await remove('bob'), 409)
  assert.equal(await remove('ann'), 204)
  await run(false)
  const restore = async () => told(await send({ method: 'POST', path: `${path}/restore`, as: 'ann' }))
  assert.deepEqual(await restore(), [409, 'LINE_STANDS'])
  await run(true)
  assert.deepEqual(await restore(), [200])
})
