/** The data provider for refine, used by its own hooks. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type CrudFilter,
  type DataProvider,
  Refine,
  useDeleteMany,
  useForm,
  useList,
  useMany,
  useOne,
  useUpdate,
  useUpdateMany,
} from '@refinedev/core'
import { createElement, useEffect } from 'react'
import { render, until } from './headless-react.fixture.ts'
import { RefineError, refineDataProvider } from './refine.ts'
import { serveTasks, tasksOf } from './studio.fixture.ts'

/** Runs a hook within refine. `latest()` is what it returned last. */
function run<Result>(context: TestContext, dataProvider: DataProvider, hook: () => Result) {
  let latest: Result | undefined
  const Probe = () => {
    const result = hook()
    useEffect(() => {
      latest = result
    })
    return null
  }
  const options = {
    disableTelemetry: true,
    reactQuery: { clientConfig: { defaultOptions: { queries: { retry: false } } } },
  }
  const resources = [{ name: 'tasks' }, { name: 'users' }, { name: 'projects' }]
  const remove = render(context, createElement(Refine, { dataProvider, resources, options }, createElement(Probe)))
  return { latest: () => latest, remove }
}

test('a list has filters, a sort, a page and the total', async (context) => {
  const { ann } = await serveTasks(context, ['Measure', 'Order', 'Build', 'Paint'])
  const { latest } = run(context, refineDataProvider(ann), () =>
    useList({
      resource: 'tasks',
      filters: [
        { field: 'status', operator: 'in', value: ['open', 'doing'] },
        { field: 'due_on', operator: 'gte', value: '2027-01-02' },
        { field: 'q', operator: 'contains', value: '' },
      ],
      sorters: [{ field: 'due_on', order: 'desc' }],
      pagination: { currentPage: 2, pageSize: 2 },
    }),
  )
  const { data, total } = await until(() => latest()?.query.isSuccess && latest()?.result, 'the list is read')
  assert.deepEqual([data.map(({ title }) => title), total], [['Order'], 3])
})

const filters: readonly { name: string; filters: readonly CrudFilter[]; expect: readonly string[] | RegExp }[] = [
  { name: 'eq', filters: [{ field: 'title', operator: 'eq', value: 'B' }], expect: /title/ },
  { name: 'ne', filters: [{ field: 'status', operator: 'ne', value: 'open' }], expect: ['C'] },
  { name: 'nin', filters: [{ field: 'status', operator: 'nin', value: ['doing', 'done'] }], expect: ['A', 'B'] },
  {
    name: 'between',
    filters: [{ field: 'due_on', operator: 'between', value: ['2027-01-01', '2027-01-02'] }],
    expect: ['A', 'B'],
  },
  { name: 'null', filters: [{ field: 'assignee_id', operator: 'null', value: true }], expect: ['A', 'B', 'C'] },
  { name: 'nnull', filters: [{ field: 'assignee_id', operator: 'nnull', value: true }], expect: [] },
  {
    name: 'or, of one field',
    filters: [{ operator: 'or', value: ['open', 'done'].map((value) => ({ field: 'status', operator: 'eq', value })) }],
    expect: ['A', 'B'],
  },
  {
    name: 'or, of two fields',
    filters: [
      {
        operator: 'or',
        value: [
          { field: 'status', operator: 'eq', value: 'doing' },
          {
            operator: 'and',
            value: [
              { field: 'due_on', operator: 'between', value: ['2027-01-02', '2027-01-03'] },
              { field: 'status', operator: 'nin', value: ['doing', 'done'] },
              { field: 'estimate', operator: 'eq', value: '' },
            ],
          },
        ],
      },
    ],
    expect: ['B', 'C'],
  },
  {
    name: 'or, of the search',
    filters: [
      {
        operator: 'or',
        value: [
          { field: 'q', operator: 'eq', value: 'A' },
          { field: 'status', operator: 'eq', value: 'open' },
        ],
      },
    ],
    expect: /cannot filter by q within or/,
  },
  {
    name: 'the same comparison twice',
    filters: ['open', 'doing'].map((value) => ({ field: 'status', operator: 'ne', value })),
    expect: [],
  },
  {
    name: 'endswith',
    filters: [{ field: 'title', operator: 'endswith', value: 'x' }],
    expect: /the operator endswith of title/,
  },
]

