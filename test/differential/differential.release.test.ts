/**
 * The same requests to SQLite and to PostgreSQL get byte-identical responses. This file sends two thousand requests,
 * `npm run test:differential` twenty thousand, and `SEED=7 npm run test:differential` repeats those of one seed.
 */
import './same-ids.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoDatabase } from '../postgres/database.ts'

const { describe, runSeed, shrink } = await import('./compare.ts')

const perSeed = 250
const { SEED, DIFFERENTIAL } = process.env
const count = DIFFERENTIAL === 'whole' ? 80 : 8
const seeds = SEED === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(SEED)]

test('the same requests get the same responses on both engines', { timeout: 1_200_000 }, async () => {
  assert.equal(whyNoDatabase, undefined)
  const statuses = new Set<number>()
  for (const seed of seeds) {
    const found = await runSeed(seed, perSeed, ({ status }) => statuses.add(status))
    if (found !== undefined) assert.fail(describe(seed, await shrink(seed, found)))
  }
  // Requests that are all refused alike would prove nothing.
  if (SEED !== undefined) return
  for (const status of [200, 201, 202, 204, 206, 304, 400, 403, 404, 409, 412, 422]) {
    assert.ok(statuses.has(status), `nothing was answered with ${status}`)
  }
})
