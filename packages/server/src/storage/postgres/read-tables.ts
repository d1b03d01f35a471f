/**
 * Reads the rows of tables that Resourced did not create, all in one snapshot, in a transaction that only reads. Rows
 * arrive in small batches, so that memory does not grow with the table.
 */

import type { Field } from 'resourced-contract/model/resource'
import { identifier } from '../sql/columns.ts'
import type { ColumnDescription, TableReading, TableRow, TableSource } from '../table-description.ts'
import type { Client } from './client.ts'
import { toStorageFault } from './errors.ts'
import { beginSnapshot, describeSnapshot } from './inspect.ts'
import { connect, query } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** How many rows arrive together. */
const batch = 200

// Row-level security would leave rows out silently: with `row_security` off, reading such a table is an error.
const settings = {
  statement_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  row_security: 'off',
  intervalstyle: 'iso_8601',
}

/**
 * Opens a database to read its tables.
 *
 * @param schemas default: the first schema of the connection's search_path
 * @throws StorageFault where the database cannot be reached or read, or a schema does not exist
 */
export async function openPostgresTables(options: ConnectionOptions, schemas: readonly string[]): Promise<TableSource> {
  const client = await connect(options)
  try {
    await query(client, beginSnapshot)
    const described = await describeSnapshot(client, schemas)
    for (const [name, value] of Object.entries(settings)) await query(client, `set local ${name} = '${value}'`)
    return { described, rows: (reading) => rowsOf(client, reading), close: () => client.end() }
  } catch (error) {
    await client.end().catch(() => {})
    throw toStorageFault(error)
  }
}

async function* rowsOf(client: Client, reading: TableReading): AsyncGenerator<TableRow> {
  try {
    await query(client, `declare reading no scroll cursor for ${selectOf(reading)}`)
    for (;;) {
      const rows = await query(client, `fetch ${batch} from reading`)
      for (const row of rows) {
        const keys = reading.keys.map((_, index) => row[`k${index}`] as string | null)
        yield { value: Buffer.from(String(row['value'])), keys }
      }
      if (rows.length < batch) break
    }
    await query(client, 'close reading')
  } catch (error) {
    throw toStorageFault(error)
  }
}

function selectOf({ table, columns, keys }: TableReading): string {
  const values = columns.map(({ column, field }) => `${expressionOf(column, field)} as ${identifier(field.name)}`)
  const texts = keys.map((name, index) => `t.${identifier(name)}::text as k${index}`)
  const order = table.primaryKey.map((name) => `t.${identifier(name)}`)
  return `select row_to_json(v.*)::text as value${texts.map((each) => `, ${each}`).join('')}
    from ${identifier(table.schema)}.${identifier(table.name)} t cross join lateral (select ${values.join(', ')}) v
    ${order.length === 0 ? '' : `order by ${order.join(', ')}`}`
}

/** Types whose JSON is the value of a field. Other types become texts. */
const asJson = new Set([
  'int2',
  'int4',
  'int8',
  'oid',
  'float4',
  'float8',
  'numeric',
  'bool',
  'json',
  'jsonb',
  'timestamptz',
])

/** The expression of a column whose JSON the field accepts, if it can hold the value at all. */
function expressionOf({ name, type }: ColumnDescription, field: Field): string {
  const column = `t.${identifier(name)}`
  if (type.element !== undefined) return column
  switch (type.name) {
    case 'money':
      return field.type === 'decimal' ? `${column}::numeric::text` : `${column}::numeric`
    case 'timestamp':
      // The declaration that `inspect` makes says so.
      return field.format === 'date-time' ? `(${column} at time zone 'UTC')` : `${column}::text`
    case 'timetz':
      return `regexp_replace(${column}::text, '([+-]\\d\\d)$', '\\1:00')`
    case 'bytea':
      return `translate(encode(${column}, 'base64'), E'\\n', '')`
  }
  const isText = field.type === 'string' && field.format !== 'date-time'
  return asJson.has(type.name) && field.type !== 'decimal' && !isText ? column : `${column}::text`
}
