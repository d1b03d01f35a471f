import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatherMetrics } from './gathered-metrics.ts'

function commits(value: number): object {
  return { name: 'commits', help: 'Commits.', type: 'counter', aggregator: 'sum', values: [{ value, labels: {} }] }
}

test('OPS-7: a counter keeps what threads had counted that end at the same time', async () => {
  const metrics = gatherMetrics({ count: () => 0, reports: () => new Map() })
  const threads = [{}, {}, {}]
  for (const [index, thread] of threads.entries()) metrics.note(thread, [commits(10 ** index)])
  for (const thread of threads) metrics.ended(thread)
  assert.match(await metrics.read(), /^commits 111$/m)
})
