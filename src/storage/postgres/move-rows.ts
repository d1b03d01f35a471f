/** The rows of tables as they move out of PostgreSQL, and into it. */
import type { ClientBase } from 'pg'
import type { MovedTable } from '../move/moved-tables.ts'
import { batch, type MovedRow } from '../move/parts.ts'
import { searchText } from '../sql/derived.ts'
import type { ColumnSpec } from '../sql/tables.ts'
import { postgres, wordsColumn } from './engine.ts'
import { lexemesOf } from './lexemes.ts'
import { query } from './migration/session.ts'
import { rowTypes } from './types.ts'

const quote = postgres.identifier

/** Reads a table in the order of its first column, some rows at a time. */
export async function* rowsOf(client: ClientBase, table: MovedTable): AsyncGenerator<readonly MovedRow[]> {
  const names = table.columns.map((column) => quote(column.name))
  const key = names[0]
  const sizes = table.columns.filter(isLong).map(({ name }) => `coalesce(octet_length(${quote(name)}::text), 0)`)
  const page = (condition: string) =>
    `select ${names.join(', ')} from (
       select *, sum(_size) over (order by ${key} rows unbounded preceding) - _size as _before from (
         select ${names.join(', ')}, ${sizes.join(' + ') || '0'} as _size from ${quote(table.name)}
           ${condition} order by ${key} limit ${batch.rows}) as page
     ) as sized where _before < ${batch.bytes} order by ${key}`
  const read = async (text: string, values: unknown[]) => {
    const { rows } = await client.query<unknown[]>({ text, values, rowMode: 'array', types: rowTypes })
    return rows as unknown as MovedRow[]
  }
  let rows = await read(page(''), [])
  while (rows.length > 0) {
    yield rows
    rows = await read(page(`where ${key} > $1`), [rows.at(-1)?.[0]])
  }
}

function isLong({ type }: ColumnSpec): boolean {
  return type === 'text' || type === 'json'
}

// What an array of values is sent as. JSON is sent as text, so that it stays the text that it was.
const arrays: Readonly<Record<ColumnSpec['type'], string>> = {
  text: 'text[]',
  integer: 'bigint[]',
  real: 'double precision[]',
  boolean: 'boolean[]',
  json: 'text[]',
  bytes: 'bytea[]',
}

/** Writes rows, with the words that they are found by. */
export async function writeRows(client: ClientBase, table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
  const { columns, search } = table
  const names = columns.map(({ name }) => quote(name))
  const values = columns.map(({ type }, index) => (type === 'json' ? `v${index}::json` : `v${index}`))
  const made = columns.map((_, index) => `v${index}`)
  const sent = columns.map(({ type }, index) => `$${index + 1}::${arrays[type]}`)
  const given: unknown[] = columns.map((_, index) => rows.map((row) => row[index]))
  if (search.length > 0) {
    const places = search.map((name) => columns.findIndex((column) => column.name === name))
    names.push(wordsColumn)
    values.push(`array_to_tsvector(string_to_array(words, ' '))`)
    made.push('words')
    sent.push(`$${columns.length + 1}::text[]`)
    given.push(rows.map((row) => lexemesOf(searchText(places.map((place) => row[place] as string | null))).join(' ')))
  }
  await query(
    client,
    `insert into ${quote(table.name)} (${names.join(', ')}) select ${values.join(', ')}
       from unnest(${sent.join(', ')}) as made (${made.join(', ')})`,
    given,
  )
}
