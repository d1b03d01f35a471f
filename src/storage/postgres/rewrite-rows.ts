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
  const after = previous.at(-1)?.row ?? smallest
  const texts = columns.map((column, index) => sql`${quote(column)}::text as ${value(index)}`)
  // PostgreSQL has the size of a text without reading it.
  const size = join(
    columns.map((_, index) => sql`coalesce(octet_length(${value(index)}), 0)`),
    ' + ',
  )
  const condition = given === undefined ? sql`true` : sql`${quote(given)} is not null`
  const rows = yield sql`select * from (
      select *, sum(${size}) over (order by _row rows unbounded preceding) - (${size}) as before from (
        select _row, id, ${join(texts)} from ${quote(table)} where _row > ${after} and ${condition}
        order by _row limit ${raw(String(most.rows))}
      ) as page
    ) as sized where before < ${raw(String(most.bytes))} order by _row`
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
