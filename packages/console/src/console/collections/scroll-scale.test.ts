import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Extent, hiddenHeight, highest, isJump, type Position, scrolled, settled } from './scroll-scale.ts'

const row = 38
const screen = 700
const start: Position = { top: 0, above: 0 }

function extentOf(rows: number): Extent {
  const height = rows * row
  return { most: Math.min(height, highest) + row - screen, hidden: hiddenHeight(height) }
}

/** The first row on the screen. */
const firstRow = ({ top, above }: Position) => (top + above) / row
const lastRow = (position: Position) => (position.top + position.above + screen - row) / row

test('a list that browsers can draw is scrolled as it is', () => {
  const extent = extentOf(390_000)
  for (const top of [0, 1, 5_000_000, extent.most]) {
    assert.deepEqual(scrolled(start, top, extent, screen), { top, above: 0 })
    assert.deepEqual(settled({ top, above: 0 }, extent), { top, above: 0 })
  }
})

test('no list is higher than Firefox draws an element, 17.9 million pixels', () => {
  const { most } = extentOf(50_000_000)
  assert.ok(most + screen < 17_900_000, String(most + screen))
})

test('the ends of the scroll bar are the ends of a list of any length', () => {
  for (const rows of [1, 400_000, 1_000_000, 50_000_000]) {
    const extent = extentOf(rows)
    const end = scrolled(start, extent.most, extent, screen)
    assert.equal(lastRow(end), rows, `${rows} rows`)
    assert.equal(firstRow(scrolled(end, 0, extent, screen)), 0)
  }
})

test('the middle of the scroll bar is the middle of the list', () => {
  const extent = extentOf(1_000_000)
  const middle = scrolled(start, extent.most / 2, extent, screen)
  assert.ok(Math.abs(firstRow(middle) - 500_000) < 20, String(firstRow(middle)))
})

test('every row is reached by steps of one screen, from each end, with and without rests', () => {
  const rows = 1_000_000
  const extent = extentOf(rows)
  for (const restsAfter of [1, 7, 400]) {
    for (const direction of [1, -1]) {
      let position = direction === 1 ? start : scrolled(start, extent.most, extent, screen)
      const seen = new Set<number>()
      for (let step = 1; step < 60_000; step++) {
        const before = position.top + position.above
        const top = Math.min(extent.most, Math.max(0, position.top + direction * (screen - row)))
        position = scrolled(position, top, extent, screen)
        assert.ok(Math.abs(position.top + position.above - before) <= screen, `step ${step} passes rows`)
        if (step % restsAfter === 0) position = settled(position, extent)
        seen.add(Math.round(firstRow(position)))
        if (position.top === (direction === 1 ? extent.most : 0)) break
      }
      assert.ok(seen.has(direction === 1 ? Math.round((extent.most + extent.hidden) / row) : 0), 'the end is reached')
    }
  }
})

const someRows = fc.integer({ min: 20, max: 10_000_000 })
const someShare = fc.double({ min: 0, max: 1, noNaN: true })

test('a rest moves the scroll bar and no row, and a second rest nothing', () => {
  fc.assert(
    fc.property(someRows, someShare, fc.integer({ min: 0, max: 900_000 }), (rows, share, steps) => {
      const extent = extentOf(rows)
      const top = Math.round(share * extent.most)
      const position = scrolled(start, top, extent, screen)
      const moved = { top: Math.min(extent.most, top + steps), above: position.above }
      const rest = settled(moved, extent)
      assert.equal(rest.top + rest.above, moved.top + moved.above)
      assert.deepEqual(settled(rest, extent), rest)
      assert.ok(rest.above >= 0 && rest.above <= extent.hidden && rest.top <= extent.most)
      // What a rest finds is where a jump leads, but for what nobody sees of a scroll bar of 15 million pixels.
      const jumped = scrolled({ top: rest.top - 5 * screen, above: 0 }, rest.top, extent, screen)
      const jumpedTo = jumped.top + jumped.above
      assert.ok(Math.abs(jumpedTo - rest.top - rest.above) <= 100_000 * (1 + extent.hidden / 13_000_000))
    }),
  )
})

test('a list that became shorter hides less', () => {
  const end = scrolled(start, extentOf(1_000_000).most, extentOf(1_000_000), screen)
  assert.equal(scrolled(end, end.top - 100, extentOf(500_000), screen).above, extentOf(500_000).hidden)
})

test('a key or a wheel makes no jump, and a dragged scroll bar does', () => {
  assert.ok(!isJump(start, screen, screen))
  assert.ok(isJump(start, 25_000, screen))
})