test('filters are query parameters, and what the interface cannot do is refused', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['A', 'B', 'C'])
  await tasksOf(ann).update(tasks[2]?.id ?? '', { status: 'doing' })
  const { getList } = refineDataProvider(ann)
  for (const { name, filters: given, expect } of filters) {
    await context.test(name, async () => {
      const list = getList({ resource: 'tasks', filters: [...given], pagination: { mode: 'off' } })
      if (expect instanceof RegExp) return assert.rejects(list, { statusCode: 400, message: expect })
      const { data, total } = await list
      assert.deepEqual([data.map(({ title }) => title).sort(), total], [expect, expect.length])
    })
  }
})

test('all records are read where a list has no pages', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['A', 'B', 'C', 'D', 'E'])
  const { getList } = refineDataProvider(ann, { maxPageSize: 2 })
  const sorters = [{ field: 'id', order: 'desc' } as const]
  const { data, total } = await getList({ resource: 'tasks', sorters, pagination: { mode: 'client' } })
  assert.deepEqual([data.map(({ id }) => id), total], [tasks.map(({ id }) => id).reverse(), 5])
})

test('WHR-5: records are read by their ids in one request, and missing ones are left out', async (context) => {
  const { ann, tasks, requests } = await serveTasks(context, ['A', 'B'])
  const ids = [...tasks.map(({ id }) => id), '01a1fe02-0000-7000-8000-000000000000']
  const before = requests.length
  const { latest } = run(context, refineDataProvider(ann, { apiUrl: '/' }), () => useMany({ resource: 'tasks', ids }))
  const { data } = await until(() => latest()?.query.isSuccess && latest()?.result, 'the records are read')
  assert.deepEqual(data, tasks)
  assert.equal(requests.length - before, 1)
})

test('a form shows what the server refuses at its fields', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const { latest } = run(context, refineDataProvider(ann), () =>
    useForm({ resource: 'tasks', action: 'edit', id: tasks[0]?.id ?? '', redirect: false }),
  )
  const { onFinish } = await until(() => latest()?.query?.isSuccess && latest(), 'the form is shown')
  await assert.rejects(onFinish({ title: '', estimate: -1 }), (error) => {
    assert.ok(error instanceof RefineError)
    assert.deepEqual([error.statusCode, Object.keys(error.errors ?? {}).sort()], [400, ['estimate', 'title']])
    assert.match(String(error.errors?.['title']), /^title must/)
    return true
  })
  await onFinish({ title: 'Mine' })
  assert.equal((await tasksOf(ann).get(tasks[0]?.id ?? '')).title, 'Mine')
})

test('a change of a record that somebody else has changed is refused', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const [{ id } = { id: '' }] = tasks
  const provider = refineDataProvider(ann)
  const { latest } = run(context, provider, () => ({
    one: useOne({ resource: 'tasks', id }),
    update: useUpdate().mutateAsync,
  }))
  const { update } = await until(() => latest()?.one.query.isSuccess && latest(), 'the record is read')
  // Without a refetch, which may read what the next change has made.
  await update({ resource: 'tasks', id, values: { title: 'First' }, invalidates: [] })
  await tasksOf(ann).update(id, { estimate: 3 })
  await assert.rejects(provider.update({ resource: 'tasks', id, variables: { title: 'Lost' } }), { statusCode: 412 })
  await assert.rejects(provider.deleteOne({ resource: 'tasks', id }), { statusCode: 412 })
  const { data: previousData } = await provider.getOne({ resource: 'tasks', id })
  await tasksOf(ann).update(id, { estimate: 4 })
  const meta = { previousData: { ...previousData } }
  const late = update({ resource: 'tasks', id, values: { title: 'Lost' }, meta })
  await assert.rejects(late, { statusCode: 412, message: /changed/ })
  assert.equal((await tasksOf(ann).get(id)).title, 'First')
})

test('an optimistic change is shown at once, and taken back if it is refused', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const [{ id } = { id: '' }] = tasks
  const provider = refineDataProvider(ann)
  const { promise: sending, resolve: send } = Promise.withResolvers<void>()
  const update: typeof provider.update = async (params) => {
    await sending
    return provider.update(params)
  }
  const { latest } = run(context, { ...provider, update }, () => ({
    one: useOne({ resource: 'tasks', id }),
    update: useUpdate(),
  }))
  const title = () => latest()?.one.result?.['title']
  const { update: change } = await until(() => title() === 'Measure' && latest(), 'the record is read')
  await tasksOf(ann).update(id, { estimate: 3 })
  change.mutate({ resource: 'tasks', id, values: { title: 'Mine' }, mutationMode: 'optimistic' })
  await until(() => title() === 'Mine', 'the change is shown')
  send()
  await until(() => latest()?.update.mutation.isError && title() === 'Measure', 'the change is taken back')
})

