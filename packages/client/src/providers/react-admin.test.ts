/** The data provider for react-admin, used by its own hooks. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  CoreAdminContext,
  EditBase,
  Form,
  memoryStore,
  setSubmissionErrors,
  TestMemoryRouter,
  useDeleteMany,
  useGetList,
  useGetManyReference,
  useGetOne,
  useReference,
  useSaveContext,
  useUpdate,
  useUpdateMany,
} from 'ra-core'
import { createElement, type ReactNode, useEffect } from 'react'
import { useFormContext, useFormState } from 'react-hook-form'
import { render, until } from './headless-react.fixture.ts'
import { type ReactAdminDataProvider, ReactAdminError, reactAdminDataProvider } from './react-admin.ts'
import { serveTasks, tasksOf } from './studio.fixture.ts'

/** Runs a hook within react-admin, and within other components. `latest()` is what it returned last. */
function run<Result>(
  context: TestContext,
  dataProvider: ReactAdminDataProvider,
  hook: () => Result,
  within = (probe: ReactNode) => probe,
) {
  // react-admin prints the errors that its hooks return, which the tests expect.
  const { error: print } = console
  context.mock.method(console, 'error', (...given: unknown[]) => {
    if (!(given[0] instanceof ReactAdminError)) print(...given)
  })
  let latest: Result | undefined
  const Probe = () => {
    const result = hook()
    useEffect(() => {
      latest = result
    })
    return null
  }
  const admin = createElement(CoreAdminContext, { dataProvider, store: memoryStore() }, within(createElement(Probe)))
  const remove = render(context, createElement(TestMemoryRouter, null, admin))
  return { latest: () => latest, remove }
}

test('a list has filters, a sort, a page and the total', async (context) => {
  const { ann } = await serveTasks(context, ['Measure', 'Order', 'Build', 'Paint'])
  const provider = reactAdminDataProvider(ann)
  const { latest } = run(context, provider, () =>
    useGetList('tasks', {
      filter: { status: ['open', 'doing'], due_on: { gte: '2027-01-02' }, q: '' },
      sort: { field: 'due_on', order: 'DESC' },
      pagination: { page: 2, perPage: 2 },
    }),
  )
  const { data, total } = await until(() => latest()?.data && latest(), 'the list is read')
  assert.deepEqual([data?.map(({ title }) => title), total], [['Order'], 3])
})

test('a list that is longer than a page is read in parts', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['A', 'B', 'C', 'D', 'E'])
  const provider = reactAdminDataProvider(ann, { maxPageSize: 2 })
  const sort = { field: 'id', order: 'DESC' } as const
  const whole = await provider.getList('tasks', { sort, pagination: { page: 1, perPage: 1000 } })
  assert.deepEqual(
    whole.data.map(({ id }) => id),
    tasks.map(({ id }) => id).reverse(),
  )
  const second = await provider.getList('tasks', { sort, pagination: { page: 2, perPage: 3 } })
  assert.deepEqual([second.data.map(({ title }) => title), second.total], [['B', 'A'], 5])
})

test('references are read together, once each, and missing ones are left out', async (context) => {
  const { ann, admin, tasks, project } = await serveTasks(context, ['Measure'])
  const provider = reactAdminDataProvider(ann)
  const user = await admin['users']!.create({ name: 'Bea', email: 'bea@example.org' })
  const { latest } = run(context, provider, () => ({
    bea: useReference({ reference: 'users', id: user.id }),
    again: useReference({ reference: 'users', id: user.id }),
    nobody: useReference({ reference: 'users', id: '01a1fe02-0000-7000-8000-000000000000' }),
    tasks: useGetManyReference('tasks', { target: 'project_id', id: project.id }),
  }))
  const {
    bea,
    again,
    nobody,
    tasks: found,
  } = await until(() => {
    const results = latest()
    return results?.bea.referenceRecord && results.tasks.data && !results.nobody.isPending && results
  }, 'the references are read')
  assert.deepEqual([bea.referenceRecord, again.referenceRecord], [user, user])
  assert.equal(nobody.referenceRecord, undefined)
  assert.deepEqual([found.data?.map(({ id }) => id), found.total], [[tasks[0]?.id], 1])
})

