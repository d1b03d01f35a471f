import assert from 'node:assert/strict'
import { test } from 'node:test'
import { always, type Predicate } from '../../model/predicate.ts'
import type { ReadPage, ReadRecord } from '../../plan/plan.ts'
import { listOf } from './list.ts'
import { Memory } from './memory.ts'
import { context, resource } from './query-plan.fixture.ts'

const shelves = resource('shelves')
const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'ann' }
const plan = (id: string, permitted: Predicate = always, fields?: string[]): ReadRecord => ({
  ...{ kind: 'read-record', resource: shelves, id, permitted, fields, conditions: {} },
})
const record = (json: string) => ({ kind: 'record', json, revision: 1, updatedAt: '2026-11-21T08:00:00.000Z' }) as const

test('a cached record is visible to callers with the same read permission', () => {
  const memory = new Memory()
  memory.keep(plan('1'), record('{}'))
  assert.equal(memory.record(plan('1'))?.json, '{}')
  assert.equal(memory.record(plan('2')), undefined)
  assert.equal(memory.record(plan('1', owned)), undefined)
  assert.equal(memory.record({ ...plan('1'), resource: resource('labels') }), undefined)
})

test('only whole records of a moderate size are cached', () => {
  const memory = new Memory()
  memory.keep(plan('1', always, ['name']), record('{}'))
  memory.keep(plan('2'), record('x'.repeat(2_001)))
  assert.equal(memory.record(plan('1')), undefined)
  assert.equal(memory.record(plan('2')), undefined)
  memory.keep(plan('1'), record('{}'))
  assert.equal(memory.record(plan('1', always, ['name'])), undefined)
})

test('the cache is bounded, and is cleared at once', () => {
  const memory = new Memory()
  for (let id = 0; id < 12_000; id++) memory.keep(plan(String(id)), record('{}'))
  const known = Array.from({ length: 12_000 }, (_, id) => memory.record(plan(String(id)))).filter((each) => each)
  assert.ok(known.length <= 5_000 && known.length > 0)
  memory.clocks.set('shelves', { revision: 1, live: 1, checksum: 0 })
  memory.forget()
  assert.equal(memory.record(plan('11999')), undefined)
  assert.equal(memory.clocks.size, 0)
})

test('a cached list does not hold the conditions of its request, which may name thousands of tags', () => {
  const memory = new Memory()
  const request: ReadPage = {
    ...{ kind: 'read-page', resource: shelves, parent: undefined, filter: always, versionFilter: undefined },
    ...{ permitted: always, search: undefined, deleted: undefined, sort: [], fields: undefined, key: '/shelves?' },
    page: { style: 'page', page: 1, perPage: 20 },
    conditions: { ifNoneMatch: Array.from({ length: 4_000 }, () => ({ opaque: 'a', weak: false })) },
  }
  const list = listOf(context, memory, request)
  assert.equal(listOf(context, memory, request), list)
  assert.deepEqual(list.plan.conditions, {})
})
