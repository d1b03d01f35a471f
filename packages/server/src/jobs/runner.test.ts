import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ClockDoubt, JobStore } from '../storage/storage.ts'
import type { ExportFiles } from './export-files.ts'
import { startRunner } from './runner.ts'

const doubt: ClockDoubt = { now: 2, last: 1, of: 'purge' }

/** A runner over a database whose clock check a test controls; `done` lists the requested removals. */
function runnerFor(context: TestContext) {
  // Timers fire only when a test advances them.
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const done: string[] = []
  const told: (ClockDoubt | undefined)[] = []
  const state = { doubt: undefined as ClockDoubt | undefined }
  const jobs = {
    open: async () => [],
    checkClock: async () => state.doubt,
    deleteExpired: async (now: number) => done.push(`expired ${now}`),
    beginPurge: async (_: unknown, now: number) => done.push(`purge ${now}`) === 0,
  } as unknown as JobStore
  const files = { sweep: async (now: number) => void done.push(`sweep ${now}`), close: async () => {} }
  let time = 0
  const runner = startRunner({
    ...{ storage: { jobs }, files: files as unknown as ExportFiles, now: () => ++time, paused: () => false },
    ...{ newJobId: () => 'job', statusUrlOf: (job) => job, ended: () => {}, failed: () => {} },
    doubted: (each) => void told.push(each),
  })
  context.after(async () => {
    context.mock.timers.reset()
    await runner.close()
  })
  return { runner, done, told, state, later: (by: number) => context.mock.timers.tick(by) }
}

test('one maintenance run uses one time, even if the clock jumps', async (context) => {
  const { runner, done } = runnerFor(context)
  await runner.maintain()
  assert.deepEqual(done, ['expired 1', 'sweep 1', 'purge 1'])
})

test('a doubted clock removes nothing, is reported once, and is checked again each minute', async (context) => {
  const { runner, done, told, state, later } = runnerFor(context)
  state.doubt = doubt
  await runner.maintain()
  for (let minute = 0; minute < 5; minute++) {
    later(60_000)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  assert.deepEqual([done, told], [[], [doubt]])
  state.doubt = undefined
  later(59_000)
  for (let turns = 0; turns < 5; turns++) await turn()
  assert.deepEqual(done, [])
  later(1_000)
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.equal(done.length, 3)
  assert.deepEqual(told, [doubt, undefined])
})

test('JOB-3: the file of an export that has ended after all is kept', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const dropped: string[] = []
  let [steps, isOpen] = [0, true]
  const jobs = {
    open: async () => (isOpen ? [{ id: 'export', task: 'export' }] : []),
    countTotal: async () => {},
    // It is no longer open: there is nothing to fail.
    fail: async () => isOpen,
  } as unknown as JobStore
  const files = {
    async step() {
      steps++
      // The last step commits, and its confirmation is lost.
      if (steps === 5) isOpen = false
      throw new Error('The connection was lost.')
    },
    drop: async (job: string) => void dropped.push(job),
    close: async () => {},
  }
  const failures: unknown[] = []
  const runner = startRunner({
    ...{ storage: { jobs }, files: files as unknown as ExportFiles, now: () => 1, paused: () => false },
    ...{ newJobId: () => 'job', statusUrlOf: (job) => job, ended: () => assert.fail('It has not ended here.') },
    ...{ failed: (error) => failures.push(error), doubted: () => {} },
  })
  context.after(async () => {
    context.mock.timers.reset()
    await runner.close()
  })
  // The pauses between attempts are measured by a clock that is not mocked.
  for (const end = performance.now() + 60_000; steps < 5 && performance.now() < end; ) {
    context.mock.timers.tick(1_000)
    await turn()
  }
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.equal(failures.length, 5)
  assert.deepEqual(dropped, [])
})
