import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { StorageFault } from './storage.ts'
import { WriteProbe } from './write-probe.ts'

/** A probe of a database that a test lets fail, with a clock of its own. */
function probeFor(context: TestContext) {
  let time = 0
  context.mock.method(performance, 'now', () => time)
  const state = { error: undefined as unknown, writes: [] as number[] }
  const probe = new WriteProbe(async (bytes) => {
    state.writes.push(bytes)
    if (state.error !== undefined) throw state.error
  })
  return { probe, state, later: (by: number) => void (time += by) }
}

const full = new StorageFault('unwritable', 'The disk is full.')

test('a probe runs if there was no change lately, once a second', async (context) => {
  const { probe, state, later } = probeFor(context)
  await Promise.all([probe.check(), probe.check(), probe.check()])
  assert.deepEqual(state.writes, [0])
  later(999)
  await probe.check()
  assert.deepEqual(state.writes, [0])
  later(1)
  await probe.check()
  assert.deepEqual(state.writes, [0, 0])
})

test('no probe runs after a change that succeeded', async (context) => {
  const { probe, state, later } = probeFor(context)
  for (let turn = 0; turn < 5; turn++) {
    later(5_000)
    probe.succeeded()
    await probe.check()
  }
  assert.deepEqual(state.writes, [])
})

test('after a failed probe checks fail until a large probe or a change succeeds', async (context) => {
  const { probe, state, later } = probeFor(context)
  state.error = full
  await assert.rejects(probe.check(), full)
  await assert.rejects(probe.check(), full)
  assert.deepEqual(state.writes, [0], 'not more than once a second')
  later(1_000)
  await assert.rejects(probe.check(), full)
  state.error = undefined
  later(1_000)
  await probe.check()
  assert.deepEqual(state.writes, [0, 65_536, 65_536])
  probe.failed(full)
  await assert.rejects(probe.check(), full)
  probe.succeeded()
  await probe.check()
  assert.equal(state.writes.length, 3)
})

test('after a change that failed for its own reasons the next check probes', async (context) => {
  const { probe, state } = probeFor(context)
  probe.succeeded()
  probe.failed(new StorageFault('failed', 'The text is too long.'))
  await probe.check()
  assert.deepEqual(state.writes, [0])
})

test('a busy database does not fail checks', async (context) => {
  const { probe, state, later } = probeFor(context)
  state.error = new StorageFault('busy', 'Locked.')
  await probe.check()
  state.error = full
  later(1_000)
  await assert.rejects(probe.check(), full)
  state.error = new StorageFault('busy', 'Locked.')
  later(1_000)
  await assert.rejects(probe.check(), full, 'what was known before holds')
})

test('no check waits long for a slow probe', async () => {
  const probe = new WriteProbe(() => new Promise(() => {}))
  const began = performance.now()
  await Promise.all([probe.check(), probe.check()])
  assert.ok(performance.now() - began < 5_000)
})
