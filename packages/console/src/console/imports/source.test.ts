import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSource, recordsOf, type SourceRecord } from './source.ts'

async function readFile(content: string | Uint8Array<ArrayBuffer>, name: string) {
  const source = await openSource(new File([content], name))
  const records: SourceRecord[] = []
  for await (const record of recordsOf(source)) records.push(record)
  return {
    source,
    records,
    read: records.map(({ line, values, wrong }) => [line, wrong ?? Object.fromEntries(values)]),
  }
}

test('the content of a file says what it is', async () => {
  assert.equal((await readFile('a,b\n1,2', 'x.csv')).source.format, 'csv')
  assert.equal((await readFile(' [{"a":1}]', 'x.json')).source.format, 'json')
  assert.equal((await readFile('{"a":1}\n{"a":2}', 'x.json')).source.format, 'ndjson')
  assert.equal((await readFile('[a],b\n1,2', 'x.csv')).source.format, 'csv')
  assert.equal((await readFile('a;b\n1;2', 'x')).source.delimiter, ';')
})

test('columns have each name once, and rows of another width are wrong', async () => {
  const { source, read } = await readFile('\ufeffa, a ,,__proto__\n1,2,3,4\n1,2\n', 'x.csv')
  assert.deepEqual(source.columns, ['a', 'a (2)', 'column (3)', '__proto__'])
  assert.deepEqual(read, [
    [
      2,
      Object.fromEntries([
        ['a', '1'],
        ['a (2)', '2'],
        ['column (3)', '3'],
        ['__proto__', '4'],
      ]),
    ],
    [3, 'The row has 2 cells, and the first row 4.'],
  ])
})

test('encodings: UTF-8 with and without its mark, UTF-16, and what spreadsheets of Windows write', async () => {
  const utf16 = new Uint8Array([
    0xff,
    0xfe,
    ...new Uint8Array(new Uint16Array([...'a\nü'].map((c) => c.charCodeAt(0))).buffer),
  ])
  assert.deepEqual((await readFile(utf16, 'x.csv')).read, [[2, { a: 'ü' }]])
  const windows = new Uint8Array([0x61, 0x0a, 0xfc])
  assert.deepEqual((await readFile(windows, 'x.csv')).read, [[2, { a: 'ü' }]])
  assert.deepEqual((await readFile('a\nü', 'x.csv')).read, [[2, { a: 'ü' }]])
})

test('a text that turns out to have another encoding is not decoded wrongly', async () => {
  const late = new Uint8Array(400_000).fill(0x61)
  late[1] = 0x0a
  late[399_999] = 0xfc
  await assert.rejects(readFile(late, 'x.csv'), /The file is not utf-8\. Choose its encoding\./)
})

test('characters and rows may lie across two pieces of a file', async () => {
  const rows = Array.from({ length: 60_000 }, (_, index) => `${index},"über\n${'€'.repeat(index % 17)}"`)
  const { records } = await readFile(`n,text\n${rows.join('\n')}\n`, 'x.csv')
  assert.equal(records.length, 60_000)
  assert.ok(records.every(({ values, line }, index) => values.get('n') === String(index) && line === 2 + 2 * index))
  assert.equal(records[59_999]?.values.get('text'), `über\n${'€'.repeat(59_999 % 17)}`)
})

test('JSON that is none, that is no object, or that a page would change is wrong at its line', async () => {
  const lines = [
    '{"a":1}',
    '{"a":}',
    '7',
    '[1]',
    'null',
    '{"a":12345678901234567890}',
    '{"a":0.1234567890123456789}',
    '{"a":1e3,"b":0.50}',
  ]
  assert.deepEqual((await readFile(lines.join('\n'), 'x.ndjson')).read, [
    [1, { a: 1 }],
    [2, 'This is not JSON.'],
    [3, 'A record must be a JSON object.'],
    [4, 'A record must be a JSON object.'],
    [5, 'A record must be a JSON object.'],
    [6, 'The number 12345678901234567890 has more digits than a page keeps. Write it as a text.'],
    [7, 'The number 0.1234567890123456789 has more digits than a page keeps. Write it as a text.'],
    [8, { a: 1000, b: 0.5 }],
  ])
})

test('an empty file has no columns', async () => {
  const { source, records } = await readFile('', 'x.csv')
  assert.deepEqual([source.columns, records], [[], []])
})
