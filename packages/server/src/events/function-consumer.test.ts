import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { EventContext, EventFunction, FunctionClient } from 'resourced-contract/model/declared-functions'
import type { EventKind } from 'resourced-contract/model/event'
import { uuidv7 } from 'uuidv7'
import type { ReadEvent, ReadEvents } from '../plan/plan-events.ts'
import type { ClaimedDelivery, DeliveryStore } from '../storage/delivery-store.ts'
import type { EventStore } from '../storage/storage.ts'
import { functionConsumers, removedFunctions } from './function-consumer.ts'

const minute = 60_000

/** The consumer of a resource with functions, over events that the test makes. */
function consumerOf(on: { readonly [Kind in EventKind]?: EventFunction }, functionTime = 1_000) {
  const text = { type: 'string' }
  const catalog = completeCatalog({
    name: 'x',
    resources: { notes: { fields: { text }, events: true, on }, tags: { fields: { text }, events: true } },
    limits: { functionTime },
  })
  const all: ReadEvent[] = []
  const plans: ReadEvents[] = []
  const failures: unknown[] = []
  const removed: unknown[] = []
  const moment = { now: 0 }
  const events: Pick<EventStore, 'read'> = {
    async read(plan) {
      plans.push(plan)
      return { events: all.slice(plan.after, plan.after + plan.limit), position: all.length, mark: 0, more: false }
    },
  }
  const options = {
    client: {} as FunctionClient,
    now: () => moment.now,
    failed: (error: unknown) => void failures.push(error),
  }
  const deliveries: Pick<DeliveryStore, 'removeKind'> = {
    removeKind: async (...kind) => void removed.push(kind),
  }
  const consumers = functionConsumers({ catalog, events: events as EventStore, deliveries, ...options })
  assert.deepEqual([...consumers.keys()], Object.keys(on).length > 0 ? ['resources.notes.on'] : [])
  const add = (kind: EventKind, data: object | null): ClaimedDelivery => {
    const position = all.length + 1
    const known = { id: uuidv7(), collection: 'notes', record: uuidv7(), kind, position }
    all.push({ ...known, createdAt: '2027-01-01T00:00:00.000Z', json: JSON.stringify({ ...known, data }) })
    return { ...known, id: uuidv7(), event: known.id, attempts: 1, firstAt: 0 }
  }
  const consumer = consumers.get('resources.notes.on')
  assert.ok(consumer !== undefined)
  const deliver = (delivery: ClaimedDelivery, signal = new AbortController().signal) =>
    consumer.deliver(delivery, signal)
  return { consumer, plans, failures, removed, deliveries, moment, add, deliver, all }
}

const quiet = { status: null, body: null }

test('a function gets its event with the record, frozen, and succeeds whatever it returns (EVT-12)', async () => {
  const seen: EventContext[] = []
  const answers = [undefined, 7, null, { no: 'meaning' }]
  const { add, deliver, all } = consumerOf({ created: (context) => answers[seen.push(context) - 1] as never })
  for (const _ of answers) {
    const result = await deliver(add('created', { text: 'a', labels: ['x'] }))
    assert.equal(result.kind, 'succeeded')
  }
  const [{ event, record, signal }] = seen as [EventContext]
  const [{ id, record: recordId }] = all as [ReadEvent]
  const about = { collection: 'notes', record: recordId, request_id: null, created_at: '2027-01-01T00:00:00.000Z' }
  assert.deepEqual({ ...event }, { id, kind: 'created', ...about })
  assert.deepEqual(record, { text: 'a', labels: ['x'] })
  assert.ok(Object.isFrozen(seen[0]) && Object.isFrozen(event) && Object.isFrozen(record?.['labels']))
  assert.equal(signal.aborted, false)
})

test('the record of a deletion is null', async () => {
  const seen: unknown[] = []
  const { add, deliver } = consumerOf({ deleted: ({ record }) => void seen.push(record) })
  await deliver(add('deleted', null))
  assert.deepEqual(seen, [null])
})

