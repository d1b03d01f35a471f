/**
 * Measures this commit beside another: `node bench/compare.ts FOLDER [NAME...]`, a clone of this project that is on the
 * other one, and names of `bench/rows.ts`. Both serve the atlas, in turn and in short rounds, so that whatever disturbs
 * one disturbs the other. Ratios above 1: this commit is faster.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { contestantOf } from './compare-row.ts'
import { loadResource as loadOwn } from './declared.ts'
import { keepAwake, loadAverage, missingHere } from './machine.ts'
import { declaration as ownDeclaration } from './ours.ts'
import { freePort, type Server, startServer } from './processes.ts'
import { type Contestant, ratiosOf, runRounds, type Spread } from './rounds.ts'
import { rows } from './rows.ts'
import type { Data } from './setup.ts'

const pace = { rounds: 40, seconds: 1, warmUp: 3 }
const [other, ...names] = process.argv.slice(2)
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
  for (const { name, data, server } of setups) contestants.push(await contestantOf(row, name, server, data))
  const results = await runRounds(contestants, pace, folder)
  const [clock, work] = (['rates', 'thrift'] as const).map((by) => ratiosOf(results, 'this', 'other', by))
  process.stdout.write(`${row.name}: ${words(clock)} by the clock, ${words(work)} by processor time (${row.title})\n`)
}
for (const { server } of setups) await server.stop()

/** A clone's server, on a database that the clone has made itself: older ones know nothing of what newer ones keep. */
async function setupOf(
  name: string,
  root: string,
): Promise<{ readonly name: string; readonly data: Data; readonly server: Server }> {
  const of = (file: string) => import(pathToFileURL(join(root, file)).href)
  const { loadAtlas } = (await of('examples/atlas/load.ts')) as typeof import('../examples/atlas/load.ts')
  const { loadResource } = (await of('bench/declared.ts')) as typeof import('./declared.ts')
  const { recordsOf } = (await of('bench/atlas.ts')) as typeof import('./atlas.ts')
  const { createKey, declaration, ours } = (await of('bench/ours.ts')) as typeof import('./ours.ts')
  const file = join(folder, `${name}.db`)
  const { catalog } = await loadResource(declaration, 'cities')
  await loadAtlas(file, catalog, () => {})
  const address = `sqlite:${file}`
  // The yardsticks, which nobody compares here, plan requests by this commit's code.
  const own = await loadOwn(ownDeclaration, 'cities')
  const data = {
    catalog: own.catalog,
    file,
    records: recordsOf(file, catalog),
    authorization: `Bearer ${createKey(address)}`,
  }
  const server = await startServer(ours(folder, name, address, await freePort(), false))
  return { name, data, server }
}

function words(ratio: Spread | undefined): string {
  if (ratio === undefined) return ''
  return `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`
}
