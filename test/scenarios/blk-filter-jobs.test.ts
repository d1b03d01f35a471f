/** BLK-3: changes by filter that are jobs. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { desk, notes } from '../declarations-changes.ts'
import { places, type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const count = 80

const change = (path: string, body: unknown, more: Partial<Sent> = {}): Sent => ({
  ...{ method: 'PATCH', path: `/v2/${path}`, body },
  ...more,
})
const told = (answer: Received) => [answer.status, answer.json?.code, ...places(answer)]

interface Ticket {
  readonly id: string
  readonly status: string
  readonly queue_id: string | null
}

const tickets = async ({ send }: Trial): Promise<Ticket[]> => (await send({ path: '/v2/tickets?limit=100' })).json.data
const isOpen = ({ status }: Ticket) => status === 'open'

/** Eighty tickets, whose changes are jobs that wait until `run` lets so many windows run, or all. */
async function started(context: TestContext, bodies = (index: number): object => ({ title: `T${index}` })) {
  const current = await trialFor(context, desk)
  const ids = await fill(
    current,
    'tickets',
    Array.from({ length: count }, (_, index) => bodies(index)),
  )
  return { ...current, ids, ...held(current) }
}

function held({ app }: Trial) {
  const { step } = app.storage.jobs
  let left = 0
  Object.assign(app.storage.jobs, {
    step: async (...given: Parameters<typeof step>) => (left-- > 0 ? step(...given) : 'elsewhere'),
  })
  return {
    async run(windows = Number.POSITIVE_INFINITY) {
      left = windows
      await app.runner.idle()
      left = 0
    },
  }
}

async function accepted(current: Trial, sent: Sent): Promise<string> {
  const answer = await current.send(sent)
  assert.equal(answer.status, 202, answer.text)
  return answer.json.status_url
}

it('BLK-3: above the bound it is a job, whose record has its progress and result', async (context) => {
  const current = await started(context)
  const { send, ids, run } = current
  await send(change(`tickets?id=${ids[0]}`, { status: 'open' }))
  const path = await accepted(current, change('tickets?status[in]=new,open', { status: 'open' }))
  assert.equal((await tickets(current)).filter(isOpen).length, 1)
  const pending = (await send({ path })).json
  assert.deepEqual([pending.kind, pending.status, pending.progress], ['update', 'pending', { done: 0, total: count }])
  await run()
  const { json } = await send({ path })
  assert.deepEqual([json.status, json.progress], ['succeeded', { done: count, total: count }])
  assert.deepEqual([json.result, json.started_by], [{ updated_count: count }, 'root'])
  assert.equal((await tickets(current)).filter(isOpen).length, count)
  const events = (await send({ path: '/v2/events?kind=updated&limit=100' })).json.data
  assert.equal(events.length, count)
  // Nothing is left of it: each can be changed again.
  assert.equal((await send(change(`tickets/${ids[3]}`, { status: 'done' }))).status, 200)
})

it('BLK-3: until the job ends, its records are read and referred to, and not changed or deleted', async (context) => {
  const current = await started(context)
  const { send, make, ids, run } = current
  const path = await accepted(current, change('tickets?status=new', { status: 'open', title: 'Changed' }))
  await run(1)
  const requests: Sent[] = [
    change(`tickets/${ids[0]}`, { title: 'Mine' }),
    change(`tickets/${ids[29]}`, { title: 'Mine' }),
    change('tickets?status[in]=new,open', { title: 'Mine' }),
    change(`tickets?id=${ids[4]}`, { title: 'Mine' }),
    { method: 'PUT', path: `/v2/tickets/${ids[2]}`, body: { title: 'Mine' } },
    { method: 'DELETE', path: `/v2/tickets/${ids[1]}` },
    { method: 'DELETE', path: '/v2/tickets?status[in]=new,open' },
  ]
  for (const sent of requests) {
    const { status, json } = await send(sent)
    assert.deepEqual([status, json.code], [409, 'BEING_CHANGED'], `${sent.method} ${sent.path}`)
  }
  const listed = await send({ path: '/v2/tickets/bulk-delete', body: { ids: [ids[0]] } })
  assert.deepEqual(told(listed), [409, 'BEING_CHANGED', 'BEING_CHANGED /ids/0'])
  assert.equal((await send({ path: `/v2/tickets/${ids[29]}` })).status, 200)
  const other = await make('tickets', { title: 'Other' })
  await make('remarks', { text: 'Good', ticket_id: ids[29] })
  // The parent of a record is not deleted under it.
  const removed = await send({ method: 'DELETE', path: `/v2/queues/${(await make('queues', { name: 'Free' })).id}` })
  assert.equal(removed.status, 204)
  await run()
  assert.equal((await send({ path })).json.status, 'succeeded')
  const all = await tickets(current)
  assert.deepEqual(
    all.map(({ status }) => status),
    [...ids.map(() => 'open'), 'new'],
  )
  assert.equal((await send(change(`tickets/${other.id}`, { title: 'Mine' }))).status, 200)
})

