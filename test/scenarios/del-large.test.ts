/** DEL-5, DEL-8, DEL-10: deletions of so many records that no single transaction deletes them. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { places, type Received, type Sent, trialFor } from '../harness.ts'
import { countOf, fill } from '../steps.ts'

const kind = Type.String({ filter: true })
const deletion = { byFilter: true } as const

const store = defineInterface({
  name: 'store',
  resources: {
    owners: { fields: { name: kind }, deletion },
    boxes: {
      fields: { name: kind, size: Type.Optional(Type.Integer({ filter: true })) },
      deletion: { asynchronous: 'never' },
    },
    items: {
      fields: {
        kind,
        code: Type.Optional(Type.String({ unique: true })),
        owner_id: Type.Optional(reference('owners', { onDelete: 'clear' })),
        box_id: Type.Optional(reference('boxes', { onDelete: 'cascade' })),
      },
      deletion,
    },
    parts: { fields: { item_id: reference('items', { onDelete: 'cascade' }) } },
    seals: { fields: { item_id: reference('items', { onDelete: 'restrict' }) } },
    // Nothing can block their deletion.
    slips: { fields: { kind }, deletion },
    notes: { fields: { kind }, deletion: { byFilter: true, asynchronous: 'never' } },
  },
})

/** More records than one transaction inspects. */
const many = 1_100

function times<T>(count: number, each: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, number) => each(number))
}

/** A trial whose jobs do nothing until they are told to. */
async function held(context: TestContext) {
  const trial = await trialFor(context, store)
  const { jobs } = trial.app.storage
  const { step } = jobs
  Object.assign(jobs, { step: async () => 'elsewhere' })
  return {
    trial,
    /** Runs one batch of each job. */
    async oneBatch() {
      for (const job of await jobs.open()) await step(job, Date.now())
    },
    async run() {
      Object.assign(jobs, { step })
      await trial.app.runner.idle()
    },
  }
}

const remove = (path: string, preference?: string): Sent => ({
  ...{ method: 'DELETE', path: `/v1/${path}` },
  ...(preference !== undefined && { headers: { prefer: preference } }),
})

function isRefused(answer: Received, ...errors: string[]) {
  assert.deepEqual([answer.status, answer.json.code, ...places(answer)], [409, 'BEING_DELETED', ...errors], answer.text)
}

it('DEL-10: a large deletion by filter is 202 before its work; then no match can be changed', async (context) => {
  const { trial, oneBatch, run } = await held(context)
  const { send, make } = trial
  const [owner] = await fill(trial, 'owners', [{ name: 'Ann' }])
  const old = await fill(
    trial,
    'items',
    times(many, () => ({ kind: 'old', owner_id: owner })),
  )
  const parts = await fill(
    trial,
    'parts',
    old.slice(0, 30).map((item_id) => ({ item_id })),
  )
  const [other, gone] = await fill(
    trial,
    'items',
    times(2, (number) => ({ kind: `other ${number}` })),
  )
  assert.equal((await send({ method: 'PATCH', path: `/v1/items/${gone}`, body: { kind: 'old' } })).status, 200)
  assert.equal((await send(remove(`items/${gone}`))).status, 204)
  const accepted = await send(remove('items?kind=old', 'respond-async'))
  assert.equal(accepted.status, 202, accepted.text)
  assert.equal(await countOf(trial, 'items', '?kind=old'), many)
  const [item] = old
  const path = `/v1/items/${item}`
  assert.equal((await send({ path })).status, 200)
  isRefused(await send({ method: 'PATCH', path, body: { kind: 'new' } }), 'BEING_DELETED')
  isRefused(await send(remove(`items/${item}`)), 'BEING_DELETED')
  isRefused(await send({ path: '/v1/items/bulk-delete', body: { ids: [other, item] } }), 'BEING_DELETED /ids/1')
  isRefused(await send({ path: '/v1/parts', body: { item_id: item } }), 'BEING_DELETED /item_id')
  isRefused(await send({ method: 'DELETE', path: `/v1/parts/${parts[0]}` }), 'BEING_DELETED')
  isRefused(await send({ path: '/v1/seals', body: { item_id: item } }), 'BEING_DELETED /item_id')
  // What was not there, or did not match, when the deletion was accepted stays.
  const kept = [
    (await make('items', { kind: 'old' })).id,
    (await send({ method: 'PATCH', path: `/v1/items/${other}`, body: { kind: 'old' } })).json.id,
    (await send({ method: 'POST', path: `/v1/items/${gone}/restore` })).json.id,
  ]
  for (const id of kept) {
    assert.equal((await send({ method: 'PATCH', path: `/v1/items/${id}`, body: { code: id } })).status, 200)
  }
  await oneBatch()
  assert.ok((await countOf(trial, 'items', '?kind=old')) < many + kept.length)
  kept.push((await make('items', { kind: 'old' })).id)
  // The reference of a matching record is cleared, and the record goes all the same.
  assert.equal((await send(remove(`owners/${owner}`))).status, 204)
  await run()
  const left = await send({ path: '/v1/items' })
  assert.deepEqual(left.json.data.map(({ id }: { id: string }) => id).sort(), kept.sort())
  assert.equal(left.json.pagination.total_count, kept.length)
  assert.equal(await countOf(trial, 'parts'), 0)
  const { json } = await send({ path: accepted.json.status_url })
  const { deleted_count, left_count, affected_count } = json.result
  assert.deepEqual([json.status, deleted_count, left_count, affected_count], ['succeeded', many, 0, many + 30])
  assert.deepEqual(json.progress, { done: many + 30, total: many + 30 })
  assert.equal((await send({ method: 'PATCH', path: `/v1/items/${other}`, body: { kind: 'new' } })).status, 200)
  assert.equal((await send({ method: 'POST', path: `/v1/owners/${owner}/restore` })).status, 200)
  assert.equal((await send({ method: 'POST', path: `${path}/restore` })).status, 200)
  assert.equal(await countOf(trial, 'parts'), 1)
})

