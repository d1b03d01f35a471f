/** EVT-3: events of one request can be recognized, however many records it changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventContext } from 'resourced-contract/model/declared-functions'
import { defineInterface } from '../../packages/server/src/index.ts'
import { purgeAt, type Received, type Trial, trialFor } from '../harness.ts'

const everybody = {
  read: 'anyone',
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
} as const

const seen: EventContext['event'][] = []

const studio = defineInterface({
  name: 'studio',
  resources: {
    projects: { fields: { name: { type: 'string', filter: true, unique: true } }, access: everybody, events: true },
    tasks: {
      fields: {
        title: { type: 'string', filter: true },
        project_id: { reference: 'projects', onDelete: 'cascade', optional: true },
      },
      deletion: { byFilter: true },
      updates: { byFilter: true },
      access: everybody,
      events: true,
      on: { created: ({ event }) => void seen.push(event) },
    },
  },
})

const merge = { 'content-type': 'application/merge-patch+json' }
const asJob = { prefer: 'respond-async' }

/** The ids of requests of the events after the first ones, with their kinds. */
async function eventsAfter({ send }: Trial, count: number): Promise<(readonly [string, string | null])[]> {
  const { json } = await send({ path: '/v1/events?limit=100' })
  return json.data.slice(count).map((each: Record<string, string>) => [each['kind'], each['request_id']])
}

const requestOf = ({ headers }: Received) => String(headers['x-request-id'])

/** A request whose events all name it: how many there are. */
async function together(trial: Trial, sent: Parameters<Trial['send']>[0], status: number, count: number) {
  const before = (await eventsAfter(trial, 0)).length
  const response = await trial.send(sent)
  assert.equal(response.status, status, response.text)
  await trial.app.runner.idle()
  const after = await eventsAfter(trial, before)
  assert.deepEqual(
    after.map(([, id]) => id),
    Array(count).fill(requestOf(response)),
    JSON.stringify(sent),
  )
  return response
}

test('EVT-3: all events of a request name it: of arrays, transactions, cascades, filters, restorations and jobs', async (context) => {
  const trial = await trialFor(context, studio)
  const project = await together(trial, { path: '/v1/projects', body: { name: 'A' } }, 201, 1)
  const { id } = project.json
  const bodies = ['a', 'b', 'c'].map((title) => ({ title, project_id: id }))
  const made = await together(trial, { path: '/v1/tasks', body: bodies }, 201, 3)
  const path = `/v1/tasks/${made.json.data[0].id}`
  await together(trial, { method: 'PATCH', path, body: { title: 'd' } }, 200, 1)
  await together(trial, { method: 'PUT', path: '/v1/projects?name=A', body: { name: 'B' } }, 400, 0)
  const changes = made.json.data.map((each: { id: string }) => ({ id: each.id, title: 'e' }))
  await together(trial, { method: 'PATCH', path: '/v1/tasks', body: changes }, 200, 3)
  const byFilter = { method: 'PATCH', path: '/v1/tasks?title=e', headers: merge, body: { title: 'f' } }
  await together(trial, byFilter, 200, 3)
  await together(trial, { ...byFilter, path: '/v1/tasks?title=f', headers: { ...merge, ...asJob }, body: { title: 'g' } }, 202, 3) // biome-ignore format: one row
  const operations = [
    { method: 'POST', path: '/projects', body: { name: 'C' } },
    { method: 'PATCH', path: path.slice('/v1'.length), body: { title: 'h' } },
    { method: 'DELETE', path: `/projects/${id}` },
    { method: 'POST', path: `/projects/${id}/restore` },
  ]
  await together(trial, { path: '/v1/transactions', body: { operations } }, 200, 2 + 4 + 4)
  await together(trial, { method: 'DELETE', path: `/v1/projects/${id}`, headers: asJob }, 202, 4)
  await together(trial, { method: 'POST', path: `/v1/projects/${id}/restore`, headers: asJob }, 202, 4)
  await together(trial, { method: 'DELETE', path: '/v1/tasks?title=g', headers: asJob }, 202, 2)
})

test('EVT-3: no client chooses the id of a request, and a repeated one has no events', async (context) => {
  const trial = await trialFor(context, studio)
  const headers = { 'x-request-id': '00000000-0000-7000-8000-000000000000', 'idempotency-key': '"a"' }
  const sent = { path: '/v1/tasks', headers, body: { title: 'a' } }
  const first = await together(trial, sent, 201, 1)
  assert.notEqual(requestOf(first), headers['x-request-id'])
  await together(trial, sent, 201, 0)
})

test('EVT-3: a purge is no request, whatever changed records before', async (context) => {
  const trial = await trialFor(context, studio)
  const { id } = await trial.make('tasks', { title: 'a' })
  await trial.send({ method: 'DELETE', path: `/v1/tasks/${id}` })
  const clock = Date.now() + 40 * 86_400_000
  assert.equal(await trial.app.storage.purgeClock.confirm(clock), undefined)
  assert.equal(await purgeAt(trial.app, clock), 1)
  const [deleted, purged] = await eventsAfter(trial, 0)
  assert.deepEqual([deleted?.[0], typeof deleted?.[1], purged], ['deleted', 'string', ['purged', null]])
})

test('EVT-3, EVT-12: a function gets the id of the request', async (context) => {
  const trial = await trialFor(context, studio)
  await trial.app.deliveries?.settle()
  seen.length = 0
  const made = await trial.send({ path: '/v1/tasks', body: [{ title: 'a' }, { title: 'b' }] })
  await trial.app.deliveries?.settle()
  assert.deepEqual(
    seen.map(({ request_id }) => request_id),
    [requestOf(made), requestOf(made)],
  )
})
