import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Maintenance } from '../storage/storage.ts'
import { watchMaintenance } from './maintenance.ts'
import type { Observation } from './observe/observe.ts'

const told: Maintenance = { since: '2026-11-21T12:00:00.000Z', message: 'Back soon.', retryAfter: 60 }

/** A watch over a switch that a test holds. */
function watching(found?: Maintenance, interval?: number) {
  const held: { read: () => Promise<Maintenance | undefined>; reads: number } = { read: async () => found, reads: 0 }
  const seen: Observation[] = []
  const clock = { now: 0 }
  const read = () => {
    held.reads++
    return held.read()
  }
  const unused = () => assert.fail('a server only reads')
  const watch = watchMaintenance({
    storage: { maintenance: { read, begin: unused, end: unused }, maintenanceFound: found },
    now: () => clock.now,
    observe: (each) => void seen.push(each),
    interval,
  })
  return { watch, held, seen, clock }
}

const statesOf = (seen: readonly Observation[]) => seen.map((each) => ('state' in each ? each.state : each.kind))

test('ERR-6: the state at opening holds until the first poll', async () => {
  const { watch, held, seen } = watching(told)
  assert.deepEqual(watch.current, told)
  assert.equal(held.reads, 0)
  assert.deepEqual(seen, [{ kind: 'maintenance', state: 'on', ...told }])
  await watch.close()
  const other = watching()
  assert.deepEqual([other.watch.current, other.seen], [undefined, []])
  await other.watch.close()
})

test('ERR-6: each change is reported once, whichever member changed', async () => {
  const { watch, held, seen } = watching()
  for (const found of [told, { ...told }, { ...told, message: 'Soon.' }, { ...told, retryAfter: 1 }, undefined]) {
    held.read = async () => found
    await watch.poll()
    await watch.poll()
    assert.deepEqual(watch.current, found)
  }
  assert.deepEqual(statesOf(seen), ['on', 'on', 'on', 'off'])
  await watch.close()
})

test('ERR-6: if the switch cannot be read, the last state holds, and the failure is logged once a minute', async () => {
  const { watch, held, seen, clock } = watching(told)
  const error = new Error('away')
  held.read = () => Promise.reject(error)
  for (clock.now = 0; clock.now < 150_000; clock.now += 500) await watch.poll()
  assert.deepEqual(watch.current, told)
  assert.deepEqual(seen.slice(1), Array(3).fill({ kind: 'failure', requestId: 'maintenance', error }))
  // One that fails every other time is no more talkative.
  for (; clock.now < 179_000; clock.now += 500) {
    held.read = clock.now % 1_000 === 0 ? async () => told : () => Promise.reject(error)
    await watch.poll()
  }
  assert.equal(seen.length, 4)
  held.read = async () => undefined
  await watch.poll()
  assert.deepEqual([watch.current, seen.at(-1)], [undefined, { kind: 'maintenance', state: 'off' }])
  await watch.close()
})

test('ERR-6: a late result does not replace a newer one', async () => {
  const { watch, held } = watching()
  let answer = (_: Maintenance | undefined) => {}
  held.read = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const first = watch.poll()
  await Promise.resolve()
  const second = watch.poll()
  await Promise.resolve()
  assert.equal(held.reads, 1, 'one after the other')
  held.read = async () => undefined
  answer(told)
  await first
  assert.deepEqual(watch.current, told)
  await second
  assert.equal(watch.current, undefined)
  await watch.close()
})

test('ERR-6: the switch is polled twice a second until the watch is closed', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { watch, held } = watching()
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  for (const reads of [1, 2, 3]) {
    mock.timers.tick(499)
    await settle()
    assert.equal(held.reads, reads - 1)
    mock.timers.tick(1)
    await settle()
    assert.equal(held.reads, reads)
  }
  await watch.close()
  mock.timers.tick(5_000)
  await settle()
  await watch.poll()
  assert.equal(held.reads, 3)
  mock.timers.reset()
})