test('WHR-5: many references are read by one request for each page of them, and what may not be read is left out', async (context) => {
  const { ann, admin, requests } = await serveTasks(context, [])
  const users = await Promise.all(
    Array.from({ length: 5 }, (_, index) =>
      admin['users']!.create({ name: `U${index}`, email: `u${index}@example.org` }),
    ),
  )
  const hidden = await admin['projects']!.create({ name: 'Hidden' })
  const [first, ...others] = users.map(({ id }) => id)
  const odd = ['', 'new', 7, '01a1fe02-0000-7000-8000-000000000000', first as string]
  const ids = [...others.toReversed(), ...odd]
  const before = requests.length
  const { data } = await reactAdminDataProvider(ann, { maxPageSize: 3 }).getMany('users', {
    ids,
    meta: { fields: ['name'] },
  })
  assert.deepEqual(data.map(({ name }) => name), ['U4', 'U3', 'U2', 'U1', 'U0']) // biome-ignore format: a line
  assert.equal(requests.length - before, 2)
  const all = await reactAdminDataProvider(ann).getMany('users', { ids: users.map(({ id }) => id) })
  assert.deepEqual(all.data, users)
  assert.equal(requests.length - before, 3)
  assert.deepEqual((await reactAdminDataProvider(ann).getMany('projects', { ids: [hidden.id] })).data, [])
  const { data: none } = await reactAdminDataProvider(ann).getMany('jobs', { ids: odd })
  assert.deepEqual(none, [])
})

test('REL-2: related records come with their record, and a change of it sends nothing of them', async (context) => {
  const { ann, project, tasks, requests } = await serveTasks(context, ['Measure', 'Order'])
  const provider = reactAdminDataProvider(ann)
  const meta = { include: ['project'], fields: ['title'], 'fields[project]': ['name'] }
  const before = requests.length
  const sort = { field: 'title', order: 'ASC' } as const
  const found = await provider.getManyReference('tasks', {
    ...{ target: 'project_id', id: project.id, sort, meta, filter: { due_on: { gte: '2027-01-02' } } },
    pagination: { page: 1, perPage: 10 },
  })
  assert.deepEqual(
    [found.total, found.data],
    [1, [{ id: tasks[1]!.id, title: 'Order', project: { id: project.id, name: 'Roof' } }]],
  )
  // The second one reads the names of relations, once.
  assert.equal(requests.length - before, 2)
  const { data } = await provider.getOne('projects', {
    id: project.id,
    meta: { include: 'tasks', 'include[tasks][limit]': 1, 'include[tasks][sort]': '-title' },
  })
  assert.deepEqual([data['tasks'][0].title, data['tasks'].length, data['tasks'].total], ['Order', 1, 2])
  const [listed] = (await provider.getMany('tasks', { ids: [tasks[0]!.id], meta: { include: 'project' } })).data
  // A copy, as a form has it.
  const previousData = structuredClone({ ...listed!, project: { ...listed!['project'] } })
  const changed = await provider.update('tasks', {
    ...{ id: listed!.id, previousData, data: { ...previousData, title: 'Weigh' } },
  })
  assert.equal(changed.data['title'], 'Weigh')
})

test('WHR-1, WHR-2: filters name fields of related records, and conditions', async () => {
  const queries: unknown[] = []
  const list = async (query: unknown) => {
    queries.push(query)
    return { data: [], pagination: { total_count: 0 } }
  }
  const provider = reactAdminDataProvider({ caller: {}, books: { list } } as never)
  const where = { or: [{ status: 'open' }, { author: { name: 'A' } }] }
  const filter = { author: { born: { gte: 1920 }, name: 'B', country: { code: { in: ['x'] } } }, where, 'a.b': 1 }
  await provider.getList('books', { filter, sort: { field: 'author.name', order: 'DESC' } })
  assert.deepEqual(queries, [
    {
      ...{ 'author.born[gte]': 1920, 'author.name': 'B', 'author.country.code[in]': ['x'], where, 'a.b': 1 },
      ...{ sort: '-author.name', offset: 0, limit: 25 },
    },
  ])
})

