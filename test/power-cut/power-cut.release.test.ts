/**
 * A power cut loses no acknowledged change. strace records the file system calls of a server. The test rebuilds the
 * disk as a cut at each moment could leave it, and starts the server's storage on it. `npm run test:power-cut` runs at
 * length (POWER_CUT=whole).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Synchronous } from '../../packages/server/src/storage/sqlite/connection.ts'
import { pick, type Random, randomFrom, seedOfRun } from '../durability/random.ts'
import { type Fate, type Luck, noLuck } from './disk.ts'
import { type Recording, record, whyNotRecordable } from './record.ts'
import { type Cut, replay } from './replay.ts'

const whole = process.env.POWER_CUT === 'whole'
const size = whole ? { each: 200, syncs: 200, chances: 250 } : { each: 30, syncs: 40, chances: 40 }
const obstacle = whyNotRecordable()

const trials: readonly { name: string; synchronous: Synchronous; failing?: boolean }[] = [
  { name: 'a power cut at any moment loses nothing acknowledged', synchronous: 'full' },
  { name: 'nor does it where the disk fails to sync now and then', synchronous: 'full', failing: true },
  { name: 'without syncing, the same check fails', synchronous: 'off' },
]

for (const { name, ...trial } of trials) {
  test(name, async (context) => {
    if (obstacle === undefined) return run(context, trial)
    assert.equal(whole, false, `The power cut cannot be tested: ${obstacle}.`)
    context.diagnostic(`not run here: ${obstacle}`)
  })
}

async function run(
  context: TestContext,
  { synchronous, failing = false }: { readonly synchronous: Synchronous; readonly failing?: boolean },
): Promise<void> {
  const seed = seedOfRun()
  const parent = mkdtempSync(join(tmpdir(), 'resourced-power-cut-'))
  context.after(() => rmSync(parent, { recursive: true }))
  const recording = await record(parent, {
    synchronous,
    failing,
    each: failing ? Math.max(size.each, 80) : size.each,
    seed,
  })
  const { events, ledger } = recording
  const random = randomFrom(seed)
  const cuts =
    synchronous === 'full'
      ? [...cutsAtSyncs(recording), ...cutsByChance(recording, random)]
      : lateCuts(recording, random)
  cuts.sort((left, right) => left.before - right.before)
  const losses = await replay(recording, cuts, join(parent, 'scratch'))
  const syncs = events.filter((event) => event.kind === 'sync')
  const failed = syncs.filter((event) => event.failed).length
  const checkpoints = syncs.filter((event) => event.path === recording.databaseFile).length
  context.diagnostic(
    `SEED=${seed}: ${ledger.acknowledged} changes acknowledged, ${syncs.length} syncs of which ${failed} failed, ` +
      `${checkpoints} of the database file, ` +
      `${cuts.length} cuts of which ${losses.length} lost something`,
  )
  if (synchronous === 'full') assert.deepEqual(losses, [])
  else assert.equal(losses.length, cuts.length)
  assert.equal(failed > 0, failing)
}

/** The worst disk only changes by a sync: right before it, most was acknowledged that the disk must hold. */
function cutsAtSyncs({ events }: Recording): Cut[] {
  const moments = events.flatMap((event, index) => (event.kind === 'sync' ? [index] : []))
  const step = Math.max(1, moments.length / size.syncs)
  const chosen = Array.from(
    { length: Math.min(moments.length, size.syncs) },
    (_, index) => moments[Math.floor(index * step)]!,
  )
  return [...chosen, events.length].map((before) => ({ before, luck: noLuck }))
}

function cutsByChance({ events }: Recording, random: Random): Cut[] {
  return Array.from({ length: size.chances }, () => ({
    before: Math.floor(random() * (events.length + 1)),
    luck: chance(
      random,
      pick(random, [
        ['lost', 'kept', 'torn'],
        ['kept', 'torn'],
        ['lost', 'torn'],
        ['lost', 'kept', 'kept', 'kept'],
      ]),
    ),
  }))
}

function lateCuts({ events }: Recording, random: Random): Cut[] {
  // Most of what comes before is the first start, when nothing was acknowledged yet.
  const late = () => Math.floor(events.length * (0.8 + 0.2 * random()))
  return Array.from({ length: 10 }, () => ({ before: late(), luck: noLuck }))
}

function chance(random: Random, fates: readonly Fate[]): Luck {
  return { fate: () => pick(random, fates), sector: () => random() < 0.5 }
}
