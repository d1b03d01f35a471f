/** EVT-5: events are kept for the declared time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineInterface } from '../../packages/server/src/index.ts'
import { type Trial, trial } from '../harness.ts'

const day = 86_400_000

const diary = defineInterface({
  name: 'diary',
  resources: {
    pages: {
      fields: { text: { type: 'string' } },
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      events: true,
    },
  },
  limits: { events: { retention: 'P2D' } },
})

async function positions({ database }: Trial): Promise<number[]> {
  return (await database.rows('select _row from events order by _row')).map((row) => Number(row['_row']))
}

async function floorOf({ database }: Trial): Promise<unknown> {
  const [row] = await database.rows("select value from resourced_meta where key = 'events:floor'")
  return row?.['value']
}

test('EVT-5: older events are removed but for the newest, and the position of the last removed one is remembered', async () => {
  const trial_ = await trial(diary)
  const { storage } = trial_.app
  for (let count = 0; count < 700; count++) await trial_.make('pages', { text: String(count) })
  assert.equal(await storage.jobs.deleteExpired(Date.now() + day), 0)
  assert.equal(await floorOf(trial_), undefined)
  assert.equal(await storage.jobs.deleteExpired(Date.now() + 3 * day), 699)
  assert.deepEqual([await positions(trial_), await floorOf(trial_)], [[700], '699'])
  await trial_.make('pages', { text: 'one more' })
  assert.deepEqual(await positions(trial_), [700, 701])
  // Only before each batch is it asked whether to go on.
  let batches = 0
  assert.equal(await storage.jobs.deleteExpired(Date.now() + 3 * day, () => ++batches < 4), 1)
  assert.deepEqual([await positions(trial_), await floorOf(trial_)], [[701], '700'])
  await trial_.close()
})
