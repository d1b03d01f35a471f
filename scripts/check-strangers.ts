/**
 * Checks servers of other stacks, each from its address and a key alone, and prints a table of the scores:
 * `node scripts/check-strangers.ts [--only NAME]… [--keep] [--limit SECONDS] [--write]`. Each folder in
 * `scripts/strangers` is an application that a user of that stack would write. Its packages are installed in
 * `.resourced/strangers`, where the reports and the servers' logs are written too. A `confirmed.json` in such a folder
 * maps identifiers of cases to the verdicts that were confirmed by hand; exit code 1 means that a run says otherwise.
 * `--keep` leaves the servers running until Ctrl-C. `--write` writes the table into `bench/results/checker.md`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { scoresOf } from '../packages/check/src/report/summary.ts'
import type { Report, Verdict } from '../packages/check/src/run/check.ts'
import { installStranger, versionOf } from './strangers/install.ts'

/** What `stranger.json` contains. */
interface Stranger {
  /** The name of its folder. */
  readonly name: string
  readonly title: string
  /** The package whose version the table shows. */
  readonly package: string
  /** The server's command line; `{port}`, `{data}` (an empty folder) and `{folder}` are replaced. */
  readonly start: readonly string[]
  /** Creates records once the server responds at `ADDRESS`; a credential for the check goes into `{data}/key`. */
  readonly seed?: readonly string[]
  /** A path that the server answers once it is ready. */
  readonly ready: string
  /** The path of the interface; the root if undefined. */
  readonly address?: string
  /** More arguments of `resourced check`, such as `--key`. */
  readonly arguments?: readonly string[]
}

interface Row {
  readonly stranger: Stranger
  readonly version: string
  readonly result: Report | string
  readonly seconds?: number
  readonly collections?: number
}

const root = join(import.meta.dirname, '..')
const sources = join(import.meta.dirname, 'strangers')
const reports = join(root, '.resourced/strangers/reports')
const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    keep: { type: 'boolean', default: false },
    limit: { type: 'string', default: '300' },
    write: { type: 'boolean', default: false },
  },
})
const strangers = readdirSync(sources)
  .filter((name) => existsSync(join(sources, name, 'stranger.json')) && (options.only?.includes(name) ?? true))
  .map((name): Stranger => ({ name, ...JSON.parse(readFileSync(join(sources, name, 'stranger.json'), 'utf8')) }))

