/**
 * Measures this commit beside another: `node bench/compare.ts FOLDER`, a clone of this project that is on the other
 * one. Both serve the atlas, in turn and in short rounds, so that whatever disturbs one disturbs the other. Ratios
 * above 1: this commit is faster.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadResource as loadOwn } from './declared.ts'
import { keepAwake, loadAverage, missingHere } from './machine.ts'
import { declaration as ownDeclaration } from './ours.ts'
import { freePort, startServer } from './processes.ts'
import { city, page } from './reads.ts'
import { type Contestant, ratiosOf, runRounds, type Spread } from './rounds.ts'
import type { Setup } from './setup.ts'

const pace = { rounds: 40, seconds: 1, warmUp: 3 }
const [other] = process.argv.slice(2)
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
for (const { name, title, prepare } of [city, page]) {
  const contestants: Contestant[] = []
  for (const setup of setups) {
    const { contestants: all, ends } = await prepare(setup)
    contestants.push({ ...all[0], name: setup.name })
    for (const yardstick of ends) await yardstick.stop()
  }
  const results = await runRounds(contestants, pace, folder)
  for (const { ours } of setups) ours.hold(false)
  const [clock, work] = (['rates', 'thrift'] as const).map((by) => ratiosOf(results, 'this', 'other', by))
  process.stdout.write(`${name}: ${words(clock)} by the clock, ${words(work)} by processor time (${title})\n`)
}
for (const { ours } of setups) await ours.stop()

/** A clone's server, on a database that the clone has made itself: older ones know nothing of what newer ones keep. */
async function setupOf(name: string, root: string): Promise<Setup & { readonly name: string }> {
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
  return { name, folder, pace, data, secure: false, ours: server, peers: [] }
}

function words(ratio: Spread | undefined): string {
  if (ratio === undefined) return ''
  return `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`
}
