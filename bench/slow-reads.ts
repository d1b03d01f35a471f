/**
 * Measures how long GET of one record takes beside slow reads (LIM-7): `node bench/slow-reads.ts [--records 1000000]
 * [--rounds 3] [--rate 1000] [--only contains]`. The server has one core, the load the other. A round is a few seconds
 * of GETs alone, then a few seconds beside one caller that always has one slow read running; ratios are taken within a
 * round. `--cores 0,1` gives the server both cores. See docs/explanation/overload.md.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ask } from './ask.ts'
import { makeCities } from './atlas.ts'
import { loadResource } from './declared.ts'
import { describeMachine, loadAverage } from './machine.ts'
import { messageOf, runOpenLoad, type Seen } from './open-load.ts'
import { createKey, declaration, ours } from './ours.ts'
import { freePort, type Server, startServer } from './processes.ts'
import { spreadOf } from './rounds.ts'

const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string' },
    cores: { type: 'string' },
  },
})
const [records, rounds, rate, seconds] = [options.records, options.rounds, options.rate, options.seconds].map(
  Number,
) as [number, number, number, number]

/** Slow reads, each different from the one before, so that no total is remembered. */
const slowReads: Readonly<Record<string, (turn: number) => string>> = {
  contains: (turn) => `/v1/cities?admin_code[contains]=zq${turn}`,
  search: (turn) => `/v1/cities?q=${['c', 'ci', 'n', 'nu'][turn % 4]}&page=${1 + turn}`,
  'deep page': (turn) => `/v1/cities?per_page=50&page=${Math.floor(records / 50) - 5 - turn}`,
  'first total': (turn) => `/v1/cities?feature=PPL&created_at[lte]=${new Date(2e12 + turn).toISOString()}`,
}

mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/slow-reads-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await run()

async function run(): Promise<void> {
  // The atlas has no field that `contains` may search, so one is added.
  const served = join(folder, 'resources.yaml')
  const text = readFileSync(declaration, 'utf8')
  writeFileSync(served, text.replace(/(admin_code:\s+\{ type: string,)/, '$1 filter: true,'))
  const { catalog } = await loadResource(served, 'cities')
  const file = join(folder, 'cities.db')
  const { cities } = await makeCities(file, catalog, records)
  const authorization = `Bearer ${createKey(`sqlite:${file}`)}`
  const start = ours(folder, 'ours', `sqlite:${file}`, await freePort(), false, served)
  const server = await startServer({ ...start, args: [...start.args, '--rate-limit', 'off'], cores: options.cores })
  const messages = cities.slice(0, 2_000).map(({ id }) => {
    return messageOf({ method: 'GET', path: `/v1/cities/${id}`, headers: { Authorization: authorization } })
  })
  const load = () => runOpenLoad({ origin: server.origin, messages, rate, seconds, connections: 64, patience: 10_000 })
  await load()
  console.log(`${describeMachine(folder)}, load ${loadAverage()}. ${records} records, ${rate} GETs a second.`)
  console.log(
    '| beside | 50 / 99 of 100 without | 50 / 99 of 100 beside | 99 of 100, ratio | slow reads, each | memory |',
  )
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const [name, path] of Object.entries(slowReads)) {
    if (options.only !== undefined && options.only !== name) continue
    const [alone, beside, ratios, times]: [Seen[], Seen[], number[], number[]] = [[], [], [], []]
    for (let round = 0; round < rounds; round++) {
      const without = await load()
      const reading = readSlowly(server, { Authorization: authorization }, (turn) => path(turn + round * 100))
      const meanwhile = await load()
      times.push(...(await reading()))
      alone.push(without)
      beside.push(meanwhile)
      ratios.push(meanwhile.good[1] / Math.max(0.1, without.good[1]))
    }
    const quantiles = (all: Seen[]) =>
      `${middle(all.map(({ good }) => good[0]))} / ${middle(all.map(({ good }) => good[1]))} ms`
    const each = `${times.length}, ${middle(times).toFixed(0)} ms`
    const memory = (server.memory() / 2 ** 20).toFixed(0)
    const { min, median, max } = spreadOf(ratios)
    const ratio = `${median.toFixed(1)} (${min.toFixed(1)} to ${max.toFixed(1)})`
    console.log(`| ${name} | ${quantiles(alone)} | ${quantiles(beside)} | ${ratio} | ${each} | ${memory} MB |`)
  }
  await server.stop()
}

/** Sends one slow read after the other. Returns what ends that and gives the milliseconds of each. */
function readSlowly(server: Server, headers: Readonly<Record<string, string>>, path: (turn: number) => string) {
  let isOver = false
  const times: number[] = []
  const ended = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const started = performance.now()
      const { status } = await ask(`${server.origin}${path(turn)}`, { headers })
      if (status !== 200) console.error(`${path(turn)}: ${status}`)
      times.push(performance.now() - started)
    }
  })()
  return async () => {
    isOver = true
    await ended
    return times
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
