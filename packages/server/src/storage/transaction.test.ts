import assert from 'node:assert/strict'
import { test } from 'node:test'
import sql from 'sql-template-tag'
import { ignoringRows, standalone, touching } from './transaction.ts'

test('marks keep the text and the values of a statement', () => {
  const statement = sql`update t set a = ${1}`
  const marked = touching(statement, { collection: 't', ids: ['x'], stride: 1 })
  assert.deepEqual([marked.sql, marked.text, marked.values], [statement.sql, statement.text, statement.values])
  assert.deepEqual([marked.ignoresRows, marked.touches], [true, { collection: 't', ids: ['x'], stride: 1 }])
  assert.equal(standalone(statement, 'reading').standalone, 'reading')
})

test('marked statements have no accessors of their own: V8 would keep each of them until a full collection', () => {
  const marked = ignoringRows(sql`select 1`)
  const own = Object.values(Object.getOwnPropertyDescriptors(marked))
  assert.ok(own.every(({ get }) => get === undefined))
})
