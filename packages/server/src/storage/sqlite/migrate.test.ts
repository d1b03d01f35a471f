import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MigrationRefused } from '../migration/migration-step.ts'
import { catalogFixture, fieldFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import { itemToken } from '../sql/values.ts'
import { all, column, databaseOf, find, migrateTo, now, snapshot, tasks } from './migrate.fixture.ts'
import { migrate } from './migrate.ts'

function refusal(work: () => unknown): MigrationRefused {
  try {
    work()
  } catch (error) {
    if (error instanceof MigrationRefused) return error
    throw error
  }
  throw assert.fail('nothing was refused')
}

test('an empty database gets its tables, and a second start changes nothing', () => {
  const database = databaseOf({ title: { type: 'string', search: true, filter: true, sort: true } }, [])
  assert.deepEqual(all(database, 'select collection, live, deleted from resourced_clocks'), [
    { collection: 'tasks', live: 0, deleted: 0 },
  ])
  const before = snapshot(database)
  assert.deepEqual(migrateTo(database, { title: { type: 'string', search: true, filter: true, sort: true } }), {
    steps: [],
    applied: false,
  })
  assert.equal(snapshot(database), before)
})

test('tables are strict', () => {
  const database = databaseOf({ size: 'integer' }, [])
  assert.throws(() => database.exec("insert into resourced_clocks values ('x', 'y', 0, 0)"), /cannot store TEXT/)
})

test('a second start with fifty resources reads no records and is quick', () => {
  const fields = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`f${i}`, { type: 'string', filter: true }] as const),
  )
  const catalog = catalogFixture(...Array.from({ length: 50 }, (_, i) => resourceFixture(`things-${i}`, fields)))
  const database = new DatabaseSync(':memory:')
  const timed = (apply: 'additive' | 'never') => {
    const start = performance.now()
    migrate(database, catalog, { apply, now })
    return performance.now() - start
  }
  const first = timed('additive')
  const times = Array.from({ length: 5 }, () => timed('never'))
  // To compare a thousand columns takes a ninth of the time that it takes to create them and their indexes.
  assert.ok(Math.min(...times) < first / 4, `${first}: ${times}`)
})

test('a new optional field is null in existing records', () => {
  const database = databaseOf({ title: 'string' }, [{ title: 'one' }])
  const { steps, applied } = migrateTo(database, { title: 'string', size: 'integer' })
  assert.deepEqual([steps.map((step) => step.sentence), applied], [['add the column tasks.size (integer)'], true])
  assert.deepEqual(all(database, 'select title, size, updated_at, _revision from tasks'), [
    { title: 'one', size: null, updated_at: 'then', _revision: 1 },
  ])
})

test('a new field with a default is filled, in deleted records too, and the records get new revisions', () => {
  const database = databaseOf({}, [{}, { deleted_at: 'then' }])
  const fields = {
    done: { type: 'boolean', default: true, required: true },
    labels: { type: 'array', default: ['a'] },
  } as const
  const before = all(database, 'select revision from resourced_clocks')[0]
  migrateTo(database, fields)
  assert.deepEqual(column(database, 'done'), [1, 1])
  assert.deepEqual(column(database, 'labels'), ['["a"]', '["a"]'])
  assert.deepEqual(new Set(column(database, 'updated_at')), new Set(['2026-11-21T00:00:00.000Z']))
  const [clock] = all(database, 'select * from resourced_clocks')
  assert.deepEqual([clock?.live, clock?.deleted], [1, 1])
  assert.notEqual(clock?.revision, before?.revision)
  for (const revision of column(database, '_revision')) assert.ok(Number(revision) > 1)
})

test('a field that becomes required needs a value in every record', () => {
  const rows = [{ title: 'one' }, {}, { deleted_at: 'then' }]
  const database = databaseOf({ title: 'string' }, rows)
  const before = snapshot(database)
  for (const apply of ['additive', 'all', 'never'] as const) {
    const refused = refusal(() => migrateTo(database, { title: { type: 'string', required: true } }, apply))
    assert.match(
      refused.message,
      /x tasks\.title is now required but 2 records have no value: declare a default or make/,
    )
    assert.equal(snapshot(database), before)
  }
  migrateTo(database, { title: { type: 'string', required: true, default: 'none' } })
  assert.deepEqual(column(database, 'title'), ['one', 'none', 'none'])
})

