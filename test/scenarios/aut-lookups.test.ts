/** AUT-15: access that a live record of another collection decides, whether or not the caller may read it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference, Type } from 'resourced-contract/model/type'
import { places, type Trial, trialFor } from '../harness.ts'

const isMember = { some: 'memberships', where: { team_id: { record: 'team_id' }, user_id: { caller: 'id' } } } as const
const isLead = { some: 'memberships', where: { ...isMember.where, role: 'lead' } } as const
const isNotBanned = { none: 'bans', where: { user_id: { caller: 'id' }, team_id: { record: 'team_id' } } } as const

const office = defineInterface({
  name: 'office',
  versions: { v1: {}, v2: {} },
  changes: [
    { version: 'v2', resource: 'memberships', was: 'members', rename: { user: 'user_id' } },
    { version: 'v2', resource: 'tasks', rename: { name: 'title' } },
  ],
  resources: {
    teams: {
      fields: { name: Type.String() },
      access: { read: 'anyone', create: 'role:admin', delete: 'role:admin', restore: 'role:admin' },
    },
    memberships: {
      fields: {
        team_id: reference('teams', { onDelete: 'cascade' }),
        user_id: Type.String(),
        role: Type.Enum(['member', 'lead'], { default: 'member' }),
        note: Type.Optional(Type.String()),
      },
      access: {
        read: 'role:admin',
        create: ['role:admin', isLead],
        update: ['role:admin', isLead],
        delete: ['role:admin', isLead],
        restore: ['role:admin', isLead],
      },
    },
    bans: { fields: { team_id: reference('teams'), user_id: Type.String() } },
    tasks: {
      fields: {
        title: Type.String({ sort: true, search: true, filter: true }),
        team_id: reference('teams'),
        budget: Type.Optional(Type.Integer({ filter: true })),
      },
      within: 'team_id',
      events: true,
      deletion: { byFilter: true },
      access: {
        read: isMember,
        readDeleted: isLead,
        create: { all: [isMember, isNotBanned] },
        update: { all: [isMember, isNotBanned] },
        delete: isLead,
        restore: isLead,
        fields: { budget: { read: isLead, write: isLead } },
      },
    },
    notes: {
      fields: { text: Type.String({ sort: true }), task_id: reference('tasks', { onDelete: 'cascade' }) },
      within: 'task_id',
      access: { read: { through: 'task_id', action: 'read' }, create: { through: 'task_id', action: 'update' } },
    },
    reports: {
      fields: { text: Type.String(), team_id: reference('teams') },
      access: {
        read: { none: 'bans', where: { user_id: { caller: 'claims.badge' }, team_id: { record: 'team_id' } } },
        create: { all: ['role:editor', (caller) => caller.id === 'eve', isNotBanned] },
        update: ['role:admin', { where: { text: 'free' } }],
      },
    },
  },
})

/** Two teams: ann leads the red one, bob is a member of it. */
async function started(current: Trial) {
  const [red, blue] = [await current.make('teams', { name: 'red' }), await current.make('teams', { name: 'blue' })]
  const join = (user_id: string, team: { id: string }, role = 'member') =>
    current.make('memberships', { user_id, team_id: team.id, role })
  return { red, blue, join, ann: await join('ann', red, 'lead'), bob: await join('bob', red) }
}

it('AUT-15, AUT-6: a membership decides about lists, totals, single records and what is nested, at once', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, blue, bob } = await started(current)
  const task = await make('tasks', { title: 'paint', team_id: red.id }, 'ann')
  const note = await make('notes', { text: 'today', task_id: task.id }, 'bob')
  await make('memberships', { user_id: 'eve', team_id: blue.id })
  const other = await make('tasks', { title: 'paint too', team_id: blue.id }, 'eve')
  const lists = ['tasks', 'tasks?q=paint', 'tasks?title[starts_with]=p', 'tasks?sort=-title', `teams/${red.id}/tasks`]
  const seen = async (as: string) => {
    const all: string[] = []
    for (const list of [...lists, 'notes', 'notes?sort=text']) {
      const { json } = await send({ path: `/v2/${list}`, as })
      all.push(`${json.pagination.total_count} ${json.data.map(({ id }: { id: string }) => id)}`)
    }
    const { json } = await send({ method: 'QUERY', path: '/v2/tasks', body: { q: 'paint' }, as })
    all.push(`${json.pagination.total_count} ${json.data.map(({ id }: { id: string }) => id)}`)
    for (const path of [`tasks/${task.id}`, `notes/${note.id}`, `tasks/${task.id}/notes`]) {
      for (const method of ['GET', 'HEAD']) all.push(String((await send({ method, path: `/v2/${path}`, as })).status))
    }
    const v1 = await send({ path: '/v1/tasks?name=paint', as })
    return [...all, `${v1.json.pagination.total_count} ${v1.json.data.map(({ id }: { id: string }) => id)}`]
  }
  const ofTask = `1 ${task.id}`
  const ofNote = `1 ${note.id}`
  const all = [...lists.map(() => ofTask), ofNote, ofNote, ofTask, ...Array(6).fill('200'), ofTask]
  const nothing = [...lists.map(() => '0 '), '0 ', '0 ', '0 ', ...Array(6).fill('403'), '0 ']
  assert.deepEqual(await seen('bob'), all)
  // Nobody reads the records that decide.
  assert.equal((await send({ path: `/v2/memberships/${bob.id}`, as: 'bob' })).status, 403)
  const path = `/v2/memberships/${bob.id}`
  for (let round = 0; round < 2; round++) {
    await send({ method: 'DELETE', path, as: 'root' })
    for (let time = 0; time < 3; time++) assert.deepEqual(await seen('bob'), nothing)
    await send({ method: 'POST', path: `${path}/restore`, as: 'root' })
    for (let time = 0; time < 3; time++) assert.deepEqual(await seen('bob'), all)
  }
  // A membership that changes decides as it is now.
  await send({ method: 'PATCH', path, body: { team_id: blue.id }, as: 'root' })
  assert.deepEqual((await send({ path: '/v2/tasks', as: 'bob' })).json.data[0].id, other.id)
  assert.equal((await send({ path: '/v2/tasks', as: 'root' })).json.pagination.total_count, 0)
})

