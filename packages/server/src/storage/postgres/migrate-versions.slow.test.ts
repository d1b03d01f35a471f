import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import type pg from 'pg'
import { desk, deskAtFirst } from '../../../../../test/declarations-desk.ts'
import { whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { completeVersions } from '../../versions/versions.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { migrate } from '../sqlite/migrate.ts'
import { all, clockOf, emptyDatabase, insert, now, relations } from './migrate.fixture.ts'
import { migratePostgres } from './migrate.ts'
import { query } from './session.ts'

const skip = whyNoDatabase ?? false
const [first, last] = [completeVersions(deskAtFirst).stored, completeVersions(desk).stored]

const tickets = [
  { subject: 'Broken key', price: 2.5, urgency: 1, state: 'new', code: 'C1', deleted_at: null },
  { subject: 'Größe', price: 0, urgency: 5, state: 'done', code: null, deleted_at: null },
  { subject: 'Gone', price: 1e12, urgency: 3, state: 'new', code: 'C1', deleted_at: 'then' },
].map((ticket, index) => ({
  id: `id${index + 1}`,
  asker_id: 'p1',
  _folded_subject: ticket.subject.toLowerCase(),
  ...ticket,
}))

const job = {
  job: 'j1',
  task: 'export',
  state: '{"collection":"tickets","largest":12345678901234567890,"text":"\\u0000"}',
}

async function onPostgres(client: pg.Client, more: object = {}): Promise<void> {
  await migratePostgres(client, first, { apply: 'additive', now })
  for (const ticket of tickets) await insert(client, 'tickets', { ...ticket, ...more })
  await query(client, 'insert into resourced_work (job, task, state) values ($1, $2, $3)', Object.values(job))
  await query(client, "insert into resourced_queue (job, collection, record) values ('j1', 'tickets', 'id1')")
}

/** The same in a database of SQLite, brought to the last version: the rows of `cases`. */
function rowsOfSqlite(): unknown[] {
  const database = new DatabaseSync(':memory:')
  migrate(database, first, { apply: 'additive', now })
  for (const ticket of tickets) {
    const whole: Record<string, SQLInputValue> = { created_at: 'then', updated_at: 'then', _revision: 1, ...ticket }
    const places = Object.keys(whole)
      .map(() => '?')
      .join(', ')
    database
      .prepare(`insert into tickets (${Object.keys(whole).join(', ')}) values (${places})`)
      .run(...Object.values(whole))
  }
  migrate(database, last, { apply: 'additive', now })
  return database.prepare('select * from cases order by id').all().map(sorted)
}

function sorted(row: object): unknown {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name !== '_words')
      .sort(),
  )
}

test('VER-2: a database of version 1 is migrated to version 3 once, as on SQLite', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await onPostgres(client)
  const { steps } = await migratePostgres(client, last, { apply: 'additive', now })
  const sentences = steps.map((step) => step.sentence)
  assert.ok(sentences.includes('rename the table tickets to cases'))
  assert.ok(sentences.includes('convert the values of cases.cents'))
  assert.deepEqual((await all(client, 'select * from cases order by id')).map(sorted), rowsOfSqlite())
  const found = await all(client, "select id from cases where _words @@ 'broken'")
  assert.deepEqual(found, [{ id: 'id1' }])
  assert.deepEqual(await relations(client, '%tickets\\_by%'), [])
  assert.deepEqual(await migratePostgres(client, last, { apply: 'never', now }), { steps: [], applied: false })
})

test('VER-2: clocks and unfinished jobs follow the new name of a collection', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await onPostgres(client)
  await migratePostgres(client, last, { apply: 'additive', now })
  const clock = await clockOf(client, 'cases')
  assert.deepEqual([clock?.['live'], clock?.['deleted']], [2, 1])
  assert.equal((await clockOf(client, 'tickets'))?.['live'], null)
  assert.deepEqual(await all(client, 'select collection from resourced_queue'), [{ collection: 'cases' }])
  const [work] = await all(client, 'select state from resourced_work')
  assert.equal(JSON.parse(String(work?.['state'])).collection, 'cases')
})

test('VER-2: values are converted once, on the first of many starts', { skip }, async (context) => {
  const things = { things: { fields: { price: { type: 'number' } }, access: { read: 'anyone' } } } as const
  const convert = {
    price: { schema: { type: 'number' }, older: (cents: number) => cents / 100, newer: (price: number) => price * 100 },
  } as const
  const money = completeVersions({
    ...{ name: 'money', versions: { v1: {}, v2: {} }, resources: things },
    changes: [{ version: 'v2', resource: 'things', convert }],
  }).stored
  const client = await emptyDatabase(context)
  const atFirst = completeVersions({ name: 'money', versions: { v1: {} }, resources: things }).stored
  await migratePostgres(client, atFirst, { apply: 'additive', now })
  await insert(client, 'things', { id: 'id1', price: 2.5 })
  for (let start = 0; start < 3; start++) {
    await migratePostgres(client, money, { apply: 'additive', now })
    assert.deepEqual(await all(client, 'select price from things'), [{ price: 250 }])
  }
})

test('VER-2: values of a dropped field are dropped with `all` only', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await onPostgres(client, { colour: 'red', _folded_colour: 'red' })
  const refused = await migratePostgres(client, last, { apply: 'additive', now }).catch((error) => error)
  assert.ok(refused instanceof MigrationRefused)
  assert.match(
    refused.message,
    /\+ rename the table tickets to cases[\s\S]*! drop the column cases\.colour: loses 3 values/,
  )
  assert.equal((await all(client, 'select price from tickets')).length, 3)
})

test('VER-2: an invalid converted value is reported with its record, and nothing is changed', {
  skip,
}, async (context) => {
  const client = await emptyDatabase(context)
  await onPostgres(client)
  await client.query("update tickets set price = -1 where id = 'id2'")
  await assert.rejects(
    migratePostgres(client, last, { apply: 'all', now }),
    /The record id2 of cases cannot be brought to the current version: the conversion of cents/,
  )
  assert.equal((await all(client, 'select price from tickets')).length, 3)
})

test('an invalid index is dropped when its table is renamed', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await onPostgres(client)
  // All three have the same.
  const half = 'create unique index concurrently tickets_by_asker_id_abcdef on tickets (asker_id)'
  await assert.rejects(client.query(half), /could not create unique index/)
  await migratePostgres(client, last, { apply: 'additive', now })
  assert.deepEqual(await all(client, 'select 1 as one from pg_index where not indisvalid'), [])
})
