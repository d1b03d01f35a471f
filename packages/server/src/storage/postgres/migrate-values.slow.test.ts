import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { fieldFixture } from '../sql/catalog.fixture.ts'
import { itemToken } from '../sql/values.ts'
import { all, column, databaseOf, find, migrateTo, refusal, relations } from './migrate.fixture.ts'

const skip = whyNoDatabase ?? false

test('integers become numbers without loss, and the records keep their revision', { skip }, async (context) => {
  const client = await databaseOf(context, { size: { type: 'integer', sort: true } }, [{ size: 3 }, {}])
  await migrateTo(client, { size: { type: 'number', sort: true } })
  assert.deepEqual(
    await all(client, 'select size, pg_typeof(size)::text as type, _revision from tasks order by _row'),
    [
      { size: 3, type: 'double precision', _revision: 1 },
      { size: null, type: 'double precision', _revision: 1 },
    ],
  )
  assert.equal((await relations(client, 'tasks_by_size_id_%')).length, 1)
})

test('other types convert exactly, and values that cannot be converted are counted', { skip }, async (context) => {
  const client = await databaseOf(context, { size: 'string' }, [{ size: '7' }, { size: 'seven' }, {}])
  const refused = await refusal(() => migrateTo(client, { size: 'integer' }))
  assert.match(refused.message, /! change tasks\.size from string to integer: loses 1 value that cannot be converted/)
  await migrateTo(client, { size: 'integer' }, 'all')
  assert.deepEqual(await column(client, 'size'), [7, null, null])
  await migrateTo(client, { size: 'json' })
  assert.deepEqual(await column(client, 'size'), ['7', null, null])
  await migrateTo(client, { size: 'string' })
  assert.deepEqual(await column(client, 'size'), ['7', null, null])
})

test('an inconvertible value gets the default of a required field; without one the migration is refused', {
  skip,
}, async (context) => {
  const client = await databaseOf(context, { size: { type: 'string', required: true } }, [
    { size: '7' },
    { size: 'seven' },
  ])
  const refused = await refusal(() => migrateTo(client, { size: { type: 'integer', required: true } }, 'all'))
  assert.match(refused.message, /x tasks\.size is now required but 1 record has no value/)
  assert.deepEqual(await column(client, 'size'), ['7', 'seven'])
  await migrateTo(client, { size: { type: 'integer', required: true, default: 0 } }, 'all')
  assert.deepEqual(await column(client, 'size'), [7, 0])
})

test('integers beyond 2^53 are kept exact or counted as lost', { skip }, async (context) => {
  const client = await databaseOf(context, { size: 'integer' }, [])
  await client.query(
    "insert into tasks (id, size, created_at, updated_at, _revision) values ('x', 9007199254740993, '', '', 1)",
  )
  assert.match((await refusal(() => migrateTo(client, { size: 'number' }))).message, /loses 1 value/)
  await migrateTo(client, { size: 'string' })
  assert.deepEqual(await column(client, 'size'), ['9007199254740993'])
})

test('booleans, JSON and text are distinguished, although SQLite stores them alike', { skip }, async (context) => {
  const client = await databaseOf(context, { done: 'boolean', labels: 'array' }, [{ done: 1, labels: '[1.0, 2e2]' }])
  await migrateTo(client, { done: 'string', labels: 'array' })
  assert.deepEqual(await column(client, 'done'), ['true'])
  await migrateTo(client, { done: 'string', labels: 'json' })
  // As it was written.
  assert.deepEqual(await column(client, 'labels'), ['[1.0, 2e2]'])
  assert.match((await refusal(() => migrateTo(client, { done: 'string', labels: 'object' }))).message, /loses 1 value/)
})

test('comparison keys and search words are filled for existing records', { skip }, async (context) => {
  const rows = [
    { title: 'Ärger', at: '2026-11-21T09:00:00+01:00' },
    { title: null, at: 'someday' },
    { deleted_at: 'then', title: 'arg' },
  ]
  const client = await databaseOf(context, { title: 'string', at: 'string' }, rows)
  const title = { type: 'string', filter: true, search: true } as const
  await migrateTo(client, { title, at: { type: 'string', format: 'date-time' } })
  assert.deepEqual(await column(client, '_folded_title'), ['ärger', null, 'arg'])
  assert.deepEqual(await column(client, '_instant_at'), ['2026-11-21T08:00:00', null, null])
  assert.deepEqual(await find(client, 'arg:*'), ['id1', 'id3'])
})

test('the full-text index follows the search fields', { skip }, async (context) => {
  const search = { type: 'string', search: true } as const
  const client = await databaseOf(context, { title: search, note: 'string' }, [{ title: 'red', note: 'blue' }])
  await migrateTo(client, { title: search, note: search })
  assert.deepEqual([await find(client, 'red'), await find(client, 'blue')], [['id1'], ['id1']])
  await migrateTo(client, { title: 'string', note: search })
  assert.deepEqual([await find(client, 'red'), await find(client, 'blue')], [[], ['id1']])
  await migrateTo(client, { title: 'string', note: search, more: { ...search, default: 'green' } })
  assert.deepEqual(await find(client, 'green'), ['id1'])
})

test('a filled default is compared and found like any value', { skip }, async (context) => {
  const fields = { title: { type: 'string', filter: true, search: true } } as const
  const client = await databaseOf(context, fields, [{}])
  await migrateTo(client, { title: { ...fields.title, required: true, default: 'Some' } })
  assert.deepEqual([await column(client, '_folded_title'), await find(client, 'some')], [['some'], ['id1']])
})

test('items of arrays and members of objects are found in existing records', { skip }, async (context) => {
  const rows = [
    { labels: '["red","blue"]', place: '{"size":3,"ok":true}' },
    { place: '{"size":"3"}', deleted_at: 'then' },
  ]
  const client = await databaseOf(context, { labels: 'array', place: 'object' }, rows)
  const items = fieldFixture('labels', { type: 'string', filter: true })
  const labels = { type: 'array', filter: true, items } as const
  const place = (type: 'string' | 'integer') =>
    ({
      type: 'object',
      members: [
        fieldFixture('place.size', { type, filter: true }),
        fieldFixture('place.ok', { type: 'boolean', filter: true }),
      ],
    }) as const
  const memberColumns = async () => {
    const names = await all(
      client,
      `select column_name as name from information_schema.columns where table_name = 'tasks'
        and table_schema = current_schema() and starts_with(column_name, '_member') order by ordinal_position`,
    )
    return Promise.all(names.map(({ name }) => column(client, String(name))))
  }
  await migrateTo(client, { labels, place: place('integer') })
  assert.deepEqual(await find(client, `'${itemToken('labels', 'red')}'`), ['id1'])
  const [one, two] = await memberColumns()
  assert.deepEqual([one, two], [[3, null], [1, null]]) // biome-ignore format: a line
  await migrateTo(client, { labels, place: place('string') })
  assert.deepEqual((await memberColumns()).slice(1), [[null, '3'], [null, '3']]) // biome-ignore format: a line
  await migrateTo(client, { labels: 'array', place: 'object' })
  assert.deepEqual([await memberColumns(), await relations(client, '%_member_%')], [[], []])
})