it('REL-4, AUT-15: related records are those that a lookup permits', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, bob } = await started(current)
  const task = await make('tasks', { title: 'paint', team_id: red.id }, 'ann')
  const paths = [`/v2/teams?include=tasks`, `/v2/teams/${red.id}?include=tasks`]
  const shown = async (tag?: string) => {
    const answers = paths.map((path, index) =>
      send({ path, as: 'bob', headers: tag === undefined || index > 0 ? {} : { 'if-none-match': tag } }),
    )
    return Promise.all(answers)
  }
  const before = await shown()
  for (const { json } of before) {
    assert.deepEqual(json.related.tasks[red.id], { ids: [task.id], total_count: 1, next: null })
    assert.equal(json.included.tasks[task.id].title, 'paint')
  }
  await send({ method: 'DELETE', path: `/v2/memberships/${bob.id}`, as: 'root' })
  for (let time = 0; time < 3; time++) {
    for (const { status, json, text } of await shown(String(before[0]?.headers.etag))) {
      assert.equal(status, 200)
      assert.deepEqual(json.related.tasks[red.id], { ids: [], total_count: 0, next: null })
      assert.ok(!text.includes('paint'))
    }
  }
})

it('AUT-15, AUT-8: a change is decided before and after it, and a record moves where it may be created', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, blue, join } = await started(current)
  const task = await make('tasks', { title: 'paint', team_id: red.id }, 'bob')
  const path = `/v2/tasks/${task.id}`
  const move = async (as: string, team: { id: string }) =>
    (await send({ method: 'PATCH', path, body: { team_id: team.id }, as })).status
  assert.equal(await move('bob', blue), 403)
  assert.equal(await move('eve', blue), 403)
  await join('bob', blue)
  assert.equal(await move('bob', blue), 200)
  assert.equal(await move('ann', red), 403)
  const ban = await make('bans', { user_id: 'bob', team_id: red.id })
  assert.equal(await move('bob', red), 403)
  assert.equal((await send({ path: '/v2/tasks', body: { title: 'x', team_id: red.id }, as: 'bob' })).status, 403)
  assert.equal((await send({ path: `/v2/teams/${red.id}/tasks`, body: { title: 'x' }, as: 'bob' })).status, 403)
  await send({ method: 'DELETE', path: `/v2/bans/${ban.id}`, as: 'root' })
  assert.equal(await move('bob', red), 200)
  assert.equal((await send({ method: 'DELETE', path, as: 'bob' })).status, 403)
  const filtered = await send({ method: 'DELETE', path: '/v2/tasks?title=paint', as: 'bob' })
  assert.deepEqual([filtered.status, filtered.json.deleted_count], [200, 0])
  const bulk = await send({ path: '/v2/tasks/bulk-delete', body: { ids: [task.id] }, as: 'bob' })
  assert.deepEqual([bulk.status, places(bulk)], [403, ['FORBIDDEN /ids/0']])
  assert.equal((await send({ method: 'DELETE', path, as: 'ann' })).status, 204)
  assert.equal((await send({ method: 'POST', path: `${path}/restore`, as: 'bob' })).status, 403)
  assert.equal((await send({ path: '/v2/tasks?include_deleted=true', as: 'bob' })).json.data.length, 0)
  assert.equal((await send({ path: '/v2/tasks?include_deleted=true', as: 'ann' })).json.data.length, 1)
  assert.equal((await send({ method: 'POST', path: `${path}/restore`, as: 'ann' })).status, 200)
})

