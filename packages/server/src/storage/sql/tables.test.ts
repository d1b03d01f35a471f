import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Condition } from 'resourced-contract/model/declaration'
import { sqlite } from '../sqlite/dialect.ts'
import { catalogFixture, resourceFixture } from './catalog.fixture.ts'
import { tablesFor } from './system-tables.ts'
import { indexPrefix } from './tables.ts'

const none = { create: [], update: [], delete: [], restore: [], readDeleted: [], readHistory: [] }

function tableOf(...parameters: Parameters<typeof resourceFixture>) {
  return tablesFor(catalogFixture(resourceFixture(...parameters)), sqlite.layout).find(
    (table) => table.name === parameters[0],
  )!
}

function indexesOf(...parameters: Parameters<typeof resourceFixture>) {
  return tableOf(...parameters).indexes.map(
    ({ columns, unique, where }) => `${unique ? 'unique ' : ''}${columns.join(',')} ${where}`,
  )
}

const always = [
  'unique id everything',
  'created_at,id live',
  'updated_at,id live',
  '_deletion deletion',
  'deleted_at deleted',
]

test('the tables of the system come first, in any declaration', () => {
  const names = tablesFor(catalogFixture(), sqlite.layout).map((table) => table.name)
  const kept = ['meta', 'clocks', 'key_hashes', 'idempotency', 'work', 'queue'].map((name) => `resourced_${name}`)
  assert.deepEqual(names, kept)
})

test('a field has its column, and a second column if comparisons use another value', () => {
  const table = tableOf('tasks', {
    title: { type: 'string', filter: true, required: true },
    starts_at: { type: 'string', format: 'date-time' },
    labels: 'array',
  })
  const columns = table.columns.map(({ name, type, required }) => `${name} ${type}${required ? ' required' : ''}`)
  assert.deepEqual(columns, [
    '_row integer',
    'id text',
    'title text required',
    '_folded_title text',
    'starts_at text',
    '_instant_starts_at text',
    'labels json',
    'created_at text',
    'updated_at text',
    'deleted_at text',
    '_deletion text',
    '_revision integer',
  ])
})

test('each filter, sort, reference and owner has an index that ends with the id', () => {
  const fields = {
    size: { type: 'integer', filter: true },
    due: { type: 'string', format: 'date-time', sort: true },
    project_id: { type: 'string', reference: { collection: 'projects', onDelete: 'restrict', requires: 'read' } },
    owner_id: 'string',
    note: 'string',
  } as const
  const expected = ['size,id live', '_instant_due,id live', 'project_id,id live', 'owner_id,id live']
  assert.deepEqual(new Set(indexesOf('tasks', fields, { owner: 'owner_id' })), new Set([...always, ...expected]))
})

test('fields of access conditions are indexed at any depth; fields within JSON are not', () => {
  const where: Condition = { or: [{ team: 'a' }, { not: { level: { gte: 3 } } }, { labels: { null: true } }] }
  const indexes = indexesOf(
    'tasks',
    { team: 'string', level: 'integer', labels: 'array', note: 'string' },
    { access: { read: ['role:admin', { where }], ...none } },
  )
  assert.deepEqual(new Set(indexes), new Set([...always, 'team,id live', 'level,id live']))
})

test('each equality filter has an index with each declared sort', () => {
  const indexes = indexesOf('tasks', {
    status: { type: 'string', enum: ['open', 'done'], filter: true, sort: true },
    urgent: { type: 'boolean', filter: true },
    size: { type: 'integer', filter: true, sort: true },
  })
  const pairs = indexes.filter((each) => each.split(',').length === 3)
  assert.deepEqual(pairs, ['status,size,id live', 'urgent,status,id live', 'urgent,size,id live'])
})

test('unique sets hold among live records, by the compared values of their fields (DEL-11)', () => {
  const fields = { at: { type: 'string', format: 'date-time' }, name: { type: 'string', unique: true } } as const
  const indexes = indexesOf('tasks', fields, { unique: [['name'], ['name', 'at']] })
  assert.ok(indexes.includes('unique name live'))
  assert.ok(indexes.includes('unique name,_instant_at live'))
})

test('rows in the order of positions have only the indexes that readers of events need', () => {
  const fields = {
    record: { type: 'string', format: 'uuid', filter: true },
    kind: { type: 'string', enum: ['a'] },
  } as const
  const indexes = indexesOf('events', fields, { order: 'by-position' })
  assert.deepEqual(indexes, ['unique id everything', 'record everything', 'created_at everything', 'kind removal'])
})

test('an index is named by its definition: another definition has another name', () => {
  const nameOf = (type: 'string' | 'integer') =>
    tableOf('tasks', { size: { type, sort: true } }).indexes.find((index) => index.columns[0] === 'size')!.name
  assert.match(nameOf('integer'), /^tasks_by_size_id_[0-9a-f]{6}$/)
  assert.equal(nameOf('integer'), nameOf('integer'))
  assert.notEqual(nameOf('integer'), nameOf('string'))
})

test('names of indexes fit in 63 bytes, and begin with the readable part of the name', () => {
  const long = 'a-collection-with-a-name-that-goes-on-and-on-for-a-long-while'
  const { indexes } = tableOf(long, { a_field_with_quite_a_name: { type: 'string', sort: true } })
  assert.equal(new Set(indexes.map((index) => index.name)).size, indexes.length)
  for (const { name } of indexes) assert.ok(name.length <= 63 && name.startsWith(indexPrefix(long)), name)
})

test('search fields share one full-text index; without search fields there is none', () => {
  const search = { type: 'string', search: true } as const
  const table = tableOf('tasks', { title: search, size: 'integer', note: search })
  assert.deepEqual(table.search, {
    name: 'resourced_words_tasks',
    table: 'tasks',
    columns: ['title', 'note'],
    arrays: [],
  })
  assert.equal(tableOf('tasks', { title: 'string' }).search, undefined)
})
