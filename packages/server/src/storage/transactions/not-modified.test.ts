/** CON-4: a 304 creates no representation. The tests look at every statement that runs. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import type { ReadPage, ReadRecord } from '../../plan/plan.ts'
import { readListQuery } from '../../request/list-query.ts'
import { Memory } from './memory.ts'
import { catalog, context, explained, idOf, openStore, resource } from './query-plan.fixture.ts'
import { readPage } from './read-page.ts'
import { readRecord } from './read-record.ts'

const store = openStore()
after(() => store.close())
const goods = resource('goods')
const anything = { ifNoneMatch: 'any' } as const

test('a 304 for a record reads its revision only', () => {
  const plan: ReadRecord = {
    ...{
      kind: 'read-record',
      resource: goods,
      id: idOf(7),
      permitted: always,
      fields: undefined,
      conditions: anything,
    },
  }
  const { result, statements } = explained(store, readRecord(context, undefined, plan))
  assert.equal(result.kind, 'not-modified')
  assert.equal(statements.length, 1)
  assert.doesNotMatch(statements[0]?.sql ?? '', /json/)
})

test('a 304 for a list reads its clock only, and counts nothing', () => {
  const parameters = [{ name: 'kind', value: 'a' }, { name: 'sort', value: '-size' }] // biome-ignore format: a line
  const query = readListQuery(goods, parameters, catalog)
  const plan = {
    ...{
      kind: 'read-page',
      resource: goods,
      parent: undefined,
      filter: query.filter,
      permitted: always,
      search: undefined,
    },
    ...{ deleted: undefined, sort: query.sort, page: { style: 'page', page: 1, perPage: 20 }, fields: undefined },
    conditions: anything,
  } as ReadPage
  const { result, statements } = explained(store, readPage(context, new Memory(), plan))
  assert.equal(result.kind, 'page-not-modified')
  assert.deepEqual(statements.map(({ sql }) => /from (\w+)/.exec(sql)?.[1]), ['resourced_clocks']) // biome-ignore format: a line
})

test('a 304 for a filtered list reads its clock only, if nothing has changed since it was read', () => {
  const query = readListQuery(goods, [{ name: 'sort', value: '-size' }], catalog)
  const permitted = { kind: 'compare', field: 'kind', operator: 'eq', value: 'a' } as const
  const page = { style: 'page', page: 1, perPage: 20 } as const
  const plan = {
    ...{ kind: 'read-page', resource: goods, parent: undefined, filter: query.filter, permitted, search: undefined },
    ...{ deleted: undefined, sort: query.sort, page, fields: undefined, conditions: {}, key: 'sort=-size' },
  } as ReadPage
  const memory = new Memory()
  const read = explained(store, readPage(context, memory, plan)).result
  memory.forget()
  assert.ok(read.kind === 'page' && read.count > 0)
  const conditions = { ifNoneMatch: [{ opaque: read.tag, weak: false }] }
  const { result, statements } = explained(store, readPage(context, memory, { ...plan, conditions }))
  assert.equal(result.kind, 'page-not-modified')
  assert.deepEqual(statements.map(({ sql }) => /from (\w+)/.exec(sql)?.[1]), ['resourced_clocks']) // biome-ignore format: a line
})

test('a record that is asked for with conditions alone is remembered by its validators', () => {
  const memory = new Memory()
  const plan: ReadRecord = {
    ...{ kind: 'read-record', resource: goods, id: idOf(7), permitted: always, fields: undefined },
    conditions: anything,
  }
  const read = (asked: ReadRecord) => {
    const { result, statements } = explained(store, readRecord(context, memory, asked))
    return [result.kind, statements.filter(({ sql }) => sql.includes('goods')).length]
  }
  assert.deepEqual([read(plan), read(plan), read(plan)], [['not-modified', 1], ['not-modified', 1], ['not-modified', 0]]) // biome-ignore format: a line
  const changed = { ...plan, conditions: { ifNoneMatch: [{ opaque: 'another', weak: false }] } }
  assert.deepEqual(
    [read(changed), read(plan), read(changed)],
    [
      ['record', 1],
      ['not-modified', 0],
      ['record', 0],
    ],
  )
  memory.committed([{ collection: 'goods', ids: [idOf(7)], stride: 1 }])
  assert.deepEqual(read(plan), ['not-modified', 1])
})