test('a field that was optional before may lack values', () => {
  const required = { title: { type: 'string', required: true } } as const
  const database = databaseOf(required, [])
  assert.throws(() => migrateTo(database, { title: 'string' }, 'never'), MigrationRefused)
  migrateTo(database, { title: 'string' })
  database.exec("insert into tasks (id, created_at, updated_at, _revision) values ('x', '', '', 1)")
  assert.match(refusal(() => migrateTo(database, required)).message, /1 record has no value/)
})

test('values of a removed field are dropped only with `all`', () => {
  const fields = { title: { type: 'string', filter: true, search: true }, size: 'integer' } as const
  const database = databaseOf(fields, [{ title: 'one' }, { title: 'two' }, {}])
  const before = snapshot(database)
  const refused = refusal(() => migrateTo(database, { size: 'integer' }))
  assert.match(refused.message, /! drop the column tasks\.title: loses 2 values/)
  assert.equal(refused.command, 'npx resourced migrate --apply')
  assert.equal(snapshot(database), before)
  migrateTo(database, { size: 'integer' }, 'all')
  assert.deepEqual(column(database, 'id'), ['id1', 'id2', 'id3'])
  assert.throws(() => column(database, 'title'), /no such column/)
  assert.deepEqual(all(database, "select name from sqlite_schema where name like 'resourced_words%'"), [])
})

test('a column without values and an empty table are dropped without confirmation', () => {
  const database = databaseOf({ title: 'string', size: 'integer' }, [{ size: 1 }])
  migrateTo(database, { size: 'integer' })
  database.exec('delete from tasks')
  migrate(database, catalogFixture(), { apply: 'additive', now })
  assert.deepEqual(all(database, "select name from sqlite_schema where name = 'tasks'"), [])
  assert.deepEqual(all(database, 'select * from resourced_clocks'), [])
})

test('records of a removed resource are dropped only with `all`', () => {
  const database = databaseOf({ title: { type: 'string', search: true } }, [{}, {}])
  const refused = refusal(() => migrate(database, catalogFixture(), { apply: 'additive', now }))
  assert.match(refused.message, /! drop the table tasks: loses 2 records/)
  migrate(database, catalogFixture(), { apply: 'all', now })
  const left = all(database, "select name from sqlite_schema where name like '%tasks%'")
  assert.deepEqual(left, [])
})

test('integers become numbers without loss, and the records keep their revision', () => {
  const database = databaseOf({ size: { type: 'integer', sort: true } }, [{ size: 3 }, {}])
  migrateTo(database, { size: { type: 'number', sort: true } })
  assert.deepEqual(all(database, 'select size, typeof(size) as type, _revision from tasks order by _row'), [
    { size: 3, type: 'real', _revision: 1 },
    { size: null, type: 'null', _revision: 1 },
  ])
  assert.equal(all(database, "select 1 from sqlite_schema where name like 'tasks_by_size_id_%'").length, 1)
})

test('other types convert exactly, and values that cannot be converted are counted', () => {
  const database = databaseOf({ size: 'string' }, [{ size: '7' }, { size: 'seven' }, {}])
  const refused = refusal(() => migrateTo(database, { size: 'integer' }))
  assert.match(refused.message, /! change tasks\.size from string to integer: loses 1 value that cannot be converted/)
  migrateTo(database, { size: 'integer' }, 'all')
  assert.deepEqual(column(database, 'size'), [7, null, null])
  migrateTo(database, { size: 'json' })
  assert.deepEqual(column(database, 'size'), ['7', null, null])
  migrateTo(database, { size: 'string' })
  assert.deepEqual(column(database, 'size'), ['7', null, null])
})

test('an inconvertible value gets the default of a required field; without one the migration is refused', () => {
  const database = databaseOf({ size: { type: 'string', required: true } }, [{ size: '7' }, { size: 'seven' }])
  const refused = refusal(() => migrateTo(database, { size: { type: 'integer', required: true } }, 'all'))
  assert.match(refused.message, /x tasks\.size is now required but 1 record has no value/)
  assert.deepEqual(column(database, 'size'), ['7', 'seven'])
  migrateTo(database, { size: { type: 'integer', required: true, default: 0 } }, 'all')
  assert.deepEqual(column(database, 'size'), [7, 0])
})

test('integers beyond 2^53 are kept exact or counted as lost', () => {
  const database = databaseOf({ size: 'integer' }, [])
  database.exec(
    "insert into tasks (id, size, created_at, updated_at, _revision) values ('x', 9007199254740993, '', '', 1)",
  )
  assert.match(refusal(() => migrateTo(database, { size: 'number' })).message, /loses 1 value/)
  migrateTo(database, { size: 'string' })
  assert.deepEqual(column(database, 'size'), ['9007199254740993'])
})

