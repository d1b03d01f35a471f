/**
 * The main statements as each engine has them, side by side in `side-by-side.test.ts.snapshot`: a change of the shared
 * SQL shows there what becomes of it. After a change: `node --test --test-update-snapshots` with this file.
 */
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import type { Page, ReadPage } from '../../plan/plan.ts'
import { postgres } from '../postgres/dialect.ts'
import { type SqlContext, sqlContext } from '../sql/context.ts'
import { representationSql } from '../sql/records.ts'
import { sqlite } from '../sqlite/dialect.ts'
import type { Row, Statement, Transaction } from '../transaction.ts'
import { Memory } from './memory.ts'
import { readPage } from './read-page.ts'
import { readRecord } from './read-record.ts'
import { writeTransaction } from './run.ts'

const catalog = completeCatalog(
  defineInterface({
    name: 'garden',
    resources: {
      beds: { fields: { name: Type.String() } },
      plants: {
        fields: {
          name: Type.String({ search: true, filter: true, sort: true, unique: true }),
          height: Type.Optional(Type.Number({ sort: true })),
          planted: Type.Optional(Type.String({ format: 'date-time', sort: true })),
          hardy: Type.Optional(Type.Boolean()),
          more: Type.Optional(Type.Object({})),
          bed_id: Type.Optional(reference('beds', { onDelete: 'clear' })),
        },
      },
      labels: {
        fields: { plant_id: reference('plants', { onDelete: 'restrict' }), note: Type.Optional(Type.String()) },
      },
    },
  }),
)
const plants = catalog.resources.get('plants') as Resource
const row: Row = {
  ...{ id: 'p1', name: 'oak', height: 1.5, planted: null, hardy: 1, more: null, bed_id: null },
  ...{ note: null, plant_id: null },
  ...{
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    deleted_at: null,
    _deletion: null,
  },
  ...{
    _row: 1,
    _revision: 1,
    _permitted: 1,
    json: '{}',
    count: 1,
    place: '["p1"]',
    total: 7,
    revision: 1,
    live: 70,
    locked: 1,
  },
}

/** The statements of a transaction that is driven by hand: every query has one row, and nothing blocks the change. */
function statementsOf(transaction: Transaction<unknown>): Statement[] {
  const statements: Statement[] = []
  let step = transaction.next([])
  while (step.done !== true) {
    const { sql } = step.value
    statements.push(step.value)
    const isCount = sql.startsWith('select count(*) as count')
    const asked = { ...row, a0: sql.includes('"beds"') ? 1 : 0, a1: 0, count: isCount ? 0 : 1 }
    step = transaction.next(/^select (?:id|job) from/.test(sql) ? [] : [asked])
  }
  return statements
}

/** A statement in lines. A whole record is printed once; the parts of SQLite's index of words are all alike. */
function lines(text: string, record: string): string {
  const short = text.replaceAll(record, '‹the record›').replace(/(?: union all [^(]+?_\d+" match \?)+/, ' union all …')
  return short.replaceAll(/ (?=(?:from|where|order by|values|set|select|returning|for) )/g, '\n  ')
}

function show(t: TestContext, start: (context: SqlContext) => Transaction<unknown>, isRecordShown = false): void {
  const texts = Object.entries({ SQLite: sqlite, PostgreSQL: postgres }).flatMap(([name, dialect]) => {
    const context = sqlContext({ catalog, dialect, tagSecret: new Uint8Array(32) })
    const record = isRecordShown ? '‹›' : representationSql(context, { resource: plants }).sql
    const statements = statementsOf(start(context))
    return [`-- ${name}`, ...statements.map(({ sql, text }) => lines(name === 'SQLite' ? sql : text, record))]
  })
  t.assert.snapshot(texts.join('\n\n'), { serializers: [(value) => String(value)] })
}

const shared = { resource: plants, permitted: always, conditions: {} } as const
const byName: Predicate = { kind: 'compare', field: 'name', operator: 'gt', value: 'm' }

function page(page: Page, more: Partial<ReadPage> = {}): (context: SqlContext) => Transaction<unknown> {
  const plan: ReadPage = {
    ...{ ...shared, kind: 'read-page', parent: undefined, filter: always, search: undefined, deleted: undefined },
    ...{ sort: [{ field: 'height', descending: true }], page, fields: ['name'] },
    ...more,
  }
  return (context) => readPage(context, new Memory(), plan)
}

const caller = { id: 'u1', roles: [], claims: {} }
const change = {
  ...{ ...shared, id: 'p1', caller, now: Date.UTC(2026, 0, 1) },
  ...{ mayAssignOwner: true, mayCreate: always, mayRead: always, movedBy: [] },
}

function written(plan: object): (context: SqlContext) => Transaction<unknown> {
  return (context) => writeTransaction(context, { ...change, ...plan } as never)
}

test('read a record', (t) => {
  const plan = { ...shared, kind: 'read-record', id: 'p1', fields: undefined } as const
  show(t, (context) => readRecord(context, undefined, plan), true)
})

test('read a page by number', (t) => {
  show(t, page({ style: 'page', page: 2, perPage: 20 }))
})

test('read a page by cursor, sorted by a field that may be null', (t) => {
  show(t, page({ style: 'cursor', limit: 20, position: { direction: 'forward', keys: [1.5, 'p1'] } }))
})

test('read the first page of a filtered list: its total, and its rows', (t) => {
  show(t, page({ style: 'cursor', limit: 20, position: undefined }, { filter: byName, sort: [] }))
})

test('search', (t) => {
  show(t, page({ style: 'offset', offset: 0, limit: 20 }, { search: ['red', 'oa'], sort: [] }))
})

test('create', (t) => {
  show(
    t,
    written({
      kind: 'create',
      parent: undefined,
      body: { name: 'elm', bed_id: '00000000-0000-7000-8000-000000000001' },
    }),
  )
})

test('update', (t) => {
  show(t, written({ kind: 'merge', body: { name: 'elm' } }))
})

test('update of what the rule looks at: asked of the row, and of the row as it will be', (t) => {
  show(t, written({ kind: 'merge', body: { name: 'elm' }, permitted: byName }))
})

test('update through a parent, which is locked', (t) => {
  const permitted: Predicate = { kind: 'through', field: 'bed_id', collection: 'beds', predicate: byName }
  const body = { name: 'elm', bed_id: '00000000-0000-7000-8000-000000000001' }
  show(t, written({ kind: 'merge', body, permitted }))
})

test('delete', (t) => {
  show(t, written({ kind: 'delete', deletion: 'd1', statusUrl: '', above: 10, readable: new Map() }))
})

const labels = catalog.resources.get('labels') as Resource

test('delete where nothing refers to the record', (t) => {
  const plan = { kind: 'delete', deletion: 'd1', statusUrl: '', above: 10, readable: new Map() }
  show(t, written({ ...plan, resource: labels }))
})
