/** QRY-7: no list and no write costs the size of a table. SQLite's plans of the statements that Resourced runs. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  allOf,
  always,
  type Comparable,
  comparisonKeys,
  matches,
  type Position,
  type Predicate,
} from 'resourced-contract/model/predicate'
import {
  type Filterable,
  operatorsFor,
  type RecordValues,
  type Resource,
  sortableNames,
} from 'resourced-contract/model/resource'
import { compareText } from 'resourced-contract/model/text'
import sql from 'sql-template-tag'
import type { PageOutcome } from '../../plan/outcome.ts'
import type { Conditions, Page, ReadPage } from '../../plan/plan.ts'
import { readListQuery } from '../../request/list-query.ts'
import { recordOf } from '../sql/records.ts'
import { deleteRecord } from './delete/delete.ts'
import { purgeRecords } from './delete/purge.ts'
import { Memory } from './memory.ts'
import {
  catalog,
  context,
  costsOf,
  type Explained,
  explained,
  idOf,
  openStore,
  resource,
} from './query-plan.fixture.ts'
import { readPage } from './read-page.ts'
import { restoreRecord } from './restore.ts'

const store = openStore()
after(() => store.close())
const goods = resource('goods')
const conditions: Conditions = {}

/** The list that a query asks for. */
function list(query: string, more: Partial<ReadPage> = {}, of = goods): ReadPage {
  const parameters =
    query === ''
      ? []
      : query
          .split('&')
          .map((part) => ({ name: part.split('=')[0] as string, value: part.slice(part.indexOf('=') + 1) }))
  const { filter: own, related, sort } = readListQuery(of, parameters, catalog)
  const filter = allOf([own, related])
  const page: Page = { style: 'cursor', limit: 20, position: undefined }
  return {
    ...{ kind: 'read-page', resource: of, parent: undefined, filter, permitted: always, search: undefined },
    ...{ deleted: undefined, sort, page, fields: ['id'], conditions },
    ...more,
  } as ReadPage
}

const nested = { resource: resource('shelves'), id: idOf(7), field: 'shelf_id', permitted: always }

/** Reads the pages that a client might: first, next, previous, and some by offset and number; checks what they hold. */
function read(plan: ReadPage): Explained[] {
  const statements: Explained[] = []
  const expected = plan.resource === goods ? expectedOf(plan) : undefined
  const take = (page: Page, from: number): PageOutcome => {
    const { result, statements: run } = explained(store, readPage(context, new Memory(), { ...plan, page }))
    assert.ok(result.kind === 'page', result.kind)
    statements.push(...run)
    if (expected !== undefined) {
      const ids = (JSON.parse(`[${result.json}]`) as { id: string }[]).map((each) => each.id)
      assert.deepEqual(ids, expected.slice(from, from + 20))
      assert.equal(result.total, expected.length)
    }
    return result
  }
  const at = (direction: Position['direction'], keys: Position['keys'] | undefined): Page => {
    return { style: 'cursor', limit: 20, position: keys && { direction, keys } }
  }
  const first = take(at('forward', undefined), 0)
  if (first.next !== undefined) {
    const second = take(at('forward', first.next), 20)
    take(at('backward', second.previous), 0)
  }
  take({ style: 'offset', offset: 40, limit: 20 }, 40)
  take({ style: 'page', page: 2, perPage: 20 }, 20)
  return statements
}

const rows = store.all(sql`select * from goods`).map((row) => recordOf(goods, row))
const shelves = store
  .all(sql`select * from shelves`)
  .map((row) => comparisonKeys(resource('shelves'), recordOf(resource('shelves'), row)))
const keys = new Map<RecordValues, Comparable>(rows.map((row) => [row, comparisonKeys(goods, row)]))
const orders = new Map<string, RecordValues[]>()

/** The ids of a list by the plainest means. */
function expectedOf(plan: ReadPage): unknown[] {
  const key = JSON.stringify(plan.sort)
  const ordered =
    orders.get(key) ?? rows.toSorted((left, right) => compare(plan, keys.get(left) ?? {}, keys.get(right) ?? {}))
  orders.set(key, ordered)
  const holds = (row: RecordValues) =>
    (plan.parent === undefined || row[plan.parent.field] === plan.parent.id) &&
    [plan.filter, plan.permitted].every((each) => matches(keys.get(row) ?? {}, each, () => shelves))
  return ordered.filter(holds).map((row) => row['id'])
}