test('booleans, JSON and text are distinguished, although SQLite stores them alike', () => {
  const database = databaseOf({ done: 'boolean', labels: 'array' }, [{ done: 1, labels: '[1,2]' }])
  migrateTo(database, { done: 'string', labels: 'array' })
  assert.deepEqual(column(database, 'done'), ['true'])
  migrateTo(database, { done: 'string', labels: 'json' })
  assert.deepEqual(column(database, 'labels'), ['[1,2]'])
  assert.match(refusal(() => migrateTo(database, { done: 'string', labels: 'object' })).message, /loses 1 value/)
})

test('comparison keys and search words are filled for existing records', () => {
  const rows = [
    { title: 'Ärger', at: '2026-11-21T09:00:00+01:00' },
    { title: null, at: 'someday' },
    { deleted_at: 'then', title: 'arg' },
  ]
  const database = databaseOf({ title: 'string', at: 'string' }, rows)
  const title = { type: 'string', filter: true, search: true } as const
  migrateTo(database, { title, at: { type: 'string', format: 'date-time' } })
  assert.deepEqual(column(database, '_folded_title'), ['ärger', null, 'arg'])
  assert.deepEqual(column(database, '_instant_at'), ['2026-11-21T08:00:00', null, null])
  assert.deepEqual(find(database, '"arg"*'), ['id1', 'id3'])
})

test('the full-text index follows the search fields', () => {
  const search = { type: 'string', search: true } as const
  const database = databaseOf({ title: search, note: 'string' }, [{ title: 'red', note: 'blue' }])
  migrateTo(database, { title: search, note: search })
  assert.deepEqual([find(database, 'red'), find(database, 'blue')], [['id1'], ['id1']])
  migrateTo(database, { title: 'string', note: search })
  assert.deepEqual([find(database, 'red'), find(database, 'blue')], [[], ['id1']])
  migrateTo(database, { title: 'string', note: search, more: { ...search, default: 'green' } })
  assert.deepEqual(find(database, 'green'), ['id1'])
})

test('a filled default is compared and found like any value', () => {
  const fields = { title: { type: 'string', filter: true, search: true } } as const
  const database = databaseOf(fields, [{}])
  migrateTo(database, { title: { ...fields.title, required: true, default: 'Some' } })
  assert.deepEqual([column(database, '_folded_title'), find(database, 'some')], [['some'], ['id1']])
})

test('a unique field needs values that differ among live records', () => {
  const rows = [{ name: 'a' }, { name: 'a' }, { name: 'a' }, { name: 'b' }, {}, {}, { name: 'b', deleted_at: 'then' }]
  const database = databaseOf({ name: 'string' }, rows)
  const unique = { name: { type: 'string', unique: true } } as const
  const refused = refusal(() => migrateTo(database, unique, 'all'))
  assert.match(refused.message, /x keep name unique in tasks: 2 records have the same value as another \(such as id3\)/)
  database.exec("update tasks set name = id where id in ('id2', 'id3')")
  migrateTo(database, unique)
  assert.throws(
    () => database.exec("update tasks set name = 'a' where id = 'id2'"),
    /UNIQUE constraint failed: tasks.name/,
  )
  migrateTo(database, { name: 'string' })
  database.exec("update tasks set name = 'a' where id = 'id2'")
})

test('duplicates that only a default would cause are counted', () => {
  const database = databaseOf({}, [{}, {}])
  const fields = { name: { type: 'string', unique: true, default: 'x', required: true } } as const
  assert.match(refusal(() => migrateTo(database, fields, 'all')).message, /1 record has the same value as another/)
})

test('foreign tables, indexes and views remain, and are reported if they block a name', () => {
  const database = new DatabaseSync(':memory:')
  database.exec('create table notes (a); insert into notes values (1); create view "Tasks" as select 1')
  const before = snapshot(database)
  assert.match(refusal(() => migrateTo(database, {}, 'all')).message, /x the database already has a "tasks"/)
  assert.equal(snapshot(database), before)
  database.exec('drop view "Tasks"')
  migrateTo(database, { size: 'integer' })
  database.exec('create index mine on tasks (size)')
  migrateTo(database, { size: 'integer' }, 'never')
  migrate(database, catalogFixture(), { apply: 'all', now })
  assert.deepEqual(all(database, 'select * from notes'), [{ a: 1 }])
})

