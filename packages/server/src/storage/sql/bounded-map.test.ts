import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

/** A map, and the keys that it dropped. */
function mapOf(most: number) {
  const dropped: string[] = []
  const map = new BoundedMap<number>(most, (key) => dropped.push(key))
  return { map, dropped }
}

test('an entry that was not used for long is dropped', () => {
  const { map, dropped } = mapOf(3)
  for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) map.set(key, value)
  assert.deepEqual(dropped, ['a'])
  assert.equal(map.get('b'), 2)
  map.set('e', 5)
  assert.deepEqual(dropped, ['a', 'c'])
  assert.deepEqual([map.get('b'), map.get('c'), map.get('d'), map.get('e'), map.size], [2, undefined, 4, 5, 3])
})

test('entries that are used all the time outlive any number of others', () => {
  const { map } = mapOf(10)
  for (let key = 0; key < 1_000; key++) {
    map.set('used', 1)
    map.set(String(key), key)
    assert.equal(map.get('used'), 1)
    assert.ok(map.size <= 10)
  }
})

test('entries have weights, and their sum is bounded', () => {
  const { map, dropped } = mapOf(100)
  map.set('a', 1, 60)
  map.set('b', 2, 30)
  map.set('a', 3, 70)
  assert.deepEqual([map.weight, dropped], [100, []])
  map.set('c', 4, 30)
  assert.deepEqual([map.weight, dropped], [100, ['b']])
  map.delete('a')
  map.delete('none')
  assert.deepEqual([map.weight, map.size], [30, 1])
  map.set('too heavy', 5, 101)
  assert.deepEqual([map.weight, map.size, map.get('too heavy')], [0, 0, undefined])
  map.set('d', 6, 100)
  assert.equal(map.get('d'), 6)
  map.clear()
  assert.deepEqual([map.weight, map.size], [0, 0])
  map.set('e', 7)
  assert.equal(map.get('e'), 7)
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
