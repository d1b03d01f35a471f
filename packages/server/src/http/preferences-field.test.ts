import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPreferences } from './preferences.ts'

const table: readonly (readonly [text: string | undefined, expected: Record<string, string>])[] = [
  [undefined, {}],
  ['', {}],
  ['return=minimal', { return: 'minimal' }],
  ['Return="representation"', { return: 'representation' }],
  ['respond-async, wait=10', { 'respond-async': '', wait: '10' }],
  ['handling=strict;why="a, b" , max-affected=5', { handling: 'strict', 'max-affected': '5' }],
  ['return=minimal, return=representation', { return: 'minimal' }],
  ['foo; some="x,y", return = minimal', { foo: '', return: 'minimal' }],
  ['return="mini\\mal"', { return: 'minimal' }],
  ['return="minimal', {}],
  ['=x, return=minimal', {}],
]
for (const [text, expected] of table) {
  test(`RFC 7240 section 2: Prefer: ${text}`, () => {
    assert.deepEqual(Object.fromEntries(readPreferences(text)), expected)
  })
}

test('any field of sixteen kilobytes is read at once', () => {
  for (const filler of [';', '; ', ';a', ';a="', ',', '\\', '"', '=', 'a']) {
    for (const end of ['', '"', '=']) {
      const started = process.cpuUsage()
      readPreferences(`a${filler.repeat(16_000 / filler.length)}${end}`)
      assert.ok(process.cpuUsage(started).user < 500_000, filler)
    }
  }
})
