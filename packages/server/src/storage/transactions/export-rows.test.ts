/** An export contains each record once, in the order of the list, while other records change. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { always, never, type Predicate } from 'resourced-contract/model/predicate'
import { timestamp } from 'resourced-contract/model/time'
import sql from 'sql-template-tag'
import type { Page, ReadPage } from '../../plan/plan.ts'
import {
  batches,
  batchOf,
  books,
  context,
  documentOf,
  idOf,
  openLibrary,
  plant,
  sorted,
} from './export-rows.fixture.ts'
import type { ExportBatch } from './export-rows.ts'
import { Memory } from './memory.ts'
import { readPage } from './read-page.ts'

const count = 5_000
const library = openLibrary()
after(() => library.close())

/** A book: about a third of its optional values are unset, and several books share most values. */
function book(number: number) {
  const mixed = (number * 7_919) % count
  return {
    id: idOf(number),
    title: `Title ${mixed % 1_000}`,
    note: mixed % 3 === 0 ? null : `n${mixed % 50}`,
    kind: mixed % 4 === 0 ? 'atlas' : 'novel',
    lent: mixed % 5 === 0 ? null : mixed % 2 === 0,
    pages: mixed % 7 === 0 ? null : mixed % 100,
    weight: mixed % 11 === 0 ? null : (mixed % 300) / 7,
    due: mixed % 6 === 0 ? null : timestamp(mixed * 60_000).replace('Z', mixed % 2 === 0 ? 'Z' : '+01:00'),
    owner_id: `u${mixed % 40}`,
    created_at: timestamp(Math.floor(mixed / 10) * 1_000),
    updated_at: timestamp(number * 1_000),
    deleted_at: number % 50 === 49 ? timestamp(0) : null,
  }
}
plant(
  library,
  Array.from({ length: count }, (_, number) => book(number)),
)

/** The records of the list that has the same, all on one page. */
function listed({ sort, filter, permitted }: ExportBatch): string[] {
  const page: Page = { style: 'offset', offset: 0, limit: count }
  const plan = {
    ...{ kind: 'read-page', resource: books, parent: undefined, filter, permitted, search: undefined },
    ...{ deleted: undefined, sort, page, fields: ['id'], conditions: {} },
  } as ReadPage
  const outcome = library.run(readPage(context, new Memory(), plan))
  assert.ok(outcome.kind === 'page')
  return (JSON.parse(`[${outcome.json}]`) as { id: string }[]).map((record) => record.id)
}

function exported(batch: ExportBatch): string[] {
  return [...batches(library, batch)].flat().map((text) => (JSON.parse(text) as { id: string }).id)
}

const orders = [
  ...['', 'title', '-title', 'note', '-note', 'pages', '-due', 'weight', '-weight', 'created_at', '-updated_at'],
  ...['note,pages', '-note,pages', 'note,-pages,title', 'kind,-title', '-created_at,title', '-pages,-weight,-note'],
]

describe('each record is exported once, in the order of the list', () => {
  for (const order of orders) {
    test(`sorted by ${order === '' ? 'nothing' : order}`, () => {
      const batch = batchOf({ sort: sorted(order), fields: [] })
      const expected = listed(batch)
      assert.equal(expected.length, count - count / 50)
      for (const limit of [97, 1_000, 4_900, 6_000]) assert.deepEqual(exported({ ...batch, limit }), expected)
    })
  }

  test('one by one', () => {
    const batch = batchOf({ sort: sorted('-pages,note'), fields: [] })
    assert.deepEqual(exported({ ...batch, limit: 1 }), listed(batch))
  })

  const equal = (field: string, value: string | number | boolean): Predicate => {
    return { kind: 'compare', field, operator: 'eq', value }
  }
  const predicates: readonly (readonly [name: string, filter: Predicate, permitted: Predicate])[] = [
    ['by an index that has the order', equal('kind', 'atlas'), always],
    ['by null', { kind: 'null', field: 'lent' }, always],
    ['by a field without an index', { kind: 'null', field: 'labels' }, equal('weight', 1)],
    ['of an owner', always, equal('owner_id', 'u3')],
    ['of an owner, and more', { kind: 'not', term: equal('kind', 'atlas') }, equal('owner_id', 'u3')],
    ['by many conditions', { kind: 'or', terms: [equal('pages', 3), equal('lent', true)] }, { kind: 'compare', field: 'title', operator: 'contains', value: '7' }],
    ['by an instant', { kind: 'compare', field: 'due', operator: 'gt', value: '1970-01-02T00:00:00' }, always],
    ['that match nothing', equal('title', 'none'), always],
    ['that nobody may read', always, never],
  ] // biome-ignore format: one row reads best
  for (const [name, filter, permitted] of predicates) {
    test(`records ${name}`, () => {
      for (const order of ['', 'pages', '-title', '-created_at,title', 'kind']) {
        const batch = batchOf({ sort: sorted(order), filter, permitted, fields: [] })
        for (const limit of [61, 6_000]) assert.deepEqual(exported({ ...batch, limit }), listed(batch), order)
      }
    })
  }
})

