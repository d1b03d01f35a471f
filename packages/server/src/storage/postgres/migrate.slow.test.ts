import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { catalogFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import {
  all,
  clockOf,
  column,
  databaseOf,
  emptyDatabase,
  find,
  migrateTo,
  now,
  refusal,
  relations,
  snapshot,
  tasks,
} from './migrate.fixture.ts'
import { migratePostgres } from './migrate.ts'

const skip = whyNoDatabase ?? false

test('an empty database gets its tables, and a second start changes nothing', { skip }, async (context) => {
  const client = await databaseOf(context, { title: { type: 'string', search: true, filter: true, sort: true } }, [])
  const clocks = Array.from({ length: 16 }, (_, slot) => ({
    collection: 'tasks',
    slot,
    live: 0,
    deleted: 0,
  }))
  assert.deepEqual(
    await all(client, 'select collection, slot, live, deleted from resourced_clocks order by slot'),
    clocks,
  )
  const before = await snapshot(client)
  assert.deepEqual(await migrateTo(client, { title: { type: 'string', search: true, filter: true, sort: true } }), {
    steps: [],
    applied: false,
  })
  assert.equal(await snapshot(client), before)
})

test('a second start with fifty resources reads no records and needs few statements', { skip }, async (context) => {
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${i}`, { type: 'string', filter: true }] as const),
  )
  const catalog = catalogFixture(...Array.from({ length: 50 }, (_, i) => resourceFixture(`things-${i}`, fields)))
  const client = await emptyDatabase(context)
  await migratePostgres(client, catalog, { apply: 'additive', now })
  const asked = context.mock.method(client, 'query')
  await migratePostgres(client, catalog, { apply: 'never', now })
  const texts = asked.mock.calls.map((call) => (call.arguments[0] as unknown as { text: string }).text)
  assert.equal(texts.length, 8, texts.join('\n'))
  assert.ok(!texts.some((text) => /things-|advisory|lock table/.test(text)))
})

test('a new optional field is null in existing records', { skip }, async (context) => {
  const client = await databaseOf(context, { title: 'string' }, [{ title: 'one' }])
  const { steps, applied } = await migrateTo(client, { title: 'string', size: 'integer' })
  assert.deepEqual([steps.map((step) => step.sentence), applied], [['add the column tasks.size (integer)'], true])
  assert.deepEqual(await all(client, 'select title, size, updated_at, _revision from tasks'), [
    { title: 'one', size: null, updated_at: 'then', _revision: 1 },
  ])
})

test('a new field with a default is filled, in deleted records too, and the records get new revisions', {
  skip,
}, async (context) => {
  const client = await databaseOf(context, {}, [{}, { deleted_at: 'then' }])
  const fields = {
    done: { type: 'boolean', default: true, required: true },
    labels: { type: 'array', default: ['a'] },
  } as const
  const before = await clockOf(client)
  await migrateTo(client, fields)
  assert.deepEqual(await column(client, 'done'), [1, 1])
  assert.deepEqual(await column(client, 'labels'), ['["a"]', '["a"]'])
  assert.deepEqual(new Set(await column(client, 'updated_at')), new Set(['2026-11-21T00:00:00.000Z']))
  const after = await clockOf(client)
  assert.deepEqual([after?.['live'], after?.['deleted']], [1, 1])
  assert.notEqual(after?.['revision'], before?.['revision'])
  for (const revision of await column(client, '_revision')) assert.ok(Number(revision) > 2 ** 20)
})

test('a field that becomes required needs a value in every record', { skip }, async (context) => {
  const rows = [{ title: 'one' }, {}, { deleted_at: 'then' }]
  const client = await databaseOf(context, { title: 'string' }, rows)
  const before = await snapshot(client)
  for (const apply of ['additive', 'all', 'never'] as const) {
    const refused = await refusal(() => migrateTo(client, { title: { type: 'string', required: true } }, apply))
    assert.match(
      refused.message,
      /x tasks\.title is now required but 2 records have no value: declare a default or make/,
    )
    assert.equal(await snapshot(client), before)
  }
  await migrateTo(client, { title: { type: 'string', required: true, default: 'none' } })
  assert.deepEqual(await column(client, 'title'), ['one', 'none', 'none'])
})

test('a field that was optional before may lack values', { skip }, async (context) => {
  const required = { title: { type: 'string', required: true } } as const
  const client = await databaseOf(context, required, [])
  await assert.rejects(() => migrateTo(client, { title: 'string' }, 'never'), MigrationRefused)
  await migrateTo(client, { title: 'string' })
  await client.query("insert into tasks (id, created_at, updated_at, _revision) values ('x', '', '', 1)")
  assert.match((await refusal(() => migrateTo(client, required))).message, /1 record has no value/)
})

test('values of a removed field are dropped only with `all`', { skip }, async (context) => {
  const fields = { title: { type: 'string', filter: true, search: true }, size: 'integer' } as const
  const client = await databaseOf(context, fields, [{ title: 'one' }, { title: 'two' }, {}])
  const before = await snapshot(client)
  const refused = await refusal(() => migrateTo(client, { size: 'integer' }))
  assert.match(refused.message, /! drop the column tasks\.title: loses 2 values/)
  assert.equal(refused.command, 'npx resourced migrate --apply')
  assert.equal(await snapshot(client), before)
  await migrateTo(client, { size: 'integer' }, 'all')
  assert.deepEqual(await column(client, 'id'), ['id1', 'id2', 'id3'])
  await assert.rejects(() => column(client, 'title'), /does not exist/)
  assert.deepEqual(await relations(client, 'resourced_words%'), [])
})

test('a column without values and an empty table are dropped without confirmation', { skip }, async (context) => {
  const client = await databaseOf(context, { title: 'string', size: 'integer' }, [{ size: 1 }])
  await migrateTo(client, { size: 'integer' })
  await client.query('delete from tasks')
  await migratePostgres(client, catalogFixture(), { apply: 'additive', now })
  assert.deepEqual(await relations(client, 'tasks'), [])
  assert.deepEqual(await all(client, 'select * from resourced_clocks'), [])
})

test('records of a removed resource are dropped only with `all`', { skip }, async (context) => {
  const client = await databaseOf(context, { title: { type: 'string', search: true } }, [{}, {}])
  const refused = await refusal(() => migratePostgres(client, catalogFixture(), { apply: 'additive', now }))
  assert.match(refused.message, /! drop the table tasks: loses 2 records/)
  await migratePostgres(client, catalogFixture(), { apply: 'all', now })
  const left = await relations(client, '%tasks%')
  assert.deepEqual(left, [])
})

test('a unique field needs values that differ among live records', { skip }, async (context) => {
  const rows = [{ name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'b' }, {}, {}, { name: 'b', deleted_at: 'then' }]
  const client = await databaseOf(context, { name: 'string' }, rows)
  const unique = { name: { type: 'string', unique: true } } as const
  const refused = await refusal(() => migrateTo(client, unique, 'all'))
  assert.match(refused.message, /x keep name unique in tasks: 2 records have the same value as another \(such as id3\)/)
  await client.query("update tasks set name = id where id in ('id2', 'id3')")
  await migrateTo(client, unique)
  await assert.rejects(client.query("update tasks set name = 'a' where id = 'id2'"), /violates unique constraint/)
  await migrateTo(client, { name: 'string' })
  await client.query("update tasks set name = 'a' where id = 'id2'")
})

test('duplicates that only a default would cause are counted', { skip }, async (context) => {
  const client = await databaseOf(context, {}, [{}, {}])
  const fields = { name: { type: 'string', unique: true, default: 'x', required: true } } as const
  assert.match(
    (await refusal(() => migrateTo(client, fields, 'all'))).message,
    /1 record has the same value as another/,
  )
})

test('foreign tables, indexes and views remain, and are reported if they block a name', {
  skip,
}, async (context) => {
  const client = await emptyDatabase(context)
  await client.query('create table notes (a int); insert into notes values (1); create view tasks as select 1')
  const before = await snapshot(client)
  assert.match((await refusal(() => migrateTo(client, {}, 'all'))).message, /x the database already has a "tasks"/)
  assert.equal(await snapshot(client), before)
  await client.query('drop view tasks; create domain tasks as text')
  assert.match((await refusal(() => migrateTo(client, {}, 'all'))).message, /x the database already has a "tasks"/)
  // PostgreSQL compares quoted names with case.
  await client.query('drop domain tasks; create view "Tasks" as select 1')
  await migrateTo(client, { size: 'integer' })
  await client.query('create index mine on tasks (size)')
  await migrateTo(client, { size: 'integer' }, 'never')
  await migratePostgres(client, catalogFixture(), { apply: 'all', now })
  assert.deepEqual(await all(client, 'select * from notes'), [{ a: 1 }])
})

test('a lost index, clock or table is created again', { skip }, async (context) => {
  const fields = { title: { type: 'string', sort: true, search: true } } as const
  const client = await databaseOf(context, fields, [{ title: 'one' }, { deleted_at: 'then' }])
  await client.query("update tasks set _words = array_to_tsvector(string_to_array(coalesce(title, ''), ' '))")
  const whole = await snapshot(client)
  const [name] = await relations(client, 'tasks_by_title%')
  await client.query(`drop index "${name}"; drop index resourced_words_tasks`)
  const { steps } = await migrateTo(client, fields)
  assert.deepEqual(
    steps.map((step) => step.sentence),
    ['build the full-text index of tasks (title)', 'index tasks by title, id'],
  )
  assert.equal(await snapshot(client), whole)
  await client.query('alter table tasks drop column _words')
  await migrateTo(client, fields)
  assert.deepEqual(await find(client, 'one'), ['id1'])
  await client.query('delete from resourced_clocks')
  await migrateTo(client, fields)
  const anew = await clockOf(client)
  assert.deepEqual([anew?.['live'], anew?.['deleted']], [1, 1])
  await client.query('delete from resourced_clocks where slot = 0')
  await migrateTo(client, fields)
  const mended = await clockOf(client)
  assert.deepEqual([mended?.['live'], mended?.['deleted']], [1, 1])
  await client.query('drop table tasks')
  await migrateTo(client, fields)
  const empty = await clockOf(client)
  assert.deepEqual([empty?.['live'], empty?.['deleted']], [0, 0])
  // No tag of an earlier state fits.
  assert.equal(new Set([anew, mended, empty].map((each) => each?.['revision'])).size, 3)
})

test('`never` refuses every step, and changes nothing', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  const refused = await refusal(() => migratePostgres(client, tasks({}), { apply: 'never', now }))
  assert.match(
    refused.message,
    /does not fit the declaration:\n {2}\+ create the table resourced_meta[\s\S]*resourced migrate --apply$/,
  )
  assert.deepEqual(await relations(client, '%'), [])
})

test('collection names may have hyphens', { skip }, async (context) => {
  const fields = { due_on: { type: 'string', filter: true, sort: true, search: true } } as const
  const client = await emptyDatabase(context)
  const catalogOf = (more: object) => catalogFixture(resourceFixture('open-tasks', { ...fields, ...more }))
  await migratePostgres(client, catalogOf({}), { apply: 'additive', now })
  await client.query(`insert into "open-tasks" (id, created_at, updated_at, _revision) values ('x', '', '', 1)`)
  await migratePostgres(client, catalogOf({ size: { type: 'integer', required: true, default: 1, unique: true } }), {
    apply: 'all',
    now,
  })
  assert.deepEqual(await all(client, 'select size from "open-tasks"'), [{ size: 1 }])
  await migratePostgres(client, catalogFixture(), { apply: 'all', now })
  assert.deepEqual(await relations(client, '%open%'), [])
})

test('the connection has its former settings after the migration', { skip }, async (context) => {
  const client = await emptyDatabase(context)
  await client.query("set lock_timeout = '1234ms'; set statement_timeout = '1min'")
  await migrateTo(client, {})
  const settings = "select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement"
  assert.deepEqual(await all(client, settings), [{ lock: '1234ms', statement: '1min' }])
})
