/** DEL-7: a clock that jumps does not purge records too early. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { forest } from '../declarations.ts'
import { type Trial, trialFor } from '../harness.ts'
import { countOf } from '../steps.ts'

const hour = 3_600_000
const day = 24 * hour

/** A folder that was deleted, an export, and a creation with a key; then an hour of a server that runs. */
async function used(context: TestContext): Promise<Trial & { readonly restore: () => Promise<number> }> {
  const current = await trialFor(context, forest)
  const { app, send, make, clock } = current
  const { id } = await make('folders', { name: 'One' })
  assert.equal((await send({ method: 'DELETE', path: `/v1/folders/${id}` })).status, 200)
  await send({ path: '/v1/exports', body: { collection: 'folders', format: 'csv' } })
  await send({ path: '/v1/folders', body: { name: 'Two' }, headers: { 'idempotency-key': 'two' } })
  await app.runner.maintain()
  clock.ahead += hour
  await app.runner.maintain()
  await app.runner.idle()
  const restore = async () => (await send({ method: 'POST', path: `/v1/folders/${id}/restore` })).status
  return { ...current, restore }
}

/** Everything that a purge would have taken, past the interface. */
async function counts({ database }: Trial) {
  const count = async (table: string) => Number((await database.rows(`select count(*) as count from ${table}`))[0]?.['count']) // biome-ignore format: a line
  return Promise.all(['folders', 'jobs', 'resourced_idempotency'].map(count))
}

const purging = ({ seen }: Trial) => seen.flatMap((each) => (each.kind === 'purge' ? [each.state] : []))

it('DEL-7: a clock that jumps ahead purges nothing until it is confirmed', async (context) => {
  const current = await used(context)
  const { app, send, clock, seen } = current
  const before = await counts(current)
  clock.ahead += 400 * day
  for (let turn = 0; turn < 3; turn++) {
    await app.runner.maintain()
    await app.runner.idle()
  }
  assert.deepEqual(await counts(current), before)
  assert.deepEqual(purging(current), ['stopped'], 'it is told once')
  const told = seen.find((each) => each.kind === 'purge')
  assert.ok(told?.kind === 'purge' && told.state === 'stopped' && told.of === 'purge')
  assert.ok(told.now - told.last >= 399 * day)
  // To callers it is gone by the clock, and what they do meanwhile confirms nothing.
  assert.equal(await countOf(current, 'folders', '?include_deleted=true'), 1)
  await send({ path: '/v1/folders', body: { name: 'Three' } })
  await app.runner.maintain()
  assert.deepEqual(await counts(current), [before[0]! + 1, ...before.slice(1)])

  await app.storage.purgeClock.confirm(Date.now() + clock.ahead)
  await app.runner.maintain()
  await app.runner.idle()
  // What is left of the jobs is the purge.
  assert.deepEqual(await counts(current), [before[0]!, 1, 0])
  assert.deepEqual(purging(current), ['stopped', 'resumed'])
})

it('DEL-7: after the clock is corrected nothing is lost, and purging continues', async (context) => {
  const current = await used(context)
  const { app, clock, restore } = current
  const before = await counts(current)
  clock.ahead += 40 * day
  await app.runner.maintain()
  clock.ahead -= 40 * day
  await app.runner.maintain()
  await app.runner.idle()
  assert.deepEqual(await counts(current), before)
  assert.deepEqual(purging(current), ['stopped', 'resumed'])
  assert.equal(await restore(), 200)
})

it('DEL-7: a clock that jumps back stops purging too, so its return is no jump', async (context) => {
  const current = await used(context)
  const { app, clock, restore } = current
  clock.ahead -= 40 * day
  await app.runner.maintain()
  assert.deepEqual(purging(current), ['stopped'])
  clock.ahead += 40 * day
  await app.runner.maintain()
  assert.deepEqual(purging(current), ['stopped', 'resumed'])
  assert.equal(await restore(), 200)
})

it('DEL-7: a server that runs for months keeps purging without confirmation', async (context) => {
  const current = await used(context)
  const { app, clock, restore } = current
  for (let turn = 0; turn < 35; turn++) {
    clock.ahead += 23 * hour
    await app.runner.maintain()
  }
  await app.runner.idle()
  assert.deepEqual(purging(current), [])
  assert.equal(await restore(), 404)
  assert.equal((await counts(current))[0], 1)
})

it('DEL-7: before the first purge, the clock is compared with the newest record', async (context) => {
  const current = await trialFor(context, forest)
  const { app, clock, make } = current
  await make('folders', { name: 'One' })
  clock.ahead = 2 * day
  await app.runner.maintain()
  assert.deepEqual(purging(current), ['stopped'])
  assert.ok(current.seen.some((each) => each.kind === 'purge' && each.state === 'stopped' && each.of === 'record'))
  clock.ahead = day - hour
  await app.runner.maintain()
  assert.deepEqual(purging(current), ['stopped', 'resumed'])
})

it('DEL-7: if the clocks of servers differ, those purge that agree with the last purge', async (context) => {
  const one = await used(context)
  const two = await trialFor(context, forest, { database: one.database })
  const before = await counts(one)
  two.clock.ahead = 40 * day
  for (let turn = 0; turn < 3; turn++) {
    one.clock.ahead += hour
    await one.app.runner.maintain()
    await two.app.runner.maintain()
  }
  assert.deepEqual([purging(one), purging(two)], [[], ['stopped']])
  assert.deepEqual(await counts(one), before)
})