test('a batch reads no more records than its limit, even if few match', () => {
  const filter: Predicate = { kind: 'compare', field: 'title', operator: 'eq', value: 'Title 7' }
  const sizes = [...batches(library, batchOf({ sort: sorted('created_at'), filter, limit: 490 }))].map(
    ({ length }) => length,
  )
  assert.equal(sizes.length, 11)
  assert.equal(
    sizes.reduce((sum, size) => sum + size),
    listed(batchOf({ filter })).length,
  )
})

test('records that are created or deleted between two batches do not affect the others', () => {
  for (const order of ['', '-pages', 'note,-title', 'created_at']) {
    library.execute('begin')
    const batch = batchOf({ sort: sorted(order), fields: [], limit: 50 })
    const before = listed(batch)
    const met: string[] = []
    const gone = new Set<string>()
    let number = count
    for (const texts of batches(library, batch)) {
      const ids = texts.map((text) => (JSON.parse(text) as { id: string }).id)
      met.push(...ids)
      // The record at which the next batch begins goes, and so do some that are still to come and some that were met.
      for (const id of [ids.at(-1), ids[3], before[met.length + gone.size + 7]]) {
        if (id === undefined) continue
        library.all(sql`update books set deleted_at = ${timestamp(1)} where id = ${id}`)
        if (!met.includes(id)) gone.add(id)
      }
      const added = { ...book(number), id: idOf(number++), deleted_at: null }
      library.all(
        sql`insert into books (id, title, _folded_title, kind, pages, owner_id, created_at, updated_at, _revision) values (${added.id}, ${added.title}, ${added.title}, 'novel', ${added.pages}, 'u1', ${added.created_at}, ${added.updated_at}, 1)`,
      )
    }
    library.execute('rollback')
    assert.ok(gone.size > 50 && number > count + 50)
    assert.equal(new Set(met).size, met.length, 'none comes twice')
    const known = new Set(before)
    assert.deepEqual(met.filter((id) => known.has(id)), before.filter((id) => !gone.has(id)), order) // biome-ignore format: a line
  }
})

describe('the pieces form one document', () => {
  const some: Predicate = { kind: 'compare', field: 'pages', operator: 'lt', value: 3 }
  const whole = batchOf({ filter: some, limit: 100 })
  const records = [...batches(library, { ...whole, limit: 6_000 })].flat().map((text) => JSON.parse(text) as unknown)

  test('JSON: an array with one record a line', () => {
    const json = documentOf(library, whole)
    assert.deepEqual(JSON.parse(json), records)
    assert.equal(json.trimEnd().split('\n').length, records.length + 2)
  })

  test('NDJSON: a record on each line', () => {
    const text = documentOf(library, { ...whole, format: 'ndjson' })
    assert.ok(text.endsWith('\n'))
    assert.deepEqual(text.trimEnd().split('\n').map((line) => JSON.parse(line)), records) // biome-ignore format: a line
  })

  test('an empty export is a valid document', () => {
    const empty = batchOf({ permitted: never, fields: ['title', 'created_at'] })
    assert.deepEqual(JSON.parse(documentOf(library, empty)), [])
    assert.equal(documentOf(library, { ...empty, format: 'ndjson' }), '')
    assert.equal(documentOf(library, { ...empty, format: 'csv' }), 'id,title,created_at\r\n')
  })

  test('writeOnly fields are never exported, even on request', () => {
    for (const format of ['json', 'csv'] as const) {
      const fields = ['secret', 'kind']
      const [first] = documentOf(library, { ...whole, format, fields }).split(format === 'json' ? ',\n' : '\r\n')
      assert.doesNotMatch(String(first), /secret/)
    }
  })
})
