/** LIM-4: which requests start at once, which wait, and which are rejected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../../../test/until.ts'
import { Admission, type OverloadLimits, Queue } from './admission.ts'

const spend = (milliseconds: number) => {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

/** A server whose every request uses the processor for some milliseconds, and is answered then, or on demand. */
function serverOf(cost: number, limits: Partial<OverloadLimits> = {}, answersItself = true) {
  const begun: number[] = []
  const away: number[] = []
  const held = new Set<number>()
  let inFlight = 0
  const answer = () => {
    inFlight--
    admission.answered()
  }
  const start = (item: number) => {
    inFlight++
    begun.push(item)
    // What follows in promises is work too.
    void Promise.resolve().then(() => {
      spend(cost)
      if (answersItself) answer()
    })
  }
  const admission = new Admission<number>(
    {
      start,
      startDelayed: start,
      reject(item) {
        spend(0.05)
        away.push(item)
      },
      pause: (item) => void held.add(item),
      resume: (item) => void held.delete(item),
      inFlight: () => inFlight,
    },
    limits,
  )
  /** So many requests at once, as the system hands them over. */
  const come = async (count: number, first = 0) => {
    for (let item = first; item < first + count; item++) {
      admission.admit(item)
      await Promise.resolve()
    }
  }
  return { admission, come, answer, begun, away, held }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('LIM-4: without waiting requests, a request is started at once', () => {
  const { admission, begun } = serverOf(0)
  admission.admit(1)
  assert.deepEqual(begun, [1])
})

test('LIM-4: queued requests are processed in order, in slices between which new requests are accepted', async () => {
  const { come, begun, away } = serverOf(1, { slice: 5, acceptTime: 0 })
  await come(60)
  // As many as a slice takes; other load on the machine may reduce the number.
  assert.ok(begun.length <= 6, `${begun.length} were begun at once`)
  const turns: number[] = []
  while (begun.length < 60) {
    const before = begun.length
    await nextTurn()
    turns.push(begun.length - before)
  }
  assert.ok(Math.max(...turns) <= 6, `${Math.max(...turns)} were begun in one go`)
  assert.deepEqual(begun, numbers(60))
  assert.deepEqual(away, [])
})

test('LIM-4: requests beyond what can be done in time are rejected at once; accepted requests are served', async () => {
  const { come, begun, away } = serverOf(1, { wait: 150, burst: 150 })
  // These requests measure how long one takes.
  await come(300)
  await until(() => begun.length + away.length === 300)
  const before = { begun: begun.length, away: away.length }
  await come(1_000, 300)
  const refused = away.length - before.away
  // Each takes a millisecond or more: in 150 of them not more than 150 are done, and those that are begun meanwhile.
  assert.ok(refused >= 840, `${refused} were turned away`)
  await until(() => begun.length + away.length === 1_300)
  assert.equal(away.length - before.away, refused)
  assert.ok(begun.length - before.begun >= 100)
  // In the order in which they came.
  assert.deepEqual(
    begun.toSorted((a, b) => a - b),
    begun,
  )
})

test('LIM-4: a short burst is no overload, a queue that lasts is', async () => {
  // On a busy machine each request may take thirty times as long.
  const { come, begun, away } = serverOf(1, { wait: 110, burst: 4_500 })
  await come(200)
  await until(() => begun.length === 200)
  await come(150, 200)
  assert.deepEqual(away, [])
  // As many come as are done: the queue stays as long as it is, until it has been there for too long.
  let next = 350
  for (let before = begun.length; away.length === 0; before = begun.length) {
    await nextTurn()
    const count = begun.length - before
    await come(count, next)
    next += count
    assert.ok(next < 20_000, 'nobody was ever turned away')
  }
  assert.ok(begun.length > 300)
})

test('LIM-4: a rejected client is paused until there is time for it', async () => {
  const { come, begun, away, held } = serverOf(1, { wait: 50, burst: 50, rejecting: 0.0001 })
  await come(100)
  await until(() => begun.length + away.length === 100)
  await come(400, 100)
  assert.ok(away.length > 200)
  await nextTurn()
  await nextTurn()
  assert.ok(held.size > 0.9 * away.length, `${held.size} of ${away.length}`)
  await until(() => begun.length + away.length === 500 && held.size === 0)
})

test('LIM-4: the full cost of rejections counts: clients stay paused for longer', async () => {
  const pausedAfterWork = async (reading: number) => {
    const { come, begun, away, held } = serverOf(1, { wait: 50, burst: 50, reading, longestPause: 60_000 })
    await come(100)
    await until(() => begun.length + away.length === 100)
    await come(200, 100)
    assert.ok(away.length > 50)
    // Some eighty more requests are processed meanwhile, and a part of their time pays for rejections. After the last
    // one, idle time would.
    while (begun.length + away.length < 300) await nextTurn()
    return held.size
  }
  assert.equal(await pausedAfterWork(0), 0)
  assert.ok((await pausedAfterWork(10)) > 50)
})

test('LIM-4: no more requests than allowed are in flight, and the next start as responses are made', async () => {
  const { come, answer, begun, away, held } = serverOf(0, { inFlight: 10, slice: 1_000 }, false)
  await come(30)
  assert.deepEqual(begun, numbers(10))
  assert.equal(away.length, 20)
  await until(() => held.size === 0)
  answer()
  await come(2, 100)
  assert.deepEqual(begun.slice(10), [100])
  assert.equal(away.at(-1), 101)
})

test('LIM-4: requests that wait for a free place use no time, and start when there is one', async () => {
  const { come, answer, begun } = serverOf(1, { inFlight: 5, slice: 2 }, false)
  await come(8)
  await until(() => begun.length === 5)
  const { user, system } = process.cpuUsage()
  await sleep(200)
  const used = process.cpuUsage({ user, system })
  assert.ok(used.user + used.system < 100_000, `${used.user + used.system} µs`)
  for (let index = 0; index < 3; index++) answer()
  await until(() => begun.length === 8)
})

test('LIM-4: new connections come first for a limited time', async () => {
  const { admission, come, begun } = serverOf(1, { slice: 2, acceptTime: 20 })
  await come(50)
  const before = begun.length
  const started = performance.now()
  while (begun.length === before) {
    admission.connected()
    await nextTurn()
  }
  const waited = performance.now() - started
  assert.ok(waited >= 15, `${waited} ms`)
  while (begun.length < 50) {
    admission.connected()
    await nextTurn()
  }
})

test('a queue returns its items in order', () => {
  const queue = new Queue<number>()
  const taken: (number | undefined)[] = []
  for (let round = 0; round < 10; round++) {
    for (let item = 0; item < 7; item++) queue.push(round * 7 + item)
    for (let item = 0; item < 5; item++) taken.push(queue.shift())
    assert.equal(queue.length, (round + 1) * 2)
    assert.equal(queue.first, taken.length)
  }
  while (queue.length > 0) taken.push(queue.shift())
  assert.deepEqual(taken, numbers(70))
  assert.equal(queue.shift(), undefined)
})