test('several records are created, changed and deleted', async (context) => {
  const { ann, tasks, project, requests } = await serveTasks(context, ['A'])
  const sent = requests.length
  const provider = refineDataProvider(ann)
  const variables = ['B', 'C'].map((title) => ({ title, project_id: project.id, due_on: null }))
  const { data: made } = await provider.createMany({ resource: 'tasks', variables })
  const ids = [...tasks, ...made].map(({ id }) => String(id))
  const { latest } = run(context, provider, () => ({
    update: useUpdateMany().mutateAsync,
    remove: useDeleteMany().mutateAsync,
  }))
  const { update, remove } = await until(latest, 'the hooks are there')
  await update({ resource: 'tasks', ids, values: { status: 'done', due_on: null } })
  assert.deepEqual(requests.slice(sent), ['POST /v1/tasks', 'PATCH /v1/tasks'])
  const { data } = await tasksOf(ann).list({ sort: 'title' })
  assert.deepEqual(
    data.map(({ title, status, due_on }) => [title, status, due_on]),
    ['A', 'B', 'C'].map((title) => [title, 'done', null]),
  )
  await tasksOf(ann).update(ids[0] ?? '', { status: 'open' })
  await assert.rejects(update({ resource: 'tasks', ids, values: { status: 'doing' } }), {
    statusCode: 409,
    message: /done/,
  })
  assert.equal((await tasksOf(ann).get(ids[0] ?? ''))['status'], 'open')
  await assert.rejects(remove({ resource: 'projects', ids: [project.id] }), {
    message: 'Close or move the open tasks first.',
  })
  await remove({ resource: 'tasks', ids })
  assert.equal((await tasksOf(ann).list()).pagination.total_count, 0)
})

test('deleted records are listed and restored', async (context) => {
  const { ann, admin } = await serveTasks(context, [])
  const provider = refineDataProvider(admin)
  const { data: project } = await provider.create({ resource: 'projects', variables: { name: 'Wall' } })
  const id = String(project.id)
  await provider.deleteOne({ resource: 'projects', id })
  const deleted: CrudFilter[] = [{ field: 'deleted_at', operator: 'nnull', value: true }]
  const { data } = await provider.getList({ resource: 'projects', filters: deleted })
  assert.deepEqual(
    data.map(({ name }) => name),
    ['Wall'],
  )
  const { data: restored } = await provider.update({ resource: 'projects', id, variables: { deleted_at: null } })
  assert.equal(restored['name'], 'Wall')
  assert.equal((await provider.getList({ resource: 'projects', filters: deleted })).total, 0)
  assert.equal((await ann['projects']!.list({ q: 'wall' })).pagination.total_count, 0)
})

test('REL-2: related records come with their record, and a change of it sends nothing of them', async (context) => {
  const { ann, project } = await serveTasks(context, ['A', 'B'])
  const provider = refineDataProvider(ann)
  const meta = { include: ['project'], fields: ['title'] }
  const { data } = await provider.getList({ resource: 'tasks', meta, sorters: [{ field: 'title', order: 'desc' }] })
  assert.deepEqual(
    data.map(({ title, project: { name } }) => [title, name]),
    [
      ['B', 'Roof'],
      ['A', 'Roof'],
    ],
  )
  const one = await provider.getOne({ resource: 'projects', id: project.id, meta: { include: 'tasks' } })
  assert.equal(one.data['tasks'].total, 2)
  const variables = { ...one.data, name: 'Wall' }
  assert.equal((await provider.update({ resource: 'projects', id: project.id, variables })).data['name'], 'Wall')
  const many = await provider.getMany!({
    resource: 'tasks',
    ids: data.map(({ id }) => id!),
    meta: { include: 'project' },
  })
  assert.deepEqual(
    many.data.map((each) => each['project'].name),
    ['Wall', 'Wall'],
  )
})

test('reads end when nobody waits for them', async (context) => {
  const { ann } = await serveTasks(context, [])
  const signals: (AbortSignal | undefined)[] = []
  const list = (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
    signals.push(signal)
    return new Promise(() => undefined)
  }
  const provider = refineDataProvider({ caller: ann.caller, tasks: { list } } as never)
  const { remove } = run(context, provider, () => useList({ resource: 'tasks' }))
  const [signal] = await until(() => signals.length > 0 && signals, 'the list is asked for')
  assert.equal(signal?.aborted, false)
  remove()
  await until(() => signal?.aborted, 'the request ends')
})
