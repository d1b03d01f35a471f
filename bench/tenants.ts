/**
 * Many tenants on one server (TEN-4): `node bench/tenants.ts FOLDER [COUNT]`. Each has 100 records in each of three
 * collections. Prints the memory of the server after a request to each, the time of the first request to a sleeping
 * tenant, how many requests are answered that change tenants at random, and how long a migration of all takes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from 'resourced'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { makeKey } from '../packages/server/src/cli/keys.ts'
import { openServed } from '../packages/server/src/server/open-served-database.ts'
import { completeVersions } from '../packages/server/src/versions/versions.ts'

const [folder = '', counted = '10000'] = process.argv.slice(2)
if (folder === '') throw new Error('Name an empty folder: node bench/tenants.ts FOLDER [COUNT]')
const count = Number(counted)
const collections = ['notes', 'tasks', 'people'] as const

function declarationOf(hasTenants: boolean, more: object = {}): InterfaceDeclaration {
  const fields = { text: { type: 'string', filter: true, sort: true }, ...more } as const
  const access = { read: 'anyone', create: 'anyone' } as const
  const resources = Object.fromEntries(collections.map((name) => [name, { access, fields }]))
  return { name: 'size', resources, ...(hasTenants && { tenants: { caller: 'claims.team' } }) }
}

const nameOf = (index: number) => `tenant-${index}`
const fileOf = (name: string) => join(folder, name)

/** Fills a database by its interface; that of a tenant with a claim. */
async function fill(database: string, claims?: object): Promise<void> {
  const app = createApp(declarationOf(claims !== undefined), { database: `sqlite:${database}` })
  const as = (caller: object) => app.as({ id: 'op', roles: ['operator'], ...caller })
  if (claims !== undefined) await as({}).tenants!.create({ name: nameOf(0) })
  for (const name of collections) {
    for (let index = 0; index < 100; index++) {
      await as({ roles: ['admin'], claims })[name]!.create({ text: `a text of some length ${index}` })
    }
  }
  await app.close()
}

/** Makes the other tenants of the first: the same records, with secrets of their own. */
async function multiply(database: string): Promise<string[]> {
  const { stored } = completeVersions(declarationOf(true))
  const { storage, tenants } = await openServed({ database: `sqlite:${database}` }, stored, { failed: console.error })
  const registry = storage.tenants!
  const [template] = await registry.list()
  const files = `${database}-tenants`
  const keys: string[] = []
  for (let index = 0; index < count; index++) {
    const { key, stored: row } = makeKey('ann', ['admin'], null, { team: nameOf(index) })
    await storage.keys.add(row)
    keys.push(key)
    if (index === 0) continue
    const id = uuidv7()
    const entry = await registry.create({ id, name: nameOf(index), most: count, now: Date.now() })
    copyFileSync(join(files, `${template!.id}.db`), join(files, `${id}.db`))
    const copy = new DatabaseSync(join(files, `${id}.db`))
    copy.exec('pragma synchronous = off')
    copy.prepare("update resourced_meta set value = ? where key = 'cursor_secret'").run(randomBytes(32).toString('hex'))
    copy.close()
    await registry.keepHash(entry!.id, template!.schemaHash!)
  }
  await tenants?.close()
  await storage.close()
  return keys
}

interface Server {
  readonly child: ChildProcess
  readonly origin: string
}

async function serve(database: string, declaration: InterfaceDeclaration): Promise<Server> {
  writeFileSync(fileOf('declaration.json'), JSON.stringify(declaration))
  const command = join(import.meta.dirname, '../packages/server/src/cli/main.js')
  const options = ['--workers', '1', '--http', '--port', '0', '--rate-limit', 'off', '--database', `sqlite:${database}`]
  const child = spawn(process.execPath, [command, 'serve', fileOf('declaration.json'), ...options])
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  const read = (piece: Buffer) => {
    text += piece.toString()
    const found = /http:\/\/[\w.[\]:]+:\d+/.exec(text)?.[0]
    if (found !== undefined) resolve(found)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  child.on('exit', () => resolve(`ended: ${text}`))
  return { child, origin: await promise }
}

async function stop({ child }: Server): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

const agent = new Agent({ keepAlive: true })

/** Asks for a list; gives the status and the time in milliseconds. */
function ask({ origin }: Server, key: string): Promise<{ readonly status: number; readonly time: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; time: number }>()
  const began = performance.now()
  const headers = { authorization: `Bearer ${key}` }
  const asked = get(`${origin}/v1/notes?limit=10`, { agent, headers }, (response) => {
    response.resume()
    response.on('end', () => resolve({ status: response.statusCode!, time: performance.now() - began }))
  })
  asked.on('error', reject)
  return promise
}

