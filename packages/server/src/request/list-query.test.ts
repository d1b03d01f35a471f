import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { Fault } from 'resourced-contract/spec/faults'
import { KnownQueries } from './list-query.ts'

const { resources } = completeCatalog({
  name: 'x',
  resources: {
    tasks: { fields: { status: { type: 'string', filter: true } } },
    notes: { fields: { status: { type: 'string', filter: true } } },
  },
})
const tasks = resources.get('tasks')!
const notes = resources.get('notes')!
const pageSize = { default: 20, max: 100 }

test('the same query string of the same collection is read once', () => {
  const known = new KnownQueries()
  const query = known.read(tasks, 'status=open', pageSize)
  assert.equal(known.read(tasks, 'status=open', pageSize), query)
  assert.notEqual(new KnownQueries().read(tasks, 'status=open', pageSize), query)
})

test('keys distinguish collections and query strings', () => {
  const known = new KnownQueries()
  const keys = [tasks, notes].flatMap((each) =>
    ['', 'status=open', 'status=done'].map((text) => known.read(each, text, pageSize).key),
  )
  assert.ok(!keys.includes(undefined))
  assert.equal(new Set(keys).size, 6)
})

test('a long query string is not kept', () => {
  const known = new KnownQueries()
  const text = `status=${'a'.repeat(500)}`
  const query = known.read(tasks, text, pageSize)
  assert.equal(query.key, undefined)
  assert.notEqual(known.read(tasks, text, pageSize), query)
})

test('a limited number of query strings is kept, of all collections together', () => {
  const known = new KnownQueries()
  const first = known.read(tasks, 'status=first', pageSize)
  for (let number = 0; number < 999; number++) known.read(number % 2 ? notes : tasks, `status=${number}`, pageSize)
  assert.equal(known.read(tasks, 'status=first', pageSize), first)
  known.read(notes, 'status=last', pageSize)
  assert.notEqual(known.read(tasks, 'status=first', pageSize), first)
})

test('a refused query string is refused again', () => {
  const known = new KnownQueries()
  for (let attempt = 0; attempt < 2; attempt++) {
    assert.throws(
      () => known.read(tasks, 'other=1', pageSize),
      (error) => error instanceof Fault && error.code === 'INVALID_QUERY',
    )
  }
})
