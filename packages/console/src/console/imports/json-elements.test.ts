import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrayReader, type Element, lineReader } from './json-elements.ts'

/** [what, text, elements] */
type Case = readonly [string, string, ...Element[]]

const arrays: readonly Case[] = [
  ['two on a line', '[{"a":1},{"a":2}]', { line: 1, text: '{"a":1}' }, { line: 1, text: '{"a":2}' }],
  ['on lines', '[\n{"a":1},\n\n{"a":\n2}\n]\n', { line: 2, text: '{"a":1}' }, { line: 4, text: '{"a":\n2}' }],
  ['brackets in strings', '[{"a":"],}\\"[{"}]', { line: 1, text: '{"a":"],}\\"[{"}' }],
  ['arrays within', '[{"a":[1,[2]]},3]', { line: 1, text: '{"a":[1,[2]]}' }, { line: 1, text: '3' }],
  ['empty', ' [ ] '],
  ['more after it', '[1] x', { line: 1, text: '1' }, { line: 1, text: 'x', wrong: 'Nothing may follow the array.' }],
  [
    'no end',
    '[{"a":1},\n{"a"',
    { line: 1, text: '{"a":1}' },
    { line: 2, text: '', wrong: 'The file ends before its array does.' },
  ],
]

const lines: readonly Case[] = [
  ['two', '{"a":1}\n{"a":2}\n', { line: 1, text: '{"a":1}' }, { line: 2, text: '{"a":2}' }],
  ['CR LF and blank lines', '{"a":1}\r\n\r\n \n{"a":2}', { line: 1, text: '{"a":1}' }, { line: 4, text: '{"a":2}' }],
]

for (const [make, cases] of [[arrayReader, arrays] as const, [lineReader, lines] as const]) {
  for (const [what, text, ...elements] of cases) {
    test(`JSON is read wherever its pieces end: ${make.name}, ${what}`, () => {
      for (let at = 0; at <= text.length; at += 1) {
        const read = make()
        assert.deepEqual([...read(text.slice(0, at)), ...read(text.slice(at), true)], elements, `at ${at}`)
      }
    })
  }
}

for (const [make, start] of [[arrayReader, '[{"a":"'] as const, [lineReader, '{"a":"'] as const]) {
  test(`after a record that does not end, no text becomes a record: ${make.name}`, () => {
    const read = make()
    const found = [...read(start), ...read('x'.repeat(4_100_000)), ...read('"},{"a":1}\n{"a":1}]'), ...read('', true)]
    assert.deepEqual(
      found.map(({ line, wrong }) => [line, wrong]),
      [[1, 'The record that begins here does not end.']],
    )
  })
}
