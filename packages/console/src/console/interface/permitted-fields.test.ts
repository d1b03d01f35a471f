import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, Collection, Field } from './catalog.ts'
import type { Caller, Granted } from './connection.tsx'
import { permittedCatalog } from './permitted-fields.ts'

const schema = { type: 'string' } as const
const field: Field = { name: 'salary', schema, input: schema, required: false, filter: ['eq'], sort: true }
const collection = {
  name: 'employees',
  fields: [field],
  field: new Map([[field.name, field]]),
} as unknown as Collection
const catalog: Catalog = {
  title: '',
  version: 'v1',
  collections: new Map([['employees', collection]]),
  pageSize: 100,
  includedPaths: 0,
}

function permitted(read?: Granted, write?: Granted): Field | undefined {
  const grant = (granted: Granted | undefined) => granted && { granted, rules: [] }
  const salary = { read: grant(read), write: grant(write) }
  const caller = { permissions: {}, field_permissions: { employees: { salary } } } as unknown as Caller
  return permittedCatalog(catalog, caller).collections.get('employees')?.field.get('salary')
}

test('AUT-13, AUT-14: forms and lists offer what the caller may do with a field', () => {
  assert.deepEqual(permitted(), field)
  assert.deepEqual(permitted('all', 'none')?.input, undefined)
  assert.deepEqual([permitted('some')?.filter, permitted('some')?.sort], [['eq'], undefined])
  assert.deepEqual([permitted('none')?.filter, permitted('none')?.input], [undefined, schema])
  assert.equal(permitted('none', 'none'), undefined)
  assert.equal(permittedCatalog(catalog, {} as Caller).collections.get('employees'), collection)
})
