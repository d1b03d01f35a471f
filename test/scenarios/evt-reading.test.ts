/** EVT-2 to EVT-5: the collection of events. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import { engine } from '../engine.ts'
import { places, purgeAt, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

const everybody = { create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const office: InterfaceDeclaration = {
  name: 'office',
  resources: {
    projects: {
      fields: { name: { type: 'string', filter: true }, owner_id: { type: 'string', readOnly: true } },
      owner: 'owner_id',
      access: { ...everybody, read: ['role:admin', 'owner'], readDeleted: ['role:admin', 'role:editor'] },
      events: true,
    },
    tasks: {
      fields: {
        title: { type: 'string', filter: true },
        project_id: { reference: 'projects', onDelete: 'cascade' },
        effort: { type: 'number', optional: true },
        labels: { type: 'array', items: { type: 'string' }, optional: true },
        secret: { type: 'string', writeOnly: true, optional: true },
      },
      access: { ...everybody, read: { through: 'project_id', action: 'read' } },
      events: true,
    },
    stamps: {
      fields: { text: { type: 'string' }, shown: { type: 'boolean', default: true } },
      access: { ...everybody, read: { where: { shown: true } } },
      deletion: { variant: 'hard' },
      events: true,
    },
    notes: { fields: { text: { type: 'string' } } },
  },
}

interface Event {
  readonly id: string
  readonly collection: string
  readonly record: string
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: records of every collection
  readonly data: any
}

async function eventsOf({ send }: Trial, query = '', as = 'root', version = 'v1'): Promise<Event[]> {
  const { status, text, json } = await send({ path: `/${version}/events?limit=100${query}`, as })
  assert.equal(status, 200, text)
  assert.equal(json.pagination.total_count, json.data.length)
  return json.data
}

const kinds = (events: readonly Event[]) => events.map(({ collection, kind }) => `${collection} ${kind}`)

/** Removes events as their retention does. */
async function forget({ database }: Trial, ...ids: readonly string[]): Promise<void> {
  const statement = `delete from events where id in (${ids.map((id) => `'${id}'`).join()})`
  const tick = "update resourced_clocks set revision = revision + 1 where collection = 'events'"
  if (engine === 'postgres') {
    await database.rows(statement)
    await database.rows(tick)
    return
  }
  const file = new DatabaseSync(database.address.slice('sqlite:'.length))
  file.exec(statement)
  file.exec(tick)
  file.close()
  // A server has one snapshot for each turn of its event loop.
  await sleep(5)
}

it('EVT-2, EVT-3: events are a collection in the order of the changes', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  const project = await make('projects', { name: 'A' }, 'ann')
  const task = await make(
    'tasks',
    { title: 'T', project_id: project.id, effort: 0.1, labels: ['"'], secret: 'x' },
    'ann',
  )
  const changed = await send({ method: 'PATCH', path: `/v1/tasks/${task.id}`, body: { title: 'U' }, as: 'ann' })
  const events = await eventsOf(current)
  assert.deepEqual(kinds(events), ['projects created', 'tasks created', 'tasks updated'])
  const { secret: _, ...shown } = task
  assert.deepEqual(events.map(({ data }) => data), [project, shown, changed.json]) // biome-ignore format: a line
  const [first, second, third] = events as [Event, Event, Event]
  assert.equal(Object.keys(first).join(), 'id,collection,record,kind,data,request_id,created_at,updated_at')
  const { status, json, headers } = await send({ path: `/v1/events/${second.id}`, as: 'ann' })
  assert.deepEqual([status, json], [200, second])
  const tag = { 'if-none-match': headers['etag'] as string }
  assert.equal((await send({ path: `/v1/events/${second.id}`, as: 'ann', headers: tag })).status, 304)
  assert.equal((await send({ path: `/v1/events/${second.id}?fields=kind`, as: 'ann' })).json.kind, 'created')
  assert.equal((await send({ path: `/v1/events/${nowhere}` })).status, 404)
  // Each style of pages, each filter, each order.
  const ids = async (query: string) => {
    const answer = await send({ path: `/v1/events?${query}` })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.data.map(({ id }: Event) => [first, second, third].findIndex((each) => each.id === id))
  }
  assert.deepEqual(await ids('page=2&per_page=2'), [2])
  assert.deepEqual(await ids('offset=1&limit=1'), [1])
  assert.deepEqual(await ids('sort=-created_at'), [2, 1, 0])
  assert.deepEqual(await ids('sort=created_at&limit=2'), [0, 1])
  assert.deepEqual(await ids('collection=tasks'), [1, 2])
  assert.deepEqual(await ids('collection[not]=tasks'), [0])
  assert.deepEqual(await ids(`record=${project.id}`), [0])
  assert.deepEqual(await ids('kind[in]=updated,deleted'), [2])
  assert.deepEqual(await ids(`created_at[gte]=${task.created_at}&kind=created&collection=tasks`), [1])
  assert.deepEqual(await ids(`after=${first.id}`), [1, 2])
  assert.deepEqual(await ids(`after=${first.id}&kind=updated`), [2])
  assert.deepEqual(await ids(`after=${third.id}`), [])
  assert.deepEqual(await ids(`after=${first.id}&sort=-created_at&page=1&per_page=1`), [2])
  const query = { method: 'QUERY', path: '/v1/events', body: { collection: ['tasks'], after: second.id } }
  assert.deepEqual((await send(query)).json.data, [third])
  assert.equal((await send({ method: 'HEAD', path: '/v1/events' })).headers['x-total-count'], '3')
  for (const wrong of ['sort=updated_at', 'sort=kind', 'collection=notes', 'kind=changed', 'after=x', 'updated_at=x']) {
    assert.equal((await send({ path: `/v1/events?${wrong}` })).status, 400, wrong)
  }
  assert.equal((await send({ path: `/v1/events?after=${first.id}&after=${first.id}` })).status, 400)
  assert.equal((await send({ path: `/v1/tasks?after=${first.id}` })).status, 400)
})

