import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageFault } from '../storage.ts'
import { patiently } from './migration-lock.ts'

const waits = { patience: 1_000, lock: 0, pause: 1 }

/** Work that fails with these states, one after the other, and then succeeds. */
function failing(...states: string[]): () => Promise<number> {
  let tries = 0
  return async () => {
    const code = states[tries++]
    if (code !== undefined) throw Object.assign(new Error(`state ${code}`), { code })
    return tries
  }
}

test('what came in the way of others is done again: no lock in time, deadlocks, transactions that contradict', async () => {
  assert.equal(await patiently(waits, failing('55P03', '40P01', '40001')), 4)
})

test('what fails by itself is not', async () => {
  await assert.rejects(patiently(waits, failing('42501')), /state 42501/)
})

test('at the end of its patience it says what to do', async () => {
  const fault = await patiently({ ...waits, patience: 0 }, failing('40P01')).catch((error) => error)
  assert.ok(fault instanceof StorageFault && fault.kind === 'busy')
  assert.match(fault.message, /pg_stat_activity/)
})
