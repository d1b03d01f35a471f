/** The tables of resources from what a database describes, without its declaration. */
import {
  type ColumnSpec,
  column,
  type IndexSpec,
  type ResourceTable,
  searchOf,
  systemColumnByName,
  typeOfHeld,
} from './tables.ts'

/** The table of a resource as a database describes it, without its declaration. */
export interface FoundTable {
  readonly name: string
  readonly columns: readonly Pick<ColumnSpec, 'name' | 'holds' | 'required' | 'sequence'>[]
  /** Its indexes that are ours. */
  readonly indexes: readonly Pick<IndexSpec, 'columns' | 'unique'>[]
  /** The columns of its full-text index. */
  readonly search: readonly string[]
}

/** The columns of a resource's table from what a database describes. */
export function columnsFrom(columns: FoundTable['columns']): ColumnSpec[] {
  return columns.map(
    (each) =>
      systemColumnByName.get(each.name) ?? {
        ...column(each.name, 'string', 'none'),
        ...{ type: typeOfHeld(each.holds), holds: each.holds, required: each.required },
        ...(each.sequence !== undefined && { sequence: each.sequence }),
      },
  )
}

/** The table of a resource from what a database describes. `undefined`: it lacks a column that every record has. */
export function resourceTableFrom({ name, columns, indexes, search }: FoundTable): ResourceTable | undefined {
  const specs = columnsFrom(columns)
  const found = new Set(columns.map((each) => each.name))
  const arrays = specs.flatMap((each) => (each.holds === 'array' && search.includes(each.name) ? [each.name] : []))
  if (![...systemColumnByName.keys()].every((each) => found.has(each))) return undefined
  // Rows are read in the order of the first column.
  const [row, ...others] = specs.toSorted((left, right) => Number(right.name === '_row') - Number(left.name === '_row'))
  const isByPosition = !indexes.some((each) => each.columns[0] === '_deletion')
  // `tableFor` adds these indexes, as an engine has them.
  const fixed = isByPosition
    ? ['id', 'kind', 'record_id,collection,created_at', 'record_id,collection,created_at,_row']
    : ['id', '_deletion', '_deletion,_row', 'deleted_at']
  return {
    ...{ name, columns: [row!, ...others], search: searchOf(name, { columns: search, arrays }) },
    declaredIndexes: indexes.filter((each) => !fixed.includes(each.columns.join())),
    // Triggers are created when a server starts with its declaration: what fills a database is no event, and summaries
    // are counted then.
    events: undefined,
    summaries: [],
    totals: [],
    isByPosition,
  }
}
