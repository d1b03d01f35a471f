/**
 * Files as people have them go in with one command, without being edited: other names and forms, `NA`, other encodings,
 * keys of another system. Each row of the table is a file, its declaration, and what must come out.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newDatabase } from '../engine.ts'
import { commandFolder } from './command.ts'

const { folder, run, remove } = commandFolder()
after(remove)

interface Case {
  readonly file: string
  readonly content: string | Uint8Array
  /** The fields of the collection `records`. */
  readonly fields: string
  readonly map?: string
  readonly options?: readonly string[]
  /** What is printed before the summary. */
  readonly said?: string
  /** Columns and their values, in the order of creation. */
  readonly columns: string
  readonly expected: readonly (readonly unknown[])[]
}

const cases: readonly Case[] = [
  {
    file: 'birds.csv',
    content:
      'species,island,bill_length_mm,body_mass_g,sex\r\nAlpha,North,39.1,3750,male\r\nBeta,South,NA,NA,NA\r\n' +
      'Alpha,East,40.3,3250,female\r\n',
    fields: `{ species: { type: string }, island: { type: string }, bill_length_mm: { type: number, optional: true },
      body_mass_g: { type: integer, optional: true }, sex: { enum: [male, female], optional: true } }`,
    options: ['--null', 'NA'],
    columns: 'species, island, bill_length_mm, body_mass_g, sex',
    expected: [
      ['Alpha', 'North', 39.1, 3_750, 'male'],
      ['Beta', 'South', null, null, null],
      ['Alpha', 'East', 40.3, 3_250, 'female'],
    ],
  },
  {
    file: 'birds-raw.csv',
    content: `studyName,Sample Number,Culmen Length (mm),"Date Egg",Comments
P0708,1,39.1,2007-11-11,"Not enough blood, ""again""."
P0708,2,NA,2007-11-11,NA
`,
    fields: `{ study: { type: string }, sample: { type: integer }, culmen_mm: { type: number, optional: true },
      laid_on: { type: string, format: date }, comments: { type: string, optional: true } }`,
    map: `null: NA
columns:
  studyName: study
  Sample Number: sample
  Culmen Length (mm): culmen_mm
  Date Egg: laid_on
  Comments: comments
`,
    columns: 'study, sample, culmen_mm, laid_on, comments',
    expected: [
      ['P0708', 1, 39.1, '2007-11-11', 'Not enough blood, "again".'],
      ['P0708', 2, null, '2007-11-11', null],
    ],
  },
  {
    file: 'planes.csv',
    content: `tailnum,year,type,engines,seats,speed
N101,2004,"Fixed wing",2,55,NA
N102,NA,"Fixed wing",2,182,NA
`,
    fields: `{ tailnum: { type: string, unique: true }, year: { type: integer, optional: true }, type: { type: string },
      engines: { type: integer }, seats: { type: integer }, speed: { type: integer, optional: true } }`,
    options: ['--null', 'NA'],
    columns: 'tailnum, year, type, engines, seats, speed',
    expected: [
      ['N101', 2_004, 'Fixed wing', 2, 55, null],
      ['N102', null, 'Fixed wing', 2, 182, null],
    ],
  },
  {
    file: 'stations.json',
    content:
      '[{"id":"7","code":"AAA","lat":"-17.05","lon":"145.4","name":"Alpha Field","type":"airport",' +
      '"runway_length":null,"direct_flights":"1"},{"id":"8","code":"BBB","lat":"60.1","lon":"-3.2",' +
      '"name":"Beta \\u00d8","type":"heliport","runway_length":"4500","direct_flights":"0"},]',
    fields: `{ old_id: { type: string, unique: true }, code: { type: string }, name: { type: string },
      lat: { type: number }, lon: { type: number }, runway_length: { type: integer, optional: true } }`,
    map: `ignoreUnknown: true
columns:
  id: old_id
  lat: { number: 1234.56 }
  lon: { number: 1234.56 }
  runway_length: { number: 1234 }
`,
    said: 'Left out, because they are no fields: type, direct_flights.',
    columns: 'old_id, code, name, lat, lon, runway_length',
    expected: [
      ['7', 'AAA', 'Alpha Field', -17.05, 145.4, null],
      ['8', 'BBB', 'Beta Ø', 60.1, -3.2, 4_500],
    ],
  },
  {
    file: 'prices.csv',
    content: 'symbol,date,price\nAAA,Jan 1 2000,39.81\nAAA,Feb 1 2000,36.35\nBBB,Jan 1 2000,"1,234.50"\n',
    fields: `{ symbol: { type: string }, date: { type: string, format: date },
      price: { type: decimal, precision: 10, scale: 2 } }`,
    map: `columns:
  date: { date: MMM D YYYY }
  price: { number: '1,234.50' }
`,
    columns: 'symbol, date, price',
    expected: [
      ['AAA', '2000-01-01', '39.81'],
      ['AAA', '2000-02-01', '36.35'],
      ['BBB', '2000-01-01', '1234.50'],
    ],
  },
  {
    file: 'kunden.csv',
    content:
      '\uFEFFName;Straße;Umsatz;seit;aktiv\r\n"Müller; Söhne";Hauptstr. 1;1.234,50;31.12.2019;ja\r\n' +
      'Łukasz;Ul. Nowa 2;0,99;01.02.2020;nein\r\n',
    fields: `{ name: { type: string }, street: { type: string }, revenue: { type: decimal, precision: 12, scale: 2 },
      since: { type: string, format: date }, active: { type: boolean } }`,
    map: `delimiter: ;
columns:
  Name: name
  Straße: street
  Umsatz: { field: revenue, number: '1.234,50' }
  seit: { field: since, date: DD.MM.YYYY }
  aktiv: { field: active, true: ja, false: nein }
`,
    columns: "name, street, revenue, since, case when active = (1 = 1) then 'yes' else 'no' end as active",
    expected: [
      ['Müller; Söhne', 'Hauptstr. 1', '1234.50', '2019-12-31', 'yes'],
      ['Łukasz', 'Ul. Nowa 2', '0.99', '2020-02-01', 'no'],
    ],
  },
  {
    file: 'utf16.csv',
    content: Buffer.from('\uFEFFname,city\nZoë,Århus\nИван,Москва\n', 'utf16le'),
    fields: '{ name: { type: string }, city: { type: string } }',
    columns: 'name, city',
    expected: [
      ['Zoë', 'Århus'],
      ['Иван', 'Москва'],
    ],
  },
  {
    file: 'renamed.csv',
    content: 'name,Nachname\nAnn,Berg\nBea,Holm\n',
    fields: '{ name: { type: string } }',
    map: 'columns: { Nachname: name }\nignoreUnknown: true\n',
    said: 'Left out, because the map gives their fields to other columns: name.',
    columns: 'name',
    expected: [['Berg'], ['Holm']],
  },
  {
    file: 'latin1.csv',
    content: Buffer.from('name,city\nZoë,Århus\nGarcía,León\n', 'latin1'),
    fields: '{ name: { type: string }, city: { type: string } }',
    options: ['--encoding', 'latin1'],
    columns: 'name, city',
    expected: [
      ['Zoë', 'Århus'],
      ['García', 'León'],
    ],
  },
  {
    file: 'employees.csv',
    content: 'old_id,name,reports_to\n2,Bea,1\n1,Ann,\n3,Cem,2\n4,Dov,2\n',
    fields: `{ old_id: { type: integer, unique: true }, name: { type: string },
      reports_to: { reference: records, optional: true, immutable: true } }`,
    options: ['--key', 'old_id'],
    columns: `name, (select boss.name from records boss where boss.id = records.reports_to) as boss,
      case when created_at = updated_at and _revision = 1 then 'once' else 'twice' end as written`,
    expected: [
      ['Bea', 'Ann', 'once'],
      ['Ann', null, 'once'],
      ['Cem', 'Bea', 'once'],
      ['Dov', 'Bea', 'once'],
    ],
  },
]

for (const { file, content, fields, map, options = [], said, columns, expected } of cases) {
  test(`${file} goes in with one command`, async () => {
    const database = await newDatabase()
    writeFileSync(join(folder, 'resources.yaml'), `name: files\nresources: { records: { fields: ${fields} } }\n`)
    if (map !== undefined) writeFileSync(join(folder, 'map.yaml'), map)
    writeFileSync(join(folder, file), content)
    const given = ['import', 'records', file, ...options]
    const more = map === undefined ? [] : ['--map', 'map.yaml']
    const { code, said: printed } = await run([...given, ...more, '--database', database.address])
    const lines = printed.trimEnd().split('\n')
    assert.match(lines.shift() ?? '', /^Made a new database at /)
    assert.match(
      lines.shift() ?? '',
      new RegExp(`^Imported ${expected.length} records into records in \\d+\\.\\d s\\.$`),
    )
    assert.deepEqual(lines, said === undefined ? [] : [said])
    assert.equal(code, 0)
    const rows = await database.rows(`select ${columns} from records order by id`)
    assert.deepEqual(rows.map((row) => Object.values(row)), expected) // biome-ignore format: one row reads best
  })
}
