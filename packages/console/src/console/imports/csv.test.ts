import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine, csvReader, guessDelimiter, type Row } from './csv.ts'

const notClosed = 'A cell of the row that begins here opens a quote that nothing closes.'
const goesOn = 'A cell goes on after its closing quote. Put the whole cell into quotes.'

/** [what, text, rows as line, cells and what is wrong] */
const table: readonly (readonly [string, string, ...Row[]])[] = [
  ['plain cells', 'a,b\n1,2\n', { line: 1, cells: ['a', 'b'] }, { line: 2, cells: ['1', '2'] }],
  ['no line break at the end', 'a,b', { line: 1, cells: ['a', 'b'] }],
  ['CR LF', 'a,b\r\n1,2\r\n', { line: 1, cells: ['a', 'b'] }, { line: 2, cells: ['1', '2'] }],
  ['CR alone', 'a\rb\r', { line: 1, cells: ['a'] }, { line: 2, cells: ['b'] }],
  ['quotes', '"a,b","say ""hi"""', { line: 1, cells: ['a,b', 'say "hi"'] }],
  ['line breaks in quotes', '"a\r\nb",c\nd,e', { line: 1, cells: ['a\r\nb', 'c'] }, { line: 3, cells: ['d', 'e'] }],
  ['empty cells', ',\n"",x', { line: 1, cells: ['', ''] }, { line: 2, cells: ['', 'x'] }],
  ['blank lines', 'a\n\n\r\nb\n', { line: 1, cells: ['a'] }, { line: 4, cells: ['b'] }],
  ['a quote inside a cell', '5" disk,x', { line: 1, cells: ['5" disk', 'x'] }],
  ['spaces', ' a , b ', { line: 1, cells: [' a ', ' b '] }],
  ['text after a quote', '"a"b,c\nd,e', { line: 1, cells: ['ab', 'c'], wrong: goesOn }, { line: 2, cells: ['d', 'e'] }],
  ['an open quote', 'a\n"b,c\nd\n', { line: 1, cells: ['a'] }, { line: 2, cells: ['b,c\nd\n'], wrong: notClosed }],
]

for (const [what, text, ...rows] of table) {
  test(`CSV is read wherever its pieces end: ${what}`, () => {
    assert.deepEqual(csvReader(',')(text, true), rows)
    for (let at = 0; at <= text.length; at += 1) {
      const read = csvReader(',')
      assert.deepEqual([...read(text.slice(0, at)), ...read(text.slice(at), true)], rows, `in two pieces, at ${at}`)
    }
    const read = csvReader(',')
    const letterByLetter = [...text].flatMap((character) => read(character))
    assert.deepEqual([...letterByLetter, ...read('', true)], rows)
  })
}

test('after a quote that nothing closes, no text becomes a record', () => {
  const read = csvReader(',')
  const rows = [...read('a,b\n1,"'), ...read('x'.repeat(4_100_000)), ...read('\nc","d\ne,f\n'), ...read('g,h', true)]
  assert.deepEqual(
    rows.map(({ line, wrong }) => [line, wrong]),
    [
      [1, undefined],
      [2, notClosed],
    ],
  )
})

test('the delimiter is found out', () => {
  assert.equal(guessDelimiter('a,b;c,d\n'), ',')
  assert.equal(guessDelimiter('name;price\n"a,b,c,d";1,5'), ';')
  assert.equal(guessDelimiter('name\tlabels\nx\ta,b,c'), '\t')
  assert.equal(guessDelimiter('"a,b,c"|d|e'), '|')
  assert.equal(guessDelimiter('one column'), ',')
  assert.equal(guessDelimiter(''), ',')
})

test('a written line is read as it was', () => {
  const cells = ['a', '', 'b,c', 'd;e', '"f"', 'g\r\nh', ' i ']
  for (const delimiter of [',', ';', '\t']) {
    assert.deepEqual(csvReader(delimiter)(csvLine(cells, delimiter), true), [{ line: 1, cells }])
  }
})
