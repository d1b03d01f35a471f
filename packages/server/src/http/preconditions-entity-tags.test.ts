import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatEntityTag, namesState, parseEntityTags } from './preconditions.ts'

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

test('CON-3: a tag names a state in its weak form and with a compression too', () => {
  const rows = [
    [strong('7-abc'), true],
    [weak('7-abc'), true],
    [strong('7-abc-gzip'), true],
    [weak('7-abc-zstd'), true],
    [strong('7-abc-br'), true],
    [strong('8-abc'), false],
    [weak('8-abc'), false],
    [strong('8-abc-gzip'), false],
    [strong('7'), false],
    [strong('7-abc-deflate'), false],
    [strong('7-abc-gzip-gzip'), false],
    [strong('gzip'), false],
    [strong(''), false],
  ] as const
  for (const [tag, expected] of rows) assert.equal(namesState(tag, '7-abc'), expected, tag.opaque)
  assert.ok(namesState(strong('a-gzip'), 'a-gzip'))
  assert.ok(!namesState(strong('a-br'), 'a-gzip'), 'a representation with the name of a compression is exact')
})

test('a tag is written as it is read', () => {
  assert.equal(formatEntityTag(strong('7')), '"7"')
  assert.equal(formatEntityTag(weak('7')), 'W/"7"')
})