function compare({ sort }: ReadPage, left: Comparable, right: Comparable): number {
  for (const { field, descending } of [...sort, { field: 'id', descending: sort.at(-1)?.descending ?? false }]) {
    const [a, b] = [left[field] ?? null, right[field] ?? null]
    const unset = Number(a === null) - Number(b === null)
    const order =
      unset !== 0 ? unset : a === null ? 0 : typeof a === 'string' ? compareText(a, String(b)) : Number(a) - Number(b)
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

const nothing = { scans: [], walks: [], sorts: [] }
const few: Readonly<Record<string, string>> = {
  ...{
    id: idOf(500),
    name: 'n500',
    note: 'm77',
    kind: 'b',
    fresh: 'true',
    size: '997',
    weight: '7395',
    day: '2028-03-01',
  },
  ...{ due: '2020-12-25T00:00:00Z', shelf_id: idOf(3), label_id: idOf(4) },
  ...{ created_at: '2020-09-27T00:00:00Z', updated_at: '2020-09-27T00:00:00Z' },
}
const sorts = sortableNames(goods).flatMap((name) => [name, `-${name}`])
const declared = sorts.filter((sort) => !/_at$/.test(sort))
const all = goods.filterables
const isFew = ({ field }: Filterable) =>
  field !== undefined && (field.reference !== undefined || field.enum !== undefined || field.type === 'boolean')

describe('one index has the rows and their order', () => {
  test('QRY-7: each filter by equality, and by null', () => {
    for (const { name, field } of all) {
      assert.deepEqual(costsOf(read(list(`${name}=${few[name]}`))), nothing, name)
      if (field?.required === false) assert.deepEqual(costsOf(read(list(`${name}[null]=true`))), nothing, name)
    }
  })

  test('QRY-7: each equality filter with each declared sort', () => {
    for (const { name } of all.filter(isFew)) {
      for (const sort of declared.filter((each) => each.replace('-', '') !== name)) {
        assert.deepEqual(costsOf(read(list(`${name}=${few[name]}&sort=${sort}`))), nothing, `${name} ${sort}`)
      }
    }
  })

  test('QRY-7: a nested list, plain and with each declared sort', () => {
    for (const query of ['', ...declared.map((sort) => `sort=${sort}`)]) {
      assert.deepEqual(costsOf(read(list(query, { parent: nested }))), nothing, query)
    }
  })

  test('QRY-7: a range in the order of its own field', () => {
    for (const { name } of all.filter((each) => operatorsFor(each).includes('gt'))) {
      for (const query of [`${name}[gte]=${few[name]}&sort=${name}`, `${name}[lt]=${few[name]}&sort=-${name}`]) {
        assert.deepEqual(costsOf(read(list(query))), nothing, query)
      }
    }
  })

  test('AUT-6: the records of an owner', () => {
    const permitted: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' }
    assert.deepEqual(costsOf(read(list('', { permitted }))), nothing)
  })
})

describe('ids are found by the primary key, whatever else a list asks for', () => {
  const ids = [7, 3, 12_345, 19_999, 8, 50_000].map(idOf).join()
  const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' }
  const through: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: owned }
  const deleted = { since: '2019', only: false, permitted: always } as const
  const lists: readonly (readonly [query: string, more?: Partial<ReadPage>])[] = [
    ...['', ...sorts.map((sort) => `&sort=${sort}`)].map((query) => [query] as const),
    ...['&kind=c', '&kind=c&sort=-name', '&size[gt]=3', '&name[contains]=n', `&id[not]=${idOf(7)}`].map(
      (each) => [each] as const,
    ),
    ...['', '&sort=-size'].flatMap((query) =>
      [{ parent: nested }, { permitted: owned }, { permitted: through }, { deleted }].map(
        (more) => [query, more] as const,
      ),
    ),
    ['', { permitted: { kind: 'or', terms: [owned, through] } }],
  ]
  for (const [query, more = {}] of lists) {
    test(`WHR-5: ${query} ${Object.keys(more).join()}`, () => {
      const plan = list(`id[in]=${ids}${query}`, more)
      const statements =
        more.deleted === undefined ? read(plan) : explained(store, readPage(context, new Memory(), plan)).statements
      const { scans, walks } = costsOf(statements)
      assert.deepEqual([scans, walks], [[], []])
      const searched = statements.flatMap(({ steps }) => steps.filter((step) => / t (?:AS )?USING/.test(step)))
      assert.ok(searched.length > 0)
      for (const step of searched) assert.match(step, /^SEARCH (?:t USING .*\bid=\?|.* shelves_by_id)/)
    })
  }
})

test('QRY-3: an unfiltered list in each order is an index scan that ends with the page', () => {
  for (const query of ['', ...sorts.map((sort) => `sort=${sort}`)]) {
    const { scans, sorts: sorted } = costsOf(read(list(query)))
    assert.deepEqual([scans, sorted], [[], []], query)
  }
})

describe('if no index has both, the total decides', () => {
  const owned: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' }
  const through: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: owned }

  test('QRY-2: a selective filter finds its rows by an index and sorts them', () => {
    const queries = all.flatMap((each) =>
      operatorsFor(each).flatMap((operator) => {
        if (operator === 'null' || operator === 'not' || operator === 'contains') return []
        // With a value for which `gt` selects few rows, `lt` selects many.
        if (operator === 'lt' || operator === 'lte') return []
        return [`${each.name}[${operator}]=${few[each.name]}${operator === 'in' ? `,${few[each.name]}` : ''}`]
      }),
    )
    const together = all
      .filter(isFew)
      .flatMap(({ name }) => [`${name}=${few[name]}&sort=-created_at`, `${name}=${few[name]}&sort=updated_at`])
    for (const query of [...queries, ...together, 'sort=-name&size[gt]=990', 'note=m77&sort=weight']) {
      const { scans, walks } = costsOf(read(list(query)))
      assert.deepEqual([scans, walks], [[], []], query)
    }
  })

  test('AUT-6: records that a caller may read by ownership of a parent are found from the owner', () => {
    for (const permitted of [through, { kind: 'or', terms: [owned, through] } satisfies Predicate]) {
      for (const query of ['', 'sort=-name', 'size[gt]=500']) {
        const { scans, walks } = costsOf(read(list(query, { permitted })))
        assert.deepEqual([scans, walks], [[], []], query)
      }
    }
    const chain: Predicate = { kind: 'through', field: 'good_id', collection: 'goods', predicate: through }
    const { scans, walks } = costsOf(read(list('', { resource: resource('parts'), permitted: chain })))
    assert.deepEqual([scans, walks], [[], []])
  })

  test('WHR-2: records are found from the related records that a filter finds, each by an index', () => {
    const queries: [query: string, of: Resource][] = [
      ['shelf.name=n7', goods],
      ['shelf.name[in]=n7,n8&sort=-created_at', goods],
      ['shelf.name[starts_with]=n19&sort=name', goods],
      // An index of a field with few values would find many.
      ['shelf.name=n7&kind=b', goods],
      ['shelf.name=n7&fresh=true&sort=size', goods],
      ['shelf.open=true&kind=b&sort=name', goods],
      ['shelf.name=n7&sort=shelf.name', goods],
      ['parts.name=n7', goods],
      ['good.shelf.name=n7', resource('parts')],
      ['goods.name=n77', resource('shelves')],
      ['goods.parts.name=n7', resource('shelves')],
    ]
    for (const [query, of] of queries) {
      const { statements } = explained(store, readPage(context, new Memory(), list(query, {}, of)))
      const { scans, walks } = costsOf(statements)
      assert.deepEqual([scans, walks], [[], []], query)
      const few = statements.flatMap(({ steps }) => steps.filter((step) => /by_(?:kind|fresh)_/.test(step)))
      assert.deepEqual(few, [], query)
    }
    // Any of several conditions, each by its index.
    const either: Predicate = { kind: 'or', terms: [list('shelf.name=n7').filter, list('name=n5').filter] }
    const { scans, walks } = costsOf(
      explained(store, readPage(context, new Memory(), list('', { filter: either }))).statements,
    )
    assert.deepEqual([scans, walks], [[], []])
    // If the other collection is larger, each row looks for its own record.
    const memory = new Memory()
    memory.clocks.set('goods', { revision: 1, live: 200 }).set('shelves', { revision: 1, live: 20_000 })
    const many = explained(store, readPage(context, memory, list('shelf.open=true'))).statements
    assert.ok(many.some(({ sql }) => sql.includes('exists (select 1 from "shelves"')))
  })

  test('AUT-6: records that a lookup permits are found from the records that it finds, each by an index', () => {
    const terms: Predicate[] = [
      { kind: 'outer', field: 'id', operator: 'eq', outer: 'shelf_id' },
      { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'u3' },
    ]
    const lookup: Predicate = { kind: 'some', collection: 'shelves', predicate: { kind: 'and', terms } }
    const either: Predicate = { kind: 'or', terms: [owned, lookup] }
    for (const [query, permitted] of [
      ['size[gt]=900', lookup],
      ['sort=-name', lookup],
      ['', either],
    ] as const) {
      const { scans, walks } = costsOf(read(list(query, { permitted })))
      assert.deepEqual([scans, walks], [[], []], query)
    }
    // Records for which nothing is found have no index, but each of them is checked by one.
    const none = list('', { permitted: { kind: 'not', term: lookup } })
    const steps = explained(store, readPage(context, new Memory(), none)).statements.flatMap((each) => each.steps)
    assert.ok(!steps.some((step) => step.startsWith('SCAN tx')))
    assert.ok(steps.some((step) => step.startsWith('SEARCH tx USING INDEX')))
  })

  test('QRY-2: an unselective filter scans the index of the order, without sorting', () => {
    const nearly: Predicate = { kind: 'compare', field: 'owner_id', operator: 'gt', value: 'u1' }
    const most: Predicate = { kind: 'through', field: 'shelf_id', collection: 'shelves', predicate: nearly }
    const lists = [
      ...[
        'name[gt]=a',
        'note[null]=false',
        'kind[in]=a,c',
        'kind=a&kind=c&sort=name',
        'fresh[in]=true,false',
        'size[lt]=900',
      ],
      ...[
        'weight[gte]=1&sort=-day',
        'due[gt]=2020-01-01T00:00:00Z',
        'created_at[gt]=2020-01-01T00:00:00Z',
        'kind=c&sort=created_at',
      ],
    ].map((query) => list(query))
    for (const plan of [...lists, list('sort=-size', { permitted: most })]) {
      assert.ok(expectedOf(plan).length > 10_000)
      const { scans, sorts: sorted } = costsOf(read(plan))
      assert.deepEqual([scans, sorted], [[], []], JSON.stringify(plan.filter))
    }
  })

  test('QRY-2: an inequality filter scans the index of the order, and only its total reads a whole index', () => {
    for (const query of all.map(({ name }) => `${name}[not]=${few[name]}`)) {
      const { scans, sorts: sorted } = costsOf(read(list(query)))
      assert.deepEqual(sorted, [], query)
      for (const scan of scans) assert.match(scan, /USING .*INDEX/, query)
    }
  })

  test('QRY-2: if the total is 0, no statement looks for rows', () => {
    const { statements } = explained(store, readPage(context, new Memory(), list('name=nothing&sort=size')))
    assert.deepEqual(
      statements
        .filter(({ sql: text }) => text.includes('goods'))
        .map(({ sql: text }) => text.startsWith('select count(*)')),
      [true],
    )
  })
})

