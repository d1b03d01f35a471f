/**
 * Migrations while other sessions use the database: long queries, other migrations, and servers with the older
 * declaration.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { databaseFor, whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { StorageFault } from '../storage.ts'
import { all, connect, type Fields, find, insert, migrateTo, refusal, relations } from './migrate.fixture.ts'
import { type BatchRow, readBatch } from './migration-dialect.ts'
import { run } from './session.ts'

const skip = whyNoDatabase ?? false
const quick = { patience: 20_000, lock: 200, pause: 200 }
const before: Fields = { title: 'string' }

/** Two connections to a database with two tasks: one migrates, and the other uses the database meanwhile. */
async function twoClients(context: TestContext): Promise<{ client: pg.Client; other: pg.Client; url: string }> {
  const url = await databaseFor(context)
  const client = await connect(context, url)
  await migrateTo(client, before)
  for (const id of ['id1', 'id2']) await insert(client, 'tasks', { id, title: id })
  return { client, other: await connect(context, url), url }
}

test('an older server continues to write: columns that it does not write get their defaults', {
  skip,
}, async (context) => {
  const { client, other } = await twoClients(context)
  await migrateTo(client, {
    ...before,
    size: 'integer',
    label: { type: 'string', required: true, default: "It's \\ Ärger", filter: true, search: true },
    at: { type: 'string', format: 'date-time', default: '2026-11-21T09:00:00+01:00' },
    done: { type: 'boolean', default: false },
    price: { type: 'number', default: 1.5 },
    tags: { type: 'array', default: ['a'] },
  })
  await insert(other, 'tasks', { id: 'id3', title: 'new' })
  const values = 'select size, label, _folded_label, at, _instant_at, done, price, tags from tasks where id = $1'
  const [filled, written] = [await client.query(values, ['id1']), await client.query(values, ['id3'])]
  assert.deepEqual(written.rows, filled.rows)
  assert.deepEqual(written.rows[0]._folded_label, "it's \\ ärger")
  assert.deepEqual(await find(client, 'arger'), ['id1', 'id2', 'id3'])
})

test('a value of an older server is not replaced by a default', { skip }, async (context) => {
  const { client, other } = await twoClients(context)
  await migrateTo(client, { title: { type: 'string', filter: true, default: 'None' } })
  await insert(other, 'tasks', { id: 'id3', title: 'New' })
  assert.deepEqual(await all(client, "select title, _folded_title from tasks where id = 'id3'"), [
    { title: 'New', _folded_title: null },
  ])
})

test('while a long query blocks a migration, other queries run between its attempts, and the migration completes afterwards', {
  skip,
}, async (context) => {
  const { client, other, url } = await twoClients(context)
  await other.query('begin; select * from tasks')
  let isDone = false
  const migration = migrateTo(client, { ...before, size: 'integer' }, 'additive', quick).finally(() => {
    isDone = true
  })
  const third = await connect(context, url)
  let slowest = 0
  for (const end = Date.now() + 1_500; Date.now() < end; await sleep(10)) {
    const begun = performance.now()
    await third.query('select * from tasks')
    slowest = Math.max(slowest, performance.now() - begun)
  }
  assert.equal(isDone, false)
  assert.ok(slowest > 50 && slowest < 1_000, `a reader waited ${slowest} ms`)
  await other.query('commit')
  assert.equal((await migration).applied, true)
})

test('a migration waits for writers before it counts', { skip }, async (context) => {
  const { client, other } = await twoClients(context)
  await other.query('begin')
  await insert(other, 'tasks', { id: 'id3' })
  const migration = refusal(() => migrateTo(client, { title: { type: 'string', required: true } }, 'all', quick))
  await sleep(300)
  await other.query('commit')
  assert.match((await migration).message, /x tasks\.title is now required but 1 record has no value/)
})

test('reporting steps neither blocks nor waits for other sessions', { skip }, async (context) => {
  const { client, other } = await twoClients(context)
  await other.query('begin; lock table tasks')
  const refused = await migrateTo(client, { ...before, size: { type: 'integer', sort: true } }, 'never').catch(
    (error) => error,
  )
  assert.ok(refused instanceof MigrationRefused, String(refused))
  assert.match(refused.message, /add the column tasks\.size/)
  await other.query('commit')
})

test('a missing index is built while another transaction writes', { skip }, async (context) => {
  const { client, other } = await twoClients(context)
  await migrateTo(client, { title: { type: 'string', search: true } })
  const [name] = await relations(client, 'tasks_by_updated_at%')
  await client.query(`drop index "${name}"; drop index resourced_words_tasks`)
  await other.query("begin; select * from tasks where id = 'id1' for update")
  const migration = migrateTo(client, { title: { type: 'string', search: true } }, 'additive', {
    ...quick,
    patience: 300,
  })
  await sleep(600)
  await other.query('commit')
  assert.equal((await migration).steps.length, 2)
})

