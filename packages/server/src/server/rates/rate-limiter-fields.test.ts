import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLimits, formatPolicies } from './rate-limiter.ts'

const caller = { name: 'caller', most: 600, window: 60 }

test('a policy has the number of requests and the seconds of its window', () => {
  assert.equal(formatPolicies([caller]), '"caller";q=600;w=60')
})

test('a limit has the remaining requests and the time until there are more', () => {
  assert.equal(formatLimits([{ quota: caller, left: 599, until: 59_001 }]), '"caller";r=599;t=60')
})

test('several limits are a list', () => {
  const creations = { name: '*.create', most: 5, window: 1 }
  assert.equal(formatPolicies([caller, creations]), '"caller";q=600;w=60, "*.create";q=5;w=1')
  const limits = [
    { quota: caller, left: 1, until: 7_000 },
    { quota: creations, left: 0, until: 1_000 },
  ]
  assert.equal(formatLimits(limits), '"caller";r=1;t=7, "*.create";r=0;t=1')
})
