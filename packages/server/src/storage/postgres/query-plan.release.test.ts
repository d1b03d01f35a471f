/** QRY-7: no list costs the size of its table. PostgreSQL's plans of the statements that Resourced runs. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import { type Filterable, operatorsFor, sortableNames } from 'resourced-contract/model/resource'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { readListQuery } from '../../request/list-query.ts'
import { sqlContext } from '../sql/context.ts'
import { reachWithin } from '../transactions/delete/cascade.ts'
import { Memory } from '../transactions/memory.ts'
import { catalog, idOf, resource } from '../transactions/query-plan.fixture.ts'
import { readPage } from '../transactions/read-page.ts'
import { postgres } from './dialect.ts'
import { type Explained, openStore } from './query-plan.fixture.ts'

const goods = resource('goods')
const context = sqlContext({ catalog, dialect: postgres, tagSecret: new Uint8Array(32) })
/** Of so few that match, all may be sorted. */
const few = 12_000
/** Beside the rows of a page: those before it, one here and there that does not match, and those of the clocks. */
const aPage = 200

/** The list that a query asks for. */
function list(query: string, more: Partial<ReadPage> = {}): ReadPage {
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
  const { filter, sort, search } = readListQuery(goods, parameters, catalog)
  const page: Page = { style: 'cursor', limit: 20, position: undefined }
  return {
    ...{ kind: 'read-page', resource: goods, parent: undefined, filter, permitted: always, search, deleted: undefined },
    ...{ sort, page, fields: ['id'], conditions: {} },
    ...more,
  }
}

const values: Readonly<Record<string, string>> = {
  ...{
    id: idOf(500),
    name: 'n500',
    note: 'm77',
    kind: 'b',
    fresh: 'true',
    size: '997',
    weight: '36500',
    day: '2028-03-01',
  },
  ...{ due: '2020-12-25T00:00:00Z', shelf_id: idOf(3), label_id: idOf(4) },
  ...{ created_at: '2020-11-20T00:00:00Z', updated_at: '2020-11-20T00:00:00Z' },
}
const all = goods.filterables
const sorts = sortableNames(goods).flatMap((name) => [name, `-${name}`])
const isFew = ({ field }: Filterable) =>
  field !== undefined && (field.reference !== undefined || field.enum !== undefined || field.type === 'boolean')

const store = await openStore()
after(() => store.close())

/** Reads the pages that a client might: first, next, previous, and one by its offset. */
async function read(plan: ReadPage): Promise<{ pages: Explained[]; total: Explained[] }> {
  const statements: Explained[] = []
  const take = async (page: Page): Promise<PageOutcome> => {
    const { result, statements: run } = await store.explained(readPage(context, new Memory(), { ...plan, page }))
    assert.ok(result.kind === 'page', result.kind)
    statements.push(...run)
    return result
  }
  const { next } = await take({ style: 'cursor', limit: 20, position: undefined })
  if (next !== undefined) {
    const second = await take({ style: 'cursor', limit: 20, position: { direction: 'forward', keys: next } })
    const keys = second.previous ?? []
    await take({ style: 'cursor', limit: 20, position: { direction: 'backward', keys } })
  }
  await take({ style: 'offset', offset: 40, limit: 20 })
  const isTotal = ({ text }: Explained) => text.startsWith('select count(*) as total')
  return { pages: statements.filter((each) => !isTotal(each)), total: statements.filter(isTotal) }
}

/** Fails where a page costs more than so many rows. */
async function pagesCost(bound: number, query: string, more: Partial<ReadPage> = {}): Promise<void> {
  const { pages, total } = await read(list(query, more))
  for (const { text, looked, sorted, scanned } of pages) {
    assert.ok(looked <= bound && sorted <= bound, `${query}: looks at ${looked}, sorts ${sorted}: ${text}`)
    assert.ok(!scanned.includes('goods'), `${query}: ${text}`)
  }
  // To count most of a table, it is read.
  if (bound === few) for (const { text, scanned } of total) assert.ok(!scanned.includes('goods'), `${query}: ${text}`)
}

test('QRY-7: one index has the rows of an equality, or of null, in order', async () => {
  for (const { name, field } of all) {
    await pagesCost(aPage, `${name}=${values[name]}`)
    if (field?.required === false) await pagesCost(aPage, `${name}[null]=true`)
  }
  for (const { name } of all.filter(isFew)) {
    for (const sort of sorts.filter((each) => !/_at$/.test(each) && each.replace('-', '') !== name)) {
      await pagesCost(aPage, `${name}=${values[name]}&sort=${sort}`)
    }
  }
})

