/** SQLite's part of a migration: its catalog, its full-text tables, and JavaScript functions over whole tables. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import sql, { join, raw } from 'sql-template-tag'
import { convertStored, type Stored } from '../migration/convert.ts'
import type { MigrationEngine } from '../migration/migration-engine.ts'
import { isSystemTable, type SearchSpec, searchTable } from '../sql/tables.ts'
import { derived, searchText } from '../sql/values.ts'
import type { Row, Statement, Transaction } from '../transaction.ts'
import { sqlite } from './engine.ts'
import { endOfRun, partName, partNames, partOf, undividedSearch } from './search-parts.ts'

const quote = (name: string) => raw(sqlite.identifier(name))

/** Runs a transaction's statements on a connection; BEGIN and COMMIT are the caller's. */
export function runOn<T>(database: DatabaseSync, transaction: Transaction<T>): T {
  let step = transaction.next([])
  while (step.done !== true) {
    const { sql, values } = step.value
    step = transaction.next(database.prepare(sql).all(...(values as never[])) as Row[])
  }
  return step.value
}

/** The engine for one connection, because SQLite's functions belong to a connection. */
export function migrationEngineOf(database: DatabaseSync): MigrationEngine {
  return {
    ...sqlite,
    defersIndexes: false,
    searchColumn: undefined,
    relations: sql`select name, lower(name) as folded, type as kind, tbl_name as owner, 1 as valid from sqlite_schema`,
    columnsOf: (tables) =>
      sql`select t.value as owner, c.name, lower(c.type) as type
        from json_each(${JSON.stringify(tables)}) as t join pragma_table_xinfo(t.value) as c`,
    searchOf({ name, search }, relations) {
      const parts = partNames(searchTable(name))
      if (parts.every((part) => relations.has(part))) return { columns: search, isComplete: true }
      // An index from before there were parts, or one that lacks a part, holds nothing of use.
      const isThere = [...parts, undividedSearch(name)].some((table) => relations.has(table))
      return isThere ? { columns: [], isComplete: false } : undefined
    },
    lockTables: () => [],
    *countChanged(update) {
      yield update
      return yield* count(sql`select changes() as count`)
    },
    *convertColumn({ table, from, to, convert, also }) {
      addConversion(database, convert)
      const [name, converted] = [quote(from), sql`resourced_converted(${rowId(table)}, ${quote(from)})`]
      yield sql`update ${quote(table)} set ${quote(to.name)} = ${converted}${also} where ${name} is not null`
      return yield* count(sql`select changes() as count`)
    },
    *countInconvertible({ table, column, from }) {
      addConversion(database, (stored) => convertStored(stored, from, column.holds, sqlite))
      const name = quote(column.name)
      return yield* count(
        sql`select count(${name}) - count(resourced_converted(null, ${name})) as count from ${quote(table)}`,
      )
    },
    *fillDerived({ table, columns, search }) {
      for (const [name, derive] of Object.entries(derived)) {
        const deriveStored = (text: unknown) => (typeof text === 'string' ? derive(text) : null)
        database.function(`resourced_${name}`, { deterministic: true }, deriveStored)
      }
      const assignments = columns.map(
        ({ name, derived: from }) => sql`${quote(name)} = ${raw(`resourced_${from!.by}`)}(${quote(from!.from)})`,
      )
      if (assignments.length > 0) yield sql`update ${quote(table)} set ${join(assignments)}`
      if (search === undefined) return
      yield* dropSearch(table)
      yield* buildSearch(database, search)
    },
    dropSearch,
    // No server of another declaration can write while a file is migrated and its server starts.
    setDefaults: () => [],
  }
}

function addConversion(database: DatabaseSync, convert: (stored: Stored, id: string) => Stored | null): void {
  const convertRow = (id: SQLOutputValue, stored: SQLOutputValue) =>
    stored === null ? null : convert(stored as Stored, String(id))
  database.function('resourced_converted', { useBigIntArguments: true }, convertRow as never)
}

/** The id of a record, for messages; rows of system tables have none. */
function rowId(table: string) {
  return isSystemTable(table) ? sql`null` : sql`id`
}

function* count(statement: Statement): Transaction<number> {
  return Number((yield statement)[0]?.['count'])
}

function dropSearch(table: string): Statement[] {
  const names = [...partNames(searchTable(table)), undividedSearch(table)]
  return names.map((name) => sql`drop table if exists ${quote(name)}`)
}

function* buildSearch(database: DatabaseSync, search: SearchSpec): Transaction<void> {
  const words = (...texts: unknown[]) => searchText(texts as (string | null)[])
  database.function('resourced_words', { deterministic: true, varargs: true }, words)
  database.exec(sqlite.createSearch(search))
  const table = quote(search.table)
  const columns = join(search.columns.map(quote))
  for (let start = 0; ; ) {
    const row = (yield sql`select min(_row) as row from ${table} where _row >= ${start}`)[0]?.['row'] as number | null
    if (row === null) return
    start = endOfRun(row)
    const part = quote(partName(search.name, partOf(row)))
    yield sql`insert into ${part} (rowid, words)
      select _row, resourced_words(${columns}) from ${table} where _row >= ${row} and _row < ${start}`
  }
}
