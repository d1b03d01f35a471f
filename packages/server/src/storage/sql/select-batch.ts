/** Selects rows in batches of bounded size, because a table may exceed the memory. */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { quoted } from './columns.ts'

/** Rows that are selected in the order of a key, which is unique. */
interface Selection {
  readonly table: string
  readonly key: Sql
  /** The selected columns. */
  readonly select: Sql
  /** The texts among them that may be long. */
  readonly long: readonly Sql[]
  readonly where: Sql
  readonly most: { readonly rows: number; readonly bytes: number }
}

/** Selects the first rows, at most so many and of so many bytes together, but one at least. */
export function selectBatch({ table, key, select, long, where, most }: Selection): Sql {
  // An engine has the size of a text without reading it.
  const size = join([raw('0'), ...long.map((text) => sql`coalesce(octet_length(${text}), 0)`)], ' + ')
  return sql`select * from (
      select *, sum(_size) over (order by ${key} rows unbounded preceding) - _size as _before from (
        select ${select}, ${size} as _size from ${quoted(table)} where ${where}
        order by ${key} limit ${raw(String(most.rows))}
      ) as page
    ) as sized where _before < ${raw(String(most.bytes))} order by ${key}`
}
