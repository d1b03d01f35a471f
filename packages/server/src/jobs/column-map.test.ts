import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { Finding } from 'resourced-contract/model/check/parts'
import { below } from 'resourced-contract/model/place'
import type { Resource } from 'resourced-contract/model/resource'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { Columns, readImportMap } from './column-map.ts'
import { readRecords } from './read-records.ts'

const { resources } = completeCatalog({
  name: 'shop',
  resources: {
    customers: {
      fields: {
        name: { type: 'string' },
        revenue: { type: 'decimal', precision: 12, scale: 2, optional: true },
        visits: { type: 'integer', optional: true },
        since: { type: 'string', format: 'date', optional: true },
        active: { type: 'boolean', optional: true },
        friend_id: { reference: 'customers', optional: true },
      },
    },
  },
})
const customers = resources.get('customers') as Resource

/** The mistakes of a map: each with its place, and what to write instead. */
function mistakes(map: unknown): string[] {
  const findings: Finding[] = []
  readImportMap(map, customers, findings)
  return findings.map(({ steps, message, remedy }) => `${below('', steps)} ${message} → ${remedy}`)
}

async function read(format: 'csv' | 'json', text: string, map: unknown): Promise<string[]> {
  const findings: Finding[] = []
  const columns = new Columns(customers, readImportMap(map, customers, findings))
  assert.deepEqual(findings, [])
  async function* bytes() {
    yield Buffer.from(text)
  }
  const found: string[] = []
  const options = { mostBytes: 1_000, ...(readImportMap(map, customers, []).delimiter && { delimiter: ';' }) }
  for await (const record of readRecords(bytes(), format, columns, options)) {
    found.push(
      'value' in record
        ? JSON.stringify(record.value)
        : record.issues.map((each) => `${each.code} ${each.pointer ?? ''} ${sentenceOf(each)}`).join(' | '),
    )
  }
  for (const [why, names] of Object.entries({
    'left out': columns.unknown,
    'its field is another': columns.replaced,
  })) {
    if (names.size > 0) found.push(`${why}: ${[...names].join()}`)
  }
  return found
}

const map = {
  null: ['NA', '-'],
  delimiter: ';',
  ignoreUnknown: true,
  columns: {
    Kunde: 'name',
    Umsatz: { field: 'revenue', number: '1.234,50' },
    Besuche: { field: 'visits', number: '1.234', null: 'keine' },
    seit: { field: 'since', date: 'DD.MM.YYYY' },
    aktiv: { field: 'active', true: ['ja', 'j'], false: 'nein' },
    Notiz: false,
  },
}

test('a map names the field of each column, and how its values are written', async () => {
  const lines = [
    'Kunde;Umsatz;Besuche;seit;aktiv;Notiz;id',
    'Ann;1.234,50;1.000;31.12.2019;JA;x;7',
    'Bea;NA;keine;-;nein;y;8',
  ]
  assert.deepEqual(await read('csv', lines.join('\n'), map), [
    '{"name":"Ann","revenue":"1234.50","visits":1000,"since":"2019-12-31","active":true}',
    '{"name":"Bea","revenue":null,"visits":null,"since":null,"active":false}',
    'left out: id',
  ])
})

test('a value of another form is refused with its field, and never guessed', async () => {
  const lines = ['Kunde;Umsatz;Besuche;seit;aktiv;Notiz', 'Ann;1,234.50;NA;2019-12-31;yes;']
  assert.deepEqual(await read('csv', lines.join('\n'), map), [
    'INVALID_FORMAT /revenue revenue is "1,234.50", and the map wants 1.234,50. | ' +
      'INVALID_FORMAT /visits visits is "NA", and the map wants 1.234. | ' +
      'INVALID_FORMAT /since since is "2019-12-31", and the map wants DD.MM.YYYY. | ' +
      'INVALID_FORMAT /active active is "yes", and the map wants ja, j or nein.',
  ])
})

