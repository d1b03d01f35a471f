/**
 * Measures: `npm run bench [-- --quick] [-- --only NAME]`.
 * Servers run on one core and the load on another; every server is asked in turn, again and again, and what counts are
 * the ratios of what was measured side by side. See docs/explanation/performance.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadAtlas } from '../examples/atlas/load.ts'
import { recordsOf } from './atlas.ts'
import { loadResource } from './declared.ts'
import { describeMachine, keepAwake, loadAverage, missingHere } from './machine.ts'
import type { Line, Measurement } from './measurement.ts'
import { createKey, declaration, ours } from './ours.ts'
import { freePort } from './processes.ts'
import { city, cursor, page, unchanged } from './reads.ts'
import { type Figure, format, writeInto } from './report.ts'
import { type Pace, ratiosOf, runRounds, spreadOf } from './rounds.ts'
import { scale } from './scale.ts'
import { copyOf, type Data, get, type Setup, startOurs, startPeers } from './setup.ts'
import { timeStartUp } from './start-up.ts'
import { converted, renamed, renamedCity } from './versions.ts'
import { create } from './writes.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    // Profiles and experiments: the page of figures stays as it is.
    'no-write': { type: 'boolean', default: false },
  },
})
const pace: Pace = options.quick ? { rounds: 3, seconds: 1, warmUp: 1 } : { rounds: 7, seconds: 3, warmUp: 3 }
const measurements: readonly Measurement[] = [
  city,
  page,
  cursor,
  unchanged,
  create,
  renamedCity,
  renamed,
  converted,
  scale(options.quick ? 100_000 : 1_000_000),
]
const singles = ['memory', 'start-up', 'others']

const missing = missingHere()
const unknown = options.only.filter((name) => ![...measurements.map((each) => each.name), ...singles].includes(name))
if (unknown.length > 0) {
  missing.push(
    `--only takes ${[...measurements.map((each) => each.name), ...singles].join(', ')}; not ${unknown.join(', ')}.`,
  )
}
if (missing.length > 0) {
  for (const sentence of missing) say(sentence)
  process.exit(1)
}

mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/run-'))
// However it ends, nothing is left running or lying about.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await run()

async function run(): Promise<void> {
  const busy = loadAverage()
  const awake = keepAwake()
  say('Loading the atlas')
  const data = await loadData()
  // The first start compiles what later ones find compiled.
  await (await startOurs(folder, data.file, false)).stop()
  const peers = isWanted('others') ? await startPeers(folder, data.records, say) : []
  for (const { server } of peers) server?.hold(true)
  const lines: Line[] = []
  const figures: Figure[] = []
  for (const secure of [false, true]) {
    const chosen = measurements.filter(({ name, repeated }) => isWanted(name) && (!secure || repeated))
    if (chosen.length === 0) continue
    const setup: Setup = {
      folder,
      pace,
      data,
      secure,
      ours: await startOurs(folder, data.file, secure),
      peers: secure ? [] : peers,
    }
    for (const measurement of chosen) lines.push(await compare(setup, measurement))
    if (isWanted('memory')) figures.push(memoryOf(setup))
    await setup.ours.stop()
  }
  if (isWanted('start-up')) figures.push(await startUp(data))
  for (const { server } of peers) await server?.stop()
  const found = format({ lines, figures, peers, circumstances: circumstances(busy, awake) })
  process.stdout.write(`\n${found}\n`)
  // A part of the measurements must not replace the whole.
  if (options.only.length === 0 && !options['no-write'])
    writeInto(new URL('../docs/explanation/performance.md', import.meta.url), found)
}

async function loadData(): Promise<Data> {
  const file = join(folder, 'atlas.db')
  const { catalog } = await loadResource(declaration, 'cities')
  await loadAtlas(file, catalog, () => {})
  const authorization = `Bearer ${createKey(`sqlite:${file}`)}`
  return { catalog, file, records: recordsOf(file, catalog), authorization }
}

async function compare(setup: Setup, measurement: Measurement): Promise<Line> {
  const transport = setup.secure ? 'HTTPS' : 'HTTP'
  say(`${measurement.name}, ${transport}`)
  for (const { server } of setup.peers) server?.hold(false)
  const { contestants, ends } = await measurement.prepare(setup)
  const taking = new Set(contestants.map(({ server }) => server))
  for (const { server } of setup.peers) if (server !== undefined && !taking.has(server)) server.hold(true)
  const results = await runRounds(contestants, setup.pace, folder)
  for (const { server } of setup.peers) server?.hold(true)
  for (const server of ends) await server.stop()
  const [own, yardstick, ...others] = contestants
  const rateOf = (name: string) => spreadOf(results.get(name)?.rates ?? [])
  const line: Line = {
    title: measurement.title,
    transport,
    rate: rateOf(own.name),
    slow: results.get(own.name)?.slow ?? Number.NaN,
    yardstick: measurement.yardstick,
    yardstickRate: rateOf(yardstick.name),
    ratio: ratiosOf(results, own.name, yardstick.name),
    thrift: ratiosOf(results, own.name, yardstick.name, 'thrift'),
    target: measurement.target,
    others: new Map(others.map(({ name }) => [name, rateOf(name)])),
  }
  say(
    `  ${Math.round(line.rate.median)} a second, ${line.ratio.median.toFixed(2)} of ${line.yardstick} (target ${line.target}), ${line.thrift.median.toFixed(2)} by processor time`,
  )
  return line
}

function memoryOf({ ours: server, secure }: Setup): Figure {
  const title = `Memory of the server after all this, ${secure ? 'HTTPS' : 'HTTP'}`
  return { title, spread: spreadOf([server.memory() / 1_000_000]), unit: 'MB', bound: 150 }
}

async function startUp(data: Data): Promise<Figure> {
  say('start-up')
  const database = copyOf(data.file, folder)
  const request = get(data, `/v1/cities/${data.records.cities[0]?.['id']}`)
  const times: number[] = []
  // The first start makes the certificate: it does not count.
  for (let turn = 0; turn <= pace.rounds; turn++) {
    const time = await timeStartUp(ours(folder, 'start-up', `sqlite:${database}`, await freePort(), true), request)
    if (turn > 0) times.push(time)
  }
  return {
    title: 'Start-up with data present, to the first answer, HTTPS',
    spread: spreadOf(times),
    unit: 'ms',
    bound: 500,
  }
}

function circumstances(busy: number, awake: boolean): string[] {
  const command = ['npm run bench', ...(options.quick ? ['-- --quick'] : [])].join(' ')
  return [
    `${new Date().toISOString().slice(0, 10)}, \`${command}\`: ${pace.rounds} rounds of ${pace.seconds} s after ${pace.warmUp} s of warm-up`,
    `${describeMachine(folder)}; load average before the start: ${busy.toFixed(2)}; idle cores ${awake ? 'were kept awake' : 'could fall asleep'}`,
    `Node ${process.versions.node}, SQLite ${process.versions.sqlite}`,
  ]
}

function isWanted(name: string): boolean {
  return options.only.length === 0 || options.only.includes(name)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
