import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('the least recently used entry is dropped', () => {
  const dropped: [string, number][] = []
  const map = new BoundedMap<number>(3, (key, value) => dropped.push([key, value]))
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) map.set(key, value)
  assert.equal(map.get('a'), 1)
  map.set('d', 4)
  assert.deepEqual(dropped, [['b', 2]])
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.get('d'), map.size], [1, undefined, 3, 4, 3])
})

test('a value is created once for its key', () => {
  const map = new BoundedMap<object>(2)
  const made = map.of('a', () => ({}))
  assert.equal(
    map.of('a', () => assert.fail('it is known')),
    made,
  )
  map.delete('a')
  assert.notEqual(
    map.of('a', () => ({})),
    made,
  )
  map.clear()
  assert.equal(map.size, 0)
})