test('the members of JSON are columns too: names, null, and texts in a form', async () => {
  const json =
    '[{"Kunde":"Ann","Umsatz":"1.234,50","Besuche":3,"x":1},{"Kunde":"NA","aktiv":true},{"name":"Bea","Kunde":"Ann"}]'
  assert.deepEqual(await read('json', json, map), [
    '{"name":"Ann","revenue":"1234.50","visits":3}',
    '{"name":null,"active":true}',
    '{"name":"Ann"}',
    'left out: x',
    'its field is another: name',
  ])
})

test('a column of the map that the file lacks, and one that is unknown, are named', async () => {
  const [line = ''] = await read('csv', 'Kunde,visitz\n', { columns: { Kund: 'name' } })
  assert.match(line, /"Kunde" is not a field of customers/)
  assert.match(line, /"visitz" is not a field of customers\. Did you mean "visits"\?/)
  assert.match(line, /The map names the column "Kund", which the file does not have\. Did you mean "Kunde"\?/)
  const [twice = ''] = await read('csv', 'Kunde,name\n', { columns: { Kunde: 'name' } })
  const remedy = 'The map gives name to "Kunde". Give the column "name" another field, or say --ignore-unknown.'
  assert.equal(twice, `UNKNOWN_FIELD  ${remedy}`)
  for (const json of ['[{"Kunde":"Ann","name":"Bea"}]', '[{"name":"Bea","Kunde":"Ann"}]']) {
    assert.deepEqual(await read('json', json, { columns: { Kunde: 'name' } }), [`DUPLICATE_KEY /name ${remedy}`])
  }
  const leftOut = { columns: { Kunde: 'name' }, ignoreUnknown: true }
  assert.deepEqual(await read('csv', 'Kunde,name,x\nAnn,Bea,1\n', leftOut), [
    '{"name":"Ann"}',
    'left out: x',
    'its field is another: name',
  ])
})

test('every mistake in a map says what to write instead', () => {
  const found = mistakes({
    colums: {},
    null: [{}],
    delimiter: ';;',
    encoding: 'latin99',
    ignoreUnknown: 'yes',
    key: 'old_id',
    columns: {
      a: 'nmae',
      b: 7,
      c: {},
      d: { field: 'name', number: '1,234' },
      e: { field: 'revenue', number: '#.##0' },
      f: { field: 'since', date: 'dd.mm.yyyy' },
      g: { field: 'active', true: 'ja' },
      h: { field: 'visits', dat: 'DD' },
      i: { field: 'visits' },
      j: { field: 'name', key: 'old_id' },
    },
  })
  const expected = [
    /^colums is not a known key → Did you mean "columns"\?/,
    /^null must be a text, or a list of texts, .* → Write null: \[NA, "-"\]\./,
    /^ignoreUnknown must be true or false, .* → Write true: only/,
    /^encoding must be the name of an encoding, .* → Write utf-8, utf-16le, windows-1252/,
    /^delimiter must be one character, or tab, .* → Write ";" or tab\./,
    /^key is not a field of customers → /,
    /^columns\.a is not a field of customers → Did you mean "name"\?/,
    /^columns\.b must be a field, false, or an object, and is 7 → Write the name of the field/,
    /^columns\.c is not a field of customers → Add field: NAME\./,
    /^columns\.d\.number is for numbers, and name is of the type string → Remove it\./,
    /^columns\.e\.number must be the number 1234 as the file writes it, .* → Write 1,234\.50, 1\.234,50/,
    /^columns\.f\.date must be a form of dates, .* → Write a form such as DD\.MM\.YYYY/,
    /^columns\.g\.false is missing: it must be the word .* → Write both/,
    /^columns\.h\.dat is not a known key → Did you mean "date"\?/,
    /^columns\.i is the field visits, as the column h is → Name another field/,
    /^columns\.j is the field name, as the column d is/,
    /^columns\.j\.key is for references, and name is none → Remove it\./,
  ]
  for (const pattern of expected)
    assert.ok(
      found.some((line) => pattern.test(line)),
      `${pattern}\n${found.join('\n')}`,
    )
  assert.equal(found.length, expected.length, found.join('\n'))
  assert.match(mistakes([])[0] ?? '', /must be an object/)
})
