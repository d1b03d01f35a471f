/** TEN-2 to TEN-4 on PostgreSQL: the schemas of tenants, several servers, poolers and replicas. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { uuidv7 } from 'uuidv7'
import { newKey } from '../../packages/server/src/policy/api-keys.ts'
import { postgresAdministration, postgresHost } from '../../packages/server/src/storage/postgres/administration.ts'
import { Database } from '../../packages/server/src/storage/postgres/database.ts'
import { postgres } from '../../packages/server/src/storage/postgres/dialect.ts'
import { Pools } from '../../packages/server/src/storage/postgres/pools.ts'
import type { PostgresOptions } from '../../packages/server/src/storage/postgres/storage.ts'
import { schemaOf } from '../../packages/server/src/storage/postgres/tenant-schema.ts'
import { StorageFault } from '../../packages/server/src/storage/storage.ts'
import type { Row, Transaction } from '../../packages/server/src/storage/transaction.ts'
import type { TrialDatabase } from '../engine.ts'
import { createTenants, member, operator, outcomeOf, tenantTrial } from '../tenants/tenants.ts'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { startCluster } from './cluster.ts'
import { databaseFor, versionAsked, whyNoDatabase } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { query } from './query.ts'
import { startReplica } from './replica.ts'
import { addKey, notes, serve } from './served.ts'

const skip = whyNoDatabase ?? false
const catalog = completeCatalog(notes)

/** A host whose operators' database has tables. */
async function hostFor(context: TestContext, url: string, options: Partial<PostgresOptions> = {}) {
  const host = postgresHost({ unsafe: true, ...options, url })
  context.after(() => host.close())
  await host.administer().open(catalog, {})
  return host
}

async function schemasIn(url: string): Promise<unknown[]> {
  const rows = await query(url, "select nspname from pg_namespace where nspname like 'resourced%' order by nspname")
  return rows.map(({ nspname }) => nspname)
}

function* reading(text: string): Transaction<Row | undefined> {
  return (yield { text, sql: '', values: [] })[0]
}

test('several servers that open a new tenant at the same time create it once', { skip }, async (context) => {
  const url = await databaseFor(context)
  const hosts = await Promise.all([1, 2, 3].map(() => hostFor(context, url)))
  const tenant = uuidv7()
  const opened = await Promise.all(hosts.map((host) => host.administer(tenant).open(catalog, {})))
  const secrets = opened.map(({ cursorSecret }) => Buffer.from(cursorSecret).toString('hex'))
  assert.equal(new Set(secrets).size, 1)
  assert.deepEqual(await schemasIn(url), [schemaOf(tenant)])
})

test('many tenants that are created at once need few connections', { skip }, async (context) => {
  const cluster = await startCluster({ version: versionAsked(), settings: { max_connections: '25' } })
  context.after(() => cluster.stop())
  const host = await hostFor(context, cluster.url, { poolSize: 2 })
  const tenants = Array.from({ length: 40 }, () => uuidv7())
  await Promise.all(tenants.map((tenant) => host.administer(tenant).open(catalog, {})))
  assert.equal((await schemasIn(cluster.url)).length, 40)
})

test('a tenant is copied for a move once the changes that run have ended', { skip }, async (context) => {
  const url = await databaseFor(context)
  const tenant = (await hostFor(context, url)).administer(uuidv7())
  const { close } = await tenant.open(catalog, {})
  context.after(close)
  const [schema] = await schemasIn(url)
  const writer = new pg.Client({ connectionString: url })
  await writer.connect()
  await writer.query(`begin; update ${schema}.notes set title = title`)
  let hasEnded = false
  const ended = tenant.changesEnded?.().then(() => {
    hasEnded = true
  })
  await sleep(300)
  assert.equal(hasEnded, false)
  await writer.query('commit')
  await writer.end()
  await ended
  assert.equal(hasEnded, true)
})

