/**
 * QRY-6: the recycle bin. A rule that reads `through` a parent which the same deletion has deleted is decided on the
 * parent as it was deleted, for callers who may read the parent in the bin too.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference, Type } from 'resourced-contract/model/type'
import { places, purgeAt, type Trial, trialFor } from '../harness.ts'

const title = Type.String({ filter: true, sort: true, search: true })
const owner_id = Type.String({ readOnly: true })
const through = <Field extends string>(field: Field) => ({
  read: { through: field, action: 'read' } as const,
  create: { through: field, action: 'read' } as const,
  update: { through: field, action: 'read' } as const,
  delete: { through: field, action: 'read' } as const,
  restore: { through: field, action: 'read' } as const,
})

const studio = defineInterface({
  name: 'studio',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'tasks', rename: { name: 'title' } }],
  resources: {
    projects: {
      fields: { title, owner_id, open: Type.Boolean({ default: false }) },
      owner: 'owner_id',
      deletion: { gracePeriod: 'P10D', byFilter: true },
      access: {
        read: ['role:admin', 'owner', { where: { open: true } }],
        create: 'anyone',
        update: ['role:admin', 'owner'],
        delete: ['role:admin', 'owner'],
        restore: ['role:admin', 'owner'],
        readDeleted: ['role:admin', { where: { owner_id: 'ann' } }],
      },
    },
    tasks: {
      fields: {
        title,
        note: Type.Optional(Type.String({ filter: true, search: true })),
        project_id: reference('projects', { onDelete: 'cascade' }),
      },
      within: 'project_id',
      deletion: { gracePeriod: 'P30D' },
      access: {
        ...through('project_id'),
        readDeleted: 'anyone',
        fields: { note: { read: { through: 'project_id', action: 'update' } } },
      },
    },
    steps: {
      fields: { title, task_id: reference('tasks', { onDelete: 'cascade' }) },
      within: 'task_id',
      access: { ...through('task_id'), readDeleted: 'anyone' },
    },
  },
})

interface Seen {
  readonly title: string
  readonly note?: string | null
}

/** The titles that a caller sees, in every style of page, which all have to agree with the total. */
async function titles({ send }: Trial, path: string, as = 'root', query = 'include_deleted=only'): Promise<string[]> {
  const found: Seen[][] = []
  const step = async (more: string) => {
    const { status, text, json } = await send({ path: `${path}?${query}&${more}`, as })
    assert.equal(status, 200, text)
    return json
  }
  for (const [number, size] of [
    ['page', 'per_page'],
    ['offset', 'limit'],
  ] as const) {
    const all: Seen[] = []
    for (let page = number === 'page' ? 1 : 0; ; page += number === 'page' ? 1 : 2) {
      const { data, pagination } = await step(`${number}=${page}&${size}=2&sort=title`)
      all.push(...data)
      if (data.length > 0) continue
      assert.equal(pagination.total_count, all.length)
      break
    }
    found.push(all)
  }
  const walked: Seen[] = []
  let back: string | null = null
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, pagination } = await step(`limit=2&sort=title${cursor === '' ? '' : `&cursor=${cursor}`}`)
    walked.push(...data)
    cursor = pagination.next_cursor
    back = pagination.previous_cursor
  }
  if (back !== null) assert.equal((await step(`limit=2&sort=title&cursor=${back}`)).data.length, 2)
  found.push(walked)
  const query_ = { path, method: 'QUERY', body: { include_deleted: 'only', sort: 'title', limit: 100 }, as }
  if (query === 'include_deleted=only') found.push((await send(query_)).json.data)
  const names = found.map((records) => records.map((each) => each.title))
  for (const each of names) assert.deepEqual(each, names[0])
  return names[0] as string[]
}

/** A project with tasks and steps, named after it. */
async function projectOf({ send }: Trial, title: string, as: string): Promise<string> {
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await send({ path: `/v2/${path}`, body, as })
    assert.equal(answer.status, 201, answer.text)
    return answer.json.id
  }
  const project_id = await make('projects', { title })
  for (const number of [1, 2, 3]) {
    const task_id = await make('tasks', { title: `${title} ${number}`, note: `of ${title}`, project_id })
    await make('steps', { title: `${title} ${number} step`, task_id })
  }
  return project_id
}