it('BLK-3: every match is checked before the 202', async (context) => {
  const current = await started(context)
  const { send, ids } = current
  for (const id of [ids[5], ids[25]]) {
    await send(change(`tickets/${id}`, { status: 'open' }))
    await send(change(`tickets/${id}`, { status: 'done' }))
  }
  const before = await tickets(current)
  const refused: [object, ...(string | number)[]][] = [
    [{ status: 'open' }, 409, 'INVALID_TRANSITION', 'INVALID_TRANSITION /status', 'INVALID_TRANSITION /status'],
    [{ priority: 10 }, 400, 'VALIDATION_FAILED', 'TOO_LARGE /priority'],
    [{ queue_id: ids[0] }, 400, 'VALIDATION_FAILED', 'INVALID_REFERENCE /queue_id'],
    [{ origin: 'x' }, 400, 'VALIDATION_FAILED', 'IMMUTABLE /origin'],
    [{ code: 'x' }, 409, 'TOO_MANY_AFFECTED', 'TOO_MANY_AFFECTED /code'],
  ]
  for (const [body, ...expected] of refused) {
    assert.deepEqual(told(await send(change('tickets?title[starts_with]=t', body))), expected, JSON.stringify(body))
  }
  const many = await send(
    change('tickets?title[starts_with]=t', { priority: 1 }, { headers: { prefer: 'max-affected=79' } }),
  )
  assert.deepEqual([many.status, many.json.errors[0].count], [409, count])
  assert.deepEqual(await tickets(current), before)
  // Nothing is left of what was refused.
  assert.equal((await send(change(`tickets/${ids[7]}`, { title: 'Free' }))).status, 200)
})

it('BLK-3: a client may prefer a job, however few match', async (context) => {
  const current = await started(context)
  const { send, ids, run } = current
  const headers = { prefer: 'respond-async' }
  const answer = await send(change(`tickets?id=${ids[0]}`, { status: 'open' }, { headers }))
  assert.deepEqual([answer.status, answer.headers['preference-applied']], [202, 'respond-async'])
  await run()
  assert.deepEqual((await send({ path: answer.json.status_url })).json.result, { updated_count: 1 })
  const none = await send(change('tickets?priority=9', { status: 'open' }, { headers }))
  assert.deepEqual([none.status, none.json], [200, { updated_count: 0 }])
})

it('BLK-3: a job that cannot go on restores every record, and fails', async (context) => {
  const current = await started(context)
  const { send, make, ids, run } = current
  const [first, second] = [await make('queues', { name: 'First' }), await make('queues', { name: 'Second' })]
  await send(change(`tickets?id[in]=${ids.slice(0, 15).join()}`, { queue_id: first.id, labels: { a: [1] } }))
  const before = await tickets(current)
  const path = await accepted(
    current,
    change('tickets?status=new', { queue_id: second.id, title: 'Moved', labels: null }),
  )
  await window(current, run)
  // Where it goes is not deleted meanwhile, nor where it comes from.
  for (const { id } of [first, second]) {
    const { status, json } = await send({ method: 'DELETE', path: `/v2/queues/${id}` })
    assert.deepEqual([status, json.code], [409, 'BEING_CHANGED'])
  }
  await make('bans', { title: 'Moved' })
  await run()
  const { json } = await send({ path })
  assert.deepEqual([json.status, json.error.code, json.error.status], ['failed', 'BANNED', 409])
  assert.deepEqual([json.progress, json.result], [{ done: 0, total: count }, null])
  assert.deepEqual(await tickets(current), before)
  assert.equal((await send({ path: '/v2/tickets?q=moved' })).json.pagination.total_count, 0)
  assert.equal((await send(change(`tickets/${ids[0]}`, { priority: 1 }))).status, 200)
})

/** Runs the window that changes the first records; there are more. */
async function window(current: Trial, run: (windows: number) => Promise<void>): Promise<void> {
  await run(1)
  const moved = (await current.send({ path: '/v2/tickets?q=moved' })).json.pagination.total_count
  assert.ok(moved > 0 && moved < count, `${moved} records are changed`)
}

it('BLK-3: functions and older versions in jobs', async (context) => {
  const current = await started(context)
  const path = await accepted(current, { method: 'PATCH', path: '/v1/cases?status=new', body: { level: 3 } })
  await current.run()
  assert.equal((await current.send({ path })).json.status, 'succeeded')
  assert.equal((await current.send({ path: '/v2/tickets?priority=3' })).json.pagination.total_count, count)
  const own = await trialFor(context, notes)
  await fill(
    own,
    'notes',
    Array.from({ length: 25 }, (_, index) => ({ text: `n${index}`, rank: index })),
  )
  const body = { rank: 2 }
  const answer = await own.send({ method: 'PATCH', path: '/v1/notes?is_open=true', body })
  assert.equal(answer.status, 202, answer.text)
  await own.app.runner.idle()
  const [one] = (await own.send({ path: '/v1/notes?text=n7' })).json.data
  assert.equal(one.label, 'n7 2')
  const refused = await own.send({ method: 'PATCH', path: '/v1/notes?is_open=true', body: { rank: 13 } })
  assert.deepEqual([refused.status, refused.json.code, refused.json.errors.length], [409, 'UNLUCKY', 25])
})
