/** DEL-8: what follows the transaction that has accepted a deletion. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../plan/outcome.ts'
import type { DeleteMatching } from '../../plan/plan.ts'
import { StorageFault } from '../storage.ts'
import type { Runner } from '../transaction.ts'
import { onlyListed } from './delete/deletion-job.ts'
import { finishLarge, type Places } from './large-changes.ts'

test('an accepted deletion stays accepted where its first batch fails: its job runs it later', async () => {
  const read = async () => ({ phase: 'match', selection: onlyListed })
  let asked = ''
  const run = async (name: string) => {
    asked = name
    throw new StorageFault('busy', 'Others write.')
  }
  const places = { runner: { read } as unknown as Runner, background: { run } } as unknown as Places
  const accepted: Outcome = { kind: 'accepted', job: 'job', statusUrl: '/v1/jobs/job' }
  const plan = { kind: 'delete-matching', deletion: 'job', now: 0 } as DeleteMatching
  assert.deepEqual(await finishLarge(places, plan, accepted), accepted)
  assert.equal(asked, 'takeFew')
})
