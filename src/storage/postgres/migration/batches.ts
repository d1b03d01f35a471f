/** The rows of a table in batches, for what JavaScript decides of them: a table may be larger than the memory. */
import type { ClientBase } from 'pg'
import { postgres } from '../engine.ts'
import { change, query } from './session.ts'

const quote = postgres.identifier

/** The most rows of a batch, and the bytes at which it ends. */
const most = { rows: 2_000, bytes: 4_000_000 }

/** A row: its number, its id where it is a record, and the texts of the columns asked for. */
export interface BatchRow {
  readonly row: number
  readonly id: string
  readonly texts: readonly (string | null)[]
}

/**
 * Reads the rows of a resource's table, in the order of their numbers. Tables of the system have none, and no value of
 * theirs is decided here.
 *
 * @param condition which rows, in SQL
 */
export async function* batches(
  client: ClientBase,
  table: string,
  columns: readonly string[],
  condition = 'true',
): AsyncGenerator<readonly BatchRow[], void> {
  const texts = columns.map((column, index) => `${quote(column)}::text as v${index}`)
  const size = columns.map((_, index) => `coalesce(octet_length(v${index}), 0)`).join(' + ')
  // The size of a text is known without reading it.
  const statement = `select * from (
      select *, sum(${size}) over (order by _row rows unbounded preceding) - (${size}) as before from (
        select _row, id, ${texts.join(', ')} from ${quote(table)} where _row > $1 and (${condition})
        order by _row limit ${most.rows}
      ) as page
    ) as sized where before < ${most.bytes} order by _row`
  let last = '-9223372036854775808'
  while (true) {
    const rows = await query(client, statement, [last])
    if (rows.length === 0) return
    yield rows.map((row) => ({
      row: Number(row['_row']),
      id: String(row['id']),
      texts: columns.map((_, index) => row[`v${index}`] as string | null),
    }))
    last = String(rows.at(-1)!['_row'])
  }
}

/** What a column becomes. */
export interface Made {
  readonly column: string
  /** Its value in SQL, by the text made. */
  value(text: string): string
  make(row: BatchRow): string | null
}

/** Which columns of which rows are written, by what is read of them. */
export interface Rewriting {
  readonly table: string
  readonly from: readonly string[]
  readonly condition?: string
  readonly to: readonly Made[]
  /** Rows that hold the values already are left alone. */
  readonly unlessSame?: boolean
  /** Further assignments, and their parameters: `parameter` names the first of them, from 0. */
  readonly also?: { assignments(parameter: (index: number) => string): string; readonly values: readonly unknown[] }
}

/** Writes columns by what JavaScript makes of others, all in one pass. Gives how many rows were written. */
export async function rewrite(client: ClientBase, rewriting: Rewriting): Promise<number> {
  const { table, from, condition, to, unlessSame = false, also } = rewriting
  const made = to.map(({ column, value }, index) => ({ column: quote(column), value: value(`made.v${index}`) }))
  const differing = made.map(({ column, value }) => `t.${column} is distinct from ${value}`).join(' or ')
  const parameter = (index: number) => `$${4 + to.length + index}`
  const assignments = [...made.map(({ column, value }) => `${column} = ${value}`), also?.assignments(parameter) ?? '']
  const names = to.map((_, index) => `v${index}`)
  const statement = `update ${quote(table)} as t set ${assignments.filter((each) => each !== '').join(', ')}
    from unnest($1::bigint[], ${to.map((_, index) => `$${4 + index}::text[]`).join(', ')}) as made (number, ${names.join(', ')})
    where t._row = made.number and t._row between $2 and $3${unlessSame ? ` and (${differing})` : ''}`
  let written = 0
  for await (const rows of batches(client, table, from, condition)) {
    const numbers = rows.map(({ row }) => row)
    const values = to.map(({ make }) => rows.map((row) => make(row)))
    const bounds = [numbers[0], numbers.at(-1)]
    written += await change(client, statement, [numbers, ...bounds, ...values, ...(also?.values ?? [])])
  }
  return written
}
