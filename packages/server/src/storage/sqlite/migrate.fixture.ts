/** Databases in memory and their rows, for the tests of migrations. */
import { DatabaseSync } from 'node:sqlite'
import type { Migrated } from '../migration/apply.ts'
import type { Apply } from '../migration/migration-step.ts'
import { catalogFixture, type FieldFixture, resourceFixture } from '../sql/catalog.fixture.ts'
import { searchTable } from '../sql/tables.ts'
import { migrate } from './migrate.ts'
import { viewName } from './search-parts.ts'

/** The fields of `tasks` in a test. */
export type Fields = Readonly<Record<string, FieldFixture>>

/** The values of a row in a test; missing ones have defaults. */
export type Row = Readonly<Record<string, string | number | null | undefined>>

/** When the migrations of tests happen. */
export const now = Date.UTC(2026, 10, 21)

/** A catalog of one resource, `tasks`. */
export function tasks(fields: Fields) {
  return catalogFixture(resourceFixture('tasks', fields))
}

/** Migrates to `tasks` with these fields, though they had other ones since. */
export function migrateTo(database: DatabaseSync, fields: Fields, apply: Apply = 'additive'): Migrated {
  return migrate(database, tasks(fields), { apply, now, undoesNewer: true })
}

/** A new database with `tasks` and its rows; ids are `id1`, `id2`, …, each row's clock is right. */
export function databaseOf(fields: Fields, rows: readonly Row[]) {
  const database = new DatabaseSync(':memory:')
  migrateTo(database, fields)
  rows.forEach((row, index) => {
    insert(database, { id: `id${index + 1}`, ...row })
  })
  return database
}

function insert(database: DatabaseSync, row: Row): void {
  const whole = { created_at: 'then', updated_at: 'then', _revision: 1, ...row }
  const values = Object.values(whole).map((value) => value ?? null)
  const names = Object.keys(whole).map((name) => `"${name}"`)
  const places = names.map(() => '?').join(', ')
  database.prepare(`insert into tasks (${names.join(', ')}) values (${places})`).run(...values)
  const [live, deleted] = 'deleted_at' in row ? [0, 1] : [1, 0]
  database
    .prepare('update resourced_clocks set revision = revision + 1, live = live + ?, deleted = deleted + ?')
    .run(live, deleted)
}

/** The rows of a statement as plain objects. */
export function all(database: DatabaseSync, statement: string): Record<string, unknown>[] {
  return database
    .prepare(statement)
    .all()
    .map((row) => ({ ...row }))
}

/** The values of one column, in the order of the rows. */
export function column(database: DatabaseSync, name: string): unknown[] {
  return all(database, `select "${name}" as value from tasks order by _row`).map((row) => row.value)
}

/** The ids that a full-text query finds. */
export function find(database: DatabaseSync, query: string): unknown[] {
  const found = `select "row" from ${viewName(searchTable('tasks'))} where words match ?1`
  return database
    .prepare(`select id from tasks where _row in (${found}) order by id`)
    .all(query)
    .map((row) => row.id)
}

/** All that a database holds, as text: its schema by name, and each table's rows. */
export function snapshot(database: DatabaseSync): string {
  const schema = all(database, 'select type, name, tbl_name, sql from sqlite_schema order by name')
  const tables = schema.filter((row) => row.type === 'table' && !String(row.name).startsWith(searchTable('')))
  return JSON.stringify([schema, tables.map((row) => all(database, `select * from "${row.name}"`))])
}
