import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryOf } from './exchange.ts'

test('WHR-1: a condition travels as JSON, names as a list, and other lists repeat their parameter', () => {
  const where = { or: [{ status: 'open' }, { author: { born: { gte: 1920 } } }] }
  const parameters = new URLSearchParams(
    queryOf({ where, sort: ['-title', 'id'], status: ['a', 'b'], limit: undefined }),
  )
  assert.deepEqual(
    [...parameters],
    [
      ['where', JSON.stringify(where)],
      ['sort', '-title,id'],
      ['status', 'a'],
      ['status', 'b'],
    ],
  )
})
