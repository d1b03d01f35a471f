import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatEntityTag, parseEntityTags, sameStrongly, sameWeakly } from './preconditions.ts'

const strong = (opaque: string) => ({ opaque, weak: false })
const weak = (opaque: string) => ({ opaque, weak: true })

const readable: [string, ReturnType<typeof parseEntityTags>][] = [
  ['*', 'any'],
  ['  * ', 'any'],
  ['"xyzzy"', [strong('xyzzy')]],
  ['W/"xyzzy"', [weak('xyzzy')]],
  ['""', [strong('')]],
  ['"xyzzy", "r2d2xxxx", "c3piozzzz"', [strong('xyzzy'), strong('r2d2xxxx'), strong('c3piozzzz')]],
  ['"a,b" ,W/"c,d"', [strong('a,b'), weak('c,d')]],
  ['"a\\"', [strong('a\\')]],
  [', "a",, "b" ,', [strong('a'), strong('b')]],
  ['"\xe9"', [strong('\xe9')]],
]
for (const [text, expected] of readable) {
  test(`${text} is read`, () => assert.deepEqual(parseEntityTags(text), expected))
}

const malformed = [
  '',
  ' ',
  ',',
  'abc',
  '"abc',
  'abc"',
  'w/"a"',
  'W/ "a"',
  '"a" "b"',
  '"a""b"',
  '"a b"',
  '*, "a"',
  '"a", *',
]
for (const text of malformed) {
  test(`${JSON.stringify(text)} is malformed`, () => assert.equal(parseEntityTags(text), undefined))
}

test('a long malformed value is refused at once', () => {
  const started = process.cpuUsage()
  assert.equal(parseEntityTags(`${', '.repeat(30_000)}x`), undefined)
  assert.deepEqual(parseEntityTags('"a" '.padEnd(60_000)), [strong('a')])
  assert.ok(process.cpuUsage(started).user < 200_000)
})

test('the comparison table of RFC 9110 section 8.8.3.2', () => {
  const rows = [
    [weak('1'), weak('1'), false, true],
    [weak('1'), weak('2'), false, false],
    [weak('1'), strong('1'), false, true],
    [strong('1'), strong('1'), true, true],
  ] as const
  for (const [left, right, strongly, weakly] of rows) {
    assert.equal(sameStrongly(left, right), strongly)
    assert.equal(sameWeakly(left, right), weakly)
  }
})

test('a tag is written as it is read', () => {
  assert.equal(formatEntityTag(strong('7')), '"7"')
  assert.equal(formatEntityTag(weak('7')), 'W/"7"')
})
