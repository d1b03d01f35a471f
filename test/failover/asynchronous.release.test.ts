/** What `synchronous_mode: false` loses, where `true` loses nothing. It also shows that the checks find a loss. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Cluster, whyNoPartition } from './cluster.ts'
import { separatedLeader } from './faults.ts'
import { findingsOf } from './survives.ts'

const skip = whyNoPartition ?? false
let cluster: Cluster
before(async () => {
  if (skip === false) cluster = await Cluster.start({ isSynchronous: false })
})
after(() => cluster?.stop())

test('the leader reaches clients only, without a synchronous standby', { skip }, async (context) => {
  const { findings } = await findingsOf(context, cluster, { fault: separatedLeader, route: 'HAProxy' })
  assert.notEqual(findings.lost.length, 0)
})
