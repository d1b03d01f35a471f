/** DEL: deletion. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { counters, forest, studio } from '../declarations.ts'
import { places, type Received, scenarios, type Trial, trialFor } from '../harness.ts'

const nowhere = '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72'
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Everything that is in a forest, live and retained, with tags of the lists: what no refused deletion may change. */
async function stateOf({ send }: Trial, collections: Iterable<string>): Promise<unknown[]> {
  const states: unknown[] = []
  for (const name of collections) {
    const list = await send({ path: `/v1/${name}?limit=100&include_deleted=true` })
    assert.equal(list.status, 200, list.text)
    states.push([name, list.json.data, (await send({ path: `/v1/${name}` })).headers.etag])
  }
  return states
}

async function countOf({ send }: Trial, collection: string, query = ''): Promise<number> {
  return (await send({ path: `/v1/${collection}${query}` })).json.pagination.total_count
}

it('DEL-1: a soft-deleted record is gone from every read, and its data is kept', async (context) => {
  const current = await trialFor(context, studio)
  const { send, make } = current
  const project = await make('projects', { name: 'Green house', description: 'x' })
  await make('projects', { name: 'Other' })
  const path = `/v1/projects/${project.id}`
  assert.equal((await send({ method: 'DELETE', path })).status, 204)
  assert.equal((await send({ path })).status, 404)
  assert.equal((await send({ method: 'HEAD', path })).status, 404)
  assert.equal((await send({ path: `${path}/tasks` })).status, 404)
  for (const query of [
    '',
    '?q=green',
    '?name=Green house',
    '?page=1',
    '?offset=0',
    '?sort=-name',
    '?visibility=private',
  ]) {
    const answer = await send({ path: `/v1/projects${query.replace(' ', '%20')}` })
    if (answer.status === 400) continue
    assert.ok(!answer.text.includes('Green house'), query)
  }
  assert.equal(await countOf(current, 'projects'), 1)
  const { data, pagination } = (await send({ path: '/v1/projects?include_deleted=true' })).json
  assert.equal(pagination.total_count, 2)
  const { deleted_at, ...kept } = data.find((each: { id: string }) => each.id === project.id)
  assert.deepEqual(kept, project)
})