it('AUT-15: no record is the reason for its own permission', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, blue, ann, bob } = await started(current)
  const made = (user_id: string, team: { id: string }, as: string) =>
    send({ path: '/v2/memberships', body: { user_id, team_id: team.id, role: 'lead' }, as })
  for (const as of ['eve', 'bob']) assert.equal((await made(as, red, as)).status, 403)
  assert.equal((await made('ann', blue, 'ann')).status, 403)
  const change = async (id: string, body: object, as: string) =>
    (await send({ method: 'PATCH', path: `/v2/memberships/${id}`, body, as })).status
  assert.equal(await change(bob.id, { role: 'lead' }, 'bob'), 403)
  // A lead does not lead another team by moving there.
  assert.equal(await change(ann.id, { team_id: blue.id }, 'ann'), 403)
  assert.equal(await change(ann.id, { note: 'the only lead' }, 'ann'), 204)
  assert.equal((await made('eve', red, 'ann')).status, 201)
  await send({ method: 'DELETE', path: `/v2/memberships/${ann.id}`, as: 'ann' })
  assert.equal((await send({ method: 'POST', path: `/v2/memberships/${ann.id}/restore`, as: 'ann' })).status, 403)
  assert.equal((await send({ method: 'POST', path: `/v2/memberships/${ann.id}/restore`, as: 'eve' })).status, 204)
  await make('tasks', { title: 'paint', team_id: red.id }, 'ann')
})

it('AUT-15: none with a claim that the caller does not have is unknown, and refuses', async (context) => {
  const current = await trialFor(context, office)
  const { send } = current
  const { red } = await started(current)
  const report = await send({ path: '/v2/reports', body: { text: 'a', team_id: red.id }, as: 'eve' })
  assert.equal(report.status, 201)
  for (const as of ['root', 'ann', 'eve']) assert.equal((await send({ path: '/v2/reports', as })).status, 403)
})

it('AUT-13, AUT-14: lookups decide about single fields', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, bob } = await started(current)
  const { id } = await make('tasks', { title: 'paint', team_id: red.id, budget: 7 }, 'ann')
  const budgetFor = async (as: string) => (await send({ path: `/v2/tasks/${id}`, as })).json.budget
  const count = async (as: string, query: string) =>
    (await send({ path: `/v2/tasks?${query}`, as })).json.pagination.total_count
  assert.deepEqual([await budgetFor('ann'), await budgetFor('bob')], [7, null])
  assert.deepEqual([await count('ann', 'budget=7'), await count('bob', 'budget=7')], [1, 0])
  const set = async () =>
    (await send({ method: 'PATCH', path: `/v2/tasks/${id}`, body: { budget: 8 }, as: 'bob' })).status
  assert.equal(await set(), 403)
  const before = (await send({ path: `/v2/tasks/${id}`, as: 'bob' })).headers.etag
  await send({ method: 'PATCH', path: `/v2/memberships/${bob.id}`, body: { role: 'lead' }, as: 'root' })
  assert.deepEqual([await budgetFor('bob'), await count('bob', 'budget=7'), await set()], [7, 1, 200])
  assert.notEqual((await send({ path: `/v2/tasks/${id}`, as: 'bob' })).headers.etag, before)
})

it('EVT-4: events are those of records that a lookup permits now', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, bob } = await started(current)
  const { id } = await make('tasks', { title: 'paint', team_id: red.id }, 'ann')
  const count = async (as: string) => (await send({ path: '/v2/events', as })).json.pagination.total_count
  assert.deepEqual([await count('ann'), await count('bob'), await count('eve')], [1, 1, 0])
  await send({ method: 'DELETE', path: `/v2/memberships/${bob.id}`, as: 'root' })
  assert.deepEqual([await count('ann'), await count('bob')], [1, 0])
  await send({ method: 'DELETE', path: `/v2/tasks/${id}`, as: 'ann' })
  assert.deepEqual([await count('ann'), await count('bob')], [2, 0])
})

it('AUT-5: a reference leads only to records that a lookup lets the caller read', async (context) => {
  const current = await trialFor(context, office)
  const { send, make } = current
  const { red, join } = await started(current)
  const task = await make('tasks', { title: 'paint', team_id: red.id }, 'ann')
  const refer = () => send({ path: '/v2/notes', body: { text: 'a', task_id: task.id }, as: 'eve' })
  assert.deepEqual([(await refer()).status, places(await refer())], [400, ['INVALID_REFERENCE /task_id']])
  await join('eve', red)
  assert.equal((await refer()).status, 201)
})

it('AUT-11: a caller reads which rules decide, in the names of the version', async (context) => {
  const { send } = await trialFor(context, office, { memory: true })
  const permissionsIn = async (version: string) =>
    (await send({ path: `/${version}/caller`, as: 'ann' })).json.permissions
  const now = await permissionsIn('v2')
  assert.deepEqual(now.tasks.read, { granted: 'some', rules: [isMember] })
  assert.deepEqual(now.tasks.create, { granted: 'some', rules: [{ all: [isMember, isNotBanned] }] })
  assert.deepEqual(now.reports.create, { granted: 'none', rules: [{ all: ['role:editor', 'function', isNotBanned] }] })
  assert.equal(now.reports.read.granted, 'none')
  const before = await permissionsIn('v1')
  assert.deepEqual(before.tasks.create.rules, [{ all: ['condition', 'condition'] }])
  assert.deepEqual(before.members.create.rules, ['role:admin', 'condition'])
  assert.ok(!JSON.stringify(before).includes('memberships'))
})
