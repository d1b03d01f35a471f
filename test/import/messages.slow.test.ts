/** What `resourced import` says about files that it cannot import, and about options that do not fit. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newDatabase } from '../engine.ts'
import { commandFolder } from './command.ts'

const { folder, run, remove } = commandFolder()
after(remove)

writeFileSync(
  join(folder, 'resources.yaml'),
  `name: office
resources:
  people:
    fields:
      old_id: { type: integer, unique: true, optional: true }
      name: { type: string }
      city: { type: string, optional: true }
      boss_id: { reference: people, optional: true }
`,
)
const stopped = ['Stopped. Nothing is imported.']
const correct = [
  'Stopped. Nothing is imported.',
  'Correct the line above and start again, or leave out what is invalid with --skip-invalid.',
]

interface Case {
  readonly name: string
  readonly file: string | Uint8Array
  readonly given: readonly string[]
  readonly map?: string
  readonly said: readonly string[]
  readonly code?: number
}

const text = 'name,city\nZoë,Århus\n'
const cases: readonly Case[] = [
  {
    name: 'UTF-16 without a byte order mark',
    file: Buffer.from(text, 'utf16le'),
    given: ['file.csv'],
    said: ['line 1: INVALID_TEXT: The file is not UTF-8: it looks like utf-16le. Say --encoding utf-16le.', ...stopped],
  },
  {
    name: 'a wrong encoding is not believed',
    file: text,
    given: ['file.csv', '--encoding', 'windows-1252'],
    said: ['line 1: INVALID_TEXT: The file is UTF-8, not windows-1252. Leave --encoding out.', ...stopped],
  },
  {
    name: 'an encoding that is not said',
    file: Buffer.from(text, 'latin1'),
    given: ['file.csv'],
    said: [
      'line 2: INVALID_TEXT /name: name is not valid UTF-8. Name the encoding of the file, such as --encoding windows-1252.',
      'line 2: INVALID_TEXT /city: city is not valid UTF-8. Name the encoding of the file, such as --encoding windows-1252.',
      ...correct,
    ],
  },
  {
    name: 'a comma at the end of an object',
    file: '[{"name":"Ann",}]',
    given: ['file.json'],
    said: ['line 1: MALFORMED_JSON: A comma stands before the end of an object. (line 1, column 16)', ...correct],
  },
  {
    name: 'semicolons',
    file: 'name;city\nAnn;Bonn\n',
    given: ['file.csv'],
    said: [
      `line 1: UNKNOWN_FIELD: "name;city" is one column. If it is several, name what separates them: --delimiter ';'.`,
      ...stopped,
    ],
  },
  {
    name: 'semicolons, where columns that are no fields are left out',
    file: 'name;city\nAnn;Bonn\n',
    given: ['file.csv', '--ignore-unknown'],
    said: [
      `line 1: UNKNOWN_FIELD: No column is a field of people. There are: "name;city". If one is several, say --delimiter ';'. Name their fields with --map.`,
      ...stopped,
    ],
  },
  {
    name: 'no column that is a field',
    file: 'Name,Stadt\nAnn,Bonn\n',
    given: ['file.csv', '--ignore-unknown', '--skip-invalid'],
    said: [
      'line 1: UNKNOWN_FIELD: No column is a field of people. There are: "Name" and "Stadt". Name their fields with --map.',
      ...stopped,
    ],
  },
  ...[[], ['--ignore-unknown']].map((more) => ({
    name: ['the first line of Excel', ...more].join(' '),
    file: 'sep=;\r\nname;city\r\nAnn;Bonn\r\n',
    given: ['file.csv', ...more],
    said: [
      `line 1: UNKNOWN_FIELD: The first row is "sep=;", so no column is a field. Remove this line, and say --delimiter ';'.`,
      ...stopped,
    ],
  })),
  {
    name: 'the first line of Excel, with the delimiter',
    file: 'sep=;\nname;city\nAnn;Bonn\n',
    given: ['file.csv', '--ignore-unknown', '--delimiter', ';'],
    said: ['line 1: UNKNOWN_FIELD: The first row is "sep=", so no column is a field. Remove this line.', ...stopped],
  },
  {
    name: 'an object without a field',
    file: '[{"Name":"Ann","Stadt":"Bonn"}]',
    given: ['file.json', '--ignore-unknown'],
    said: [
      'line 1: UNKNOWN_FIELD: No column is a field of people. There are: "Name" and "Stadt". Name their fields with --map.',
      ...correct,
    ],
  },
  {
    name: 'a column of another name is named by both',
    file: 'Nr,Name,Chef\n1,,\n2,Bea,7\n',
    given: ['file.csv', '--map', 'map.yaml', '--key', 'old_id'],
    map: 'columns: { Nr: old_id, Name: name, Chef: boss_id }\n',
    said: [
      'line 2, column "Name": REQUIRED /name: name is required.',
      'line 3, column "Chef": INVALID_REFERENCE /boss_id: boss_id refers to nothing: neither a row nor one of the people ' +
        'has old_id 7.',
      'Stopped: 2 records refused. Nothing is imported.',
      'Correct the lines above and start again, or leave out what is invalid with --skip-invalid.',
    ],
  },
  {
    name: 'the mistakes of a map have places and remedies',
    file: 'name\nAnn\n',
    given: ['file.csv', '--map', 'map.yaml'],
    map: 'columns:\n  Name: nmae\n',
    said: [
      'One thing is wrong in map.yaml:',
      '',
      '  1. columns.Name',
      '     is not a field of people',
      '     → Did you mean "name"?',
      '',
      '     map.yaml:2:9',
      '     2 │   Name: nmae',
      '       │         ^^^^',
    ],
  },
  {
    name: 'a key that is not unique',
    file: text,
    given: ['file.csv', '--key', 'city'],
    said: [
      '--key city: city of people is not unique. Name old_id, or declare city: { type: string, optional: true, unique: true }.',
    ],
  },
  {
    name: 'options that contradict each other',
    file: text,
    given: ['file.csv', '--all-or-nothing', '--skip-invalid'],
    said: ['--all-or-nothing and --skip-invalid contradict each other. Use one of them.'],
    code: 2,
  },
  {
    name: 'a separator of two characters',
    file: text,
    given: ['file.csv', '--delimiter', ';;'],
    said: ['--delimiter takes one character, or tab, not ";;".'],
    code: 2,
  },
  {
    name: 'an encoding that nobody knows',
    file: text,
    given: ['file.csv', '--encoding', 'latin99'],
    said: [
      '--encoding latin99 is not known. Use utf-8, utf-16le, utf-16be, windows-1252 or another name of the Encoding standard.',
    ],
    code: 2,
  },
  {
    name: 'a map that is not there',
    file: text,
    given: ['file.csv', '--map', 'none.yaml'],
    said: ['There is no file none.yaml.'],
  },
]

test('what is wrong with a file or an option is said with what to do', async (context) => {
  const database = await newDatabase()
  assert.equal((await run(['migrate', '--apply', '--database', database.address])).code, 0)
  for (const { name, file, given, map, said, code = 1 } of cases) {
    await context.test(name, async () => {
      writeFileSync(join(folder, given[0] as string), file)
      if (map !== undefined) writeFileSync(join(folder, 'map.yaml'), map)
      const ended = await run(['import', 'people', ...given, '--database', database.address])
      assert.deepEqual(
        ended.said
          .trimEnd()
          .split('\n')
          .map((line) => line.trimEnd()),
        said,
      )
      assert.equal(ended.code, code)
    })
  }
  assert.equal(Number((await database.rows('select count(*) as count from people'))[0]?.['count']), 0)
})

test('at most 1,000 refused records are listed', async () => {
  const database = await newDatabase()
  writeFileSync(join(folder, 'many.csv'), `name\n${'""\n'.repeat(1_500)}`)
  const { said, code } = await run(['import', 'people', 'many.csv', '--skip-invalid', '--database', database.address])
  const lines = said.trimEnd().split('\n')
  assert.equal(lines.filter((line) => line.includes('REQUIRED /name')).length, 1_000)
  assert.match(said, /^500 more refused records are not listed\.$/m)
  assert.match(said, /^Imported 0 records into people in .*; left out 1,500 records, for the reasons above\.$/m)
  assert.equal(code, 1)
})