it('EVT-2: cursors lead through events in both directions, and contain no positions', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  for (let index = 0; index < 7; index++) await make('stamps', { text: `${index}` })
  for (const query of ['', '&sort=-created_at', '&kind=created']) {
    const texts: string[] = []
    let path: string | undefined = `/v1/events?limit=3${query}`
    let back: string | undefined
    for (let pages = 0; path !== undefined && pages < 5; pages++) {
      const { json } = await send({ path })
      texts.push(...json.data.map(({ data }: Event) => data.text))
      assert.equal(json.pagination.total_count, 7)
      const { next_cursor, previous_cursor } = json.pagination
      back = previous_cursor ?? back
      for (const cursor of [next_cursor, previous_cursor]) {
        if (cursor === null) continue
        const content = Buffer.from(cursor, 'base64url').subarray(16).toString()
        assert.match(content, /^\[[01],("[\dTZ:.-]+",)?"[0-9a-f-]{36}"\]$/)
      }
      path = next_cursor === null ? undefined : `/v1/events?limit=3${query}&cursor=${next_cursor}`
    }
    const expected = ['0', '1', '2', '3', '4', '5', '6']
    assert.deepEqual(texts, query.includes('-') ? expected.toReversed() : expected)
    const before = await send({ path: `/v1/events?limit=3${query}&cursor=${back}` })
    assert.deepEqual(before.json.data.map(({ data }: Event) => data.text), texts.slice(3, 6)) // biome-ignore format: a line
  }
})

it('EVT-2, QRY-8: a filter by record takes a UUID', async (context) => {
  const { send } = await trialFor(context, office, { memory: true })
  for (const query of ['record=', 'record=abc', `record[in]=${nowhere},b`, `record=${nowhere}0`]) {
    const refused = await send({ path: `/v1/events?${query}` })
    assert.deepEqual([refused.status, places(refused)], [400, [`INVALID_VALUE ${query.split('=')[0]}`]], query)
  }
  assert.equal((await send({ path: `/v1/events?record=${nowhere}` })).status, 200)
})

