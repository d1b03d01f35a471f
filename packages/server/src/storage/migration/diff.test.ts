import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogFixture, type FieldFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import { tablesFor } from '../sql/system-tables.ts'
import type { TableSpec } from '../sql/tables.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { type ExistingSchema, planMigration } from './diff.ts'

type Fields = Readonly<Record<string, FieldFixture>>

function tasks(fields: Fields): TableSpec[] {
  return tablesFor(catalogFixture(resourceFixture('tasks', fields)), sqlite.layout)
}

function existing(tables: readonly TableSpec[], foreign: string[] = []): ExistingSchema {
  return {
    foreign,
    tables: tables.map(({ name, columns, indexes, search }) => ({
      ...{ name, columns, indexes: indexes.map((index) => index.name), invalidIndexes: [], hasClock: true },
      search: search && { columns: search.columns, isComplete: true },
    })),
  }
}

/** The kinds of the steps between two declarations of one resource, those of its indexes left out. */
function kinds(before: Fields, after: Fields): string[] {
  return planMigration(existing(tasks(before)), tasks(after))
    .filter((step) => !step.kind.endsWith('-index'))
    .map((step) =>
      'column' in step && typeof step.column === 'object' ? `${step.kind} ${step.column.name}` : step.kind,
    )
}

test('a database that fits needs no steps', () => {
  const all = tasks({ title: { type: 'string', search: true, filter: true, required: true }, labels: 'array' })
  assert.deepEqual(planMigration(existing(all), all), [])
})

test('a default that is added later leaves existing records unchanged', () => {
  assert.deepEqual(kinds({ size: 'integer' }, { size: { type: 'integer', default: 1 } }), [])
})

test('a table is created, then counted, and indexed last', () => {
  const plan = planMigration({ tables: [], foreign: [] }, tasks({ title: { type: 'string', search: true } }))
  const ofTasks = plan.filter((step) => step.table === 'tasks').map((step) => step.kind)
  assert.deepEqual([...new Set(ofTasks)], ['create-table', 'set-clock', 'build-search', 'create-index'])
})

test('a new column gets its default before derived columns are filled', () => {
  const added = { type: 'string', filter: true, search: true, default: 'x', required: true } as const
  assert.deepEqual(kinds({}, { title: added }), [
    'add-column title',
    'fill-default title',
    'add-column _folded_title',
    'derive-column _folded_title',
    'build-search',
  ])
})

test('a newly required field is filled with its default; without one, missing values are counted', () => {
  assert.deepEqual(kinds({ a: 'string' }, { a: { type: 'string', required: true } }), ['require'])
  const withDefault = { type: 'string', required: true, default: 'x' } as const
  assert.deepEqual(kinds({ a: 'string' }, { a: withDefault }), ['fill-default a'])
  assert.deepEqual(kinds({ a: withDefault }, { a: 'string' }), ['allow-null'])
})

test('missing values of a required field are counted again after its type changes', () => {
  const required = (type: 'string' | 'integer') => ({ a: { type, required: true } })
  assert.deepEqual(kinds(required('string'), required('integer')), ['change-type a', 'require'])
})

test('another string format keeps the values and fills new comparison keys', () => {
  const before = { type: 'string', filter: true } as const
  assert.deepEqual(kinds({ at: before }, { at: { ...before, format: 'date-time' } }), [
    'drop-column',
    'add-column _instant_at',
    'derive-column _instant_at',
  ])
})

test('an index is dropped before one of its columns changes, and built again afterwards', () => {
  const sorted = (type: 'integer' | 'number') => tasks({ size: { type, sort: true } })
  const plan = planMigration(existing(sorted('integer')), sorted('number')).map((step) => step.kind)
  assert.deepEqual(plan, ['drop-index', 'change-type', 'create-index'])
})

test('a foreign table with a needed name blocks the migration', () => {
  const [step, ...rest] = planMigration(existing(tasks({}).slice(0, -1), ['tasks']), tasks({}))
  assert.equal(step?.kind, 'blocked')
  assert.equal(step?.impossible, true)
  assert.deepEqual(rest, [])
})