describe('a record that is deleted alone', () => {
  const parts = resource('parts')
  const readable = new Map([['parts', always]])
  const [id, now] = [idOf(7), Date.parse('2026-01-01T00:00:00Z')]
  const shared = { resource: parts, id, permitted: always, conditions: {}, now, readable } as const
  const caller = { id: 'ann', roles: [], claims: {} }
  const stateOf = () => ({
    ...store.database.prepare('select deleted_at, _deletion from parts where id = ?').get(id),
  })
  const remove = () =>
    explained(
      store,
      deleteRecord(context, { ...shared, kind: 'delete', caller, deletion: 'deletion', statusUrl: '', above: 100 }),
    )

  test('DEL-4: has the time of its deletion, and belongs to no deletion of several records', () => {
    const { result, statements } = remove()
    assert.equal(result.kind, 'deleted')
    assert.equal(statements.length, 3)
    assert.deepEqual(stateOf(), { deleted_at: '2026-01-01T00:00:00.000Z', _deletion: null })
  })

  test('DEL-3: is listed by the index of deletion times', () => {
    const deleted = { since: '2025', only: true, permitted: always } as const
    const { result, statements } = explained(store, readPage(context, new Memory(), list('', { ...shared, deleted })))
    assert.ok(result.kind === 'page')
    assert.equal(result.total, 1)
    assert.match(JSON.stringify(statements), /parts_by_deleted_at/)
  })

  test('DEL-6: is restored alone', () => {
    const restore = {
      ...shared,
      kind: 'restore',
      restoration: 'restoration',
      statusUrl: '',
      above: 5_000,
      mayRead: always,
      caller,
    } as const
    assert.equal(explained(store, restoreRecord(context, restore)).result.kind, 'updated')
    assert.deepEqual(stateOf(), { deleted_at: null, _deletion: null })
  })

  test('DEL-7: is purged by the index of deletion times', () => {
    remove()
    const { result, statements } = explained(store, purgeRecords(context, parts, now + 365 * 86_400_000))
    assert.equal(result, 1)
    assert.match(JSON.stringify(statements), /SEARCH parts USING INDEX parts_by_deleted_at/)
  })
})