it('DEL-10: a record that matched goes, even if a cleared reference makes it match no longer', async (context) => {
  const { trial, run } = await held(context)
  const { send } = trial
  const [ann, bob] = await fill(trial, 'owners', [{ name: 'Ann' }, { name: 'Bob' }])
  await fill(
    trial,
    'items',
    times(many, () => ({ kind: 'old', owner_id: ann })),
  )
  const [other] = await fill(trial, 'items', [{ kind: 'old', owner_id: bob }])
  assert.equal((await send(remove(`items?owner_id=${ann}`))).status, 202)
  const slips = await fill(
    trial,
    'slips',
    times(many, () => ({ kind: 'a' })),
  )
  assert.equal((await send(remove('slips?kind=a'))).status, 202)
  isRefused(await send({ method: 'PATCH', path: `/v1/slips/${slips[0]}`, body: { kind: 'b' } }), 'BEING_DELETED')
  for (const owner of [ann, bob]) assert.equal((await send(remove(`owners/${owner}`))).status, 204)
  await run()
  const { json } = await send({ path: '/v1/items' })
  assert.deepEqual(json.data.map(({ id }: { id: string }) => id), [other]) // biome-ignore format: a line
  assert.equal(await countOf(trial, 'slips'), 0)
})

it('DEL-10: max-affected and blocking records stop a large deletion before anything goes', async (context) => {
  const { trial, run } = await held(context)
  const { send } = trial
  const items = await fill(
    trial,
    'items',
    times(many, () => ({ kind: 'old' })),
  )
  const [seal] = await fill(trial, 'seals', [{ item_id: items[many - 1] }])
  const few = await send(remove('items?kind=old', 'handling=strict, max-affected=1099'))
  assert.deepEqual([few.status, few.json.code, few.json.errors[0].count], [409, 'TOO_MANY_AFFECTED', many])
  const blocked = await send(remove('items?kind=old', 'respond-async'))
  assert.deepEqual([blocked.status, blocked.json.code, blocked.json.errors[0].ids], [409, 'HAS_DEPENDENTS', [seal]])
  // Nothing is left of what was announced for the checks.
  assert.deepEqual(await trial.app.storage.jobs.open(), [])
  const path = `/v1/items/${items[0]}`
  assert.equal((await send({ method: 'PATCH', path, body: { code: 'a' } })).status, 200)
  assert.equal((await send(remove(`seals/${seal}`))).status, 204)
  const accepted = await send(remove('items?kind=old', 'handling=strict, respond-async, max-affected=1100'))
  assert.equal(accepted.status, 202, accepted.text)
  await run()
  assert.equal(await countOf(trial, 'items'), 0)
  assert.equal((await send({ path: accepted.json.status_url })).json.result.deleted_count, many)
})