test('a resource that the client does not have is named, with the remedy', async () => {
  const named = /no collection "tasks".*createClient\(\).*name the resource/
  for (const client of [{}, { caller: { get: async () => ({}) } }, { tasks: {} }]) {
    const provider = reactAdminDataProvider(client as never)
    await assert.rejects(provider.getOne('tasks', { id: '1' }), named)
    await assert.rejects(provider.getList('tasks', {}), named)
    await assert.rejects(provider.deleteMany('tasks', { ids: [] }), named)
  }
})

test('a form shows what the server refuses at its fields', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure', 'Order'])
  const provider = reactAdminDataProvider(ann)
  const { latest } = run(
    context,
    provider,
    () => ({ form: useFormContext(), errors: useFormState().errors, save: useSaveContext().save }),
    (probe) =>
      createElement(
        EditBase,
        { resource: 'tasks', id: String(tasks[0]?.id), mutationMode: 'pessimistic', redirect: false },
        createElement(Form, null, probe),
      ),
  )
  const { form, save } = await until(
    () => latest()?.form.getValues('title') === 'Measure' && latest(),
    'the form is shown',
  )
  const submit = form.handleSubmit(async (values) => {
    const errors = await save?.(values)
    if (errors) setSubmissionErrors(errors, form.setError)
  })
  form.setValue('title', '', { shouldDirty: true })
  form.setValue('estimate', -1, { shouldDirty: true })
  await submit()
  const wrong = await until(() => latest()?.errors.title && latest()?.errors, 'the errors are shown')
  assert.deepEqual(Object.keys(wrong).sort(), ['estimate', 'root', 'title'])
  assert.match(String(wrong['title']?.message), /^title must/)
  assert.match(String(wrong.root?.['serverError']?.message), /title must.*estimate must/)
})

test('a change of a record that somebody else has changed is refused', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const provider = reactAdminDataProvider(ann)
  const [{ id } = { id: '' }] = tasks
  const { latest } = run(context, provider, () => ({ one: useGetOne('tasks', { id }), update: useUpdate()[0] }))
  const { one, update } = await until(() => latest()?.one.data && latest(), 'the record is read')
  await tasksOf(ann).update(id, { estimate: 3 })
  const change = { id, data: { ...one.data, title: 'Mine' }, previousData: one.data }
  await assert.rejects(update('tasks', change, { returnPromise: true }), (error) => {
    assert.ok(error instanceof ReactAdminError)
    assert.deepEqual([error.status, error.body], [412, { code: 'PRECONDITION_FAILED' }])
    return true
  })
  assert.equal((await tasksOf(ann).get(id))['title'], 'Measure')
})

test('a change from a list is refused, too, and only the changed fields are sent', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const provider = reactAdminDataProvider(ann)
  const [{ id } = { id: '' }] = tasks
  const read = async () => (await provider.getList('tasks', {})).data[0]
  const before = await read()
  const changed = await provider.update('tasks', { id, data: { ...before, title: 'Mine' }, previousData: before })
  assert.deepEqual([changed.data.title, changed.data.due_on], ['Mine', before.due_on])
  // The copy in a cache after an optimistic change: the new title, and the old time.
  const optimistic = { ...before, title: 'Mine' }
  await provider.update('tasks', { id, data: { status: 'doing' }, previousData: optimistic })
  await tasksOf(ann).update(id, { estimate: 3 })
  await assert.rejects(
    provider.update('tasks', { id, data: { title: 'Lost' }, previousData: { ...optimistic, status: 'doing' } }),
    { status: 412 },
  )
  await assert.rejects(provider.delete('tasks', { id, previousData: before }), { status: 412 })
  const now = await read()
  assert.equal(now.title, 'Mine')
  assert.deepEqual((await provider.delete('tasks', { id, previousData: now })).data, now)
  await assert.rejects(tasksOf(ann).get(id), { code: 'NOT_FOUND' })
})

