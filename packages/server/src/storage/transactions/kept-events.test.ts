import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgres } from '../postgres/dialect.ts'
import { sqlite } from '../sqlite/dialect.ts'
import type { Row, Transaction } from '../transaction.ts'
import { findEvent, readFloor, readHorizon } from './kept-events.ts'

function answered<T>(transaction: Transaction<T>, ...rows: Row[]): { readonly text: string; readonly value: T } {
  const statement = transaction.next([])
  assert.ok(statement.done !== true)
  const end = transaction.next(rows)
  assert.ok(end.done === true)
  return { text: statement.value.text, value: end.value }
}

test('the horizon is the newest position, or what the locks of transactions leave of it', () => {
  assert.match(answered(readHorizon({ dialect: sqlite }), { horizon: 7 }).text, /max\(_row\)/)
  const { text, value } = answered(readHorizon({ dialect: postgres }), { horizon: '7' })
  assert.match(text, /pg_locks/)
  assert.equal(value, 7)
})

test('an event that is not kept has no position, and while all are kept there is no floor', () => {
  assert.deepEqual([answered(findEvent('a')).value, answered(findEvent('a'), { _row: 3 }).value], [undefined, 3])
  assert.deepEqual([answered(readFloor()).value, answered(readFloor(), { value: '12' }).value], [0, 12])
})
