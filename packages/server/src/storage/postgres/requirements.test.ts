import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientBase } from 'pg'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { startCluster } from '../../../../../test/postgres/cluster.ts'
import { databaseFor, versionAsked, whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { query } from '../../../../../test/postgres/query.ts'
import { StorageFault } from '../storage.ts'
import { isInUse, migrateForKeys } from './administration.ts'
import { connect, emptyDatabase, migrateTo, relations } from './migrate.fixture.ts'
import { migratePostgres } from './migrate.ts'
import { checkServer, checkTenants } from './requirements.ts'

const skip = whyNoDatabase ?? false

/** A client whose server answers every question with one row. */
function answering(row: object): ClientBase {
  return { query: async () => ({ rows: [row] }) } as unknown as ClientBase
}

test('a PostgreSQL older than 15 is refused with its version', async () => {
  const found = { number: 140_012, version: '14.12', encoding: 'UTF8', schema: 'public' }
  await assert.rejects(
    checkServer(answering(found)),
    /^StorageFault: PostgreSQL 14\.12 is too old\. Use PostgreSQL 15 or newer\.$/,
  )
})

test('a missing schema or privilege is reported before anything is changed', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await client.query('set search_path = nowhere, elsewhere')
  await assert.rejects(migrateTo(client, {}), /search_path of the connection \(nowhere, elsewhere\) names no schema/)
  await client.query('create schema elsewhere; revoke create on schema elsewhere from current_user')
  const refused = await migrateTo(client, {}).catch((error) => error)
  assert.ok(refused instanceof StorageFault)
  assert.match(
    refused.message,
    /^The role resourced may not create tables in the schema elsewhere of .*grant create on schema "elsewhere" to "resourced"$/,
  )
  await client.query('grant create on schema elsewhere to current_user')
  await migrateTo(client, {})
  // From now on nothing is to be created.
  await client.query('revoke create on schema elsewhere from current_user')
  assert.equal((await migrateTo(client, {})).applied, false)
})

test('tenants need the right to create schemas', { skip }, async (context) => {
  const client = await connect(context, await databaseFor(context))
  await checkTenants(client)
  // Without Citus the setting means nothing.
  await client.query('set citus.enable_schema_based_sharding = on')
  await checkTenants(client)
  const refused = { may: 0, role: 'ann', database: 'library' }
  await assert.rejects(checkTenants(answering(refused)), /grant create on database "library" to "ann"/)
})

test('Citus is refused where events would be lost', { skip }, async (context) => {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const tasks = (events: boolean) =>
    completeCatalog({ name: 'tasks', resources: { tasks: { fields: { title: { type: 'string' } }, events } } })
  const start = async (events: boolean) => {
    const client = await connect(context, cluster.url)
    return migratePostgres(client, tasks(events), { apply: 'additive', now: 0 })
  }
  await start(true)
  // The catalog as Citus has it: the extension itself is in no package of tests.
  const fake = (text: string) => query(cluster.adminUrl, `set allow_system_table_mods = on; ${text}`)
  await fake(`insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (70000, 'citus', 10, 'pg_catalog'::regnamespace, false, '13.0-1')`)
  await fake('create table pg_catalog.pg_dist_partition (logicalrelid regclass)')
  await fake('create table pg_catalog.pg_dist_schema (schemaid oid)')
  await fake('grant select on pg_catalog.pg_dist_partition, pg_catalog.pg_dist_schema to public')
  await start(true)
  for (const [set, unset, reason] of [
    [
      "insert into pg_dist_partition values ('public.tasks')",
      'delete from pg_dist_partition',
      /distributes the tables/,
    ],
    [
      "insert into pg_dist_schema values ('public'::regnamespace)",
      'delete from pg_dist_schema',
      /distributes the tables/,
    ],
    [
      "alter database postgres set citus.enable_unsafe_triggers = 'on'",
      'alter database postgres reset citus.enable_unsafe_triggers',
      /allows triggers on distributed tables/,
    ],
  ] as const) {
    await fake(set)
    await assert.rejects(start(true), (error) => error instanceof StorageFault && reason.test(error.message))
    await fake(unset)
    await start(true)
  }
  await fake("insert into pg_dist_partition values ('public.tasks')")
  await start(false)
})

test('another encoding than UTF-8 is refused with a remedy', async () => {
  const found = { number: 180_004, version: '18.4', encoding: 'LATIN1', schema: 'public', database: 'old' }
  await assert.rejects(
    checkServer(answering(found)),
    /database old has the encoding LATIN1, and needs UTF8\. Create one/,
  )
})

test('checking whether a server has used a schema does not change the schema', { skip }, async (context) => {
  const client = await connect(context, await databaseFor(context))
  assert.equal(await isInUse(client), false)
  assert.deepEqual(await relations(client, '%'), [])
  await migrateTo(client, {})
  assert.equal(await isInUse(client), true)
  await client.query('create schema other; set search_path = other, public')
  assert.equal(await isInUse(client), false)
})

test('a database opens for its API keys alone, before and after a declaration is applied', {
  skip,
}, async (context) => {
  const client = await emptyDatabase(context)
  await migrateForKeys(client)
  assert.deepEqual(await relations(client, 'api-keys'), ['api-keys'])
  await migrateTo(client, { title: 'string' }, 'all')
  const before = await relations(client, '%')
  await migrateForKeys(client)
  assert.ok(before.includes('tasks'))
  assert.deepEqual(await relations(client, 'tasks'), ['tasks'])
  // The remembered shape of other tables is kept.
  assert.equal(
    (await migrateTo(client, { title: 'string', more: 'integer' })).steps.at(-1)?.sentence,
    'add the column tasks.more (integer)',
  )
})
