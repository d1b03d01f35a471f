/** Which tables move row by row: all but those that each engine has in a form of its own. */
import type { Catalog } from '../../model/resource.ts'
import { type ColumnSpec, tablesFor } from '../sql/tables.ts'

/** A table whose rows move. Each row is found, and comes in order, by the first of its columns. */
export interface MovedTable {
  readonly name: string
  readonly kind: 'resource' | 'system'
  readonly columns: readonly ColumnSpec[]
  /** The columns whose words are searched for. */
  readonly search: readonly string[]
}

// The first two are put together by hand; pieces are files.
const apart = new Set(['resourced_meta', 'resourced_clocks', 'resourced_pieces'])

/** The tables of a catalog that move, whose columns are the same on every engine. */
export function movedTables(catalog: Catalog): MovedTable[] {
  return tablesFor(catalog, { clockSlots: 1, indexesRowNumber: false, storesExports: false })
    .filter(({ name }) => !apart.has(name))
    .map(({ name, kind, columns, search }) => ({ name, kind, columns, search: search?.columns ?? [] }))
}
