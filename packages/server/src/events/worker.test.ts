import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import { until } from '../../../../test/until.ts'
import { failure, openBench, success, unwanted } from './worker.fixture.ts'

const hour = 3_600_000

test('each event becomes one delivery, and a consumer gets those that follow its beginning (EVT-9)', async (t) => {
  const bench = await openBench(t)
  bench.events.add(uuidv7())
  const got: string[] = []
  const deliver = ({ event }: { event: string }) => {
    got.push(event)
    return success
  }
  const worker = bench.start({ f: deliver })
  await worker.settle()
  assert.deepEqual(got, [])
  const ids = Array.from({ length: 250 }, () => bench.events.add(uuidv7()).id)
  await worker.settle()
  assert.deepEqual(got.toSorted(), ids.toSorted())
  const shown = await bench.shown()
  assert.equal(shown.length, 250)
  assert.deepEqual([...new Set(shown.map(({ status, attempts }) => `${status} ${attempts}`))], ['succeeded 1'])
  assert.deepEqual(shown[0].answer, { status: 204, duration_ms: 1, body: '', error: null })
  assert.deepEqual(bench.failures, [])
})

test('functions that were removed leave their events to other servers, and nothing waits for them (EVT-12)', async (t) => {
  const bench = await openBench(t)
  const former = bench.start({ f: () => success })
  await former.settle()
  await former.close()
  const newer = bench.start({})
  bench.events.add(uuidv7())
  await newer.settle()
  assert.deepEqual(await bench.shown(), [])
  const back = bench.start({ f: () => success })
  await back.settle()
  assert.equal((await bench.shown()).length, 1)
})

test('a new consumer gets an event that follows the start of its server at once (EVT-12)', async (t) => {
  const bench = await openBench(t)
  bench.events.add(uuidv7())
  const got: string[] = []
  const worker = bench.start({
    f: ({ event }) => {
      got.push(event)
      return success
    },
  })
  const { id } = bench.events.add(uuidv7())
  await worker.settle()
  assert.deepEqual(got, [id])
})

test('a later delivery of a record waits for the earlier one, and those of other records go on (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const [one, other] = [uuidv7(), uuidv7()]
  let isUp = false
  const got: string[] = []
  const worker = bench.start({
    f: ({ event, record }) => {
      if (record === one && !isUp) return failure
      got.push(event)
      return success
    },
  })
  await worker.settle()
  const first = bench.events.add(one)
  const second = bench.events.add(one)
  const others = [bench.events.add(other), bench.events.add(other)]
  await worker.settle()
  assert.deepEqual(
    got,
    others.map(({ id }) => id),
  )
  const waiting = (await bench.shown()).filter(({ status }) => status === 'pending')
  assert.deepEqual(waiting.map(({ attempts }) => attempts).toSorted(), [0, 1])
  // An event that comes while an earlier one is pending waits too.
  const third = bench.events.add(one)
  await worker.settle()
  isUp = true
  bench.clock.ahead = hour
  await worker.settle()
  assert.deepEqual(
    got.slice(2),
    [first, second, third].map(({ id }) => id),
  )
})

test('a delivery that fails for three days has failed, and the next one of its record is made (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const record = uuidv7()
  const attempts: string[] = []
  const worker = bench.start({
    f: ({ event }) => {
      attempts.push(event)
      return event === first.id ? failure : success
    },
  })
  await worker.settle()
  const first = bench.events.add(record)
  const second = bench.events.add(record)
  for (let hours = 0; hours < 80; hours++) {
    bench.clock.ahead = hours * hour
    await worker.settle()
  }
  const shown = new Map((await bench.shown()).map((each) => [each.event_id, each]))
  assert.equal(shown.get(first.id).status, 'failed')
  assert.equal(shown.get(second.id).status, 'succeeded')
  assert.equal(attempts.at(-1), second.id)
  assert.equal(shown.get(first.id).attempts, attempts.length - 1)
  assert.ok(attempts.length > 12, String(attempts.length))
})

for (const more of [2, 8]) {
  test(`a database that loses events gives the ${more} new ones at their positions to consumers (EVT-9)`, async (t) => {
    const bench = await openBench(t)
    const got: string[] = []
    const deliver = ({ event }: { event: string }) => {
      got.push(event)
      return success
    }
    const worker = bench.start({ f: deliver })
    bench.events.add(uuidv7())
    await worker.settle()
    // The consumer gets none of them, so their positions are examined and not stored.
    for (let count = 0; count < 5; count++) bench.events.add(unwanted)
    await worker.settle()
    bench.events.lose(4)
    const ids = Array.from({ length: more }, () => bench.events.add(uuidv7()).id)
    await worker.settle()
    assert.deepEqual(got.slice(-more), ids)
  })
}

