/**
 * Migrates a SQLite file in one transaction: a migration that is killed leaves the file as it was. Values
 * are converted by JavaScript functions that the statements call.
 */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Catalog } from 'resourced-contract/model/resource'
import sql, { join, raw } from 'sql-template-tag'
import { changeSchema, isMigrated, type Migrated, type MigrateOptions, migrationTo } from '../migration/apply.ts'
import { convertStored, type Stored } from '../migration/convert.ts'
import type { MigrationDialect } from '../migration/migration-dialect.ts'
import { quoted } from '../sql/columns.ts'
import { isSystemTable } from '../sql/system-tables.ts'
import { type SearchSpec, searchTable } from '../sql/tables.ts'
import { derivedOfStored, indexText } from '../sql/values.ts'
import type { Row, Statement, Transaction } from '../transaction.ts'
import { inTransaction } from './connection.ts'
import { sqlite } from './dialect.ts'
import { addParts, endOfRun, partName, partNames, partOf, partsUpTo, viewName } from './search-parts.ts'

/** Milliseconds that a migration waits for other connections that write; one of them may be migrating a large file. */
const patience = 60_000

/**
 * Adds what a database lacks for a catalog, and changes what differs. Records are read only where something differs.
 *
 * @throws MigrationRefused where `apply` does not allow it, or it is impossible; nothing is changed then
 * @throws Error of SQLite, such as a database that stays busy for a minute
 */
export function migrate(database: DatabaseSync, catalog: Catalog, options: MigrateOptions): Migrated {
  const migration = migrationTo(catalog, migrationDialectOf(database), options)
  return waiting(database, () => {
    const isDone = inTransaction(database, 'begin', () => runOn(database, isMigrated(migration)))
    if (isDone) return { steps: [], applied: false }
    const { steps } = inTransaction(database, 'begin immediate', () => runOn(database, changeSchema(migration)))
    return { steps, applied: steps.length > 0 }
  })
}

/** Lets the connection wait for others, and afterwards as long as it did before. */
function waiting<T>(database: DatabaseSync, work: () => T): T {
  const before = Number(database.prepare('pragma busy_timeout').get()?.timeout)
  database.exec(`pragma busy_timeout = ${Math.max(before, patience)}`)
  try {
    return work()
  } finally {
    database.exec(`pragma busy_timeout = ${before}`)
  }
}

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
export function migrationDialectOf(database: DatabaseSync): MigrationDialect {
  return {
    ...sqlite,
    defersIndexes: false,
    searchColumn: undefined,
    relations: sql`select name, lower(name) as folded, type as kind, tbl_name as owner, 1 as valid from sqlite_schema`,
    columnsOf: (tables) =>
      sql`select t.value as owner, c.name, lower(c.type) as type
        from json_each(${JSON.stringify(tables)}) as t join pragma_table_xinfo(t.value) as c`,
    indexesOf: (tables) =>
      sql`select i.name, i."unique",
          (select json_group_array(c.name order by c.seqno) from pragma_index_info(i.name) as c) as columns
        from json_each(${JSON.stringify(tables)}) as t join pragma_index_list(t.value) as i`,
    searchOf({ name, search }, relations) {
      const view = viewName(searchTable(name))
      const isPart = partNames(searchTable(name)).map((part) => relations.has(part))
      const isWhole = isPart[0] === true && isPart.lastIndexOf(true) === isPart.filter(Boolean).length - 1
      if (isWhole && relations.has(view)) return { columns: search, isComplete: true }
      // An index that lacks a part or the view cannot be used.
      return isPart.includes(true) || relations.has(view) ? { columns: [], isComplete: false } : undefined
    },
    lockTables: () => [],
    *countChanged(update) {
      yield update
      return yield* count(sql`select changes() as count`)
    },
    *convertColumn({ table, from, to, convert, also }) {
      addConversion(database, convert)
      const [name, converted] = [quoted(from), sql`resourced_converted(${rowId(table)}, ${quoted(from)})`]
      yield sql`update ${quoted(table)} set ${quoted(to.name)} = ${converted}${also} where ${name} is not null`
      return yield* count(sql`select changes() as count`)
    },
    *countInconvertible({ table, column, from }) {
      addConversion(database, (stored) => convertStored(stored, from, column.holds, sqlite))
      const name = quoted(column.name)
      return yield* count(
        sql`select count(${name}) - count(resourced_converted(null, ${name})) as count from ${quoted(table)}`,
      )
    },
    *fillDerived({ table, columns, search }) {
      const assignments = columns.map(({ name, derived: how }, index) => {
        const derive = (stored: unknown) => {
          const key = derivedOfStored(how!, stored)
          return typeof key === 'boolean' ? Number(key) : key
        }
        database.function(`resourced_derived_${index}`, { deterministic: true }, derive)
        return sql`${quoted(name)} = ${raw(`resourced_derived_${index}`)}(${quoted(how!.from)})`
      })
      if (assignments.length > 0) yield sql`update ${quoted(table)} set ${join(assignments)}`
      if (search === undefined) return
      yield* dropSearch(table)
      yield* buildSearch(database, search)
    },
    dropSearch,
    eventTriggersFound: sql`select 'main' as "schema", t.tbl_name as owner, t.name, t.sql as definition
      from (select 1) left join sqlite_schema t on t.type = 'trigger' and substr(t.name, 1, 10) = 'resourced_'`,
    // SQLite changes no table whose triggers name a column that the change removes.
    silence: 'without-triggers',
    dropTrigger: (_, name) => [sql`drop trigger ${quoted(name)}`],
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
  const view = sql`drop view if exists ${quoted(viewName(searchTable(table)))}`
  return [view, ...partNames(searchTable(table)).map((name) => sql`drop table if exists ${quoted(name)}`)]
}

function* buildSearch(database: DatabaseSync, search: SearchSpec): Transaction<void> {
  const words = (...stored: unknown[]) => indexText(search, stored as (string | null)[])
  database.function('resourced_words', { deterministic: true, varargs: true }, words)
  const table = quoted(search.table)
  const last = Number((yield sql`select max(_row) as row from ${table}`)[0]?.['row'] ?? 0)
  database.exec(addParts(search.name, 0, partsUpTo(last)).join('; '))
  const columns = join(search.columns.map(quoted))
  for (let start = 0; ; ) {
    const row = (yield sql`select min(_row) as row from ${table} where _row >= ${start}`)[0]?.['row'] as number | null
    if (row === null) return
    start = endOfRun(row)
    const part = quoted(partName(search.name, partOf(row)))
    yield sql`insert into ${part} (rowid, words)
      select _row, resourced_words(${columns}) from ${table} where _row >= ${row} and _row < ${start}`
  }
}
