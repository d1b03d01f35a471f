import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allOf, always, type Predicate } from 'resourced-contract/model/predicate'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { postgres } from '../postgres/dialect.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import { catalogFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import { sqlContext } from '../sql/context.ts'
import { liveSql, predicateSql } from '../sql/predicate.ts'
import { visitsFew } from './access-path.ts'
import { listOf } from './list.ts'

const resource = resourceFixture('tasks', {
  title: { type: 'string', sort: true, search: true },
  notes: { type: 'string', filter: true },
  team: { type: 'string', filter: true },
  secret: { type: 'string' },
})
const first: Page = { style: 'page', page: 1, perPage: 50 }
const offset = (offset: number): Page => ({ style: 'offset', offset, limit: 1 })

function pageOf(over: Partial<ReadPage> = {}): ReadPage {
  return {
    ...{ kind: 'read-page', resource, parent: undefined, filter: always, permitted: always, search: undefined },
    ...{ deleted: undefined, sort: [], page: first, fields: undefined, conditions: {} },
    ...over,
  }
}

const compare = (field: string, operator: 'eq' | 'gt' | 'contains', value: string): Predicate => {
  return { kind: 'compare', field, operator, value }
}
const team = compare('team', 'eq', 'red')
const contains = compare('notes', 'contains', 'x')
const through: Predicate = { kind: 'through', field: 'team', collection: 'teams', predicate: team }
const byTitle = { sort: [{ field: 'title', descending: false }] }
const twoFields = { sort: [...byTitle.sort, { field: 'created_at', descending: false }] }

// Of a large collection: what is read, then whether that is few rows if the total has to be counted (never counted
// before, 400 or 40,000 then), and if it is known (400 or 40,000).
type Verdicts = readonly [unknown: boolean, few: boolean, many: boolean, knownFew: boolean, knownMany: boolean]
const never = [false, false, false, false, false] as const
const cases: readonly [name: string, plan: ReadPage, verdicts: Verdicts][] = [
  ['one range of an index', pageOf({ filter: team }), [false, true, false, true, true]],
  ['a permission and no filter', pageOf({ permitted: team }), [false, true, false, true, true]],
  ['a range in another order', pageOf({ filter: team, ...byTitle }), [false, true, false, true, false]],
  ['a range in its order', pageOf({ filter: compare('title', 'gt', 'm'), ...byTitle }), [false, true, false, true, true]],
  ['a range with ties', pageOf({ filter: compare('title', 'gt', 'm'), ...twoFields }), [false, true, false, true, false]],
  ['values', pageOf({ filter: { kind: 'in', field: 'team', values: ['a', 'b'] } }), [false, true, false, true, false]],
  ['a search for one word', pageOf({ search: ['rare'] }), [false, true, false, true, false]],
  ['a search for two words', pageOf({ search: ['rare', 'words'] }), never],
  ['a search and a filter', pageOf({ search: ['rare'], filter: team }), never],
  ['two conditions', pageOf({ filter: { kind: 'and', terms: [team, contains] } }), never],
  ['a permission and a filter', pageOf({ permitted: team, filter: contains }), never],
  ['contains', pageOf({ filter: contains }), never],
  ['a permission by a field without an index', pageOf({ permitted: compare('secret', 'eq', 'x') }), never],
  ['a permission through another collection', pageOf({ permitted: through }), never],
  ['deleted records too', pageOf({ deleted: { permitted: always, since: '2026' } }), never],
  ['ids', pageOf({ filter: { kind: 'in', field: 'id', values: ['a', 'b'] } }), [true, true, true, true, true]],
  ['far into a range', pageOf({ filter: team, page: offset(20_000) }), [false, true, false, true, false]],
  ['a few thousand rows into a range', pageOf({ filter: team, page: offset(9_000) }), [false, true, false, true, true]],
  ['the end of a range', pageOf({ filter: team, page: offset(39_999) }), [false, true, false, true, true]],
] // biome-ignore format: a table

for (const [name, plan, verdicts] of cases) {
  test(`whether a page of a large collection visits few rows: ${name}`, () => {
    const rows = { live: 1_000_000, deleted: 0, others: 0 }
    const known = [[undefined, false], [400, false], [40_000, false], [400, true], [40_000, true]] as const // biome-ignore format: a row
    const decided = known.map(([total, isCurrent]) => visitsFew(plan, { total, isCurrent, ...rows }))
    assert.deepEqual(decided, verdicts)
  })

  test(`a page of a small collection visits few rows: ${name}`, () => {
    const visits = (live: number, deleted: number, others: number) =>
      visitsFew(plan, { total: undefined, isCurrent: false, live, deleted, others })
    assert.deepEqual([visits(900, 90, 10), visits(0, 1_001, 0), visits(0, 0, 1_001)], [true, verdicts[0], verdicts[0]])
  })
}

test('indexes of ids and words contain deleted records, and those of fields do not', () => {
  const visits = (over: Partial<ReadPage>, deleted: number) =>
    visitsFew(pageOf(over), { total: 10, isCurrent: false, live: 1_000_000, deleted, others: 0 })
  const after = { filter: compare('id', 'gt', 'x') }
  const lists = [after, { search: ['rare'] }, { filter: team }]
  assert.deepEqual(
    lists.map((over) => [visits(over, 0), visits(over, 1_000)]),
    [[true, false], [true, false], [true, true]],
  ) // biome-ignore format: a row for each
})

test('a search finds rows by texts that its caller may not read, which no total counts', () => {
  const masked = pageOf({ search: ['rare'], readableFields: { title: { kind: 'never' } } })
  assert.equal(visitsFew(masked, { total: 0, isCurrent: true, live: 1_000_000, deleted: 0, others: 0 }), false)
})

test('everything: a page visits the rows that it skips and the deleted ones of the index of ids', () => {
  const visits = (over: Partial<ReadPage>, deleted: number) =>
    visitsFew(pageOf(over), { total: 1_000_000, isCurrent: true, live: 1_000_000, deleted, others: 0 })
  assert.deepEqual(
    [visits({}, 0), visits({}, 900), visits({}, 1_000), visits(byTitle, 1_000)],
    [true, true, false, true],
  )
  assert.deepEqual([visits({ page: offset(999) }, 0), visits({ page: offset(1_000) }, 0)], [true, false])
  assert.equal(visits({ page: { style: 'cursor', limit: 50, position: undefined } }, 0), true)
  assert.equal(visits(twoFields, 0), false)
})

test('LIM-7, WHR-2: PostgreSQL plans many subqueries one by one, and few of them together', () => {
  const own: Predicate = { kind: 'through', field: 'team', collection: 'tasks', predicate: team }
  const filterOf = (count: number) => allOf(Array.from({ length: count }, () => ({ ...own, predicate: own })))
  const context = sqlContext({ catalog: catalogFixture(resource), dialect: postgres })
  const fences = (count: number) => {
    const filter = filterOf(count)
    const { where } = listOf(context, { lists: new BoundedMap(1) }, pageOf({ filter }))
    const others = [predicateSql(context, resource, filter), liveSql({ ...context, semijoin: 'in' }, resource, filter)]
    return [where, ...others].map((each) => each.sql.split(' offset 0').length - 1)
  }
  assert.deepEqual([...fences(4), ...fences(5)], [0, 0, 0, 10, 10, 10])
})