function memoryOf({ child }: Server): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}

/** The processor time of a process so far, in seconds. */
function processorOf({ child }: Server): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const openFiles = ({ child }: Server) => readdirSync(`/proc/${child.pid}/fd`).length

function quantiles(times: number[]): string {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`
}

const median = (values: readonly number[]) => values.toSorted((left, right) => left - right)[values.length >> 1]!

/** How many requests of 8 clients are answered in five seconds, by the processor time of the server. */
async function throughput(server: Server, keys: readonly string[]): Promise<number> {
  const used = processorOf(server)
  const answered = await load(server, keys)
  return answered / (processorOf(server) - used)
}

/** How often 8 clients are answered in five seconds. */
async function load(server: Server, keys: readonly string[]): Promise<number> {
  const began = performance.now()
  let answered = 0
  const client = async () => {
    while (performance.now() - began < 5_000) {
      const { status } = await ask(server, keys[Math.floor(Math.random() * keys.length)]!)
      if (status !== 200) throw new Error(`It answered ${status}.`)
      answered++
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return answered
}

mkdirSync(folder, { recursive: true })
const [many, one, keysFile] = [fileOf('many.db'), fileOf('one.db'), fileOf('keys.json')]
if (!existsSync(keysFile)) {
  const began = performance.now()
  await fill(many, { team: nameOf(0) })
  const keys = await multiply(many)
  await fill(one)
  const { stored } = completeVersions(declarationOf(false))
  const { storage } = await openServed({ database: `sqlite:${one}` }, stored, { failed: console.error })
  const { key, stored: row } = makeKey('ann', ['admin'], null)
  await storage.keys.add(row)
  await storage.close()
  writeFileSync(keysFile, JSON.stringify({ keys, key }))
  console.log(`filled in ${Math.round((performance.now() - began) / 1000)} s`)
}
const { keys, key } = JSON.parse(readFileSync(keysFile, 'utf8')) as { keys: string[]; key: string }

const server = await serve(many, declarationOf(true))
console.log(`started: ${Math.round(memoryOf(server))} MB`)
const times: number[] = []
let most = 0
const used = processorOf(server)
for (const each of keys) {
  const { status, time } = await ask(server, each)
  if (status !== 200) throw new Error(`It answered ${status}.`)
  times.push(time)
  if (times.length % 100 === 0) most = Math.max(most, memoryOf(server))
}
console.log(`first request to each of ${count}: ${quantiles(times)}`)
console.log(`${((1000 * (processorOf(server) - used)) / count).toFixed(1)} ms of processor time each`)
console.log(
  `memory afterwards: ${Math.round(memoryOf(server))} MB, most ${Math.round(most)} MB, ${openFiles(server)} files`,
)
const single = await serve(one, declarationOf(false))
const compared = { '1 tenant': keys.slice(0, 1), '50 tenants': keys.slice(0, 50), 'no tenants': [key] }
const rates = new Map<string, number[]>(Object.keys(compared).map((name) => [name, []]))
for (const isWarm of [false, true, true, true, true, true]) {
  for (const [name, some] of Object.entries(compared)) {
    const rate = await throughput(name === 'no tenants' ? single : server, some)
    if (isWarm) rates.get(name)!.push(rate)
  }
}
const without = rates.get('no tenants')!
for (const [name, found] of rates) {
  const beside = found.map((rate, round) => rate / without[round]!)
  const texts = beside.toSorted((left, right) => left - right).map((ratio) => ratio.toFixed(2))
  const rate = `${Math.round(median(found))} requests per second of processor time`
  console.log(`GET of ${name}: ${rate}, ${texts[2]} of GET without (${texts[0]} to ${texts.at(-1)})`)
}
await stop(server)
await stop(single)

const began = performance.now()
const migrating = await serve(many, declarationOf(true, { more: { type: 'string', default: 'new' } }))
const registry = new DatabaseSync(many, { readOnly: true })
const left = () => {
  const rows = registry.prepare('select schema_hash as hash, count(*) as count from tenants group by 1').all()
  return rows.length > 1 ? Number(rows.toSorted((a, b) => Number(a['count']) - Number(b['count']))[0]!['count']) : 0
}
for (let first = true; first || left() > 0; first = false) await sleep(first ? 1000 : 100)
console.log(
  `migrated in ${((performance.now() - began) / 1000).toFixed(1)} s, processor ${processorOf(migrating).toFixed(1)} s`,
)
registry.close()
await stop(migrating)
