/** Two threads that answer requests beside one, and what follows for more cores. */
import { spawnSync } from 'node:child_process'
import { contestantOf } from './compare-row.ts'
import { comparisonOf, type Finding, type Measurement } from './measurement.ts'
import { program } from './ours.ts'
import { type Result, runRounds, spreadOf } from './rounds.ts'
import { rows } from './rows.ts'
import { startOurs } from './setup.ts'

/** The least ratios, by the rows that are measured. */
const targets: Readonly<Record<string, number>> = { get: 1.8, page: 1.5, 'post-64': 1 }

export const workerProcesses: Measurement = {
  name: 'workers',
  async measure({ folder, data, pace, note }) {
    const { stdout } = spawnSync(process.execPath, [program, 'serve', '--help'], { encoding: 'utf8' })
    if (!stdout.includes('--workers')) {
      note('Two threads were not measured: this program has no `serve --workers` yet.')
      return []
    }
    const start = (more: readonly string[]) => startOurs(folder, data.file, false, { more, cores: '0,1' })
    const [two, one] = [await start(['--workers', '2']), await start([])]
    for (const server of [two, one]) server.hold(true)
    const findings: Finding[] = []
    for (const row of rows) {
      const least = targets[row.name]
      if (least === undefined) continue
      const contestants = [await contestantOf(row, 'two', two, data), await contestantOf(row, 'one', one, data)]
      const results = await runRounds(contestants, pace, folder)
      const [own, other] = ['two', 'one'].map((name) => results.get(name)) as [Result, Result]
      const doubled = own.thrift.map((thrift) => thrift * 2)
      const target = { atLeast: least }
      const byWork = 'one thread, for a second of processor time; ours twice'
      findings.push({
        title: `${row.title}, two threads`,
        unit: 'a second',
        own: spreadOf(own.rates),
        slow: own.slow,
        comparisons:
          row.status === 201
            ? [comparisonOf('one thread', own.rates, other.rates, target)]
            : [
                comparisonOf('one thread', own.rates, other.rates, undefined),
                comparisonOf(byWork, doubled, other.thrift, target),
              ],
      })
      if (row.status !== 201) note(calculated(row.title, spreadOf(other.rates).median, own, other))
    }
    for (const server of [two, one]) await server.stop()
    return findings
  },
}

/**
 * What more cores would give. At most: each thread needs as much processor time for a response as each of two. At least:
 * with each doubling, threads lose the part of their rate that two have lost.
 */
function calculated(title: string, rate: number, own: Result, other: Result): string {
  const efficiency = Math.min(1, spreadOf(own.thrift).median / spreadOf(other.thrift).median)
  const rated = (each: number) => Math.round(rate * each).toLocaleString('en')
  const [eight, many] = [8, 64].map((cores) => {
    return `${rated(cores * efficiency ** Math.log2(cores))} to ${rated(cores * efficiency)}`
  })
  const base = `two threads gave ${Math.round(efficiency * 100)} % of its responses for a second of processor time`
  return `${title}: one thread ${rated(1)} a second, measured; ${base}; calculated, 8 on 8 cores ${eight}, 64 on 64 ${many}`
}
