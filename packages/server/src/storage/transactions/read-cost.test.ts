import assert from 'node:assert/strict'
import { test } from 'node:test'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { resourceFixture } from '../sql/catalog.fixture.ts'
import type { List } from './list.ts'
import { mayTakeLong, Paces, quick } from './read-cost.ts'

const resource = resourceFixture('tasks', {
  title: { type: 'string', sort: true, search: true },
  notes: { type: 'string', filter: true },
  team: { type: 'string', filter: true },
})
const first: Page = { style: 'page', page: 1, perPage: 50 }

function pageOf(over: Partial<ReadPage> = {}): ReadPage {
  return {
    ...{ kind: 'read-page', resource, parent: undefined, filter: always, permitted: always, search: undefined },
    ...{ deleted: undefined, sort: [], page: first, fields: undefined, conditions: {} },
    ...over,
  }
}

const compare = (field: string, operator: 'eq' | 'contains', value: string): Predicate => {
  return { kind: 'compare', field, operator, value }
}
const team = compare('team', 'eq', 'red')
const contains = compare('notes', 'contains', 'x')

// The first column: what is read; then whether it may take long if the total has to be counted, and if it is known.
const cases: readonly [name: string, plan: ReadPage, counting: boolean, withTotal: boolean][] = [
  ['everything', pageOf(), false, false],
  ['one range of an index', pageOf({ filter: team }), false, false],
  ['two conditions', pageOf({ filter: { kind: 'and', terms: [team, contains] } }), true, false],
  ['ids', pageOf({ filter: { kind: 'in', field: 'id', values: ['a', 'b'] } }), false, false],
  [
    'ids beside other conditions',
    pageOf({ filter: { kind: 'and', terms: [contains, compare('id', 'eq', 'a')] } }),
    false,
    false,
  ],
  ['contains', pageOf({ filter: contains }), true, false],
  ['a permission and no filter', pageOf({ permitted: team }), false, false],
  ['a permission and a filter', pageOf({ permitted: team, filter: contains }), true, false],
  ['a search', pageOf({ search: ['rare', 'words'] }), true, false],
  ['a search with a short prefix', pageOf({ search: ['rare', 'w'] }), true, true],
  ['a search for nothing', pageOf({ search: [] }), true, false],
  ['deleted records too', pageOf({ deleted: { permitted: always, since: '2026' } }), true, false],
  ['the 61st page of 50', pageOf({ page: { ...first, page: 61 } }), false, false],
  ['the 62nd page of 50', pageOf({ page: { ...first, page: 62 } }), true, true],
  ['an offset of half a million', pageOf({ page: { style: 'offset', offset: 500_000, limit: 1 } }), true, true],
  ['the last record by offset', pageOf({ page: { style: 'offset', offset: 999_999, limit: 1 } }), true, false],
  ['a page past the end', pageOf({ page: { style: 'offset', offset: 2_000_000, limit: 1 } }), true, false],
  ['a page by cursor', pageOf({ page: { style: 'cursor', limit: 50, position: undefined } }), false, false],
]

for (const [name, plan, counting, withTotal] of cases) {
  test(`an unknown list of a large collection may take long: ${name}`, () => {
    const live = 1_000_000
    const decided = [undefined, live].map((total) => mayTakeLong(plan, { live, total }))
    assert.deepEqual(decided, [counting, withTotal])
  })

  test(`no list of a small collection is expected to take long: ${name}`, () => {
    assert.equal(mayTakeLong(plan, { live: 10_000, total: undefined }), false)
  })
}

const listOf = (plan: ReadPage) => ({ plan }) as List
const large = { live: 1_000_000, total: undefined }

test('a list that was slow goes to a thread, and one that was quick comes back', () => {
  const paces = new Paces()
  const list = listOf(pageOf({ filter: team }))
  assert.equal(paces.isLong(list, large), false)
  paces.learn(list, large, quick + 1)
  assert.equal(paces.isLong(list, large), true)
  assert.equal(paces.isLong(list, { ...large, total: 1_000_000 }), false, 'with its total it is another read')
  paces.learn(list, large, quick)
  assert.equal(paces.isLong(list, large), false)
})

test('a new list is expected to take as long as the last one of its form', () => {
  const paces = new Paces()
  const red = listOf(pageOf({ filter: team }))
  paces.learn(red, large, 100)
  const blue = listOf(pageOf({ filter: compare('team', 'eq', 'blue') }))
  assert.equal(paces.isLong(blue, large), true)
  paces.learn(blue, large, 1)
  assert.equal(paces.isLong(blue, large), false)
  assert.equal(paces.isLong(red, large), true, 'each list has its own pace')
  const others = [
    pageOf({ filter: team, sort: [{ field: 'title', descending: true }] }),
    pageOf({ filter: contains }),
    pageOf({ permitted: team }),
  ]
  const expected = others.map((plan) => mayTakeLong(plan, large))
  assert.deepEqual(
    others.map((plan) => paces.isLong(listOf(plan), large)),
    expected,
  )
})

test('one quick search does not make other searches with a short prefix quick', () => {
  const paces = new Paces()
  paces.learn(listOf(pageOf({ search: ['q'] })), large, 1)
  assert.equal(paces.isLong(listOf(pageOf({ search: ['a'] })), large), true)
})

test('many forms of queries take a bounded memory', () => {
  const paces = new Paces()
  for (let number = 0; number < 5_000; number++) {
    const terms = Array.from({ length: number % 50 }, () => (number % 3 === 0 ? team : contains))
    paces.learn(listOf(pageOf({ filter: { kind: 'and', terms }, page: { ...first, page: number } })), large, 100)
  }
  assert.equal(paces.isLong(listOf(pageOf()), large), false)
})
