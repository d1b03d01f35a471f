/**
 * Two servers on one SQLite file answer every read as if they remembered nothing, whatever was changed by either of
 * them. `SEED=7` repeats the requests of one seed, and `SEEDS=100` sends those of a hundred.
 */
import './differential/same-ids.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Outcome } from '../packages/server/src/plan/outcome.ts'
import { readEpochs, sqlContext } from '../packages/server/src/storage/sql/context.ts'
import { Connection } from '../packages/server/src/storage/sqlite/connection.ts'
import { sqlite } from '../packages/server/src/storage/sqlite/dialect.ts'
import { openSqlite } from '../packages/server/src/storage/sqlite/storage.ts'
import type { Storage } from '../packages/server/src/storage/storage.ts'
import { Memory } from '../packages/server/src/storage/transactions/memory.ts'
import { readAnew } from '../packages/server/src/storage/transactions/read-page.ts'
import { completeVersions, type Versions } from '../packages/server/src/versions/versions.ts'
import { Known } from './differential/known.ts'
import { pick, type Random, randomFrom } from './durability/random.ts'
import { sqliteOnly } from './engine.ts'

const { menagerie } = await import('./differential/declaration.ts')
const { nextRequest } = await import('./differential/requests.ts')
const { twin } = await import('./differential/twins.ts')

const { SEED, SEEDS = '4' } = process.env
const seeds = SEED === undefined ? Array.from({ length: Number(SEEDS) }, (_, index) => index + 1) : [Number(SEED)]
const perSeed = 2_000
const skip = sqliteOnly('the other engine remembers no answers')
const callers = ['root', 'ann', 'bob', 'eve'] as const

/** What a run has compared. */
interface Comparison {
  /** Off while requests run side by side: then a read may be older than the next one. */
  isOn: boolean
  compared: number
  /** How many answers were given before: they were remembered. */
  remembered: number
}

/** A storage whose reads are compared with those of a connection that remembers nothing. */
function compared(storage: Storage, versions: Versions, path: string, comparison: Comparison): Storage {
  const connection = new Connection(path, { readOnly: true })
  const opened = { catalog: versions.stored, dialect: sqlite, epochs: connection.run(readEpochs()) }
  const context = sqlContext({ ...opened, tagSecret: storage.cursorSecret })
  const given = new WeakSet<Outcome>()
  return {
    ...storage,
    async run(plan, ...rest) {
      const isRead = plan.kind === 'read-record' || plan.kind === 'read-page' || plan.kind === 'read-summary'
      if (!comparison.isOn || !isRead) {
        return storage.run(plan, ...rest)
      }
      for (;;) {
        // A turn has one snapshot, which may be older than what the other server has just committed.
        await turn()
        const before = connection.value('pragma data_version')
        const outcome = await storage.run(plan, ...rest)
        const anew: Outcome = connection.run(readAnew(context, new Memory(), plan))
        // A thread may have committed in between.
        if (connection.value('pragma data_version') !== before) continue
        assert.deepEqual(outcome, anew)
        comparison.compared++
        if (given.has(outcome)) comparison.remembered++
        given.add(outcome)
        return outcome
      }
    },
    async close() {
      connection.close()
      await storage.close()
    },
  }
}

async function runSeed(seed: number, comparison: Comparison): Promise<void> {
  const random = randomFrom(seed)
  const declaration = menagerie(random)
  const versions = completeVersions(declaration)
  const catalogs = new Map([...versions.all].map(([name, { catalog }]) => [name, catalog]))
  const folder = mkdtempSync(join(tmpdir(), 'resourced-remembered-'))
  const path = join(folder, 'data.db')
  const open = () => compared(openSqlite(versions.stored, { path, synchronous: 'off' }), versions, path, comparison)
  const servers = [await twin(versions, open()), await twin(versions, open(), { isFirst: false })]
  const known = new Known()
  let at = Date.UTC(2026, 0, 1)
  try {
    for (let number = 1; number <= perSeed; ) {
      const isBurst = number > 30 && random() < 0.2
      const asked = Array.from({ length: isBurst ? 5 : 1 }, () => {
        at += random() < 0.01 ? 31 * 86_400_000 : Math.floor(random() * 2_000)
        return nextRequest({ random, known, catalogs }, number++, at)
      })
      comparison.isOn = !isBurst
      const answers = await Promise.all(asked.map((each) => pick(random, servers).ask(each)))
      for (const [index, answer] of answers.entries()) {
        assert.deepEqual(answer.failures, [], `SEED=${seed}, request ${asked[index]!.number}`)
        known.learn(asked[index]!, answer)
      }
      comparison.isOn = true
      for (const target of targets(random, known)) {
        const request = { number: number++, at, as: pick(random, callers), method: 'GET', target, headers: {} }
        for (const server of [...servers, ...servers]) {
          const { failures } = await server.ask(request)
          assert.deepEqual(failures, [], `SEED=${seed}, before request ${number}: ${target}`)
        }
      }
    }
  } finally {
    for (const server of servers) await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Some of the addresses that are known: those of records, of records that were deleted, and of lists. */
function targets(random: Random, { records, gone, pages }: Known): string[] {
  const some = (from: readonly string[], count: number) =>
    from.length === 0 ? [] : Array.from({ length: count }, () => pick(random, from))
  const lists = ['/v2/beasts', '/v1/animals?sort=name', '/v2/dens?page=1', '/v2/beasts?limit=3']
  lists.push('/v2/beasts/summary', '/v1/animals/summary?group=created_at:day&sort=-count&limit=2')
  lists.push('/v2/beasts?include=den.upper,tags,twin', '/v2/dens?include=beasts.keeper&include[beasts][sort]=-title')
  lists.push('/v1/animals?include=den,keeper.animals&include[keeper.animals][limit]=1', '/v2/tags?include=beast')
  const nested = [...records.values()].filter((each) => each.collection === 'beasts').map(({ path }) => `${path}/tags`)
  lists.push(...some(nested.slice(-5), 2), '/v2/beasts?include_deleted=true')
  const related = [...records.keys()]
    .filter((path) => path.includes('/beasts/'))
    .map((path) => `${path}?include=den,tags`)
  return [
    ...some([...records.keys()].slice(-15), 4),
    ...some(related.slice(-5), 2),
    ...some([...gone].slice(-5), 1),
    ...some([...lists, ...pages], 3),
  ]
}

for (const seed of seeds) {
  test(`two servers remember nothing that has changed (seed ${seed})`, { timeout: 300_000, skip }, async () => {
    const comparison = { isOn: true, compared: 0, remembered: 0 }
    await runSeed(seed, comparison)
    assert.ok(comparison.remembered > comparison.compared / 5, JSON.stringify(comparison))
  })
}
