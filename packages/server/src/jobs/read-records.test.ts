import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Resource } from 'resourced-contract/model/resource'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { Type } from 'typebox'
import { Columns } from './column-map.ts'
import { type Format, formatOf, readRecords } from './read-records.ts'

const { resources } = completeCatalog({
  name: 'towns',
  resources: {
    towns: {
      fields: {
        name: Type.String(),
        people: Type.Optional(Type.Integer()),
        tags: Type.Optional(Type.Array(Type.String())),
      },
    },
  },
})
const towns = new Columns(resources.get('towns') as Resource)

/** The records of a file, one text for each: its line and its value, or its issues. */
async function read(format: Format, file: string | Uint8Array, piece = 7, mostBytes = 1_000): Promise<string[]> {
  const bytes = Buffer.from(file)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const lines: string[] = []
  for await (const record of readRecords(pieces(), format, towns, { mostBytes })) {
    if ('value' in record) lines.push(`${record.line} ${JSON.stringify(record.value)}`)
    else {
      const issues = record.issues.map((each) => `${each.code} ${each.pointer ?? ''} ${sentenceOf(each)}`)
      lines.push(`${record.line} ${record.final === true ? 'final ' : ''}${issues.join(' | ')}`)
    }
  }
  return lines
}

test('the extension of a file decides its format', () => {
  const formats = ['a.json', 'B.NDJSON', 'c.jsonl', 'd.csv', 'e.txt', '-'].map(formatOf)
  assert.deepEqual(formats, ['json', 'ndjson', 'ndjson', 'csv', undefined, undefined])
})

const files: readonly (readonly [Format, string])[] = [
  ['json', '[{"name":"Bern","people":null},\n{"name":"Zürich","people":3}]'],
  ['ndjson', '{"name":"Bern","people":null}\n{"name":"Zürich","people":3}\n'],
  ['csv', 'name,people\nBern,\nZürich,3\n'],
]
for (const [format, file] of files) {
  test(`${format}: the same records, in pieces of any size, with and without a byte order mark`, async () => {
    const first = format === 'csv' ? 2 : 1
    const expected = [`${first} {"name":"Bern","people":null}`, `${first + 1} {"name":"Zürich","people":3}`]
    for (let piece = 1; piece < 12; piece++) {
      assert.deepEqual(await read(format, file, piece), expected)
      assert.deepEqual(await read(format, `\ufeff${file}`, piece), expected)
    }
  })
}

test('json: a bad record is reported with its place in the file, and the next one is read', async () => {
  assert.deepEqual(await read('json', '[\n{"name":"a"},\n  {"name" "b"}, {"a":1,"a":2},\n7]'), [
    '2 {"name":"a"}',
    '3 MALFORMED_JSON  A colon is missing after a key, before ". (line 3, column 11)',
    '3 DUPLICATE_KEY /a An object has the same key twice.',
    '4 7',
  ])
})

test('json: nothing more is read after a broken array', async () => {
  const lines = await read('json', '[{"name":"a"}] {"name":"b"}')
  assert.deepEqual(lines, ['1 {"name":"a"}', '1 final MALFORMED_JSON  Nothing may follow the array.'])
})

test('ndjson: blank lines, CRLF, a last line without its end, a bad line, a line that is too long', async () => {
  const file = `{"name":"a"}\r\n\r\n  \n{"name":\n{"name":"${'x'.repeat(1_000)}"}\n{"name":"b"}`
  assert.deepEqual(await read('ndjson', file), [
    '1 {"name":"a"}',
    '4 MALFORMED_JSON  The text ends too early: a value is missing, in an object that is not closed. (line 4, column 9)',
    '5 BODY_TOO_LARGE  The record is larger than 1,000 bytes.',
    '6 {"name":"b"}',
  ])
})

test('ndjson: invalid UTF-8 is refused, never replaced', async () => {
  const file = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xfc]), Buffer.from('"}\n{"name":"b"}\n')])
  assert.deepEqual(await read('ndjson', file), [
    '1 MALFORMED_JSON  The record is not valid UTF-8. Name the encoding of the file, such as --encoding windows-1252.',
    '2 {"name":"b"}',
  ])
})

test('csv: quotes, cells over several lines, blank lines; a record has the line where it begins', async () => {
  assert.deepEqual(await read('csv', 'name,tags\r\n"a ""b""\r\nc","[""x""]"\r\n\r\nd,\r\n'), [
    '2 {"name":"a \\"b\\"\\r\\nc","tags":["x"]}',
    '5 {"name":"d","tags":null}',
  ])
})

test('csv: a row of another length, or with a cell that cannot be read, is skipped, and the next row is read', async () => {
  assert.deepEqual(await read('csv', 'name,people,tags\na,1\nb,2,[\nc,3,[]\n'), [
    '2 INVALID_VALUE  The row has 2 cells, and the header 3.',
    '3 MALFORMED_JSON /tags The text ends too early: an array is not closed. (line 1, column 2)',
    '4 {"name":"c","people":3,"tags":[]}',
  ])
})

test('csv: an invalid header stops the reading', async () => {
  assert.deepEqual(await read('csv', 'id,name,nmae,name\n'), [
    '1 final READ_ONLY  The server sets id. Leave the column out with --ignore-unknown, or give it a field with --map. | UNKNOWN_FIELD  "nmae" is not a field of towns. ' +
      'Did you mean "name"? Or use --map, or leave it out: --ignore-unknown. | DUPLICATE_KEY  The column name is there twice.',
  ])
  assert.match((await read('csv', 'name;people\n'))[0] ?? '', /name what separates them: --delimiter ';'\.$/)
  assert.match((await read('csv', ''))[0] ?? '', /^1 final .*The file is empty/)
})

test('csv: misplaced quotes and rows that are too long end the reading', async () => {
  assert.match((await read('csv', 'name\nb\n"a\n'))[1] ?? '', /^3 final .* is never closed/)
  assert.match((await read('csv', 'name\n"a"b\n'))[0] ?? '', /^2 final .*follows a closing quote/)
  assert.match((await read('csv', 'name\na"b\n'))[0] ?? '', /^2 final .*a quote stands inside/)
  assert.match((await read('csv', `name\n${'x'.repeat(1_200)}\n`))[0] ?? '', /^2 final BODY_TOO_LARGE/)
})

test('an error of the source is thrown', async () => {
  async function* failing() {
    yield Buffer.from('name\na\n')
    throw new Error('the disk')
  }
  for (const format of ['json', 'ndjson', 'csv'] as const) {
    await assert.rejects(async () => {
      for await (const _ of readRecords(failing(), format, towns, { mostBytes: 100 }));
    }, /the disk/)
  }
})
