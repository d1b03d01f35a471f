import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestIds } from './request-context.ts'

test('ids are UUIDs of version 4, and all different, however many are made', () => {
  const newId = requestIds()
  const ids = Array.from({ length: 2_000 }, newId)
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(ids).size, ids.length)
})

test('every digit that is not fixed takes every value', () => {
  const newId = requestIds()
  const ids = Array.from({ length: 2_000 }, newId)
  for (let place = 0; place < 36; place++) {
    const values = new Set(ids.map((id) => id[place]))
    const expected = [8, 13, 14, 18, 23].includes(place) ? 1 : place === 19 ? 4 : 16
    assert.equal(values.size, expected, `place ${place}`)
  }
})

test('two servers do not make the same ids', () => {
  const [one, other] = [requestIds(), requestIds()]
  assert.notEqual(one(), other())
})
