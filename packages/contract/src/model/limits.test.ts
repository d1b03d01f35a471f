import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRate } from './limits.ts'

test('a rate is so many a second, a minute or an hour', () => {
  assert.deepEqual(parseRate('5/second'), { most: 5, window: 1 })
  assert.deepEqual(parseRate('600/minute'), { most: 600, window: 60 })
  assert.deepEqual(parseRate('999999999/hour'), { most: 999_999_999, window: 3_600 })
})

const none = ['0/minute', '05/minute', '1000000000/hour', '1.5/second', '-1/second', '9/day', '9/minutes', '9', '/hour']
for (const text of [...none, '9/constructor', ' 9/hour', '9/hour\n']) {
  test(`${JSON.stringify(text)} is no rate`, () => assert.equal(parseRate(text), undefined))
}
