import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accepts, mediaRanges } from './preferences.ts'

const rows: [string | undefined, boolean][] = [
  [undefined, true],
  ['', true],
  [' \t', true],
  [',,,', true],
  ['*/*', true],
  ['application/json', true],
  ['Application/JSON', true],
  ['application/*', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="UTF-8"', true],
  ['application/json; charset=iso-8859-1', false],
  ['*/*;charset=utf-8', true],
  ['text/html, application/xhtml+xml, */*;q=0.8', true],
  ['text/html, application/json;q=0.5', true],
  ['application/json, application/problem+json', true],
  ['application/problem+json', false],
  ['text/html,,\tapplication/json ,', true],
  ['text/html', false],
  ['text/*', false],
  ['application/xml', false],
  ['application/jsonp', false],
  ['application/json; version=2', false],
  ['application/json; version=2, application/*;q=0.1', true],
  // A comma in quoted text parts nothing.
  ['text/html;title="application/json, */*"', false],
  ['text/html;title="\\", */*"', false],
  ['text/html;title="a, b", application/json', true],
]
for (const [accept, expected] of rows) {
  test(`Accept: ${accept} ${expected ? 'takes' : 'does not take'} JSON`, () => assert.equal(accepts(accept), expected))
}

// RFC 9110 section 12.4.2: 0 is no; section 12.5.1: the most specific range counts, wherever it stands.
const weights: [string, boolean][] = [
  ['application/json;q=1', true],
  ['application/json;q=1.000', true],
  ['application/json;q=0.1', true],
  ['application/json;q=0.001', true],
  ['application/json ; q=0.5', true],
  ['application/json;q=0', false],
  ['application/json;q=0.000', false],
  ['application/json;Q=0', false],
  ['*/*;q=0', false],
  ['application/*;q=0', false],
  ['application/json;q=0, */*', false],
  ['*/*, application/json;q=0', false],
  ['application/json;q=0, application/*;q=1, */*;q=1', false],
  ['application/*;q=0, */*', false],
  ['*/*;q=0, application/json', true],
  ['*/*;q=0, application/*;q=0.1', true],
  ['application/*;q=0, application/json', true],
  ['application/json;q=0, application/json;charset=utf-8', true],
  ['application/json;charset=utf-8;q=0, application/json', true],
  ['application/json;charset=utf-8;q=0', false],
  ['text/html;q=0, */*', true],
  ['text/*;q=0', false],
]
for (const [accept, expected] of weights) {
  test(`weights: Accept: ${accept} ${expected ? 'takes' : 'does not take'} JSON`, () =>
    assert.equal(accepts(accept), expected))
}

const malformed: [string, boolean][] = [
  ['nonsense', false],
  ['*', false],
  ['/', false],
  ['application', false],
  ['application/', false],
  ['/json', false],
  ['application/json garbage', false],
  ['application/json;q=high', false],
  ['application/json;q=-1', false],
  ['text/html;title="', false],
  ['application/json;__proto__=1', false],
  ['nonsense, application/json', true],
  ['application/json, nonsense', true],
]
for (const [accept, expected] of malformed) {
  test(`malformed: Accept: ${accept} ${expected ? 'takes' : 'does not take'} JSON`, () =>
    assert.equal(accepts(accept), expected))
}

test('accepts works for other media types', () => {
  assert.equal(accepts('text/csv', 'text/csv'), true)
  assert.equal(accepts('text/csv', 'application/json'), false)
  assert.equal(accepts('text/*;q=0.1', 'text/csv'), true)
  assert.equal(accepts('application/json', 'text/csv'), false)
})

test('a field of 1,000 characters is read, a longer one is ignored', () => {
  const range = 'text/html'
  assert.equal(accepts(range.padEnd(1000)), false)
  assert.equal(accepts(range.padEnd(1001)), true)
})

test('10,000 ranges cost no more than few', () => {
  const accept = Array(10_000).fill('text/html;q=0.5').join(',')
  const start = process.cpuUsage()
  for (let count = 0; count < 1000; count++) accepts(accept)
  // Read through, once takes 30 ms.
  assert.ok(process.cpuUsage(start).user < 1_000_000)
})

const covering = ['application/json', 'application/*', '*/*'] as const
const others = ['text/html', 'text/*', 'application/xml', 'image/png'] as const

test('in every list, the most specific range that matches JSON decides', () => {
  const range = fc.record({
    type: fc.constantFrom(...covering, ...others),
    weight: fc.constantFrom('', ';q=0', ';q=0.001', '; q=1', ';q=0.0'),
  })
  const list = fc.uniqueArray(range, { minLength: 1, maxLength: 7, selector: ({ type }) => type })
  fc.assert(
    fc.property(list, (ranges) => {
      const deciding = covering.map((type) => ranges.find((range) => range.type === type)).find((found) => found)
      const expected = deciding !== undefined && !/q=0(?:\.0)?$/.test(deciding.weight)
      assert.equal(accepts(ranges.map(({ type, weight }) => `${type}${weight}`).join(', ')), expected)
    }),
  )
})

test('no value makes it throw', () => {
  const piece = fc.constantFrom('application/json', '*/*', '/', ';', ',', '=', 'q', '0', '"', '\\', ' ', '\t', 'ÿ', '*')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      assert.equal(typeof accepts(pieces.join('')), 'boolean')
    }),
  )
})

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
    const started = process.cpuUsage()
    mediaRanges(piece.repeat(16_000))
    assert.ok(process.cpuUsage(started).user < 250_000, piece)
  }
})