it('EVT-2: nothing but reading is supported, and a tag is as current as the permission', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  const { id } = await make('stamps', { text: 'A' })
  const [event] = (await eventsOf(current)) as [Event]
  for (const path of ['/v1/events', `/v1/events/${event.id}`]) {
    const allowed = path === '/v1/events' ? 'GET, HEAD, QUERY, OPTIONS' : 'GET, HEAD, OPTIONS'
    assert.equal((await send({ method: 'OPTIONS', path })).headers['allow'], allowed)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await send({ method, path, body: {} })
      assert.deepEqual([status, headers['allow']], [405, allowed])
    }
  }
  assert.equal(
    (await send({ method: 'POST', path: '/v1/exports', body: { collection: 'events', format: 'json' } })).status,
    400,
  )
  const list = { path: '/v1/events', as: 'ann' }
  const { headers, json } = await send(list)
  assert.equal(json.data.length, 1)
  const conditional = { ...list, headers: { 'if-none-match': headers['etag'] as string } }
  const single = { path: `/v1/events/${event.id}`, as: 'ann' }
  const tag = (await send(single)).headers['etag'] as string
  assert.equal((await send(conditional)).status, 304)
  assert.equal((await send(single)).status, 200)
  await send({ method: 'PATCH', path: `/v1/stamps/${id}`, body: { shown: false } })
  const hidden = await send(conditional)
  assert.deepEqual([hidden.status, hidden.json.data], [200, []])
  assert.equal((await send({ ...single, headers: { 'if-none-match': tag } })).status, 404)
  await send({ method: 'PATCH', path: `/v1/stamps/${id}`, body: { shown: true } })
  // What was hidden at the time stays hidden.
  assert.deepEqual(
    (await eventsOf(current, '', 'ann')).map(({ data }) => data.shown),
    [true, true],
  )
})

it('EVT-4: an event is read by those who may read its record, as it was and as it is', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  const mine = await make('projects', { name: 'A' }, 'ann')
  const other = await make('projects', { name: 'B' }, 'bob')
  const task = await make('tasks', { title: 'T', project_id: mine.id }, 'ann')
  assert.deepEqual(kinds(await eventsOf(current, '', 'ann')), ['projects created', 'tasks created'])
  assert.deepEqual(kinds(await eventsOf(current, '', 'bob')), ['projects created'])
  await send({ method: 'PATCH', path: `/v1/tasks/${task.id}`, body: { project_id: other.id } })
  // Ann may not read the task as it is, bob not as it was.
  assert.deepEqual(kinds(await eventsOf(current, '&collection=tasks', 'ann')), [])
  assert.deepEqual(kinds(await eventsOf(current, '&collection=tasks', 'bob')), ['tasks updated'])
  await send({ method: 'PATCH', path: `/v1/tasks/${task.id}`, body: { project_id: mine.id } })
  assert.deepEqual(kinds(await eventsOf(current, '&collection=tasks', 'ann')), ['tasks created', 'tasks updated'])
  assert.deepEqual(kinds(await eventsOf(current, '&collection=tasks', 'bob')), [])
  // The owner changes.
  assert.equal(
    (await send({ method: 'PATCH', path: `/v1/projects/${mine.id}`, body: { owner_id: 'eve' } })).status,
    200,
  )
  assert.deepEqual(kinds(await eventsOf(current, '', 'ann')), [])
  assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), ['tasks created', 'tasks updated', 'projects updated'])
})

it('EVT-4: of a deleted record the deletion remains, and more for those who read deleted records', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  const project = await make('projects', { name: 'A' }, 'eve')
  const task = await make('tasks', { title: 'T', project_id: project.id }, 'eve')
  await send({ method: 'DELETE', path: `/v1/projects/${project.id}`, as: 'eve' })
  const deletions = ['projects deleted', 'tasks deleted']
  const all = ['projects created', 'tasks created', ...deletions]
  assert.deepEqual(kinds(await eventsOf(current)), all)
  // Eve may read deleted projects, and not deleted tasks.
  assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), ['projects created', ...deletions])
  assert.deepEqual(kinds(await eventsOf(current, '', 'bob')), [])
  assert.ok((await eventsOf(current, '&kind=deleted', 'eve')).every(({ data }) => data === null))
  await send({ method: 'POST', path: `/v1/projects/${project.id}/restore` })
  const restored = [...all, 'projects restored', 'tasks restored']
  assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), restored)
  await send({ method: 'DELETE', path: `/v1/tasks/${task.id}` })
  assert.deepEqual(kinds(await eventsOf(current, `&record=${task.id}`, 'eve')), ['tasks deleted', 'tasks deleted'])
  assert.equal((await eventsOf(current, `&record=${task.id}`)).length, 4)
  const stamp = await make('stamps', { text: 'A' })
  await send({ method: 'DELETE', path: `/v1/stamps/${stamp.id}` })
  for (const as of ['root', 'bob']) {
    assert.deepEqual(kinds(await eventsOf(current, '&collection=stamps', as)), ['stamps deleted'])
  }
})

