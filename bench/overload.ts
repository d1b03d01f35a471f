/**
 * Measures what becomes of a server of which far too much is asked (LIM-4): `npm run bench:overload [-- --quick]`.
 * The server runs on one core, the load on another. A round is: as much as it can do, from 64 connections that wait for
 * their answers; then three times as much, and ten times, from clients that do not wait; ratios are taken within a
 * round. See docs/explanation/overload.md.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { loadAtlas } from '../examples/atlas/load.ts'
import { ask } from './ask.ts'
import { recordsOf } from './atlas.ts'
import { loadResource } from './declared.ts'
import { describeMachine, keepAwake, loadAverage, missingHere } from './machine.ts'
import { messageOf, runOpenLoad, type Seen } from './open-load.ts'
import { createKey, declaration } from './ours.ts'
import type { Server } from './processes.ts'
import { type Spread, spreadOf } from './rounds.ts'
import { startOurs } from './setup.ts'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const { rounds, seconds } = options.quick ? { rounds: 1, seconds: 3 } : { rounds: 5, seconds: 6 }
/** What clients wait before they give up: an answer after that is no good to anyone. */
const patience = 1_000
const connections = 1_000

/** What is asked for. */
interface Workload {
  readonly title: string
  readonly messages: readonly string[]
}

/** A row of the table. */
interface Row {
  readonly title: string
  readonly times: number
  readonly peak: Spread
  /** Of the requests that were due, how many could be sent: with all connections busy a client has to wait. */
  readonly sent: Spread
  readonly ratio: Spread
  /** The same by the processor time of the server: it does not count what others on the machine took. */
  readonly thrift: Spread
  readonly refusedMiddle: Spread
  readonly refusedSlow: Spread
  readonly memory: number
  readonly recovery: Spread
}

const missing = missingHere().filter((sentence) => !sentence.startsWith('wrk'))
for (const sentence of missing) say(sentence)
if (missing.length > 0) process.exit(1)
mkdirSync(join(tmpdir(), 'resourced-bench'), { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'resourced-bench/overload-'))
// However it ends, nothing is left running or lying about.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await run()

async function run(): Promise<void> {
  const busy = loadAverage()
  const awake = keepAwake()
  say('Loading the atlas')
  const file = join(folder, 'atlas.db')
  const { catalog } = await loadResource(declaration, 'cities')
  await loadAtlas(file, catalog, () => {})
  const authorization = `Bearer ${createKey(`sqlite:${file}`)}`
  const rows: Row[] = []
  for (const secure of [false, true]) {
    const server = await startOurs(folder, file, secure)
    for (const workload of workloadsOf(recordsOf(file, catalog), authorization)) {
      if (secure && workload.title !== 'search') continue
      rows.push(...(await measure(server, { ...workload, title: `${workload.title}, ${secure ? 'HTTPS' : 'HTTP'}` })))
    }
    await server.stop()
  }
  process.stdout.write(`\n${tableOf(rows)}\n\n${describeMachine(folder)}; Node ${process.version}; `)
  process.stdout.write(`load average before: ${busy}; cores kept awake: ${awake ? 'yes' : 'no'}\n`)
}

function workloadsOf({ cities }: ReturnType<typeof recordsOf>, authorization: string): Workload[] {
  const headers = { Authorization: authorization }
  const get = (path: string) => messageOf({ method: 'GET', path, headers })
  const post = (record: object) => {
    const fields = { ...headers, 'Content-Type': 'application/json' }
    return messageOf({ method: 'POST', path: '/v1/cities', headers: fields, body: JSON.stringify(record) })
  }
  const words = ['san', 'new', 'port', 'saint', 'villa', 'el', 'la', 'bad', 'north', 'mount']
  const some = cities.filter((_, index) => index % 997 === 0)
  return [
    { title: 'search', messages: words.map((word) => get(`/v1/cities?q=${word}&limit=100`)) },
    {
      title: 'page of 50',
      messages: some.map(({ country_id }) => get(`/v1/cities?country_id=${country_id}&limit=50`)),
    },
    {
      title: 'POST',
      messages: some.map(({ id: _id, created_at: _created, updated_at: _updated, ...city }) => post(city)),
    },
  ]
}

