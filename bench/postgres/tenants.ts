/**
 * Measures tenants on PostgreSQL: `node bench/postgres/tenants.ts [--tenants 1000] [--switching 100]`. Requests of one
 * tenant and of many take turns, and are measured by processor time, so that a busy machine changes little.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { ResourceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { hashOfKey, hintOfKey, newKey } from '../../packages/server/src/policy/api-keys.ts'
import { assemble } from '../../packages/server/src/server/app.ts'
import { postgresHost } from '../../packages/server/src/storage/postgres/administration.ts'
import { startCluster } from '../../test/postgres/cluster.ts'
import { query } from '../../test/postgres/query.ts'

const { values: options } = parseArgs({
  options: { tenants: { type: 'string', default: '1000' }, switching: { type: 'string', default: '100' } },
})
const together = 2
const text = { type: 'string', filter: true, sort: true, default: '' } as const
const anyone = { read: 'anyone', create: 'anyone' } as const
const collection: ResourceDeclaration = { fields: { name: text, city: text, note: text }, access: anyone }
const resources = { customers: collection, orders: collection, notes: collection }
const changed = { ...resources, notes: { ...collection, fields: { ...collection.fields, added: text } } }
const catalog = completeCatalog({ name: 'tenants', resources })
const next = completeCatalog({ name: 'tenants', resources: changed })

const cluster = await startCluster({})
const host = postgresHost({ url: cluster.url, unsafe: true })
await host.administer().open(catalog, {})
const ids = Array.from({ length: Number(options.tenants) }, () => uuidv7())
await timed('created', ids, (id) => host.administer(id).open(catalog, {}))
await timed('opened, brought up before', ids, (id) => host.administer(id).open(catalog, { isCurrent: true }))
const served: Awaited<ReturnType<typeof serve>>[] = []
for (const id of ids.slice(0, Number(options.switching))) served.push(await serve(id))
for (const [name, write] of [
  ['GET by id', false],
  ['POST', true],
] as const)
  await compare(name, write)
await timed('migrated', ids, (id) => host.administer(id).open(next, {}))
say(`memory of this process: ${Math.round(process.memoryUsage.rss() / 1e6)} MB`)
await host.close()
await cluster.stop()

/** Does something with each tenant, a few at a time. */
async function timed(what: string, tenants: readonly string[], work: (id: string) => unknown): Promise<void> {
  const times: number[] = []
  const left = [...tenants]
  const began = performance.now()
  const worker = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const start = performance.now()
      await work(id)
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: together }, worker))
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  say(`${tenants.length} tenants ${what}: ${seconds} s, median ${medianOf(times).toFixed(0)} ms each`)
}

async function serve(id: string) {
  const storage = await host.administer(id).open(catalog, { isCurrent: true })
  const key = newKey()
  const stored = { hash: hashOfKey(key), hint: hintOfKey(key), created_at: new Date().toISOString() }
  await storage.keys.add({ id: uuidv7(), ...stored, subject: 'ann', roles: [], expires_at: null, revoked_at: null })
  const app = assemble(catalog, storage, { rateLimit: 'off' })
  const send = async (method: string, target: string, body = '') => {
    const length = { 'content-type': 'application/json', 'content-length': String(body.length) }
    const headers = { authorization: `Bearer ${key}`, ...(body !== '' && length) }
    const readBody = async () => Buffer.from(body)
    const sent = { method, target, headers, secure: true, address: '127.0.0.1', readBody }
    const { status, body: answer } = await app.respond(sent)
    if (status >= 300) throw new Error(`${method} ${target} is ${status}: ${String(answer)}`)
    return answer
  }
  const { id: record } = JSON.parse(String(await send('POST', '/v1/customers', '{"name":"first"}')))
  return { get: () => send('GET', `/v1/customers/${record}`), post: () => send('POST', '/v1/notes', '{"name":"x"}') }
}

/** Compares requests of one tenant with those of many: medians of rounds in turns. */
async function compare(name: string, write: boolean): Promise<void> {
  const found: { one: number[]; many: number[] } = { one: [], many: [] }
  const requests = 1_500
  for (let round = 0; round < 9; round++) {
    for (const which of ['one', 'many'] as const) {
      const [own, theirs] = [process.cpuUsage(), await processorTime()]
      let sent = 0
      const client = async () => {
        while (sent < requests) {
          const { get, post } = served[which === 'one' ? 0 : (sent * 7_919) % served.length] as (typeof served)[number]
          sent++
          await (write ? post() : get())
        }
      }
      await Promise.all(Array.from({ length: 24 }, client))
      const { user, system } = process.cpuUsage(own)
      const used = user + system + (await processorTime()) - theirs
      // The first rounds prepare statements.
      if (round > 3) found[which].push(used / requests)
    }
  }
  const [one, many] = [medianOf(found.one), medianOf(found.many)]
  say(
    `${name}: ${one.toFixed(0)} µs of one tenant, ${many.toFixed(0)} µs of ${served.length}: ${(one / many).toFixed(2)}`,
  )
}

/** The processor time of the connections, in microseconds. */
async function processorTime(): Promise<number> {
  const rows = await query(cluster.url, `select pid from pg_stat_activity where application_name = 'resourced'`)
  return rows.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return sum + (Number(fields[11]) + Number(fields[12])) * 10_000
  }, 0)
}

function medianOf(values: number[]): number {
  return values.sort((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}

function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`)
}
