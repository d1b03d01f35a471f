import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { postgres } from '../storage/postgres/dialect.ts'
import { sqlContext } from '../storage/sql/context.ts'
import { sqlite } from '../storage/sqlite/dialect.ts'
import { createRecord } from '../storage/transactions/create.ts'
import { isLarge, recordWithoutBody } from './early-permission.ts'
import type { Create } from './plan.ts'

const catalog = completeCatalog(
  defineInterface({
    name: 'garden',
    resources: {
      beds: { fields: { name: { type: 'string' } } },
      plants: {
        fields: {
          name: { type: 'string' },
          notes: { type: 'array', items: { type: 'string' }, optional: true },
          made_by: { type: 'string', readOnly: true },
          bed_id: { reference: 'beds' },
        },
        owner: 'made_by',
        within: 'bed_id',
      },
    },
  }),
)
const beds = catalog.resources.get('beds') as Resource
const plants = catalog.resources.get('plants') as Resource
const bed = '019aa7b4-0000-7000-8000-000000000001'
const byName: Predicate = { kind: 'compare', field: 'name', operator: 'gt', value: 'm' }
const throughBed: Predicate = { kind: 'through', field: 'bed_id', collection: 'beds', predicate: byName }
const byOwner: Predicate = { kind: 'compare', field: 'made_by', operator: 'eq', value: 'ann' } as never

const plan = {
  ...{ kind: 'create', resource: plants, id: 'p1', now: 0, caller: { id: 'ann', roles: [], claims: {} } },
  ...{ parent: { resource: beds, id: bed, field: 'bed_id', permitted: always }, permitted: throughBed },
  ...{ mayAssignOwner: false, idempotency: undefined, body: { name: 'oak', notes: Array(2_000).fill('x') } },
} as unknown as Create

test('a permission by the record of the address, or by the owner, does not depend on the body', () => {
  assert.equal(recordWithoutBody(plan)?.['bed_id'], bed)
  assert.equal(recordWithoutBody({ ...plan, permitted: byOwner })?.['made_by'], 'ann')
})

for (const [name, other] of [
  ['at the top level the body names the record', { parent: undefined }],
  ['a field that is sent', { permitted: byName }],
  ['the owner, which administrators send', { permitted: byOwner, mayAssignOwner: true }],
  ['there is none', { permitted: always }],
  ['a function may change any field', { resource: { ...plants, prepare: () => ({}) } }],
  ['one of two fields is sent', { permitted: { kind: 'and', terms: [throughBed, byName] } }],
] as [string, object][]) {
  test(`a permission is decided after the body is validated: ${name}`, () =>
    assert.equal(recordWithoutBody({ ...plan, ...other } as Create), undefined))
}

for (const [name, dialect] of Object.entries({ SQLite: sqlite, PostgreSQL: postgres })) {
  test(`CON-6: a caller without permission gets 403 before a large body is validated, on ${name}`, () => {
    const validated: unknown[] = []
    const validate = (value: unknown) => {
      validated.push(value)
      return []
    }
    const fields = plants.fields.map((field) => ({ ...field, validate }))
    const resource = { ...plants, fields, field: new Map(fields.map((field) => [field.name, field])) }
    const context = sqlContext({ catalog, dialect, tagSecret: new Uint8Array(32) })
    const transaction = createRecord(context, { ...plan, resource })
    let step = transaction.next([])
    const statements: string[] = []
    while (step.done !== true) {
      statements.push(step.value.sql)
      // The record of the address is there, and the caller may read it. They may not create below it.
      step = transaction.next(statements.length === 1 ? [{ _permitted: 1, _revision: 1, updated_at: '' }] : [])
    }
    assert.deepEqual(step.value, { kind: 'forbidden' })
    assert.equal(statements.length, 2)
    // Only what the server sets.
    assert.deepEqual(validated, ['ann', bed])
  })
}

test('a body is large by its members or by its texts', () => {
  for (const body of [undefined, 1, 'x', {}, { a: [1, 2, 3] }, Array(1_000).fill(0)]) assert.equal(isLarge(body), false)
  const wide = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [index, 0]))
  for (const body of ['x'.repeat(1_001), Array(1_001).fill(0), { a: { b: wide } }]) assert.equal(isLarge(body), true)
})