it('DEL-10: a deletion by filter that is never a job answers when all of its batches are done', async (context) => {
  const trial = await trialFor(context, store)
  const { send } = trial
  await fill(
    trial,
    'notes',
    times(many + 1, (number) => ({ kind: number === 0 ? 'new' : 'old' })),
  )
  const answer = await send(remove('notes?kind=old'))
  assert.deepEqual([answer.status, answer.json], [200, { deleted_count: many }])
  assert.equal(await countOf(trial, 'notes'), 1)
  assert.equal(await countOf(trial, 'jobs'), 0)
})

it('DEL-5: a large cascade that never becomes a job answers when all of it is done', async (context) => {
  const trial = await trialFor(context, store)
  const { send, make } = trial
  const box = await make('boxes', { name: 'full' })
  const items = await fill(
    trial,
    'items',
    times(many, () => ({ kind: 'a', box_id: box.id })),
  )
  const [seal] = await fill(trial, 'seals', [{ item_id: items[7] }])
  const path = `boxes/${box.id}`
  const blocked = await send(remove(path))
  assert.deepEqual([blocked.status, blocked.json.code, blocked.json.errors[0].ids], [409, 'HAS_DEPENDENTS', [seal]])
  assert.deepEqual([await countOf(trial, 'items'), await countOf(trial, 'boxes')], [many, 1])
  assert.equal((await send({ method: 'PATCH', path: `/v1/${path}`, body: { name: 'still full' } })).status, 200)
  assert.equal((await send(remove(`seals/${seal}`))).status, 204)
  assert.equal((await send(remove(path))).status, 204)
  assert.deepEqual([await countOf(trial, 'items'), await countOf(trial, 'boxes')], [0, 0])
  assert.equal((await send({ method: 'POST', path: `/v1/${path}/restore` })).status, 200)
  assert.equal(await countOf(trial, 'items'), many)
})

it('DEL-6, DEL-13: a large restoration is a job; if something blocks it midway, all is deleted again', async (context) => {
  const { trial, oneBatch, run } = await held(context)
  const { send, make } = trial
  const vast = 5_100
  const code = (number: number) => `code ${number}`
  const box = await make('boxes', { name: 'full' })
  const items = await fill(
    trial,
    'items',
    times(vast, (number) => ({ kind: 'a', code: code(number), box_id: box.id })),
  )
  assert.equal((await send(remove(`boxes/${box.id}`))).status, 204)
  const restore = { method: 'POST', path: `/v1/boxes/${box.id}/restore` }
  const accepted = await send(restore)
  assert.deepEqual([accepted.status, accepted.json.status], [202, 'pending'], accepted.text)
  assert.equal(accepted.headers['location'], accepted.json.status_url)
  await oneBatch()
  const live = await countOf(trial, 'items')
  assert.ok(live > 0 && live < vast)
  const [first, last] = [items[0], items[vast - 1]].map((id) => `/v1/items/${id}`) as [string, string]
  isRefused(await send({ method: 'PATCH', path: first, body: { kind: 'b' } }), 'BEING_DELETED')
  isRefused(await send(restore), 'BEING_DELETED')
  const taking = await send({ path: '/v1/items', body: { kind: 'a', code: code(vast - 1) } })
  assert.equal(taking.status, 201, taking.text)
  await run()
  const failed = (await send({ path: accepted.json.status_url })).json
  assert.deepEqual([failed.kind, failed.status, failed.error.code], ['restoration', 'failed', 'DUPLICATE_VALUE'])
  assert.deepEqual([await countOf(trial, 'items'), await countOf(trial, 'boxes')], [1, 0])
  const repeated = await send(restore)
  assert.deepEqual([repeated.status, repeated.json.code], [409, 'DUPLICATE_VALUE'], repeated.text)
  assert.ok(repeated.json.errors[0].message.startsWith(`items ${items[vast - 1]}: `), repeated.text)
  assert.equal((await send(remove(`items/${taking.json.id}`))).status, 204)
  const again = await send(restore)
  assert.equal(again.status, 202, again.text)
  await trial.app.runner.idle()
  const done = (await send({ path: again.json.status_url })).json
  assert.deepEqual([done.status, done.result], ['succeeded', { id: box.id, affected_count: vast + 1 }])
  assert.deepEqual([await countOf(trial, 'items'), (await send({ path: last })).status], [vast, 200])
  assert.equal((await send({ method: 'PATCH', path: first, body: { kind: 'b' } })).status, 200)
})