test('an optimistic change is shown at once, and taken back if it is refused', async (context) => {
  const { ann, tasks } = await serveTasks(context, ['Measure'])
  const [{ id } = { id: '' }] = tasks
  const provider = reactAdminDataProvider(ann)
  const { promise: sending, resolve: send } = Promise.withResolvers<void>()
  const update: typeof provider.update = async (...params) => {
    await sending
    return provider.update(...params)
  }
  const { latest } = run(context, { ...provider, update }, () => {
    const [change, { error }] = useUpdate('tasks', undefined, { mutationMode: 'optimistic' })
    return { one: useGetOne('tasks', { id }), change, error }
  })
  const { one, change } = await until(() => latest()?.one.data && latest(), 'the record is read')
  await tasksOf(ann).update(id, { estimate: 3 })
  change('tasks', { id, data: { title: 'Mine' }, previousData: one.data })
  await until(() => latest()?.one.data?.title === 'Mine', 'the change is shown')
  send()
  const error = await until(() => latest()?.one.data?.title === 'Measure' && latest()?.error, 'it is taken back')
  assert.equal((error as ReactAdminError).status, 412)
})

test('several records are changed and deleted', async (context) => {
  const { ann, tasks, project, requests } = await serveTasks(context, ['A', 'B', 'C'])
  const provider = reactAdminDataProvider(ann)
  const ids = tasks.map(({ id }) => id)
  const { latest } = run(context, provider, () => ({ update: useUpdateMany()[0], remove: useDeleteMany()[0] }))
  const { update, remove } = await until(latest, 'the hooks are there')
  await update('tasks', { ids, data: { status: 'done', due_on: null } }, { returnPromise: true })
  assert.deepEqual(
    requests.filter((each) => each.startsWith('PATCH')),
    ['PATCH /v1/tasks'],
  )
  const { data } = await tasksOf(ann).list({ sort: 'title' })
  assert.deepEqual(
    data.map(({ status, due_on }) => [status, due_on]),
    ids.map(() => ['done', null]),
  )
  await tasksOf(ann).update(ids[0] ?? '', { status: 'open' })
  await assert.rejects(update('tasks', { ids, data: { status: 'doing' } }, { returnPromise: true }), {
    status: 409,
    message: /done/,
  })
  assert.equal((await tasksOf(ann).get(ids[0] ?? ''))['status'], 'open')
  await assert.rejects(remove('projects', { ids: [project.id] }, { returnPromise: true }), {
    message: 'Close or move the open tasks first.',
  })
  await remove('tasks', { ids }, { returnPromise: true })
  assert.equal((await tasksOf(ann).list()).pagination.total_count, 0)
})

test('deleted records are listed and restored', async (context) => {
  const { ann, admin } = await serveTasks(context, [])
  const provider = reactAdminDataProvider(ann)
  const bin = reactAdminDataProvider(admin)
  const { data: project } = await provider.create('projects', { data: { name: 'Wall', description: null } })
  const { data: deleted } = await provider.softDelete('projects', { id: project.id })
  assert.deepEqual([deleted.resource, deleted.data], ['projects', project])
  const sort = { field: 'deleted_at', order: 'DESC' } as const
  const { data, total } = await bin.getListDeleted({ filter: { resource: 'projects', q: 'wall' }, sort })
  assert.deepEqual([data.map(({ id }) => id), total], [[deleted.id], 1])
  assert.ok(Date.parse(data[0]?.deleted_at ?? '') > 0)
  await assert.rejects(bin.getListDeleted({ filter: {} }), { message: /set the filter resource/ })
  const { data: restored } = await bin.restoreOne({ id: deleted.id })
  assert.equal(restored.data.id, project.id)
  assert.equal((await provider.getOne('projects', { id: project.id })).data.name, 'Wall')
  const { data: both } = await provider.softDeleteMany('projects', { ids: [project.id] })
  await bin.restoreMany({ ids: both.map(({ id }) => id) })
  assert.equal((await provider.getOne('projects', { id: project.id })).data.name, 'Wall')
})

test('reads end when nobody waits for them', async (context) => {
  const { ann } = await serveTasks(context, [])
  const signals: (AbortSignal | undefined)[] = []
  const slow = {
    caller: ann.caller,
    tasks: {
      list: (_: unknown, { signal }: { signal: AbortSignal }) => {
        signals.push(signal)
        return new Promise(() => undefined)
      },
    },
  }
  const { remove } = run(context, reactAdminDataProvider(slow), () => useGetList('tasks'))
  const [signal] = await until(() => signals.length > 0 && signals, 'the list is asked for')
  assert.equal(signal?.aborted, false)
  remove()
  await until(() => signal?.aborted, 'the request ends')
})
