import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAttemptAt, readRetryAfter, repeatedFor } from './retry.ts'

const hour = 3_600_000

test('a delivery that always fails is repeated for three days, ever less often (EVT-9)', () => {
  const times: number[] = []
  let now = 0
  for (let attempts = 1; ; attempts++) {
    const next = nextAttemptAt({ attempts, firstAt: 0, now }, () => 0)
    if (next === undefined) break
    assert.ok(next > now)
    times.push(next - now)
    now = next
  }
  assert.deepEqual(times.slice(0, 5), [5_000, 30_000, 120_000, 600_000, hour])
  assert.ok(now <= repeatedFor && now > repeatedFor - 7 * hour, String(now))
  assert.ok(times.length >= 15 && times.length < 30, String(times.length))
})

test('jitter leaves out up to half of a wait', () => {
  assert.equal(
    nextAttemptAt({ attempts: 1, firstAt: 0, now: 0 }, () => 0.999_999),
    2_500,
  )
})

test('Retry-After is honoured, within bounds', () => {
  const at = (retryAfter: number) => nextAttemptAt({ attempts: 1, firstAt: 0, now: 0, retryAfter }, () => 0)
  assert.equal(at(60_000), 60_000)
  assert.equal(at(1_000), 5_000)
  assert.equal(at(1_000 * hour), 6 * hour)
})

test('Retry-After is seconds or a date', () => {
  assert.equal(readRetryAfter('120', 0), 120_000)
  assert.equal(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 10_000), 50_000)
  assert.equal(readRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', 10_000), 0)
  for (const wrong of ['soon', '', '-5', '1.5', '12345678901']) assert.equal(readRetryAfter(wrong, 0), undefined, wrong)
  assert.equal(readRetryAfter(undefined, 0), undefined)
})
