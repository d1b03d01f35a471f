import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLimits, formatPolicies } from './rate-limit.ts'

test('a policy has the number of requests and the seconds of its window', () => {
  assert.equal(formatPolicies([{ name: 'caller', most: 600, window: 60 }]), '"caller";q=600;w=60')
})

test('a limit has the remaining requests and the time until there are more', () => {
  assert.equal(formatLimits([{ name: 'caller', left: 599, seconds: 60 }]), '"caller";r=599;t=60')
})

test('several limits are a list', () => {
  const policies = [
    { name: 'caller', most: 600, window: 60 },
    { name: '*.create', most: 5, window: 1 },
  ]
  assert.equal(formatPolicies(policies), '"caller";q=600;w=60, "*.create";q=5;w=1')
  const limits = [
    { name: 'caller', left: 1, seconds: 7 },
    { name: '*.create', left: 0, seconds: 1 },
  ]
  assert.equal(formatLimits(limits), '"caller";r=1;t=7, "*.create";r=0;t=1')
})
