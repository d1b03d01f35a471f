import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalValue } from 'resourced-contract/model/decimal'
import type { Resource } from 'resourced-contract/model/resource'
import { catalogs, type Records, readsBack, records } from '../migration/migration-random.fixture.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { columnsOf, indexedColumns } from '../sql/columns.ts'
import { boundOf } from '../sql/records.ts'
import { tablesFor } from '../sql/system-tables.ts'
import { searchTable } from '../sql/tables.ts'
import { derivedOf, indexText } from '../sql/values.ts'
import { sqlite } from './dialect.ts'
import { findStrangers } from './file-objects.ts'
import { all, now } from './migrate.fixture.ts'
import { migrate } from './migrate.ts'
import { addParts, partName, partNames, partOf, partsUpTo } from './search-parts.ts'

/** Writes the records as the program would: every column, full-text index and clock right. */
function insertAll(database: DatabaseSync, resource: Resource, given: Records): void {
  const columns = columnsOf(resource)
  const names = [
    '_row',
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
    '_revision',
    ...columns.map((each) => each.name),
  ]
  const places = names.map(() => '?').join(', ')
  const insert = `insert into "${resource.name}" (${names.map((name) => `"${name}"`).join(', ')}) values (${places})`
  // Far apart: their words are in different parts of the full-text index.
  const rowOf = (index: number) => index * 40_000 + 1
  const isSearched = resource.fields.some((field) => field.search)
  const parts = partsUpTo(rowOf(Math.max(0, given.length - 1)))
  if (isSearched) database.exec(addParts(searchTable(resource.name), 1, parts).join('; '))
  given.forEach((each, index) => {
    const record: Record<string, unknown> = {}
    for (const field of resource.fields) {
      // A unique field has a value in one record at most.
      const value = field.unique && index > 0 ? undefined : each.values[field.name]?.[field.type]
      // A decimal that does not fit its field is left out.
      const read = canonicalValue(field, value)
      const fits = field.decimal === undefined || readsBack(field.decimal, read)
      record[field.name] = (fits ? read : undefined) ?? (field.required ? field.default : null)
    }
    const bound = columns.map((column) => boundOf(column, record) as SQLInputValue)
    const deleted = each.deleted ? 'then' : null
    const row = rowOf(index)
    database.prepare(insert).run(row, `id${index + 1}`, 'then', 'then', deleted, 1, ...bound)
    const searched = resource.fields.filter((field) => field.search).map((field) => record[field.name] as string | null)
    if (searched.length > 0) {
      const words = `insert into "${partName(searchTable(resource.name), partOf(row))}" (rowid, words) values (?, ?)`
      database.prepare(words).run(row, indexText(indexedColumns(resource), searched))
    }
    database
      .prepare(
        `update resourced_clocks set revision = revision + 1, live = live + ?, deleted = deleted + ?
          where collection = ?`,
      )
      .run(each.deleted ? 0 : 1, each.deleted ? 1 : 0, resource.name)
  })
}

/** The schema, with sorted columns, because added ones are at the end. */
function schemaOf(database: DatabaseSync): unknown {
  const indexes = all(database, "select name, sql from sqlite_schema where type = 'index' order by name")
  // An index has as many parts as its rows need.
  const isPart = "name glob 'resourced_words_*_[0-9]*' and name not glob 'resourced_words_*_0*'"
  const tables = all(database, `select name from sqlite_schema where type = 'table' and not (${isPart}) order by name`)
  const columns = tables.map(({ name }) =>
    all(database, `select name, type, "notnull", pk from pragma_table_xinfo('${name}') order by name`),
  )
  return { indexes, tables, columns, shape: all(database, "select value from resourced_meta where key = 'shape'") }
}

function checkRows(database: DatabaseSync, resource: Resource): void {
  const rows = all(database, `select * from "${resource.name}" order by _row`)
  for (const row of rows) {
    for (const { name, field, role } of columnsOf(resource)) {
      if (role === 'value') {
        assert.ok(!field.required || row[name] !== null, `${name} is required`)
        assert.ok(field.decimal === undefined || row[name] === null || readsBack(field.decimal, row[name]))
      } else assert.equal(row[name], derivedOf({ by: role }, row[field.name] ?? null), name)
    }
  }
  const deleted = rows.filter((row) => row.deleted_at !== null).length
  const [clock] = all(database, `select live, deleted from resourced_clocks where collection = '${resource.name}'`)
  assert.deepEqual(clock, { live: rows.length - deleted, deleted })
  const searched = resource.fields.filter((field) => field.search).map((field) => field.name)
  if (searched.length === 0) return
  const last = Number(rows.at(-1)?._row ?? 0)
  const found = partNames(searchTable(resource.name), partsUpTo(last)).flatMap((name, part) => {
    database.exec(`create virtual table temp.found using fts5vocab(main, '${name}', instance)`)
    const words = all(database, 'select doc, term from found order by doc, offset')
    database.exec('drop table temp.found')
    return words.map((word) => `${part} ${word.doc} ${word.term}`)
  })
  const expected = rows.flatMap((row) =>
    indexText(
      indexedColumns(resource),
      searched.map((name) => row[name] as string | null),
    )
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => `${partOf(Number(row._row))} ${row._row} ${word}`),
  )
  assert.deepEqual(found, expected)
}

test('after a migration from any declaration with records to any other, the schema equals a new one, and every row is valid', () => {
  let refusals = 0
  let runs = 0
  const property = fc.property(catalogs, catalogs, records, (first, second, given) => {
    runs++
    const database = new DatabaseSync(':memory:')
    migrate(database, first, { apply: 'additive', now })
    for (const resource of first.resources.values()) insertAll(database, resource, given)
    const unchanged = schemaOf(database)
    try {
      migrate(database, second, { apply: 'all', now })
    } catch (error) {
      // Only values that are to be unique and are not can be in the way here.
      assert.ok(error instanceof MigrationRefused)
      assert.ok(error.steps.every((step) => !step.impossible || step.kind === 'create-index'))
      assert.deepEqual(schemaOf(database), unchanged)
      refusals++
      return
    }
    const fresh = new DatabaseSync(':memory:')
    migrate(fresh, second, { apply: 'additive', now })
    assert.deepEqual(schemaOf(database), schemaOf(fresh))
    for (const resource of second.resources.values()) {
      checkRows(database, resource)
      const kept = all(database, `select count(*) as n from "${resource.name}"`)[0]?.n
      assert.equal(kept, first.resources.has(resource.name) ? given.length : 0)
    }
    assert.equal(migrate(database, second, { apply: 'never', now }).applied, false)
    assert.deepEqual(all(database, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
    // Whatever a migration leaves in the file can be restored from a backup.
    assert.deepEqual(findStrangers(database), { altered: [], foreign: [] })
    const collections = tablesFor(second, sqlite.layout).filter((table) => table.kind === 'resource').length
    assert.equal(all(database, 'select * from resourced_clocks').length, collections)
    fresh.close()
    database.close()
  })
  fc.assert(property, { numRuns: 300 })
  assert.ok(refusals < runs / 4, `${refusals} of ${runs} were refused`)
})