it('DEL-13: a small restoration is a job too, if the client prefers it', async (context) => {
  const trial = await trialFor(context, store)
  const { send, make } = trial
  const item = await make('items', { kind: 'a' })
  const part = await make('parts', { item_id: item.id })
  assert.equal((await send(remove(`items/${item.id}`))).status, 204)
  const headers = { prefer: 'respond-async', 'idempotency-key': 'once' }
  const restore = { method: 'POST', path: `/v1/items/${item.id}/restore`, headers }
  const accepted = await send(restore)
  assert.deepEqual([accepted.status, accepted.headers['preference-applied']], [202, 'respond-async'], accepted.text)
  await trial.app.runner.idle()
  assert.equal((await send({ path: accepted.json.status_url })).json.status, 'succeeded')
  assert.equal((await send({ method: 'PATCH', path: `/v1/items/${item.id}`, body: { kind: 'b' } })).status, 200)
  assert.equal((await send({ path: `/v1/parts/${part.id}` })).status, 200)
  assert.deepEqual((await send(restore)).json, accepted.json)
})

it('MET-9: a large bulk deletion runs once for its key, and a repetition gets the first answer', async (context) => {
  const trial = await trialFor(context, store)
  const { send, make } = trial
  const boxes = [(await make('boxes', { name: 'one' })).id, (await make('boxes', { name: 'two' })).id]
  await fill(
    trial,
    'items',
    times(many, (number) => ({ kind: 'a', box_id: boxes[number % 2] })),
  )
  const asked = { path: '/v1/boxes/bulk-delete', body: { ids: boxes }, headers: { 'idempotency-key': 'k1' } }
  const answers = await Promise.all([send(asked), send(asked)])
  const first = answers.find(({ status }) => status === 200)
  assert.ok(first, JSON.stringify(answers.map(({ json }) => json)))
  for (const answer of answers) {
    if (answer.status !== 200) assert.deepEqual([answer.status, answer.json.code], [409, 'IDEMPOTENCY_KEY_IN_USE'])
  }
  assert.deepEqual((await send(asked)).json, first.json)
  assert.equal(await countOf(trial, 'items'), 0)
})

it('DEL-8, DEL-10: few matches of many records are gone at once, whatever the filter is', async (context) => {
  const trial = await trialFor(context, store)
  await fill(
    trial,
    'slips',
    times(10_004, (number) => ({ kind: number < 3 ? 'a few' : 'kept' })),
  )
  const answer = await trial.send(remove('slips?kind[contains]=few'))
  assert.deepEqual([answer.status, answer.json], [200, { deleted_count: 3 }], answer.text)
  assert.equal(await countOf(trial, 'slips'), 10_001)
})

it('DEL-5, DEL-10: few records and their children go in one transaction, however they are found', async (context) => {
  const trial = await trialFor(context, store)
  const { send, app } = trial
  const items = await fill(
    trial,
    'items',
    times(10_001, (number) => ({ kind: number < 300 ? 'a few' : 'kept' })),
  )
  await fill(trial, 'parts', [{ item_id: items[0] }])
  const [seal] = await fill(trial, 'seals', [{ item_id: items[299] }])
  const { step } = app.storage.jobs
  Object.assign(app.storage.jobs, { step: async () => 'elsewhere' })
  const few = remove('items?kind[contains]=few')
  const blocked = await send(few)
  assert.deepEqual([blocked.status, blocked.json.code, blocked.json.errors[0].ids], [409, 'HAS_DEPENDENTS', [seal]])
  assert.equal(await countOf(trial, 'items'), 10_001)
  assert.equal((await send(remove(`seals/${seal}`))).status, 204)
  // The state of the collection changes once.
  const tags = new Set<string>()
  let isOver = false
  const answer = send(few).finally(() => {
    isOver = true
  })
  while (!isOver) {
    tags.add(String(await countOf(trial, 'items')))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.deepEqual([(await answer).status, (await answer).json], [200, { deleted_count: 300 }])
  tags.delete('10001')
  tags.delete('9701')
  assert.deepEqual([[...tags], await countOf(trial, 'items'), await countOf(trial, 'parts')], [[], 9_701, 0])
  Object.assign(app.storage.jobs, { step })
  assert.deepEqual(await app.storage.jobs.open(), [])
  assert.equal((await send({ method: 'POST', path: `/v1/items/${items[0]}/restore` })).status, 200)
  assert.equal(await countOf(trial, 'parts'), 1)
})
