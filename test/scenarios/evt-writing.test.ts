/** EVT-1: each change of each record is one event, written in the transaction of the change. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { type Trial, trial } from '../harness.ts'

const everybody = {
  read: 'anyone',
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
} as const

const office = defineInterface({
  name: 'office',
  resources: {
    projects: { fields: { name: { type: 'string', filter: true } }, access: everybody, events: true },
    tasks: {
      fields: {
        title: { type: 'string', filter: true },
        project_id: { reference: 'projects', onDelete: 'cascade' },
        urgent: { type: 'boolean', optional: true },
        effort: { type: 'number', optional: true },
        count: { type: 'integer', optional: true },
        price: { type: 'decimal', precision: 12, scale: 2, optional: true },
        due_at: { type: 'string', format: 'date-time', optional: true },
        labels: { type: 'array', items: { type: 'string' }, optional: true },
        pin: { type: 'string', writeOnly: true, optional: true },
        data: { type: 'object', optional: true },
        owner_id: { type: 'string', optional: true },
      },
      owner: 'owner_id',
      access: { ...everybody, read: ['owner', { where: { urgent: true } }] },
      events: true,
    },
    stamps: {
      fields: { text: { type: 'string' }, project_id: { reference: 'projects', onDelete: 'cascade' } },
      deletion: { variant: 'hard', byFilter: true },
      access: everybody,
      events: true,
    },
    plans: {
      fields: { project_id: { reference: 'projects', onDelete: 'clear', optional: true } },
      access: everybody,
      events: true,
    },
    notes: { fields: { text: { type: 'string' } }, access: everybody },
  },
})

interface Event {
  readonly collection: string
  readonly record: string
  readonly kind: string
  readonly data: Record<string, unknown> | null
  readonly created_at: string
}

async function eventsOf({ database }: Trial, record?: string): Promise<Event[]> {
  const rows = await database.rows('select * from events order by _row')
  assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length)
  for (const { id } of rows) {
    assert.match(String(id), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const written = Number.parseInt(String(id).replace('-', '').slice(0, 12), 16)
    assert.ok(Math.abs(written - Date.now()) < 600_000, 'the id begins with the time')
  }
  const parsed = rows.map((row) => ({
    ...row,
    data: typeof row['data'] === 'string' ? JSON.parse(row['data']) : row['data'],
  })) as unknown as Event[]
  return record === undefined ? parsed : parsed.filter((each) => each.record === record)
}

const kindsOf = (events: readonly Event[]) => events.map(({ collection, kind }) => `${collection} ${kind}`)

describe('EVT-1: each change is one event', () => {
  test('EVT-1: a record is created, updated, deleted, restored, deleted and purged', async () => {
    const office_ = await trial(office)
    const { id, created_at } = await office_.make('projects', { name: 'A' })
    const path = `/v1/projects/${id}`
    const changed = await office_.send({ method: 'PATCH', path, body: { name: 'B' } })
    assert.equal((await office_.send({ method: 'DELETE', path })).status, 204)
    const restored = await office_.send({ method: 'POST', path: `${path}/restore` })
    assert.equal(restored.status, 200)
    const events = await eventsOf(office_, id)
    assert.deepEqual(
      kindsOf(events),
      ['created', 'updated', 'deleted', 'restored'].map((kind) => `projects ${kind}`),
    )
    const [made, updated, gone, back] = events as [Event, Event, Event, Event]
    assert.deepEqual(made.data, { name: 'A', created_at, updated_at: created_at })
    assert.deepEqual(
      [updated.data, updated.created_at],
      [{ name: 'B', created_at, updated_at: changed.json.updated_at }, changed.json.updated_at],
    )
    // No access rule compares a field.
    assert.deepEqual(gone.data, {})
    assert.deepEqual([back.data?.['name'], back.created_at], ['B', restored.json.updated_at])
    assert.equal((await office_.send({ method: 'DELETE', path })).status, 204)
    const clock = Date.now() + 40 * 86_400_000
    assert.equal(await office_.app.storage.purgeClock.confirm(clock), undefined)
    await purge(office_, clock)
    const last = await eventsOf(office_, id)
    assert.deepEqual(kindsOf(last).slice(4), ['projects deleted', 'projects purged'])
    // DEL-7: nothing of the record is left. Of its deletions only the last one can still be read.
    assert.deepEqual(
      last.map(({ data }) => data),
      [null, null, null, null, {}, {}],
    )
    await office_.close()
  })

  test('EVT-1: a cascade has an event for each record, and a cleared reference too', async () => {
    const office_ = await trial(office)
    const project = await office_.make('projects', { name: 'A' })
    const task = await office_.make('tasks', { title: 'T', project_id: project.id })
    const stamp = await office_.make('stamps', { text: 'S', project_id: project.id })
    const plan = await office_.make('plans', { project_id: project.id })
    const path = `/v1/projects/${project.id}`
    assert.equal((await office_.send({ method: 'DELETE', path })).status, 204)
    const after = (await eventsOf(office_)).slice(4)
    assert.deepEqual(
      new Set(kindsOf(after)),
      new Set(['projects deleted', 'tasks deleted', 'stamps deleted', 'plans updated']),
    )
    assert.equal(after.length, 4)
    assert.deepEqual((await eventsOf(office_, plan.id))[1]?.data?.['project_id'], null)
    // The row of a stamp is gone.
    assert.deepEqual(
      (await eventsOf(office_, stamp.id)).map(({ data }) => data),
      [null, {}],
    )
    assert.equal((await office_.send({ method: 'POST', path: `${path}/restore` })).status, 200)
    assert.deepEqual(
      kindsOf(await eventsOf(office_, task.id)),
      ['created', 'deleted', 'restored'].map((kind) => `tasks ${kind}`),
    )
    await office_.close()
  })

  test('EVT-1: a refused or a repeated request is no event, nor is a change of nothing or of another collection', async () => {
    const office_ = await trial(office)
    const { id } = await office_.make('projects', { name: 'A' })
    await office_.make('notes', { text: 'no events' })
    const path = `/v1/projects/${id}`
    assert.equal((await office_.send({ method: 'PATCH', path, body: { name: 7 } })).status, 400)
    assert.equal((await office_.send({ method: 'PATCH', path, body: { name: 'A' } })).status, 200)
    const repeated = {
      method: 'POST',
      path: '/v1/projects',
      headers: { 'idempotency-key': 'once' },
      body: { name: 'C' },
    }
    assert.equal((await office_.send(repeated)).status, 201)
    assert.equal((await office_.send(repeated)).status, 201)
    assert.deepEqual(kindsOf(await eventsOf(office_)), ['projects created', 'projects created'])
    await office_.close()
  })

  test('EVT-1: values come back as they are stored, without those that are writeOnly', async () => {
    const office_ = await trial(office)
    const project = await office_.make('projects', { name: 'A' })
    const values = {
      ...{ title: 'quote " backslash \\ and 😀', project_id: project.id, urgent: true, effort: 0.1 + 0.2 },
      ...{ count: -9007199254740991, price: '1234567890.10', due_at: '2026-11-21T08:00:00+02:00' },
      ...{ labels: ['a "b"', ''], data: { deep: [{ x: 1.5e300 }] }, pin: 'secret' },
    }
    const { id } = await office_.make('tasks', values)
    const [{ data }] = (await eventsOf(office_, id)) as [Event]
    assert.ok(data !== null)
    const { pin: _, ...shown } = values
    const expected = {
      ...shown,
      urgent: Boolean(1),
      labels: JSON.stringify(shown.labels),
      data: JSON.stringify(shown.data),
    }
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, data[name]]))
    assert.deepEqual({ ...found, urgent: Boolean(found['urgent']) }, expected)
    assert.equal('pin' in data || '_folded_title' in data, false)
    await office_.send({ method: 'DELETE', path: `/v1/tasks/${id}` })
    const [, gone] = await eventsOf(office_, id)
    assert.deepEqual(Object.keys(gone?.data ?? {}).sort(), ['owner_id', 'urgent'])
    await office_.close()
  })
})

async function purge({ app }: Trial, now: number): Promise<void> {
  const { jobs } = app.storage
  assert.equal(await jobs.beginPurge({ id: '0190f0a0-0000-7000-8000-000000000001', statusUrl: '/x' }, now), true)
  for (const job of await jobs.open()) while ((await jobs.step(job, now)) === 'more');
}