const deletions: Readonly<Record<string, (trial: Trial, id: string) => Promise<void>>> = {
  'a deletion': async ({ send }, id) => {
    assert.equal((await send({ method: 'DELETE', path: `/v2/projects/${id}` })).status, 204)
  },
  'a job': async ({ send, app }, id) => {
    const headers = { prefer: 'respond-async' }
    assert.equal((await send({ method: 'DELETE', path: `/v2/projects/${id}`, headers })).status, 202)
    await app.runner.idle()
  },
  'a bulk deletion': async ({ send }, id) => {
    assert.equal((await send({ path: '/v2/projects/bulk-delete', body: { ids: [id] } })).status, 200)
  },
  'a deletion by filter': async ({ send }, id) => {
    const { title } = (await send({ path: `/v2/projects/${id}` })).json
    const answer = await send({ method: 'DELETE', path: `/v2/projects?title=${title}` })
    assert.deepEqual([answer.status, answer.json.deleted_count], [200, 1], answer.text)
  },
}

for (const [name, remove] of Object.entries(deletions)) {
  it(`QRY-6: what ${name} has deleted together is in the bin, for those who may read the parent there`, async (t) => {
    const trial = await trialFor(t, studio)
    const { send } = trial
    const [a, b] = [await projectOf(trial, 'a', 'ann'), await projectOf(trial, 'b', 'bob')]
    await remove(trial, a)
    await remove(trial, b)
    const [tasksOfA, tasksOfB] = ['a', 'b'].map((title) => [1, 2, 3].map((number) => `${title} ${number}`))
    const all = [...(tasksOfA as string[]), ...(tasksOfB as string[])]
    assert.deepEqual(await titles(trial, '/v2/tasks'), all)
    assert.deepEqual(await titles(trial, '/v2/tasks', 'root', 'include_deleted=true'), all)
    assert.deepEqual(await titles(trial, '/v2/tasks', 'root', 'include_deleted=only&q=b'), tasksOfB)
    assert.deepEqual(await titles(trial, '/v2/tasks', 'root', `include_deleted=only&project_id=${a}`), tasksOfA)
    // The chain is followed to its end.
    const steps = all.map((task) => `${task} step`)
    assert.deepEqual(await titles(trial, '/v2/steps'), steps)
    // Ann may read her project in the bin. Bob, who may read his project, may not read it there.
    assert.deepEqual(await titles(trial, '/v2/tasks', 'ann'), tasksOfA)
    assert.deepEqual(await titles(trial, '/v2/steps', 'ann'), steps.slice(0, 3))
    assert.deepEqual(await titles(trial, '/v2/tasks', 'bob'), [])
    assert.deepEqual(await titles(trial, '/v2/steps', 'bob'), [])
    // Live lists have none of it.
    assert.deepEqual(await titles(trial, '/v2/tasks', 'root', 'include_deleted=false'), [])

    const old = await send({ path: '/v1/tasks?include_deleted=only&sort=name' })
    assert.deepEqual(
      old.json.data.map((each: { name: string }) => each.name),
      all,
    )
    assert.equal((await send({ method: 'POST', path: `/v2/projects/${a}/restore` })).status, 200)
    assert.deepEqual(await titles(trial, '/v2/tasks'), tasksOfB)
    assert.deepEqual(await titles(trial, '/v2/tasks', 'root', 'include_deleted=true'), all)
  })
}

it('QRY-6: a parent that another deletion has deleted does not count', async (context) => {
  const trial = await trialFor(context, studio)
  const { send } = trial
  const id = await projectOf(trial, 'a', 'ann')
  const { data } = (await send({ path: '/v2/tasks?sort=title' })).json
  const remove = async (path: string) =>
    assert.equal((await send({ method: 'DELETE', path: `/v2/${path}` })).status, 204)
  await remove(`tasks/${data[0].id}`)
  assert.deepEqual(await titles(trial, '/v2/tasks'), ['a 1'])
  assert.deepEqual(await titles(trial, '/v2/steps'), ['a 1 step'])
  await remove(`projects/${id}`)
  assert.deepEqual(await titles(trial, '/v2/tasks'), ['a 2', 'a 3'])
  // Its task was deleted with it, but the task's project was not.
  assert.deepEqual(await titles(trial, '/v2/steps'), ['a 2 step', 'a 3 step'])
})