const failing: Readonly<Record<string, readonly [EventFunction, RegExp]>> = {
  'throws an error': [({ record }) => assert.fail(`no mail to ${record?.['text']}`), /created threw AssertionError: no mail to \*\*\*$/],
  'rejects': [async ({ record }) => assert.fail(`no mail to ${record?.['text']}`), /threw AssertionError: no mail to \*\*\*$/],
  'rejects with a text': [() => Promise.reject('no'), /threw string: no$/],
  'never settles': [() => new Promise(() => {}), /created took more than 0\.02 seconds\.$/],
  'rejects too late': [() => sleep(50).then(() => assert.fail('late')), /took more than/],
  'changes its record': [({ record }) => void Object.assign(record ?? {}, { text: 'b' }), /threw TypeError/],
} // biome-ignore format: one row reads best
for (const [name, [call, said]] of Object.entries(failing)) {
  test(`a function that ${name} has failed, and the log has the reason without values (EVT-12)`, async () => {
    const { add, deliver, failures } = consumerOf({ created: call }, 20)
    const result = await deliver(add('created', { text: 'ann@example.org' }))
    assert.ok(result.kind === 'failed')
    assert.match(result.answer.error ?? '', said)
    assert.deepEqual({ ...result.answer, ...quiet }, result.answer)
    assert.equal(failures.length, 1)
    assert.match(String(failures[0]), said)
    await sleep(60)
  })
}

test('a server that stops ends the wait for a function, whose signal is aborted', async () => {
  const signals: AbortSignal[] = []
  const { add, deliver, failures } = consumerOf({
    created: ({ signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    },
  })
  const stopping = new AbortController()
  const delivery = deliver(add('created', {}), stopping.signal)
  while (signals.length === 0) await sleep(1)
  stopping.abort()
  assert.equal((await delivery).kind, 'failed')
  assert.deepEqual([signals[0]?.aborted, failures], [true, []])
})

test('a delivery without a function waits for servers with another declaration, and is discarded then', async () => {
  const { add, deliver, moment, removed } = consumerOf({ created: () => {} })
  const delivery = add('updated', {})
  assert.deepEqual([await deliver(delivery), removed], [{ kind: 'stopped' }, []])
  moment.now = 11 * minute
  const reason = 'The declaration has no function for updated any more.'
  assert.deepEqual(await deliver(delivery), { kind: 'discarded', reason })
  assert.deepEqual(removed, [['resources.notes.on', 'updated']])
})

test('functions that were removed with all others of their resource take no events, and let go of deliveries', async () => {
  const { add, deliveries } = consumerOf({ created: () => {} })
  const moment = { now: 0 }
  const removed = removedFunctions({ deliveries, now: () => moment.now })
  const delivery = add('created', {})
  const { signal } = new AbortController()
  assert.equal(removed.read, undefined)
  assert.equal((await removed.deliver(delivery, signal)).kind, 'stopped')
  moment.now = 11 * minute
  assert.equal((await removed.deliver(delivery, signal)).kind, 'discarded')
})

test('a delivery whose event is no longer kept is discarded', async () => {
  const { add, deliver, all } = consumerOf({ created: () => assert.fail('it is not called') })
  const delivery = add('created', {})
  all.length = 0
  assert.equal((await deliver(delivery)).kind, 'discarded')
})

test('functions get the kinds that servers have functions for, each from its position on', async () => {
  const { consumer, plans, add } = consumerOf({ updated: () => {} })
  const events = (['updated', 'purged', 'purged'] as const).map((kind) => add(kind, {}).event)
  const read = await consumer.read?.({ position: 0 }, 100, { updated: 0, purged: 2 })
  assert.deepEqual(
    read?.events.map(({ id }) => id),
    [events[0], events[2]],
  )
  const terms = [
    { kind: 'in', field: 'collection', values: ['notes'] },
    { kind: 'in', field: 'kind', values: ['updated', 'purged'] },
  ]
  const [{ filter, permitted, after, limit, fields }] = plans as [ReadEvents]
  assert.deepEqual([filter, permitted.kind, after, limit], [{ kind: 'and', terms }, 'always', 0, 100])
  // A hundred records may be large: each delivery reads its own.
  assert.deepEqual(fields, [])
})
