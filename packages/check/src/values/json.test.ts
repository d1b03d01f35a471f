import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pointerTo, valueAt } from './json.ts'

test('a pointer leads to a value, and back', () => {
  const part = { name: 'Lamp' }
  const whole = { data: [{ name: 'Lamp' }, { 'a/b~c': part }] }
  const pointer = pointerTo(whole, part)
  assert.equal(pointer, '/data/1/a~1b~0c')
  assert.equal(valueAt(whole, pointer), part)
  assert.equal(pointerTo(whole, whole), '')
  assert.equal(pointerTo(whole, {}), undefined)
})