const work = mkdtempSync(join(tmpdir(), 'resourced-strangers-'))
const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) killGroup(child, 'SIGKILL')
  rmSync(work, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

mkdirSync(reports, { recursive: true })
const rows: Row[] = []
for (const stranger of strangers) {
  const version = versionOf(join(sources, stranger.name), stranger.package)
  process.stderr.write(`${stranger.title} ${version}\n`)
  try {
    rows.push({ stranger, version, ...(await checkStranger(stranger)) })
  } catch (error) {
    rows.push({ stranger, version, result: (error as Error).message })
  }
}
const table = tableOf(rows)
process.stdout.write(`${table}\n`)
if (options.write) {
  const page = join(root, 'bench/results/checker.md')
  const [before, after] = readFileSync(page, 'utf8').split(/(?<=<!-- table -->\n)[\s\S]*(?=\n<!-- end -->)/)
  writeFileSync(page, `${before}\n${table}${after}`)
}
const contradictions = rows.flatMap(contradictionsOf)
for (const line of contradictions) process.stdout.write(`${line}\n`)
if (contradictions.length > 0) process.exitCode = 1

/** The date, and a table with a row for each server. */
function tableOf(all: readonly Row[]): string {
  const heads = ['server', 'version', 'seconds', 'collections', 'HTTP', 'Safety', 'Choices', 'confirmed']
  return `On ${new Date().toISOString().slice(0, 10)}:

| ${heads.join(' | ')} |
|${' --- |'.repeat(heads.length)}
${all.map(tableRow).join('\n')}
`
}

function tableRow({ stranger, version, result, seconds, collections }: Row): string {
  const start = [stranger.title, version]
  if (typeof result === 'string') return `| ${[...start, result].join(' | ')} |`
  const scores = scoresOf(result).map(({ tier, counts, failures }) => {
    const seen = counts.holds + counts.fails + counts.advice
    return `${counts.holds} of ${seen}${tier === 'choices' || failures === 0 ? '' : `, ${failures} ✖`}`
  })
  const confirmed = Object.keys(confirmedOf(stranger) ?? {}).length
  return `| ${[...start, seconds, collections, ...scores, confirmed].join(' | ')} |`
}

/** The verdicts that were confirmed by hand, by case. */
function confirmedOf({ name }: Stranger): Readonly<Record<string, Verdict>> | undefined {
  const file = join(sources, name, 'confirmed.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}

/** One line for each case whose verdict differs from the one that was confirmed by hand. */
function contradictionsOf({ stranger, result }: Row): readonly string[] {
  const confirmed = confirmedOf(stranger)
  if (confirmed === undefined) return []
  if (typeof result === 'string') return result.startsWith('skipped') ? [] : [`${stranger.title}: ${result}`]
  const seen = new Map<string, Verdict>(casesOf(result).map(({ id, verdict }) => [id, verdict]))
  return Object.entries(confirmed)
    .filter(([id, verdict]) => seen.get(id) !== verdict)
    .map(([id, verdict]) => `${stranger.title}: ${id} is "${seen.get(id)}", and was confirmed as "${verdict}".`)
}

function casesOf({ rules }: Report) {
  return rules.flatMap(({ cases }) => cases)
}

/** Starts the server, creates its records, checks it, and stops it. */
async function checkStranger(stranger: Stranger): Promise<Pick<Row, 'result' | 'seconds' | 'collections'>> {
  const folder = await installStranger(join(sources, stranger.name), join(root, '.resourced/strangers'))
  const data = mkdtempSync(join(work, 'data-'))
  const port = String(await freePort())
  const origin = `http://127.0.0.1:${port}`
  const values: Readonly<Record<string, string>> = { port, data, folder }
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const env = { ...process.env, PATH: path, PORT: port, DATA: data, ADDRESS: origin }
  const begin = (command: readonly string[], log: string) => {
    const [program = '', ...args] = command.map((text) => text.replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all))
    // A process group of its own: servers start processes that would outlive them.
    const child = spawn(program, args, { cwd: folder, env, detached: true })
    children.add(child)
    child.on('exit', () => children.delete(child))
    const file = createWriteStream(join(reports, `${stranger.name}.${log}`))
    child.stdout.pipe(file)
    child.stderr.pipe(file)
    child.on('error', (error) => file.write(String(error)))
    return child
  }
  const server = begin(stranger.start, 'log')
  try {
    await isReady(`${origin}${stranger.ready}`, server)
    if (stranger.seed !== undefined) {
      const [code] = await once(begin(stranger.seed, 'seed.log'), 'exit')
      if (code !== 0) throw new Error(`its records could not be created: see ${stranger.name}.seed.log`)
    }
    const address = `${origin}${stranger.address ?? ''}`
    if (options.keep) process.stderr.write(`  ${address}\n`)
    const report = join(reports, `${stranger.name}.json`)
    rmSync(report, { force: true })
    const began = performance.now()
    const args = ['check', address, '--yes', '--save', report, ...(stranger.arguments ?? [])]
    const key = join(data, 'key')
    if (existsSync(key)) Object.assign(env, { RESOURCED_CHECK_KEY: readFileSync(key, 'utf8') })
    const checker = begin(['node', join(root, 'packages/server/src/cli/main.js'), ...args], 'txt')
    await endOf(checker, Number(options.limit))
    const seconds = Math.round((performance.now() - began) / 100) / 10
    const text = readFileSync(join(reports, `${stranger.name}.txt`), 'utf8')
    if (!existsSync(report)) return { result: `no report: ${text.trim().split('\n').at(-1)}` }
    const found = /^ *Collections: (.*)$/m.exec(text)?.[1]?.split(', ').length ?? 0
    return { result: JSON.parse(readFileSync(report, 'utf8')), seconds, collections: found }
  } finally {
    if (!options.keep) await stop(server)
  }
}

/** Waits for the end of the checker, and stops it after its time. */
async function endOf(checker: ChildProcess, limit: number): Promise<void> {
  const closed = once(checker, 'close')
  const timer = setTimeout(() => checker.kill('SIGINT'), limit * 1000)
  const last = setTimeout(() => checker.kill('SIGKILL'), (limit + 60) * 1000)
  await closed
  clearTimeout(timer)
  clearTimeout(last)
}

/** Ends the server and every process that it started. */
async function stop(server: ChildProcess): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (!killGroup(server, signal)) return
    for (let tries = 0; tries < 50 && server.exitCode === null && server.signalCode === null; tries++) await sleep(100)
  }
}

/** @returns whether the group still had a process */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

async function isReady(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (server.exitCode !== null || server.pid === undefined) throw new Error('the server ended: see its log')
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined && answer.status < 500) return
    await sleep(200)
  }
  throw new Error(`nothing responds at ${url}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}