test('QRY-7: one index has the rows of a parent, of a range and of an owner, in order', async () => {
  const parent = { resource: resource('shelves'), id: idOf(7), field: 'shelf_id', permitted: always }
  for (const sort of sorts.filter((each) => !/_at$/.test(each))) await pagesCost(aPage, `sort=${sort}`, { parent })
  for (const { name } of all.filter((each) => operatorsFor(each).includes('gt'))) {
    await pagesCost(aPage, `${name}[gte]=${values[name]}&sort=${name}`)
    await pagesCost(aPage, `${name}[lt]=${values[name]}&sort=-${name}`)
  }
  await pagesCost(aPage, '', { permitted: { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' } })
})

test('WHR-5: ids are found by the primary key, whatever else a list asks for', async () => {
  const ids = [7, 3, 12_345, 19_999, 8, 500_000].map(idOf).join()
  const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' }
  const through: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: owned }
  const parent = { resource: resource('shelves'), id: idOf(7), field: 'shelf_id', permitted: always }
  const deleted = { since: '2019', only: false, permitted: always } as const
  const lists: [query: string, more?: Partial<ReadPage>][] = [
    ...['', ...sorts.map((sort) => `&sort=${sort}`)].map((query): [string] => [query]),
    ...['&kind=c', '&kind=c&sort=-name', '&size[gt]=3', '&name[contains]=n'].map((query): [string] => [query]),
    ...['', '&sort=-size'].flatMap((query) =>
      [{ parent }, { permitted: owned }, { permitted: through }, { deleted }].map((more): [string, typeof more] => [
        query,
        more,
      ]),
    ),
    ['', { permitted: { kind: 'or', terms: [owned, through] } }],
  ]
  for (const [query, more] of lists) {
    const { pages, total } = await read(list(`id[in]=${ids}${query}`, more))
    for (const { text, looked, scanned } of [...pages, ...total]) {
      // A clock has some dozen rows.
      assert.ok(looked <= aPage && !scanned.includes('goods'), `${query}: looks at ${looked}: ${text}`)
    }
  }
})

test('QRY-3: an unfiltered list in each order is an index scan that ends with the page', async () => {
  for (const query of ['', ...sorts.map((sort) => `sort=${sort}`)]) await pagesCost(aPage, query)
})

test('QRY-2, QRY-5: a selective filter finds its rows by an index and sorts them', async () => {
  for (const each of all) {
    for (const operator of operatorsFor(each)) {
      if (['null', 'not', 'contains', 'lt', 'lte'].includes(operator)) continue
      const value = values[each.name]
      await pagesCost(few, `${each.name}[${operator}]=${operator === 'in' ? `${value},${value}` : value}`)
    }
  }
  for (const query of ['kind=b&sort=-created_at', 'sort=-name&size[gt]=990', 'q=n500', 'q=n500&sort=-weight']) {
    await pagesCost(few, query)
  }
})

test('AUT-6: records that a caller may read by ownership, of the record or of its parent, are found from the owner', async () => {
  const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' }
  const through: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: owned }
  const link: Predicate = { kind: 'outer', field: 'id', operator: 'eq', outer: 'shelf_id' }
  const lookup: Predicate = { kind: 'some', collection: 'shelves', predicate: { kind: 'and', terms: [link, owned] } }
  for (const permitted of [through, lookup, { kind: 'or', terms: [owned, through] } satisfies Predicate]) {
    for (const query of ['', 'sort=-name', 'size[gt]=500']) await pagesCost(few, query, { permitted })
  }
})

test('QRY-2: an unselective filter scans the index of the order, without sorting', async () => {
  const queries = ['name[gt]=a', 'note[null]=false', 'kind[in]=a,c', 'kind=a&kind=c&sort=name', 'size[lt]=900']
  const others = ['weight[gte]=1&sort=-day', 'due[gt]=2020-01-01T00:00:00Z', 'kind=c&sort=created_at', 'q=n']
  for (const query of [...queries, ...others]) await pagesCost(1_000, query)
  for (const { name } of all) await pagesCost(1_000, `${name}[not]=${values[name]}`)
  const nearly: Predicate = { kind: 'compare', field: 'owner_id', operator: 'gt', value: 'u1' }
  const permitted: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: nearly }
  // The shelves are not all read for a page of goods.
  await pagesCost(300, 'sort=-size', { permitted })
})

test('DEL-8: the check whether a deletion cascades to too many records reads at most that many, in the order of their ids', async () => {
  const { result, statements } = await store.explained(reachWithin(context, resource('shelves'), [idOf(3)], 10))
  assert.equal(result.isComplete, false)
  const { sorted, scanned, looked, text } = statements[0] as Explained
  assert.deepEqual([sorted, scanned], [0, []], text)
  assert.ok(looked <= 2 * 11 + 1, `${looked} rows: ${text}`)
})
