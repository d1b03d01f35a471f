/**
 * Measures: `npm run bench [-- --quick] [-- --only NAME]`.
 * Servers run on one core and the load on another; every server is asked in turn, again and again, and what counts are
 * the ratios of what was measured side by side. See docs/explanation/performance.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bulkImport } from './bulk-import.ts'
import { comparison } from './compare-row.ts'
import { growth } from './growth.ts'
import { halfLoad } from './half-load.ts'
import { describeMachine, keepAwake, loadAverage, loadCore, missingHere } from './machine.ts'
import { type Finding, isReached, type Measurement } from './measurement.ts'
import { memory } from './memory.ts'
import { startPeers } from './peers.ts'
import { holdAll } from './processes.ts'
import { format, writeInto } from './report.ts'
import type { Pace } from './rounds.ts'
import { rows } from './rows.ts'
import { loadData, setUp, startOurs } from './setup.ts'
import { slowRead } from './slow-read.ts'
import { startUp } from './start-up.ts'
import { converted, renamed, renamedCity } from './versions.ts'
import { workerProcesses } from './worker-processes.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    // PocketBase and Platformatic DB, which a run without --only measures too.
    peers: { type: 'boolean', default: false },
    // Profiles and experiments: the page of figures stays as it is.
    'no-write': { type: 'boolean', default: false },
  },
})
const pace: Pace = options.quick ? { rounds: 3, seconds: 1, warmUp: 1 } : { rounds: 5, seconds: 2, warmUp: 2 }
const measurements: readonly Measurement[] = [
  ...rows.map(comparison),
  halfLoad,
  memory,
  startUp,
  workerProcesses,
  bulkImport,
  growth,
  slowRead,
  ...[renamedCity, renamed, converted],
]

const missing = missingHere()
const names = measurements.map((each) => each.name)
const unknown = options.only.filter((name) => !names.includes(name))
if (unknown.length > 0) missing.push(`--only takes ${names.join(', ')}; not ${unknown.join(', ')}.`)
if (missing.length > 0) {
  for (const sentence of missing) say(sentence)
  process.exit(1)
}

mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/run-'))
// However it ends, nothing is left running or lying about.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
// This process makes some of the load.
spawnSync('taskset', ['--pid', '--all-tasks', '--cpu-list', String(loadCore), String(process.pid)])
await run()
// Servers that are held end with this process.
process.exit()

async function run(): Promise<void> {
  const busy = loadAverage()
  const awake = keepAwake()
  say('Loading the atlas')
  const data = await loadData(folder)
  // The first start compiles what later ones find compiled.
  await (await startOurs(folder, data.file, false)).stop()
  const many = options.quick ? 100_000 : 1_000_000
  const notes: string[] = []
  const note = (sentence: string) => notes.push(sentence)
  const peers = options.only.length === 0 || options.peers ? await startPeers(folder, data, note) : []
  const setup = setUp({ folder, pace, many, data, peers, say, note })
  const findings: Finding[] = []
  for (const measurement of measurements) {
    if (options.only.length === 0 ? measurement.extra : !options.only.includes(measurement.name)) continue
    say(measurement.name)
    try {
      for (const finding of await measurement.measure(setup)) {
        findings.push(finding)
        say(`  ${inShort(finding)}`)
      }
    } catch (error) {
      // The rest of half an hour is worth having.
      say(String(error))
      note(`${measurement.name} failed: ${(error as Error).message.split('\n', 1)[0]}`)
      process.exitCode = 1
      holdAll()
    }
  }
  const found = format(findings, [...circumstances(busy, awake), ...notes])
  process.stdout.write(`\n${found}\n`)
  // A part of the measurements must not replace the whole.
  if (options.only.length === 0 && !options['no-write'])
    writeInto(new URL('results/requests.md', import.meta.url), found)
}

function inShort({ own, unit, comparisons }: Finding): string {
  const beside = comparisons.map((each) => {
    const reached = isReached(each)
    const verdict = reached === undefined ? '' : reached ? ' (reached)' : ' (missed)'
    const thrift = each.thrift === undefined ? '' : `, by processor time ${each.thrift.toFixed(2)}`
    return `; ${each.ratio.median.toFixed(2)} of ${each.yardstick}${thrift}${verdict}`
  })
  return `${own.median.toFixed(own.median < 10 ? 1 : 0)} ${unit}${beside.join('')}`
}

function circumstances(busy: number, awake: boolean): string[] {
  const command = ['npm run bench', ...(options.quick ? ['-- --quick'] : [])].join(' ')
  return [
    `${new Date().toISOString().slice(0, 10)}, \`${command}\`: ${pace.rounds} rounds of ${pace.seconds} s after ${pace.warmUp} s of warm-up`,
    `${describeMachine(folder)}; load average before the start: ${busy.toFixed(2)}; idle cores ${awake ? 'were kept awake' : 'could fall asleep'}`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
  ]
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