test('a creation that is interrupted leaves nothing, and is repeated', { skip }, async (context) => {
  const url = await databaseFor(context)
  const host = await hostFor(context, url)
  const end = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = 1381191542`
  // The connection may end before the lock is taken, or after the commit.
  for (let isInterrupted = false, round = 0; !isInterrupted; round++) {
    assert.ok(round < 50)
    const tenant = uuidv7()
    let isOver = false
    const created = Promise.resolve(host.administer(tenant).open(catalog, {})).then(
      () => true,
      (error) => {
        assert.ok(error instanceof StorageFault, error)
        return false
      },
    )
    void created.finally(() => {
      isOver = true
    })
    while (!isOver && (await query(url, end)).length === 0) await sleep(5 * Math.random())
    const isThere = (await created) || (await schemasIn(url)).includes(schemaOf(tenant))
    if (!isThere) await host.administer(tenant).open(catalog, {})
    assert.ok((await schemasIn(url)).includes(schemaOf(tenant)))
    isInterrupted = !isThere
  }
})

test('no connection keeps the schema of a tenant, and no text of one is a plan for another', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const [red, green] = [uuidv7(), uuidv7()].map(schemaOf) as [string, string]
  for (const schema of [red, green]) {
    await query(url, `create schema ${schema}; create table ${schema}.kept as select '${schema}' as found`)
  }
  await query(url, `create table kept as select 'operators' as found`)
  for (const session of ['on', 'off'] as const) {
    const options = { url, session, poolSize: 1 }
    const pools = new Pools(options)
    context.after(() => pools.close())
    const databases = [undefined, red, green].map(
      (schema) => new Database({ ...options, schema }, undefined, { pools }),
    )
    const expected = ['operators', red, green]
    const failing = () => reading('select 1 / 0 from kept')
    for (const way of ['readPipelined', 'readPriority', 'readSlow', 'read', 'write'] as const) {
      for (let round = 0; round < 8; round++) {
        const found = await Promise.all(databases.map((each) => each[way](() => reading('select found from kept'))))
        assert.deepEqual(
          found.map((row) => row?.['found']),
          expected,
          `${session} ${way}`,
        )
        const failed = await Promise.allSettled(databases.map((each) => each[way](failing)))
        assert.deepEqual(
          failed.map(({ status }) => status),
          ['rejected', 'rejected', 'rejected'],
        )
      }
    }
  }
})

test('the locks of one tenant do not keep another waiting', { skip }, async (context) => {
  const url = await databaseFor(context)
  const pools = new Pools({ url })
  context.after(() => pools.close())
  const [red, green] = [uuidv7(), uuidv7()].map(schemaOf) as [string, string]
  for (const schema of [red, green]) await query(url, `create schema ${schema}`)
  const [first, second] = [red, green].map((schema) => new Database({ url, schema }, undefined, { pools })) as [
    Database,
    Database,
  ]
  const take = function* (): Transaction<unknown> {
    const lock = postgres.tryAdvisoryLock?.('exports of ann')
    return (yield { text: `select ${lock?.text} as taken`, sql: '', values: lock?.values ?? [] })[0]?.['taken']
  }
  const holding = first.write(function* () {
    yield* take()
    yield { text: 'select pg_sleep(1)', sql: '', values: [] }
  })
  await sleep(300)
  assert.deepEqual(await Promise.all([second.write(take), first.write(take)]), [1, 0])
  await holding
})

test('a deleted tenant is gone for every server at once, and is back once it is restored', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  const [near, far] = [await hostFor(context, url), await hostFor(context, url)]
  const tenant = uuidv7()
  const schema = schemaOf(tenant)
  const storage = await near.administer(tenant).open(catalog, {})
  const key = newKey()
  await addKey(storage, key)
  const elsewhere = serve(context, catalog, await far.administer(tenant).open(catalog, { isCurrent: true }), key)
  const { json } = await elsewhere.send('POST', '/v1/notes', { title: 'kept' })
  await query(url, `alter schema ${schema} rename to ${schema}_deleted`)
  const requests = [
    () => elsewhere.send('GET', `/v1/notes/${json.id}`),
    () => elsewhere.send('GET', '/v1/notes?title=kept'),
    () => elsewhere.send('POST', '/v1/notes', { title: 'lost' }),
    () => elsewhere.send('PATCH', `/v1/notes/${json.id}`, { title: 'lost' }),
    () => elsewhere.send('DELETE', `/v1/notes/${json.id}`),
  ]
  for (const request of requests) {
    const { status, json } = await request()
    assert.deepEqual([status, json.code], [403, 'UNKNOWN_TENANT'])
  }
  await assert.rejects(Promise.resolve(far.administer(tenant).open(catalog, {})), { kind: 'missing' })
  assert.ok((await near.size(tenant)) > 0)
  await query(url, `alter schema ${schema}_deleted rename to ${schema}`)
  assert.equal((await elsewhere.send('GET', `/v1/notes/${json.id}`)).json.title, 'kept')
  assert.equal((await elsewhere.send('GET', '/v1/notes')).json.pagination.total_count, 1)
})

test('a removal in few locks, which was interrupted before, leaves nothing', { skip }, async (context) => {
  const url = await databaseFor(context)
  const host = await hostFor(context, url)
  const [gone, kept] = [uuidv7(), uuidv7()]
  for (const tenant of [gone, kept]) await host.administer(tenant).open(catalog, {})
  const schema = schemaOf(gone)
  await query(url, `drop table ${schema}.notes, ${schema}.jobs; alter schema ${schema} rename to ${schema}_deleted`)
  await query(url, `create function ${schema}_deleted.left_over() returns int language sql as 'select 1'`)
  await host.remove(gone)
  await host.remove(gone)
  assert.deepEqual(await schemasIn(url), [schemaOf(kept)])
  assert.equal(await host.size(gone), 0)
})

test('the administration of a tenant is of its schema alone', { skip }, async (context) => {
  const url = await databaseFor(context)
  const host = await hostFor(context, url)
  const tenant = uuidv7()
  const administration = postgresAdministration({ url, unsafe: true }, tenant)
  assert.equal(await administration.hasTables(), false)
  assert.equal(await administration.openMaintenance(), undefined)
  await host.administer(tenant).open(catalog, {})
  assert.equal(await administration.hasTables(), true)
  const { keys, close } = await administration.openKeys()
  await keys.add({
    ...{ id: uuidv7(), hash: 'a', hint: 'b', subject: 'ann', roles: [], created_at: new Date().toISOString() },
    ...{ expires_at: null, revoked_at: null },
  })
  await close()
  assert.deepEqual([(await administration.listKeys())?.length, (await host.administer().listKeys())?.length], [1, 0])
  const source = await administration.openSource()
  await source.begin()
  const rows = await source.all({ text: 'select subject from "api-keys"', sql: '', values: [] })
  assert.deepEqual(rows, [{ subject: 'ann' }])
  await source.close()
  assert.equal((await administration.examine(catalog))?.isUsed, true)
})

test('behind a pooler a tenant is created, and what needs a session is refused', {
  skip: whyNoBouncer ?? skip,
}, async (context) => {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const bouncer = await startBouncer(cluster, { default_pool_size: 2 })
  context.after(() => bouncer.stop())
  const direct = await cluster.createDatabase()
  await hostFor(context, direct)
  const pooled = { unsafe: true, session: 'off' } as const
  const host = await hostFor(context, bouncer.through(direct), pooled)
  const tenant = uuidv7()
  const storage = await host.administer(tenant).open(catalog, {})
  const key = newKey()
  await addKey(storage, key)
  const { send } = serve(context, catalog, storage, key)
  assert.equal((await send('POST', '/v1/notes', { title: 'first' })).status, 201)
  const [row] = await query(direct, `select count(*)::int as count from ${schemaOf(tenant)}.notes`)
  assert.equal(row?.['count'], 1)
  assert.deepEqual(await query(direct, 'select 1 from public.notes'), [])
  await (await host.administer(tenant).open(catalog, {})).close()
  assert.equal(await host.administer(tenant).hasTables(), true)
  await assert.rejects(
    host
      .administer(tenant)
      .openSource()
      .then((source) => source.begin()),
    /through a pooler/,
  )
  await host.remove(tenant)
  assert.deepEqual(await schemasIn(direct), [])
})

test('tenants are read from a replica, each from its own schema', {
  skip: whyNoPostgres(versionAsked()) ?? false,
}, async (context) => {
  const primary = await startCluster({ version: versionAsked() })
  context.after(() => primary.stop())
  const replica = await startReplica(primary)
  context.after(() => replica.stop())
  const url = await primary.createDatabase()
  const onReplica = Object.assign(new URL(url), { port: replica.port }).href
  const host = await hostFor(context, url, { replica: onReplica })
  const key = newKey()
  const served = await Promise.all(
    ['red', 'green'].map(async (name) => {
      const tenant = uuidv7()
      const storage = await host.administer(tenant).open(catalog, {})
      await addKey(storage, key)
      const { send } = serve(context, catalog, storage, key)
      const { json } = await send('POST', '/v1/notes', { title: name })
      return { name, schema: schemaOf(tenant), send, path: `/v1/notes/${json.id}` }
    }),
  )
  await replica.caughtUp()
  const scans = async (schema: string) => {
    const text = `select idx_scan + seq_scan as number from pg_stat_user_tables
      where schemaname = '${schema}' and relname = 'notes'`
    return Number((await query(onReplica, text))[0]?.['number'] ?? 0)
  }
  for (const { name, schema, send, path } of served) {
    for (let attempt = 0; (await scans(schema)) < 5; attempt++) {
      assert.ok(attempt < 3_000, `${name} is not read from the replica`)
      assert.equal((await send('GET', path)).json.title, name)
      assert.deepEqual(
        (await send('GET', '/v1/notes')).json.data.map((each: { title: string }) => each.title),
        [name],
      )
      await sleep(10)
    }
  }
})

test('TEN-3: operators delete and restore a tenant, which every server notices at once', { skip }, async (context) => {
  const address = await databaseFor(context)
  const database = { address, remove: async () => {} } as TrialDatabase
  const declaration: InterfaceDeclaration = {
    name: 'teams',
    tenants: { caller: 'claims.team' },
    resources: { notes: { fields: { title: { type: 'string' } } } },
  }
  const [near, far] = await Promise.all([
    tenantTrial(declaration, { database }),
    tenantTrial(declaration, { database }),
  ])
  for (const { close } of [near, far]) context.after(close)
  const [tenant] = await createTenants(near, 'red')
  const as = member('red')
  assert.equal((await far.send({ path: '/v1/notes', as, body: { title: 'kept' } })).status, 201)
  const statuses = async () => {
    const answers = [far.send({ path: '/v1/notes', as }), far.send({ path: '/v1/notes', as, body: { title: 'more' } })]
    return (await Promise.all(answers)).map(outcomeOf)
  }
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await statuses(), ['200', '201'])
    assert.equal((await near.send({ method: 'DELETE', path: `/v1/tenants/${tenant}`, as: operator })).status, 204)
    assert.deepEqual(await statuses(), ['403 UNKNOWN_TENANT', '403 UNKNOWN_TENANT'])
    const restored = await near.send({ method: 'POST', path: `/v1/tenants/${tenant}/restore`, as: operator })
    assert.equal(restored.status, 200)
  }
  const { json } = await far.send({ path: '/v1/notes', as })
  assert.equal(json.pagination.total_count, 4)
})