test('a lost index, clock or table is created again', () => {
  const fields = { title: { type: 'string', sort: true, search: true } } as const
  const database = databaseOf(fields, [{ title: 'one' }, { deleted_at: 'then' }])
  const whole = snapshot(database)
  const [{ name }] = all(database, "select name from sqlite_schema where name like 'tasks_by_title%'") as [
    { name: string },
  ]
  database.exec(`drop index "${name}"; drop table resourced_words_tasks_0`)
  migrateTo(database, fields)
  assert.equal(snapshot(database), whole)
  assert.deepEqual(find(database, 'one'), ['id1'])
  database.exec('delete from resourced_clocks')
  migrateTo(database, fields)
  assert.deepEqual(all(database, 'select live, deleted from resourced_clocks'), [{ live: 1, deleted: 1 }])
  database.exec('drop table tasks')
  migrateTo(database, fields)
  assert.deepEqual(all(database, 'select live, deleted from resourced_clocks'), [{ live: 0, deleted: 0 }])
})

test('`never` refuses every step, and changes nothing', () => {
  const database = new DatabaseSync(':memory:')
  const refused = refusal(() => migrate(database, tasks({}), { apply: 'never', now }))
  assert.match(
    refused.message,
    /does not fit the declaration:\n {2}\+ create the table resourced_meta[\s\S]*resourced migrate --apply$/,
  )
  assert.deepEqual(all(database, 'select * from sqlite_schema'), [])
})

test('collection names may have hyphens', () => {
  const fields = { due_on: { type: 'string', filter: true, sort: true, search: true } } as const
  const database = new DatabaseSync(':memory:')
  const catalogOf = (more: object) => catalogFixture(resourceFixture('open-tasks', { ...fields, ...more }))
  migrate(database, catalogOf({}), { apply: 'additive', now })
  database.exec(`insert into "open-tasks" (id, created_at, updated_at, _revision) values ('x', '', '', 1)`)
  migrate(database, catalogOf({ size: { type: 'integer', required: true, default: 1, unique: true } }), {
    apply: 'all',
    now,
  })
  assert.deepEqual(all(database, 'select size from "open-tasks"'), [{ size: 1 }])
  migrate(database, catalogFixture(), { apply: 'all', now })
  assert.deepEqual(all(database, "select name from sqlite_schema where name like '%open%'"), [])
})

test('the connection has its former timeout after the migration', () => {
  const database = new DatabaseSync(':memory:', { timeout: 1234 })
  migrateTo(database, {})
  assert.deepEqual(all(database, 'pragma busy_timeout'), [{ timeout: 1234 }])
})

test('items of arrays and members of objects are found in existing records, and change with the declaration', () => {
  const items = fieldFixture('labels', { type: 'string', filter: true })
  const labels = { type: 'array', filter: true, items } as const
  const place = (type: 'string' | 'integer') =>
    ({ type: 'object', members: [fieldFixture('place.size', { type, filter: true })] }) as const
  const rows = [
    { title: 'red', labels: '["red","blue"]', place: '{"size":3}' },
    { title: 'x', labels: null, place: '{"size":"3"}', deleted_at: 'then' },
  ]
  const database = databaseOf({ title: 'string', labels: 'array', place: 'object' }, rows)
  const sizes = () => {
    const [{ name } = { name: '' }] = all(
      database,
      "select name from pragma_table_info('tasks') where name like '_member%'",
    ) as { name: string }[]
    return [
      name === '' ? undefined : column(database, name),
      all(database, "select name from sqlite_schema where name like 'tasks_by__member%'").length,
    ]
  }
  const found = (item: string) => find(database, itemToken('labels', item))
  migrateTo(database, { title: 'string', labels, place: place('integer') })
  assert.deepEqual([found('red'), found('green'), sizes()], [['id1'], [], [[3, null], 1]])
  // Other values are compared, in another column.
  migrateTo(database, { title: { type: 'string', search: true }, labels, place: place('string') })
  assert.deepEqual([found('blue'), find(database, 'red'), sizes()], [['id1'], ['id1'], [[null, '3'], 2]])
  migrateTo(database, { title: 'string', labels: 'array', place: 'object' })
  assert.deepEqual(sizes(), [undefined, 0])
  assert.deepEqual(all(database, "select name from sqlite_schema where name like 'resourced_words%'"), [])
})
