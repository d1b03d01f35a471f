/**
 * QRY-7: no batch of an export costs more than its size. SQLite's plan of each statement in the middle of an export.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import { sortableNames } from 'resourced-contract/model/resource'
import { type ExportBatch, exportRows } from './export-rows.ts'
import { context, costsOf, type Explained, explained, idOf, openStore, resource } from './query-plan.fixture.ts'

const store = openStore()
after(() => store.close())
const goods = resource('goods')
const nothing = { scans: [], walks: [], sorts: [] }

/** The statements of the batch that begins somewhere in the middle of an export, and of the one after it. */
function middle(more: Partial<ExportBatch>, skipped = 7_001): Explained[] {
  const batch: ExportBatch = {
    ...{ resource: goods, filter: always, permitted: always, sort: [], fields: ['name'], format: 'csv' },
    ...{ after: undefined, limit: skipped },
    ...more,
  }
  const { last } = store.run(exportRows(context, batch))
  assert.ok(last !== undefined, 'it is the middle')
  const first = explained(store, exportRows(context, { ...batch, after: last, limit: 10 }))
  const second = explained(store, exportRows(context, { ...batch, after: first.result.last, limit: 10 }))
  return [...first.statements, ...second.statements]
}

const sorts = sortableNames(goods).flatMap((field) => [false, true].map((descending) => ({ field, descending })))
const equal = (field: string, value: string) => ({ kind: 'compare', field, operator: 'eq', value }) as const

describe('a batch in the middle of an export starts at its position in an index', () => {
  test('QRY-7: in the order of the ids, and in each order that lists have', () => {
    assert.deepEqual(costsOf(middle({})), nothing)
    for (const term of sorts) assert.deepEqual(costsOf(middle({ sort: [term] })), nothing, JSON.stringify(term))
  })

  test('QRY-7: with a filter on any indexed field', () => {
    const filters: Predicate[] = [
      { kind: 'compare', field: 'size', operator: 'gt', value: 3 },
      { kind: 'in', field: 'kind', values: ['a', 'b'] },
      { kind: 'compare', field: 'name', operator: 'startsWith', value: 'n1' },
      equal('created_at', '2020-09-27T00:00:00.000Z'),
      equal('code', 'c7'),
      { kind: 'or', terms: [equal('owner_id', 'u3'), { kind: 'null', field: 'day' }] },
    ]
    for (const filter of filters) {
      for (const term of [...sorts, undefined]) {
        const costs = costsOf(middle({ filter, sort: term === undefined ? [] : [term] }))
        assert.deepEqual(costs, nothing, JSON.stringify([filter, term]))
      }
    }
  })

  test('AUT-6: records of an owner are read without the others', () => {
    const permitted = equal('owner_id', 'u3')
    for (const batch of [{ permitted }, { permitted, filter: equal('kind', 'a') }]) {
      const statements = middle(batch, 50)
      assert.deepEqual(costsOf(statements), nothing)
      assert.match(String(statements[0]?.steps[0]), /owner_id=\? AND id>\?/)
    }
  })

  test('WHR-5: with ids, only their records are read', () => {
    const filter: Predicate = {
      kind: 'in',
      field: 'id',
      values: Array.from({ length: 500 }, (_, number) => idOf(number)),
    }
    for (const each of [filter, { kind: 'and', terms: [equal('kind', 'c'), filter] } satisfies Predicate]) {
      for (const term of [...sorts, undefined]) {
        const statements = middle({ filter: each, sort: term === undefined ? [] : [term] }, 100)
        const { scans, walks } = costsOf(statements)
        assert.deepEqual([scans, walks], [[], []])
        for (const { steps } of statements) assert.match(String(steps[0]), /INDEX goods_by_id_\w+ \(id=\?/)
      }
    }
  })

  test('QRY-7: with an equality filter, in each declared order', () => {
    for (const filter of [equal('kind', 'a'), equal('shelf_id', idOf(7)), { kind: 'null', field: 'fresh' } as const]) {
      for (const term of sorts.filter(({ field }) => goods.field.has(field) && field !== filter.field)) {
        const statements = middle({ filter, sort: [term] }, 20)
        assert.deepEqual(costsOf(statements), nothing, JSON.stringify([filter, term]))
        for (const { steps } of statements) assert.match(String(steps[0]), new RegExp(`${filter.field}=\\?`))
      }
    }
  })

  test('QRY-3: with several sort fields, only ties in the first are sorted', () => {
    const term = (field: string, descending = false) => ({ field, descending })
    for (const sort of [
      [term('size'), term('name')],
      [term('size', true), term('weight')],
      [term('size'), term('due', true)],
    ]) {
      for (const { steps } of middle({ sort })) assert.match(String(steps[0]), /^SEARCH .*\((?:size[<>]|\w+=)\?/)
    }
  })
})