it('EVT-4: of a purged record the deletion remains, and the purge for those who read deleted records', async (context) => {
  const current = await trialFor(context, office)
  const { app, make, send } = current
  const project = await make('projects', { name: 'A' }, 'eve')
  const task = await make('tasks', { title: 'T', project_id: project.id }, 'eve')
  // It was deleted as a project of ann, who cannot read it any more.
  const path = `/v1/projects/${project.id}`
  await send({ method: 'PATCH', path, body: { owner_id: 'ann' } })
  await send({ method: 'DELETE', path })
  assert.deepEqual(kinds(await eventsOf(current, '&kind=deleted', 'ann')), ['projects deleted', 'tasks deleted'])
  await send({ method: 'POST', path: `${path}/restore` })
  await send({ method: 'PATCH', path, body: { owner_id: 'eve' } })
  assert.deepEqual(kinds(await eventsOf(current, '', 'ann')), [])
  await send({ method: 'DELETE', path: `/v1/tasks/${task.id}` })
  await send({ method: 'DELETE', path })
  const later = Date.now() + 40 * 86_400_000
  await app.storage.purgeClock.confirm(later)
  assert.equal(await purgeAt(app, later), 2)
  const remaining = ['tasks deleted', 'projects deleted']
  assert.deepEqual(kinds(await eventsOf(current)).slice(0, 2), remaining)
  assert.deepEqual(
    kinds(await eventsOf(current))
      .slice(2)
      .sort(),
    ['projects purged', 'tasks purged'],
  )
  // Without the project's row nobody knows who could read its tasks.
  assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), ['projects deleted', 'projects purged'])
  for (const as of ['ann', 'bob']) assert.deepEqual(kinds(await eventsOf(current, '', as)), [])
  assert.ok((await eventsOf(current)).every(({ data }) => data === null))
})

it('EVT-5: who continues after an event that is no longer kept gets 410', async (context) => {
  const current = await trialFor(context, office)
  const { make, send } = current
  for (let index = 0; index < 5; index++) await make('stamps', { text: `${index}` })
  const events = await eventsOf(current)
  const [first, second] = events as [Event, Event]
  const page = (await send({ path: '/v1/events?limit=2' })).json
  const next = `/v1/events?limit=2&cursor=${page.pagination.next_cursor}`
  assert.equal((await send({ path: next })).json.data.length, 2)
  await forget(current, first.id)
  assert.equal((await eventsOf(current)).length, 4)
  assert.equal((await send({ path: `/v1/events/${first.id}` })).status, 404)
  assert.equal((await send({ path: next })).status, 200)
  await forget(current, second.id)
  for (const path of [next, `/v1/events?after=${first.id}`, `/v1/events?after=${nowhere}&page=1`]) {
    const { status, json } = await send({ path })
    assert.deepEqual([status, json.code], [410, 'EVENTS_EXPIRED'], path)
  }
  assert.equal((await eventsOf(current, `&after=${(events[2] as Event).id}`)).length, 2)
})

const versioned: InterfaceDeclaration = {
  name: 'archive',
  versions: { v1: { deprecated: '2026-01-01' }, v2: {} },
  resources: {
    tasks: {
      fields: {
        title: { type: 'string', filter: true },
        level: { enum: ['low', 'high'] },
        size: { type: 'number', optional: true },
      },
      access: { ...everybody, read: 'anyone' },
      events: true,
    },
    letters: { fields: { text: { type: 'string' } }, access: { ...everybody, read: 'anyone' }, events: true },
  },
  changes: [
    {
      version: 'v2',
      resource: 'tasks',
      was: 'todos',
      rename: { name: 'title' },
      convert: {
        level: {
          schema: { type: 'integer' },
          older: (level: unknown) => (level === 'low' ? 1 : 2),
          newer: (level: unknown) => (level === 1 ? 'low' : 'high'),
        },
      },
    },
    { version: 'v2', resource: 'letters', collection: 'added' },
  ],
}

