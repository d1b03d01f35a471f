/** Reading, writing and deleting one record use an index for every look-up: no statement costs the size of a table. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import type { Conditions } from '../../plan/plan.ts'
import { deleteExpiredKeys } from './idempotency.ts'
import { context, costsOf, explained, idOf, openStore, resource } from './query-plan.fixture.ts'
import { readRecord } from './read-record.ts'
import { writeTransaction } from './run.ts'

const store = openStore()
after(() => store.close())
const goods = resource('goods')
const nested = { resource: resource('shelves'), id: idOf(7), field: 'shelf_id', permitted: always }
const nothing = { scans: [], walks: [], sorts: [] }
const conditions: Conditions = {}

describe('one record', () => {
  const caller = { id: 'u3', roles: ['admin'], claims: {} }
  const write = {
    permitted: always,
    mayAssignOwner: true,
    mayCreate: always,
    mayRead: always,
    movedBy: [],
    conditions,
    caller,
    now: Date.now(),
  }
  const run = (plan: object) => {
    store.execute('begin')
    try {
      return explained(store, writeTransaction(context, plan as never))
    } finally {
      store.execute('rollback')
    }
  }

  test('RES-2: a record is read by its id', () => {
    const plan = {
      kind: 'read-record',
      resource: goods,
      id: idOf(5),
      permitted: always,
      fields: undefined,
      conditions,
    } as const
    const { result, statements } = explained(store, readRecord(context, undefined, plan))
    assert.equal(result.kind, 'record')
    assert.deepEqual(costsOf(statements), nothing)
  })

  test('CON-5: a change looks up what it needs of other records', () => {
    const body = { name: 'new', kind: 'b', weight: 1, shelf_id: idOf(5), label_id: idOf(6), code: 'new' }
    const created = run({
      kind: 'create',
      resource: goods,
      id: idOf(99_999),
      parent: nested,
      body: { ...body, shelf_id: idOf(7) },
      ...write,
    })
    const merged = run({ kind: 'merge', resource: goods, id: idOf(5), body, ...write })
    const ruled = run({ kind: 'merge', resource: resource('shelves'), id: idOf(5), body: { open: true }, ...write })
    const operations = [{ op: 'replace', path: '/weight', value: 2 }]
    const patched = run({ kind: 'patch', resource: goods, id: idOf(5), body: operations, ...write })
    assert.deepEqual(
      [created, merged, ruled, patched].map(({ result }) => result.kind),
      ['created', 'updated', 'conflict', 'updated'],
    )
    for (const { statements } of [created, merged, ruled, patched]) assert.deepEqual(costsOf(statements), nothing)
  })

  test('MET-9: keys are looked up, and deleted by their age', () => {
    const idempotency = { scope: 'key', fingerprint: 'body', preferred: undefined }
    const body = { name: 'keyed' }
    const keyed = run({ kind: 'create', resource: resource('labels'), id: idOf(77_777), body, idempotency, ...write })
    assert.equal(keyed.result.kind, 'created')
    const expired = explained(store, deleteExpiredKeys(context, 0))
    for (const { statements } of [keyed, expired]) {
      const { scans, sorts } = costsOf(statements)
      assert.deepEqual([scans, sorts], [[], []])
    }
  })

  test('DEL-4: dependents are found by their references', () => {
    const removal = { deletion: idOf(1), statusUrl: '', above: 1_000, readable: new Map() }
    const remove = (collection: string, number: number) =>
      run({ kind: 'delete', resource: resource(collection), id: idOf(number), ...removal, ...write })
    const outcomes = [
      remove('labels', 5),
      remove('goods', 5),
      remove('goods', 5_000),
      remove('shelves', 5),
      remove('parts', 5),
    ]
    assert.deepEqual(
      outcomes.map(({ result }) => result.kind),
      ['deleted', 'conflict', 'deleted', 'conflict', 'deleted'],
    )
    for (const { statements } of outcomes) assert.deepEqual(costsOf(statements), nothing)
  })

  test('DEL-6: a restoration looks up what blocks it', () => {
    store.execute('begin')
    try {
      const removal = { deletion: idOf(1), statusUrl: '', above: 1_000, readable: new Map() }
      const deletion = { kind: 'delete', resource: goods, id: idOf(5_000), ...write, ...removal }
      assert.equal(explained(store, writeTransaction(context, deletion as never)).result.kind, 'deleted')
      const restoration = {
        kind: 'restore',
        resource: goods,
        id: idOf(5_000),
        ...write,
        restoration: idOf(2),
        ...removal,
      }
      const { result, statements } = explained(store, writeTransaction(context, restoration as never))
      assert.equal(result.kind, 'updated')
      assert.deepEqual(costsOf(statements), nothing)
    } finally {
      store.execute('rollback')
    }
  })
})
