/**
 * Measures on PostgreSQL: `npm run bench:postgres [-- --quick] [-- --only NAME] [-- --postgres 15]`.
 * Node's processes run on one core, PostgreSQL and the load on another. See docs/explanation/performance.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Version } from '../../test/postgres/programs.ts'
import { whyNoPostgres } from '../../test/postgres/programs.ts'
import { describeMachine, keepAwake, loadAverage, missingHere } from '../machine.ts'
import { writeInto } from '../report.ts'
import { type Pace, ratiosOf, runRounds, spreadOf } from '../rounds.ts'
import { type Comparison, comparisons } from './contests.ts'
import { type Stage, setStage } from './stage.ts'
import { type Found, tableOf } from './table.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    postgres: { type: 'string', default: '18' },
  },
})
const pace: Pace = options.quick ? { rounds: 3, seconds: 2, warmUp: 2 } : { rounds: 7, seconds: 2, warmUp: 2 }

const missing = missingHere()
const names = comparisons.map(({ name }) => name)
const unknown = options.only.filter((name) => !names.includes(name))
if (unknown.length > 0) missing.push(`--only takes ${names.join(', ')}; not ${unknown.join(', ')}.`)
if (options.postgres !== '15' && options.postgres !== '18') missing.push('--postgres takes 15 or 18.')
else {
  const reason = whyNoPostgres(options.postgres)
  if (reason !== undefined) missing.push(`There is no PostgreSQL ${options.postgres}: ${reason}.`)
}
if (missing.length > 0) {
  for (const sentence of missing) say(sentence)
  process.exit(1)
}

mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/postgres-'))
// However it ends, nothing is left running or lying about.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await run()

async function run(): Promise<void> {
  const busy = loadAverage()
  const awake = keepAwake()
  say('Loading the atlas')
  const stage = await setStage(options.postgres as Version)
  const found: Found[] = []
  for (const comparison of comparisons) {
    if (options.only.length > 0 && !options.only.includes(comparison.name)) continue
    found.push(await compare(stage, comparison))
  }
  const command = ['npm run bench:postgres', ...process.argv.slice(2)].join(' ')
  const circumstances = [
    `${new Date().toISOString().slice(0, 10)}, \`${command}\`: ${pace.rounds} rounds of ${pace.seconds} s after ${pace.warmUp} s of warm-up`,
    `${describeMachine(stage.cluster.folder)}; load average before the start: ${busy.toFixed(2)}; idle cores ${awake ? 'were kept awake' : 'could fall asleep'}`,
    `Node ${process.versions.node}, PostgreSQL ${options.postgres}, ${stage.records.cities.length.toLocaleString('en')} cities; PostgreSQL writes as safely as it can (fsync, full_page_writes and synchronous_commit are on)`,
  ]
  const written = `${circumstances.map((each) => `- ${each}\n`).join('')}\n${tableOf(found)}`
  process.stdout.write(`\n${written}\n`)
  // A part of the measurements must not replace the whole.
  if (options.only.length === 0) {
    writeInto(new URL('../results/postgresql.md', import.meta.url), written, 'npm run bench:postgres')
  }
  await stage.cluster.stop()
}

async function compare(stage: Stage, comparison: Comparison): Promise<Found> {
  say(comparison.name)
  const { contestants, ends } = await comparison.prepare(stage, folder)
  const results = await runRounds(contestants, pace, folder)
  for (const server of ends) await server.stop()
  const [own, other] = contestants.map(({ name }) => name) as [string, string]
  const found: Found = {
    comparison,
    rate: spreadOf(results.get(own)?.rates ?? []),
    otherRate: spreadOf(results.get(other)?.rates ?? []),
    slow: results.get(own)?.slow ?? Number.NaN,
    ratio: ratiosOf(results, own, other),
    thrift: ratiosOf(results, own, other, 'thrift'),
    own: ratiosOf(results, own, other, 'own'),
    costs: [own, other].map((name) => costOf(results.get(name)!)),
  }
  const { rate, otherRate, ratio, thrift, own: alone, costs } = found
  const target = comparison.target === undefined ? 'no target' : `target ${comparison.target}`
  say(
    `  ${rate.median.toFixed(0)} beside ${otherRate.median.toFixed(0)} a second: ${ratio.median.toFixed(2)} (${target}); by processor time ${thrift.median.toFixed(2)}, of Node alone ${alone.median.toFixed(2)}`,
  )
  for (const [index, { node, database }] of costs.entries()) {
    say(
      `  ${[own, other][index]}: ${node.toFixed(0)} µs of Node, ${database.toFixed(0)} µs of PostgreSQL for an answer`,
    )
  }
  return found
}

/** Microseconds of processor time for an answer. */
function costOf({ thrift, own }: { thrift: readonly number[]; own: readonly number[] }): Found['costs'][number] {
  const node = 1e6 / spreadOf(own).median
  return { node, database: 1e6 / spreadOf(thrift).median - node }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
