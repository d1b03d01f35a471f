/**
 * The shape that a database was given last, as it is remembered in `resourced_meta`. The engine knows which columns there
 * are; only this knows which tables are ours, what the values of a column are, and that a column has no nulls.
 */

import type { TableSpec } from '../sql/tables.ts'
import type { ExistingColumn } from './migration.ts'

/** A table as it is remembered. */
export interface ShapedTable {
  readonly name: string
  readonly columns: readonly ExistingColumn[]
  /** The columns whose words are in its full-text index. */
  readonly search: readonly string[]
}

/** What is remembered. */
export interface Shape {
  readonly tables: readonly ShapedTable[]
}

/** What changes of a table when its names do; what is left out stays. */
export interface Renamed {
  readonly name?: string
  column?(column: ExistingColumn): ExistingColumn
}

/**
 * The shape after a migration.
 *
 * @param concerned the tables that it was about: of others is remembered what was; left out: there are no others
 */
export function shapeOf(tables: readonly TableSpec[], before: Shape, concerned?: ReadonlySet<string>): Shape {
  const others = concerned === undefined ? [] : before.tables.filter((table) => !concerned.has(table.name))
  const given = tables.map((table) => ({
    name: table.name,
    columns: table.columns.map(({ name, holds, required }) => ({ name, holds, required })),
    search: table.search?.columns ?? [],
  }))
  return { tables: [...given, ...others] }
}

/** The shape with other names of a table, or of its columns, or with what a column holds now. Its words are none now. */
export function renamedShape({ tables }: Shape, table: string, changed: Renamed): Shape {
  const { name = table, column = (each: ExistingColumn) => each } = changed
  return {
    tables: tables.map((each) =>
      each.name === table ? { ...each, name, columns: each.columns.map(column), search: [] } : each,
    ),
  }
}
