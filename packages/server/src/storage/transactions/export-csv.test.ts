/** CSV exports: a parser reads the stored values back, and a spreadsheet evaluates none of them as a formula. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { RecordValues } from 'resourced-contract/model/resource'
import sql from 'sql-template-tag'
import { exportColumns } from '../../plan/export-document.ts'
import { catalogFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import { sqlContext } from '../sql/context.ts'
import { Connection } from '../sqlite/connection.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { migrate } from '../sqlite/migrate.ts'
import { batchOf, books, documentOf, idOf, openLibrary, plant } from './export-rows.fixture.ts'

const stamp = '2026-11-21T08:00:00.000Z'
const plain = { id: idOf(1), title: 'T', kind: 'novel', owner_id: 'u1', created_at: stamp, updated_at: stamp }

/** The CSV of some books. */
function csvOf(records: readonly RecordValues[], fields?: readonly string[]): string {
  const library = openLibrary()
  try {
    plant(library, records)
    return documentOf(library, batchOf({ format: 'csv', fields, limit: 2 }))
  } finally {
    library.close()
  }
}

import { exportRows } from './export-rows.ts'

test('each record is a line, under a header with the names of its fields', () => {
  const full = {
    ...{ note: '', lent: true, pages: -7, weight: -0.5, due: '2026-11-21T09:00:00+01:00' },
    ...{ labels: ['a', 'b"c'], more: { a: null }, any: -5, secret: 'x' },
  }
  const lines = [
    'id,title,note,kind,lent,pages,weight,due,labels,more,any,owner_id,created_at,updated_at',
    `${idOf(1)},"T",,"novel",,,,,,,,"u1",${stamp},${stamp}`,
    `${idOf(2)},"T","","novel",true,-7,-0.5,"2026-11-21T09:00:00+01:00","[""a"",""b\\""c""]","{""a"":null}","-5","u1",${stamp},${stamp}`,
    '',
  ]
  assert.equal(csvOf([plain, { ...plain, ...full, id: idOf(2) }]), lines.join('\r\n'))
})

test('requested fields are in the order of a representation', () => {
  assert.equal(
    csvOf([plain], ['updated_at', 'kind', 'title']),
    `id,title,kind,updated_at\r\n${idOf(1)},"T","novel",${stamp}\r\n`,
  )
})

test('text that a spreadsheet would evaluate gets an apostrophe; numbers do not', () => {
  const starts = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '＋1',
    '－1',
    '＠1',
    "'=1",
    ' =1',
    'a=1',
    '"=1',
  ]
  const records = starts.map((title, number) => ({ ...plain, id: idOf(number), title, pages: -number, weight: -1e300 }))
  const rows = parse(csvOf(records, ['title', 'pages', 'weight']), { from: 2 }) as string[][]
  assert.deepEqual(rows.map(([, title]) => title), [
    ...["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "'\n=1", "'＝1", "'＋1", "'－1", "'＠1"],
    ...["'=1", ' =1', 'a=1', '"=1'],
  ]) // biome-ignore format: one list
  assert.deepEqual(rows[2]?.slice(2).map(Number), [-2, -1e300])
})

test('the widest records that can be declared fit in a line', () => {
  const names = Array.from({ length: 500 }, (_, index) => `field_${index}`)
  const wide = resourceFixture('tables', Object.fromEntries(names.map((name) => [name, 'string' as const])))
  const catalog = catalogFixture(wide)
  const connection = new Connection(':memory:')
  migrate(connection.database, catalog, { apply: 'additive', now: 0 })
  connection.all(
    sql`insert into tables (id, field_499, created_at, updated_at, _revision) values ('a', '=', 'b', 'c', 1)`,
  )
  const { texts } = connection.run(
    exportRows(sqlContext({ catalog, dialect: sqlite }), { ...batchOf({ format: 'csv' }), resource: wide }),
  )
  assert.deepEqual(texts, [`a${','.repeat(500)}"'=",b,c`])
  connection.close()
})

const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['"', '""', ',', '\r\n', '\n', '\r', '\t', ' ', "'", ';', '=', '+', '-', '@', '＝', '＠', '\\', '\\n'],
      ),
      fc.constantFrom(...['\u2028', '\u2029', '\u0085', '\ufeff', 'é', '🚀', '\u{10ffff}', 'NULL', 'a', '0']),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''))
  .filter((text) => text.isWellFormed())
const optional = <T>(each: fc.Arbitrary<T>) => fc.option(each, { freq: 4 })
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0)
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((each) => JSON.stringify(each))
  .filter((each) => !each.includes('\\u0000'))
  .map((each) => JSON.parse(each))
const record = fc.record({
  title: nasty,
  note: optional(nasty),
  lent: optional(fc.boolean()),
  pages: optional(fc.maxSafeInteger().map((each) => each + 0)),
  weight: optional(number),
  labels: optional(fc.array(nasty, { maxLength: 3 })),
  more: optional(fc.dictionary(nasty.filter((key) => key !== '__proto__'), json, { maxKeys: 3 })),
  any: optional(fc.oneof(json, nasty)),
}) // biome-ignore format: one line each

/** The value that a reader gets from a quoted or unquoted cell. */
function readBack(name: string, cell: { value: string; quoted: boolean }): unknown {
  if (cell.value === '' && !cell.quoted) return null
  if (name === 'title' || name === 'note') return cell.value
  return JSON.parse(cell.value)
}

test('for any text, a parser reads the same values back', () => {
  const library = openLibrary()
  const columns = exportColumns(books, undefined)
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 3 }), (records) => {
      library.execute('delete from books')
      plant(library, records.map((each, index) => ({ ...plain, ...each, id: idOf(index) })))
      const csv = documentOf(library, batchOf({ format: 'csv', limit: 2 }))
      const rows = parse(csv, {
        from: 2,
        record_delimiter: '\r\n',
        cast: (value, { quoting }) => ({ value, quoted: quoting }),
      }) as unknown as { value: string; quoted: boolean }[][]
      const read = rows.map((row) => Object.fromEntries(Object.keys(records[0]!).map((name) => [name, readBack(name, row[columns.indexOf(name)]!)])))
      const harmless = (text: string | null) => (text !== null && /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)
      const expected = records.map((each) => ({ ...each, title: harmless(each.title), note: harmless(each.note) }))
      assert.deepEqual(read, JSON.parse(JSON.stringify(expected)))
    }),
    { numRuns: 500 },
  )
  library.close()
}) // biome-ignore format: long lines
