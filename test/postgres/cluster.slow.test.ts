import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'
import { type Version, whyNoPostgres } from './programs.ts'
import { query } from './query.ts'
import { startReplica } from './replica.ts'
import { processesIn } from './watchdog.ts'

async function clusterFor(context: TestContext, options?: ClusterOptions): Promise<Cluster> {
  const cluster = await startCluster(options)
  context.after(() => cluster.stop())
  return cluster
}

const settingsOf = async (url: string, ...names: string[]) => {
  const [row] = await query(url, `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`)
  return names.map((name) => row?.[name])
}

for (const version of ['18', '15'] as const satisfies Version[]) {
  const skip = whyNoPostgres(version) ?? false

  test(`PostgreSQL ${version} starts, restarts, crashes, and leaves nothing behind`, { skip }, async (context) => {
    const cluster = await clusterFor(context, { version, settings: { work_mem: '5MB' } })
    const { adminUrl, folder } = cluster
    const [found = '', ...rest] = await settingsOf(adminUrl, 'server_version', 'work_mem', 'fsync', 'listen_addresses')
    assert.equal(String(found).split('.')[0], version)
    assert.deepEqual(rest, ['5MB', 'off', '127.0.0.1'])
    const url = await cluster.createDatabase()
    await query(url, 'create table kept as select 1 as number')

    await cluster.restart({ work_mem: '6MB' })
    assert.deepEqual(await query(url, 'select number from kept'), [{ number: 1 }])
    assert.deepEqual(await settingsOf(url, 'work_mem'), ['6MB'])

    await cluster.kill()
    await assert.rejects(query(url, 'select 1'), { code: 'ECONNREFUSED' })
    assert.deepEqual(processesIn(folder), [])
    await cluster.restart()
    assert.deepEqual(await query(url, 'select number from kept'), [{ number: 1 }])
    assert.match(readFileSync(join(folder, 'log'), 'utf8'), /was not properly shut down; automatic recovery/)

    await cluster.stop()
    assert.deepEqual([processesIn(folder), existsSync(folder)], [[], false])
  })

  test(`PostgreSQL ${version} has a replica that follows, and can be promoted`, { skip }, async (context) => {
    const primary = await clusterFor(context, { version })
    await query(primary.url, 'create table kept as select 1 as number')
    const replica = await startReplica(primary)
    context.after(() => replica.stop())
    await query(primary.url, 'update kept set number = 2')
    await replica.caughtUp()
    assert.deepEqual(await query(replica.url, 'select number from kept'), [{ number: 2 }])
    await assert.rejects(query(replica.url, 'update kept set number = 3'), { code: '25006' })
    await primary.kill()
    await replica.promote()
    await query(replica.url, 'update kept set number = 3')
  })

  test(`PostgreSQL ${version} can be limited to connections with TLS`, { skip }, async (context) => {
    const { url } = await clusterFor(context, { version, tls: true })
    assert.deepEqual(await query(url, 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'), [{ ssl: true }])
    await assert.rejects(query(url.replace(/\?.*/, ''), 'select 1'), { code: '28000' })
    await assert.rejects(query(url.replace(/&sslrootcert.*/, ''), 'select 1'), /self-signed certificate/)
  })

  const noBouncer = whyNoBouncer ?? skip
  test(`PostgreSQL ${version} is reached through a PgBouncer`, { skip: noBouncer }, async (context) => {
    const cluster = await clusterFor(context, { version })
    const bouncer = await startBouncer(cluster, { default_pool_size: 1 })
    context.after(() => bouncer.stop())
    const url = bouncer.through(await cluster.createDatabase())
    const options = { connectionString: url, connectionTimeoutMillis: 10_000 }
    const clients = [new pg.Client(options), new pg.Client(options)]
    const processes: unknown[] = []
    for (const client of clients) {
      await client.connect()
      processes.push((await client.query('select pg_backend_pid() as id')).rows[0].id)
    }
    assert.equal(processes[0], processes[1], 'two clients at once, one connection')
    for (const client of clients) await client.end()
  })
}

const skip = whyNoPostgres('18') ?? false

test('other users cannot read the data, and the server listens on loopback only', { skip }, async (context) => {
  const { folder, url } = await clusterFor(context)
  assert.equal(statSync(folder).mode & 0o077, 0)
  assert.deepEqual(await settingsOf(url, 'port'), [new URL(url).port])
  await assert.rejects(query(url.replace(/:[0-9a-f]{32}@/, ':wrong@'), 'select 1'), { code: '28P01' })
})

test('an error says why a server does not start', { skip }, async () => {
  await assert.rejects(startCluster({ settings: { work_mem: 'much' } }), /did not start:[\s\S]*work_mem/)
})

test('a test that is killed leaves no server behind', { skip }, async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'abandoned.fixture.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(60_000) })
  const { folder, url } = JSON.parse(line)
  await query(url, 'select 1')
  assert.ok(processesIn(folder).length > 0)
  child.kill('SIGKILL')
  for (let attempt = 0; processesIn(folder).length > 0 || existsSync(folder); attempt++) {
    assert.ok(attempt < 300, `${processesIn(folder).length} processes are left in ${folder}`)
    await sleep(100)
  }
})
