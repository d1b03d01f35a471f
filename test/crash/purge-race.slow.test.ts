/**
 * DEL-7: if a purge and a restoration compete for a record, one of them takes it with its dependents: `RACES=10000 node
 * --test test/crash/purge-race.slow.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { forest } from '../declarations.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { engine } from '../engine.ts'
import { purgeAt, type Received, trialFor } from '../harness.ts'
import { countOf } from '../steps.ts'

const races = Number(process.env.RACES ?? (engine === 'sqlite' ? 1_000 : 500))
const together = 100
const callers = 8
/** The last of each round are asked for when the purge is over. */
const late = 5
const day = 86_400_000

test(`DEL-7: ${races} restorations race a purge`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const current = await trialFor(context, forest)
  const { app, send, make } = current
  let restored = 0
  /** Who has won what was asked for while the purge began. */
  const contended = { restoration: 0, purge: 0 }
  const bothHaveWon = () => contended.restoration > 0 && contended.purge > 0

  for (let all = 0; all < races || (all < 5 * races && !bothHaveWon()); all += together) {
    const names = Array.from({ length: together }, (_, number) => `Folder ${all + number}`)
    const ids: string[] = (await Promise.all(names.map((name) => make('folders', { name })))).map(({ id }) => id)
    await Promise.all(ids.map((id) => send({ method: 'DELETE', path: `/v1/folders/${id}` })))

    const first = Math.floor((random() * together) / 2)
    const [begins, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const answers: Received[] = []
    const restoring = Array.from({ length: callers }, async (_, caller) => {
      for (let number = caller; number < together; number += callers) {
        if (number >= first) begins.resolve()
        if (number >= together - late) await over.promise
        answers[number] = await send({ method: 'POST', path: `/v1/folders/${ids[number]}/restore` })
      }
    })
    await begins.promise
    // A purge begins in the same turn, and the restorations that were asked for are some turns away from their commits.
    for (let turns = Math.floor(random() * 40); turns > 0; turns--) await nextTurn()
    // Where every restoration was first there was nothing to purge.
    const purged = (await purgeAt(app, Date.now() + 31 * day)) ?? 0
    over.resolve()
    await Promise.all(restoring)

    let won = 0
    for (const [number, { status, text }] of answers.entries()) {
      assert.ok(status === 200 || status === 404, text)
      const read = await send({ path: `/v1/folders/${ids[number]}` })
      assert.equal(read.status, status)
      if (status === 200) won++
      if (number > first && number < together - late) contended[status === 200 ? 'restoration' : 'purge']++
    }
    assert.equal(purged, together - won)
    restored += won
  }
  assert.equal(await countOf(current, 'folders'), restored)
  assert.equal(await countOf(current, 'folders', '?include_deleted=true'), restored)
  context.diagnostic(`while the purge began: ${JSON.stringify(contended)}`)
  assert.ok(bothHaveWon())
})
