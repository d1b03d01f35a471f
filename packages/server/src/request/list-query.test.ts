import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { Fault, sentenceOf } from 'resourced-contract/spec/faults'
import { KnownQueries, readListQuery, readMatchFilter } from './list-query.ts'
import { readSummaryQuery } from './summary-query.ts'

const catalog = completeCatalog({
  name: 'x',
  resources: {
    tasks: { fields: { status: { type: 'string', filter: true } } },
    notes: { fields: { status: { type: 'string', filter: true } } },
  },
})
const { resources } = catalog
const tasks = resources.get('tasks')!
const notes = resources.get('notes')!

test('the same query string of the same collection is read once', () => {
  const known = new KnownQueries()
  const query = known.read(tasks, 'status=open', catalog)
  assert.equal(known.read(tasks, 'status=open', catalog), query)
  assert.notEqual(new KnownQueries().read(tasks, 'status=open', catalog), query)
})

test('keys distinguish collections and query strings', () => {
  const known = new KnownQueries()
  const keys = [tasks, notes].flatMap((each) =>
    ['', 'status=open', 'status=done'].map((text) => known.read(each, text, catalog).key),
  )
  assert.ok(!keys.includes(undefined))
  assert.equal(new Set(keys).size, 6)
})

test('a long query string is not kept', () => {
  const known = new KnownQueries()
  const text = `status=${'a'.repeat(500)}`
  const query = known.read(tasks, text, catalog)
  assert.equal(query.key, undefined)
  assert.notEqual(known.read(tasks, text, catalog), query)
})

test('a limited number of query strings is kept, of all collections together', () => {
  const known = new KnownQueries()
  const first = known.read(tasks, 'status=first', catalog)
  for (let number = 0; number < 999; number++) known.read(number % 2 ? notes : tasks, `status=${number}`, catalog)
  assert.equal(known.read(tasks, 'status=first', catalog), first)
  known.read(notes, 'status=last', catalog)
  assert.notEqual(known.read(tasks, 'status=first', catalog), first)
})

test('a refused query string is refused again', () => {
  const known = new KnownQueries()
  for (let attempt = 0; attempt < 2; attempt++) {
    assert.throws(
      () => known.read(tasks, 'other=1', catalog),
      (error) => error instanceof Fault && error.code === 'INVALID_QUERY',
    )
  }
})

const unknown = [{ name: 'includes', value: 'x' }]
const filters = 'the filters id, status, created_at, updated_at.'
const readings: readonly [what: string, read: () => unknown, takes: string][] = [
  ['list', () => readListQuery(tasks, unknown, catalog), 'sort, fields, include, include_deleted and page parameters'],
  [
    'summary',
    () => readSummaryQuery(tasks, unknown, catalog),
    'sort, group, sum, avg, min, max, timezone and page parameters',
  ],
  ['deletion by filter', () => readMatchFilter(tasks, unknown, catalog, 'deleted'), ''],
]

for (const [what, read, takes] of readings) {
  test(`an unknown parameter of a ${what} is refused with those that it takes`, () => {
    assert.throws(read, ({ details }: Fault) => {
      const others = ['where', takes].filter(Boolean).join(', ')
      const [issue] = details.errors ?? []
      assert.equal(issue && sentenceOf(issue), `"includes" is no parameter here. tasks takes ${others}, and ${filters}`)
      return true
    })
  })
}

test('a parameter that is repeated is named', () => {
  const twice = [{ name: 'sort', value: 'created_at' }, { name: 'sort', value: '-updated_at' }] // biome-ignore format: a line
  assert.throws(
    () => readListQuery(tasks, twice, catalog),
    ({ details }: Fault) => sentenceOf(details.errors![0]!).startsWith('sort may be given once; commas separate '),
  )
})

test('a list of what the server makes does not offer include', () => {
  assert.throws(
    () => readListQuery({ ...tasks, made: 'by-server' }, unknown, catalog),
    ({ details }: Fault) => /fields, include_deleted and page/.test(sentenceOf(details.errors![0]!)),
  )
})
