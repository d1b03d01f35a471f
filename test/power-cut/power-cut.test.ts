/**
 * A power cut loses nothing that was acknowledged. The file system calls of a server are recorded with strace, the disk
 * is rebuilt as it could be after a cut at each moment, and each time the server's storage starts on it.
 *
 * `npm run test:power-cut` does it at length (POWER_CUT=whole).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Synchronous } from '../../src/storage/sqlite/connection.ts'
import { pick, type Random, randomFrom, seedOfRun } from '../durability/random.ts'
import { type Fate, type Luck, noLuck } from './disk.ts'
import { type Recording, record, whyNotRecordable } from './record.ts'
import { type Cut, replay } from './replay.ts'

const whole = process.env.POWER_CUT === 'whole'
const size = whole ? { each: 250, syncs: 2000, chances: 500 } : { each: 30, syncs: 40, chances: 40 }
const obstacle = whyNotRecordable()

for (const synchronous of ['full', 'off'] as const) {
  const says = synchronous === 'full' ? 'a power cut at any moment loses nothing acknowledged' : 'without syncing, the same check fails'
  test(says, async (context) => {
    if (obstacle !== undefined) {
      assert.equal(whole, false, `The power cut cannot be tested: ${obstacle}.`)
      context.diagnostic(`not run here: ${obstacle}`)
      return
    }
    await run(context, synchronous)
  })
}

async function run(context: TestContext, synchronous: Synchronous): Promise<void> {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const parent = mkdtempSync(join(tmpdir(), 'resourced-power-cut-'))
  context.after(() => rmSync(parent, { recursive: true }))
  const recording = await record(parent, synchronous, size.each, seed)
  const random = randomFrom(seed)
  const cuts = synchronous === 'full' ? [...cutsAtSyncs(recording), ...cutsByChance(recording, random)] : lateCuts(recording, random)
  cuts.sort((left, right) => left.before - right.before)
  const losses = await replay(recording, cuts, join(parent, 'scratch'))
  const syncs = recording.events.filter((event) => event.kind === 'sync').length
  const { acknowledged } = recording.ledger
  context.diagnostic(`${acknowledged} changes acknowledged, ${syncs} syncs, ${cuts.length} cuts, ${losses.length} with a loss`)
  if (synchronous === 'full') assert.deepEqual(losses, [])
  else assert.ok(losses.length > cuts.length / 2, `only ${losses.length} of ${cuts.length} cuts lost anything`)
}

/** The worst disk only changes by a sync: right before it, most was acknowledged that the disk must hold. */
function cutsAtSyncs({ events }: Recording): Cut[] {
  const moments = events.flatMap((event, index) => (event.kind === 'sync' ? [index] : []))
  const step = Math.max(1, moments.length / size.syncs)
  const chosen = Array.from({ length: Math.min(moments.length, size.syncs) }, (_, index) => moments[Math.floor(index * step)]!)
  return [...chosen, events.length].map((before) => ({ before, luck: noLuck }))
}

function cutsByChance({ events }: Recording, random: Random): Cut[] {
  return Array.from({ length: size.chances }, () => ({
    before: Math.floor(random() * (events.length + 1)),
    luck: chance(random, pick(random, [['lost', 'kept', 'torn'], ['kept', 'torn'], ['lost', 'torn'], ['lost', 'kept', 'kept', 'kept']])),
  }))
}

function lateCuts({ events }: Recording, random: Random): Cut[] {
  const late = () => Math.floor(events.length * (0.2 + 0.8 * random()))
  return Array.from({ length: 10 }, () => ({ before: late(), luck: noLuck }))
}

function chance(random: Random, fates: readonly Fate[]): Luck {
  return { fate: () => pick(random, fates), sector: () => random() < 0.5 }
}