it('QRY-6, DEL-7: a parent that is past its grace period, purged or not, does not count', async (context) => {
  const trial = await trialFor(context, studio)
  const id = await projectOf(trial, 'a', 'ann')
  assert.equal((await trial.send({ method: 'DELETE', path: `/v2/projects/${id}` })).status, 204)
  const day = 86_400_000
  trial.clock.ahead = 9 * day
  assert.equal((await titles(trial, '/v2/tasks')).length, 3)
  trial.clock.ahead = 11 * day
  assert.deepEqual(await titles(trial, '/v2/tasks'), [])
  await purgeAt(trial.app, Date.now() + 11 * day)
  assert.deepEqual(await titles(trial, '/v2/tasks'), [])
})

it('QRY-6, AUT-13: the rule of a field is decided on the parent as it was deleted, too', async (context) => {
  const trial = await trialFor(context, studio)
  const { send } = trial
  for (const [title, as] of [
    ['a', 'ann'],
    ['b', 'bob'],
  ] as const) {
    const id = await projectOf(trial, title, as)
    await send({ method: 'PATCH', path: `/v2/projects/${id}`, body: { open: true }, as })
    assert.equal((await send({ method: 'DELETE', path: `/v2/projects/${id}` })).status, 204)
  }
  const notes = async (as: string, more = '') => {
    const { status, json, text } = await send({ path: `/v2/tasks?include_deleted=only&sort=title${more}`, as })
    assert.equal(status, 200, text)
    return json.data.map((each: Seen) => each.note)
  }
  assert.deepEqual(await notes('root'), ['of a', 'of a', 'of a', 'of b', 'of b', 'of b'])
  assert.deepEqual(await notes('ann'), ['of a', 'of a', 'of a'])
  // Filters and searches see what the caller sees.
  assert.equal((await notes('root', '&note=of%20b')).length, 3)
  assert.equal((await notes('root', '&q=of')).length, 6)
  assert.equal((await notes('root', '&note[not]=of%20b')).length, 3)
  assert.equal((await notes('ann', '&note=of%20b')).length, 0)
})

it('QRY-6: rules for deleted records may lead back to their own collection', async (context) => {
  const tree = defineInterface({
    name: 'tree',
    resources: {
      folders: {
        fields: { title, up_id: Type.Optional(reference('folders', { onDelete: 'cascade' })) },
        access: {
          read: 'anyone',
          create: 'anyone',
          delete: 'anyone',
          readDeleted: ['role:admin', { through: 'up_id', action: 'read' }],
        },
      },
    },
  })
  const trial = await trialFor(context, tree)
  const root = await trial.make('folders', { title: 'root' })
  const top = await trial.make('folders', { title: 'top', up_id: root.id })
  const middle = await trial.make('folders', { title: 'middle', up_id: top.id })
  await trial.make('folders', { title: 'low', up_id: middle.id })
  assert.equal((await trial.send({ method: 'DELETE', path: `/v1/folders/${top.id}` })).status, 204)
  assert.deepEqual(await titles(trial, '/v1/folders'), ['low', 'middle', 'top'])
  // The way ends in the collection where it began: what is below a parent without a live parent is not shown.
  assert.deepEqual(await titles(trial, '/v1/folders', 'ann'), ['middle', 'top'])
})

it('QRY-6: nothing is nested under a deleted record', async (context) => {
  const trial = await trialFor(context, studio)
  const id = await projectOf(trial, 'a', 'ann')
  assert.equal((await trial.send({ method: 'DELETE', path: `/v2/projects/${id}` })).status, 204)
  const answer = await trial.send({ path: `/v2/projects/${id}/tasks?include_deleted=only` })
  assert.deepEqual([answer.status, ...places(answer)], [404])
})
