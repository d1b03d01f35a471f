/**
 * Reads and writes the rows of a table in batches, for values that JavaScript computes: a table may exceed the memory.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import type { Transaction } from '../transaction.ts'
import { postgres } from './engine.ts'

const quote = (name: string) => raw(postgres.identifier(name))

/** The most rows of a batch, and the bytes at which it ends. */
const most = { rows: 2_000, bytes: 4_000_000 }

/** The smallest number that a row can have. */
const smallest = '-9223372036854775808'

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
  // PostgreSQL has the size of a text without reading it.
  const size = join([raw('0'), ...long.map((text) => sql`coalesce(octet_length(${text}), 0)`)], ' + ')
  return sql`select * from (
      select *, sum(_size) over (order by ${key} rows unbounded preceding) - _size as _before from (
        select ${select}, ${size} as _size from ${quote(table)} where ${where}
        order by ${key} limit ${raw(String(most.rows))}
      ) as page
    ) as sized where _before < ${raw(String(most.bytes))} order by ${key}`
}

/** A row: its number, its id, and the texts of the columns asked for. */
export interface BatchRow {
  readonly row: number
  readonly id: string
  readonly texts: readonly (string | null)[]
}

/**
 * Which rows of a resource's table to read, and which columns of them. System tables have no numbers and are never
 * read.
 */
export interface Batches {
  readonly table: string
  readonly columns: readonly string[]
  /** The column whose rows without a value are left out. */
  readonly given?: string
}

/** Reads a batch of rows, in the order of their numbers. */
export function* readBatch(
  { table, columns, given }: Batches,
  previous: readonly BatchRow[] = [],
): Transaction<readonly BatchRow[]> {
  const texts = columns.map((column) => sql`${quote(column)}::text`)
  const condition = given === undefined ? sql`true` : sql`${quote(given)} is not null`
  const rows = yield selectBatch({
    ...{ table, key: raw('_row'), long: texts, most },
    select: sql`_row, id, ${join(texts.map((text, index) => sql`${text} as ${value(index)}`))}`,
    where: sql`_row > ${previous.at(-1)?.row ?? smallest} and ${condition}`,
  })
  return rows.map((row) => ({
    row: Number(row['_row']),
    id: String(row['id']),
    texts: columns.map((_, index) => row[`v${index}`] as string | null),
  }))
}

/** A column that is written. */
export interface Target {
  readonly column: string
  /** Its value in SQL, by the text that `compute` gives. */
  value(text: Sql): Sql
  compute(row: BatchRow): string | null
}

/**
 * Writes columns of rows by what JavaScript computes from other columns, in one pass. Counts the written rows.
 *
 * @param also further assignments to every row read, each with a comma before it; left out: rows that hold the values
 *   already are not written
 */
export function* rewriteRows(batches: Batches, targets: readonly Target[], also?: Sql): Transaction<number> {
  const written = targets.map(({ column, value: of }, index) => ({
    column: quote(column),
    value: of(sql`made.${value(index)}`),
  }))
  const assignments = join(written.map((each) => sql`${each.column} = ${each.value}`))
  const differing = join(
    written.map((each) => sql`t.${each.column} is distinct from ${each.value}`),
    ' or ',
  )
  const names = join(targets.map((_, index) => value(index)))
  let count = 0
  for (let rows = yield* readBatch(batches); rows.length > 0; rows = yield* readBatch(batches, rows)) {
    const numbers = rows.map(({ row }) => row)
    const texts = targets.map(({ compute }) => sql`${rows.map(compute)}::text[]`)
    const updated = yield sql`update ${quote(batches.table)} as t set ${assignments}${also ?? raw('')}
      from unnest(${numbers}::bigint[], ${join(texts)}) as made (number, ${names})
      where t._row = made.number and t._row between ${numbers[0]} and ${numbers.at(-1)}
        and ${also === undefined ? sql`(${differing})` : sql`true`} returning 1 as one`
    count += updated.length
  }
  return count
}

function value(index: number): Sql {
  return raw(`v${index}`)
}
