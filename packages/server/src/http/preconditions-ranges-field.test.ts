import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostRanges, parseByteRanges } from './preconditions.ts'

const readable: [string, ReturnType<typeof parseByteRanges>][] = [
  ['bytes=0-499', [{ first: 0, last: 499 }]],
  ['bytes=9500-', [{ first: 9500, last: undefined }]],
  ['bytes=-500', [{ suffix: 500 }]],
  ['bytes=-0', [{ suffix: 0 }]],
  ['bytes=7-7', [{ first: 7, last: 7 }]],
  ['bytes=007-08', [{ first: 7, last: 8 }]],
  ['BYTES=0-0', [{ first: 0, last: 0 }]],
  ['bytes=0-0,-1', [{ first: 0, last: 0 }, { suffix: 1 }]],
  // An example of section 14.1.2.
  ['bytes= 0-999, 4500-5499, -1000', [{ first: 0, last: 999 }, { first: 4500, last: 5499 }, { suffix: 1000 }]],
  ['bytes=,, 1-2\t,,', [{ first: 1, last: 2 }]],
  [`bytes=0-${'9'.repeat(400)}`, [{ first: 0, last: Number.POSITIVE_INFINITY }]],
]
for (const [text, expected] of readable) {
  test(`Range: ${text.slice(0, 40)}`, () => assert.deepEqual(parseByteRanges(text), expected))
}

const ignored = [
  '',
  'bytes',
  'bytes=',
  'bytes=,',
  'bytes=-',
  'bytes=5',
  'bytes=5-2',
  'bytes=0-1,5-2',
  'bytes=0-1,x',
  'bytes=a-b',
  'bytes=+1-2',
  'bytes=1.0-2',
  'bytes=0x1-2',
  'bytes=--1',
  'bytes=1-2-3',
  'bytes=1 -2',
  'bytes=1-2 3-4',
  'bytes=1-2;3-4',
  'bytes =0-1',
  'bytes 0-1/2',
  'items=0-1',
  'xbytes=0-1',
  '0-1',
]
for (const text of ignored) {
  test(`Range: ${text} is ignored`, () => assert.equal(parseByteRanges(text), undefined))
}

test('more ranges than anyone needs are ignored', () => {
  const ranges = (count: number) => `bytes=${Array.from({ length: count }, (_, index) => `${index}-${index}`).join()}`
  assert.equal(parseByteRanges(ranges(mostRanges))?.length, mostRanges)
  assert.equal(parseByteRanges(ranges(mostRanges + 1)), undefined)
})

test('a long malformed value is refused at once', () => {
  const started = process.cpuUsage()
  assert.equal(parseByteRanges(`bytes=${' ,'.repeat(30_000)}x`), undefined)
  assert.equal(parseByteRanges(`bytes=${'1'.repeat(60_000)}`), undefined)
  assert.ok(process.cpuUsage(started).user < 200_000)
})
