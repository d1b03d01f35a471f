/** DEL-7: after the grace period a deleted record is gone for every caller, and later its data is purged. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { forest } from '../../declarations.ts'
import { purgeAt, type Trial, trialFor } from '../../harness.ts'
import { countOf } from '../../steps.ts'

const day = 24 * 3_600_000
const grace = 30 * day

async function deleted({ send, make }: Trial, name: string): Promise<string> {
  const { id } = await make('folders', { name })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${id}` })).status, 200)
  return id
}

function restore(id: string) {
  return { method: 'POST', path: `/v1/folders/${id}/restore` }
}

it('DEL-7: from the end of the grace period a record is gone for every caller, purged or not', async (context) => {
  const current = await trialFor(context, forest)
  const { send, clock } = current
  const id = await deleted(current, 'One')
  const all = '?include_deleted=true'
  clock.ahead = grace - 5_000
  assert.equal(await countOf(current, 'folders', all), 1)
  clock.ahead = grace + 5_000
  assert.equal(await countOf(current, 'folders', all), 0)
  assert.equal((await send(restore(id))).status, 404)
  // Not purged yet: the clock alone decided.
  clock.ahead = grace - 5_000
  assert.equal(await countOf(current, 'folders', all), 1)
})

it('DEL-7: a purge removes expired records with their search words, and nothing else', async (context) => {
  const current = await trialFor(context, forest)
  const { app, send, make, clock } = current
  const due = await deleted(current, 'Walnut')
  clock.ahead = 10 * day
  const later = await deleted(current, 'Walnut')
  const live = await make('folders', { name: 'Walnut' })
  const now = Date.now() + grace + 5_000
  assert.equal(await purgeAt(app, now), 1)
  assert.equal(await purgeAt(app, now), undefined)
  clock.ahead = 0
  assert.equal((await send(restore(due))).status, 404)
  assert.equal((await send(restore(later))).json.code, 'DUPLICATE_VALUE')
  assert.equal((await send({ path: `/v1/folders/${live.id}` })).status, 200)
  assert.equal(await countOf(current, 'folders', '?q=walnut'), 1)
  assert.equal(await countOf(current, 'folders', '?include_deleted=true&q=walnut'), 2)
})
