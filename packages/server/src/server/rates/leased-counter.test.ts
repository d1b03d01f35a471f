import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Counted, Quota } from './counter.ts'
import { type Holder, type LedgerAnswer, openLedger } from './lease-ledger.ts'
import { type LeasedCounter, leasedCounter } from './leased-counter.ts'

const caller: Quota = { name: 'caller', most: 600, window: 60 }
const creation: Quota = { name: 'tasks.create', most: 10, window: 1 }

/** Workers on one ledger, whose messages take some turns of the event loop and keep their order. */
function workers(number: number) {
  const clock = { now: 1_000_000 }
  const now = () => clock.now
  const ledger = openLedger(now)
  let messages = 0
  const made = Array.from({ length: number }, () => {
    const [toLedger, toWorker] = [inOrder(), inOrder()]
    const counter: LeasedCounter = leasedCounter(async (shares) => {
      messages++
      await toLedger()
      const answer = await ledger.count(holder, shares)
      await toWorker()
      return answer
    }, now)
    const worker = { counter, isAlive: true, recalls: 0, end: () => ledger.ended(holder) }
    const holder: Holder = {
      async recall(share, end) {
        messages++
        worker.recalls++
        await toWorker()
        return worker.isAlive ? counter.giveBack(share, end) : 0
      },
      async update(share, end, free) {
        await toWorker()
        counter.note(share, end, free)
      },
    }
    return worker
  })
  const count = async (worker: number, ...quotas: readonly Quota[]): Promise<Counted> =>
    made[worker % number]!.counter.count(quotas.map((quota) => ({ quota, of: 'ann' })))
  return { clock, made, count, messages: () => messages }
}

/** Resolves after one to three turns of the event loop, and never before an earlier call. */
function inOrder(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    const before = last
    last = (async () => {
      for (let turns = Math.random() * 3; turns > 0; turns--) await turn()
      await before
    })()
    return last
  }
}

const passed = (counted: readonly Counted[]) => counted.filter(({ passes }) => passes).length

for (const number of [1, 2, 4, 64]) {
  test(`of 1,000 requests at once to ${number} workers exactly the quota passes, in each window`, async () => {
    const { clock, count } = workers(number)
    for (let window = 0; window < 3; window++) {
      const counted = await Promise.all(Array.from({ length: 1_000 }, (_, each) => count(each, caller)))
      assert.equal(passed(counted), 600)
      for (const { passes, standings } of counted) {
        if (!passes) assert.deepEqual(standings, [{ quota: caller, left: 0, until: 60_000 }])
      }
      clock.now += 60_000
    }
  })
}

test('a caller that moves from worker to worker gets the whole quota, and few messages are sent', async () => {
  const { count, messages } = workers(4)
  for (let each = 0; each < 600; each++)
    assert.equal((await count(Math.floor(each / 7), caller)).passes, true, `${each}`)
  for (let each = 0; each < 8; each++) assert.equal((await count(each, caller)).passes, false)
  assert.ok(messages() < 250, `${messages()} messages`)
})

test('one worker counts to the end with few messages, and reports what is left exactly', async () => {
  const { count, messages } = workers(4)
  for (let left = 599; left >= 0; left--) {
    assert.deepEqual((await count(0, caller)).standings, [{ quota: caller, left, until: 60_000 }])
  }
  assert.equal((await count(0, caller)).passes, false)
  const asked = messages()
  assert.ok(asked < 60, `${asked} messages`)
  for (let each = 0; each < 100; each++) await count(0, caller)
  assert.equal(messages(), asked, 'a worker refuses by itself')
})

test('what is reported to be left is never more than what is left', async () => {
  const { count } = workers(3)
  for (let used = 1; used <= 600; used++) {
    const { standings } = await count(Math.floor(Math.random() * 3), caller)
    // Reports of other leases have arrived.
    await turn()
    await turn()
    await turn()
    assert.ok(standings[0]!.left <= 600 - used + 60, `${standings[0]!.left} after ${used}`)
  }
})

test('a request that one quota refuses counts against none, on whichever worker', async () => {
  const { clock, count } = workers(2)
  const counted = await Promise.all(Array.from({ length: 100 }, (_, each) => count(each, caller, creation)))
  assert.equal(passed(counted), 10)
  const rest = await Promise.all(Array.from({ length: 700 }, (_, each) => count(each, caller)))
  assert.equal(passed(rest), 590)
  clock.now += 1_000
  const spent = await count(0, caller, creation)
  assert.deepEqual([spent.passes, spent.standings[0]], [false, { quota: caller, left: 0, until: 59_000 }])
  assert.ok(spent.standings[1]!.left > 0, 'the refused request has begun no window')
})

test('of a worker that has ended, what it held is lost, and no request waits for it', async () => {
  const { made, count } = workers(2)
  await count(0, caller)
  made[0]!.isAlive = false
  const counted = await Promise.all(Array.from({ length: 700 }, () => count(1, caller)))
  const lost = 600 - 1 - passed(counted)
  assert.ok(lost > 0 && lost < 600 / 8, `${lost}`)
})

test('a worker that has ended is asked for nothing any more', async () => {
  const { made, count } = workers(2)
  await count(0, caller)
  made[0]!.end()
  const counted = await Promise.all(Array.from({ length: 700 }, () => count(1, caller)))
  assert.equal(made[0]!.recalls, 0)
  assert.ok(passed(counted) < 600)
})

test('after the clock is set back, nobody waits for longer than a window', async () => {
  const { clock, count } = workers(2)
  await Promise.all(Array.from({ length: 700 }, (_, each) => count(each, caller)))
  clock.now -= 3_600_000
  const counted = await count(0, caller)
  assert.deepEqual([counted.passes, counted.standings[0]!.until], [true, 60_000])
})

test('a worker gives back a lease that arrives together with the recall', async () => {
  const { promise, resolve } = Promise.withResolvers<LedgerAnswer>()
  const counter = leasedCounter(
    () => promise,
    () => 0,
  )
  const share = { quota: creation, of: 'ann' }
  const counted = counter.count([share])
  resolve({ passes: true, entries: [{ free: 5, lease: 3, end: 1_000 }] })
  const returned = counter.giveBack(share, 1_000)
  assert.equal((await counted).passes, true)
  assert.equal(await returned, 3)
})