it('DEL-1: a hard-deleted record is gone for good', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'Searchable', folder_id: folder.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/files/${file.id}` })).status, 204)
  assert.equal((await send({ path: `/v1/files/${file.id}` })).status, 404)
  assert.equal(await countOf(current, 'files', '?include_deleted=true'), 0)
  assert.equal(await countOf(current, 'files', '?q=searchable'), 0)
  // What search knew of it is gone too: the next record does not inherit its words.
  const next = await make('files', { name: 'Next', folder_id: folder.id })
  assert.equal(await countOf(current, 'files', '?q=searchable'), 0)
  assert.equal(await countOf(current, 'files', '?q=next'), 1)
  assert.notEqual(next.id, file.id)
})

it('DEL-2: 204 without a body, or 200 with exactly id and deleted_at where declared', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'File', folder_id: folder.id })
  const empty = await send({ method: 'DELETE', path: `/v1/files/${file.id}` })
  assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [204, '', undefined])
  const before = new Date().toISOString()
  const summary = await send({ method: 'DELETE', path: `/v1/folders/${folder.id}` })
  assert.equal(summary.status, 200)
  assert.deepEqual(Object.keys(summary.json), ['id', 'deleted_at'])
  assert.equal(summary.json.id, folder.id)
  assert.match(summary.json.deleted_at, instant)
  assert.ok(summary.json.deleted_at >= before)
  const [kept] = (await send({ path: '/v1/folders?include_deleted=true' })).json.data
  assert.equal(kept.deleted_at, summary.json.deleted_at)
})

it('DEL-3: a repeated deletion is a 404, or a 204 where declared', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const folder = await make('folders', { name: 'Folder' })
  const file = await make('files', { name: 'File', folder_id: folder.id })
  const erase = (path: string, headers = {}) => send({ method: 'DELETE', path, headers })
  assert.equal((await erase(`/v1/files/${file.id}`)).status, 204)
  const again = await erase(`/v1/files/${file.id}`)
  assert.deepEqual([again.status, again.text], [204, ''])
  for (const id of [nowhere, 'x', '%00', "'"]) assert.equal((await erase(`/v1/files/${id}`)).status, 204, id)
  const first = await erase(`/v1/folders/${folder.id}`)
  assert.equal(first.status, 200)
  const retained = (await send({ path: '/v1/folders?include_deleted=true' })).text
  const second = await erase(`/v1/folders/${folder.id}`)
  assert.deepEqual([second.status, second.json.code], [404, 'NOT_FOUND'])
  assert.equal((await erase(`/v1/folders/${folder.id}`, { 'if-match': '*' })).status, 404)
  assert.equal((await send({ path: '/v1/folders?include_deleted=true' })).text, retained, 'nor does it move deleted_at')
})

it('DEL-3: of many deletions at once one deletes', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const { id } = await make('folders', { name: 'Folder' })
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => send({ method: 'DELETE', path: `/v1/folders/${id}` })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(31).fill(404)])
})

it('DEL-4: a dependent that restricts blocks, and errors says which', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const one = await make('folders', { name: 'One' })
  const two = await make('folders', { name: 'Two', twin_id: one.id })
  const before = await stateOf(current, Object.keys(forest.resources))
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })
  assert.deepEqual([blocked.status, blocked.json.code, ...places(blocked)], [409, 'HAS_DEPENDENTS', 'HAS_DEPENDENTS'])
  assert.match(blocked.json.detail, /folders.*twin_id/)
  assert.deepEqual(await stateOf(current, Object.keys(forest.resources)), before)
  await send({ method: 'PATCH', path: `/v1/folders/${two.id}`, body: { twin_id: null } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })).status, 200)
})

it('DEL-4: a soft-deleted dependent does not restrict', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const one = await make('folders', { name: 'One' })
  const two = await make('folders', { name: 'Two', twin_id: one.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${two.id}` })).status, 200)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${one.id}` })).status, 200)
})

/** A folder, a branch below it, files in it, remarks on them; bookmarks beside. */
async function grow({ make }: Trial) {
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  const twig = await make('folders', { name: 'Twig', parent_id: branch.id })
  const cover = await make('files', { name: 'Cover', folder_id: twig.id })
  const file = await make('files', { name: 'File', folder_id: branch.id, cover_id: cover.id })
  const remark = await make('remarks', { text: 'Remark', file_id: cover.id })
  const mark = await make('bookmarks', { name: 'Mark', folder_id: twig.id, file_id: cover.id })
  const apart = await make('folders', { name: 'Apart' })
  const other = await make('files', { name: 'Other', folder_id: apart.id, cover_id: cover.id })
  return { root, branch, twig, cover, file, remark, mark, apart, other }
}

it('DEL-5: cascade takes the whole branch along, each record by its own variant, and clears what only refers to it', async (context) => {
  const current = await trialFor(context, forest)
  const { send } = current
  const { root, twig, cover, file, remark, mark, apart, other } = await grow(current)
  const markTag = (await send({ path: `/v1/bookmarks/${mark.id}` })).headers.etag
  const deleted = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.equal(deleted.status, 200)
  for (const path of [`/folders/${twig.id}`, `/files/${cover.id}`, `/files/${file.id}`, `/remarks/${remark.id}`]) {
    assert.equal((await send({ path: `/v1${path}` })).status, 404, path)
  }
  const all = async (name: string) =>
    (await send({ path: `/v1/${name}?include_deleted=true&sort=created_at` })).json.data
  const folders = await all('folders')
  assert.deepEqual(
    folders.map((each: { name: string; deleted_at?: string }) => [each.name, each.deleted_at]),
    [...['Root', 'Branch', 'Twig'].map((name) => [name, deleted.json.deleted_at]), ['Apart', undefined]],
  )
  assert.deepEqual(
    (await all('files')).map((each: { name: string }) => each.name),
    ['Other'],
    'files are hard-deleted',
  )
  const [kept] = await all('remarks')
  assert.deepEqual([kept.text, kept.deleted_at], ['Remark', deleted.json.deleted_at], 'remarks are soft-deleted')
  const cleared = await send({ path: `/v1/bookmarks/${mark.id}` })
  assert.deepEqual([cleared.json.folder_id, cleared.json.file_id], [null, null])
  assert.notEqual(cleared.headers.etag, markTag, 'what was cleared has changed')
  assert.ok(cleared.json.updated_at >= mark.updated_at)
  const still = await send({ path: `/v1/files/${other.id}` })
  assert.deepEqual([still.json.cover_id, still.json.folder_id], [null, apart.id])
  assert.deepEqual(
    [await countOf(current, 'folders'), await countOf(current, 'files'), await countOf(current, 'remarks')],
    [1, 1, 0],
  )
})

it('DEL-5: a restriction met half way down keeps everything as it was', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const { root, remark } = await grow(current)
  const lock = await make('locks', { name: 'Lock', remark_id: remark.id })
  const before = await stateOf(current, Object.keys(forest.resources))
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.deepEqual([blocked.status, blocked.json.code], [409, 'HAS_DEPENDENTS'])
  assert.match(blocked.json.detail, /locks.*remark_id/)
  assert.deepEqual(await stateOf(current, Object.keys(forest.resources)), before)
  assert.equal((await send({ method: 'DELETE', path: `/v1/locks/${lock.id}` })).status, 204)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
})

it('DEL-5: every restriction is in one answer', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const { root, twig, remark, apart } = await grow(current)
  await make('locks', { name: 'One', remark_id: remark.id })
  await make('locks', { name: 'Two', remark_id: remark.id })
  await send({ method: 'PATCH', path: `/v1/folders/${apart.id}`, body: { twin_id: twig.id } })
  const blocked = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.equal(blocked.status, 409)
  const messages = blocked.json.errors.map((each: { message: string }) => each.message).sort()
  assert.equal(messages.length, 2)
  assert.match(messages[0], /1 record of folders/)
  assert.match(messages[1], /2 records of locks/)
})

it('DEL-5: a record that refers to itself can go, and so can a circle', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const own = await make('folders', { name: 'Own' })
  await send({ method: 'PATCH', path: `/v1/folders/${own.id}`, body: { parent_id: own.id, twin_id: own.id } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${own.id}` })).status, 200)
  const ring: { id: string }[] = []
  for (let index = 0; index < 5; index++)
    ring.push(await make('folders', { name: `Ring ${index}`, parent_id: ring.at(-1)?.id }))
  await send({ method: 'PATCH', path: `/v1/folders/${ring[0]?.id}`, body: { parent_id: ring[4]?.id } })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${ring[2]?.id}` })).status, 200)
  assert.equal(await countOf(current, 'folders'), 0)
})

it('DEL-5: what goes along itself does not stand in the way', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  await make('folders', { name: 'Twin', parent_id: root.id, twin_id: branch.id })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${branch.id}` })).status, 409)
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
  assert.equal(await countOf(current, 'folders'), 0)
})