test('a consumer that hangs does not delay another one (EVT-9)', async (t) => {
  const bench = await openBench(t)
  let hanging = 0
  const got: string[] = []
  bench.start({
    slow: (_, signal) => {
      hanging++
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(failure)))
    },
    fast: ({ event }) => {
      got.push(event)
      return success
    },
  })
  await until(async () => (await bench.deliveries.consumers()).length === 2)
  for (let count = 0; count < 200; count++) bench.events.add(uuidv7())
  await until(() => got.length === 200)
  await until(() => hanging === 8)
  assert.equal(hanging, 8)
})

test('what a server that ends has claimed is made by another one (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const stopping = bench.start({
    f: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(failure))),
  })
  await stopping.settle()
  const { id } = bench.events.add(uuidv7())
  await until(async () => (await bench.shown()).length === 1)
  await sleep(100)
  const got: string[] = []
  const closing = stopping.close()
  await closing
  const other = bench.start({
    f: ({ event }) => {
      got.push(event)
      return success
    },
  })
  await other.settle()
  assert.deepEqual(got, [id])
})

test('a claim that has ended is taken over, and its late result does not count (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const { deliveries, clock } = bench
  await deliveries.addConsumer({ name: 'f', position: 0, kinds: ['updated'] })
  const { id: event, ...of } = bench.events.add(uuidv7())
  const now = Date.now()
  const added = { ...of, id: uuidv7(), event, turn: 1 }
  const fanOut = { consumer: 'f', kinds: { updated: 0 }, from: 0, to: 1, deliveries: [added], now }
  assert.equal(await deliveries.fanOut({ ...fanOut, kinds: {} }), false)
  assert.ok(await deliveries.fanOut(fanOut))
  const claim = { consumer: 'f', limit: 10, now, until: now + 1_000 }
  const [first] = await deliveries.claim({ ...claim, server: 'one' })
  assert.equal((await deliveries.claim({ ...claim, server: 'two' })).length, 0)
  clock.ahead = 2_000
  const [second] = await deliveries.claim({ ...claim, server: 'two', now: now + 2_000, until: now + 9_000 })
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([first.attempts, second.attempts], [1, 2])
  const end = { status: 'succeeded', answer: success.kind === 'succeeded' ? success.answer : never() } as const
  assert.equal(await deliveries.end({ consumer: 'f', server: 'one', delivery: first, end, now }), false)
  assert.equal(await deliveries.end({ consumer: 'f', server: 'two', delivery: second, end, now }), true)
  assert.equal((await bench.shown())[0].attempts, 2)
})

function never(): never {
  throw new Error('unreachable')
}

test('of two servers that find the same events, one makes their deliveries (EVT-9)', async (t) => {
  const bench = await openBench(t)
  const got = new Map<string, number>()
  const deliver = ({ event }: { event: string }) => {
    got.set(event, (got.get(event) ?? 0) + 1)
    return success
  }
  const workers = [bench.start({ f: deliver }, 'one'), bench.start({ f: deliver }, 'two')]
  await Promise.all(workers.map((worker) => worker.settle()))
  const records = Array.from({ length: 20 }, uuidv7)
  for (let count = 0; count < 600; count++) bench.events.add(records[count % 20] as string)
  await until(() => got.size === 600)
  await until(async () => (await bench.shown()).every(({ status }) => status === 'succeeded'))
  assert.equal((await bench.shown()).length, 600)
  assert.deepEqual([...new Set(got.values())], [1])
  assert.deepEqual(bench.failures, [])
})

test('an error of a consumer is reported, and counts as a failed attempt', async (t) => {
  const bench = await openBench(t)
  const worker = bench.start({
    f: () => {
      throw new Error('oh')
    },
  })
  await worker.settle()
  bench.events.add(uuidv7())
  await worker.settle()
  const [shown] = await bench.shown()
  assert.deepEqual(
    [shown.status, shown.attempts, shown.answer.error],
    ['pending', 1, 'The server could not make the attempt.'],
  )
  assert.match(String(bench.failures[0]), /oh/)
})
