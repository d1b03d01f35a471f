/** Behind a pooler that may give each transaction another connection: PgBouncer, `pool_mode = transaction`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { postgresAdministration } from '../../packages/server/src/storage/postgres/administration.ts'
import { openPostgres } from '../../packages/server/src/storage/postgres/storage.ts'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { query } from './query.ts'
import { notes, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? whyNoBouncer ?? false

async function pooledCluster(context: TestContext, settings: Readonly<Record<string, string | number>> = {}) {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const bouncer = await startBouncer(cluster, settings)
  context.after(() => bouncer.stop())
  return { cluster, bouncer }
}

const core = ['con', 'con-writers', 'del', 'met-idempotency', 'pag', 'job'].map((name) => `core/${name}`)
const scenarios = [...core, 'del-states', 'met', 'evt-functions']

test(`the scenarios of ${scenarios.join(', ')} hold through a pooler`, { skip, timeout: 300_000 }, async (context) => {
  const { cluster, bouncer } = await pooledCluster(context, { default_pool_size: 6 })
  const root = join(import.meta.dirname, '../..')
  const files = scenarios.map((name) => `test/scenarios/${name}.test.ts`)
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...{ TEST_ENGINE: 'postgres', TEST_POSTGRES: cluster.adminUrl },
    TEST_POSTGRES_POOLER: new URL(bouncer.through(cluster.url)).port,
  }
  // A test that runs tests is not to report to the one that runs it.
  delete env['NODE_TEST_CONTEXT']
  const words = ['--test', '--test-concurrency=2', '--test-timeout=100000', '--test-reporter=tap', ...files]
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  context.after(() => child.kill())
  let report = ''
  child.stdout.on('data', (piece) => {
    report += piece
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, report)
  const passed = Number(/^# pass (\d+)$/m.exec(report)?.[1])
  context.diagnostic(`${passed} tests`)
  assert.ok(passed > 80)
  assert.match(report, /^# skipped 0$/m)
})

test('a database that needs a migration is not changed through a pooler, and the message says what to do', {
  skip,
}, async (context) => {
  const { cluster, bouncer } = await pooledCluster(context)
  const url = await cluster.createDatabase()
  const pooled = { url: bouncer.through(url), session: 'off', unsafe: true } as const
  const sentence =
    /cannot be added through a pooler .*resourced migrate --apply --database with the address of the PostgreSQL server itself/
  await assert.rejects(openPostgres(completeCatalog(notes), pooled), sentence)
  await assert.rejects(postgresAdministration(pooled).openKeys(), sentence)
  assert.equal(await postgresAdministration(pooled).openMaintenance(), undefined)
  const tables = await query(url, "select 1 from pg_tables where schemaname = 'public'")
  assert.equal(tables.length, 0)
  await (await openPostgres(completeCatalog(notes), { url, unsafe: true })).close()
  await (await openPostgres(completeCatalog(notes), pooled)).close()
  await (await postgresAdministration(pooled).openKeys()).close()
  const locks = await query(url, "select 1 from pg_locks where locktype = 'advisory'")
  assert.equal(locks.length, 0, 'no lock stays with a connection that others get')
})

test('through a pooler with one connection many requests succeed, and none leaves session state behind', {
  skip,
}, async (context) => {
  const { cluster, bouncer } = await pooledCluster(context, { default_pool_size: 1 })
  const url = await cluster.createDatabase()
  await (await openPostgres(completeCatalog(notes), { url, unsafe: true })).close()
  const served = await servedFor(context, { url: bouncer.through(url), session: 'off' })
  const asked = Array.from({ length: 60 }, async (_, number) => {
    const { status, json } = await served.send('POST', '/v1/notes', { title: 'many', number })
    assert.equal(status, 201)
    const read = await served.send('GET', `/v1/notes/${json.id}`)
    assert.equal(read.json.number, number)
    assert.equal((await served.send('PATCH', `/v1/notes/${json.id}`, { number: 0 })).status, 200)
    assert.equal((await served.send('GET', '/v1/notes?title=many')).status, 200)
  })
  await Promise.all(asked)
  assert.equal((await served.send('GET', '/health/ready')).status, 200)
  const through =
    "select current_setting('statement_timeout') as timeout, (select count(*)::int from pg_prepared_statements) as prepared"
  assert.deepEqual(await query(bouncer.through(url), through), [{ timeout: '0', prepared: 0 }])
  assert.deepEqual(
    served.seen.filter(({ kind }) => kind === 'failure'),
    [],
  )
})