it('DEL-5: a deep and a wide tree go in one deletion', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  const root = await make('folders', { name: 'Root' })
  let parent = root
  for (let depth = 0; depth < 60; depth++)
    parent = await make('folders', { name: `Deep ${depth}`, parent_id: parent.id })
  await Promise.all(
    Array.from({ length: 300 }, (_, index) => make('files', { name: `File ${index}`, folder_id: parent.id })),
  )
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })).status, 200)
  assert.deepEqual([await countOf(current, 'folders'), await countOf(current, 'files')], [0, 0])
  assert.equal(await countOf(current, 'folders', '?include_deleted=true'), 61)
})

it('DEL-5: only live dependents are touched', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const root = await make('folders', { name: 'Root' })
  const branch = await make('folders', { name: 'Branch', parent_id: root.id })
  const first = await send({ method: 'DELETE', path: `/v1/folders/${branch.id}` })
  await new Promise((resolve) => setTimeout(resolve, 5))
  const second = await send({ method: 'DELETE', path: `/v1/folders/${root.id}` })
  assert.notEqual(first.json.deleted_at, second.json.deleted_at)
  const { data } = (await send({ path: '/v1/folders?include_deleted=true&sort=created_at' })).json
  assert.deepEqual(
    data.map((each: { deleted_at: string }) => each.deleted_at),
    [second.json.deleted_at, first.json.deleted_at],
  )
})

it('DEL-5: a child cannot be made under a parent that goes at the same time', async (context) => {
  const current = await trialFor(context, forest)
  const { send, make } = current
  for (let round = 0; round < 10; round++) {
    const { id } = await make('folders', { name: `Folder ${round}` })
    const [made, gone] = await Promise.all([
      send({ path: '/v1/files', body: { name: 'File', folder_id: id } }),
      send({ method: 'DELETE', path: `/v1/folders/${id}` }),
    ])
    assert.equal(gone.status, 200)
    assert.ok([201, 400].includes(made.status), made.text)
  }
  assert.equal(await countOf(current, 'files'), 0, 'what was made in time went along')
})

