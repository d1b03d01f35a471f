import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StorageFault } from '../storage.ts'
import { withRetries } from './migrate.ts'

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

test('lock timeouts, deadlocks and serialization failures are retried', async () => {
  assert.equal(await withRetries(waits, failing('55P03', '40P01', '40001')), 4)
})

test('other errors are not retried', async () => {
  await assert.rejects(withRetries(waits, failing('42501')), /state 42501/)
})

test('the error after the last try says what to do', async () => {
  const fault = await withRetries({ ...waits, patience: 0 }, failing('40P01')).catch((error) => error)
  assert.ok(fault instanceof StorageFault && fault.kind === 'busy')
  assert.match(fault.message, /pg_stat_activity/)
})
