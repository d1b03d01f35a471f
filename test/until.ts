import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until something holds, and returns what was found. A busy machine takes seconds for what is done in a moment
 * otherwise, so tests are patient.
 *
 * @param what holds then, as the failure says it
 */
export async function until<T>(look: () => T | Promise<T>, what = 'it holds', seconds = 60): Promise<NonNullable<T>> {
  for (const end = performance.now() + seconds * 1_000; ; await sleep(25)) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    assert.ok(performance.now() < end, `not within ${seconds} seconds: ${what}`)
  }
}