it('DEL-5: a reference to what was deleted is a validation error', async (context) => {
  const { send, make } = await trialFor(context, forest)
  const { id } = await make('folders', { name: 'Folder' })
  await send({ method: 'DELETE', path: `/v1/folders/${id}` })
  const answer = await send({ path: '/v1/files', body: { name: 'File', folder_id: id } })
  assert.deepEqual([answer.status, ...places(answer)], [400, 'INVALID_REFERENCE /folder_id'])
})

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

it('DEL-4: rules of what goes along are asked too', async (context) => {
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

it('DEL-4: several things in the way are one answer', async (context) => {
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

it('DEL-4: a rule as a function sees the record before and after, and the caller', async (context) => {
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

it('DEL-4: a rule is a 409 whatever its code', async (context) => {
  const current = await trialFor(context, counters)
  const answer = await prepared(1, (path, { send }) => send({ method: 'PATCH', path, body: { count: 404 } }))(current)
  assert.deepEqual([answer.status, answer.json.status, answer.json.code], [409, 409, 'NOT_FOUND'])
})

it('DEL-4: rules are asked only of what is valid', async (context) => {
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

it('DEL-4: a PUT that leaves the state out goes back to the default, where that is a transition', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const { id } = await make('projects', { name: 'One' })
  const task = await make('tasks', { title: 'T', project_id: id, status: 'done' })
  const put = await send({ method: 'PUT', path: `/v1/tasks/${task.id}`, body: { title: 'T', project_id: id } })
  assert.deepEqual([put.status, put.json.status], [200, 'open'])
})

it('DEL-11: a value is unique among live records only', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const first = await make('projects', { name: 'One' })
  const clash = await send({ path: '/v1/projects', body: { name: 'One' } })
  assert.deepEqual([clash.status, clash.json.code, ...places(clash)], [409, 'DUPLICATE_VALUE', 'DUPLICATE_VALUE /name'])
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${first.id}` })).status, 204)
  const second = await make('projects', { name: 'One' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/projects/${second.id}` })).status, 204)
  await make('projects', { name: 'One' })
})

it('DEL-11: a change clashes like a creation, and never with itself', async (context) => {
  const { send, make } = await trialFor(context, studio)
  await make('projects', { name: 'One' })
  const two = await make('projects', { name: 'Two' })
  const path = `/v1/projects/${two.id}`
  for (const method of ['PUT', 'PATCH']) {
    const clash = await send({ method, path, body: { name: 'One' } })
    assert.deepEqual([clash.status, clash.json.code], [409, 'DUPLICATE_VALUE'])
    assert.equal((await send({ method, path, body: { name: 'Two' } })).status, 200)
    assert.equal((await send({ method, path, body: { name: 'one' } })).status, 200, 'equality minds the case')
    assert.equal((await send({ method, path, body: { name: 'Two' } })).status, 200)
  }
})

it('DEL-11: fields that are unique together may each repeat', async (context) => {
  const { send, make } = await trialFor(context, studio)
  const [one, two] = [await make('projects', { name: 'One' }), await make('projects', { name: 'Two' })]
  const first = await make('tasks', { title: 'T', project_id: one.id })
  await make('tasks', { title: 'T', project_id: two.id })
  await make('tasks', { title: 'U', project_id: one.id })
  for (const sent of [
    { path: '/v1/tasks', body: { title: 'T', project_id: one.id } },
    { path: `/v1/projects/${one.id}/tasks`, body: { title: 'T' } },
  ]) {
    const clash = await send(sent)
    assert.deepEqual([clash.status, clash.json.code], [409, 'DUPLICATE_VALUE'])
  }
  assert.equal((await send({ method: 'DELETE', path: `/v1/tasks/${first.id}` })).status, 204)
  await make('tasks', { title: 'T', project_id: one.id })
})

it('DEL-11: null is never taken', async (context) => {
  const { make } = await trialFor(context, {
    name: 'x',
    resources: { notes: { fields: { code: { type: 'string', optional: true, unique: true } } } },
  })
  await make('notes', {})
  await make('notes', { code: null })
})
