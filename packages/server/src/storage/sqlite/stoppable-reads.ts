/**
 * Reads that can be stopped. SQLite has `sqlite3_interrupt` for this, which node:sqlite does not offer. Instead, a
 * temporary view of the same name hides each table of records, and calls a function for about one of 64 rows that a
 * statement visits. The function throws to end the statement. SQLite flattens the view into the statement, so that
 * access paths and results stay the same. Statements that write must not run on such a connection.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Catalog } from 'resourced-contract/model/resource'
import { raw } from 'sql-template-tag'
import { identifier } from '../sql/columns.ts'
import type { Dialect } from '../sql/dialect.ts'
import { sqlite } from './dialect.ts'
import { searchSql } from './search-parts.ts'

const checkFunction = 'resourced_continue'

/**
 * The condition that calls the function for one row of 64. Rows that an index has together often have numbers with the
 * same remainder (each twelfth record, for instance), so the numbers are scattered by a multiplication.
 */
function goesOn(row: string): string {
  return `(${row} * 2654435761 & 4128768 or ${checkFunction}())`
}

/** SQLite on such a connection. A full-text index is no table that a view could hide: its rows are checked too. */
export const stoppableSqlite: Dialect = {
  ...sqlite,
  matchesSearch: (collection, alias, search) => searchSql(collection, alias, search, raw(`${goesOn('"row"')} and `)),
}

/** What a check throws to end the statement. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/**
 * Makes all reads of records on a connection stoppable.
 *
 * @param check called while statements run; throws `Stopped` to end the statement
 */
export function makeStoppable(database: DatabaseSync, { resources, system }: Catalog, check: () => void): void {
  database.function(checkFunction, () => {
    check()
    return 1
  })
  // The likelihood keeps the planner's estimates as they are without the condition.
  const condition = `likelihood(${goesOn('_row')}, 1.0)`
  const views = [...resources.keys(), ...system.keys()].map((name) => {
    const table = identifier(name)
    return `create temp view ${table} as select * from main.${table} where ${condition}`
  })
  database.exec(views.join('; '))
}
