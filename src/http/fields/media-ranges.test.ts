import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mediaRanges } from './media-ranges.ts'

const cases: readonly [accept: string, ranges: readonly (readonly [range: string, weight: number])[]][] = [
  ['text/html', [['text/html', 1]]],
  ['Text/HTML;level=1;Q=0.5 , */*; q=0.125', [['text/html', 0.5], ['*/*', 0.125]]],
  ['a/b;q=1.000,c/d;q=0,e/f;q=0.', [['a/b', 1], ['c/d', 0], ['e/f', 0]]],
  ['a/b;q=1.1,c/d;q=-1,e/f;q=high,g/h;q=,i/j;q=0.1234', [['a/b', 0], ['c/d', 0], ['e/f', 0], ['g/h', 0], ['i/j', 0]]],
  ['a/b;x="c/d, e/f;q=0";q=0.5, g/h', [['a/b', 0.5], ['g/h', 1]]],
  ['a/b;x="\\", c/d", e/f', [['a/b', 1], ['e/f', 1]]],
  ['a/b;x="open, c/d', [['a/b', 1]]],
  ['', [['', 1]]],
  [',,', [['', 1], ['', 1], ['', 1]]],
] // biome-ignore format: a table
for (const [accept, ranges] of cases) {
  test(`${JSON.stringify(accept)} is ${JSON.stringify(ranges)}`, () => {
    assert.deepEqual(
      mediaRanges(accept).map(({ range, weight }) => [range, weight]),
      ranges,
    )
  })
}

test('the time is linear in the length', () => {
  for (const piece of ['"', '\\"', ',', ';', 'a/b;q=0.1,', '";,"']) {
    const started = performance.now()
    mediaRanges(piece.repeat(16_000))
    assert.ok(performance.now() - started < 250, piece)
  }
})
