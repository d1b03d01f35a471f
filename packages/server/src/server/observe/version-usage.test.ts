import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countVersions, mostCallers } from './metrics.ts'

const stays = { name: 'v2', deprecatedAt: undefined, sunsetAt: undefined }
const goes = { name: 'v1', deprecatedAt: 0, sunsetAt: undefined }

test('callers are distinguished only for versions with an end', () => {
  const usage = countVersions()
  for (const caller of ['ann', 'bob', 'ann']) {
    usage.count({ version: stays, caller })
    usage.count({ version: goes, caller })
  }
  usage.count({ version: undefined, caller: 'ann' })
  assert.deepEqual(usage.counts(), [
    { version: 'v2', caller: '', requests: 3 },
    { version: 'v1', caller: 'ann', requests: 2 },
    { version: 'v1', caller: 'bob', requests: 1 },
  ])
})

test('the number of callers is limited: further ones count as one, and earlier ones are still counted', () => {
  const usage = countVersions()
  for (let number = 0; number < mostCallers + 500; number++) usage.count({ version: goes, caller: `caller-${number}` })
  usage.count({ version: goes, caller: 'caller-7' })
  const counts = usage.counts()
  assert.equal(counts.length, mostCallers + 1)
  assert.equal(counts.find(({ caller }) => caller === 'other')?.requests, 500)
  assert.equal(counts.find(({ caller }) => caller === 'caller-7')?.requests, 2)
})

test('SEC-3: labels contain nothing but names of callers', () => {
  const usage = countVersions()
  const key = `rsk_${'a'.repeat(49)}`
  usage.count({ version: goes, caller: key })
  usage.count({ version: goes, caller: 'x'.repeat(10_000) })
  assert.deepEqual(
    usage.counts().map(({ caller }) => caller),
    ['rsk_***', 'other'],
  )
})
