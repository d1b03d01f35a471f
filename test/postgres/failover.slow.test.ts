/** An address names several servers: where the primary goes, another one takes over, and no acknowledged change is lost. */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openKeys } from '../../packages/server/src/server/open-database.ts'
import { until } from '../until.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { startProxy } from './proxy.ts'
import { query } from './query.ts'
import { type Replica, startReplica } from './replica.ts'
import { type Answer, type Served, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? false
let primary: Cluster
let replica: Replica
before(async () => {
  if (skip !== false) return
  primary = await startCluster({ version: versionAsked() })
  replica = await startReplica(primary)
  // An acknowledged change is on both.
  await query(primary.adminUrl, "alter system set synchronous_standby_names = '*'")
  await query(primary.adminUrl, 'select pg_reload_conf()')
  const inTime = "select 1 from pg_stat_replication where sync_state = 'sync'"
  await until(async () => (await query(primary.adminUrl, inTime)).length === 1)
})
after(async () => {
  await replica?.stop()
  await primary?.stop()
})

/** The address of a database with several hosts. */
function several(url: string, ports: readonly number[], parameters: string): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return url.replace(/@[^/]+/, `@${hosts}`) + (url.includes('?') ? '&' : '?') + parameters
}

/** Creates notes one after the other until it is told to stop; returns what was answered. */
async function creating(served: Served, name: string, isOver: () => boolean) {
  const answers: { readonly title: string; readonly status: number; readonly took: number }[] = []
  for (let count = 0; !isOver(); count++) {
    const title = `${name} ${count}`
    const began = performance.now()
    const { status } = await served.send('POST', '/v1/notes', { title }, { 'idempotency-key': `"${title}"` })
    answers.push({ title, status, took: performance.now() - began })
    if (status !== 201) await sleep(50)
  }
  return answers
}

async function titlesOf(served: Served): Promise<string[]> {
  const titles: string[] = []
  for (let page = 1; ; page++) {
    const { json }: Answer = await served.send('GET', `/v1/notes?per_page=100&page=${page}`)
    titles.push(...json.data.map(({ title }: { title: string }) => title))
    if (json.data.length < 100) return titles
  }
}

test('a server is found wherever it stands in the address, by commands too', { skip }, async (context) => {
  const url = await primary.createDatabase()
  const dead = 1
  for (const ports of [
    [primary.port, replica.port],
    [replica.port, primary.port],
    [dead, replica.port, primary.port],
  ]) {
    const address = several(url, ports, 'target_session_attrs=read-write')
    const { send, close } = await servedFor(context, { url: address })
    assert.equal((await send('POST', '/v1/notes', { title: 'a note' })).status, 201)
    await close()
    await (await openKeys({ database: address })).close()
  }
  await assert.rejects(
    openKeys({ database: several(url, [replica.port], 'target_session_attrs=primary') }),
    /None of the servers in --database is a primary, as target_session_attrs=primary asks for; 127\.0\.0\.1, port/,
  )
})

test('a primary that is made read-only is left at once, and used again afterwards', { skip }, async (context) => {
  const url = await primary.createDatabase()
  const { send } = await servedFor(context, {
    url: several(url, [primary.port, replica.port], 'target_session_attrs=read-write'),
  })
  await setReadOnly(url, 'on')
  const change = send('POST', '/v1/notes', { title: 'waits' })
  await sleep(500)
  await setReadOnly(url, 'off')
  assert.equal((await change).status, 201)
})

/** As an operator does before a switchover: sessions that are open hear of it. */
async function setReadOnly(url: string, value: string): Promise<void> {
  const { pathname } = new URL(url)
  await query(primary.adminUrl, `alter database ${pathname.slice(1)} set default_transaction_read_only = ${value}`)
}

test('a server that hangs is left after some seconds', { skip }, async (context) => {
  const network = await startProxy(primary.port)
  context.after(() => network.stop())
  const url = await primary.createDatabase()
  const port = Number(new URL(network.through(url)).port)
  // Both lead to the primary: this is about the way there.
  const served = await servedFor(context, { url: several(url, [port, primary.port], 'connect_timeout=2') })
  assert.equal((await served.send('POST', '/v1/notes', { title: 'before' })).status, 201)
  network.swallow('everything')
  const began = performance.now()
  const sent = [
    served.send('GET', '/v1/notes'),
    served.send('POST', '/v1/notes', { title: 'with a key' }, { 'idempotency-key': '"k"' }),
  ]
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  assert.deepEqual(statuses, [200, 201])
  assert.ok(performance.now() - began < 12_000, `${performance.now() - began} ms`)
  context.diagnostic(`${performance.now() - began} ms`)
  assert.deepEqual((await titlesOf(served)).toSorted(), ['before', 'with a key'])
})

test('the replica takes over: creations with a key are not refused, and nothing is lost', { skip }, async (context) => {
  const served = await taken(context)
  let isOver = false
  const writing = Promise.all(['a', 'b', 'c', 'd'].map((name) => creating(served, name, () => isOver)))
  await sleep(500)
  const gone = performance.now()
  await primary.kill()
  await sleep(200)
  await replica.promote()
  // Its own changes would wait for a standby, which is none any more.
  await query(replica.adminUrl, "alter system set synchronous_standby_names = ''")
  await query(replica.adminUrl, 'select pg_reload_conf()')
  const took = performance.now() - gone
  await sleep(1_000)
  isOver = true
  const answers = (await writing).flat()
  const refused = answers.filter(({ status }) => status !== 201)
  assert.deepEqual(refused, [], `the takeover took ${took} ms`)
  assert.ok(Math.max(...answers.map((each) => each.took)) < 5_000)
  const titles = await titlesOf(served)
  assert.equal(new Set(titles).size, titles.length, 'no creation was made twice')
  const missing = answers.filter(({ title }) => !titles.includes(title))
  assert.deepEqual(missing, [])
  context.diagnostic(
    `${answers.length} creations, the longest took ${Math.max(...answers.map((each) => each.took))} ms`,
  )
})

async function taken(context: TestContext): Promise<Served> {
  const url = await primary.createDatabase()
  return servedFor(context, { url: several(url, [primary.port, replica.port], 'target_session_attrs=read-write') })
}