test('a migration that stays blocked ends with an error and changes nothing', {
  skip,
}, async (context) => {
  const { client, other } = await twoClients(context)
  await other.query('begin; select * from tasks')
  const more = { ...before, size: 'integer' } as const
  const fault = await migrateTo(client, more, 'additive', { ...quick, patience: 1_000 }).catch((error) => error)
  assert.ok(fault instanceof StorageFault && fault.kind === 'busy', String(fault))
  assert.match(fault.message, /^The tables to be changed were in use for 1 seconds?\. End long queries/)
  await other.query('commit')
  assert.equal((await migrateTo(client, more, 'additive', quick)).steps.length, 1)
})

test('a session that waits for too long names the migrating session', { skip }, async (context) => {
  const { client, other, url } = await twoClients(context)
  await other.query('begin; select * from tasks')
  const more = { ...before, size: 'integer' } as const
  const first = migrateTo(client, more, 'additive', quick)
  await sleep(300)
  const fault = await migrateTo(await connect(context, url), more, 'additive', { ...quick, patience: 500 }).catch(
    (error) => error,
  )
  assert.ok(fault instanceof StorageFault && fault.kind === 'busy', String(fault))
  assert.match(fault.message, /^Another server \(process \d+ of PostgreSQL\) has been migrating the database for/)
  await other.query('commit')
  assert.equal((await first).applied, true)
})

test('another schema of the same database is migrated at the same time', { skip }, async (context) => {
  const { client, other, url } = await twoClients(context)
  await other.query('begin; select * from tasks')
  const first = migrateTo(client, { ...before, size: 'integer' }, 'additive', quick)
  const third = await connect(context, url)
  await third.query('create schema third; set search_path = third, public')
  assert.equal((await migrateTo(third, before, 'additive', { ...quick, patience: 0 })).applied, true)
  assert.ok((await relations(third, 'tasks')).includes('tasks'))
  await other.query('commit')
  await first
})

test('a duplicate that is written while a unique index is built is reported, and no invalid index remains', {
  skip,
}, async (context) => {
  const { client, other } = await twoClients(context)
  await other.query('begin')
  await insert(other, 'tasks', { id: 'id3', title: 'id1' })
  const unique = { title: { type: 'string', unique: true, sort: true } } as const
  const migration = migrateTo(client, unique, 'additive', quick).catch((error) => error)
  // The index build waits for the writer.
  await sleep(500)
  await other.query('commit')
  const refused = await migration
  assert.ok(refused instanceof MigrationRefused, String(refused))
  assert.match(refused.message, /x keep title unique in tasks: 1 record has the same value as another \(such as id3\)/)
  const indexes = "select indisvalid as valid from pg_index where indrelid = 'tasks'::regclass and not indisvalid"
  assert.deepEqual(await all(client, indexes), [])
  // The other index was built.
  assert.equal((await relations(client, 'tasks_by_title_id_%')).length, 1)
  await client.query("update tasks set title = 'other' where id = 'id3'")
  const { steps } = await migrateTo(client, unique)
  assert.deepEqual(
    steps.map((step) => step.sentence),
    ['keep title unique in tasks'],
  )
})

test('a value that is too long for an index is reported; once it is shorter, the migration completes', {
  skip,
}, async (context) => {
  const { client } = await twoClients(context)
  const noise = Array.from({ length: 4_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * i * 7919) % 20_000))).join(
    '',
  )
  await client.query("update tasks set title = $1 where id = 'id1'", [noise])
  const sorted = { title: { type: 'string', sort: true } } as const
  await assert.rejects(
    migrateTo(client, sorted),
    /A value in tasks is too long for PostgreSQL's index of \(title, id\)/,
  )
  await client.query("update tasks set title = 'short' where id = 'id1'")
  assert.equal((await migrateTo(client, sorted)).applied, true)
})

test('large records are read in batches of bounded size', { skip }, async (context) => {
  const { client } = await twoClients(context)
  await client.query(
    `insert into tasks (id, title, created_at, updated_at, _revision)
       select 'large' || i, i || ' ' || repeat('word ', 200000), '', '', 1 from generate_series(1, 30) as i;
     insert into tasks (id, title, created_at, updated_at, _revision)
       select 'small' || i, 'W' || i, '', '', 1 from generate_series(1, 5000) as i`,
  )
  let rows = 0
  const read = (previous?: readonly BatchRow[]) =>
    run(client, readBatch({ table: 'tasks', columns: ['title'] }, previous))
  for (let batch = await read(); batch.length > 0; batch = await read(batch)) {
    rows += batch.length
    const bytes = batch.reduce((sum, { texts }) => sum + (texts[0]?.length ?? 0), 0)
    assert.ok(bytes <= 5_100_000 && batch.length <= 2_000, `${bytes} bytes, ${batch.length} rows`)
  }
  assert.equal(rows, 5_032)
  await migrateTo(client, { title: { type: 'string', search: true }, more: { type: 'string', default: 'x' } })
  assert.deepEqual(await find(client, 'w4999 | (17 & word)'), ['large17', 'small4999'])
})
