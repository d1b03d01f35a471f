import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkLimit } from './work-limit.ts'

test('LIM-7: waiting for a processor does not count, and processor time is looked at seldom', () => {
  let [passed, worked, looks] = [500, 70, 0]
  const limit = new WorkLimit(100, {
    passed: () => passed,
    worked() {
      looks++
      return worked
    },
  })
  limit.begin()
  /** Another thread has the processor for nine tenths of the time. */
  const run = (milliseconds: number) => {
    for (let count = 0; count < milliseconds; count++) {
      passed++
      worked += 0.1
      limit.check()
    }
  }
  run(990)
  assert.throws(() => run(20), { kind: 'too-long' })
  assert.ok(looks < 100, `${looks} looks at the processor time`)
  limit.begin()
  run(990)
})

test('LIM-7: a read that always works ends at the limit', () => {
  let now = 0
  const limit = new WorkLimit(100, { passed: () => now, worked: () => now })
  limit.begin()
  for (now = 1; now < 100; now++) limit.check()
  assert.throws(() => limit.check(), { kind: 'too-long' })
})
