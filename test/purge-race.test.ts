/** DEL-7: what a purge and a restoration both want goes to one of them, whole: `RACES=10000 node --test test/purge-race.test.ts`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { forest } from './declarations.ts'
import { randomFrom, seedOfRun } from './durability/random.ts'
import { purgeAt, trialFor } from './harness.ts'
import { countOf } from './steps.ts'

const races = Number(process.env.RACES ?? 1_000)
const together = 100
const day = 86_400_000

test(`DEL-7: ${races} restorations race a purge`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const current = await trialFor(context, forest)
  const { app, send, make } = current
  let restored = 0
  for (let round = 0; round < races / together; round++) {
    const names = Array.from({ length: together }, (_, number) => `Round ${round}, ${number}`)
    const ids: string[] = (await Promise.all(names.map((name) => make('folders', { name })))).map(({ id }) => id)
    await Promise.all(ids.map((id) => send({ method: 'DELETE', path: `/v1/folders/${id}` })))
    let purged: number | undefined
    const purging = purgeAt(app, Date.now() + 31 * day).then((count) => {
      purged = count
    })
    const answers = await Promise.all(
      ids.map(async (id) => {
        await sleep(random() * 30)
        return send({ method: 'POST', path: `/v1/folders/${id}/restore` })
      }),
    )
    await purging
    let won = 0
    for (const [index, { status, text }] of answers.entries()) {
      assert.ok(status === 200 || status === 404, text)
      const read = await send({ path: `/v1/folders/${ids[index]}` })
      assert.equal(read.status, status)
      if (status === 200) won++
    }
    // Where every restoration was first there was nothing to purge.
    assert.equal(purged ?? 0, together - won)
    restored += won
  }
  assert.equal(await countOf(current, 'folders'), restored)
  assert.equal(await countOf(current, 'folders', '?include_deleted=true'), restored)
  context.diagnostic(`${restored} of ${races} were restored, the others purged`)
  assert.ok(restored > 0 && restored < races)
})