it('EVT-3: events are in the terms of the version of the client', async (context) => {
  const current = await trialFor(context, versioned)
  const { make, send } = current
  const task = await make('tasks', { title: 'T', level: 'low', size: 1e21 })
  const letter = await make('letters', { text: 'A' })
  await send({ method: 'DELETE', path: `/v2/tasks/${task.id}` })
  assert.deepEqual(kinds(await eventsOf(current, '', 'ann', 'v2')), ['letters created', 'tasks deleted'])
  const older = await eventsOf(current, '', 'root', 'v1')
  assert.deepEqual(kinds(older), ['todos created', 'todos deleted'])
  const { title: name, level: _, ...rest } = task
  assert.deepEqual(older.map(({ data }) => data), [{ ...rest, name, level: 1 }, null]) // biome-ignore format: a line
  assert.deepEqual((await send({ path: `/v1/events/${older[0]?.id}` })).json, older[0])
  assert.deepEqual((await send({ path: '/v1/events?collection=todos&kind=created&fields=data' })).json.data, [
    { id: older[0]?.id, data: older[0]?.data },
  ])
  assert.equal((await send({ path: '/v1/events?collection=tasks' })).status, 400)
  assert.equal((await send({ path: '/v1/events?collection[not]=todos' })).json.pagination.total_count, 0)
  const [ofLetter] = await eventsOf(current, `&record=${letter.id}`, 'root', 'v2')
  assert.equal((await send({ path: `/v1/events/${ofLetter?.id}` })).status, 404)
  assert.equal((await send({ path: `/v2/events/${ofLetter?.id}` })).status, 200)
})

const open: InterfaceDeclaration = {
  name: 'open',
  resources: {
    notes: {
      fields: { text: { type: 'string' } },
      access: { ...everybody, read: 'anyone', readDeleted: 'anyone' },
      events: true,
    },
    stamps: {
      fields: { text: { type: 'string' } },
      access: { ...everybody, read: 'anyone', readDeleted: 'anyone' },
      deletion: { variant: 'hard' },
      events: true,
    },
  },
}

it('PAG-4: totals that are counted onward stay exact, whatever is removed', async (context) => {
  const current = await trialFor(context, open)
  const { app, make, send } = current
  const ids: Record<string, string[]> = { notes: [], stamps: [] }
  // One poll goes on counting; another query has another total.
  const check = async () => {
    for (const query of ['', '&kind=created', '&kind[in]=deleted,purged']) await eventsOf(current, query)
  }
  for (let step = 0; step < 30; step++) {
    const name = step % 3 === 0 ? 'stamps' : 'notes'
    const own = ids[name] as string[]
    const id = own[step % Math.max(1, own.length)]
    if (id === undefined || step % 5 < 3) own.push((await make(name, { text: 'x' })).id)
    else if (step % 5 === 3) await send({ method: 'PATCH', path: `/v1/${name}/${id}`, body: { text: `${step}` } })
    else {
      await send({ method: 'DELETE', path: `/v1/${name}/${id}` })
      own.splice(own.indexOf(id), 1)
    }
    if (step % 2 === 0) await check()
  }
  const later = Date.now() + 40 * 86_400_000
  await app.storage.purgeClock.confirm(later)
  assert.ok(((await purgeAt(app, later)) ?? 0) > 0)
  await check()
  const [first, second] = await eventsOf(current)
  await forget(current, (first as Event).id, (second as Event).id)
  await check()
  await make('notes', { text: 'last' })
  await check()
})

it('EVT-4: a list is as current as the rows that it is read through', async (context) => {
  const { events: _, ...projects } = office.resources['projects'] as ResourceDeclaration
  const current = await trialFor(context, {
    ...office,
    resources: { ...office.resources, projects },
  })
  const { app, make, send } = current
  const project = await make('projects', { name: 'A' }, 'eve')
  const task = await make('tasks', { title: 'T', project_id: project.id }, 'eve')
  await send({ method: 'DELETE', path: `/v1/tasks/${task.id}` })
  const later = Date.now() + 40 * 86_400_000
  await app.storage.purgeClock.confirm(later)
  assert.equal(await purgeAt(app, later), 1)
  await send({ method: 'DELETE', path: `/v1/projects/${project.id}` })
  for (let times = 0; times < 3; times++) {
    assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), ['tasks deleted'])
  }
  // The purge of the project is no event.
  assert.equal(await purgeAt(app, later + 1), 1)
  assert.deepEqual(kinds(await eventsOf(current, '', 'eve')), [])
})
