/** Sizes of batches that follow from how long the last batches took. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from './long-work.ts'

/** The size after so many batches, each of which takes so long. */
function sizeAfter(pace: Pace, batches: number, duration: (size: number) => number) {
  for (let batch = 0; batch < batches; batch++) pace.note('deletion', duration(pace.sizeFor('deletion')))
  return pace.sizeFor('deletion')
}

test('a batch that takes long makes the next one shorter at once; short ones raise the size slowly', () => {
  const pace = new Pace()
  const first = pace.sizeFor('deletion')
  assert.ok(sizeAfter(pace, 1, () => 40) <= first / 2)
  assert.ok(sizeAfter(pace, 1, () => 200) <= first / 4)
  const smaller = pace.sizeFor('deletion')
  const larger = sizeAfter(pace, 1, () => 1)
  assert.ok(larger > smaller && larger < 2 * smaller)
})

test('whatever a record costs, the size settles where a batch takes neither long nor short', () => {
  for (const each of [0.02, 0.1, 0.5]) {
    const pace = new Pace()
    const size = sizeAfter(pace, 200, (size) => size * each)
    assert.ok(size * each <= 20, `${size} records of ${each} ms`)
  }
})

test('no batch is too small or too large', () => {
  const pace = new Pace()
  const first = pace.sizeFor('deletion')
  assert.ok(sizeAfter(pace, 100, () => 100) >= 1)
  assert.ok(Number.isInteger(pace.sizeFor('deletion')))
  assert.ok(sizeAfter(pace, 200, () => 0) <= 1_000)
  assert.equal(pace.sizeFor('purge'), first)
})

test('each phase of a job has a size of its own', () => {
  const pace = new Pace()
  pace.measure('deletion', (sizeFor) => sizeFor('erase')).note(200)
  assert.ok(pace.sizeFor('deletion erase') < pace.sizeFor('deletion mark'))
})
