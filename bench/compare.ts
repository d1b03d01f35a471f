/**
 * Measures this commit beside another: `node bench/compare.ts FOLDER [--postgres] [--events] [--history] [NAME...]`, a clone of
 * this project that is on the other one, and names of `bench/rows.ts`. Both serve the atlas, in turn and in short
 * rounds, so that whatever disturbs one disturbs the other. Ratios above 1: this commit is faster. With `--events`,
 * this commit keeps the changes of cities as events, and with `--history` their states: with the folder `.`, the ratios
 * are what they leave.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { contestantOf } from './compare-row.ts'
import { loadResource as loadOwn } from './declared.ts'
import { keepAwake, loadAverage, missingHere } from './machine.ts'
import { atlasIn, declaration as ownDeclaration } from './ours.ts'
import { freePort, startServer } from './processes.ts'
import { type Contestant, ratiosOf, runRounds, type Spread } from './rounds.ts'
import { rows } from './rows.ts'
import type { Data } from './setup.ts'

const pace = { rounds: 40, seconds: 1, warmUp: 3 }
const { values: options, positionals } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    events: { type: 'boolean', default: false },
    history: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const [other, ...names] = positionals
const missing = missingHere()
if (other === undefined) missing.push('Which other commit? node bench/compare.ts FOLDER takes a clone that is on it.')
for (const sentence of missing) process.stderr.write(`${sentence}\n`)
if (other === undefined || missing.length > 0) process.exit(1)

mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/beside-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
keepAwake()
const setups = [
  await setupOf('this', join(import.meta.dirname, '..')),
  await setupOf('other', resolve(process.cwd(), other)),
]
process.stdout.write(`${pace.rounds} rounds of ${pace.seconds} s; load average ${loadAverage()}\n`)
const chosen = names.length > 0 ? names : ['get', 'page']
for (const row of rows) {
  if (!chosen.includes(row.name)) continue
  const contestants: Contestant[] = []
  for (const { name, data, server, behind } of setups) {
    const contestant = await contestantOf(row, name, server, data)
    // Each record is deleted once, so short rounds are needed for as many rounds.
    contestants.push({ ...contestant, behind, once: contestant.once === undefined ? undefined : 2_000 })
  }
  const results = await runRounds(contestants, pace, folder)
  const [clock, work] = (['rates', 'thrift'] as const).map((by) => ratiosOf(results, 'this', 'other', by))
  process.stdout.write(`${row.name}: ${words(clock)} by the clock, ${words(work)} by processor time (${row.title})\n`)
}
for (const each of setups) {
  await each.server.stop()
  await each.end()
}

/** A clone's server, on a database that the clone has made itself: older ones know nothing of what newer ones keep. */
async function setupOf(name: 'this' | 'other', root: string) {
  const of = (file: string) => import(pathToFileURL(join(root, file)).href)
  const { ours } = (await of('bench/ours.ts')) as typeof import('./ours.ts')
  // The yardsticks, which nobody compares here, plan requests by this commit's code.
  const { catalog } = await loadOwn(ownDeclaration, 'cities')
  const { address, behind, end, ...database } = await (options.postgres ? loadPostgres : loadSqlite)(name, of)
  const features = (['events', 'history'] as const).filter((each) => options[each])
  const served = features.length > 0 && name === 'this' ? withFeatures(folder, features) : atlasIn(folder)
  const server = await startServer({
    ...ours(folder, name, address, await freePort(), false, served),
    patience: 120_000,
  })
  const data: Data = { catalog, file: join(folder, `${name}.db`), ...database }
  return { name, data, server, behind, end }
}

type Import = (file: string) => Promise<unknown>

async function loadSqlite(name: string, of: Import) {
  const { loadAtlas } = (await of('examples/atlas/load.ts')) as typeof import('../examples/atlas/load.ts')
  const { loadResource } = (await of('bench/declared.ts')) as typeof import('./declared.ts')
  const { recordsOf } = (await of('bench/atlas.ts')) as typeof import('./atlas.ts')
  const { createKey, declaration } = (await of('bench/ours.ts')) as typeof import('./ours.ts')
  const file = join(folder, `${name}.db`)
  const { catalog } = await loadResource(declaration, 'cities')
  await loadAtlas(file, catalog, () => {})
  const address = `sqlite:${file}`
  const authorization = `Bearer ${createKey(address)}`
  return { address, authorization, records: recordsOf(file, catalog), behind: () => 0, end: async () => {} }
}

async function loadPostgres(_name: string, of: Import) {
  const { setStage } = (await of('bench/postgres/stage.ts')) as typeof import('./postgres/stage.ts')
  const { authorization, records, cluster, work, copy } = await setStage('18')
  return { address: await copy(), authorization, records, behind: work, end: () => cluster.stop() }
}

/** The atlas, where the changes of cities are events, or their states are kept, as a file of a folder. */
function withFeatures(folder: string, features: readonly string[]): string {
  const file = join(folder, 'atlas-with-features.yaml')
  const declared = features.map((each) => `\n    ${each}: true`).join('')
  writeFileSync(file, readFileSync(atlasIn(folder), 'utf8').replace(/^ {2}cities:$/m, `$&${declared}`))
  return file
}

function words(ratio: Spread | undefined): string {
  if (ratio === undefined) return ''
  return `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`
}