async function measure(server: Server, { title, messages }: Workload): Promise<Row[]> {
  const base = { origin: server.origin, messages, patience }
  const seen = new Map<number, Rounds>()
  const peaks: number[] = []
  let memory = 0
  for (const times of [3, 10]) {
    seen.set(times, { sent: [], ratio: [], thrift: [], middle: [], slow: [], recovery: [] })
  }
  await runOpenLoad({ ...base, rate: 0, seconds: 2, connections: 64 })
  for (let round = 0; round < rounds; round++) {
    const start = server.work()
    const peak = await runOpenLoad({ ...base, rate: 0, seconds, connections: 64 })
    const usual = answersOf(peak) / (server.work() - start)
    peaks.push(peak.goodput)
    for (const [times, { sent, ratio, thrift, middle, slow, recovery }] of seen) {
      const before = server.work()
      const watch = setInterval(() => (memory = Math.max(memory, server.memory())), 50)
      const came = await runOpenLoad({ ...base, rate: Math.round(peak.goodput * times), seconds, connections })
      clearInterval(watch)
      thrift.push(answersOf(came) / (server.work() - before) / usual)
      if (came.mute > 0 || came.lost > 0) throw new Error(`Not as it should be: ${JSON.stringify(came)}`)
      recovery.push(await recoveryOf(server))
      sent.push(1 - came.unsent / came.due)
      ratio.push(came.goodput / peak.goodput)
      middle.push(came.refused[0])
      slow.push(came.refused[1])
      const statuses = JSON.stringify(came.statuses)
      say(`${title}, ${times} times: ${ratio.at(-1)!.toFixed(2)} of ${Math.round(peak.goodput)} a second; ${statuses}`)
      await sleep(500)
    }
  }
  return [...seen].map(([times, { sent, ratio, thrift, middle, slow, recovery }]) => ({
    ...{
      title,
      times,
      peak: spreadOf(peaks),
      sent: spreadOf(sent),
      ratio: spreadOf(ratio),
      thrift: spreadOf(thrift),
      memory,
    },
    ...{ refusedMiddle: spreadOf(middle), refusedSlow: spreadOf(slow), recovery: spreadOf(recovery) },
  }))
}

/** What each round came to. */
interface Rounds {
  readonly sent: number[]
  readonly ratio: number[]
  readonly thrift: number[]
  readonly middle: number[]
  readonly slow: number[]
  readonly recovery: number[]
}

function answersOf({ goodput }: Seen): number {
  return goodput * seconds
}

/** Milliseconds until ten requests in turn are answered within 50 ms each. */
async function recoveryOf({ origin }: Server): Promise<number> {
  const started = performance.now()
  let since = started
  for (let good = 0; good < 10; ) {
    const asked = performance.now()
    const { status } = await ask(`${origin}/v1/openapi.json`)
    good = status === 401 && performance.now() - asked < 50 ? good + 1 : 0
    if (good === 0) since = performance.now()
    if (since - started > 60_000) throw new Error('The server did not recover within a minute.')
  }
  return since - started
}

function tableOf(rows: readonly Row[]): string {
  const head = [
    'asked for',
    'times',
    'peak a second',
    'could be sent',
    'served, of the peak',
    'by processor time',
    '503 after (50 / 99 of 100)',
    'memory',
    'as before after',
  ]
  const text = rows.map((row) => [
    ...[
      row.title,
      `${row.times}`,
      show(row.peak, 0),
      `${Math.round(row.sent.median * 100)} %`,
      show(row.ratio, 2),
      show(row.thrift, 2),
    ],
    `${row.refusedMiddle.median.toFixed(0)} / ${row.refusedSlow.median.toFixed(0)} ms`,
    ...[`${Math.round(row.memory / 1_000_000)} MB`, `${row.recovery.max.toFixed(0)} ms`],
  ])
  return [head, head.map(() => '---'), ...text].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function show({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
