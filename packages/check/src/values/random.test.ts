import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextCount, random, randomInt, randomText, randomUuid, withSeed } from './random.ts'

const draw = (seed: number, scope: string) =>
  withSeed(seed, scope, () => [randomText(), randomUuid(), random(), randomInt(3, 9), nextCount()])

test('values depend on the seed and the scope alone', async () => {
  const first = draw(7, 'DEL-1/gone')
  await withSeed(7, 'other', async () => randomText())
  assert.deepEqual(draw(7, 'DEL-1/gone'), first)
  assert.notDeepEqual(draw(8, 'DEL-1/gone'), first)
  assert.notDeepEqual(draw(7, 'DEL-1/put'), first)
})

test('values have their form', () => {
  withSeed(1, 'form', () => {
    for (let turn = 0; turn < 200; turn++) {
      assert.match(randomUuid(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/)
      assert.ok([3, 4, 5].includes(randomInt(3, 5)))
      assert.ok(random() >= 0 && random() < 1)
    }
  })
})
